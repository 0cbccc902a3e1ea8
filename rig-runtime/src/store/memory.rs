//! How are rows kept without a disk? In a vector, for tests and for processes that want no file.

use std::collections::HashSet;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{AttemptRow, Capture, Store, StoreError};
use crate::transport::BoxFuture;

/// Keeps rows in memory. They are gone with the store. Cloning it gives another handle on the same rows.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    rows: Vec<AttemptRow>,
    captures: Vec<Capture>,
    ids: HashSet<String>,
}

impl MemoryStore {
    /// Returns every row, in the order of recording.
    #[must_use]
    pub fn rows(&self) -> Vec<AttemptRow> {
        self.kept().rows.clone()
    }

    /// Nothing panics while the lock is held, so what it guards is whole.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn record(&self, row: AttemptRow) {
        let mut kept = self.kept();
        if kept.ids.insert(row.id.clone()) {
            kept.rows.push(row);
        }
    }

    fn record_captured(&self, row: AttemptRow, capture: Capture) {
        let mut kept = self.kept();
        if kept.ids.insert(row.id.clone()) {
            kept.rows.push(row);
            kept.captures.push(capture);
        }
    }

    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(ready(Ok(())))
    }

    fn attempts(&self, run_id: &str) -> BoxFuture<'_, Result<Vec<AttemptRow>, StoreError>> {
        let kept = self.kept();
        let mut rows: Vec<_> = kept
            .rows
            .iter()
            .filter(|row| row.run_id == run_id)
            .cloned()
            .collect();
        rows.sort_by_key(|row| row.attempt);
        Box::pin(ready(Ok(rows)))
    }

    fn captures(&self, route: &str) -> BoxFuture<'_, Result<Vec<Capture>, StoreError>> {
        let kept = self.kept();
        let of_route = kept
            .captures
            .iter()
            .filter(|capture| capture.route == route);
        let mut captures: Vec<_> = of_route.cloned().collect();
        captures.sort_by_key(|capture| capture.ts_ms);
        Box::pin(ready(Ok(captures)))
    }
}
