//! How are rows shown to a person?

use rig::store::AttemptRow;
use tabled::builder::Builder;
use tabled::settings::Style;

/// Returns the rows of a run as a table, one attempt a line.
#[must_use]
pub fn table(rows: &[AttemptRow]) -> String {
    let mut table = Builder::default();
    table.push_record([
        "attempt",
        "provider",
        "model",
        "failure_class",
        "in",
        "out",
        "latency",
        "cost",
    ]);
    for row in rows {
        let tokens =
            |count: Option<u64>| count.map_or("NULL".to_owned(), |count| count.to_string());
        table.push_record([
            row.attempt.to_string(),
            row.provider.to_string(),
            row.model.to_string(),
            row.failure
                .map_or("NULL", |failure| failure.name())
                .to_owned(),
            tokens(row.tokens_in),
            tokens(row.tokens_out),
            format!("{} ms", row.latency_ms),
            if row.pricing_missing {
                "unpriced".to_owned()
            } else {
                row.cost.to_string()
            },
        ]);
    }
    table.build().with(Style::sharp()).to_string()
}
