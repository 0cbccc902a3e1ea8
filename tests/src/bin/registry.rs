//! Writes the model registry anew: `cargo run -p tests --bin registry -- DIR > rig-spec/src/registry.txt`.
//!
//! `DIR` holds `models.json` (declared and probed capabilities) and `prices.json` (a price map), in the form of the
//! data that the present table was made from. Where the two name a price, the price map's is taken: it is the newer.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the table goes to standard output"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use serde_json::{Map, Value};

/// The providers that routes can name.
const PROVIDERS: [&str; 7] = [
    "anthropic",
    "deepinfra",
    "deepseek",
    "fireworks",
    "gemini",
    "grok",
    "openai",
];

const HEAD: &str = "\
# What is known about models. One line a model: `provider/model`, then facts as `key=value`.
#
#   in, out, cached, write   USD per million tokens: input, output, read from and written to a cache
#   flex.*, priority.*       the same at another service tier
#   over.N.*                 the same for prompts of more than N input tokens
#   context, max             context window and most output tokens
#   declared                 flags that the provider or its price list claims
#   probed                   `flag:yes|no:samples:rate:date`, what a probe with schemas found
#   zero_retention           `yes` or `no`, where the provider says so for a key of one's own
#
# Prices: github.com/BerriAI/litellm, model_prices_and_context_window.json at de706a35a6 (pinned 2026-07-30), MIT,
# (c) 2023 Berri AI. Capabilities: Model capability data from the ModelRig registry (https://modelrig.dev), CC BY 4.0,
# as of 2026-08-19; summarised. Written by `cargo run -p tests --bin registry`.
";

fn main() -> Result<(), Box<dyn Error>> {
    let Some(dir) = std::env::args().nth(1) else {
        eprintln!("usage: registry DIR, where DIR holds models.json and prices.json");
        std::process::exit(2);
    };
    let read = |name: &str| -> Result<Vec<Value>, Box<dyn Error>> {
        let text = std::fs::read_to_string(Path::new(&dir).join(name))?;
        let data: Value = serde_json::from_str(&text)?;
        Ok(data["models"].as_array().cloned().unwrap_or_default())
    };
    let mut table: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut chosen: BTreeMap<String, Value> = BTreeMap::new();
    for row in read("prices.json")? {
        let (Some(provider), Some(model)) = (row["provider"].as_str(), row["model"].as_str())
        else {
            continue;
        };
        if PROVIDERS.contains(&provider) && row["mode"] != "completion" {
            let key = format!("{provider}/{model}");
            let hosted = row["litellm_key"]
                .as_str()
                .is_some_and(|key| key.starts_with(provider));
            // Some models stand there twice; the row whose key carries the host's name is the host's own.
            if hosted || !chosen.contains_key(&key) {
                chosen.insert(key, row);
            }
        }
    }
    for (key, row) in &chosen {
        table.insert(key.clone(), priced(row));
    }
    for row in read("models.json")? {
        let Some(key) = row["model_key"].as_str() else {
            continue;
        };
        if !chosen.contains_key(key) {
            table.insert(key.to_owned(), priced(&row));
        }
        let facts = table.entry(key.to_owned()).or_default();
        facts.retain(|fact| !fact.starts_with("declared="));
        facts.extend(observed(&row));
    }
    println!("{HEAD}");
    for (key, facts) in table {
        // A line is split at blanks; what has no facts helps nobody.
        if facts.is_empty() || key.contains(' ') {
            continue;
        }
        println!("{key} {}", facts.join(" "));
    }
    Ok(())
}

/// Prices, limits and declared flags of a row.
fn priced(row: &Value) -> Vec<String> {
    let mut facts = Vec::new();
    prices("", &row["usd_per_mtok"], &mut facts);
    for tier in ["flex", "priority"] {
        prices(&format!("{tier}."), &row["tiers"][tier], &mut facts);
    }
    for band in row["above_input_tokens"].as_array().into_iter().flatten() {
        prices(&format!("over.{}.", band["over"]), band, &mut facts);
    }
    for (name, key) in [("context", "context_window"), ("max", "max_output")] {
        if let Some(tokens) = row[key].as_u64() {
            facts.push(format!("{name}={tokens}"));
        }
    }
    let flags = row["declared_flags"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    // Elsewhere than at Gemini, searching takes another endpoint than the one that routes use.
    let gemini = row["provider"] == "gemini";
    let names = [
        ("response_schema", "structured_native"),
        ("web_search", "grounded_native"),
    ];
    facts.extend(declared(&flags, if gemini { &names } else { &names[..1] }));
    facts
}

fn prices(prefix: &str, from: &Value, facts: &mut Vec<String>) {
    for (name, key) in [
        ("in", "in"),
        ("out", "out"),
        ("cached", "cached_in"),
        ("write", "cache_write"),
    ] {
        // A price list that says 0 for writing to a cache means that it does not say.
        let price = from[key]
            .as_f64()
            .filter(|price| key != "cache_write" || *price > 0.0);
        if let Some(price) = price {
            facts.push(format!("{prefix}{name}={price}"));
        }
    }
}

fn declared(flags: &Map<String, Value>, names: &[(&str, &str)]) -> Option<String> {
    let found: Vec<_> = names
        .iter()
        .filter(|(key, _)| flags.get(*key) == Some(&Value::Bool(true)))
        .map(|(_, flag)| *flag)
        .collect();
    (!found.is_empty()).then(|| format!("declared={}", found.join(",")))
}

/// What the registry observed about a model.
fn observed(row: &Value) -> Vec<String> {
    let mut facts = Vec::new();
    let flags = row["declared"].as_object().cloned().unwrap_or_default();
    let names = [
        ("adapter_structured_native", "structured_native"),
        ("adapter_grounded_native", "grounded_native"),
    ];
    facts.extend(declared(&flags, &names));
    let probed = &row["probed"];
    if let Some(native) = probed["structured_native"].as_bool() {
        let answer = if native { "yes" } else { "no" };
        let date = probed["as_of"]
            .as_str()
            .unwrap_or("")
            .get(..10)
            .unwrap_or("")
            .to_owned();
        let rate = probed["native_rung_rate"].as_f64().unwrap_or_default();
        let samples = &probed["schema_samples"];
        facts.push(format!(
            "probed=structured_native:{answer}:{samples}:{rate}:{date}"
        ));
    }
    let retention = row["facts"]["zero_retention"]
        .as_array()
        .into_iter()
        .flatten();
    // The key is the user's own: what holds for somebody else's managed key does not.
    let own = retention
        .filter(|fact| fact["scope"] != "managed")
        .find_map(|fact| fact["value"].as_bool());
    if let Some(value) = own {
        facts.push(format!(
            "zero_retention={}",
            if value { "yes" } else { "no" }
        ));
    }
    facts
}
