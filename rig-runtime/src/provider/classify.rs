//! Which failure class does an error have?
//!
//! One table, read from the top; the first row that matches wins. Status and code decide where they can. Text
//! decides only where hosts leave nothing else: money, bad keys told as 400, requests that are too large.

use rig_spec::FailureClass;

/// What a row of the table decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The failure is of this class.
    Class(FailureClass),
    /// The request can never pass as it stands.
    Rejected,
}

/// One row: it matches when the status does, and one of the codes or texts (if there are any).
struct Rule {
    statuses: &'static [(u16, u16)],
    codes: &'static [&'static str],
    texts: &'static [&'static str],
    verdict: Verdict,
}

const ANY: &[(u16, u16)] = &[(0, 999)];
const NONE: &[&str] = &[];

const REFUSAL: Verdict = Verdict::Class(FailureClass::Refusal);
const CONFIG_AUTH: Verdict = Verdict::Class(FailureClass::ConfigAuth);
const CAPACITY: Verdict = Verdict::Class(FailureClass::CapacityShed);
/// A breakdown: what the table does not know.
pub(super) const NETWORK: Verdict = Verdict::Class(FailureClass::Network);

/// Texts are in lower case and are looked for anywhere in the message.
const RULES: &[Rule] = &[
    // A content filter that speaks through an error. It comes before 403 means credentials.
    Rule {
        statuses: ANY,
        codes: &[
            "content_filter",
            "content_policy_violation",
            "data_inspection_failed",
            "invalid_prompt",
            "moderation",
            "responsibleaipolicyviolation",
        ],
        texts: NONE,
        verdict: REFUSAL,
    },
    Rule {
        statuses: &[(200, 200), (400, 400), (403, 403)],
        codes: NONE,
        texts: &[
            "violates usage guidelines",
            "blocked by content filtering policy",
            "content exists risk",
        ],
        verdict: REFUSAL,
    },
    // Statuses that lie: a request that can never pass, told as credentials or as a breakdown.
    Rule {
        statuses: &[(403, 403), (500, 500)],
        codes: &["context_length_exceeded", "exceed_context_size_error"],
        texts: &[
            "context length",
            "context size",
            "context window",
            "maximum input length",
            "prompt is too long",
            "prompt too long",
            "input is too long",
        ],
        verdict: Verdict::Rejected,
    },
    Rule {
        statuses: &[(500, 500)],
        codes: NONE,
        texts: &[
            "requires --jinja",
            "is not supported",
            "cannot use both",
            "failed to parse tools",
            "json.exception",
            "'messages' is required",
            "cannot make get request",
        ],
        verdict: Verdict::Rejected,
    },
    // Money. The bare words "billing" and "quota" are not matched: ordinary rate limits carry them.
    Rule {
        statuses: ANY,
        codes: &[
            "insufficient_quota",
            "billing_error",
            "billing_hard_limit_reached",
            "billing_not_active",
            "exceeded_current_quota_error",
        ],
        texts: NONE,
        verdict: CONFIG_AUTH,
    },
    Rule {
        statuses: &[(402, 402), (412, 412)],
        codes: NONE,
        texts: NONE,
        verdict: CONFIG_AUTH,
    },
    Rule {
        statuses: &[(400, 400), (403, 403), (429, 429)],
        codes: NONE,
        texts: &[
            "credit balance",
            "api usage limits",
            "used all available credits",
            "spending limit",
            "insufficient balance",
            "extra usage is required",
        ],
        verdict: CONFIG_AUTH,
    },
    // A named cache that is no more, told as credentials.
    Rule {
        statuses: &[(400, 400), (403, 404)],
        codes: NONE,
        texts: &[
            "cachedcontent not found",
            "cached content not found",
            "cachedcontent has expired",
            "cached content has expired",
            "cached content is expired",
        ],
        verdict: Verdict::Class(FailureClass::CacheInvalid),
    },
    // Credentials.
    Rule {
        statuses: &[(401, 401), (403, 403)],
        codes: NONE,
        texts: NONE,
        verdict: CONFIG_AUTH,
    },
    Rule {
        statuses: &[(200, 200), (400, 400)],
        codes: &[
            "invalid_api_key",
            "api_key_invalid",
            "authentication_error",
            "failed_precondition",
            "permission_error",
        ],
        texts: &[
            "incorrect api key",
            "invalid api key",
            "api key not valid",
            "api key expired",
            "invalid x-api-key",
        ],
        verdict: CONFIG_AUTH,
    },
    // A single request above the whole rate limit: the same body can never pass.
    Rule {
        statuses: &[(413, 413), (429, 429)],
        codes: &["requested_over_limit", "request_too_large"],
        texts: &["request too large"],
        verdict: Verdict::Rejected,
    },
    // Load.
    Rule {
        statuses: &[(429, 429), (498, 498), (503, 503), (529, 529)],
        codes: NONE,
        texts: NONE,
        verdict: CAPACITY,
    },
    Rule {
        statuses: ANY,
        codes: &[
            "capacity_exceeded",
            "engine_overloaded_error",
            "overloaded_error",
            "rate_limit_error",
            "rate_limit_exceeded",
            "resource_exhausted",
            "server_is_overloaded",
            "service_unavailable_error",
            "slow_down",
            "unavailable",
            "unavailable_error",
        ],
        texts: NONE,
        verdict: CAPACITY,
    },
    Rule {
        statuses: &[(200, 200), (500, 599)],
        codes: NONE,
        texts: &["overloaded", "model busy", "capacity exceeded"],
        verdict: CAPACITY,
    },
    // The model wrote what its host could not read; another attempt may pass.
    Rule {
        statuses: &[(200, 200), (400, 400)],
        codes: &["tool_use_failed", "json_validate_failed"],
        texts: NONE,
        verdict: Verdict::Class(FailureClass::ContentInvalid),
    },
    // Somebody else's timeout: K4 counts it as the network's.
    Rule {
        statuses: &[(408, 408), (504, 504)],
        codes: NONE,
        texts: NONE,
        verdict: NETWORK,
    },
    // Whatever else blames the request. A redirect is never followed, so it is a wrong base URL.
    Rule {
        statuses: &[(200, 200), (500, 599)],
        codes: &[
            "context_length_exceeded",
            "exceed_context_size_error",
            "model_not_found",
            "not_found_error",
            "request_too_large",
        ],
        texts: NONE,
        verdict: Verdict::Rejected,
    },
    Rule {
        statuses: &[(200, 200)],
        codes: &["invalid_request_error"],
        texts: NONE,
        verdict: Verdict::Rejected,
    },
    Rule {
        statuses: &[(300, 499), (501, 501)],
        codes: NONE,
        texts: NONE,
        verdict: Verdict::Rejected,
    },
];

impl Verdict {
    /// Returns the failure class. K4: a rejected request is `network`.
    pub(super) fn class(self) -> FailureClass {
        match self {
            Self::Class(class) => class,
            Self::Rejected => FailureClass::Network,
        }
    }
}

/// Returns the verdict on an error: its status, its codes in lower case, its message.
pub(super) fn classify(status: u16, codes: &[String], message: &str) -> Verdict {
    let text = message.to_lowercase();
    let found = RULES.iter().find(|rule| rule.matches(status, codes, &text));
    found.map_or(NETWORK, |rule| rule.verdict)
}

impl Rule {
    fn matches(&self, status: u16, codes: &[String], text: &str) -> bool {
        let says_nothing_more = self.codes.is_empty() && self.texts.is_empty();
        self.statuses
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&status))
            && (says_nothing_more
                || codes.iter().any(|code| self.codes.contains(&code.as_str()))
                || self.texts.iter().any(|known| text.contains(known)))
    }
}

#[cfg(test)]
mod tests {
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
            assert_eq!(
                classify(*status, &codes, text),
                *expected,
                "{status} {code} {text}"
            );
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
}
