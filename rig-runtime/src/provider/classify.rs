//! Which failure class does an error have?
//!
//! One table, read from the top; the first row that matches wins. Status and code decide where they can. Text
//! decides only where hosts leave nothing else: money, bad keys told as 400, requests that are too large.

use rig_spec::FailureClass;

pub(super) mod cache;
pub(super) mod quota;

/// What a row of the table decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The failure is of this class.
    Class(FailureClass),
    /// The request can never pass as it stands.
    Rejected,
}

/// What the table says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Classified {
    /// A row matched.
    As(Verdict),
    /// None did.
    Unknown,
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
/// The cache that the caller named is gone (L10). No row says so, since it depends on the request.
pub(super) const CACHE_INVALID: Verdict = Verdict::Class(FailureClass::CacheInvalid);

/// The code of a quota that is counted over a day or longer, whoever counts. It is ours: hosts say it in other ways.
pub(super) const LONG_QUOTA: &str = "quota_of_a_day_or_longer";

/// The code of whatever is wrong with a request. Hosts give it beside rate limits too, so an inner error that says no
/// more leaves the decision to the outer status.
pub(super) const BLAMES_REQUEST: &str = "invalid_request_error";

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
            // Azure's sentence, and how LiteLLM calls it (BerriAI/litellm#16231).
            "content management policy",
            "contentpolicyviolationerror",
        ],
        verdict: REFUSAL,
    },
    // Statuses that lie: a request that can never pass, told as credentials or as a breakdown.
    Rule {
        statuses: &[(200, 200), (403, 403), (500, 500)],
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
    // K7: no retry of a run waits for the next day.
    Rule {
        statuses: &[(200, 200), (402, 403), (429, 429), (503, 503)],
        codes: &[LONG_QUOTA],
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
        statuses: &[(200, 200), (400, 400), (403, 403), (429, 429)],
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
    // Credentials.
    Rule {
        statuses: &[(401, 401), (403, 403)],
        codes: NONE,
        texts: NONE,
        verdict: CONFIG_AUTH,
    },
    Rule {
        statuses: ANY,
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
    // Somebody else's timeout, a conflict, and a request that came to the wrong place or too early: another attempt may
    // pass, and the clients of OpenAI and Anthropic retry them.
    Rule {
        statuses: &[(408, 409), (421, 421), (425, 425), (504, 504)],
        codes: NONE,
        texts: NONE,
        verdict: NETWORK,
    },
    // A gateway of Cloudflare that got no answer blames the request (cloudflare/ai#436).
    Rule {
        statuses: &[(400, 400)],
        codes: NONE,
        texts: &["failed to get response from provider"],
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
        codes: &[BLAMES_REQUEST],
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

/// Returns what is known of an error that HTTP tells: its status, its codes in lower case, its message in lower case.
pub(super) fn outer(status: u16, codes: &[String], text: &str) -> Classified {
    let found = RULES.iter().find(|rule| rule.matches(status, codes, text));
    found.map_or(Classified::Unknown, |rule| Classified::As(rule.verdict))
}

/// Returns the verdict on an error within another; `None` where it does not say what it is. One that names no status is
/// read as under 200, where nothing but its codes and its text speak.
pub(super) fn inner(status: Option<u16>, codes: &[String], text: &str) -> Option<Verdict> {
    let says = |code: &&String| status.is_some() || *code != BLAMES_REQUEST;
    let codes: Vec<_> = codes.iter().filter(says).cloned().collect();
    match outer(status.unwrap_or(200), &codes, text) {
        Classified::As(verdict) => Some(verdict),
        Classified::Unknown => status.map(|_| NETWORK),
    }
}

/// Returns a code as the table has it; `None` for one that it does not know.
pub(super) fn known(code: &str) -> Option<&'static str> {
    let mut codes = RULES.iter().flat_map(|rule| rule.codes);
    codes.find(|known| **known == code).copied()
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
mod tests;
