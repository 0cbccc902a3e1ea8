//! Where is a provider, and with which key?
//!
//! What the builder was told wins over the environment, the environment over the provider's table row. The
//! environment is read once: for the built-in providers when the rig is built, for others when a route
//! brings them.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::sync::{Arc, PoisonError, RwLock};

use rig_spec::{PROVIDERS, Provider, Search};

use crate::key::Key;

/// Keys and addresses, as the builder was told.
#[derive(Default)]
pub(crate) struct Settings {
    /// Keys, by provider name.
    pub(crate) keys: HashMap<String, String>,
    /// Addresses, by provider name.
    pub(crate) base_urls: HashMap<String, String>,
    /// Whether the environment is left alone.
    pub(crate) ignore_env: bool,
}

/// How to reach a provider.
pub(crate) struct Host {
    /// The address, without a trailing slash.
    pub(crate) base_url: String,
    /// The key to send, `None` for a host that needs none; or why there is no usable one.
    pub(crate) key: Result<Option<Key>, String>,
}

/// Every host that was asked for so far.
pub(crate) struct Access {
    settings: Settings,
    hosts: RwLock<Vec<(&'static Provider, Arc<Host>)>>,
    searches: RwLock<Vec<(&'static Search, Arc<SearchKey>)>>,
}

/// The key of a search, `None` for one that needs none; or why there is no usable one.
pub(crate) type SearchKey = Result<Option<Key>, String>;

impl Access {
    /// Looks up the built-in providers.
    pub(crate) fn new(settings: Settings) -> Self {
        let hosts = PROVIDERS
            .into_iter()
            .map(|provider| (provider, Arc::new(settings.host(provider))));
        let hosts = RwLock::new(hosts.collect());
        Self {
            settings,
            hosts,
            searches: RwLock::default(),
        }
    }

    /// Returns how to reach a provider.
    pub(crate) fn host(&self, provider: &'static Provider) -> Arc<Host> {
        known(&self.hosts, provider, || self.settings.host(provider))
    }

    /// Returns the key of a search. The builder's name for it is `search`.
    pub(crate) fn search_key(&self, search: &'static Search) -> Arc<SearchKey> {
        let key = || self.settings.key("search", search.key_env);
        known(&self.searches, search, key)
    }
}

/// Returns the key that one call is given for a provider; or why it is not usable.
pub(crate) fn given_key(name: &str, text: &str) -> Result<Key, String> {
    usable(name, Some(text), &given(name))
}

fn given(name: &str) -> String {
    format!("the key given for `{name}`")
}

/// Returns the key of this text, which came from `source`; or why it is not usable.
fn usable(name: &str, text: Option<&str>, source: &str) -> Result<Key, String> {
    match text.and_then(Key::new) {
        Some(key) if key.is_sendable() => Ok(key),
        Some(_) => Err(format!(
            "{source} holds characters that no HTTP header can carry"
        )),
        None => Err(format!("no key for `{name}`: {source} is not set or empty")),
    }
}

/// Returns what is known of a static, and finds it out the first time.
fn known<K, V>(
    all: &RwLock<Vec<(&'static K, Arc<V>)>>,
    of: &'static K,
    find: impl FnOnce() -> V,
) -> Arc<V> {
    let read = all.read().unwrap_or_else(PoisonError::into_inner);
    let found = read.iter().find(|(known, _)| std::ptr::eq(*known, of));
    if let Some((_, value)) = found {
        return Arc::clone(value);
    }
    drop(read);
    let value = Arc::new(find());
    let mut all = all.write().unwrap_or_else(PoisonError::into_inner);
    all.push((of, Arc::clone(&value)));
    value
}

impl Settings {
    fn host(&self, provider: &Provider) -> Host {
        let told = self.base_urls.get(provider.name).cloned();
        let base_url = told
            .or_else(|| self.variable(provider.base_url_env))
            .map(|url| url.trim().to_owned())
            .filter(|url| !url.is_empty())
            .unwrap_or_else(|| provider.base_url.to_owned());
        Host {
            base_url: base_url.trim_end_matches('/').to_owned(),
            key: self.key(provider.name, provider.key_env),
        }
    }

    fn key(&self, name: &str, key_env: Option<&str>) -> Result<Option<Key>, String> {
        let (text, source) = match (self.keys.get(name), key_env) {
            (Some(text), _) => (Some(text.clone()), given(name)),
            (None, Some(variable)) => (self.variable(variable), format!("`{variable}`")),
            (None, None) => return Ok(None),
        };
        usable(name, text.as_deref(), &source).map(Some)
    }

    /// Returns an environment variable, unless it is empty or the environment is left alone.
    #[expect(
        clippy::disallowed_methods,
        reason = "the environment is read here and nowhere else"
    )]
    pub(crate) fn variable_os(&self, name: &str) -> Option<OsString> {
        if self.ignore_env {
            return None;
        }
        env::var_os(name).filter(|value| !value.is_empty())
    }

    /// Returns an environment variable; what is not UTF-8 becomes characters that no key may hold.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let value = self.variable_os(name)?;
        Some(value.to_string_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use rig_spec::{DEEPSEEK, OPENAI};

    use super::*;

    static LOCAL: Provider = Provider {
        name: "local",
        key_env: None,
        base_url: "http://127.0.0.1:8080/v1",
        base_url_env: "LOCAL_BASE_URL",
        ..OPENAI_ROW
    };
    const OPENAI_ROW: Provider = Provider {
        name: "openai",
        dialect: OPENAI.dialect,
        base_url: OPENAI.base_url,
        base_url_env: OPENAI.base_url_env,
        key_env: OPENAI.key_env,
        capabilities: OPENAI.capabilities,
        native_schema: OPENAI.native_schema,
        token_limit: OPENAI.token_limit,
        cached_prefix: None,
        cache: OPENAI.cache,
        tiers: OPENAI.tiers,
        search_fees: &[],
    };

    fn access(keys: &[(&str, &str)], base_urls: &[(&str, &str)]) -> Access {
        let owned = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        Access::new(Settings {
            keys: owned(keys),
            base_urls: owned(base_urls),
            ignore_env: true,
        })
    }

    // R5: a key is trimmed; none, an empty one and one that cannot be sent are told apart by the message.
    #[test]
    fn a_key_is_usable_or_the_message_names_its_source() {
        let key = |text: &str| access(&[("openai", text)], &[]).host(&OPENAI).key.clone();
        for text in ["sk-1", " sk-1\n", "sk-1\r\n"] {
            assert_eq!(key(text).unwrap().unwrap().reveal(), "sk-1");
        }
        for text in ["sk\n1", "sk-é"] {
            let message = key(text).unwrap_err();
            assert_eq!(
                message,
                "the key given for `openai` holds characters that no HTTP header can carry"
            );
        }
        assert!(key(" \n").is_err());
        let message = access(&[], &[]).host(&DEEPSEEK).key.clone().unwrap_err();
        assert_eq!(
            message,
            "no key for `deepseek`: `DEEPSEEK_API_KEY` is not set or empty"
        );
    }

    #[test]
    fn a_host_without_a_key_variable_needs_no_key() {
        assert_eq!(access(&[], &[]).host(&LOCAL).key, Ok(None));
        assert!(
            access(&[("local", "k")], &[])
                .host(&LOCAL)
                .key
                .clone()
                .unwrap()
                .is_some()
        );
    }

    #[test]
    fn an_address_is_the_builders_or_the_rows_without_trailing_slashes() {
        let url = |told: &[(&str, &str)]| access(&[], told).host(&LOCAL).base_url.clone();
        assert_eq!(url(&[]), "http://127.0.0.1:8080/v1");
        assert_eq!(url(&[("local", " http://host/v2// ")]), "http://host/v2");
        assert_eq!(url(&[("local", "")]), "http://127.0.0.1:8080/v1");
    }

    #[test]
    fn a_host_is_looked_up_once() {
        let access = access(&[], &[]);
        assert!(Arc::ptr_eq(&access.host(&LOCAL), &access.host(&LOCAL)));
    }
}
