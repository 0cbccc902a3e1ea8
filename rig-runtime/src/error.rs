//! What can a call end with instead of an answer?
//!
//! Two kinds, cut where the ladder cuts: [`ConfigError`] means that nothing was dispatched and no row was
//! written, [`Failure`] that the ladder ended without an answer. No message holds a key, a prompt or an
//! output.

use std::borrow::Cow;
use std::fmt;

use rig_spec::FailureClass;

use crate::store::{EnvelopeState, StoreError};
use crate::transport::TransportError;

/// What a call of a route returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no answer.
///
/// Its `Debug` form is for people, since `fn main() -> rig::Result<()>` and `unwrap` print that one.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Nothing was dispatched: no row, no spend.
    Config(ConfigError),
    /// The ladder ended without an answer.
    Failure(Box<Failure>),
}

/// What has to be put right before a call can be dispatched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// No candidate may serve the route, or the variant that the caller chose.
    NothingEligible {
        /// The route.
        route: &'static str,
        /// The variant; `None` for the route itself.
        variant: Option<&'static str>,
        /// The candidates that the call's own options removed, each with the option.
        removed: Vec<String>,
    },
    /// The variant that the caller chose is none of the route's.
    UnknownVariant {
        /// The route.
        route: &'static str,
    },
    /// The prompt needs a variable that the input does not have.
    MissingVariable {
        /// The route.
        route: &'static str,
        /// The variable.
        variable: &'static str,
    },
    /// A variable is longer than the route's `max_chars`.
    TooLong {
        /// The route.
        route: &'static str,
        /// The variable.
        variable: &'static str,
        /// The most characters that the route allows.
        limit: u64,
        /// The characters that the variable has as it is rendered.
        length: u64,
    },
    /// The call names a place in the prompt cache of a provider that takes none, or that no candidate has.
    NoCacheHandle {
        /// The route.
        route: &'static str,
        /// The provider that the handle is of.
        provider: String,
    },
    /// The input is not an object of variables.
    Input {
        /// The route.
        route: &'static str,
    },
    /// `MODELRIG_ENVELOPE_BUDGET_USD` is no amount of dollars.
    EnvelopeBudget,
    /// `MODELRIG_CAPTURE` is neither `on` nor `off`.
    Capture,
    /// The telemetry store cannot be used.
    Store(StoreError),
    /// The HTTP client cannot be set up.
    Transport(TransportError),
}

/// The last failure of a run, with what there is to know about the run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// Why the last attempt failed.
    pub class: FailureClass,
    /// What happened, e.g. the provider's message.
    pub message: String,
    /// The provider that was asked last.
    pub provider: &'static str,
    /// The model that was asked last.
    pub model: Cow<'static, str>,
    /// The route; empty in the raw lane.
    pub route: &'static str,
    /// The run's id; on every row of its attempts.
    pub run_id: String,
    /// What the run did, in one line.
    pub history: String,
    /// What the envelope of the call held when it could not cover the next dispatch.
    pub envelope: Option<EnvelopeState>,
}

impl Error {
    /// Returns the class of a failure; `None` where nothing was dispatched.
    #[must_use]
    pub fn class(&self) -> Option<FailureClass> {
        self.failure().map(|failure| failure.class)
    }

    /// Returns the failure; `None` where nothing was dispatched.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Config(_) => None,
            Self::Failure(failure) => Some(failure),
        }
    }
}

impl Failure {
    /// Returns what to do about it.
    #[must_use]
    pub fn fix_hint(&self) -> &'static str {
        self.class.spec().fix
    }

    /// Returns the address of the class's section in the docs.
    #[must_use]
    pub fn docs_url(&self) -> String {
        self.class.docs_url()
    }

    /// Returns what failed.
    fn subject(&self) -> String {
        match self.route {
            "" => "a raw call".to_owned(),
            route => format!("route `{route}`"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Failure(failure) => failure.fmt(f),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Failure(failure) => write!(
                f,
                "{} failed with {} at {}/{}: {}\n  help: {}\n  see: {}\n  run {}: {}",
                failure.subject(),
                failure.class,
                failure.provider,
                failure.model,
                failure.message,
                failure.fix_hint(),
                failure.docs_url(),
                failure.run_id,
                failure.history,
            ),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingEligible {
                route,
                variant,
                removed,
            } => {
                if let Some(variant) = variant {
                    write!(f, "variant `{variant}` of ")?;
                }
                write!(f, "route `{route}` has no eligible candidate")?;
                if removed.is_empty() {
                    return Ok(());
                }
                write!(f, ": {}", removed.join(", "))
            }
            Self::UnknownVariant { route } => {
                write!(f, "the variant is none of route `{route}`")
            }
            Self::MissingVariable { route, variable } => write!(
                f,
                "the prompt of route `{route}` uses `{variable}`, which the input does not have"
            ),
            Self::TooLong {
                route,
                variable,
                limit,
                length,
            } => write!(
                f,
                "`{variable}` has {length} characters, and route `{route}` allows {limit} (`max_chars`)"
            ),
            Self::NoCacheHandle { route, provider } => write!(
                f,
                "no candidate of route `{route}` takes a cache handle of a provider `{provider}`"
            ),
            Self::Input { route } => write!(
                f,
                "the input of route `{route}` cannot be written as a JSON object of variables"
            ),
            Self::EnvelopeBudget => write!(
                f,
                "`MODELRIG_ENVELOPE_BUDGET_USD` is no amount of dollars like `25` or `0.5`"
            ),
            Self::Capture => f.write_str("`MODELRIG_CAPTURE` is neither `on` nor `off`"),
            Self::Store(error) => error.fmt(f),
            Self::Transport(error) => write!(f, "the HTTP client cannot be set up: {error}"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} failed with {} at {}/{}: {} (run {}: {}); help: {}",
            self.subject(),
            self.class,
            self.provider,
            self.model,
            self.message,
            self.run_id,
            self.history,
            self.fix_hint(),
        )
    }
}

impl std::error::Error for Error {}
impl std::error::Error for ConfigError {}
impl std::error::Error for Failure {}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Config(ConfigError::Store(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_where_why_and_what_to_do() {
        let failure = Failure {
            class: FailureClass::ConfigAuth,
            message: "OPENAI_API_KEY is not set".to_owned(),
            provider: "openai",
            model: "m".into(),
            route: "summarize",
            run_id: "r1".to_owned(),
            history: "openai/m config_auth".to_owned(),
            envelope: None,
        };
        let text = Error::Failure(Box::new(failure.clone())).to_string();
        assert_eq!(
            text,
            format!(
                "route `summarize` failed with config_auth at openai/m: OPENAI_API_KEY is not set (run r1: openai/m config_auth); help: {}",
                failure.fix_hint()
            )
        );
        assert!(failure.docs_url().ends_with("#config_auth"));
    }

    #[test]
    fn a_config_error_has_no_class() {
        let error = Error::from(ConfigError::NothingEligible {
            route: "r",
            variant: None,
            removed: Vec::new(),
        });
        assert_eq!((error.class(), error.failure()), (None, None));
        assert_eq!(error.to_string(), "route `r` has no eligible candidate");
    }
}
