//! How does one test code that calls a route, without a provider?
//!
//! A [`Mock`] is a rig whose providers answer by themselves: what conforms to the route's schema, or what the test says,
//! or failures. What it answers goes over the wire format of the candidate that is asked and through the real ladder.

mod wire;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::future::ready;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rig_spec::{Candidate, FailureClass, Route};
use serde::Serialize;
use serde_json::Value;

use self::wire::Reply;
use super::{ManualClock, MemoryStore, copy};
use crate::access::{Access, Settings};
use crate::attempt::name;
use crate::conform;
use crate::envelope;
use crate::export::Exporters;
use crate::rig::{Parts, Rig};
use crate::search::{Finding, Search, SearchError};
use crate::store::AttemptRow;
use crate::transport::{BoxFuture, Request, Response, Transport, TransportError};

/// A [`Rig`] for tests of code that calls one route: no network, no keys, no waiting, rows in memory.
///
/// The route's module has one ready: `summarize::mock()`. Every candidate answers with a value that conforms to the
/// route's schema, always the same one, until something else is said:
///
/// ```
/// # mod rig { pub use rig_runtime::{Call, NoVariant, Result, testing}; pub use rig_spec::FailureClass; }
/// # use rig::testing::{Mock, block_on};
/// # use rig_spec::*;
/// # static CANDIDATES: [Candidate; 2] = [
/// #     Candidate { provider: &OPENAI, model: "gpt-5.4-mini", capabilities: OPENAI.capabilities, enforcement: Enforcement::JsonMode, price: None, limits: Limits::UNKNOWN },
/// #     Candidate { provider: &ANTHROPIC, model: "claude-haiku-4-5", capabilities: ANTHROPIC.capabilities, enforcement: Enforcement::Coached, price: None, limits: Limits::UNKNOWN },
/// # ];
/// # static ROUTE: Route = Route { name: "summarize", plan: Plan { candidates: &CANDIDATES, ..Route::BLANK.plan }, ..Route::BLANK };
/// # #[allow(non_camel_case_types)] enum summarize {}
/// # impl summarize { fn mock() -> Mock { Mock::new(&ROUTE) } }
/// # fn summarize(_: ()) -> rig::Call<serde_json::Value> { rig_runtime::call(&ROUTE, serde_json::json!({})) }
/// # let input = ();
/// let mock = summarize::mock()
///     .fails("openai/gpt-5.4-mini", rig::FailureClass::CapacityShed)
///     .answers(serde_json::json!({ "text": "All is well." }));
///
/// let run = block_on(summarize(input).on(&mock).run())?;
///
/// assert_eq!(run.output["text"], "All is well.");
/// assert_eq!(run.meta.model, "claude-haiku-4-5");
/// assert_eq!(mock.rows().len(), 2);
/// # Ok::<(), rig_runtime::Error>(())
/// ```
///
/// It is a rig by [`Deref`], so `call.on(&mock)` takes it, and `rig::install(mock.rig())` makes it the process default
/// for code that names no rig. It knows one route: a call of another gets answers of this one, or fails.
pub struct Mock {
    world: World,
    keyless: Vec<String>,
    rig: Rig,
}

/// What all handles share.
#[derive(Clone)]
struct World {
    route: &'static Route,
    clock: ManualClock,
    store: MemoryStore,
    script: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    seed: u32,
    /// What the next attempts that no failure is scripted for are answered with.
    answers: VecDeque<Reply>,
    /// What the next attempts at a candidate fail with.
    next: HashMap<String, VecDeque<FailureClass>>,
    /// What all further attempts at a candidate fail with.
    then: HashMap<String, FailureClass>,
    requests: Vec<Request>,
    /// The candidate that was asked last.
    last: String,
}

impl Mock {
    /// Returns a mock of a route.
    #[must_use]
    pub fn new(route: &'static Route) -> Self {
        let clock = ManualClock::new();
        let world = World {
            route,
            clock,
            store: MemoryStore::default(),
            script: Arc::default(),
        };
        Self {
            rig: world.rig(&[]),
            world,
            keyless: Vec::new(),
        }
    }

    /// Draws other values from the schema: the same for the same seed.
    #[must_use]
    pub fn seed(self, seed: u32) -> Self {
        self.world.script().seed = seed;
        self
    }

    /// Answers the next attempt with this value: the output type, or JSON that was recorded. Several are answered in the
    /// order in which they are given; one that does not conform is what the ladder sees.
    ///
    /// # Panics
    ///
    /// When the value cannot be written as JSON.
    #[must_use]
    #[track_caller]
    pub fn answers(self, value: impl Serialize) -> Self {
        match serde_json::to_string(&value) {
            Ok(json) => self.answer(Reply::Json(json)),
            Err(error) => panic!("the answer cannot be written as JSON: {error}"),
        }
    }

    /// Answers the next attempt with this text, as a model may write it: fenced, chatty, cut off.
    #[must_use]
    pub fn answers_text(self, text: impl Into<String>) -> Self {
        self.answer(Reply::Text(text.into()))
    }

    /// Answers the next attempt with a call of a tool.
    #[must_use]
    pub fn calls_tool(self, tool: impl Into<String>, arguments: Value) -> Self {
        let tool = tool.into();
        self.answer(Reply::Call { tool, arguments })
    }

    /// Lets the next attempt at a candidate (`provider/model`) fail with a class; said again, the one after it too.
    ///
    /// # Panics
    ///
    /// When the route has no such candidate, or no provider can cause the class.
    #[must_use]
    #[track_caller]
    pub fn fails(self, candidate: &str, class: FailureClass) -> Self {
        self.world.expect_can_fail(candidate, class);
        {
            let mut script = self.world.script();
            let next = script.next.entry(candidate.to_owned());
            next.or_default().push_back(class);
        }
        self
    }

    /// Lets every attempt at a candidate fail with a class, after those of [`Mock::fails`].
    ///
    /// # Panics
    ///
    /// When the route has no such candidate, or no provider can cause the class.
    #[must_use]
    #[track_caller]
    pub fn always_fails(self, candidate: &str, class: FailureClass) -> Self {
        self.world.expect_can_fail(candidate, class);
        self.world.script().then.insert(candidate.to_owned(), class);
        self
    }

    /// Takes a provider's key away.
    ///
    /// # Panics
    ///
    /// When no candidate of the route has such a provider.
    #[must_use]
    #[track_caller]
    pub fn without_key(mut self, provider: &str) -> Self {
        let mut providers = self
            .world
            .candidates()
            .map(|candidate| candidate.provider.name);
        assert!(
            providers.any(|name| name == provider),
            "route `{}` has no candidate of a provider `{provider}`",
            self.world.route.name
        );
        drop(providers);
        self.keyless.push(provider.to_owned());
        self.rig = self.world.rig(&self.keyless);
        self
    }

    /// Returns the rig, e.g. for [`crate::install`].
    #[must_use]
    pub fn rig(&self) -> Rig {
        self.rig.clone()
    }

    /// Returns the rows of all attempts so far.
    #[must_use]
    pub fn rows(&self) -> Vec<AttemptRow> {
        self.world.store.rows()
    }

    /// Returns the requests so far, as the providers got them.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.world.script().requests.iter().map(copy).collect()
    }

    /// Returns the time that calls wait in. It jumps to the end of every wait.
    #[must_use]
    pub fn clock(&self) -> ManualClock {
        self.world.clock.clone()
    }

    /// Returns what tells who was asked last.
    pub(super) fn asked(&self) -> impl Fn() -> String + use<> {
        let world = self.world.clone();
        move || world.script().last.clone()
    }

    fn answer(self, reply: Reply) -> Self {
        self.world.script().answers.push_back(reply);
        self
    }
}

impl Deref for Mock {
    type Target = Rig;

    fn deref(&self) -> &Rig {
        &self.rig
    }
}

impl fmt::Debug for Mock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mock({})", self.world.route.name)
    }
}

impl World {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns everybody who may be asked: the candidates and repair models of all plans.
    fn candidates(&self) -> impl Iterator<Item = &'static Candidate> + use<> {
        let variants = self.route.variants.iter().map(|variant| &variant.plan);
        [&self.route.plan]
            .into_iter()
            .chain(variants)
            .flat_map(|plan| {
                let repair = plan.repair.iter().filter_map(|repair| repair.model);
                plan.candidates.iter().chain(repair)
            })
    }

    fn rig(&self, keyless: &[String]) -> Rig {
        let mut settings = Settings {
            ignore_env: true,
            ..Settings::default()
        };
        for candidate in self.candidates() {
            let provider = candidate.provider;
            settings
                .base_urls
                .insert(provider.name.to_owned(), address(provider.name));
            if keyless.iter().any(|name| name == provider.name) {
                // Also one that needs no key has none that can be sent then.
                settings
                    .keys
                    .insert(provider.name.to_owned(), String::new());
            } else if provider.key_env.is_some() {
                settings
                    .keys
                    .insert(provider.name.to_owned(), "mock".to_owned());
            }
        }
        Rig::of(Parts {
            slow: Default::default(),
            access: Access::new(settings),
            transport: Box::new(self.clone()),
            exporters: Exporters::default(),
            store: Arc::new(self.store.clone()),
            captures: true,
            clock: Box::new(self.clock.clone()),
            search: Some(Box::new(Found)),
            envelope_cap: envelope::DEFAULT_CAP,
        })
    }

    #[track_caller]
    fn expect_can_fail(&self, candidate: &str, class: FailureClass) {
        let known: BTreeSet<_> = self.candidates().map(name).collect();
        assert!(
            known.contains(candidate),
            "route `{}` has no candidate `{candidate}`, but {known:?}",
            self.route.name
        );
        assert!(
            wire::failure(class).is_some(),
            "no answer of a provider ends an attempt with `{class}`"
        );
    }

    /// Returns what a request is answered with, and by whom.
    fn reply(&self, request: &Request) -> Option<(&'static Candidate, Reply)> {
        let model = wire::model(request)?;
        let candidate = self.candidates().find(|candidate| {
            let address = address(candidate.provider.name) + "/";
            candidate.model == model && request.url.starts_with(&address)
        })?;
        let name = name(candidate);
        let mut script = self.script();
        script.last.clone_from(&name);
        let scripted = script.next.get_mut(&name).and_then(VecDeque::pop_front);
        if let Some(class) = scripted.or_else(|| script.then.get(&name).copied()) {
            return Some((candidate, Reply::Fails(class)));
        }
        let answer = script.answers.pop_front();
        let reply = answer.or_else(|| Some(Reply::Json(self.sample(script.seed)?.to_string())))?;
        Some((candidate, reply))
    }

    fn sample(&self, seed: u32) -> Option<Value> {
        match &self.route.schema {
            Some(schema) => conform::sample(schema, seed),
            None => Some(Value::from("any value")),
        }
    }
}

impl Transport for World {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        let reply = self.reply(&request);
        let reply = reply.map(|(candidate, reply)| wire::write(candidate, &request, reply));
        self.script().requests.push(request);
        Box::pin(async move {
            let Some(reply) = reply else {
                let message = format!(
                    "the mock is of route `{}`: this is asked by another, or its schema has no sample",
                    self.route.name
                );
                return Err(TransportError::new(message));
            };
            reply.arrive(&self.clock).await
        })
    }
}

/// A search that always finds one page.
struct Found;

impl Search for Found {
    fn search(&self, _: String) -> BoxFuture<'_, Result<Vec<Finding>, SearchError>> {
        Box::pin(ready(Ok(vec![Finding {
            title: "An example".to_owned(),
            url: "https://example.com/".to_owned(),
            content: "This is what was found.".to_owned(),
        }])))
    }
}

/// Where a provider is: nowhere, but at an address of its own.
fn address(provider: &str) -> String {
    format!("https://{provider}.mock")
}

/// Longer than any attempt may take.
const FOR_EVER: Duration = Duration::from_secs(1 << 40);
