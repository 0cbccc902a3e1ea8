//! Does a request over HTTP/2 ever wait for another, and what becomes of one that its host refuses?

use std::sync::Arc;

use rig::__private::{
    Candidate, Capabilities, DEEPSEEK, Enforcement, Limits, Plan, Policy, Route, Segment, Template,
    call,
};
use rig::testing::{MemoryStore, chat_completion};
use rig::{NoVariant, Rig, Run, Usd};
use rustls::ServerConfig;
use serde_json::json;
use tests::routes::fc_base::{self, FcBase};

use crate::h2::{Event, Script, Server, child_tls, in_child};

static ONE: [Candidate; 1] = [Candidate {
    provider: &DEEPSEEK,
    model: "model-a",
    capabilities: Capabilities::of(&[]),
    enforcement: Enforcement::JsonMode,
    price: None,
    limits: Limits::UNKNOWN,
}];

/// No retries: what the ladder would make good does not count.
static ROUTE: Route = Route {
    name: "case",
    schema: fc_base::ROUTE.schema,
    plan: Plan {
        candidates: &ONE,
        prompt: Template {
            segments: &[Segment::Variable("q")],
        },
        repair: None,
    },
    policy: Policy {
        timeout_ms: 5_000,
        ..Policy::BLANK
    },
    ..Route::BLANK
};

/// How many calls are made at once: twice as many as a connection takes.
const AT_ONCE: usize = 4;

struct Bed {
    server: Server,
    rig: Rig,
    rows: MemoryStore,
    runtime: tokio::runtime::Runtime,
}

impl Bed {
    fn new(tls: &Arc<ServerConfig>, script: Script) -> Self {
        let body = chat_completion(r#"{"answer": "ok"}"#, "stop", 100, 20).leak();
        let server = Server::start(Arc::clone(tls), script, body);
        let rows = MemoryStore::default();
        let builder = Rig::builder().ignore_env().store(rows.clone());
        let address = format!("https://127.0.0.1:{}", server.port);
        let builder = builder.key("deepseek", "key").base_url("deepseek", address);
        Self {
            server,
            rig: builder.build().unwrap(),
            rows,
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap(),
        }
    }

    /// Makes calls at once, and returns how many are served.
    fn served(&self, calls: usize) -> usize {
        self.runtime.block_on(async {
            let tasks: Vec<_> = (0..calls)
                .map(|_| tokio::spawn(call_once(self.rig.clone())))
                .collect();
            let mut served = 0;
            for task in tasks {
                match task.await.unwrap() {
                    Ok(_) => served += 1,
                    Err(error) => eprintln!("{error}"),
                }
            }
            served
        })
    }

    fn rows(&self) -> Vec<&'static str> {
        let rows = self.rows.rows();
        let ends = rows.iter().map(|row| row.failure);
        ends.map(|failure| failure.map_or("conformant", |failure| failure.name()))
            .collect()
    }

    fn spent(&self) -> Usd {
        let state = self.runtime.block_on(self.rig.envelope("e"));
        let state = state.unwrap().unwrap();
        assert_eq!(state.reserved, Usd::ZERO);
        state.spent
    }
}

async fn call_once(rig: Rig) -> rig::Result<Run<FcBase>> {
    let call = call::<FcBase, NoVariant>(&ROUTE, json!({ "q": "x" }));
    // No price is known, and the reservation is high.
    let cap = Usd::dollars(100_000);
    call.envelope("e", cap).on(&rig).run().await
}

/// Not a test: what the next one runs in a process that trusts its servers.
#[test]
fn child() {
    let Some(tls) = child_tls() else { return };
    warm(&tls);
    cold(&tls);
    refused_once(&tls);
    refused_always(&tls);
}

// A4: requests never wait behind another's stream, and a refused one goes over another connection.
#[test]
fn a_host_with_two_streams_serves_four_calls_at_once() {
    let said = in_child("streams::child");
    assert_eq!(said.matches("served: ").count(), 4, "{said}");
}

/// The host has a connection already, and answers only when all four requests are there.
fn warm(tls: &Arc<ServerConfig>) {
    let bed = Bed::new(tls, Script::Together(AT_ONCE));
    assert_eq!(bed.served(1), 1);
    let served = bed.served(AT_ONCE);
    eprintln!("served: {served} over a warm connection, {:?}", bed.rows());
    assert_eq!(served, AT_ONCE);
    assert_eq!(bed.rows(), ["conformant"; 1 + AT_ONCE]);
    let events: Vec<_> = bed.server.events.try_iter().collect();
    assert!(
        events
            .iter()
            .all(|event| matches!(event, Event::Request { .. })),
        "{events:?}"
    );
}

/// The first requests leave before the host has said how many streams it takes.
fn cold(tls: &Arc<ServerConfig>) {
    let bed = Bed::new(tls, Script::Together(AT_ONCE - 1));
    let served = bed.served(AT_ONCE);
    eprintln!("served: {served} over no connection yet, {:?}", bed.rows());
    assert_eq!(served, AT_ONCE);
    assert_eq!(bed.rows(), ["conformant"; AT_ONCE]);
    let events: Vec<_> = bed.server.events.try_iter().collect();
    assert!(
        events
            .iter()
            .all(|event| matches!(event, Event::Request { .. })),
        "{events:?}"
    );
}

/// Nobody has looked at what was refused: it goes out again, over another connection, and is the same attempt.
fn refused_once(tls: &Arc<ServerConfig>) {
    let bed = Bed::new(tls, Script::Refuses(1));
    let served = bed.served(1);
    eprintln!("served: {served} after a refusal, {:?}", bed.rows());
    assert_eq!(bed.rows(), ["conformant"]);
    let events: Vec<_> = bed.server.events.try_iter().collect();
    let refused = Event::Refused {
        connection: 0,
        stream: 1,
    };
    let request = Event::Request {
        connection: 1,
        stream: 1,
    };
    assert_eq!(events, [refused, request]);
}

/// A host that refuses every request is asked three times, has billed nothing (E2), and is `network`.
fn refused_always(tls: &Arc<ServerConfig>) {
    let bed = Bed::new(tls, Script::Refuses(usize::MAX));
    let served = bed.served(1);
    eprintln!("served: {served} of a host that refuses, {:?}", bed.rows());
    assert_eq!(bed.rows(), ["network"]);
    assert_eq!(bed.spent(), Usd::ZERO);
    assert_eq!(bed.server.events.try_iter().count(), 3);
}
