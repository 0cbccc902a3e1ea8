//! FC-77: does a rig work from any runtime, and from none?

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use rig::store::Store;
use rig::store::sqlite::SqliteStore;
use rig::testing::{MemoryStore, chat_completion, chat_delta, chat_end};
use rig::{Event, FailureClass, Rig, Usd};
use tests::routes::{LadderInput, ladder};

use crate::bed::KEY;
use crate::server::{self, Reply, Server, response};

const ANSWER: &str = r#"{"verdict": "yes", "because": "It is.", "also": null}"#;

/// What a call costs: 400 tokens in at 1 USD per million, 200 out at 2.
const COST: Usd = Usd::nanos(800_000);

const THREADS: usize = 8;
const CALLS: usize = 40;

fn rig(server: &Server, store: impl Store + 'static) -> Rig {
    let builder = Rig::builder().ignore_env().store(store);
    let builder = builder.key("north", KEY);
    builder
        .base_url("north", server.base_url("north"))
        .build()
        .unwrap()
}

fn question() -> LadderInput {
    LadderInput {
        question: "Is it?".to_owned(),
    }
}

fn current_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn answer() -> String {
    let Reply::Whole(whole) = response(200, "", &chat_completion(ANSWER, "stop", 400, 200)) else {
        panic!("a response is a whole one")
    };
    whole
}

/// Calls once, on a runtime that ends with the call.
fn call_on_a_new_runtime(rig: &Rig) {
    let call = ladder(question())
        .envelope("e", Usd::dollars(5))
        .on(rig)
        .run();
    let run = current_thread().block_on(call).unwrap();
    assert_eq!(run.meta.tokens_out, Some(200));
}

// A4, E2: FC-77, A and B. Every call is served and has one row, and the envelope holds what the rows cost.
#[test]
fn a_runtime_that_ends_fails_no_call_of_another() {
    let late = Duration::from_millis(3);
    let server = Server::start(move |_| Reply::Late(late, answer()));
    let rows = MemoryStore::default();
    let rig = rig(&server, rows.clone());
    for _ in 0..20 {
        call_on_a_new_runtime(&rig);
    }
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..CALLS).for_each(|_| call_on_a_new_runtime(&rig)));
        }
    });
    let calls = 20 + THREADS * CALLS;
    let rows = rows.rows();
    assert_eq!((rows.len(), server.requests().len()), (calls, calls));
    for row in rows {
        assert_eq!((row.failure, row.attempt), (None, 1));
    }
    let state = current_thread().block_on(rig.envelope("e"));
    let state = state.unwrap().unwrap();
    let spent = Usd::nanos(COST.as_nanos() * calls as u64);
    assert_eq!((state.spent, state.reserved), (spent, Usd::ZERO));
}

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// An executor that has neither sockets nor timers.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut ctx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut ctx) {
            Poll::Ready(done) => return done,
            Poll::Pending => thread::park(),
        }
    }
}

// A4: a call, a stream and a deadline need nothing of their executor.
#[test]
fn a_rig_works_without_a_runtime() {
    let stream = [
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_owned(),
        chunk(&chat_delta(ANSWER)),
        chunk(&chat_end("stop", 400, 200)),
        "0\r\n\r\n".to_owned(),
    ];
    let server = Server::scripted([
        Reply::Whole(answer()),
        Reply::Whole(stream.concat()),
        Reply::Stall(String::new()),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("telemetry.db")).unwrap();
    let rig = rig(&server, store);
    block_on(async {
        let run = ladder(question()).on(&rig).run().await.unwrap();
        assert_eq!(run.meta.tokens_out, Some(200));
        let rows = rig.attempts(&run.meta.run_id).await.unwrap();
        assert_eq!(rows.len(), 1);

        let mut events = ladder(question()).on(&rig).stream();
        let mut last = None;
        while let Some(event) = events.next().await {
            last = Some(event.unwrap());
        }
        assert!(matches!(last, Some(Event::Done(_))), "{last:?}");

        let call = ladder(question()).deadline(Duration::from_millis(200));
        let error = call.on(&rig).run().await.unwrap_err();
        assert_eq!(error.class(), Some(FailureClass::Timeout), "{error}");
        rig.close().await.unwrap();
    });
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

// A4: nor a runtime that has no sockets and no timers of its own.
#[test]
fn a_rig_works_on_a_runtime_without_drivers() {
    let server = Server::scripted([Reply::Whole(answer())]);
    let rig = rig(&server, MemoryStore::default());
    let bare = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    bare.block_on(ladder(question()).on(&rig).run()).unwrap();
}

// A4: the last handle of a rig may be dropped anywhere; its idle connections close.
#[test]
fn a_rig_that_is_dropped_on_a_runtime_closes_its_connections() {
    let server = Server::scripted([Reply::Whole(answer())]);
    let rig = rig(&server, MemoryStore::default());
    current_thread().block_on(async move {
        ladder(question()).on(&rig).run().await.unwrap();
        drop(rig);
        let events = [server.next(), server.next()];
        assert!(
            matches!(
                events,
                [server::Event::Request(_), server::Event::Closed(0)]
            ),
            "{events:?}"
        );
    });
}
