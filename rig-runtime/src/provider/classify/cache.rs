//! Does an error say that the caller's cache is gone?
//!
//! Providers say so in many words, and in new ones with each version. So no list of sentences is kept: the message names
//! the handle, or it says of a cache that it is gone.

/// The statuses under which a cache can be said to be gone.
const STATUSES: [u16; 4] = [400, 403, 404, 410];

/// Stems of what is said of a thing that is not there any more.
const GONE: [&str; 22] = [
    "not found",
    "not be found",
    "n't be found",
    "n't find",
    "not find",
    "no such",
    "not exist",
    "n't exist",
    "no longer",
    "expire",
    "evict",
    "delet",
    "remov",
    "gone",
    "stale",
    "laps",
    "purge",
    "dropped",
    "unavailable",
    "not available",
    "missing",
    "unknown",
];

/// Stems of what is said of a thing that is somebody else's, under 403.
const DENIED: [&str; 6] = [
    "permission",
    "denied",
    "access",
    "forbidden",
    "not allowed",
    "belong",
];

/// The shortest last part of a handle that means the handle where it stands alone, in bytes.
const SHORTEST_ID: usize = 6;

/// Returns whether an error with one of these statuses is about this handle, which may be empty. The text is in lower
/// case.
pub(in crate::provider) fn is_gone(statuses: &[u16], text: &str, handle: &str) -> bool {
    let Some(status) = statuses.iter().find(|status| STATUSES.contains(status)) else {
        return false;
    };
    if names(text, &handle.to_lowercase()) {
        return true;
    }
    let stems = GONE.iter().chain(DENIED.iter().filter(|_| *status == 403));
    let mut said = stems.flat_map(|stem| text.match_indices(stem));
    said.any(|(at, _)| is_of_cache(text, at))
}

/// Returns whether a text names a handle, wholly or by its last part.
fn names(text: &str, handle: &str) -> bool {
    let parts = handle.rsplitn(3, '/').collect::<Vec<_>>();
    let id = parts[0];
    // `cachedContents/…` without the project that it belongs to.
    let short = parts.get(1).map(|kind| format!("{kind}/{id}"));
    let id = Some(id).filter(|id| id.len() >= SHORTEST_ID);
    let mut names = short.as_deref().into_iter().chain(id);
    names.any(|name| is_word_of(text, name))
}

fn is_word_of(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Returns whether what is said at a place is said of a cache, and not of a model: whichever of the two the sentence names
/// first before that place, else behind it.
fn is_of_cache(text: &str, at: usize) -> bool {
    const ENDS: [&str; 3] = [". ", "; ", "\n"];
    let (before, after) = text.split_at(at);
    let start = ENDS
        .iter()
        .filter_map(|end| Some(before.rfind(end)? + end.len()));
    let before = &before[start.max().unwrap_or(0)..];
    let end = ENDS.iter().filter_map(|end| after.find(end));
    let after = &after[..end.min().unwrap_or(after.len())];
    let names_cache = |part: &str| match (part.find("cache"), part.find("model")) {
        (None, None) => None,
        (cache, model) => Some(cache.is_some_and(|cache| model.is_none_or(|model| cache < model))),
    };
    names_cache(before)
        .or_else(|| names_cache(after))
        .unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    // L10
    #[test]
    fn a_cache_is_gone_where_it_is_named_or_said_to_be() {
        let long = "projects/p/locations/l/cachedContents/Abc123";
        let cases = [
            ("resource cachedcontents/abc123 is odd", long, true),
            ("bad handle 'abc123'", long, true),
            ("bad handle 'abc1234'", long, false),
            ("bad handle abc123-x", long, false),
            ("cachedcontents/abc is odd", "cachedContents/abc", true),
            ("abc is odd", "cachedContents/abc", false),
            ("desk-7 is too long a key", "desk-7", true),
            ("the cached context was evicted", "", true),
            ("no such entry in the cache", "", true),
            ("not found: cached content metadata for 7", "", true),
            ("model x not found in the cache", "", false),
            ("the cache of the model was not found", "", true),
            (
                "models/x is not found, or is not supported for cachedcontent",
                "",
                false,
            ),
            (
                "the model that the cached content names does not exist",
                "",
                false,
            ),
            ("the model is fine. its cache has expired", "", true),
            ("the cache is fine; no such model", "", false),
            ("cached content is too small", "", false),
            ("requested entity was not found", "", false),
            ("", "", false),
        ];
        for (text, handle, expected) in cases {
            assert_eq!(is_gone(&[404], text, handle), expected, "{text}");
            assert!(!is_gone(&[401, 429, 500], text, handle), "{text}");
        }
        assert!(is_gone(&[403], "no access to this cache", ""));
        assert!(!is_gone(&[400], "no access to this cache", ""));
        assert!(is_gone(&[500, 400], "the cache has expired", ""));
    }
}
