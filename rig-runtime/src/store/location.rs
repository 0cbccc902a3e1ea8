//! Where the telemetry store is: a SQLite file, or a PostgreSQL database by its URL.
//!
//! The runtime and the command line share this type, so that both show a location in the same way.
//!
//! **Invariant:** no `Display` or `Debug` form holds a user, a password or a value of the URL's query.

use std::fmt;
use std::path::{Path, PathBuf};

use super::sqlite::SqliteStore;
use super::{Store, StoreError};

/// Where the telemetry store is.
///
/// A text that begins with a scheme and `://` is a URL, any other the path of a file. Only `postgres://` and `postgresql://`
/// can be opened.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreLocation(Kind);

#[derive(Clone, PartialEq, Eq)]
enum Kind {
    File(PathBuf),
    Url(String),
}

impl StoreLocation {
    /// Returns the path, where the store is a file.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match &self.0 {
            Kind::File(path) => Some(path),
            Kind::Url(_) => None,
        }
    }

    /// Opens the store.
    pub(crate) fn open(&self) -> Result<Box<dyn Store>, StoreError> {
        match &self.0 {
            Kind::File(path) => Ok(Box::new(SqliteStore::open(path)?)),
            Kind::Url(url) if is_postgres(url) => self.open_postgres(url),
            Kind::Url(_) => Err(self.unavailable(
                "it is not the URL of a PostgreSQL database; a file is named by its path alone",
            )),
        }
    }

    #[cfg(feature = "postgres")]
    #[expect(
        clippy::unused_self,
        reason = "without the feature the error shows the location"
    )]
    fn open_postgres(&self, url: &str) -> Result<Box<dyn Store>, StoreError> {
        Ok(Box::new(super::postgres::PostgresStore::open(url)?))
    }

    #[cfg(not(feature = "postgres"))]
    fn open_postgres(&self, _: &str) -> Result<Box<dyn Store>, StoreError> {
        Err(self.unavailable(
            "this build has no PostgreSQL; turn on the feature `postgres` of `modelrig`",
        ))
    }

    fn unavailable(&self, reason: &str) -> StoreError {
        StoreError::Unavailable {
            location: self.to_string(),
            reason: reason.to_owned(),
        }
    }
}

impl<T: Into<PathBuf>> From<T> for StoreLocation {
    fn from(named: T) -> Self {
        let path = named.into();
        // A URL that is not UTF-8 is a URL all the same, and must not become a file of its name.
        let text = path.to_string_lossy();
        Self(match scheme(&text) {
            Some(_) => Kind::Url(text.into_owned()),
            None => Kind::File(path),
        })
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::File(path) => path.display().fmt(f),
            Kind::Url(url) => f.write_str(&shown(url)),
        }
    }
}

impl fmt::Debug for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreLocation({self})")
    }
}

/// Returns the scheme of a URL; `None` for the path of a file.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let is_of_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_of_scheme);
    is_scheme.then_some(scheme)
}

fn is_postgres(url: &str) -> bool {
    let names = ["postgres", "postgresql"];
    scheme(url).is_some_and(|scheme| names.iter().any(|name| scheme.eq_ignore_ascii_case(name)))
}

/// Returns what may be shown of a URL: the scheme, the hosts with their ports, and the database. Of a URL that is not
/// what a PostgreSQL client would read in one way only, it is the scheme.
pub(super) fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return "…".to_owned();
    };
    match address(rest).filter(|_| is_postgres(url)) {
        Some((hosts, database)) => format!("{scheme}://{hosts}/{database}"),
        None => format!("{scheme}://…"),
    }
}

/// Returns hosts and database of what follows the scheme. An `@` in any place but one would leave open where a password
/// ends.
fn address(rest: &str) -> Option<(&str, &str)> {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, after) = rest.split_at(end);
    if after.contains('@') {
        return None;
    }
    let hosts = match authority.split_once('@') {
        Some((_, hosts)) => hosts,
        None => authority,
    };
    let path = after.split(['?', '#']).next().unwrap_or_default();
    let database = path.strip_prefix('/').unwrap_or(path);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%$".contains(&byte);
    let is_good = database.bytes().all(is_plain) && hosts.split(',').all(is_host);
    is_good.then_some((hosts, database))
}

/// Returns whether a text is a host, with a port or without: a name, an address, or a socket's directory in
/// percent-encoding. There may be none.
fn is_host(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !text.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
    let within = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._%".contains(&byte);
    is_port
        && match within {
            Some(address) => address
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte)),
            None => host.bytes().all(is_name),
        }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_file_is_shown_and_a_url_without_its_secrets() {
        for (named, expected) in [
            (".modelrig/telemetry.db", ".modelrig/telemetry.db"),
            ("file:x.db?mode=memory", "file:x.db?mode=memory"),
            ("postgres://u:p@db.test/rows", "postgres://db.test/rows"),
            (
                "postgres://u@db.test:5433/rows?sslmode=p",
                "postgres://db.test:5433/rows",
            ),
            ("postgresql://u:p@a:1,b:2/rows", "postgresql://a:1,b:2/rows"),
            (
                "postgres://u:p@[::1]:5432/rows",
                "postgres://[::1]:5432/rows",
            ),
            ("postgres://%2Frun%2Fpg/rows", "postgres://%2Frun%2Fpg/rows"),
            ("postgres:///rows?host=/run&password=p", "postgres:///rows"),
            ("postgres://db.test", "postgres://db.test/"),
            // An `@`, `/`, `?` or `#` that is part of a password, and was not encoded.
            ("postgres://u:p@ss@db.test/rows", "postgres://…"),
            ("postgres://u:p/ss@db.test/rows", "postgres://…"),
            ("postgres://u:p@s/s@db.test/rows", "postgres://…"),
            ("postgres://u:12?ss@db.test/rows", "postgres://…"),
            ("postgres://u:p#ss@db.test/rows", "postgres://…"),
            ("postgres://u:p", "postgres://…"),
            ("postgres://db.test:port/rows", "postgres://…"),
            ("postgres://db.test/ro ws", "postgres://…"),
            ("POSTGRES://u:p@db.test/rows", "POSTGRES://db.test/rows"),
            ("mysql://u:p@db.test/rows", "mysql://…"),
        ] {
            let location = StoreLocation::from(named);
            assert_eq!(location.to_string(), expected);
            assert_eq!(
                format!("{location:?}"),
                format!("StoreLocation({expected})")
            );
            assert_eq!(location.file().is_some(), !named.contains("://"));
        }
    }

    #[test]
    fn what_no_store_is_at_is_an_error_that_shows_nothing() {
        let error = StoreLocation::from("mysql://u:s3cret@db.test/rows").open();
        let error = error.err().unwrap();
        let expected = "the telemetry store at `mysql://…` cannot be used: it is not the URL of a PostgreSQL database; a file is named by its path alone";
        assert_eq!(error.to_string(), expected);
    }

    proptest! {
        // Whatever a password holds, and wherever it stands, it is not shown.
        #[test]
        fn no_form_of_a_location_shows_a_password(
            scheme in "postgres|postgresql|POSTGRES|mysql",
            user in "[a-z@/?#:%]{0,4}",
            before in "[ -~]{0,4}",
            after in "[ -~]{0,4}",
            end in "/rows|/rows\\?sslmode=require|\\?a=b|/|",
            in_query in any::<bool>(),
        ) {
            let marker = "Xq7Zk";
            let url = match in_query {
                false => format!("{scheme}://{user}:{before}{marker}{after}@db.test:5432{end}"),
                true => format!("{scheme}://db.test/rows?user={user}&password={before}{marker}{after}"),
            };
            let location = StoreLocation::from(url.as_str());
            let shown = format!("{location} {location:?}");
            prop_assert!(!shown.contains(marker), "{}: {}", url, shown);
        }
    }
}
