//! What did an answer use?

use std::collections::BTreeSet;

use serde_json::Value;

use crate::provider::Usage;
use crate::provider::usage::{above, output};

/// Returns the token counts. The dialect counts thoughts and what tools brought in apart, unless the total shows that a
/// host counts them within output and prompt.
pub(super) fn usage(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64();
    let (prompt, tools) = (count("promptTokenCount"), count("toolUsePromptTokenCount"));
    let (spoken, thoughts) = (count("candidatesTokenCount"), count("thoughtsTokenCount"));
    let counts = [prompt, tools, spoken, thoughts].map(|count| count.unwrap_or(0));
    let largest = counts.into_iter().max().unwrap_or(0);
    let total = above(count("totalTokenCount"), largest);
    let [prompted, brought, said, thought] = counts;
    let (input, written) = split([prompted, brought], [said, thought], total);
    let tokens_in = prompt.map(|_| input);
    let has_output = spoken.is_some() || thoughts.is_some();
    Usage {
        tokens_in,
        tokens_out: if has_output {
            output(Some(written), tokens_in, total)
        } else {
            total.zip(tokens_in).map(|(total, input)| total - input)
        },
        tokens_cached: count("cachedContentTokenCount"),
        tokens_cache_write: None,
        searches: None,
    }
    .checked()
}

/// Returns input and output of counts that may overlap: what adds up to the total, else the most that does not exceed it.
fn split(
    [prompt, tools]: [u64; 2],
    [spoken, thoughts]: [u64; 2],
    total: Option<u64>,
) -> (u64, u64) {
    let (all_in, all_out) = (
        prompt.saturating_add(tools),
        spoken.saturating_add(thoughts),
    );
    let most_out = spoken.max(thoughts);
    let ways = [
        (all_in, all_out),
        (prompt, all_out),
        (all_in, most_out),
        (prompt, most_out),
    ];
    let Some(total) = total else {
        return ways[0];
    };
    let sum = |way: &(u64, u64)| way.0.saturating_add(way.1);
    let exact = ways.into_iter().find(|way| sum(way) == total);
    let within = || {
        ways.into_iter()
            .filter(|way| sum(way) <= total)
            .max_by_key(sum)
    };
    exact.or_else(within).unwrap_or(ways[3])
}

/// Returns the distinct queries of the web searches. A stream may report a query twice.
pub(super) fn queries(grounding: &Value) -> BTreeSet<&str> {
    let queries = grounding["webSearchQueries"].as_array();
    let queries = queries.into_iter().flatten().filter_map(Value::as_str);
    queries.filter(|query| !query.is_empty()).collect()
}
