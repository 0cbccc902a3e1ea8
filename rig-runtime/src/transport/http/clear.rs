//! Warns of keys that are sent unencrypted.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use reqwest::Url;

/// Headers that hold no secret. Any other may be a key.
const PUBLIC: [&str; 4] = [
    "accept",
    "anthropic-version",
    "content-encoding",
    "content-type",
];

/// The hosts that were warned of.
static WARNED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Warns if a key goes to another machine over plain HTTP, once for each host and process.
pub(super) fn warn(url: &Url, headers: &[(&'static str, String)]) {
    let Some(host) = exposed(url, headers) else {
        return;
    };
    let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
    if warned.insert(host.to_owned()) {
        tracing::warn!(
            host,
            "a key is sent unencrypted: the address begins with `http://`"
        );
    }
}

/// Returns the host that is sent a key over plain HTTP; `None` if there is no key, or the host is this machine.
fn exposed<'a>(url: &'a Url, headers: &[(&'static str, String)]) -> Option<&'a str> {
    let has_key = headers.iter().any(|(name, _)| !PUBLIC.contains(name));
    let host = url.host_str()?;
    (url.scheme() == "http" && has_key && !is_this_machine(host)).then_some(host)
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(address) => address.is_loopback() || address.is_unspecified(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;
    use crate::transport::http::HttpTransport;
    use crate::transport::{Request, Transport};

    const KEY: (&str, &str) = ("x-api-key", "secret-1");
    const NO_KEY: (&str, &str) = ("content-type", "application/json");

    fn warned_of(url: &str, (name, value): (&'static str, &str)) -> bool {
        exposed(&Url::parse(url).unwrap(), &[(name, value.to_owned())]).is_some()
    }

    #[test]
    fn a_key_is_exposed_on_its_way_to_another_machine_over_plain_http() {
        for url in [
            "http://models.test/v1",
            "http://10.0.0.7:8080/v1",
            "http://[2001:db8::7]/v1",
            "http://localhost.models.test/v1",
        ] {
            assert!(warned_of(url, KEY), "{url}");
            assert!(!warned_of(url, NO_KEY), "{url}");
            assert!(!warned_of(&url.replacen("http", "https", 1), KEY), "{url}");
        }
        for url in [
            "http://localhost:8080/v1",
            "http://models.localhost/v1",
            "http://127.0.0.1:8080/v1",
            "http://127.8.0.1/v1",
            "http://[::1]:8080/v1",
            "http://0.0.0.0:8080/v1",
        ] {
            assert!(!warned_of(url, KEY), "{url}");
        }
    }

    /// Keeps every line.
    struct Lines(Arc<Mutex<Vec<String>>>);

    struct Line(String);

    impl Visit for Line {
        fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
            self.0 += &format!("{}={value:?} ", field.name());
        }
    }

    impl Subscriber for Lines {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            let mut line = Line(format!("{} ", event.metadata().level()));
            event.record(&mut line);
            self.0.lock().unwrap().push(line.0);
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn a_host_is_warned_of_once_and_the_key_is_not_shown() {
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let transport = HttpTransport::new().unwrap();
        // Too long for a name, so that no resolver is asked.
        let [one, two] = ["one", "two"].map(|name| format!("{}.{name}", "a".repeat(64)));
        tracing::subscriber::with_default(Lines(Arc::clone(&lines)), || {
            for url in [
                format!("http://{one}/v1"),
                format!("http://{one}/v2"),
                format!("http://{two}/v1"),
            ] {
                let headers = vec![(KEY.0, KEY.1.to_owned())];
                let request = Request::new(url, headers, Vec::new());
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .build()
                    .unwrap();
                let sent = runtime.block_on(transport.send(request));
                assert!(sent.is_err());
            }
        });
        let lines = lines.lock().unwrap();
        let warnings: Vec<_> = lines.iter().filter(|line| line.contains("host=")).collect();
        assert_eq!(warnings.len(), 2, "{lines:?}");
        for (line, host) in warnings.into_iter().zip([one, two]) {
            assert!(line.starts_with("WARN ") && line.contains(&host), "{line}");
        }
        assert!(!lines.concat().contains("secret"), "{lines:?}");
    }
}
