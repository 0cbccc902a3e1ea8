//! How is a route told to a person, and to a program?

use rig_build::{Budget, Explained, FlagSource, Rung};
use rig_spec::{FailureClass, Usd, UsdPerMtok};
use serde_json::{Value, json};

use super::Here;
use crate::output::{BAD, FAINT, GOOD, STRONG, WARN, paint};
use crate::table::{Cell, Table, wrapped};

/// Returns the page for a terminal of this width.
pub(super) fn text(explained: &Explained, here: &Here, width: usize) -> String {
    let mut out = head(explained);
    out += &ladder(explained, here, width);
    out += &dropped(explained, width);
    out += &flags(explained, width);
    out += &budgets(explained, width);
    out += &settings(explained, width);
    out += &worst(explained, width);
    out
}

fn head(explained: &Explained) -> String {
    let variant = explained.variant.as_ref();
    let variant = variant.map_or(String::new(), |name| {
        format!(", variant {}", paint(STRONG, name))
    });
    let mut out = format!(
        "{} version {}{variant}, from {}\n",
        paint(STRONG, &explained.route),
        explained.version,
        explained.file
    );
    if explained.variant.is_none() && !explained.variants.is_empty() {
        out += &format!("variants: {}\n", explained.variants.join(", "));
    }
    out
}

fn heading(text: &str) -> String {
    format!("\n{}\n", paint(STRONG, text))
}

fn ladder(explained: &Explained, here: &Here, width: usize) -> String {
    let mut out = heading("ladder");
    if explained.candidates.is_empty() {
        let why = "nobody is left to serve: such a call is an error before anything is dispatched";
        return out + &format!("{}\n", paint(BAD, why));
    }
    let mut table = Table::new(&[">#", "candidate", ">in", ">out", "schema", "here"]);
    for (at, rung) in explained.candidates.iter().enumerate() {
        let (input, output) = match &rung.price {
            Some(price) => (usd(price.rates.input), usd(price.rates.output)),
            None => ("unpriced".to_owned(), String::new()),
        };
        let lacks = here.keyless.get(at).and_then(Option::as_ref);
        let (style, mut status) = match (lacks, &rung.key_env) {
            (Some(name), _) => (WARN, format!("no {name}")),
            (None, Some(_)) => (GOOD, "has its key".to_owned()),
            (None, None) => (GOOD, "needs no key".to_owned()),
        };
        if let Some(address) = here.addresses.get(at).and_then(Option::as_ref) {
            status += &format!(", at {address}");
        }
        if rung.is_searched_for {
            status += ", searched for";
        }
        table.row([
            Cell::from((at + 1).to_string()),
            format!("{}/{}", rung.provider, rung.model).into(),
            input.into(),
            output.into(),
            rung.shape.clone().into(),
            Cell::new(style, status),
        ]);
    }
    out += &table.text(width);
    let note = "in and out: USD per million tokens; a candidate without its key is skipped";
    out += &paint(FAINT, wrapped(note, width, 0));
    if let Some(search) = &explained.search {
        let lacks = here.search.as_ref();
        let lacks = lacks.map_or(String::new(), |name| {
            format!(", {}", paint(WARN, format_args!("no {name}")))
        });
        out += &format!("search: {}, {} a query{lacks}\n", search.url, search.cost);
    }
    if explained.candidates.len() == here.keyless.iter().flatten().count() {
        let why =
            "every candidate is keyless here: a call fails with `config_auth`, and nothing is sent";
        out += &paint(BAD, wrapped(why, width, 0));
    }
    out
}

fn dropped(explained: &Explained, width: usize) -> String {
    if explained.dropped.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["candidate", "removed by"]);
    for dropped in &explained.dropped {
        table.row([dropped.candidate.as_str(), dropped.filter.as_str()]);
    }
    heading("dropped") + &table.text(width)
}

/// The flags are rows and the candidates columns: there are five of the first, and any number of the second.
fn flags(explained: &Explained, width: usize) -> String {
    const FLAG: usize = 19;
    const CELL: usize = 14;
    let mut out = heading("flags, and who says so");
    if explained.candidates.is_empty() {
        return String::new();
    }
    let rungs: Vec<_> = explained.candidates.iter().enumerate().collect();
    let fits = (width.saturating_sub(FLAG) / CELL).max(1);
    for group in rungs.chunks(fits) {
        let numbers = group.iter().map(|(at, _)| (at + 1).to_string());
        let heads: Vec<_> = ["flag".to_owned()].into_iter().chain(numbers).collect();
        let mut table = Table::new(&heads.iter().map(String::as_str).collect::<Vec<_>>());
        for (row, flag) in group[0].1.flags.iter().enumerate() {
            let cells = group.iter().map(|(_, rung)| cell(rung, row));
            table.row(
                [Cell::from(flag.capability.name())]
                    .into_iter()
                    .chain(cells),
            );
        }
        out += &table.text(width);
    }
    for (at, rung) in rungs {
        for flag in &rung.flags {
            if let FlagSource::Probed(_) = flag.source {
                let line = format!(
                    "{} {}: {}",
                    at + 1,
                    flag.capability.name(),
                    flag.source.described()
                );
                out += &paint(FAINT, wrapped(&line, width, 2));
            }
        }
    }
    out
}

fn cell(rung: &Rung, row: usize) -> Cell {
    let Some(flag) = rung.flags.get(row) else {
        return Cell::default();
    };
    match flag.holds {
        true => Cell::new(GOOD, format!("yes {}", flag.source.name())),
        false => Cell::from(format!("no {}", flag.source.name())),
    }
}

fn budgets(explained: &Explained, width: usize) -> String {
    let mut table = Table::new(&["class", ">retries", "waits before them"]);
    for budget in &explained.budgets {
        table.row([
            budget.class.name().to_owned(),
            budget.retries.to_string(),
            waits(budget),
        ]);
    }
    let mut out = heading("retries, for each candidate");
    if explained.budgets.is_empty() {
        out += "none: after any failure the next candidate is asked\n";
    } else {
        out += &table.text(width);
    }
    let repair = match &explained.repair {
        None => "none".to_owned(),
        Some(repair) => {
            let second = repair.model.as_ref();
            let second = second.map_or(String::new(), |model| format!(", then {model}"));
            format!(
                "once a run, at the first answer that misses the schema: the model that answered{second}"
            )
        }
    };
    out + &wrapped(&format!("repair: {repair}"), width, 8)
}

fn waits(budget: &Budget) -> String {
    let mut waits: Vec<_> = budget.waits_ms.iter().map(|ms| clock(*ms)).collect();
    if waits.is_empty() {
        return "none".to_owned();
    }
    if budget.retries > budget.waits_ms.len() as u64 {
        waits.push("…".to_owned());
    }
    let longest = clock(FailureClass::LONGEST_WAIT_MS);
    let told = if budget.heeds_retry_after {
        format!("; up to {longest} if the provider asks for it")
    } else {
        String::new()
    };
    waits.join(", ") + &told
}

fn settings(explained: &Explained, width: usize) -> String {
    let mut table = Table::new(&["setting", "value"]);
    for variable in &explained.variables {
        table.row([format!("{{{{{}}}}}", variable.name), variable.kind.clone()]);
    }
    for (key, value) in &explained.settings {
        // A prompt is read in its own file; a tool's schema as well.
        let shown = match *key {
            "prompt" => format!("{} characters", value.chars().count()),
            "tools" => value.split(" (").next().unwrap_or(value).to_owned(),
            _ => value.clone(),
        };
        table.row([(*key).to_owned(), shown]);
    }
    heading("settings") + &table.text(width)
}

fn worst(explained: &Explained, width: usize) -> String {
    let worst = &explained.worst;
    let mut out = heading("worst case");
    out += &format!(
        "at most {} attempts, {} and {}\n",
        worst.attempts,
        clock(worst.wall_clock_ms),
        worst.cost
    );
    for part in &worst.parts {
        out += &wrapped(&format!("  {part}"), width, 4);
    }
    out
}

fn usd(rate: UsdPerMtok) -> String {
    Usd::nanos(rate.as_nanos()).to_string()
}

/// Returns a duration as a person says it.
fn clock(ms: u64) -> String {
    rig_build::clock(ms)
}

/// Returns the same for programs; money in nano-dollars, times in milliseconds.
pub(super) fn document(explained: &Explained, here: &Here) -> Value {
    let candidates = explained.candidates.iter().enumerate().map(|(at, rung)| {
        let flags = rung.flags.iter().map(|flag| {
            json!({
                "flag": flag.capability.name(),
                "holds": flag.holds,
                "source": flag.source.name(),
                "described": flag.source.described(),
            })
        });
        json!({
            "provider": rung.provider,
            "model": rung.model,
            "price_nanos_per_mtok": rung.price.map(|price| json!({
                "in": price.rates.input.as_nanos(),
                "out": price.rates.output.as_nanos(),
                "cached_in": price.rates.cached_input.map(UsdPerMtok::as_nanos),
                "cache_write": price.rates.cache_write.map(UsdPerMtok::as_nanos),
            })),
            "context_window": rung.limits.context_window,
            "max_output": rung.limits.max_output,
            "schema": rung.shape,
            "receipt": rung.receipt,
            "flags": flags.collect::<Vec<_>>(),
            "key_env": rung.key_env,
            "base_url": here.addresses.get(at).and_then(Option::as_ref).unwrap_or(&rung.base_url),
            "searched_for": rung.is_searched_for,
            "lacks_here": here.keyless.get(at).and_then(Option::as_ref),
        })
    });
    let budgets = explained.budgets.iter().map(|budget| {
        json!({
            "class": budget.class.name(),
            "retries": budget.retries,
            "waits_ms": budget.waits_ms,
            "heeds_retry_after": budget.heeds_retry_after,
        })
    });
    let dropped = explained.dropped.iter();
    let dropped = dropped.map(|one| json!({ "candidate": one.candidate, "filter": one.filter }));
    let variables = explained.variables.iter();
    let variables = variables.map(|one| json!({ "name": one.name, "type": one.kind }));
    json!({
        "route": explained.route,
        "version": explained.version,
        "file": explained.file,
        "variant": explained.variant,
        "variants": explained.variants,
        "candidates": candidates.collect::<Vec<_>>(),
        "dropped": dropped.collect::<Vec<_>>(),
        "search": explained.search.as_ref().map(|search| json!({
            "url": search.url,
            "cost_nanos": search.cost.as_nanos(),
            "lacks_here": here.search,
        })),
        "budgets": budgets.collect::<Vec<_>>(),
        "repair": explained.repair.as_ref().map(|repair| json!({
            "max_repairs": repair.max_repairs,
            "model": repair.model,
        })),
        "variables": variables.collect::<Vec<_>>(),
        "settings": explained.settings.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect::<serde_json::Map<_, _>>(),
        "worst_case": {
            "attempts": explained.worst.attempts,
            "wall_clock_ms": explained.worst.wall_clock_ms,
            "cost_nanos": explained.worst.cost.as_nanos(),
            "parts": explained.worst.parts,
        },
    })
}
