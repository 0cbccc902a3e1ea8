//! What is asked of a store, and the way back to whoever asked.

use tokio::sync::oneshot;

use super::super::StoreError;

/// Something that is done with a `C`, and that somebody waits for.
pub(in super::super) trait Ask<C, E>: Send {
    /// Does it; it may be done anew.
    fn apply(&mut self, with: &mut C) -> Result<(), E>;

    /// Returns whether somebody still waits for the answer.
    fn is_awaited(&self) -> bool;

    /// Tells whoever asked whether what was done holds.
    fn answer(self: Box<Self>, done: Result<(), StoreError>);
}

/// The answer to something asked.
pub(in super::super) type Answered<T> = oneshot::Receiver<Result<T, StoreError>>;

/// Work whose result somebody waits for.
pub(in super::super) struct Asked<T, W> {
    work: W,
    done: Option<T>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, W> Asked<T, W> {
    /// Returns work, and where its result will be.
    pub(in super::super) fn new(work: W) -> (Box<Self>, Answered<T>) {
        let (answer, answered) = oneshot::channel();
        let done = None;
        (Box::new(Self { work, done, answer }), answered)
    }
}

impl<C, E, T, W> Ask<C, E> for Asked<T, W>
where
    T: Send,
    W: FnMut(&mut C) -> Result<T, E> + Send,
{
    fn apply(&mut self, with: &mut C) -> Result<(), E> {
        self.done = Some((self.work)(with)?);
        Ok(())
    }

    fn is_awaited(&self) -> bool {
        !self.answer.is_closed()
    }

    fn answer(self: Box<Self>, done: Result<(), StoreError>) {
        let Self {
            done: result,
            answer,
            ..
        } = *self;
        let result = done.and_then(|()| result.ok_or_else(stopped));
        // Whoever asked may have gone away, and then nobody misses the answer.
        let _ = answer.send(result);
    }
}

/// Returns the error of a store whose thread has ended.
pub(super) fn stopped() -> StoreError {
    StoreError::Failed {
        reason: "the store has stopped".to_owned(),
    }
}
