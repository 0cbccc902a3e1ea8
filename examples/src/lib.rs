//! What the examples share: a provider to run against without keys, and a table of rows.

pub mod demo;
pub mod rows;
