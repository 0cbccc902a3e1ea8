//! What do two versions of a route do differently?

use std::collections::BTreeMap;

use rig_build::{CompiledRoute, Explained, Rung, WorstCase, clock};
use rig_spec::{Narrowing, Price, Usd, UsdPerMtok};

use super::schema::{Unfit, unfit};

/// What has changed about a route.
#[derive(Debug)]
pub(super) struct RouteDiff {
    pub(super) route: String,
    /// `None` where there was no such route, or it had errors.
    pub(super) old_version: Option<u64>,
    pub(super) new_version: Option<u64>,
    pub(super) changes: Vec<Change>,
    pub(super) is_schema_changed: bool,
    /// Why an answer that conformed may no longer do.
    pub(super) unfit: Vec<Unfit>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// What a call does.
    Text(String),
    /// What whoever calls the route has to write.
    Callers(String),
}

impl RouteDiff {
    /// Whether the route has changed and its version has not.
    pub(super) fn is_unversioned(&self) -> bool {
        self.old_version.is_some() && self.old_version == self.new_version
    }
}

/// Compares two versions of a route; `None` where they mean the same.
pub(super) fn compare(
    name: &str,
    old: Option<&CompiledRoute>,
    new: Option<&CompiledRoute>,
) -> Option<RouteDiff> {
    let mut diff = RouteDiff {
        route: name.to_owned(),
        old_version: old.and_then(version),
        new_version: new.and_then(version),
        changes: Vec::new(),
        is_schema_changed: false,
        unfit: Vec::new(),
    };
    let is_broken = |route: Option<&CompiledRoute>| route.is_some_and(CompiledRoute::is_broken);
    let whole = match (old, new) {
        (None, _) => Some("the route is new"),
        (_, None) => Some("the route is gone"),
        _ if is_broken(new) => Some("the route has errors: `cargo rig check`"),
        _ if is_broken(old) => Some("the route had errors"),
        _ => None,
    };
    if let Some(line) = whole {
        // What was broken and still is means nothing, before as after.
        let says = !(is_broken(old) && is_broken(new));
        diff.changes.push(Change::Text(line.to_owned()));
        return says.then_some(diff);
    }
    let (old, new) = (old?, new?);
    let own = |route: &CompiledRoute| route.explain(None, &Narrowing::default());
    let (before, after) = (own(old)?, own(new)?);
    diff.changes = changes(&before, &after);
    diff.is_schema_changed = before.schema != after.schema;
    diff.unfit = unfit(before.schema.as_deref(), after.schema.as_deref());
    if diff.is_schema_changed {
        diff.changes
            .push(Change::Text("schema: changed".to_owned()));
    }
    diff.changes.extend(variants(old, new, &diff.changes));
    let means_other = !diff.changes.is_empty() || diff.old_version != diff.new_version;
    means_other.then_some(diff)
}

fn version(route: &CompiledRoute) -> Option<u64> {
    let explained = route.explain(None, &Narrowing::default());
    explained.map(|explained| explained.version)
}

/// Compares the variants; what holds for the route itself is not said again.
fn variants(old: &CompiledRoute, new: &CompiledRoute, own: &[Change]) -> Vec<Change> {
    let mut out = Vec::new();
    let (before, after) = (old.variants(), new.variants());
    for name in &before {
        if !after.contains(name) {
            out.push(Change::Callers(format!("variant {name}: gone")));
        }
    }
    for name in after {
        if !before.contains(&name) {
            out.push(Change::Text(format!("variant {name}: new")));
            continue;
        }
        let of = |route: &CompiledRoute| route.explain(Some(name), &Narrowing::default());
        let (Some(before), Some(after)) = (of(old), of(new)) else {
            continue;
        };
        let further = changes(&before, &after)
            .into_iter()
            .filter(|change| !own.contains(change));
        out.extend(further.map(|change| match change {
            Change::Text(text) => Change::Text(format!("variant {name}: {text}")),
            Change::Callers(text) => Change::Callers(format!("variant {name}: {text}")),
        }));
    }
    out
}

fn changes(old: &Explained, new: &Explained) -> Vec<Change> {
    let mut lines = Vec::new();
    candidates(old, new, &mut lines);
    budgets(old, new, &mut lines);
    let repair = |explained: &Explained| match &explained.repair {
        None => "none".to_owned(),
        Some(repair) => match &repair.model {
            None => "by the model that answered".to_owned(),
            Some(model) => format!("by the model that answered, then {model}"),
        },
    };
    moved("repair", &repair(old), &repair(new), &mut lines);
    let search = |explained: &Explained| match &explained.search {
        None => "none".to_owned(),
        Some(search) => format!("{} at {}", search.url, search.cost),
    };
    moved("search", &search(old), &search(new), &mut lines);
    settings(old, new, &mut lines);
    worst(&old.worst, &new.worst, &mut lines);
    let mut out: Vec<_> = lines.into_iter().map(Change::Text).collect();
    variables(old, new, &mut out);
    out
}

fn moved(what: &str, old: &str, new: &str, lines: &mut Vec<String>) {
    if old != new {
        lines.push(format!("{what}: {old} → {new}"));
    }
}

fn key(rung: &Rung) -> String {
    format!("{}/{}", rung.provider, rung.model)
}

fn candidates(old: &Explained, new: &Explained, lines: &mut Vec<String>) {
    let keys = |explained: &Explained| explained.candidates.iter().map(key).collect::<Vec<_>>();
    let (before, after) = (keys(old), keys(new));
    for gone in before.iter().filter(|key| !after.contains(key)) {
        let filter = new
            .dropped
            .iter()
            .find(|dropped| dropped.candidate == *gone);
        let why = filter.map_or("no longer declared", |dropped| &dropped.filter);
        lines.push(format!("candidate gone: {gone} ({why})"));
    }
    for (at, added) in after
        .iter()
        .enumerate()
        .filter(|(_, key)| !before.contains(key))
    {
        lines.push(format!(
            "candidate added: {added}, number {} on the ladder",
            at + 1
        ));
    }
    let common = |keys: &[String], other: &[String]| {
        let kept = keys.iter().filter(|key| other.contains(key));
        kept.cloned().collect::<Vec<_>>()
    };
    let order = (common(&before, &after), common(&after, &before));
    moved("order", &order.0.join(", "), &order.1.join(", "), lines);
    for rung in &new.candidates {
        let same = old.candidates.iter().find(|other| key(other) == key(rung));
        if let Some(other) = same {
            candidate(other, rung, lines);
        }
    }
}

fn candidate(old: &Rung, new: &Rung, lines: &mut Vec<String>) {
    let key = key(new);
    let what = |aspect: &str| format!("{key}: {aspect}");
    moved(&what("price"), &price(old.price), &price(new.price), lines);
    moved(&what("schema"), &old.shape, &new.shape, lines);
    moved(&what("address"), &old.base_url, &new.base_url, lines);
    let tokens =
        |tokens: Option<u64>| tokens.map_or("unknown".to_owned(), |tokens| tokens.to_string());
    let (before, after) = (old.limits, new.limits);
    moved(
        &what("context window"),
        &tokens(before.context_window),
        &tokens(after.context_window),
        lines,
    );
    moved(
        &what("most output tokens"),
        &tokens(before.max_output),
        &tokens(after.max_output),
        lines,
    );
    for (before, after) in old.flags.iter().zip(&new.flags) {
        if before.holds != after.holds {
            let says = |holds| if holds { "yes" } else { "no" };
            lines.push(format!(
                "{key}: {} {} → {} ({})",
                after.capability.name(),
                says(before.holds),
                says(after.holds),
                after.source.described()
            ));
        }
    }
}

fn price(price: Option<Price>) -> String {
    let usd = |rate: UsdPerMtok| Usd::nanos(rate.as_nanos()).to_string();
    price.map_or("unpriced".to_owned(), |price| {
        let mut text = format!(
            "{} in and {} out",
            usd(price.rates.input),
            usd(price.rates.output)
        );
        if let Some(cached) = price.rates.cached_input {
            text += &format!(", {} cached", usd(cached));
        }
        text
    })
}

fn budgets(old: &Explained, new: &Explained, lines: &mut Vec<String>) {
    let of = |explained: &Explained| -> BTreeMap<&'static str, (u64, String)> {
        let budgets = explained.budgets.iter();
        let waits = |waits: &[u64]| {
            waits
                .iter()
                .map(|ms| clock(*ms))
                .collect::<Vec<_>>()
                .join(", ")
        };
        budgets
            .map(|budget| {
                (
                    budget.class.name(),
                    (budget.retries, waits(&budget.waits_ms)),
                )
            })
            .collect()
    };
    let (before, after) = (of(old), of(new));
    let mut classes: Vec<_> = before.keys().chain(after.keys()).collect();
    classes.sort();
    classes.dedup();
    let none = (0, String::new());
    for class in classes {
        let before = before.get(class).unwrap_or(&none);
        let after = after.get(class).unwrap_or(&none);
        moved(
            &format!("retries of {class}"),
            &before.0.to_string(),
            &after.0.to_string(),
            lines,
        );
        // Waits of budgets that differ differ anyhow.
        if before.0 == after.0 {
            moved(&format!("waits of {class}"), &before.1, &after.1, lines);
        }
    }
}

fn settings(old: &Explained, new: &Explained, lines: &mut Vec<String>) {
    let of = |explained: &Explained| -> BTreeMap<&'static str, String> {
        explained.settings.iter().cloned().collect()
    };
    let (before, after) = (of(old), of(new));
    let mut keys: Vec<_> = before.keys().chain(after.keys()).collect();
    keys.sort();
    keys.dedup();
    for key in keys {
        let (before, after) = (before.get(key), after.get(key));
        if before == after {
            continue;
        }
        // What is read in a file of its own is not repeated here.
        if ["prompt", "tools"].contains(key) {
            let characters = |text: Option<&String>| text.map_or(0, |text| text.chars().count());
            lines.push(format!(
                "{key}: changed, {} → {} characters",
                characters(before),
                characters(after)
            ));
            continue;
        }
        let shown = |value: Option<&String>| value.map_or("not set".to_owned(), Clone::clone);
        moved(key, &shown(before), &shown(after), lines);
    }
}

fn worst(old: &WorstCase, new: &WorstCase, lines: &mut Vec<String>) {
    let said = |worst: &WorstCase| {
        format!(
            "{} attempts, {}, {}",
            worst.attempts,
            clock(worst.wall_clock_ms),
            worst.cost
        )
    };
    moved("worst case", &said(old), &said(new), lines);
}

fn variables(old: &Explained, new: &Explained, out: &mut Vec<Change>) {
    for variable in &old.variables {
        let name = &variable.name;
        match new.variables.iter().find(|other| other.name == *name) {
            None => out.push(Change::Callers(format!("variable {name}: gone"))),
            Some(other) if other.kind != variable.kind => {
                out.push(Change::Callers(format!(
                    "variable {name}: {} → {}",
                    variable.kind, other.kind
                )));
            }
            Some(_) => {}
        }
    }
    for variable in &new.variables {
        if !old
            .variables
            .iter()
            .any(|other| other.name == variable.name)
        {
            out.push(Change::Callers(format!(
                "variable {}: new, {}",
                variable.name, variable.kind
            )));
        }
    }
}
