//! Whether captures are on in this process (T3).

use super::RigBuilder;
use crate::access::Settings;
use crate::error::ConfigError;

const CAPTURE_ENV: &str = "MODELRIG_CAPTURE";

/// What the builder was told of captures.
#[derive(Clone, Copy, Default)]
pub(super) enum Captures {
    /// Routes and `MODELRIG_CAPTURE` decide.
    #[default]
    AsRoutesSay,
    /// Nothing is captured.
    Off,
}

impl RigBuilder {
    /// With `false` nothing is captured, whatever routes say; the environment's `MODELRIG_CAPTURE=off` does the same. With
    /// `true`, as without a call, a route with `capture: true` is captured unless `MODELRIG_CAPTURE` is `off`: either can
    /// turn captures off, and neither turns on what the other or a route does not want.
    pub fn capture(mut self, is_on: bool) -> Self {
        self.captures = match is_on {
            true => Captures::AsRoutesSay,
            false => Captures::Off,
        };
        self
    }
}

impl Captures {
    /// Returns whether the answers of routes that ask for it are captured.
    ///
    /// # Errors
    ///
    /// When `MODELRIG_CAPTURE` is neither `on` nor `off`: nobody can tell then what was meant, and captures hold prompts.
    pub(super) fn are_on(self, settings: &Settings) -> Result<bool, ConfigError> {
        let told = settings.variable(CAPTURE_ENV);
        Ok(is_on(told.as_deref())? && matches!(self, Self::AsRoutesSay))
    }
}

fn is_on(told: Option<&str>) -> Result<bool, ConfigError> {
    match told
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
        .as_str()
    {
        "" | "on" | "true" | "1" => Ok(true),
        "off" | "false" | "0" => Ok(false),
        _ => Err(ConfigError::Capture),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // T3: what nobody can read is no permission to keep prompts.
    #[test]
    fn the_environment_says_on_or_off_or_is_an_error() {
        for text in [None, Some(""), Some(" on"), Some("TRUE"), Some("1")] {
            assert_eq!(is_on(text), Ok(true), "{text:?}");
        }
        for text in ["off", "Off\n", "false", "0"] {
            assert_eq!(is_on(Some(text)), Ok(false), "{text}");
        }
        for text in ["of", "no", "none", "2"] {
            assert_eq!(is_on(Some(text)), Err(ConfigError::Capture), "{text}");
        }
    }
}
