//! Do rows arrive, each at least once, whatever the receiver does?

use std::io::Read;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use flate2::read::GzDecoder;
use rig_spec::{FailureClass, Tier, Usd};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

use super::Drain;
use super::desk::Desk;
use super::ingest::Ingest;
use super::pace::Pace;
use super::worker::{Round, Worker};
use crate::key::Key;
use crate::store::{AttemptRow, Name, RowFailure, Store};
use crate::testing::{ManualClock, MemoryStore, Scripted, ScriptedTransport, block_on};
use crate::trace::Traceparent;
use crate::transport::Request;

mod faults;
#[cfg(feature = "otlp")]
mod spans;

const URL: &str = "https://ingest.example/v1/rows";
const KEY: &str = "k-5e0c";
const RUN: u128 = 0x0190_0000_0000_7000_8000_0000_0000_0001;
const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Returns a row as a rig records it; its id ends in this number.
fn row(number: u32) -> AttemptRow {
    AttemptRow {
        id: Uuid::from_u128(RUN + 0x100 + u128::from(number)).to_string(),
        ts_ms: 1_790_000_000_123,
        run_id: Uuid::from_u128(RUN).to_string(),
        route: "summarize".into(),
        route_version: 3,
        provider: "gemini".into(),
        model: "gemini-3.1-flash".into(),
        requested_tier: Some(Tier::Flex),
        served_tier: Some("default".to_owned()),
        tokens_in: Some(1_200),
        tokens_out: Some(34),
        tokens_cached: Some(1_024),
        tokens_cache_write: None,
        searches: None,
        cost: Usd::nanos(123_456_789),
        pricing_missing: false,
        usage_missing: false,
        latency_ms: 812,
        ttfb_ms: Some(300),
        failure: None,
        attempt: number,
        tags: [("customer".to_owned(), "walrus".to_owned())].into(),
        served_variant: None,
        repaired_by: None,
        cache_key: Some("walrus".to_owned()),
        prefix_fingerprint: Some("walrus".to_owned()),
        lane: "ladder".into(),
        traceparent: None,
    }
}

/// A failed attempt of the raw lane, whose provider says strange things.
fn odd_row(number: u32) -> AttemptRow {
    AttemptRow {
        route: "".into(),
        route_version: 0,
        provider: "openai".into(),
        model: "a model with the words of a walrus".into(),
        requested_tier: None,
        served_tier: Some("walrus".to_owned()),
        tokens_in: None,
        tokens_out: None,
        tokens_cached: None,
        cost: Usd::ZERO,
        pricing_missing: true,
        ttfb_ms: None,
        failure: Some(RowFailure::Class(FailureClass::CapacityShed)),
        repaired_by: Some("openai/m".to_owned()),
        served_variant: Some("cheap".into()),
        lane: "raw".into(),
        traceparent: Traceparent::parse(PARENT),
        ..row(number)
    }
}

/// A store with rows, a receiver that answers from a script, and a time that passes only where somebody waits.
struct World {
    store: MemoryStore,
    clock: ManualClock,
    transport: ScriptedTransport,
    /// What sends in place of the script.
    fickle: Option<Box<dyn Fn() -> Box<dyn crate::transport::Transport>>>,
}

/// What a test has in hand of an exporter at work.
struct Hand {
    orders: UnboundedSender<Drain>,
    pokes: Arc<Notify>,
}

impl Hand {
    /// Waits as `close` does; returns whether everything has arrived.
    async fn drain(&self) -> bool {
        let (done, wait) = oneshot::channel();
        self.orders.send(done).unwrap();
        wait.await.is_ok()
    }
}

impl World {
    fn new(rows: impl IntoIterator<Item = AttemptRow>, replies: Vec<Scripted>) -> Self {
        let store = MemoryStore::default();
        rows.into_iter().for_each(|row| store.record(row));
        let clock = ManualClock::new();
        let transport = ScriptedTransport::new(&clock);
        replies.into_iter().for_each(|reply| transport.push(reply));
        Self {
            store,
            clock,
            transport,
            fickle: None,
        }
    }

    fn worker(&self) -> Worker {
        let destination = Ingest {
            url: URL.to_owned(),
            key: Key::new(KEY).unwrap(),
        };
        Worker::new(
            Box::new(destination),
            Arc::new(self.store.clone()),
            match &self.fickle {
                Some(fickle) => fickle(),
                None => Box::new(self.transport.clone()),
            },
            Arc::new(self.clock.clone()),
        )
    }

    /// Runs an exporter until `hand` is done with it.
    fn export<T>(&self, hand: impl AsyncFnOnce(Hand) -> T) -> T {
        let (orders, ordered) = unbounded_channel();
        let pokes = Arc::new(Notify::new());
        let desk = Desk::new(Arc::clone(&pokes), ordered, Arc::new(self.clock.clone()));
        let mut work = pin!(self.worker().run(desk));
        let mut hand = pin!(hand(Hand { orders, pokes }));
        let mut result = None;
        block_on(std::future::poll_fn(move |cx| {
            if result.is_none()
                && let Poll::Ready(done) = hand.as_mut().poll(cx)
            {
                result = Some(done);
            }
            // Whoever needs it no more has dropped it, and it ends.
            let ended: Poll<()> = Pin::new(&mut work).poll(cx);
            match (ended, result.take()) {
                (Poll::Ready(()), Some(done)) => Poll::Ready(done),
                (_, kept) => {
                    result = kept;
                    Poll::Pending
                }
            }
        }))
    }

    /// Returns the ids of each request's rows, by their last number.
    fn arrived(&self) -> Vec<Vec<u64>> {
        let requests = self.transport.requests();
        requests
            .iter()
            .map(|request| attempts(&body(request)))
            .collect()
    }
}

fn ok() -> Scripted {
    Scripted::status(202, "")
}

fn body(request: &Request) -> Value {
    let mut json = String::new();
    let mut body = GzDecoder::new(request.body.as_slice());
    body.read_to_string(&mut json).unwrap();
    serde_json::from_str(&json).unwrap()
}

fn attempts(body: &Value) -> Vec<u64> {
    let rows = body["rows"].as_array().unwrap().iter();
    rows.map(|row| row["attempt"].as_u64().unwrap()).collect()
}

// T4: what is sent, byte for byte; what is a word of somebody's is not.
#[test]
fn a_batch_says_what_may_be_said() {
    let world = World::new([row(1), odd_row(2)], vec![ok()]);
    let worker = world.worker();
    let mut pace = Pace::new();
    assert_eq!(block_on(worker.round(&mut pace)), Round::Again);
    assert_eq!(block_on(worker.round(&mut pace)), Round::Nothing);
    let requests = world.transport.requests();
    let [request] = requests.as_slice() else {
        panic!("{requests:?}")
    };
    assert_eq!(request.url, URL);
    let expected = [
        ("content-type", "application/json"),
        ("content-encoding", "gzip"),
        ("authorization", "Bearer k-5e0c"),
    ];
    let headers: Vec<_> = request
        .headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    assert_eq!(headers, expected);
    let said = json!({
        "version": 1,
        "rows": [{
            "id": "01900000-0000-7000-8000-000000000102",
            "ts": 1_790_000_000_123_i64,
            "run_id": "01900000-0000-7000-8000-000000000001",
            "route": "summarize",
            "route_version": 3,
            "provider": "gemini",
            "model": "gemini-3.1-flash",
            "requested_tier": "flex",
            "served_tier": "standard",
            "tokens_in": 1_200,
            "tokens_out": 34,
            "tokens_cached": 1_024,
            "tokens_cache_write": null,
            "cost_nanousd": 123_456_789,
            "pricing_missing": false,
            "latency_ms": 812,
            "ttfb_ms": 300,
            "failure_class": null,
            "attempt": 1,
            "served_variant": null,
            "repaired_by": null,
            "lane": "ladder",
        }, {
            "id": "01900000-0000-7000-8000-000000000103",
            "ts": 1_790_000_000_123_i64,
            "run_id": "01900000-0000-7000-8000-000000000001",
            "route": null,
            "route_version": 0,
            "provider": "openai",
            "model": "_OTHER",
            "requested_tier": null,
            "served_tier": null,
            "tokens_in": null,
            "tokens_out": null,
            "tokens_cached": null,
            "tokens_cache_write": null,
            "cost_nanousd": 0,
            "pricing_missing": true,
            "latency_ms": 812,
            "ttfb_ms": null,
            "failure_class": "capacity_shed",
            "attempt": 2,
            "served_variant": "cheap",
            "repaired_by": "openai/m",
            "lane": "raw",
        }],
    });
    assert_eq!(body(request), said);
    assert_eq!(Name::of("walrus words").as_str(), "_OTHER");
}

// T4: until a receiver has said that it has them, rows are sent again; later and later.
#[test]
fn what_has_not_arrived_is_sent_again() {
    let replies = vec![
        Scripted::fault("connection refused"),
        Scripted::status(503, ""),
        ok(),
    ];
    let world = World::new([row(1), row(2)], replies);
    assert!(world.export(async |hand| hand.drain().await));
    assert_eq!(world.arrived(), [[1, 2], [1, 2], [1, 2]]);
    assert_eq!(world.clock.waits(), [1, 2].map(Duration::from_secs));
}

// T4: a receiver that asks for a longer wait gets it, and one that takes less gets less.
#[test]
fn a_receiver_sets_the_pace() {
    let shed = Scripted::status(429, "").header("retry-after", "3");
    let world = World::new(
        [row(1), row(2)],
        vec![shed, Scripted::status(413, ""), ok(), ok()],
    );
    assert!(world.export(async |hand| hand.drain().await));
    assert_eq!(world.clock.waits(), [Duration::from_secs(3)]);
    assert_eq!(world.arrived(), [vec![1, 2], vec![1, 2], vec![1], vec![2]]);
    let rows = (1..=600).map(row);
    let world = World::new(rows, vec![Scripted::status(413, ""), ok(), ok(), ok()]);
    assert!(world.export(async |hand| hand.drain().await));
    let sizes: Vec<_> = world.arrived().iter().map(Vec::len).collect();
    assert_eq!(sizes, [512, 256, 256, 88]);
}

// T4: batches are bounded, in the order of commits, and every row is in one of them.
#[test]
fn many_rows_are_several_batches() {
    let world = World::new((1..=1_030).map(row), vec![ok(), ok(), ok()]);
    assert!(world.export(async |hand| hand.drain().await));
    let arrived = world.arrived();
    assert_eq!(
        arrived.iter().map(Vec::len).collect::<Vec<_>>(),
        [512, 512, 6]
    );
    assert!(arrived.concat().into_iter().eq(1..=1_030));
}

// T4: `close` waits for five seconds and no longer, and the next process begins where this one was stopped.
#[test]
fn a_receiver_that_says_nothing_holds_nobody_up() {
    let world = World::new([row(1)], vec![ok().after(Duration::from_secs(20)), ok()]);
    let began = crate::clock::Clock::monotonic(&world.clock);
    assert!(!world.export(async |hand| hand.drain().await));
    let took = crate::clock::Clock::monotonic(&world.clock) - began;
    assert_eq!(took, Duration::from_secs(5));
    // Another worker is not kept waiting by the turn of the one that is gone.
    assert!(world.export(async |hand| hand.drain().await));
    assert_eq!(world.arrived(), [[1], [1]]);
}

// T4: an exporter that sleeps is woken by a poke, and collects a little before it sends.
#[test]
fn a_poke_wakes_and_rows_are_collected() {
    let world = World::new([], vec![ok()]);
    world.export(async |hand| {
        assert!(hand.drain().await);
        world.store.record(row(1));
        hand.pokes.notify_one();
        world.store.record(row(2));
        let has_arrived = |_: &mut std::task::Context<'_>| match world.arrived().is_empty() {
            true => Poll::Pending,
            false => Poll::Ready(()),
        };
        std::future::poll_fn(has_arrived).await;
    });
    assert_eq!(world.arrived(), [[1, 2]]);
    assert_eq!(world.clock.waits(), [Duration::from_millis(500)]);
}

// T4: one of two processes at a time.
#[test]
fn a_turn_keeps_the_other_process_out() {
    let world = World::new([row(1)], vec![ok().after(Duration::from_secs(1)), ok()]);
    let (first, second) = (world.worker(), world.worker());
    block_on(async {
        let (mut ours, mut theirs) = (Pace::new(), Pace::new());
        let mut under_way = pin!(first.round(&mut ours));
        let polled = std::future::poll_fn(|cx| Poll::Ready(under_way.as_mut().poll(cx))).await;
        assert_eq!(polled, Poll::Pending);
        assert_eq!(second.round(&mut theirs).await, Round::Taken);
        assert_eq!(under_way.await, Round::Again);
        assert_eq!(second.round(&mut theirs).await, Round::Nothing);
    });
    assert_eq!(world.arrived(), [[1]]);
}
