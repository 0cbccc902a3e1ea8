//! What else does a route say? Each setting by the name of its key, in a form that can be compared.

use rig_spec::{Cache, FailureClass};

use super::Variable;
use crate::ast::{Json, Limits, Prefer, VariableKind};
use crate::check::Plan;
use crate::compile::Whole;
use crate::ir::{self, Route};
use crate::source::Spanned;
use crate::template::{Segment, Template};
use crate::worst::clock;

/// Returns the variables of the prompt.
pub(super) fn variables(route: &Route) -> Vec<Variable> {
    let declared = route
        .prompt
        .iter()
        .flat_map(|prompt| &prompt.variables.value);
    let one = |variable: &crate::ast::Variable| {
        let kind = match variable.kind {
            VariableKind::String => "string",
            VariableKind::Json => "json",
            VariableKind::Integer => "integer",
            VariableKind::Number => "number",
            VariableKind::Boolean => "boolean",
        };
        let optional = if variable.optional { "?" } else { "" };
        let most = variable.max_chars.as_ref();
        let most = most.map_or(String::new(), |most| {
            format!(", at most {} characters", most.value)
        });
        Variable {
            name: variable.name.value.clone(),
            kind: format!("{kind}{optional}{most}"),
        }
    };
    declared.map(one).collect()
}

/// Returns every setting that says something, in the order of `docs/routes.md`.
pub(super) fn settings(
    whole: &Whole,
    variant: Option<&ir::Variant>,
    plan: &Plan,
) -> Vec<(&'static str, String)> {
    let Whole { meant, checked } = whole;
    let json = variant.and_then(|variant| variant.json.as_ref());
    let json = json.map_or(checked.json, |json| json.value);
    let mut out = vec![
        ("prompt", prompt(&plan.prompt)),
        ("policy.timeout_ms", clock(checked.timeout_ms)),
    ];
    let mut put = |key, value: Option<String>| out.extend(value.map(|value| (key, value)));
    put("policy.first_token_ms", checked.first_token_ms.map(clock));
    put("policy.idle_ms", checked.idle_ms.map(clock));
    put("policy.deadline_ms", checked.deadline_ms.map(clock));
    put(
        "policy.tier",
        checked.tier.map(|tier| tier.name().to_owned()),
    );
    put(
        "policy.json",
        (json == Json::JsonMode).then(|| "json_mode".to_owned()),
    );
    let text = |number: Option<f64>| number.map(|number| number.to_string());
    put("policy.sampling.temperature", text(checked.temperature));
    put("policy.sampling.top_p", text(checked.top_p));
    let tokens = checked.max_output_tokens;
    put(
        "policy.sampling.max_output_tokens",
        tokens.map(|tokens| tokens.to_string()),
    );
    put("policy.backoff", backoff(whole));
    put(
        "cache",
        (checked.cache == Cache::Auto).then(|| "auto".to_owned()),
    );
    put("capture", checked.capture.then(|| "true".to_owned()));
    put(
        "grounding.query",
        checked.grounding.as_ref().map(|found| prompt(&found.query)),
    );
    let tools = checked.tools.iter().map(|tool| {
        format!(
            "{} ({}): {}",
            tool.name.value, tool.description, tool.parameters.json
        )
    });
    put("tools", listed(tools.collect()));
    routing(meant, &mut put);
    limits(&meant.limits, &mut put);
    out
}

type Put<'a> = dyn FnMut(&'static str, Option<String>) + 'a;

fn routing(route: &Route, put: &mut Put<'_>) {
    let routing = &route.routing;
    let names = |names: &[Spanned<String>]| names.iter().map(|name| name.value.clone()).collect();
    let require = routing
        .require
        .iter()
        .map(|require| require.value.name().to_owned());
    put("require", listed(require.collect()));
    let prefer = routing.prefer.iter().map(|prefer| match prefer.value {
        Prefer::Cost => "cost".to_owned(),
        Prefer::Latency => "latency".to_owned(),
    });
    put("prefer", listed(prefer.collect()));
    put("providers.only", listed(names(&routing.only)));
    put("providers.ignore", listed(names(&routing.ignore)));
    let price = routing.max_price.as_ref();
    let price = price.map(|price| rig_spec::Usd::nanos(price.value.as_nanos()).to_string());
    put("max_price_usd_per_mtok", price);
}

fn limits(limits: &Limits, put: &mut Put<'_>) {
    let attempts = limits.max_attempts.as_ref();
    put(
        "limits.max_attempts",
        attempts.map(|most| most.value.to_string()),
    );
    let wall_clock = limits.max_wall_clock_ms.as_ref();
    put(
        "limits.max_wall_clock",
        wall_clock.map(|most| clock(most.value)),
    );
    let cost = limits.max_cost.as_ref();
    put(
        "limits.max_cost_usd",
        cost.map(|most| most.value.to_string()),
    );
}

/// Returns the jitters: first wait, factor and cap are seen in the waits of a budget.
fn backoff(whole: &Whole) -> Option<String> {
    let checked = &whole.checked;
    let jitter = |(class, backoff): &(FailureClass, rig_spec::Backoff)| {
        (backoff.jitter > 0.0).then(|| format!("{class} jitter {}", backoff.jitter))
    };
    listed(checked.backoff.iter().filter_map(jitter).collect())
}

fn listed(items: Vec<String>) -> Option<String> {
    (!items.is_empty()).then(|| items.join(", "))
}

/// Returns a template as it is written.
fn prompt(template: &Template) -> String {
    let mut out = String::new();
    write(&template.segments, &mut out);
    out
}

fn write(segments: &[Segment], out: &mut String) {
    for segment in segments {
        match segment {
            Segment::Text(text) => *out += text,
            Segment::Variable(name) => *out += &format!("{{{{{}}}}}", name.value),
            Segment::When {
                capability,
                present,
                body,
            } => {
                let word = if *present { "if" } else { "unless" };
                *out += &format!("{{{{#{word} capability.{}}}}}", capability.name());
                write(body, out);
                *out += &format!("{{{{/{word}}}}}");
            }
        }
    }
}
