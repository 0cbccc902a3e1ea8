//! What a call runs in: no network, no keys of anybody, no files, no waiting.

use rig::Rig;
use rig::testing::{ManualClock, MemoryStore, Scripted, ScriptedTransport};
use serde_json::{Value, json};

/// Every key holds it, so that no text may.
pub const KEY_MARKER: &str = "OPEN-SESAME";

/// A rig and the handles on what it stands on.
pub struct World {
    /// The rig.
    pub rig: Rig,
    /// What is asked, and answers.
    pub transport: ScriptedTransport,
    /// The time.
    pub clock: ManualClock,
    /// The rows.
    pub store: MemoryStore,
}

impl World {
    /// Returns a world with keys for these providers, parted by spaces, and nothing to answer yet.
    #[must_use]
    pub fn with_keys(providers: &str) -> Self {
        let clock = ManualClock::new();
        let transport = ScriptedTransport::new(&clock);
        let store = MemoryStore::default();
        let builder = providers
            .split_whitespace()
            .fold(Rig::builder().ignore_env(), |builder, provider| {
                builder.key(provider, format!("{KEY_MARKER}-{provider}"))
            });
        let rig = builder
            .transport(transport.clone())
            .store(store.clone())
            .clock(clock.clone())
            .build()
            .unwrap();
        Self {
            rig,
            transport,
            clock,
            store,
        }
    }

    /// Adds answers to the script.
    pub fn push(&self, script: impl IntoIterator<Item = Scripted>) {
        script
            .into_iter()
            .for_each(|reply| self.transport.push(reply));
    }
}

/// Replies with 200 and this answer, as the messages dialect writes it; it used 100 tokens in, 30 more from a
/// cache, and 20 out.
#[must_use]
pub fn messages_reply(answer: &str) -> Scripted {
    let body: Value = json!({
        "type": "message",
        "role": "assistant",
        "content": [{ "type": "text", "text": answer }],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": 100,
            "cache_read_input_tokens": 30,
            "output_tokens": 20,
            "service_tier": "standard",
        },
    });
    Scripted::status(200, body.to_string())
}
