//! Which tags does a call lack that its project requires?
//!
//! A missing one is warned of and fails nothing: once per process, route and key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use rig_spec::Route;

/// What was warned of: route and key.
static WARNED: Mutex<BTreeSet<(&str, &str)>> = Mutex::new(BTreeSet::new());

/// Warns of every required dimension that the tags lack, unless it was warned of before.
pub(crate) fn warn_of_missing(route: &'static Route, tags: &BTreeMap<String, String>) {
    for key in missing(route, tags) {
        let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.insert((route.name, key)) {
            tracing::warn!(
                route = route.name,
                dimension = key,
                "a call lacks a tag that `rig.yaml` requires"
            );
        }
    }
}

fn missing(
    route: &'static Route,
    tags: &BTreeMap<String, String>,
) -> impl Iterator<Item = &'static str> {
    let required = route.project.dimensions.iter();
    let required = required.filter(|dimension| dimension.required);
    required
        .map(|dimension| dimension.key)
        .filter(|key| !tags.contains_key(*key))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use rig_spec::{Dimension, Project};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;

    static PROJECT: Project = Project {
        name: Some("desk"),
        dimensions: &[
            Dimension {
                key: "customer",
                required: true,
            },
            Dimension {
                key: "region",
                required: false,
            },
            Dimension {
                key: "desk",
                required: true,
            },
        ],
    };
    static ROUTE: Route = Route {
        name: "dimensions-a",
        project: &PROJECT,
        ..Route::BLANK
    };
    static OTHER: Route = Route {
        name: "dimensions-b",
        project: &PROJECT,
        ..Route::BLANK
    };

    fn tags(keys: &[&str]) -> BTreeMap<String, String> {
        let pairs = keys.iter().map(|key| ((*key).to_owned(), String::new()));
        pairs.collect()
    }

    #[test]
    fn only_required_keys_are_missed() {
        let missing = |keys| missing(&ROUTE, &tags(keys)).collect::<Vec<_>>();
        assert_eq!(missing(&[]), ["customer", "desk"]);
        assert_eq!(missing(&["desk", "other"]), ["customer"]);
        assert_eq!(missing(&["desk", "customer"]), [""; 0]);
    }

    /// Counts warnings.
    struct Counter(Arc<AtomicU32>);

    impl Subscriber for Counter {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            if event.metadata().level() == &tracing::Level::WARN {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn a_missing_key_is_warned_of_once_per_route() {
        let count = Arc::new(AtomicU32::new(0));
        tracing::subscriber::with_default(Counter(Arc::clone(&count)), || {
            let warned = |route, keys| {
                warn_of_missing(route, &tags(keys));
                count.swap(0, Ordering::SeqCst)
            };
            assert_eq!(warned(&ROUTE, &["customer", "desk"]), 0);
            assert_eq!(warned(&ROUTE, &["desk"]), 1);
            assert_eq!(warned(&ROUTE, &[]), 1);
            assert_eq!(warned(&ROUTE, &[]), 0);
            assert_eq!(warned(&OTHER, &[]), 2);
        });
    }
}
