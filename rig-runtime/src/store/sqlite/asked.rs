//! How does somebody wait for a part of a transaction?

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::super::StoreError;
use super::stopped;

/// What is done with an envelope, a verdict or a cursor.
pub(super) trait Money: Send {
    /// Does it, as a part of a transaction; it may be done anew in the next one.
    fn apply(&mut self, connection: &Connection) -> rusqlite::Result<()>;

    /// Tells whoever asked, once the transaction is committed or given up.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

pub(super) struct Asked<T, W> {
    pub(super) work: W,
    pub(super) done: Option<T>,
    pub(super) answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, W> Money for Asked<T, W>
where
    T: Send,
    W: Fn(&Connection) -> rusqlite::Result<T> + Send,
{
    fn apply(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.done = Some((self.work)(connection)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let Self { done, answer, .. } = *self;
        let done = committed.and_then(|()| done.ok_or_else(stopped));
        // Whoever asked may have gone away, and then nobody misses the answer.
        let _ = answer.send(done);
    }
}
