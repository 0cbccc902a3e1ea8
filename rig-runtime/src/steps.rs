//! How much work is done, in steps: a value that is looked at by one rule or type, or a byte that is looked ahead at.
//!
//! Only tests count. A law bounds the steps by the size of the answer, which no clock could.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

/// Counts steps.
#[inline]
pub(crate) fn count(steps: usize) {
    #[cfg(test)]
    TAKEN.with(|taken| taken.set(taken.get() + steps));
    #[cfg(not(test))]
    let _ = steps;
}

/// Returns what a piece of work returns, and the steps that it took.
#[cfg(test)]
pub(crate) fn of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = TAKEN.get();
    let done = work();
    (done, TAKEN.get() - before)
}
