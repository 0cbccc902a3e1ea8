//! What makes a process end well, however its `main` returns.

use std::fmt;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use super::Rig;
use super::default::DEFAULT;

/// The longest that a guard holds up the end of a process: what [`Rig::close`] waits, and some time for the store.
const LONGEST: Duration = Duration::from_secs(7);

/// Flushes a rig when it is dropped, and waits for its exporters: see [`Rig::guard`].
#[must_use = "it flushes when it is dropped: bind it to a name, `let _guard = …`"]
pub struct Guard(Whose);

enum Whose {
    Given(Rig),
    ProcessDefault,
}

/// Returns a guard of the process default: see [`Rig::guard`]. If no call was made there is nothing to do at the end.
///
/// ```no_run
/// # use rig_runtime as rig;
/// fn main() {
///     let _guard = rig::guard();
///     // … calls of routes …
/// }
/// ```
pub fn guard() -> Guard {
    Guard(Whose::ProcessDefault)
}

impl Rig {
    /// Returns a guard that does what [`Rig::close`] does when it is dropped: at the end of `main`, also by `?` or a panic.
    /// It works within a runtime and without one, never panics, and takes seven seconds at most, during which its thread
    /// waits. `std::process::exit` drops nothing, and so does a killed process: what is stored then is exported by
    /// the next one.
    pub fn guard(&self) -> Guard {
        Guard(Whose::Given(self.clone()))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let rig = match &self.0 {
            Whose::Given(rig) => Some(rig),
            Whose::ProcessDefault => DEFAULT.get(),
        };
        let Some(rig) = rig.cloned() else {
            return;
        };
        // On a thread of its own: this one may be a runtime's, on which nobody may block on a future.
        let (done, is_done) = mpsc::channel();
        let closing = std::thread::Builder::new()
            .name("modelrig-end".to_owned())
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                if let Ok(runtime) = runtime {
                    let closed = runtime.block_on(rig.close());
                    let _ = done.send(closed);
                }
            });
        let closed = closing.map(|_| is_done.recv_timeout(LONGEST));
        let reason = match closed {
            Ok(Ok(Ok(()))) => return,
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(RecvTimeoutError::Timeout)) => "it took too long".to_owned(),
            Ok(Err(RecvTimeoutError::Disconnected)) => "no runtime can be had".to_owned(),
            Err(error) => error.to_string(),
        };
        tracing::error!(reason, "the rig was not closed in order");
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guard(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::testing::{ManualClock, MemoryStore, ScriptedTransport};

    fn rig(store: MemoryStore) -> Rig {
        let clock = ManualClock::new();
        Rig::builder()
            .ignore_env()
            .transport(ScriptedTransport::new(&clock))
            .store(store)
            .clock(clock)
            .build()
            .unwrap()
    }

    #[test]
    fn a_guard_ends_within_a_runtime_without_one_and_in_a_panic() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let guarded = || {
            let rig = rig(MemoryStore::default());
            let guard = rig.guard();
            assert_eq!(format!("{guard:?}"), "Guard(…)");
            drop(guard);
            dropped.fetch_add(1, Ordering::SeqCst);
        };
        guarded();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async { guarded() });
        let panicked = std::panic::catch_unwind(|| {
            let _guard = rig(MemoryStore::default()).guard();
            std::panic::resume_unwind(Box::new("the caller's"));
        });
        let payload = panicked.unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"the caller's"));
        assert_eq!(dropped.load(Ordering::SeqCst), 2);
    }
}
