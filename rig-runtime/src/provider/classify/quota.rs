//! Is a limit one that a run cannot wait for?

/// What a limit is called that is counted over a day or longer.
const LONG: [&str; 14] = [
    "per day",
    "perday",
    "/day",
    "(rpd)",
    "(tpd)",
    "daily",
    "per month",
    "permonth",
    "/month",
    "monthly",
    "per week",
    "weekly",
    "per 86400s",
    "per 24 hours",
];

/// What a shorter one is called. Where both are named nothing says which one was reached.
const SHORT: [&str; 9] = [
    "per minute",
    "perminute",
    "per min",
    "/min",
    "(rpm)",
    "(tpm)",
    "per second",
    "persecond",
    "per hour",
];

/// What is said of any limit.
const LIMITS: [&str; 9] = [
    "limit",
    "quota",
    "allocation",
    "allowance",
    "credit",
    "exceed",
    "exhaust",
    "used up",
    "too many",
];

/// Returns whether a message says that a quota of a day, a week or a month is used up.
pub(in crate::provider) fn is_long(message: &str) -> bool {
    let text = message.to_lowercase().replace(['_', '-'], " ");
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    has(&LONG) && has(&LIMITS) && !has(&SHORT)
}

/// Returns whether the name of a quota, as Google gives it, is that of a long one.
pub(in crate::provider) fn is_long_name(name: &str) -> bool {
    let name = name.to_lowercase().replace(['_', '-'], " ");
    LONG.iter().any(|word| name.contains(word))
}

/// Returns whether a rate limit's message says that one request asks for more than the whole limit allows
/// (`Limit 6000, … Requested 12328`), so that no wait helps.
pub(in crate::provider) fn asks_beyond_limit(text: &str) -> bool {
    let number_after = |word: &str| -> Option<u64> {
        let (_, rest) = text.split_once(word)?;
        let digits = rest.trim_start_matches([' ', ':', '~']);
        let end = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        digits[..end].parse().ok()
    };
    match (number_after("Limit "), number_after("Requested ")) {
        (Some(limit), Some(requested)) => requested > limit,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_above_the_whole_limit_is_told_from_a_used_up_one() {
        assert!(asks_beyond_limit("TPM: Limit 6000, Requested 12328"));
        assert!(asks_beyond_limit("Limit 7000, Used 0, Requested ~12903."));
        assert!(!asks_beyond_limit(
            "Limit 200000, Used 162960, Requested 42288."
        ));
        assert!(!asks_beyond_limit("slow down"));
    }

    // K7
    #[test]
    fn a_quota_of_a_day_is_told_from_one_of_a_minute() {
        for long in [
            "Rate limit reached on tokens per day (TPD): Limit 100000, Used 97050",
            "Rate limit exceeded: free-models-per-day-high-balance.",
            "Quota exceeded for requests_per_day_per_project",
            "your monthly spend limit of $10",
            "Rate limit of 50 per 86400s exceeded",
        ] {
            assert!(is_long(long), "{long}");
        }
        for short in [
            "Rate limit reached on requests per min (RPM): Limit 3 / min",
            "Quota exceeded for requests_per_minute_per_project",
            "5 requests per minute, of 200 requests per day, is your limit",
            "what a lovely day",
            "per day",
            "slow down",
        ] {
            assert!(!is_long(short), "{short}");
        }
        assert!(is_long_name(
            "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
        ));
        assert!(is_long_name("openrouter_free_tier_daily"));
        assert!(!is_long_name("GenerateRequestsPerMinutePerProjectPerModel"));
    }
}
