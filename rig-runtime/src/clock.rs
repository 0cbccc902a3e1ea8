//! What time is it, and how does one wait?

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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

    /// Waits while something outside of this clock's time is waited for too, such as a disk. A clock whose time jumps gives
    /// that some of the machine's time before it jumps.
    fn linger(&self, duration: Duration) -> BoxFuture<'_, ()> {
        self.sleep(duration)
    }
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

/// Tells how much of the machine's time has passed.
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Returns one that starts now.
    #[expect(
        clippy::disallowed_methods,
        reason = "the clock is the only reader of time"
    )]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns how long ago it was started.
    pub(crate) fn elapsed(&self) -> Duration {
        self.0.elapsed()
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

/// Returns what a store answers, or `None` if `limit` is over first. An answer that is there at once needs no timer.
pub(crate) async fn answer_within<T>(
    clock: &dyn Clock,
    limit: Duration,
    answer: impl Future<Output = T>,
) -> Option<T> {
    let mut answer = pin!(answer);
    let mut timer = None;
    poll_fn(|cx| {
        if let Poll::Ready(done) = answer.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        let timer = timer.get_or_insert_with(|| clock.linger(limit));
        timer.as_mut().poll(cx).map(|()| None)
    })
    .await
}

/// How long [`Seldom`] is silent.
const SILENCE: Duration = Duration::from_secs(60);

/// Says whether something is to be said that would otherwise be said too often: once a minute.
#[derive(Debug, Default)]
pub(crate) struct Seldom(AtomicU64);

impl Seldom {
    /// Returns whether it is due at this moment, in monotonic time, and is silent for a minute if it was.
    pub(crate) fn is_due(&self, now: Duration) -> bool {
        // 0 is never.
        let now = u64::try_from(now.as_millis()).map_or(u64::MAX, |now| now.saturating_add(1));
        let last = self.0.load(Ordering::SeqCst);
        let is_due = last == 0 || now.saturating_sub(last) >= SILENCE.as_millis() as u64;
        let swap = |last| (self.0).compare_exchange(last, now, Ordering::SeqCst, Ordering::SeqCst);
        is_due && swap(last).is_ok()
    }
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
        let clock = ManualClock::new();
        let work = clock.sleep(secs(1));
        assert!(within(&clock, Duration::ZERO, work).await.is_none());
        assert_eq!(clock.monotonic(), Duration::ZERO);
    }

    // L17: a store that answers in time costs no time, and one that does not is given up at its limit.
    #[tokio::test]
    async fn a_store_is_waited_for_no_longer_than_its_limit() {
        let clock = ManualClock::new();
        let secs = Duration::from_secs;
        let at_once = answer_within(&clock, secs(5), std::future::ready(7)).await;
        assert_eq!((at_once, clock.monotonic()), (Some(7), Duration::ZERO));
        let (answer, answered) = tokio::sync::oneshot::channel();
        let disk = std::thread::spawn(move || answer.send(7));
        let answered = answer_within(&clock, secs(5), answered).await;
        assert_eq!((answered, clock.monotonic()), (Some(Ok(7)), Duration::ZERO));
        disk.join().unwrap().unwrap();
        let never = answer_within(&clock, secs(5), std::future::pending::<()>()).await;
        assert_eq!((never, clock.monotonic()), (None, secs(5)));
    }

    #[test]
    fn what_is_said_seldom_is_said_once_a_minute() {
        let seldom = Seldom::default();
        let due = [0, 1, 59_999, 60_000, 60_001, 200_000].map(Duration::from_millis);
        let due = due.map(|now| seldom.is_due(now));
        assert_eq!(due, [true, false, false, true, false, true]);
    }
}
