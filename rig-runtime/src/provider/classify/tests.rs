//! Is the table the contract's?

use super::*;

/// K4, and the surprising rows of the providers.
#[test]
fn errors_are_classified_as_the_contract_says() {
    let rejected = Verdict::Rejected;
    let content_invalid = Verdict::Class(FailureClass::ContentInvalid);
    let cases: &[(u16, &str, &str, Verdict)] = &[
        (429, "rate_limit_exceeded", "slow down", CAPACITY),
        (429, "", "check your plan and billing details", CAPACITY),
        (429, "insufficient_quota", "", CONFIG_AUTH),
        (
            429,
            "",
            "Your team has used all available credits",
            CONFIG_AUTH,
        ),
        (429, "", "Request too large for gpt-4o", rejected),
        (429, "requested_over_limit", "", rejected),
        (
            429,
            "invalid_request_error",
            "Service tier capacity exceeded",
            CAPACITY,
        ),
        (503, "", "", CAPACITY),
        (529, "overloaded_error", "Overloaded", CAPACITY),
        (498, "capacity_exceeded", "", CAPACITY),
        (500, "api_error", "Overloaded", CAPACITY),
        (200, "server_is_overloaded", "", CAPACITY),
        (401, "", "", CONFIG_AUTH),
        (403, "permission-denied", "no access", CONFIG_AUTH),
        (
            403,
            "permission-denied",
            "Content violates usage guidelines.",
            REFUSAL,
        ),
        (403, "moderation", "", REFUSAL),
        (
            400,
            "invalid_request_error",
            "Output blocked by content filtering policy",
            REFUSAL,
        ),
        (400, "invalid_request_error", "Content Exists Risk", REFUSAL),
        (403, "", "input exceeds the context length", rejected),
        (400, "content_filter", "", REFUSAL),
        (400, "invalid_prompt", "", REFUSAL),
        (
            400,
            "invalid-argument",
            "Incorrect API key provided: x",
            CONFIG_AUTH,
        ),
        (
            400,
            "invalid_request_error",
            "Your credit balance is too low",
            CONFIG_AUTH,
        ),
        (429, "billing_not_active", "", CONFIG_AUTH),
        (400, "tool_use_failed", "", content_invalid),
        (400, "context_length_exceeded", "", rejected),
        (
            402,
            "invalid_request_error",
            "Insufficient Balance",
            CONFIG_AUTH,
        ),
        (412, "", "account suspended", CONFIG_AUTH),
        (404, "model_not_found", "", rejected),
        (413, "request_too_large", "", rejected),
        (
            413,
            "rate_limit_exceeded",
            "Request too large for model",
            rejected,
        ),
        (410, "", "", rejected),
        (301, "", "", rejected),
        (408, "", "", NETWORK),
        (409, "conflict_error", "", NETWORK),
        (421, "", "", NETWORK),
        (425, "", "", NETWORK),
        (422, "", "", rejected),
        (400, "2005", "Failed to get response from provider", NETWORK),
        (
            400,
            "",
            "against Azure's content management policy",
            REFUSAL,
        ),
        (429, LONG_QUOTA, "", CONFIG_AUTH),
        (403, LONG_QUOTA, "", CONFIG_AUTH),
        (500, "server_error", "", NETWORK),
        (
            500,
            "",
            "Requested input length 9 exceeds maximum input length 8",
            rejected,
        ),
        (
            500,
            "server_error",
            "tools param requires --jinja flag",
            rejected,
        ),
        (501, "", "", rejected),
        (502, "cf_bad_gateway", "Bad gateway.", NETWORK),
        (504, "timeout_error", "", NETWORK),
        (520, "", "", NETWORK),
        (200, "", "something odd", NETWORK),
        (200, "invalid_request_error", "", rejected),
    ];
    for (status, code, text, expected) in cases {
        let codes = [(*code).to_owned()];
        let found = match outer(*status, &codes, &text.to_lowercase()) {
            Classified::As(verdict) => verdict,
            Classified::Unknown => NETWORK,
        };
        assert_eq!(found, *expected, "{status} {code} {text}");
    }
}

#[test]
fn codes_and_texts_of_the_table_are_in_lower_case() {
    for rule in RULES {
        for word in rule.codes.iter().chain(rule.texts) {
            assert_eq!(*word, word.to_lowercase());
        }
    }
}

// K7: an inner error decides by what it says, and leaves it to the outer one where it says nothing.
#[test]
fn an_inner_error_decides_only_by_what_it_says() {
    let rejected = Some(Verdict::Rejected);
    let cases: &[(Option<u16>, &str, &str, Option<Verdict>)] = &[
        (None, "insufficient_quota", "", Some(CONFIG_AUTH)),
        (None, "invalid_api_key", "", Some(CONFIG_AUTH)),
        (None, "content_filter", "", Some(REFUSAL)),
        (None, "rate_limit_error", "", Some(CAPACITY)),
        (None, "context_length_exceeded", "", rejected),
        (
            None,
            "",
            "your credit balance is too low",
            Some(CONFIG_AUTH),
        ),
        (None, LONG_QUOTA, "", Some(CONFIG_AUTH)),
        (None, BLAMES_REQUEST, "", None),
        (None, "whatever", "busy", None),
        (Some(429), "", "", Some(CAPACITY)),
        (Some(400), BLAMES_REQUEST, "", rejected),
        (Some(500), "", "", Some(NETWORK)),
        (Some(401), "", "", Some(CONFIG_AUTH)),
    ];
    for (status, code, text, expected) in cases {
        let codes = [(*code).to_owned()];
        assert_eq!(
            inner(*status, &codes, text),
            *expected,
            "{status:?} {code} {text}"
        );
    }
}
