//! Does `docs/providers.md` say what the tables say?

use std::fmt::Write as _;

use rig::__private::{
    CONFLICTS, Capability, Dialect, Knob, NOTES, PROVIDERS, Provider, Takes, knobs,
};
use rig::Tier;

const HEAD: &str = "\
# Providers

This page is printed from the tables that the code reads (`rig-spec/src/provider.rs`, `rig-spec/src/knob/table.rs`), and
says what was known in August 2026.

## What they can do

Every provider is asked whole and as a stream, and takes tools. Native schema and JSON mode are what a route counts on
unless more is known of the model; its registry entry, a probe, or `capability_overrides` in `rig.yaml` say otherwise.

";

const KNOBS: &str = "
## What a direct call may set

Each is a method of the call that `rig::raw::openai(…)` and its like begin. What is empty here is no method there, and
`rig.raw(provider, …)` refuses it with `invariant_violation` before anything is sent, as it refuses what a model, a range
or another knob forbids. Names of models are beginnings of names.

";

fn line(page: &mut String, cells: impl IntoIterator<Item = String>) {
    let cells: Vec<_> = cells.into_iter().collect();
    writeln!(page, "| {} |", cells.join(" | ")).unwrap();
}

fn head(page: &mut String, corner: &str) {
    let names = PROVIDERS.iter().map(|provider| provider.name.to_owned());
    line(page, [corner.to_owned()].into_iter().chain(names));
    line(page, vec!["---".to_owned(); PROVIDERS.len() + 1]);
}

fn row(page: &mut String, name: &str, cell: impl Fn(&Provider) -> String) {
    let cells = PROVIDERS.iter().map(|provider| cell(provider));
    line(page, [name.to_owned()].into_iter().chain(cells));
}

fn yes(holds: bool) -> String {
    if holds { "yes" } else { "" }.to_owned()
}

fn tiers(provider: &Provider) -> String {
    let names: Vec<_> = provider
        .tiers
        .iter()
        .map(|tier: &Tier| tier.name())
        .collect();
    names.join(", ")
}

/// How a provider honours a knob: by rule, in the order in which they count.
fn cell(provider: &Provider, knob: Knob) -> String {
    let entries = knobs(provider).iter();
    let rules = entries.filter(|(known, _)| *known == knob);
    let rules: Vec<_> = rules.flat_map(|(_, rules)| *rules).collect();
    let told = rules.iter().map(|rule| {
        let takes = match rule.takes {
            Takes::Yes => "yes".to_owned(),
            Takes::No => "no".to_owned(),
            Takes::WithoutReasoning => "only with `reasoning` at `none`".to_owned(),
            Takes::Efforts(levels) => {
                let levels: Vec<_> = levels.iter().map(|level| level.name()).collect();
                levels.join(", ")
            }
        };
        let models: Vec<_> = rule
            .models
            .iter()
            .map(|model| format!("`{model}`"))
            .collect();
        match (models.is_empty(), rules.len()) {
            (true, 1) => takes,
            (true, _) => format!("others: {takes}"),
            (false, _) => format!("{}: {takes}", models.join(", ")),
        }
    });
    told.collect::<Vec<_>>().join("; ")
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    let notes = |provider: &Provider| {
        let mut notes = NOTES.iter();
        notes.find(|notes| notes.provider == provider).unwrap()
    };
    head(&mut page, "");
    row(&mut page, "key", |it| {
        format!("`{}`", it.key_env.unwrap_or_default())
    });
    row(&mut page, "address", |it| format!("`{}`", it.base_url_env));
    row(&mut page, "dialect", |it| {
        match it.dialect {
            Dialect::OpenAiChat => "chat completions",
            Dialect::OpenAiResponses => "responses",
            Dialect::AnthropicMessages => "messages",
            Dialect::Gemini => "generateContent",
        }
        .to_owned()
    });
    let can = |it: &Provider, flag| yes(it.capabilities.has(flag));
    row(&mut page, "native schema", |it| {
        can(it, Capability::StructuredNative)
    });
    row(&mut page, "JSON mode", |it| can(it, Capability::JsonMode));
    row(&mut page, "search in a route", |it| {
        can(it, Capability::GroundedNative)
    });
    row(&mut page, "tiers asked for", tiers);
    row(&mut page, "tier that served", |it| {
        notes(it).served_tier.to_owned()
    });
    row(&mut page, "caches", |it| notes(it).caches.to_owned());
    row(&mut page, "keeps nothing", |it| {
        notes(it).zero_retention.to_owned()
    });
    row(&mut page, "counts of tokens", |it| match notes(it).usage {
        "" => "as they are".to_owned(),
        usage => usage.to_owned(),
    });
    page += KNOBS;
    head(&mut page, "");
    for knob in Knob::ALL {
        row(&mut page, &format!("`{}`", knob.name()), |it| match knob {
            Knob::Tier => tiers(it),
            _ => cell(it, knob),
        });
    }
    page += "\nA temperature is 0 to 2";
    for provider in PROVIDERS
        .iter()
        .filter(|it| it.dialect.highest_temperature() < 2.0)
    {
        let highest = provider.dialect.highest_temperature();
        write!(page, ", with `{}` 0 to {highest}", provider.name).unwrap();
    }
    page += ". What does not go together:\n\n";
    for conflict in CONFLICTS {
        let models: Vec<_> = conflict
            .models
            .iter()
            .map(|model| format!("`{model}`"))
            .collect();
        let models = match models.is_empty() {
            true => String::new(),
            false => format!(" ({})", models.join(", ")),
        };
        let others: Vec<_> = conflict
            .others
            .iter()
            .map(|it| format!("`{}`", it.name()))
            .collect();
        writeln!(
            page,
            "- `{}`{models}: `{}` with {}",
            conflict.provider.name,
            conflict.knob.name(),
            others.join(", ")
        )
        .unwrap();
    }
    page
}

#[test]
fn the_page_is_printed_from_the_tables() {
    tests::expect_file("../docs/providers.md", &page());
}
