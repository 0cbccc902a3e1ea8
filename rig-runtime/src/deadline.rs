//! How much time does a run have left?

use std::time::Duration;

/// When a run has to end, in the clock's monotonic time; a run without a deadline never has to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Option<Set>);

#[derive(Clone, Copy, Debug)]
struct Set {
    length: Duration,
    end: Duration,
}

/// What a run with a deadline has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// The time that is left.
    pub(crate) time: Duration,
    /// How much it was at the start.
    pub(crate) of: Duration,
}

impl Deadline {
    /// Returns the deadline of a run that starts now: the route's or the call's, whichever comes first.
    pub(crate) fn new(route_ms: Option<u64>, call: Option<Duration>, now: Duration) -> Self {
        Self(Self::length(route_ms, call).map(|length| Set {
            length,
            end: now.saturating_add(length),
        }))
    }

    /// Returns how long such a run may take.
    pub(crate) fn length(route_ms: Option<u64>, call: Option<Duration>) -> Option<Duration> {
        let route = route_ms.map(Duration::from_millis);
        route.into_iter().chain(call).min()
    }

    /// Returns the deadline of a run of which so much time has passed before it began.
    pub(crate) fn begun(self, before: Duration) -> Self {
        Self(self.0.map(|set| Set {
            end: set.end.saturating_sub(before),
            ..set
        }))
    }

    /// Returns what is left at this moment; `None` for a run without a deadline.
    pub(crate) fn left(&self, now: Duration) -> Option<Left> {
        self.0.map(|set| Left {
            time: set.end.saturating_sub(now),
            of: set.length,
        })
    }
}

impl Left {
    /// Returns what is left when this much more has passed.
    pub(crate) fn after(self, passed: Duration) -> Self {
        Self {
            time: self.time.saturating_sub(passed),
            ..self
        }
    }

    /// Returns what there is to say of a run whose time is over.
    pub(crate) fn message(&self) -> String {
        format!("the run's deadline of {} ms ended it", self.of.as_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // L16: the shorter counts, and time that is over never goes below nothing.
    #[test]
    fn the_shorter_deadline_counts() {
        let ms = Duration::from_millis;
        for (route, call, length) in [
            (None, None, None),
            (Some(500), None, Some(500)),
            (None, Some(300), Some(300)),
            (Some(500), Some(300), Some(300)),
            (Some(300), Some(500), Some(300)),
        ] {
            let deadline = Deadline::new(route, call.map(ms), ms(1_000));
            for (now, spent) in [(1_000, 0), (1_200, 200), (9_000, 8_000)] {
                let left = length.map(|length: u64| Left {
                    time: ms(length.saturating_sub(spent)),
                    of: ms(length),
                });
                assert_eq!(deadline.left(ms(now)), left);
            }
        }
        // L17: what passed before the run began counts, and the deadline is still called what it was.
        let begun = Deadline::new(Some(500), None, ms(1_000)).begun(ms(100));
        let left = begun.left(ms(1_000)).unwrap();
        assert_eq!((left.time, left.of), (ms(400), ms(500)));
        let endless = Deadline::new(None, Some(Duration::MAX), ms(1));
        assert!(
            endless
                .left(ms(5))
                .is_some_and(|left| left.time > ms(1_000_000))
        );
    }
}
