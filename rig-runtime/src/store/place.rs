//! Which store is at a place that somebody named?

use std::path::Path;

use super::sqlite::SqliteStore;
use super::{Store, StoreError};

/// Opens the file of a path, or the database of a URL.
pub(crate) fn open(place: &Path) -> Result<Box<dyn Store>, StoreError> {
    let is_url = |text: &&str| {
        ["postgres://", "postgresql://"]
            .iter()
            .any(|start| text.starts_with(start))
    };
    match place.to_str().filter(is_url) {
        Some(url) => open_url(url),
        None => Ok(Box::new(SqliteStore::open(place)?)),
    }
}

#[cfg(feature = "postgres")]
fn open_url(url: &str) -> Result<Box<dyn Store>, StoreError> {
    Ok(Box::new(super::postgres::PostgresStore::open(url)?))
}

/// A URL may have a password in it, so that it is not told.
#[cfg(not(feature = "postgres"))]
fn open_url(_: &str) -> Result<Box<dyn Store>, StoreError> {
    Err(StoreError::Unavailable {
        location: "postgres://…".to_owned(),
        reason: "this build has no PostgreSQL; turn on the feature `postgres` of `modelrig`"
            .to_owned(),
    })
}
