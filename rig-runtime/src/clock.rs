//! What time is it, and how does one wait?

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::driver::Driver;
use crate::transport::{BoxFuture, TransportError};

/// The only reader of time and the only sleeper.
pub trait Clock: Send + Sync {
    /// Returns the time since 1970 (UTC). It may jump.
    fn wall(&self) -> Duration;

    /// Returns the time since some fixed moment. It never goes back.
    fn monotonic(&self) -> Duration;

    /// Waits.
    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()>;
}

/// The machine's clock. Its timers belong to the driver, so it can be waited for on any executor.
pub(crate) struct SystemClock {
    origin: Instant,
    driver: Arc<Driver>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the clock is the only reader of time"
)]
impl SystemClock {
    /// Returns a clock whose monotonic time starts now.
    ///
    /// # Errors
    ///
    /// When the driver cannot be started.
    pub(crate) fn new() -> Result<Self, TransportError> {
        Ok(Self {
            origin: Instant::now(),
            driver: Driver::shared()?,
        })
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the clock is the only reader of time, and the only sleeper"
)]
impl Clock for SystemClock {
    fn wall(&self) -> Duration {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
    }

    fn monotonic(&self) -> Duration {
        self.origin.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        let _context = self.driver.enter();
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Returns this clock, or the machine's.
///
/// # Errors
///
/// When the driver cannot be started.
pub(crate) fn or_system(clock: Option<Box<dyn Clock>>) -> Result<Box<dyn Clock>, TransportError> {
    match clock {
        Some(clock) => Ok(clock),
        None => Ok(Box::new(SystemClock::new()?)),
    }
}

/// Returns what `work` ends with, or `None` if `limit` is over first. Work that is done in time wins a tie.
pub(crate) async fn within<T>(
    clock: &dyn Clock,
    limit: Duration,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = pin!(work);
    let mut timer = clock.sleep(limit);
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        match timer.as_mut().poll(cx) {
            // Work that was due at the same moment is looked at once more.
            Poll::Ready(()) => Poll::Ready(match work.as_mut().poll(cx) {
                Poll::Ready(done) => Some(done),
                Poll::Pending => None,
            }),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ManualClock;

    #[tokio::test]
    async fn the_shorter_of_work_and_limit_ends_first_and_a_tie_is_the_works() {
        let secs = Duration::from_secs;
        for (first, second, done) in [(1, 3, true), (2, 3, true), (2, 4, false), (9, 0, false)] {
            let clock = ManualClock::new();
            let work = async {
                clock.sleep(secs(first)).await;
                clock.sleep(secs(second)).await;
            };
            assert_eq!(within(&clock, secs(5), work).await.is_some(), done);
            assert_eq!(clock.monotonic(), secs(5.min(first + second)));
        }
    }
}
