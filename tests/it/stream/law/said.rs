//! What does a host answer, and how does it send that, whole or as a stream?

use std::time::Duration;

use proptest::prelude::*;
use rig::testing::Scripted;
use serde_json::{Value, json};
use tests::events_of;

use crate::{BAD, GOOD};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Dialect {
    Chat,
    Messages,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    /// A text and how it ended.
    Text(&'static str, End),
    /// A call of a tool, beside a word.
    Calls(&'static str, Value),
    /// An error under a good status.
    Error,
    /// No more than a part of an answer.
    Part,
    /// A status that is a failure.
    Status(u16),
    /// No response.
    Fault,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    Stop,
    Length,
    Refusal,
}

/// How the connection of a streamed answer ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Close {
    /// With the dialect's end mark.
    Marked,
    /// Without it.
    Closed,
    Reset,
    /// Not at all.
    LeftOpen,
}

/// How long an answer that has said how it ended is waited for, as `docs/streaming.md` says.
pub(super) const LINGER: Duration = Duration::from_millis(1_500);

/// What keeps a connection alive, and is not content.
const KEEP_ALIVES: [&str; 8] = [
    ": alive\n\n",
    "data: : alive\n\n",
    "data: ping\n\n",
    "data: null\n\n",
    "data: \"\"\n\n",
    "data: {}\n\n",
    "event: ping\ndata: ping 2026-01-01\n\n",
    "data: {\"type\":\"ping\"}\n\n",
];

/// What a host does with a request: it waits, and says something.
#[derive(Clone, Debug)]
pub(super) struct Said {
    what: What,
    pub(super) close: Close,
    head_after: Duration,
    body_after: Duration,
    /// Picks the pieces in which it is streamed.
    seed: u64,
}

pub(super) fn said() -> impl Strategy<Value = Said> {
    let text = prop_oneof![
        4 => Just(GOOD),
        3 => Just(BAD),
        1 => Just("No."),
        1 => Just(""),
        1 => Just("```json\n{\"verdict\":\"no\",\"because\":\"ä\u{1f980}\",\"also\":\"x\"}\n```"),
    ];
    let end = prop_oneof![6 => Just(End::Stop), 1 => Just(End::Length), 1 => Just(End::Refusal)];
    let call = prop_oneof![
        Just(("lookup", json!({ "case": 7 }))),
        Just(("lookup", json!({ "case": "seven" }))),
        Just(("now", json!({}))),
        Just(("unknown", json!({}))),
    ];
    let what = prop_oneof![
        8 => (text, end).prop_map(|(text, end)| What::Text(text, end)),
        2 => call.prop_map(|(name, arguments)| What::Calls(name, arguments)),
        1 => Just(What::Error),
        1 => Just(What::Part),
        2 => prop_oneof![Just(429), Just(500), Just(400), Just(401)].prop_map(What::Status),
        1 => Just(What::Fault),
    ];
    let ms =
        || prop_oneof![3 => 0..400_u64, 1 => 5_000..12_000_u64].prop_map(Duration::from_millis);
    let close = prop_oneof![
        3 => Just(Close::Marked),
        1 => Just(Close::Closed),
        1 => Just(Close::Reset),
        1 => Just(Close::LeftOpen),
    ];
    let said = (what, close, ms(), ms(), any::<u64>());
    said.prop_map(|(what, close, head_after, body_after, seed)| Said {
        // Only answers have a finish reason. One that comes late could run out of its time while it is left open.
        close: match what {
            What::Text(..) | What::Calls(..) if head_after + body_after < LINGER => close,
            _ => Close::Marked,
        },
        what,
        head_after,
        body_after,
        seed,
    })
}

impl Said {
    pub(super) fn whole(&self, dialect: Dialect) -> Scripted {
        let reply = match &self.what {
            What::Fault => Scripted::fault("connection refused"),
            What::Status(status) => Scripted::status(*status, self.body(dialect)),
            What::Part => {
                let body = self.body(dialect);
                let part = body[..body.len() / 2].to_owned();
                let reply = Scripted::stream().piece(Duration::ZERO, part);
                reply.cut("the connection was reset")
            }
            What::Text(..) | What::Calls(..) | What::Error => {
                Scripted::status(200, self.body(dialect))
            }
        };
        let lingers = self.close == Close::LeftOpen;
        let body_after = self.body_after + if lingers { LINGER } else { Duration::ZERO };
        reply.after(self.head_after).body_after(body_after)
    }

    pub(super) fn streamed(&self, dialect: Dialect) -> Scripted {
        let is_stream = !matches!(self.what, What::Fault | What::Status(_));
        if !is_stream {
            return self.whole(dialect);
        }
        let mut events = events_of(&self.body(dialect));
        if let What::Part = self.what {
            events.truncate(events.len() / 2);
        }
        let mut seed = self.seed;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        if self.close != Close::Marked {
            let last = events.pop().unwrap();
            // The chat dialect's last event has the usage in front of the mark.
            events.push(last.replace("data: [DONE]\n\n", ""));
            events.retain(|event| !event.starts_with("event: message_stop"));
        }
        for at in (0..events.len()).rev() {
            if random(4) == 0 {
                let alive = KEEP_ALIVES[random(KEEP_ALIVES.len())];
                events.insert(at, alive.to_owned());
            }
        }
        let events = events.concat();
        // What comes after the finish reason is waited for a little only.
        let finish = events.rfind("finish_reason");
        let finish = finish.or_else(|| events.rfind("event: message_delta"));
        let longest = [1, 3, 40, 400, 4_000][random(5)];
        let (mut rest, mut left) = (events.as_bytes(), self.body_after);
        let mut reply = Scripted::stream().after(self.head_after);
        while !rest.is_empty() {
            let (piece, more) = rest.split_at((1 + random(longest)).min(rest.len()));
            let has_finish = finish.is_some_and(|at| events.len() - more.len() > at);
            // All of the time has passed when the finish reason, or the last piece, is there.
            let after = if more.is_empty() || has_finish {
                left
            } else {
                left.mul_f64(random(4) as f64 / 8.0)
            };
            let after = Duration::from_millis(after.as_millis() as u64);
            left -= after;
            reply = reply.piece(after, piece);
            rest = more;
        }
        match (&self.what, self.close) {
            (What::Part, _) | (_, Close::Reset) => reply.cut("the connection was reset"),
            (_, Close::LeftOpen) => reply.piece(Duration::from_secs(600), "\n"),
            (_, Close::Marked | Close::Closed) => reply,
        }
    }

    fn body(&self, dialect: Dialect) -> String {
        let (text, end, call) = match &self.what {
            What::Text(text, end) => (*text, *end, None),
            What::Calls(name, arguments) => ("Hm.", End::Stop, Some((name, arguments))),
            What::Part => (GOOD, End::Stop, None),
            What::Error | What::Status(_) | What::Fault => {
                let error = json!({ "type": "overloaded_error", "message": "Overloaded" });
                return json!({ "error": error }).to_string();
            }
        };
        let calls = call.map(|(name, arguments)| match dialect {
            Dialect::Chat => {
                let function = json!({ "name": name, "arguments": arguments.to_string() });
                json!({ "id": "c1", "function": function })
            }
            Dialect::Messages => {
                json!({ "type": "tool_use", "id": "c1", "name": name, "input": arguments })
            }
        });
        let body = match dialect {
            Dialect::Chat => json!({
                "choices": [{
                    "message": { "content": text, "tool_calls": Vec::from_iter(calls) },
                    "finish_reason": match end {
                        End::Stop => "stop",
                        End::Length => "length",
                        End::Refusal => "content_filter",
                    },
                }],
                "service_tier": "default",
                "usage": { "prompt_tokens": 90, "completion_tokens": 9, "total_tokens": 99 },
            }),
            Dialect::Messages => {
                let text = json!({ "type": "text", "text": text });
                json!({
                    "content": Vec::from_iter([text].into_iter().chain(calls)),
                    "stop_reason": match end {
                        End::Stop => "end_turn",
                        End::Length => "max_tokens",
                        End::Refusal => "refusal",
                    },
                    "usage": {
                        "input_tokens": 60,
                        "cache_creation_input_tokens": 30,
                        "output_tokens": 9,
                        "service_tier": "standard",
                    },
                })
            }
        };
        body.to_string()
    }
}
