//! How does a host write its answer? In its own dialect, whole or as a stream; by hand, since there are a million of
//! them.

use std::time::Duration;

use rig::testing::Scripted;

use super::case::{Reply, What, tokens};
use super::world::{CUT, GOOD, UNLIKED};

/// Writes a reply in the dialect of who is asked. Whatever is no error finds something, if it is a search.
pub(super) fn scripted(reply: Reply, url: &str, streams: bool, number: usize) -> Scripted {
    let answered = |content: &str, finish: Finish| {
        let answer = Answer {
            text: format!("\"{}\"", content.replace('"', "\\\"")),
            content,
            finish,
            tokens: reply.usage.then(|| tokens(number)),
        };
        let written = match () {
            () if url.ends_with("/messages") => answer.messages(streams),
            () if url.contains("/models/") => answer.gemini(streams),
            () => answer.chat(streams),
        };
        Scripted::status(200, written)
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
        _ if url.starts_with("http://search.test") => {
            let found = r#"{"results":[{"title":"T","url":"http://t.test","content":"It is."}]}"#;
            Scripted::status(200, found)
        }
        What::Good | What::LeavesBeforeHead { .. } | What::LeavesBeforeEnd { .. } => {
            answered(GOOD, Finish::Stop)
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
    let ms = Duration::from_millis;
    scripted
        .after(ms(reply.head_ms))
        .body_after(ms(reply.body_ms))
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
    /// The content as a JSON string.
    text: String,
    finish: Finish,
    /// Input and output, if the host says them.
    tokens: Option<(u64, u64)>,
}

impl Answer<'_> {
    fn chat(&self, streams: bool) -> String {
        let (text, is_call) = (&self.text, self.finish == Finish::Call);
        let reason = match self.finish {
            Finish::Stop => "stop",
            Finish::Length => "length",
            Finish::Filter => "content_filter",
            Finish::Call => "tool_calls",
        };
        let message = if is_call {
            format!(
                r#"{{"content":null,"tool_calls":[{{"index":0,"id":"t1","type":"function","function":{{"name":"lookup","arguments":{text}}}}}]}}"#
            )
        } else {
            format!(r#"{{"content":{text}}}"#)
        };
        let usage = self.usage(r#","usage":{"prompt_tokens":IN,"completion_tokens":OUT}"#);
        if streams {
            format!(
                "data: {{\"choices\":[{{\"delta\":{message}}}]}}\n\ndata: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\ndata: {{\"choices\":[]{usage}}}\n\ndata: [DONE]\n\n"
            )
        } else {
            format!(r#"{{"choices":[{{"message":{message},"finish_reason":"{reason}"}}]{usage}}}"#)
        }
    }

    fn messages(&self, streams: bool) -> String {
        let (content, text) = (self.content, &self.text);
        let reason = match self.finish {
            Finish::Stop => "end_turn",
            Finish::Length => "max_tokens",
            Finish::Filter => "refusal",
            Finish::Call => "tool_use",
        };
        let (block, delta) = if self.finish == Finish::Call {
            (
                format!(r#"{{"type":"tool_use","id":"t1","name":"lookup","input":{content}}}"#),
                format!(r#"{{"type":"input_json_delta","partial_json":{text}}}"#),
            )
        } else {
            (
                format!(r#"{{"type":"text","text":{text}}}"#),
                format!(r#"{{"type":"text_delta","text":{text}}}"#),
            )
        };
        if !streams {
            let usage = self.usage(r#","usage":{"input_tokens":IN,"output_tokens":OUT}"#);
            return format!(
                r#"{{"type":"message","content":[{block}],"stop_reason":"{reason}"{usage}}}"#
            );
        }
        let begun = if self.finish == Finish::Call {
            r#"{"type":"tool_use","id":"t1","name":"lookup","input":{}}"#
        } else {
            r#"{"type":"text","text":""}"#
        };
        let input = self.usage(r#""usage":{"input_tokens":IN,"output_tokens":1}"#);
        let output = self.usage(r#","usage":{"output_tokens":OUT}"#);
        // Who declines says nothing: there is no block.
        let block = if self.finish == Finish::Filter {
            String::new()
        } else {
            format!(
                "data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{begun}}}\n\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}\n\ndata: {{\"type\":\"content_block_stop\",\"index\":0}}\n\n"
            )
        };
        format!(
            "data: {{\"type\":\"message_start\",\"message\":{{{input}}}}}\n\n{block}data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"{reason}\"}}{output}}}\n\ndata: {{\"type\":\"message_stop\"}}\n\n"
        )
    }

    fn gemini(&self, streams: bool) -> String {
        let (content, text) = (self.content, &self.text);
        let reason = match self.finish {
            Finish::Stop | Finish::Call => "STOP",
            Finish::Length => "MAX_TOKENS",
            Finish::Filter => "SAFETY",
        };
        let part = match self.finish {
            Finish::Call => {
                format!(r#"{{"functionCall":{{"id":"t1","name":"lookup","args":{content}}}}}"#)
            }
            Finish::Filter => String::new(),
            Finish::Stop | Finish::Length => format!(r#"{{"text":{text}}}"#),
        };
        let usage =
            self.usage(r#","usageMetadata":{"promptTokenCount":IN,"candidatesTokenCount":OUT}"#);
        let whole = format!(
            r#"{{"candidates":[{{"content":{{"parts":[{part}]}},"finishReason":"{reason}"}}]{usage}}}"#
        );
        if streams {
            format!("data: {whole}\n\n")
        } else {
            whole
        }
    }

    /// Fills in what was used; nothing if the host says nothing.
    fn usage(&self, form: &str) -> String {
        self.tokens.map_or_else(String::new, |(input, output)| {
            let form = form.replace("IN", &input.to_string());
            form.replace("OUT", &output.to_string())
        })
    }
}
