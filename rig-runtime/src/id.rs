//! Where do ids and chance come from?

use uuid::{NoContext, Timestamp, Uuid};

use crate::clock::Clock;

/// Returns a fresh id (UUID v7) of the clock's wall time.
pub(crate) fn fresh(clock: &dyn Clock) -> Uuid {
    let now = clock.wall();
    Uuid::new_v7(Timestamp::from_unix(
        NoContext,
        now.as_secs(),
        now.subsec_nanos(),
    ))
}

/// Returns a number between 0 and 1 that is as random as the tail of an id.
pub(crate) fn chance(id: Uuid) -> f64 {
    let tail = id.as_u128() & u128::from(u32::MAX);
    tail as f64 / f64::from(u32::MAX)
}
