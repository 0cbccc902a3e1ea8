//! Is what was acknowledged still there after `kill -9`, and is what was spent paid for?

use std::collections::BTreeSet;
use std::env;
use std::ops::RangeInclusive;
use std::thread::{self, park_timeout};
use std::time::Duration;

use rig::{FailureClass, Rig, Usd};
use tests::routes::{self, LadderInput};

mod caller;
mod found;
#[cfg(feature = "postgres")]
mod postgres;

#[cfg(feature = "postgres")]
pub(crate) use self::postgres::Fresh;
use caller::{Caller, Ended, Heard};
pub(crate) use found::{Found, Place};

/// Tells this binary that it is the process to be killed: the server's address, the place of the rows, the number of calls
/// that each worker makes, and what its envelopes' names begin with, apart from each other by line breaks.
const CHILD: &str = "LOOPBACK_CRASH_CHILD";

/// How often processes are killed, and connections cut; 10 if it is not set.
const KILLS: &str = "LOOPBACK_KILLS";

/// What stands in front of an acknowledged run.
const ACKNOWLEDGED: &str = "acknowledged ";

const WORKERS: u32 = 3;

const FOR_EVER: u32 = u32::MAX;

/// The cap of each envelope. A few calls fill one, and then the next is opened.
const CAP: Usd = Usd::nanos(20_000_000);

/// More than a call of one attempt can cost, in nano-dollars.
const CALL: i64 = 5_000_000;

/// Not a test: what [`Caller::start`] runs in a process of its own.
#[test]
fn child() {
    let Ok(told) = env::var(CHILD) else { return };
    let told: Vec<_> = told.lines().collect();
    let [url, place, calls, prefix] = told.as_slice() else {
        panic!("{told:?}")
    };
    let rig = Rig::builder()
        .ignore_env()
        .key("north", "key")
        .key("south", "key")
        .base_url("north", format!("{url}/north"))
        .base_url("south", format!("{url}/south"))
        .telemetry_db(place)
        .build()
        .unwrap();
    let calls: u32 = calls.parse().unwrap();
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                runtime.unwrap().block_on(work(&rig, calls, prefix));
            });
        }
    });
}

/// Calls, and says so once the rows are safe. A call that its envelope cannot cover is made again on the next one.
async fn work(rig: &Rig, calls: u32, prefix: &str) {
    let mut envelope = 0;
    let mut number = 0;
    while number < calls {
        // The server reads from the question how many attempts the run is to take.
        let input = LadderInput {
            question: format!("attempts={}.", number % 3 + 1),
        };
        let call = routes::ladder(input).envelope(format!("{prefix}-{envelope}"), CAP);
        match call.on(rig).run().await {
            Ok(run) => {
                rig.flush().await.unwrap();
                let rows = run.meta.attempts.total();
                println!("\n{ACKNOWLEDGED}{} {rows}", run.meta.run_id);
                number += 1;
            }
            Err(error) => {
                let class = error.class();
                assert_eq!(class, Some(FailureClass::BudgetExhausted), "{error}");
                assert!(error.failure().unwrap().envelope.is_some(), "{error}");
                envelope += 1;
            }
        }
    }
}

/// A small generator of numbers (SplitMix64); the seed alone decides them.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// Returns how many kills there are to be.
fn kills() -> u64 {
    env::var(KILLS).map_or(10, |kills| kills.parse().unwrap())
}

/// Waits for a moment that the seed decides.
fn wait(caller: &mut Caller, random: &mut Random) {
    let (counts_requests, moment) = (random.below(2) == 0, random.below(60) + 1);
    let pause = Duration::from_micros(random.below(2_000));
    let mut seen = 0;
    caller.listen(|heard| {
        seen += u64::from(matches!(heard, Heard::Request) == counts_requests);
        seen == moment
    });
    assert!(!caller.has_ended, "the process ended by itself");
    // The moment alone would always lie just behind an event.
    park_timeout(pause);
}

/// Asserts that a place holds what processes had acknowledged, and pays for what was answered.
fn check(found: &Found, ended: &Ended) {
    found.keeps(&ended.acknowledged);
    found.covers(ended.answered, CAP);
    assert!(
        found.rows <= ended.requests,
        "{} rows of {} requests",
        found.rows,
        ended.requests
    );
}

/// Asserts that what dead processes had reserved is spent in the end.
fn settle(place: &Place, ended: &Ended) {
    let found = place.look();
    let (spent, reserved) = found.sums();
    let after = place.lapse(&found);
    assert_eq!(after.sums(), (spent + reserved, 0));
    check(&after, ended);
    println!(
        "{} runs acknowledged, {} requests, {} rows, {} envelopes of which {} full; {spent} spent and {reserved} reserved, \
         answers of {}",
        ended.acknowledged.len(),
        ended.requests,
        after.rows,
        after.envelopes.len(),
        after.full(CALL),
        ended.answered
    );
    assert!(!ended.acknowledged.is_empty());
}

/// T5, E2. Ten rounds share a file, so that each also opens what the crash before it left behind.
#[test]
fn every_acknowledged_row_survives_kill_9_and_every_answer_is_paid_for() {
    for seeds in chunks(kills()) {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::File(folder.path().join("telemetry.db"));
        kill_one(&place, seeds);
    }
}

/// Has a process at a time make calls until it is killed.
fn kill_one(place: &Place, seeds: RangeInclusive<u64>) {
    let mut ended = Ended::default();
    for seed in seeds {
        let mut caller = Caller::start(place, FOR_EVER, &format!("{seed}"));
        wait(&mut caller, &mut Random(seed));
        // While the process lives: what was answered before the look is in it.
        let answered = ended.answered + caller.answered();
        place.look().covers(answered, CAP);
        ended.add(caller.kill());
        check(&place.open(), &ended);
    }
    settle(place, &ended);
}

/// Returns ten seeds at a time.
fn chunks(seeds: u64) -> impl Iterator<Item = RangeInclusive<u64>> {
    let first = (1..=seeds).step_by(10);
    first.map(move |first| first..=seeds.min(first + 9))
}

/// T5, E2: two processes write to one file and spend from the same envelopes; now one dies first and now the other.
#[test]
fn two_processes_share_a_file_and_its_envelopes_whoever_is_killed() {
    for seeds in chunks(kills().div_ceil(2)) {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::File(folder.path().join("telemetry.db"));
        kill_two(&place, seeds);
    }
}

fn kill_two(place: &Place, seeds: RangeInclusive<u64>) {
    let mut ended = Ended::default();
    for seed in seeds {
        let mut random = Random(seed);
        let mut callers = [0, 1].map(|_| Caller::start(place, FOR_EVER, &format!("{seed}")));
        for caller in &mut callers {
            wait(caller, &mut random);
        }
        let answered = callers.iter().map(Caller::answered).sum::<u64>();
        place.look().covers(ended.answered + answered, CAP);
        let [first, mut second] = callers;
        ended.add(first.kill());
        wait(&mut second, &mut random);
        ended.add(second.kill());
        check(&place.open(), &ended);
    }
    settle(place, &ended);
}

/// T5: two processes write to one file; one is killed, and the other loses nothing.
#[test]
fn the_death_of_one_process_leaves_the_other_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::File(folder.path().join("telemetry.db"));
    let survivor = Caller::start(&place, 40, "shared");
    let mut victim = Caller::start(&place, FOR_EVER, "shared");
    let mut said = 0;
    victim.listen(|heard| {
        said += u32::from(matches!(heard, Heard::Acknowledged(..)));
        said == 30
    });
    let mut ended = victim.kill();
    assert!(ended.acknowledged.len() >= 30);
    let of_survivor = survivor.finish();
    assert_eq!(of_survivor.acknowledged.len(), 40 * WORKERS as usize);
    let runs: BTreeSet<_> = of_survivor.acknowledged.keys().cloned().collect();
    let both = runs.len() + ended.acknowledged.len();
    ended.add(of_survivor);
    assert_eq!(ended.acknowledged.len(), both);
    let found = place.open();
    check(&found, &ended);
    assert!(runs.iter().all(|run| found.run_ids().contains(run)));
}
