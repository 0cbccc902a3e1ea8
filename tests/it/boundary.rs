//! Does `docs/boundary.md` say what the system does not do, and is that still so?
//!
//! One table. Each entry has a tripwire: what it looks at changes when the feature ships, and then the entry has to go.

use std::fmt::Write as _;

mod tripwires;

use tripwires as wire;

/// Something that the system does not do.
struct Entry {
    group: Group,
    /// What it does not do.
    what: &'static str,
    /// Why, or what there is instead.
    instead: &'static str,
    /// Panics once it does.
    tripwire: fn(),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    NotBuilt,
    Deferred,
    NotActuating,
    ByDesign,
}

impl Group {
    const ALL: [Self; 4] = [
        Self::NotBuilt,
        Self::Deferred,
        Self::NotActuating,
        Self::ByDesign,
    ];

    fn heading(self) -> &'static str {
        match self {
            Self::NotBuilt => "## Not built",
            Self::Deferred => "## Deferred",
            Self::NotActuating => "## Built, but it steers nothing",
            Self::ByDesign => "## By design",
        }
    }

    fn lead(self) -> &'static str {
        match self {
            Self::NotBuilt => "Nobody works on these. Another crate serves you better.",
            Self::Deferred => "These belong here, and are not there yet.",
            Self::NotActuating => "These are recorded or accepted, and change no decision.",
            Self::ByDesign => "These will stay so.",
        }
    }
}

const fn entry(group: Group, what: &'static str, instead: &'static str, tripwire: fn()) -> Entry {
    Entry {
        group,
        what,
        instead,
        tripwire,
    }
}

const TABLE: &[Entry] = &[
    entry(
        Group::NotBuilt,
        "Agent loops: no tool that a model calls is run, and no result is sent back",
        "A route with tools returns `Turn::ToolCalls`, with arguments that conform to the tools' schemas.",
        wire::tools_are_not_run,
    ),
    entry(
        Group::NotBuilt,
        "Conversations: a request holds one system prompt and one user turn",
        "Pass what was said before as a variable of type `json`.",
        wire::a_request_has_one_turn,
    ),
    entry(
        Group::NotBuilt,
        "Images, audio and files as input",
        "Variables are text, numbers, booleans and JSON.",
        wire::variables_are_text,
    ),
    entry(
        Group::NotBuilt,
        "Embeddings, images, speech, moderation: every dialect is one that answers with text",
        "Ask the provider's own client.",
        wire::dialects_answer_with_text,
    ),
    entry(
        Group::NotBuilt,
        "Batch interfaces: each call is answered while it waits",
        "`tier: flex` is the cheaper lane of providers that have one.",
        wire::tiers_are_three,
    ),
    entry(
        Group::NotBuilt,
        "Signed or short-lived credentials (AWS Bedrock, Vertex AI, Entra ID)",
        "A key per provider, sent as the provider documents it. Name an endpoint that takes one in `rig.yaml`.",
        wire::providers_take_keys,
    ),
    entry(
        Group::Deferred,
        "Typed values of a half-read answer: a stream tells text, and the typed value at its end",
        "`Event::Done` has it, judged.",
        wire::streams_tell_text,
    ),
    entry(
        Group::Deferred,
        "Going on with a turn that a provider paused (`pause_turn`)",
        "It is `content_invalid`: the route tries again, or the next candidate.",
        wire::paused_turns_fail,
    ),
    entry(
        Group::Deferred,
        "Making Gemini's cached contents: `cache: auto` tells Gemini nothing",
        "Pass the handle of one that you made: `.cache(CacheHandle::new(\"gemini\", …))`.",
        wire::gemini_is_told_of_no_cache,
    ),
    entry(
        Group::NotActuating,
        "`prefer: [latency]` is accepted and changes no order",
        "`prefer: [cost]` sorts by price; else the order is the file's.",
        wire::latency_is_no_preference,
    ),
    entry(
        Group::NotActuating,
        "Observed latency does not steer: a slow candidate keeps its place",
        "`rig.observed_latency(route)` tells p50, p90 and p99 for each model.",
        wire::slow_candidates_keep_their_place,
    ),
    entry(
        Group::NotActuating,
        "Failures of earlier runs do not steer: there is no circuit breaker, every run starts at the first candidate",
        "Budgets of `policy.retries` say how long a run stays with a candidate.",
        wire::failing_candidates_keep_their_place,
    ),
    entry(
        Group::NotActuating,
        "`format` of a schema is an annotation: nothing is refused for it",
        "Say it as a `pattern`.",
        wire::formats_are_annotations,
    ),
    entry(
        Group::ByDesign,
        "No gateway and no daemon: a library in your process, which calls providers with your keys",
        "A fleet shares envelopes and rows through its store.",
        wire::it_is_a_library,
    ),
    entry(
        Group::ByDesign,
        "No cache of answers: the same call twice is two requests",
        "Keep what you want to use again; providers' prompt caches are another thing (`cache: auto`).",
        wire::answers_are_not_kept,
    ),
    entry(
        Group::ByDesign,
        "No retries below the ladder: what was sent is one attempt and one row",
        "`policy.retries` is all there is.",
        wire::one_request_is_one_row,
    ),
    entry(
        Group::ByDesign,
        "No model that the route does not declare, whatever a call asks for",
        "Options narrow a route. Another model is a change of the file, and so of the build.",
        wire::options_only_narrow,
    ),
    entry(
        Group::ByDesign,
        "No routes that change while a process runs",
        "They are constants of the program. The command line loads them for replay only.",
        wire::routes_are_constants,
    ),
    entry(
        Group::ByDesign,
        "No half-good values: what does not conform reaches no caller, also where it could be read",
        "The error has the class and the history; `rig.captures` has outputs where the route captures.",
        wire::bad_answers_reach_nobody,
    ),
];

const HEAD: &str = "\
# The boundary

What the system does not do, so that you need not find out by trying. The page is printed from a table
(`tests/it/boundary.rs`) in which every entry has a test that fails once the entry is no longer true.
";

#[test]
fn the_page_is_the_table() {
    let mut page = HEAD.to_owned();
    for group in Group::ALL {
        write!(page, "\n{}\n\n{}\n\n", group.heading(), group.lead()).unwrap();
        for entry in TABLE.iter().filter(|entry| entry.group == group) {
            writeln!(page, "- **{}.** {}", entry.what, entry.instead).unwrap();
        }
    }
    tests::expect_file("../docs/boundary.md", &page);
}

#[test]
fn what_is_not_done_is_still_not_done() {
    for entry in TABLE {
        (entry.tripwire)();
    }
}
