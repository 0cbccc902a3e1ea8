//! Why did an attempt fail, and what does the ladder do about it?
//!
//! One row of [`FailureClass::spec`] per class. Budgets, backoff, hints, docs and the compiler's checks read
//! the row; nothing else states these facts.

use std::fmt;
use std::time::Duration;

/// The typed reason an attempt failed.
///
/// Exhaustive on purpose: a `match` over it may name every class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FailureClass {
    /// The answer is not one JSON value, misses the schema, or was cut at the token limit.
    ContentInvalid,
    /// The model or the provider's filter declined to answer.
    Refusal,
    /// A named cache resource is gone.
    CacheInvalid,
    /// An attempt or the run took longer than allowed.
    Timeout,
    /// The caller's quality gate rejected a conformant output.
    QualityRejected,
    /// The provider sheds load.
    CapacityShed,
    /// The provider could not be reached, broke down, or rejected the request as such.
    Network,
    /// No usable credentials, or an account without access or money.
    ConfigAuth,
    /// An envelope has no money left for the next dispatch.
    BudgetExhausted,
    /// Something that only a bug can cause.
    InvariantViolation,
}

/// What the ladder does after a failure of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Disposition {
    /// The same candidate again while the class's retry budget lasts, after this wait.
    Retry(Backoff),
    /// The next candidate at once.
    FallThrough,
    /// The run ends.
    Abort,
}

/// How long to wait before each retry of one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    /// Wait before the first retry, in milliseconds.
    pub first_ms: u64,
    /// What each further wait is multiplied by; at least 1.
    pub factor: f64,
    /// The longest wait, in milliseconds; 0 retries at once.
    pub cap_ms: u64,
    /// Share by which a wait may be lengthened at random, 0 to 1. A wait is never shortened.
    pub jitter: f64,
}

/// Where the docs of the failure classes are; the heading of a class is its serialized name.
pub const FAILURE_DOCS: &str = "https://docs.rs/modelrig/latest/rig/failures/index.html";

/// One row of the failure table.
#[derive(Debug)]
pub struct ClassSpec {
    /// The class this row is about.
    pub class: FailureClass,
    /// Its serialized name.
    pub name: &'static str,
    /// What the ladder does.
    pub disposition: Disposition,
    /// What has happened, as one sentence.
    pub meaning: &'static str,
    /// What to do about it, as one sentence.
    pub fix: &'static str,
}

impl Backoff {
    /// Retries at once.
    pub const NONE: Self = Self {
        first_ms: 0,
        factor: 1.0,
        cap_ms: 0,
        jitter: 0.0,
    };

    /// Returns the wait before retry number `retry` (from 0), for a `chance` between 0 and 1 that picks the
    /// jitter.
    #[must_use]
    pub fn wait(&self, retry: u32, chance: f64) -> Duration {
        let cap = self.cap_ms as f64;
        let exponent = i32::try_from(retry).unwrap_or(i32::MAX);
        let base = (self.first_ms as f64 * self.factor.powi(exponent)).min(cap);
        let jittered = base * (1.0 + self.jitter * chance.clamp(0.0, 1.0));
        Duration::from_millis(jittered as u64)
    }
}

impl FailureClass {
    /// Every class, in the order of the contract.
    pub const ALL: [Self; 10] = [
        Self::ContentInvalid,
        Self::Refusal,
        Self::CacheInvalid,
        Self::Timeout,
        Self::QualityRejected,
        Self::CapacityShed,
        Self::Network,
        Self::ConfigAuth,
        Self::BudgetExhausted,
        Self::InvariantViolation,
    ];

    /// Returns the table row of the class.
    #[must_use]
    pub const fn spec(self) -> &'static ClassSpec {
        match self {
            Self::ContentInvalid => &ClassSpec {
                class: Self::ContentInvalid,
                name: "content_invalid",
                disposition: Disposition::Retry(Backoff::NONE),
                meaning: "The model answered with nothing, or not with one JSON value that conforms to the route's schema, or the answer was cut at the token limit.",
                fix: "Raise `max_output_tokens` if the answer was cut; otherwise give the route a `repair` rung, a `content_invalid` retry budget, or a candidate that enforces schemas.",
            },
            Self::Refusal => &ClassSpec {
                class: Self::Refusal,
                name: "refusal",
                disposition: Disposition::Retry(Backoff::NONE),
                meaning: "The model, or the provider's content filter, declined to answer.",
                fix: "Reword the prompt, or add a candidate from another provider.",
            },
            Self::CacheInvalid => &ClassSpec {
                class: Self::CacheInvalid,
                name: "cache_invalid",
                disposition: Disposition::Retry(Backoff::NONE),
                meaning: "The cache handle of the call has expired or belongs to someone else.",
                fix: "Create the cached content anew and pass the new handle.",
            },
            Self::Timeout => &ClassSpec {
                class: Self::Timeout,
                name: "timeout",
                disposition: Disposition::Retry(Backoff::NONE),
                meaning: "The attempt did not deliver its last byte within `policy.timeout_ms`, or the run's deadline ended it.",
                fix: "Raise `policy.timeout_ms` or the deadline, lower `max_output_tokens`, or put a faster candidate first.",
            },
            Self::QualityRejected => &ClassSpec {
                class: Self::QualityRejected,
                name: "quality_rejected",
                disposition: Disposition::Retry(Backoff::NONE),
                meaning: "The output conforms to the schema, but the caller's quality gate rejected it.",
                fix: "Say in the prompt what the gate asks for, or give `quality_rejected` a retry budget.",
            },
            Self::CapacityShed => &ClassSpec {
                class: Self::CapacityShed,
                name: "capacity_shed",
                disposition: Disposition::Retry(Backoff {
                    first_ms: 30_000,
                    factor: 2.0,
                    cap_ms: 240_000,
                    jitter: 0.0,
                }),
                meaning: "The provider is over capacity or over a rate limit and asked to come back later.",
                fix: "Give the route a candidate at another provider, a higher `capacity_shed` retry budget, or another `policy.tier`.",
            },
            Self::Network => &ClassSpec {
                class: Self::Network,
                name: "network",
                disposition: Disposition::Retry(Backoff {
                    first_ms: 1_000,
                    factor: 2.0,
                    cap_ms: 30_000,
                    jitter: 0.0,
                }),
                meaning: "The provider could not be reached, failed on its side, or rejected the request as such.",
                fix: "Read the message: a rejected request needs another model or parameter; an outage needs a `network` retry budget or another candidate.",
            },
            Self::ConfigAuth => &ClassSpec {
                class: Self::ConfigAuth,
                name: "config_auth",
                disposition: Disposition::FallThrough,
                meaning: "The provider rejected the credentials or the account, its money or its quota of a day or a month is used up, or there was no key to send.",
                fix: "Set the provider's API key in this environment, and check the account's access, balance and quotas.",
            },
            Self::BudgetExhausted => &ClassSpec {
                class: Self::BudgetExhausted,
                name: "budget_exhausted",
                disposition: Disposition::Abort,
                meaning: "The envelope of the call cannot cover the next dispatch.",
                fix: "Use an envelope with a larger budget, or a cheaper route.",
            },
            Self::InvariantViolation => &ClassSpec {
                class: Self::InvariantViolation,
                name: "invariant_violation",
                disposition: Disposition::Abort,
                meaning: "modelrig found itself in a state that only a bug can cause, and stopped before it could do harm.",
                fix: "Report it with the message and the run id.",
            },
        }
    }

    /// Returns the serialized name, as it stands in rows, routes and docs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns the class of a serialized name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// Returns the address of the class's section in the docs.
    #[must_use]
    pub fn docs_url(self) -> String {
        format!("{FAILURE_DOCS}#{}", self.name())
    }

    /// Returns whether a route may give the class a retry budget.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self.spec().disposition, Disposition::Retry(_))
    }

    /// Returns whether a provider's `Retry-After` lengthens the wait before a retry of the class: where there is a
    /// backoff to lengthen.
    #[must_use]
    pub const fn heeds_retry_after(self) -> bool {
        self.default_backoff().cap_ms > 0
    }

    /// The longest wait that a provider may ask for, in milliseconds; one that asks for more is left for the next
    /// candidate.
    pub const LONGEST_WAIT_MS: u64 = 240_000;

    /// Returns the class's default backoff; none for a class that is never retried.
    #[must_use]
    pub const fn default_backoff(self) -> Backoff {
        match self.spec().disposition {
            Disposition::Retry(backoff) => backoff,
            Disposition::FallThrough | Disposition::Abort => Backoff::NONE,
        }
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(class: FailureClass) -> Vec<u64> {
        let backoff = class.default_backoff();
        (0..6).map(|n| backoff.wait(n, 1.0).as_secs()).collect()
    }

    /// K0: the defaults of the contract's table.
    #[test]
    fn default_waits_are_those_of_the_table() {
        assert_eq!(
            seconds(FailureClass::CapacityShed),
            [30, 60, 120, 240, 240, 240]
        );
        assert_eq!(seconds(FailureClass::Network), [1, 2, 4, 8, 16, 30]);
        assert_eq!(seconds(FailureClass::Timeout), [0; 6]);
    }

    /// K0: jitter lengthens a wait and never shortens it.
    #[test]
    fn jitter_only_lengthens() {
        let backoff = Backoff {
            jitter: 0.2,
            ..FailureClass::Network.default_backoff()
        };
        assert_eq!(backoff.wait(0, 0.0), Duration::from_millis(1_000));
        assert_eq!(backoff.wait(0, 1.0), Duration::from_millis(1_200));
    }

    #[test]
    fn a_zero_cap_retries_at_once_however_often() {
        let backoff = Backoff {
            first_ms: 500,
            factor: 3.0,
            cap_ms: 0,
            jitter: 0.5,
        };
        assert!((0..2_000).all(|n| backoff.wait(n, 1.0).is_zero()));
    }

    /// K0, K1, K2: which classes are retried, which may be waited for, and where the docs of all are.
    #[test]
    fn the_table_is_that_of_the_contract() {
        let waited_for = [FailureClass::CapacityShed, FailureClass::Network];
        let never_retried = [
            FailureClass::ConfigAuth,
            FailureClass::BudgetExhausted,
            FailureClass::InvariantViolation,
        ];
        for class in FailureClass::ALL {
            assert_eq!(class.heeds_retry_after(), waited_for.contains(&class));
            assert_eq!(class.is_retryable(), !never_retried.contains(&class));
            let aborts = class.spec().disposition == Disposition::Abort;
            let is_ours = class != FailureClass::ConfigAuth;
            assert_eq!(aborts, is_ours && never_retried.contains(&class));
            assert_eq!(class.docs_url(), format!("{FAILURE_DOCS}#{class}"));
        }
    }

    #[test]
    fn names_are_unique_and_found_again() {
        for class in FailureClass::ALL {
            assert_eq!(FailureClass::from_name(class.name()), Some(class));
            assert_eq!(class.spec().class, class);
        }
        assert_eq!(FailureClass::from_name("nope"), None);
    }
}
