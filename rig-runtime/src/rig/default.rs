//! The rig of calls that name none: the process default.

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::{Rig, no_answer};
use crate::clock::{Clock, SystemClock, answer_within};
use crate::error::{ConfigError, Result};
use crate::store::StoreError;

pub(super) static DEFAULT: OnceLock<Rig> = OnceLock::new();

/// Whoever waits for the default to be built; it is being built while there is somebody.
static WAITING: Mutex<Vec<oneshot::Sender<Result<Rig>>>> = Mutex::new(Vec::new());

/// The process has a default rig already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlreadyInstalled;

/// Makes a rig the process default.
///
/// # Errors
///
/// When there is one already, installed or built by an earlier call.
pub fn install(rig: Rig) -> Result<(), AlreadyInstalled> {
    DEFAULT.set(rig).map_err(|_| AlreadyInstalled)
}

/// Returns the process default, and how long it took to build it; the first call builds it from the environment, on a thread
/// of its own, since opening a store may wait for a disk or a server. A run waits no longer than its own time.
pub(crate) async fn process_default(limit: Option<Duration>) -> Result<(Rig, Duration)> {
    if let Some(rig) = DEFAULT.get() {
        return Ok((rig.clone(), Duration::ZERO));
    }
    let clock = SystemClock::new().map_err(ConfigError::Transport)?;
    let built = build()?;
    let built = match limit {
        Some(limit) => answer_within(&clock, limit, built)
            .await
            .ok_or_else(|| ConfigError::Store(no_answer(limit)))?,
        None => built.await,
    };
    let rig = built.map_err(|_| ConfigError::Store(ended()))??;
    Ok((rig, clock.monotonic()))
}

/// Has the default built, unless somebody does it already, and returns where it will be.
fn build() -> Result<oneshot::Receiver<Result<Rig>>> {
    let (tell, told) = oneshot::channel();
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    let is_first = waiting.is_empty();
    waiting.push(tell);
    if is_first {
        let spawned = thread::Builder::new()
            .name("modelrig-default".to_owned())
            .spawn(|| {
                let done = Done;
                let built = match DEFAULT.get() {
                    Some(rig) => Ok(rig.clone()),
                    None => Rig::builder().build(),
                };
                done.tell(built.map(|rig| DEFAULT.get_or_init(|| rig).clone()));
            });
        if let Err(error) = spawned {
            waiting.clear();
            let reason = error.to_string();
            return Err(ConfigError::Store(StoreError::Failed { reason }).into());
        }
    }
    Ok(told)
}

/// The end of building. Whoever waits is told of it even if the thread panics.
struct Done;

impl Done {
    fn tell(self, built: Result<Rig>) {
        for waiting in Self::take() {
            // Whoever waited may have gone away.
            let _ = waiting.send(built.clone());
        }
    }

    fn take() -> Vec<oneshot::Sender<Result<Rig>>> {
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *waiting)
    }
}

impl Drop for Done {
    fn drop(&mut self) {
        drop(Self::take());
    }
}

fn ended() -> StoreError {
    StoreError::Failed {
        reason: "it was not opened".to_owned(),
    }
}

impl fmt::Display for AlreadyInstalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the process has a default rig already; install one before the first call")
    }
}

impl std::error::Error for AlreadyInstalled {}
