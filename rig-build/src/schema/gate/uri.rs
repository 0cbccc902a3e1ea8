//! What does a reference mean, seen from an address? (RFC 3986 §5, as far as schemas need it.)

/// Returns the reference as an address of its own. Neither has a fragment.
pub(super) fn join(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    if scheme(reference).is_some() {
        return reference.to_owned();
    }
    let Some(scheme) = scheme(base) else {
        // A schema without an address: its files are told apart by what they are called.
        return path(base, reference);
    };
    let rest = &base[scheme.len() + 1..];
    if let Some(rest) = reference.strip_prefix("//") {
        return format!("{scheme}://{rest}");
    }
    let Some(place) = rest.strip_prefix("//") else {
        return reference.to_owned();
    };
    let (host, base_path) = match place.find('/') {
        Some(at) => place.split_at(at),
        None => (place, "/"),
    };
    format!("{scheme}://{host}{}", path(base_path, reference))
}

fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some(scheme)
}

fn path(base: &str, reference: &str) -> String {
    let base = base.split('?').next().unwrap_or_default();
    let folder = if reference.starts_with('/') {
        ""
    } else {
        base.rfind('/').map_or("", |at| &base[..=at])
    };
    let (path, query) = match reference.find('?') {
        Some(at) => reference.split_at(at),
        None => (reference, ""),
    };
    let whole = format!("{folder}{path}");
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "." => {}
            ".." => {
                if parts.len() > 1 {
                    parts.pop();
                }
            }
            part => parts.push(part),
        }
    }
    if whole.ends_with("/.") || whole.ends_with("/..") {
        parts.push("");
    }
    parts.join("/") + query
}

#[cfg(test)]
#[test]
fn references_are_seen_from_their_base() {
    for (base, reference, joined) in [
        ("http://a.test/b/c.json", "d.json", "http://a.test/b/d.json"),
        ("http://a.test/b/c.json", "/d.json", "http://a.test/d.json"),
        ("http://a.test/b/c/d", "../e/./f?q", "http://a.test/b/e/f?q"),
        ("http://a.test", "b", "http://a.test/b"),
        ("http://a.test/b", "//c.test/d", "http://c.test/d"),
        ("http://a.test/b", "urn:x:y", "urn:x:y"),
        ("urn:x:y", "z", "z"),
        ("", "item.json", "item.json"),
        ("a/b.json", "c.json", "a/c.json"),
        ("http://a.test/b", "", "http://a.test/b"),
    ] {
        assert_eq!(join(base, reference), joined, "{base} {reference}");
    }
}
