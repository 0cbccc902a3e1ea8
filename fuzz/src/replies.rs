//! How is a provider's response written as one input, and what has to be true of every one?
//!
//! An input's first byte chooses the dialect, its second the status or the cuts, and the rest is the body.

use rig_runtime::transport::Headers;
use rig_runtime::{Decoded, DecodedAs, read_response};
use rig_spec::{ANTHROPIC, DEEPINFRA, Dialect, GEMINI, OPENAI, Provider};

static RESPONSES: Provider = Provider {
    name: "host",
    dialect: Dialect::OpenAiResponses,
    base_url: "http://127.0.0.1:8080/v1",
    base_url_env: "HOST_BASE_URL",
    ..Provider::BLANK
};

/// Who may have answered. The places are part of what an input means.
static SPEAKERS: [&Provider; 5] = [&OPENAI, &ANTHROPIC, &GEMINI, &RESPONSES, &DEEPINFRA];

/// The statuses of whole responses; streams have the first.
const STATUSES: [u16; 12] = [200, 400, 401, 402, 403, 404, 413, 429, 500, 503, 529, 301];

/// Writes a response as one input, by the name of its `api`; `None` for one that no adapter speaks.
pub fn input(api: &str, status: u16, body: &str) -> Option<Vec<u8>> {
    let speaker = match api {
        "openai.chat" => 0,
        "anthropic.messages" => 1,
        "gemini.generate" | "gemini.stream" => 2,
        "openai.responses" => 3,
        _ => return None,
    };
    let at = STATUSES.iter().position(|known| *known == status)?;
    let mut input = vec![speaker, u8::try_from(at).ok()?];
    input.extend_from_slice(body.as_bytes());
    Some(input)
}

fn open(input: &[u8]) -> Option<(&'static Provider, usize, &[u8])> {
    let [speaker, choice, body @ ..] = input else {
        return None;
    };
    let speaker = SPEAKERS[usize::from(*speaker) % SPEAKERS.len()];
    Some((speaker, usize::from(*choice), body))
}

fn read<'a>(
    speaker: &'static Provider,
    status: u16,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Decoded {
    read_response(speaker, status, Headers::default(), pieces)
}

/// Reads an input as a whole response, and panics where something that has to be true is not.
pub fn decode(input: &[u8]) {
    if let Some((speaker, choice, body)) = open(input) {
        let status = STATUSES[choice % STATUSES.len()];
        let decoded = read(speaker, status, [body]);
        check(&decoded);
        let is_good = (200..300).contains(&status);
        assert!(
            is_good || decoded.outcome == DecodedAs::Failure,
            "{decoded:?}"
        );
    }
}

/// Reads an input as a body in pieces, cut in several ways, and panics where they say different things.
pub fn stream(input: &[u8]) {
    if let Some((speaker, choice, body)) = open(input) {
        let whole = read(speaker, 200, [body]);
        check(&whole);
        assert_eq!(whole, read(speaker, 200, body.chunks(1)), "in single bytes");
        let size = choice % 61 + 2;
        assert_eq!(whole, read(speaker, 200, body.chunks(size)), "by {size}");
        let (start, rest) = body.split_at(body.len() * choice / 255);
        let twice = [start, b"".as_slice(), rest];
        assert_eq!(whole, read(speaker, 200, twice), "at {}", start.len());
    }
}

fn check(decoded: &Decoded) {
    let is_failure = decoded.outcome == DecodedAs::Failure;
    assert_eq!(decoded.message.is_some(), is_failure, "{decoded:?}");
    assert!(is_failure || !decoded.falls_through, "{decoded:?}");
    let has_class = is_failure || decoded.outcome == DecodedAs::Truncated;
    assert_eq!(decoded.class.is_some(), has_class, "{decoded:?}");
    let has_calls = decoded.outcome == DecodedAs::ToolCall;
    assert_eq!(!decoded.tool_calls.is_empty(), has_calls, "{decoded:?}");
    if let Some(message) = &decoded.message {
        let is_line = !message.is_empty() && !message.contains(char::is_control);
        assert!(is_line && message.chars().count() <= 300, "{message:?}");
    }
    if let (Some(part), Some(whole)) = (decoded.tokens_cached, decoded.tokens_in) {
        assert!(part <= whole, "{decoded:?}");
    }
}
