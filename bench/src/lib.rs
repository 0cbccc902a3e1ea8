//! What is timed? A strict schema, its type, answers that conform, and calls of a route that has them.

use rig::store::{
    AttemptRow, Capture, Envelope, EnvelopeState, ExportNext, ExportTurn, Exported, Grade,
    ObservedLatency, Page, Reserve, Reserved, Spend, Spending, StoreError, VerdictRow, VerdictsOf,
};
use rig::testing::{MemoryStore, chat_completion};
use rig::transport::{Body, BoxFuture, Headers, Request, Response, TransportError};
use rig::{Rig, Usd};
use rig_spec::Schema;
use serde_json::Value;

/// Writes a report.
#[rig::route("report")]
pub async fn report(input: ReportInput) -> rig::Result<Report>;

/// Returns the schema as the route has it.
///
/// # Panics
///
/// If it has none.
#[must_use]
pub fn schema() -> &'static Schema {
    report::ROUTE.schema.as_ref().expect("a schema")
}

/// Returns an answer of at least so many bytes, its properties in the schema's order: so models write them.
#[must_use]
pub fn answer(bytes: usize) -> String {
    let mut events: Vec<String> = Vec::new();
    loop {
        let n = events.len();
        events.push(match n % 3 {
            0 => format!(
                r#"{{"kind":"note","author":"person {n}","text":"The printer in room 12 does not answer.","tags":["printer","urgent"]}}"#
            ),
            1 => format!(
                r#"{{"kind":"payment","amount":{}.5,"currency":"EUR","invoice":null}}"#,
                12 + n
            ),
            _ => format!(
                r#"{{"kind":"visit","minutes":{},"place":{{"city":"Graz","zip":"8010"}},"rating":4}}"#,
                n % 200
            ),
        });
        let text = format!(
            r#"{{"title":"Weekly report","priority":"high","score":0.75,"owner":null,"count":{n},"events":[{}]}}"#,
            events.join(",")
        );
        if text.len() >= bytes {
            return text;
        }
    }
}

/// The validator that the macro of `jsonschema` generates.
#[jsonschema::validator(path = "routes/report.schema.json", validate_formats = false)]
pub struct Generated;

/// The same types, as one writes them for serde.
pub mod peer {
    use serde::{Deserialize, Serialize};

    /// The whole answer.
    #[derive(Debug, Deserialize, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct Report {
        title: String,
        priority: Priority,
        score: f64,
        owner: Option<String>,
        count: i64,
        events: Vec<Event>,
    }

    #[derive(Debug, Deserialize, Serialize)]
    #[serde(rename_all = "lowercase")]
    enum Priority {
        Low,
        Normal,
        High,
    }

    #[derive(Debug, Deserialize, Serialize)]
    #[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
    enum Event {
        Note {
            author: String,
            text: String,
            tags: Vec<String>,
        },
        Payment {
            amount: f64,
            currency: Currency,
            invoice: Option<String>,
        },
        Visit {
            minutes: i64,
            place: Place,
            rating: Option<i64>,
        },
    }

    #[derive(Debug, Deserialize, Serialize)]
    enum Currency {
        #[serde(rename = "EUR")]
        Eur,
        #[serde(rename = "USD")]
        Usd,
    }

    #[derive(Debug, Deserialize, Serialize)]
    #[serde(deny_unknown_fields)]
    struct Place {
        city: String,
        zip: String,
    }
}

/// Bytes → value → validator → type, with the validator given.
#[must_use]
pub fn by_value(text: &str, is_valid: impl FnOnce(&Value) -> bool) -> Option<peer::Report> {
    let value: Value = serde_json::from_str(text).ok()?;
    if !is_valid(&value) {
        return None;
    }
    serde_json::from_value(value).ok()
}

/// Returns a response body of the provider with this answer.
#[must_use]
pub fn response(answer: &str) -> String {
    chat_completion(answer, "stop", 400, 300)
}

/// Returns the answer of a response body: what a client does that has neither ladder nor rows.
#[must_use]
pub fn answer_of(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    body["choices"][0]["message"]["content"]
        .as_str()
        .map(str::to_owned)
}

/// Returns a rig whose provider answers everything with this body at once, and whose rows go nowhere.
///
/// # Panics
///
/// If it cannot be built.
#[must_use]
pub fn rig(body: String) -> Rig {
    rig_on(body, Nowhere(MemoryStore::default()))
}

/// Returns a rig whose provider answers everything with this body at once, and whose rows go to this store.
///
/// # Panics
///
/// If it cannot be built.
#[must_use]
pub fn rig_on(body: String, store: impl rig::Store + 'static) -> Rig {
    let builder = Rig::builder().ignore_env().key("openai", "none");
    let rig = builder.transport(Always(body)).store(store).build();
    rig.expect("nothing is opened")
}

struct Always(String);

struct Whole(Option<Vec<u8>>);

struct Nowhere(MemoryStore);

impl rig::Transport for Always {
    fn send(&self, _: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        let body = Whole(Some(self.0.clone().into_bytes()));
        let response = Response {
            status: 200,
            headers: Headers::default(),
            body: Box::new(body),
        };
        Box::pin(std::future::ready(Ok(response)))
    }
}

impl Body for Whole {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, TransportError>> {
        Box::pin(std::future::ready(Ok(self.0.take())))
    }
}

impl rig::Store for Nowhere {
    fn record(&self, _: AttemptRow) {}

    fn record_captured(&self, _: AttemptRow, _: Capture) {}

    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.0.flush()
    }

    fn attempts(&self, run_id: &str) -> BoxFuture<'_, Result<Vec<AttemptRow>, StoreError>> {
        self.0.attempts(run_id)
    }

    fn captures(&self, route: &str) -> BoxFuture<'_, Result<Vec<Capture>, StoreError>> {
        self.0.captures(route)
    }

    fn observed_latency(
        &self,
        route: &str,
    ) -> BoxFuture<'_, Result<Vec<ObservedLatency>, StoreError>> {
        self.0.observed_latency(route)
    }

    fn spend(&self, of: Spending) -> BoxFuture<'_, Result<Spend, StoreError>> {
        self.0.spend(of)
    }

    fn open_envelope(
        &self,
        envelope: Envelope,
        now_ms: i64,
    ) -> BoxFuture<'_, Result<EnvelopeState, StoreError>> {
        self.0.open_envelope(envelope, now_ms)
    }

    fn reserve(&self, wanted: Reserve) -> BoxFuture<'_, Result<Reserved, StoreError>> {
        self.0.reserve(wanted)
    }

    fn settle(&self, id: &str, charge: Option<Usd>) {
        self.0.settle(id, charge);
    }

    fn envelope(
        &self,
        name: &str,
        now_ms: i64,
    ) -> BoxFuture<'_, Result<Option<EnvelopeState>, StoreError>> {
        self.0.envelope(name, now_ms)
    }

    fn envelopes(&self, now_ms: i64) -> BoxFuture<'_, Result<Vec<EnvelopeState>, StoreError>> {
        self.0.envelopes(now_ms)
    }

    fn page(&self, of: Page) -> BoxFuture<'_, Result<Vec<AttemptRow>, StoreError>> {
        self.0.page(of)
    }

    fn grade(&self, grade: Grade) -> BoxFuture<'_, Result<(), StoreError>> {
        self.0.grade(grade)
    }

    fn verdicts(&self, of: VerdictsOf) -> BoxFuture<'_, Result<Vec<VerdictRow>, StoreError>> {
        self.0.verdicts(of)
    }

    fn next_export(&self, turn: ExportTurn) -> BoxFuture<'_, Result<ExportNext, StoreError>> {
        self.0.next_export(turn)
    }

    fn exported(&self, done: Exported) -> BoxFuture<'_, Result<(), StoreError>> {
        self.0.exported(done)
    }
}
