//! How long does a failed response ask to wait?
//!
//! K2: what is zero, negative or unreadable is no wish at all. Pure: a date is compared with the response's
//! own `date` header, so no clock is read and a wrong local clock does no harm.

use std::time::Duration;

use crate::transport::Headers;

/// Returns the wait that the headers ask for: `retry-after-ms`, else `retry-after` in seconds or as a date.
pub(crate) fn from_headers(headers: &Headers) -> Option<Duration> {
    let milliseconds = headers
        .get("retry-after-ms")
        .and_then(number)
        .map(|ms| ms / 1_000.0);
    milliseconds.and_then(seconds).or_else(|| {
        let value = headers.get("retry-after")?;
        number(value)
            .and_then(seconds)
            .or_else(|| until(value, headers.get("date")?))
    })
}

/// Returns the wait that a message asks for: `try again in 6m0s`, `retry after 26 seconds`.
pub(super) fn from_text(message: &str) -> Option<Duration> {
    let text = message.to_lowercase();
    ["try again in ", "retry after ", "retry in "]
        .into_iter()
        .filter_map(|phrase| text.split_once(phrase))
        .find_map(|(_, rest)| duration(rest))
}

/// Returns a wait that is written as a duration: `31s`, `31.5s`.
pub(super) fn from_duration(text: &str) -> Option<Duration> {
    duration(text.trim())
}

fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain.then(|| text.parse().ok()).flatten()
}

fn seconds(seconds: f64) -> Option<Duration> {
    // What is no number of seconds at all has not come here: it is only too many.
    let wait = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    (!wait.is_zero()).then_some(wait)
}

fn until(date: &str, now: &str) -> Option<Duration> {
    let date = httpdate::parse_http_date(date.trim()).ok()?;
    let now = httpdate::parse_http_date(now.trim()).ok()?;
    date.duration_since(now).ok().filter(|wait| !wait.is_zero())
}

/// Reads numbers with units for as long as there are some: `1.574s`, `20ms`, `6m0s`, `26 seconds`.
fn duration(mut text: &str) -> Option<Duration> {
    let mut total = 0.0;
    loop {
        let digits = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let Some(amount) = number(&text[..digits]) else {
            break;
        };
        let rest = text[digits..].trim_start();
        let letters = rest
            .find(|c: char| !c.is_ascii_lowercase())
            .unwrap_or(rest.len());
        total += amount
            * match &rest[..letters] {
                "ms" | "millisecond" | "milliseconds" => 0.001,
                "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
                "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
                "h" | "hour" | "hours" => 3_600.0,
                _ => return None,
            };
        text = &rest[letters..];
    }
    seconds(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pairs = &'static [(&'static str, &'static str)];

    fn headers(pairs: Pairs) -> Headers {
        Headers::new(
            pairs
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect(),
        )
    }

    /// K2.
    #[test]
    fn header_hints_are_read_and_junk_is_ignored() {
        const DATE: (&str, &str) = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        let cases: &[(Pairs, Option<u64>)] = &[
            (&[("retry-after", "2")], Some(2_000)),
            (&[("Retry-After", " 1.5 ")], Some(1_500)),
            (
                &[("retry-after-ms", "250"), ("retry-after", "2")],
                Some(250),
            ),
            (
                &[("retry-after-ms", "0"), ("retry-after", "1")],
                Some(1_000),
            ),
            (
                &[DATE, ("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")],
                Some(30_000),
            ),
            (
                &[DATE, ("retry-after", "Sunday, 06-Nov-94 08:50:07 GMT")],
                Some(30_000),
            ),
            (
                &[DATE, ("retry-after", "Sun, 06 Nov 1994 08:40:00 GMT")],
                None,
            ),
            (&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")], None),
            (&[("retry-after", "0")], None),
            (&[("retry-after", "-3")], None),
            (&[("retry-after", "inf")], None),
            (&[("retry-after", "1e3")], None),
            (&[("retry-after", ".")], None),
            (
                &[("retry-after", "99999999999999999999999999")],
                Some(u64::MAX),
            ),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "")], None),
            (&[], None),
        ];
        for (pairs, expected) in cases {
            let wait = from_headers(&headers(pairs));
            let wait = wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
            assert_eq!(wait, *expected, "{pairs:?}");
        }
    }

    #[test]
    fn text_hints_are_read() {
        let cases = [
            ("Please try again in 1.574s. Visit", Some(1_574)),
            ("try again in 20ms", Some(20)),
            ("Try again in 6m0s.", Some(360_000)),
            ("try again in 1h2m3.5s", Some(3_723_500)),
            ("Please retry after 26 seconds.", Some(26_000)),
            ("try again in 0s", None),
            ("try again in a moment", None),
            ("try again later", None),
            ("try again in 5 fortnights", None),
        ];
        for (text, expected) in cases {
            assert_eq!(
                from_text(text).map(|wait| wait.as_millis() as u64),
                expected,
                "{text}"
            );
        }
    }
}
