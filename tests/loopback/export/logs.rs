//! What has been logged in this process?

use std::fmt::{Debug, Write};
use std::sync::{LazyLock, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

static LINES: Mutex<String> = Mutex::new(String::new());

static LISTENING: LazyLock<()> = LazyLock::new(|| {
    tracing::subscriber::set_global_default(Listener).unwrap();
});

/// Begins to listen, the first time.
pub(super) fn listen() {
    LazyLock::force(&LISTENING);
}

/// Returns every line since somebody listens.
pub(super) fn lines() -> String {
    LINES.lock().unwrap().clone()
}

/// Keeps every line of every level.
struct Listener;

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        attributes.record(&mut Line(&mut LINES.lock().unwrap()));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Line(&mut LINES.lock().unwrap()));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut lines = LINES.lock().unwrap();
        event.record(&mut Line(&mut lines));
        lines.push('\n');
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
