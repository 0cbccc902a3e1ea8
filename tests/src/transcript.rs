//! What came of a call, as text: a line per row, the waits, the result.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rig::store::AttemptRow;
use rig::testing::Scripted;
use rig::transport::Request;
use rig::{Error, Result, Rig, Run, RunMeta};
use serde::Serialize;
use serde_json::Value;

use crate::block_on;
use crate::world::{KEY_MARKER, World};

/// Makes a call with keys for `providers` against a script, and compares the transcript with `expected`.
///
/// A row reads `<attempt> <provider>/<model> <end>` and then whatever is not as usual: tokens `in+out`, cost, time
/// (`head/whole`), tier (`asked>served`), `repaired by`, `variant`, tags, what was told to a cache. Then come the waits and the result: the
/// output as JSON, or the error's class, place, message and history.
///
/// What holds for every call is checked on the way: each reply of the script was asked for and is one row, the
/// meta is the serving row's, every row is of one run, and no key is in any text.
///
/// # Panics
///
/// When something differs.
pub fn check<T, F>(
    providers: &str,
    script: impl IntoIterator<Item = Scripted>,
    call: impl FnOnce(&Rig) -> F,
    expected: &str,
) -> Seen<T>
where
    T: Serialize,
    F: Future<Output = Result<Run<T>>>,
{
    let world = World::with_keys(providers);
    let script: Vec<_> = script.into_iter().collect();
    let replies = script.len();
    world.push(script);
    let result = block_on(call(&world.rig));
    let seen = Seen {
        result,
        rows: world.store.rows(),
        requests: world.transport.requests(),
        waits: world.clock.waits(),
    };
    let wanted: Vec<_> = expected.lines().map(str::trim).collect();
    let (actual, wanted) = (seen.transcript(), wanted.join("\n"));
    let (actual, wanted) = (actual.trim(), wanted.trim());
    assert!(
        actual == wanted,
        "the transcript differs\n--- expected\n{wanted}\n--- actual\n{actual}\n"
    );
    assert_eq!(seen.requests.len(), replies, "replies of the script");
    assert_eq!(
        seen.rows.len(),
        replies,
        "one dispatch is one row (T1): {:#?}",
        seen.rows
    );
    seen.check_rows(&world);
    match &seen.result {
        Ok(run) => seen.check_meta(&run.meta),
        Err(error) => seen.check_error(error),
    }
    seen
}

/// What a call came to.
pub struct Seen<T> {
    /// What it returned.
    pub result: Result<Run<T>>,
    /// The rows, in the order of recording.
    pub rows: Vec<AttemptRow>,
    requests: Vec<Request>,
    waits: Vec<std::time::Duration>,
}

impl<T> Seen<T> {
    /// Returns the output.
    ///
    /// # Panics
    ///
    /// When there is none.
    #[must_use]
    pub fn output(&self) -> &T {
        &self.run().output
    }

    /// Returns the output and how it came about.
    ///
    /// # Panics
    ///
    /// When there is no output.
    #[must_use]
    pub fn run(&self) -> &Run<T> {
        self.result
            .as_ref()
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the error.
    ///
    /// # Panics
    ///
    /// When there is none.
    #[must_use]
    pub fn error(&self) -> &Error {
        match &self.result {
            Err(error) => error,
            Ok(run) => panic!("no error, but {:?}", run.meta),
        }
    }

    /// Returns a request, counted from 1 as rows are.
    #[must_use]
    pub fn request(&self, attempt: usize) -> &Request {
        &self.requests[attempt - 1]
    }

    /// Returns a request's body as it was sent.
    #[must_use]
    pub fn text(&self, attempt: usize) -> &str {
        str::from_utf8(&self.request(attempt).body).unwrap()
    }

    /// Returns a request's body.
    #[must_use]
    pub fn body(&self, attempt: usize) -> Value {
        serde_json::from_str(self.text(attempt)).unwrap()
    }

    /// Returns the system prompt of a request, of either dialect; empty where there is none.
    #[must_use]
    pub fn system(&self, attempt: usize) -> String {
        let body = self.body(attempt);
        let turns = body["messages"].as_array().into_iter().flatten();
        let turn = turns
            .filter(|turn| turn["role"] == "system")
            .map(|turn| &turn["content"])
            .next();
        match turn.unwrap_or(&body["system"]) {
            Value::Array(blocks) => blocks
                .iter()
                .filter_map(|block| block["text"].as_str())
                .collect(),
            text => text.as_str().unwrap_or_default().to_owned(),
        }
    }

    /// Returns the user turn of a request.
    #[must_use]
    pub fn user(&self, attempt: usize) -> String {
        let body = self.body(attempt);
        let turns = body["messages"].as_array().unwrap();
        let last = turns.last().unwrap();
        assert_eq!(last["role"], "user");
        last["content"].as_str().unwrap().to_owned()
    }

    fn check_rows(&self, world: &World) {
        let Some(first) = self.rows.first() else {
            return;
        };
        for (index, row) in self.rows.iter().enumerate() {
            assert_eq!(row.attempt as usize, index + 1);
            assert_eq!(
                (&row.run_id, &row.route, row.route_version, &row.lane),
                (
                    &first.run_id,
                    &first.route,
                    first.route_version,
                    &lane(row).into()
                )
            );
            assert!(
                row.id.starts_with("019") && row.id.len() == 36,
                "{}",
                row.id
            );
            assert!(row.latency_ms >= row.ttfb_ms.unwrap_or(0));
        }
        assert!(self.rows.is_sorted_by_key(|row| row.ts_ms));
        let ids: BTreeSet<_> = self.rows.iter().map(|row| &row.id).collect();
        assert_eq!(ids.len(), self.rows.len());
        // A run's rows can be read back by its id.
        let stored = block_on(world.rig.attempts(&first.run_id)).unwrap();
        assert_eq!(stored, self.rows);
        let texts = format!("{:?} {:?} {:?}", self.rows, self.requests, world.rig);
        assert_private(&texts);
    }

    /// T2: what the caller is told is what the serving row says.
    fn check_meta(&self, meta: &RunMeta) {
        let row = self.rows.last().unwrap();
        assert_eq!(
            (&row.id, &row.run_id, &*row.route, row.route_version),
            (
                &meta.inference_id,
                &meta.run_id,
                meta.route,
                meta.route_version
            )
        );
        assert_eq!(
            (&*row.provider, &*row.model, &row.served_tier),
            (meta.provider, &*meta.model, &meta.served_tier)
        );
        assert_eq!(
            (row.tokens_in, row.tokens_out, row.tokens_cached),
            (meta.tokens_in, meta.tokens_out, meta.tokens_cached)
        );
        assert_eq!(
            (row.cost, row.pricing_missing, row.requested_tier),
            (meta.cost, meta.pricing_missing, meta.requested_tier)
        );
        assert_eq!(row.latency_ms, meta.latency.as_millis() as u64);
        assert_eq!(row.served_variant.as_deref(), meta.served_variant);
        assert_eq!(row.repaired_by, meta.repaired_by);
        assert_eq!(row.failure, None);
        // L1, W1: a call of tools is returned before validation, and the raw lane has none.
        assert_eq!(
            meta.validated,
            meta.tool_calls.is_empty() && row.lane == "ladder"
        );
        assert_eq!(meta.attempts.total() as usize, self.rows.len());
        let failed = |class: rig::FailureClass| {
            let of_class =
                |row: &&AttemptRow| row.failure.is_some_and(|end| end.name() == class.name());
            self.rows.iter().filter(of_class).count()
        };
        for class in rig::FailureClass::ALL {
            assert_eq!(meta.attempts.failed(class) as usize, failed(class));
        }
        let costs = self.rows.iter().map(|row| row.cost);
        assert_eq!(meta.run_cost, costs.sum());
    }

    /// L9: the error knows the run, and its text has all of it.
    fn check_error(&self, error: &Error) {
        let text = error.to_string();
        assert_private(&format!("{text} {error:?}"));
        assert!(!text.contains("All candidates exhausted"));
        let Some(failure) = error.failure() else {
            assert!(self.rows.is_empty());
            return;
        };
        assert_eq!(error.class(), Some(failure.class));
        for part in [
            failure.route,
            failure.class.name(),
            &failure.message,
            failure.provider,
            &failure.model,
            &failure.run_id,
            &failure.history,
            failure.fix_hint(),
        ] {
            assert!(text.contains(part), "`{part}` is not in: {text}");
        }
        let anchor = format!("#{}", failure.class.name());
        assert!(failure.docs_url().ends_with(&anchor));
        if let Some(row) = self.rows.last() {
            assert_eq!(row.run_id, failure.run_id);
        }
    }

    fn transcript(&self) -> String
    where
        T: Serialize,
    {
        let mut text: String = self.rows.iter().map(line).collect();
        if !self.waits.is_empty() {
            let waits: Vec<_> = self.waits.iter().map(|wait| format!("{wait:?}")).collect();
            put(&mut text, format_args!("waits {}\n", waits.join(", ")));
        }
        match &self.result {
            Ok(run) => {
                let output = serde_json::to_string(&run.output).unwrap();
                put(&mut text, format_args!("= {output}"));
            }
            Err(error) => match error.failure() {
                None => put(&mut text, format_args!("! {error}")),
                Some(failure) => put(
                    &mut text,
                    format_args!(
                        "! {} {}/{}: {}\n({})",
                        failure.class,
                        failure.provider,
                        failure.model,
                        failure.message,
                        failure.history
                    ),
                ),
            },
        }
        text
    }
}

/// W1: what has no route is in the raw lane, and nothing else is.
fn lane(row: &AttemptRow) -> &'static str {
    if row.route.is_empty() {
        "raw"
    } else {
        "ladder"
    }
}

fn line(row: &AttemptRow) -> String {
    let mut text = format!("{} {}/{}", row.attempt, row.provider, row.model);
    let end = row.failure.map_or("conformant", |failure| failure.name());
    put(&mut text, format_args!(" {end}"));
    if row.lane == "raw" {
        text.push_str(" raw");
    }
    match (row.tokens_in, row.tokens_out) {
        (Some(tokens_in), Some(tokens_out)) => {
            put(&mut text, format_args!(" {tokens_in}+{tokens_out}"));
        }
        // A stream that broke off may have told of its input only.
        (Some(tokens_in), None) => put(&mut text, format_args!(" {tokens_in}+?")),
        (None, tokens_out) => assert_eq!(tokens_out, None),
    }
    if let Some(cached) = row.tokens_cached {
        put(&mut text, format_args!(" cached {cached}"));
    }
    if let Some(written) = row.tokens_cache_write {
        put(&mut text, format_args!(" written {written}"));
    }
    if let Some(searches) = row.searches.filter(|searches| *searches > 0) {
        put(&mut text, format_args!(" searched {searches}"));
    }
    if row.pricing_missing {
        assert_eq!(row.cost, rig::Usd::ZERO);
    } else {
        put(&mut text, format_args!(" {}", row.cost));
    }
    if row.latency_ms > 0 {
        let head = row
            .ttfb_ms
            .map_or_else(|| "-".to_owned(), |ms| ms.to_string());
        put(&mut text, format_args!(" {head}/{} ms", row.latency_ms));
    }
    if row.requested_tier.is_some() || row.served_tier.is_some() {
        let asked = row.requested_tier.map_or("-", |tier| tier.name());
        let served = row.served_tier.as_deref().unwrap_or("-");
        put(&mut text, format_args!(" {asked}>{served}"));
    }
    if let Some(by) = &row.repaired_by {
        put(&mut text, format_args!(" repaired by {by}"));
    }
    if let Some(variant) = &row.served_variant {
        put(&mut text, format_args!(" variant {variant}"));
    }
    for (key, value) in &row.tags {
        put(&mut text, format_args!(" {key}={value}"));
    }
    if row.prefix_fingerprint.is_some() {
        text.push_str(" prefixed");
    }
    match &row.cache_key {
        key @ Some(_) if *key == row.prefix_fingerprint => text.push_str(" keyed"),
        Some(key) => put(&mut text, format_args!(" keyed {key}")),
        None => {}
    }
    text + "\n"
}

fn put(text: &mut String, piece: std::fmt::Arguments<'_>) {
    text.write_fmt(piece).unwrap();
}

fn assert_private(text: &str) {
    assert!(!text.contains(KEY_MARKER), "a key is in: {text}");
}
