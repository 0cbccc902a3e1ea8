//! What the examples share: a provider to run against without keys, a table of rows, and the tour of the ladder.

pub mod demo;
pub mod rows;
pub mod tour;
