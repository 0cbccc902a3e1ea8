//! What holds of what a caller hears? W2: it is the identical ladder, told.

use rig::store::{AttemptRow, RowFailure};

use super::{is_search, that};
use crate::sim::case::Case;
use crate::sim::check::equal;
use crate::sim::seen::{Seen, Told};
use crate::sim::world::GOOD;

pub(super) fn told_as_it_was(case: &Case, seen: &Seen) -> Result<(), String> {
    let streams = case.options.streams;
    let asks = |(row, asked): (&AttemptRow, &crate::sim::asked::Asked)| {
        is_search(row) || asked.streams == streams
    };
    that(
        "a stream is asked for if somebody listens",
        seen.rows.iter().zip(&seen.asked).all(asks),
    )?;
    if !streams {
        return that("nobody is told", seen.told.is_empty());
    }
    let mut told = seen.told.iter().peekable();
    let mut said = String::new();
    for row in &seen.rows {
        // Who went away may not have heard the last of it.
        if seen.result.is_none() && told.peek().is_none() {
            return Ok(());
        }
        let begins = Told::Started(row.attempt, row.provider.to_string(), row.model.to_string());
        equal(
            "what is told first of an attempt",
            Some(&begins),
            told.next(),
        )?;
        said.clear();
        while let Some(Told::Delta(attempt, text)) = told.peek() {
            equal("the attempt of a delta", row.attempt, *attempt)?;
            said += text;
            told.next();
        }
        let is_heard = seen.result.is_some() || told.peek().is_some();
        if let Some(RowFailure::Class(class)) = row.failure.filter(|_| is_heard) {
            let ends = Told::Discarded(row.attempt, class);
            equal("what is told last of a failure", Some(&ends), told.next())?;
        }
    }
    equal("what is told after the last attempt", None, told.next())?;
    let serves_text = matches!(&seen.result, Some(Ok((_, meta))) if meta.validated);
    that(
        "what is heard of the answer that serves",
        !serves_text || said == GOOD[seen.run],
    )
}
