//! Does a fault cost only what is at fault, and does what may pass cost nothing?

use std::sync::Mutex;

use proptest::prelude::*;

use super::super::contract::{block_on, row};
use super::*;

/// Tables that refuse whatever is marked, and everything for as many times as they are told.
#[derive(Clone, Default)]
struct Fake(Arc<Mutex<Told>>);

#[derive(Default)]
struct Told {
    bad_rows: Vec<String>,
    bad_writes: Vec<u32>,
    /// How many tries fail that may pass.
    busy: u32,
    stored: Vec<String>,
    written: Vec<u32>,
    /// How many tries there were.
    tries: u32,
}

type Work = Box<dyn FnMut(&mut ()) -> Result<u32, ()> + Send>;
type Answer = Box<Asked<u32, Work>>;

struct Write {
    number: u32,
    answer: Answer,
}

struct Nothing;

impl Reads for Nothing {
    type Read = ();

    fn is_awaited((): &()) -> bool {
        true
    }

    fn read(&mut self, (): ()) {}
}

fn lasting() -> Trouble {
    let reason = "bad".to_owned();
    Trouble::Lasting(StoreError::Failed { reason })
}

impl Tables for Fake {
    type Write = Write;
    type Aside = Write;
    type Reads = Nothing;

    const LONGEST_PAUSE: Duration = Duration::from_millis(10);

    fn commit(&mut self, records: &[Record], writes: &mut [Write]) -> Result<(), Trouble> {
        let mut told = self.0.lock().unwrap();
        told.tries += 1;
        if told.busy > 0 {
            told.busy -= 1;
            let reason = "locked".to_owned();
            return Err(Trouble::Passing(StoreError::Failed { reason }));
        }
        let ids: Vec<_> = records.iter().map(|record| record.row.id.clone()).collect();
        let numbers: Vec<_> = writes.iter().map(|write| write.number).collect();
        if ids.iter().any(|id| told.bad_rows.contains(id))
            || numbers
                .iter()
                .any(|number| told.bad_writes.contains(number))
        {
            return Err(lasting());
        }
        told.stored.extend(ids);
        told.written.extend(numbers);
        for write in writes {
            write.answer.apply(&mut ()).unwrap();
        }
        Ok(())
    }

    fn answer(write: Write, committed: Result<(), StoreError>) {
        Ask::<(), ()>::answer(write.answer, committed);
    }

    fn aside(&mut self, aside: &mut Write) -> Result<(), Trouble> {
        self.commit(&[], std::slice::from_mut(aside))
    }

    fn answer_aside(aside: Write, committed: Result<(), StoreError>) {
        Self::answer(aside, committed);
    }
}

fn start(fake: &Fake) -> Queue<Fake> {
    let fake = fake.clone();
    let limit = Duration::from_secs(20);
    Queue::start("here", limit, move || Ok(fake.clone()), Nothing).unwrap()
}

fn write(number: u32) -> (Write, Answered<u32>) {
    let work: Work = Box::new(move |_| Ok(number));
    let (answer, answered) = Asked::new(work);
    (Write { number, answer }, answered)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // E6: whichever rows and writes are at fault, however they come to lie in batches and whatever locks there are meanwhile,
    // each costs itself; all others are stored once, in the order in which they were handed over.
    #[test]
    fn a_fault_costs_itself(
        rows in proptest::collection::vec(proptest::bool::weighted(0.1), 0..700),
        writes in proptest::collection::vec(proptest::bool::weighted(0.2), 0..60),
        busy in 0_u32..3,
    ) {
        let fake = Fake::default();
        let id = |number: usize| format!("a-{}", number + 1);
        let good = |bad: &[bool], is_bad: bool| -> Vec<usize> {
            (0..bad.len()).filter(|number| bad[*number] == is_bad).collect()
        };
        {
            let mut told = fake.0.lock().unwrap();
            told.bad_rows = good(&rows, true).into_iter().map(id).collect();
            told.bad_writes = good(&writes, true).into_iter().map(|number| number as u32).collect();
            told.busy = busy;
        }
        let queue = start(&fake);
        for attempt in 1..=rows.len() as u32 {
            queue.record(row("a", attempt), None);
        }
        let answers: Vec<_> = (0..writes.len() as u32)
            .map(|number| {
                let (write, answered) = write(number);
                queue.write(write, answered)
            })
            .collect();
        for (number, answer) in answers.into_iter().enumerate() {
            prop_assert_eq!(block_on(answer).is_err(), writes[number]);
        }
        let lost = good(&rows, true).len() as u64;
        prop_assert_eq!(block_on(queue.flush()).is_err(), lost > 0);
        let counts = queue.counts();
        prop_assert_eq!((counts.lost_rows, counts.queued_rows), (lost, 0));
        let told = fake.0.lock().unwrap();
        let stored: Vec<_> = good(&rows, false).into_iter().map(id).collect();
        prop_assert_eq!(&told.stored, &stored);
        let written: Vec<_> = good(&writes, false).into_iter().map(|number| number as u32).collect();
        prop_assert_eq!(&told.written, &written);
    }
}

// E6: what is written aside fails nobody, and money is not in its transaction.
#[test]
fn what_is_written_aside_is_apart_from_money() {
    let fake = Fake::default();
    fake.0.lock().unwrap().bad_writes = vec![7];
    let queue = start(&fake);
    let (aside, of_aside) = write(7);
    let (money, of_money) = write(1);
    let aside = queue.aside(aside, of_aside);
    let money = queue.write(money, of_money);
    assert_eq!(block_on(money), Ok(1));
    assert!(block_on(aside).is_err());
    assert_eq!(fake.0.lock().unwrap().tries, 2);
}

// L17: nobody waits for room while there is some; whoever waits goes on when the writer has made some.
#[test]
fn a_full_queue_has_room_when_the_writer_is_done() {
    let fake = Fake::default();
    let gate = Arc::clone(&fake.0);
    let closed = gate.lock().unwrap();
    let queue = start(&fake);
    let is_there = |queue: &Queue<Fake>| {
        let mut ctx = std::task::Context::from_waker(std::task::Waker::noop());
        queue.room().as_mut().poll(&mut ctx).is_ready()
    };
    for attempt in 1..=4_095 {
        queue.record(row("a", attempt), None);
    }
    assert!(is_there(&queue));
    queue.record(row("a", 4_096), None);
    assert!(!is_there(&queue));
    drop(closed);
    block_on(queue.room());
    block_on(queue.flush()).unwrap();
    assert!(is_there(&queue));
    assert_eq!(fake.0.lock().unwrap().stored.len(), 4_096);
}

// L17: what waits takes a bounded part of the memory. A row beyond that is lost and counted, a settlement never is.
#[test]
fn rows_beyond_the_memory_are_counted_and_settlements_kept() {
    let fake = Fake::default();
    let gate = Arc::clone(&fake.0);
    let closed = gate.lock().unwrap();
    let queue = start(&fake);
    let megabyte = || AttemptRow {
        served_tier: Some("x".repeat(1 << 20)),
        ..row("a", 1)
    };
    for _ in 0..70 {
        queue.record(megabyte(), None);
    }
    let counts = queue.counts();
    assert_eq!(counts.queued_rows + counts.lost_rows, 70);
    assert!((1..=8).contains(&counts.lost_rows), "{counts:?}");
    let (settled, _) = write(1);
    queue.settle(settled);
    while queue.load.fits(load::Weight::WRITE) {
        let (settled, _) = write(2);
        queue.settle(settled);
    }
    let (refused, answered) = write(3);
    assert!(block_on(queue.write(refused, answered)).is_err());
    drop(closed);
    assert!(block_on(queue.flush()).is_err());
    let told = fake.0.lock().unwrap();
    assert_eq!(told.stored.len() as u64, counts.queued_rows);
    assert!(told.written.starts_with(&[1, 2]) && !told.written.contains(&3));
}

// T5: a store that is locked when it is opened takes what is handed over, and stores it when it is not.
#[test]
fn a_store_is_opened_when_the_lock_is_gone() {
    let fake = Fake::default();
    let mut tries = 0;
    let opened = fake.clone();
    let open = move || {
        tries += 1;
        match tries {
            1..4 => Err(Trouble::Passing(StoreError::Score)),
            _ => Ok(opened.clone()),
        }
    };
    let queue = Queue::start("here", Duration::from_secs(20), open, Nothing).unwrap();
    queue.record(row("a", 1), None);
    assert_eq!(block_on(queue.flush()), Ok(()));
    assert_eq!(fake.0.lock().unwrap().stored, ["a-1"]);
}

// T5: one that turns out to be unusable then costs rows, which are counted, and reserves nothing.
#[test]
fn a_store_that_turns_out_to_be_unusable_fails_closed() {
    let mut tries = 0;
    let open = move || -> Result<Fake, Trouble> {
        tries += 1;
        match tries {
            1 => Err(Trouble::Passing(StoreError::Score)),
            _ => Err(lasting()),
        }
    };
    let queue = Queue::start("here", Duration::from_secs(20), open, Nothing).unwrap();
    queue.record(row("a", 1), None);
    let (money, answered) = write(1);
    assert!(block_on(queue.write(money, answered)).is_err());
    assert!(block_on(queue.flush()).is_err());
    assert_eq!(queue.counts().lost_rows, 1);
}
