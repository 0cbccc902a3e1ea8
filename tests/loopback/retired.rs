//! FC-37: what becomes of a run whose connection is retired under it?
//!
//! A request that its host may have processed is never sent again below the ladder: it is an attempt of class `network`
//! (K4), and the next one goes over a new connection. One that its host says it has not processed goes out again at once.

use std::sync::Arc;

use rig::__private::{
    Backoff, Candidate, Capabilities, DEEPSEEK, Enforcement, FIREWORKS, Limits, Plan, Policy,
    Provider, Route, Segment, Template, call,
};
use rig::testing::{MemoryStore, chat_completion};
use rig::{FailureClass, NoVariant, Rig};
use rustls::ServerConfig;
use serde_json::json;
use tests::routes::fc_base::{self, FcBase};

use crate::h2::{Event, Script, Server, child_tls, in_child};
use crate::server::{self, Reply, response};

const fn candidate(provider: &'static Provider) -> Candidate {
    Candidate {
        provider,
        model: "model-a",
        capabilities: Capabilities::of(&[]),
        enforcement: Enforcement::JsonMode,
        price: None,
        limits: Limits::UNKNOWN,
    }
}

static ONE: [Candidate; 1] = [candidate(&DEEPSEEK)];
static BOTH: [Candidate; 2] = [candidate(&DEEPSEEK), candidate(&FIREWORKS)];

/// One candidate with a retry, or two with none.
#[derive(Clone, Copy, Debug)]
enum Budget {
    Retry,
    NextCandidate,
}

/// Calls at an address, as often as it is told to.
struct Caller {
    rig: Rig,
    rows: MemoryStore,
    route: &'static Route,
    runtime: tokio::runtime::Runtime,
}

impl Caller {
    fn new(address: &str, budget: Budget) -> Self {
        let (candidates, retries): (&'static [_], &'static [_]) = match budget {
            Budget::Retry => (&ONE, &[(FailureClass::Network, 1)]),
            Budget::NextCandidate => (&BOTH, &[]),
        };
        let at_once = Backoff {
            first_ms: 0,
            factor: 1.0,
            cap_ms: 0,
            jitter: 0.0,
        };
        let route = Route {
            name: "case",
            schema: fc_base::ROUTE.schema,
            plan: Plan {
                candidates,
                prompt: Template {
                    segments: &[Segment::Variable("q")],
                },
                repair: None,
            },
            policy: Policy {
                retries,
                backoff: vec![(FailureClass::Network, at_once)].leak(),
                ..Policy::BLANK
            },
            ..Route::BLANK
        };
        let rows = MemoryStore::default();
        let builder = Rig::builder().ignore_env().store(rows.clone());
        let builder = ["deepseek", "fireworks"]
            .into_iter()
            .fold(builder, |builder, name| {
                let builder = builder.key(name, "key");
                builder.base_url(name, format!("{address}/{name}"))
            });
        Self {
            rig: builder.build().unwrap(),
            rows,
            route: Box::leak(Box::new(route)),
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap(),
        }
    }

    fn runs(&self) {
        let run = call::<FcBase, NoVariant>(self.route, json!({ "q": "x" }));
        let run = self.runtime.block_on(run.on(&self.rig).run()).unwrap();
        assert_eq!(run.output.answer, "ok");
    }

    fn rows(&self) -> Vec<String> {
        let rows = self.rows.rows();
        let short = rows.iter().map(|row| {
            let ended = row.failure.map_or("conformant", |failure| failure.name());
            format!("{} {ended}", row.provider)
        });
        short.collect()
    }
}

fn answer() -> String {
    chat_completion(r#"{"answer": "ok"}"#, "stop", 100, 20)
}

/// Whether the transport notices before it sends or after, the second run is served, over a new connection.
#[test]
fn a_connection_that_was_closed_while_idle_fails_no_run() {
    let Reply::Whole(whole) = response(200, "", &answer()) else {
        panic!("a good answer is a whole one")
    };
    for budget in [Budget::Retry, Budget::NextCandidate] {
        let server = server::Server::scripted([
            Reply::Cut(whole.clone()),
            response(200, "", &answer()),
            response(200, "", &answer()),
        ]);
        let caller = Caller::new(&server.address(), budget);
        caller.runs();
        assert!(matches!(server.next(), server::Event::Request(_)));
        assert!(matches!(server.next(), server::Event::Closed(0)));
        caller.runs();
        let requests = server.requests();
        assert_eq!(requests[0].connection, 1);
        let rows = caller.rows();
        let ends: Vec<_> = rows
            .iter()
            .filter(|row| *row != "deepseek network")
            .collect();
        assert_eq!(ends.len(), 2, "{rows:?}");
        assert!(ends.iter().all(|row| row.ends_with("conformant")));
        assert_eq!(rows[0], "deepseek conformant");
        assert!(rows.len() - ends.len() <= 1, "{rows:?}");
    }
}

/// The host may have processed what it read: its second request is the ladder's, and is in the rows. The connection may be
/// new or have served before.
#[test]
fn a_request_that_was_read_is_not_sent_again_silently() {
    for served_before in [0, 1] {
        for (budget, second) in [
            (Budget::Retry, "deepseek conformant"),
            (Budget::NextCandidate, "fireworks conformant"),
        ] {
            let good = || response(200, "", &answer());
            let mut replies: Vec<_> = (0..served_before).map(|_| good()).collect();
            replies.extend([Reply::Reset, good()]);
            let server = server::Server::scripted(replies);
            let caller = Caller::new(&server.address(), budget);
            (0..=served_before).for_each(|_| caller.runs());
            let mut expected = vec!["deepseek conformant"; served_before];
            expected.extend(["deepseek network", second]);
            assert_eq!(caller.rows(), expected);
            let requests = server.requests();
            let connections: Vec<_> = requests.iter().map(|seen| seen.connection).collect();
            let before = vec![0; served_before];
            assert_eq!(connections, [before, vec![0, 1]].concat());
        }
    }
}

/// Not a test: what the next one runs in a process that trusts its servers.
#[test]
fn child() {
    let Some(tls) = child_tls() else { return };
    for budget in [Budget::Retry, Budget::NextCandidate] {
        retired_after_its_answer(&tls, budget);
        retired_under_a_request(&tls, budget);
    }
}

#[test]
fn a_goaway_fails_no_run() {
    let said = in_child("retired::child");
    assert_eq!(said.matches("GOAWAY ").count(), 4, "{said}");
}

fn start(tls: &Arc<ServerConfig>, script: Script, budget: Budget) -> (Server, Caller) {
    let body = answer().leak();
    let server = Server::start(Arc::clone(tls), script, body);
    let caller = Caller::new(&format!("https://127.0.0.1:{}", server.port), budget);
    caller.runs();
    assert_eq!(server.events.recv().unwrap(), request(0, 1));
    (server, caller)
}

const fn request(connection: usize, stream: u32) -> Event {
    Event::Request { connection, stream }
}

/// The second run may find the retired connection or not. If its request is on that, the host says that it is not
/// processed, and it goes out again: it is the same attempt.
fn retired_after_its_answer(tls: &Arc<ServerConfig>, budget: Budget) {
    let (server, caller) = start(tls, Script::RetiresAfterAnswer, budget);
    assert_eq!(server.events.recv().unwrap(), Event::Retired);
    caller.runs();
    let rows = caller.rows();
    eprintln!("GOAWAY after an answer, {budget:?}: {rows:?}");
    assert_eq!(rows, ["deepseek conformant"; 2]);
    let events = server.events.try_iter();
    let new: Vec<_> = events.filter(|event| *event != request(0, 3)).collect();
    assert_eq!(new, [request(1, 1)]);
}

/// The second run's request is on the retired connection, for certain.
fn retired_under_a_request(tls: &Arc<ServerConfig>, budget: Budget) {
    let (server, caller) = start(tls, Script::RetiresUnderRequest, budget);
    caller.runs();
    let rows = caller.rows();
    eprintln!("GOAWAY under a request, {budget:?}: {rows:?}");
    assert_eq!(rows, ["deepseek conformant"; 2]);
    let events: Vec<_> = server.events.try_iter().collect();
    assert_eq!(events, [request(0, 3), Event::Retired, request(1, 1)]);
}
