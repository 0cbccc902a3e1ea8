//! The worst case of a route, as constants that a user can add up and assert.

use super::put;
use super::values::{duration, integer};
use crate::check::Checked;
use crate::worst::of_route;

/// Writes the worst case of a call as constants.
pub(super) fn write(out: &mut String, route: &Checked) {
    let worst = of_route(route);
    let name = &route.name;
    put(
        out,
        format_args!("\n/// The most attempts that a call of `{name}` makes.\n"),
    );
    put(
        out,
        format_args!(
            "pub const MAX_ATTEMPTS: u32 = {};\n",
            integer(worst.attempts.min(u64::from(u32::MAX)))
        ),
    );
    put(
        out,
        format_args!(
            "\n/// The longest that a call of `{name}` takes, attempts and waits together.\n"
        ),
    );
    put(
        out,
        format_args!(
            "pub const MAX_WALL_CLOCK: ::core::time::Duration = {};\n",
            duration(worst.wall_clock_ms)
        ),
    );
    put(
        out,
        format_args!(
            "\n/// The most that a call of `{name}` costs, with a prompt as long as the context window.\n"
        ),
    );
    put(
        out,
        format_args!(
            "pub const MAX_COST: __rig::Usd = __rig::Usd::nanos({});\n",
            integer(worst.cost.as_nanos())
        ),
    );
}
