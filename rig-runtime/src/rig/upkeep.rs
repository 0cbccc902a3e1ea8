//! What keeps a store in order: deleting, and what exporters have not sent.

use super::Rig;
use crate::store::{ExportState, Prune, Pruned, StoreError};

impl Rig {
    /// Deletes rows or captures, or counts what would be deleted (T7). Calls go on meanwhile. Rows that an exporter has not
    /// sent yet stay unless the request says otherwise, and no envelope changes.
    ///
    /// # Errors
    ///
    /// When the store cannot be written. Part of it may be deleted then.
    pub async fn prune(&self, prune: Prune) -> Result<Pruned, StoreError> {
        self.0.store.prune(prune, self.now_ms()).await
    }

    /// Returns how far each exporter has come, which rows it has set aside, and why it has stopped, if it has (T9).
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn exports(&self) -> Result<Vec<ExportState>, StoreError> {
        self.0.store.exports().await
    }
}
