//! How does a host write its answer? In its own dialect, whole or as a stream; by hand, since there are a million of
//! them.

use std::time::Duration;

use rig::testing::Scripted;

use super::case::{Reply, What};
use super::world::{CUT, GOOD, UNLIKED};

/// What there is to know of how an answer is written.
pub(super) struct Written {
    /// Whose request it answers.
    pub(super) run: usize,
    pub(super) streams: bool,
    /// Input and output, if the host says them.
    pub(super) tokens: Option<(u64, u64)>,
}

/// Writes a reply in the dialect of who is asked. Whatever is no error finds something, if it is a search.
pub(super) fn scripted(reply: Reply, url: &str, written: Written) -> Scripted {
    let ms = Duration::from_millis;
    let answered = |content: &str, finish: Finish| {
        let answer = Answer {
            content,
            finish,
            parts: reply.contents(),
            tokens: written.tokens,
            searches: reply.searches,
            tier: reply.tier,
        };
        let is_messages = url.ends_with("/messages");
        let is_gemini = url.contains("/models/");
        match () {
            () if written.streams && is_messages => in_pieces(reply, answer.told()),
            () if written.streams && is_gemini => in_pieces(reply, answer.piped()),
            () if written.streams => in_pieces(reply, answer.chunked()),
            () if is_messages => Scripted::status(200, answer.messages()),
            () if is_gemini => Scripted::status(200, answer.gemini()),
            () => Scripted::status(200, answer.chat()),
        }
    };
    let scripted = match reply.what {
        What::Status { status, code, asks } => {
            let error = format!(r#"{{"error":{{"message":"it says no","code":"{code}"}}}}"#);
            let scripted = Scripted::status(status, error);
            match asks {
                Some(seconds) => scripted.header("Retry-After", seconds.to_string()),
                None => scripted,
            }
        }
        What::Stale => {
            let error = r#"{"error":{"code":403,"message":"CachedContent not found (or permission denied)","status":"PERMISSION_DENIED"}}"#;
            Scripted::status(403, error)
        }
        What::Fault => Scripted::fault("connection reset"),
        What::Unsent => Scripted::unsent("connection refused"),
        _ if url.starts_with("http://search.test") => {
            let found = r#"{"results":[{"title":"T","url":"http://t.test","content":"It is."}]}"#;
            Scripted::status(200, found)
        }
        What::Good | What::LeavesBeforeHead { .. } | What::LeavesBeforeEnd { .. } => {
            answered(GOOD[written.run], Finish::Stop)
        }
        What::Unliked => answered(UNLIKED, Finish::Stop),
        What::Bad => answered(r#"{"answer":7}"#, Finish::Stop),
        What::Prose => answered("There is no JSON in it.", Finish::Stop),
        What::Cut { whole: false } => answered(&format!(r#"{{"answer":"{CUT}"#), Finish::Length),
        What::Cut { whole: true } => answered(&format!(r#"{{"answer":"{CUT}"}}"#), Finish::Length),
        What::Refusal => answered("", Finish::Filter),
        What::Tool => answered(r#"{"case":7}"#, Finish::Call),
        What::BadTool => answered(r#"{"case":"7"}"#, Finish::Call),
    };
    let is_streamed = written.streams && reply.what.is_answer();
    let scripted = scripted.after(ms(reply.head_ms));
    if is_streamed {
        scripted
    } else {
        scripted.body_after(ms(reply.body_ms))
    }
}

/// A streamed answer.
struct Streamed {
    /// What comes before any content.
    begin: String,
    parts: Vec<String>,
    /// What says how it ended.
    finish: String,
    /// What comes after that.
    mark: String,
}

/// Streams an answer with the reply's silences.
fn in_pieces(reply: Reply, answer: Streamed) -> Scripted {
    const ALIVE: &str = ": keep-alive\n\n";
    let mut scripted = Scripted::stream();
    let mut add = |after, bytes| {
        let after = Duration::from_millis(after);
        scripted = std::mem::replace(&mut scripted, Scripted::stream()).piece(after, bytes);
    };
    // What comes with the next piece, and how long after what came last.
    let mut next = answer.begin;
    let mut wait = reply.body_ms;
    let pauses = reply.pauses;
    let count = answer.parts.len();
    let mark = if reply.breaks {
        String::new()
    } else {
        answer.mark
    };
    let ends = [answer.finish, mark];
    for (at, piece) in answer.parts.into_iter().chain(ends).enumerate() {
        if at > 0 {
            wait = match at.checked_sub(count) {
                None => pauses[at],
                Some(0) => pauses[0],
                Some(_) => reply.tail_ms,
            };
        }
        if reply.keeps_alive {
            add(wait / 2, format!("{ALIVE}{}", std::mem::take(&mut next)));
            wait -= wait / 2;
        }
        add(wait, std::mem::take(&mut next) + &piece);
    }
    if reply.breaks {
        scripted.cut("connection reset")
    } else {
        scripted
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Finish {
    Stop,
    Length,
    Filter,
    /// It calls `lookup`, with the content as its arguments.
    Call,
}

struct Answer<'a> {
    content: &'a str,
    finish: Finish,
    /// The pieces that the content comes in.
    parts: usize,
    tokens: Option<(u64, u64)>,
    searches: u64,
    tier: Option<&'static str>,
}

impl Answer<'_> {
    fn chat(&self) -> String {
        let reason = self.reason(["stop", "length", "content_filter", "tool_calls"]);
        let message = self.chat_message(self.content);
        let (usage, tier) = (self.chat_usage(), self.chat_tier());
        format!(
            r#"{{"choices":[{{"message":{message},"finish_reason":"{reason}"}}]{usage}{tier}}}"#
        )
    }

    fn chunked(&self) -> Streamed {
        let reason = self.reason(["stop", "length", "content_filter", "tool_calls"]);
        let (usage, tier) = (self.chat_usage(), self.chat_tier());
        let chunk =
            |delta: String| format!("data: {{\"choices\":[{{\"delta\":{delta}}}]{tier}}}\n\n");
        let parts = self.parts().into_iter();
        Streamed {
            begin: chunk(r#"{"role":"assistant","content":""}"#.to_owned()),
            parts: parts.map(|part| chunk(self.chat_message(&part))).collect(),
            finish: format!(
                "data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]{tier}}}\n\n"
            ),
            mark: format!("data: {{\"choices\":[]{usage}{tier}}}\n\ndata: [DONE]\n\n"),
        }
    }

    fn chat_message(&self, content: &str) -> String {
        let text = quoted(content);
        if self.finish == Finish::Call {
            format!(
                r#"{{"content":null,"tool_calls":[{{"index":0,"id":"t1","type":"function","function":{{"name":"lookup","arguments":{text}}}}}]}}"#
            )
        } else {
            format!(r#"{{"content":{text}}}"#)
        }
    }

    fn chat_usage(&self) -> String {
        let usage = |(input, output)| {
            format!(r#","usage":{{"prompt_tokens":{input},"completion_tokens":{output}}}"#)
        };
        self.tokens.map_or_else(String::new, usage)
    }

    fn chat_tier(&self) -> String {
        let tier = |tier| format!(r#","service_tier":"{tier}""#);
        self.tier.map_or_else(String::new, tier)
    }

    fn messages(&self) -> String {
        let reason = self.reason(["end_turn", "max_tokens", "refusal", "tool_use"]);
        let content = self.content;
        let block = if self.finish == Finish::Call {
            format!(r#"{{"type":"tool_use","id":"t1","name":"lookup","input":{content}}}"#)
        } else {
            format!(r#"{{"type":"text","text":{}}}"#, quoted(content))
        };
        let usage = self.tokens.map_or_else(String::new, |(input, output)| {
            let searches = self.messages_searches();
            format!(r#""input_tokens":{input},"output_tokens":{output},{searches}"#)
        });
        let usage = self.usage(usage, "service_tier");
        format!(
            r#"{{"type":"message","content":[{block}],"stop_reason":"{reason}","usage":{usage}}}"#
        )
    }

    fn told(&self) -> Streamed {
        let reason = self.reason(["end_turn", "max_tokens", "refusal", "tool_use"]);
        let is_call = self.finish == Finish::Call;
        let block = if is_call {
            r#"{"type":"tool_use","id":"t1","name":"lookup","input":{}}"#
        } else {
            r#"{"type":"text","text":""}"#
        };
        // Who declines says nothing: there is no block.
        let (opens, closes) = if self.parts == 0 {
            (String::new(), "")
        } else {
            (
                format!(
                    "data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{block}}}\n\n"
                ),
                "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
            )
        };
        let delta = |part: &String| {
            let text = quoted(part);
            let delta = if is_call {
                format!(r#"{{"type":"input_json_delta","partial_json":{text}}}"#)
            } else {
                format!(r#"{{"type":"text_delta","text":{text}}}"#)
            };
            format!("data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}\n\n")
        };
        let mut parts: Vec<_> = self.parts().iter().map(delta).collect();
        if let Some(first) = parts.first_mut() {
            first.insert_str(0, &opens);
        }
        // The output is that of the first token.
        let input = self.tokens.map_or_else(String::new, |(input, _)| {
            format!(r#""input_tokens":{input},"output_tokens":1"#)
        });
        let input = self.usage(input, "service_tier");
        let output = self.tokens.map_or_else(String::new, |(_, output)| {
            let searches = self.messages_searches();
            format!(r#","usage":{{"output_tokens":{output},{searches}}}"#)
        });
        Streamed {
            begin: format!(
                "data: {{\"type\":\"message_start\",\"message\":{{\"usage\":{input}}}}}\n\n"
            ),
            parts,
            finish: format!(
                "{closes}data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"{reason}\"}}{output}}}\n\n"
            ),
            mark: "data: {\"type\":\"message_stop\"}\n\n".to_owned(),
        }
    }

    fn messages_searches(&self) -> String {
        let searches = self.searches;
        format!(r#""server_tool_use":{{"web_search_requests":{searches}}}"#)
    }

    fn gemini(&self) -> String {
        let part = match self.finish {
            Finish::Filter => String::new(),
            _ => self.gemini_part(self.content),
        };
        self.gemini_piece(&part, true)
    }

    /// Each piece says what was used so far.
    fn piped(&self) -> Streamed {
        let piece = |part: &str, is_last| {
            let piece = self.gemini_piece(part, is_last);
            format!("data: {piece}\n\n")
        };
        let parts = self.parts().into_iter();
        Streamed {
            begin: String::new(),
            parts: parts
                .map(|part| piece(&self.gemini_part(&part), false))
                .collect(),
            finish: piece("", true),
            mark: String::new(),
        }
    }

    fn gemini_part(&self, content: &str) -> String {
        if self.finish == Finish::Call {
            format!(r#"{{"functionCall":{{"id":"t1","name":"lookup","args":{content}}}}}"#)
        } else {
            format!(r#"{{"text":{}}}"#, quoted(content))
        }
    }

    fn gemini_piece(&self, part: &str, is_last: bool) -> String {
        let reason = self.reason(["STOP", "MAX_TOKENS", "SAFETY", "STOP"]);
        let finish = if is_last {
            let queries: Vec<_> = (0..self.searches).map(|at| format!("\"q{at}\"")).collect();
            let queries = queries.join(",");
            format!(
                r#","finishReason":"{reason}","groundingMetadata":{{"webSearchQueries":[{queries}]}}"#
            )
        } else {
            String::new()
        };
        let usage = self.tokens.map_or_else(String::new, |(input, output)| {
            let output = if is_last { output } else { 1 };
            format!(r#""promptTokenCount":{input},"candidatesTokenCount":{output}"#)
        });
        let usage = self.usage(usage, "serviceTier");
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{part}]}}{finish}}}],"usageMetadata":{usage}}}"#
        )
    }

    fn reason(&self, of: [&'static str; 4]) -> &'static str {
        match self.finish {
            Finish::Stop => of[0],
            Finish::Length => of[1],
            Finish::Filter => of[2],
            Finish::Call => of[3],
        }
    }

    /// An object with these counts and the tier, as far as they are told.
    fn usage(&self, counts: String, name: &str) -> String {
        let tier = self.tier.map(|tier| format!(r#""{name}":"{tier}""#));
        let told = [Some(counts).filter(|counts| !counts.is_empty()), tier];
        let told: Vec<_> = told.into_iter().flatten().collect();
        format!("{{{}}}", told.join(","))
    }

    fn parts(&self) -> Vec<String> {
        if self.parts == 0 {
            return Vec::new();
        }
        let length = self.content.len().div_ceil(self.parts);
        let parts = self.content.as_bytes().chunks(length);
        parts
            .map(|part| String::from_utf8(part.to_vec()).unwrap())
            .collect()
    }
}

fn quoted(content: &str) -> String {
    format!("\"{}\"", content.replace('"', "\\\""))
}
