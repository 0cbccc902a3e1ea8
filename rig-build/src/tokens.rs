//! How many tokens can a text take, and how few?
//!
//! No vocabulary is at hand at build time, and most are not public. So these are bounds that hold for a whole
//! family of tokenizers: what fits by [`at_most`] fits, what does not fit by [`at_least`] does not. Neither is an
//! estimate: English and JSON take three to five times fewer tokens than `at_most` says.

/// Tokenizers of which the same is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenizerFamily {
    /// OpenAI's `o200k_base` and `cl100k_base`.
    OpenAi,
    /// DeepSeek's byte-level BPE of V2 and later.
    DeepSeek,
    /// Meta's byte-level BPE of Llama 3 and later.
    Llama3,
    /// Alibaba's byte-level BPE of Qwen 2 and later, behind Unicode's NFC.
    Qwen,
    /// Google's SentencePiece, which falls back to bytes.
    SentencePiece,
    /// Anthropic's. The last public one was byte-level BPE behind Unicode's NFKC.
    Claude,
    /// Any other.
    Unknown,
}

/// What is known of a family.
struct Facts {
    /// Whether the text may be normalised first, which can lengthen it.
    normalises: bool,
    /// The bytes of the longest token, or more.
    longest_token: u64,
    /// Whether no token reaches over a word edge of JSON, see [`at_least`].
    splits_words: bool,
}

impl TokenizerFamily {
    /// Returns the family of a model. A host of one's own may call its models what it likes, so nothing is known of
    /// them.
    pub(crate) fn of(provider: &str, model: &str) -> Self {
        match provider {
            "openai" => Self::of_openai(model),
            "anthropic" => Self::Claude,
            "deepseek" => Self::DeepSeek,
            "gemini" => Self::SentencePiece,
            "deepinfra" | "fireworks" => Self::of_open_model(&model.to_ascii_lowercase()),
            _ => Self::Unknown,
        }
    }

    /// Source: the prefixes of tiktoken's `model.py`, which has a model that it does not know as no model.
    fn of_openai(model: &str) -> Self {
        const KNOWN: [&str; 9] = [
            "gpt-5",
            "gpt-4",
            "gpt-3.5",
            "gpt-oss",
            "chatgpt-4o",
            "o1",
            "o3",
            "o4-mini",
            "ft:gpt-",
        ];
        match KNOWN.iter().any(|prefix| model.starts_with(prefix)) {
            true => Self::OpenAi,
            false => Self::Unknown,
        }
    }

    /// A distilled model names its teacher too, and has the tokenizer of its own kind.
    fn of_open_model(model: &str) -> Self {
        const FAMILIES: [(&str, TokenizerFamily); 11] = [
            ("qwen", TokenizerFamily::Qwen),
            ("llama-3", TokenizerFamily::Llama3),
            ("llama-v3", TokenizerFamily::Llama3),
            ("llama3", TokenizerFamily::Llama3),
            ("llama-4", TokenizerFamily::Llama3),
            ("llama4", TokenizerFamily::Llama3),
            ("deepseek", TokenizerFamily::DeepSeek),
            ("gemma", TokenizerFamily::SentencePiece),
            ("gemini", TokenizerFamily::SentencePiece),
            ("claude", TokenizerFamily::Claude),
            ("gpt-oss", TokenizerFamily::OpenAi),
        ];
        let found = FAMILIES.iter().find(|(word, _)| model.contains(word));
        found.map_or(Self::Unknown, |(_, family)| *family)
    }

    const fn facts(self) -> Facts {
        /// Both vocabularies hold a run of 128 blanks and nothing longer; the tests go through every token.
        const OPENAI_LONGEST: u64 = 128;
        /// No public vocabulary is known to hold a token of more than 128 bytes. Eight times as much is for those
        /// that are not public.
        const LONGEST: u64 = 1024;
        let (normalises, longest_token, splits_words) = match self {
            Self::OpenAi => (false, OPENAI_LONGEST, true),
            Self::DeepSeek | Self::Llama3 => (false, LONGEST, false),
            Self::Qwen | Self::SentencePiece | Self::Claude | Self::Unknown => {
                (true, LONGEST, false)
            }
        };
        Facts {
            normalises,
            longest_token,
            splits_words,
        }
    }
}

/// Returns a number of tokens that the text does not exceed.
///
/// A byte-level BPE starts from one token a byte, and every merge makes them fewer; SentencePiece starts from
/// characters, and one that it does not know falls back to its bytes. So there are no more tokens than bytes, those
/// of the normalised text where the tokenizer normalises, and one more for the blank that SentencePiece puts in
/// front.
pub(crate) fn at_most(text: &str, family: TokenizerFamily) -> u64 {
    match family.facts().normalises {
        false => text.len() as u64,
        true => 1 + text.chars().map(normalised_bytes).sum::<u64>(),
    }
}

/// Returns a number of tokens that a text of this many characters does not exceed, each of them of four bytes.
///
/// The few hundred characters that grow beyond four bytes when they are normalised (ligatures, squared words) are
/// left out: counted with the worst of them, 33 bytes, no text would ever fit.
pub(crate) fn at_most_of_chars(chars: u64, family: TokenizerFamily) -> u64 {
    let blank = u64::from(family.facts().normalises);
    chars.saturating_mul(4).saturating_add(blank)
}

/// Returns a number of tokens below which no answer stays that has this many bytes and word edges at least.
///
/// A token is no longer than the longest of the vocabulary. And where words are split from punctuation before BPE
/// begins, as OpenAI's patterns do, no token holds a letter or digit and a mark of JSON behind it, nor two marks and a
/// letter or digit behind them: every word edge (`schema::answer_size`) begins a token. That is taken only of
/// vocabularies of which the tests can see every token.
pub(crate) fn at_least(bytes: u64, word_edges: u64, family: TokenizerFamily) -> u64 {
    let facts = family.facts();
    let by_length = bytes.div_ceil(facts.longest_token);
    let by_edges = if facts.splits_words { word_edges } else { 0 };
    by_length.max(by_edges).max(1)
}

/// Returns a number of tokens that the frame of a conversation does not exceed: what is in the prompt beside the
/// texts of this many messages.
///
/// OpenAI counts 3 a message with its role and 3 for the answer's beginning (OpenAI cookbook, "How to count tokens
/// with tiktoken"); the public chat templates of Llama 3, Qwen and DeepSeek take up to 6 a message. Some put a text
/// of their own in front: Llama 3.1 two dates, gpt-oss who it is and what it may do, some 70 tokens. Nobody else
/// says, hence twice as much of both.
pub(crate) fn framing(messages: u64) -> u64 {
    const A_MESSAGE: u64 = 12;
    const A_REQUEST: u64 = 140;
    messages.saturating_mul(A_MESSAGE).saturating_add(A_REQUEST)
}

/// Returns the most bytes that a character becomes when it is normalised.
///
/// Source: the decompositions of the Unicode Character Database, versions 14 to 16, taken as the most of a range.
/// Composing again never lengthens: no pair that composes is shorter than what it composes to. Syllables of Hangul
/// always compose again, whatever follows.
fn normalised_bytes(c: char) -> u64 {
    match c {
        ..'\u{a0}' => c.len_utf8() as u64,
        '\u{a0}'..='\u{40f}' | '\u{450}'..='\u{6d3}' => 6,
        // Most of the Cyrillic letters; `й` becomes two.
        '\u{410}'..='\u{44f}' => 4,
        '\u{929}'..='\u{1026}' => 9,
        '\u{1b06}'..='\u{1b43}' => 6,
        // Dashes, quotes and dots of typography.
        '\u{2010}'..='\u{2027}' => 3,
        '\u{1e08}'..='\u{200f}' | '\u{2028}'..='\u{22ed}' | '\u{2a0c}'..='\u{2adc}' => 12,
        '\u{247d}'..='\u{2487}' => 4,
        '\u{304c}'..='\u{30ff}' => 6,
        '\u{3200}'..='\u{33fe}' => 18,
        '\u{fa6c}'..='\u{fefc}' => 33,
        '\u{10000}'..='\u{1efff}' => 12,
        '\u{1f100}'..='\u{1f2ff}' => 9,
        c => c.len_utf8() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Strategy, any};
    use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

    fn vocabularies() -> [&'static CoreBPE; 2] {
        [o200k_base_singleton(), cl100k_base_singleton()]
    }

    fn never_too_few(text: &str) {
        for vocabulary in vocabularies() {
            let tokens = vocabulary.encode_ordinary(text).len() as u64;
            for family in [TokenizerFamily::OpenAi, TokenizerFamily::Unknown] {
                let most = at_most(text, family);
                assert!(tokens <= most, "{tokens} tokens of {most}: {text:?}");
            }
            let bytes = text.len() as u64;
            let least = at_least(bytes, 0, TokenizerFamily::OpenAi);
            assert!(text.is_empty() || tokens >= least, "{tokens}: {text:?}");
            let chars = text.chars().count() as u64;
            assert!(tokens <= at_most_of_chars(chars, TokenizerFamily::OpenAi));
        }
    }

    /// Texts that tokenizers treat each in a way of its own.
    fn texts() -> impl Strategy<Value = String> {
        let piece = proptest::prop_oneof![
            any::<String>(),
            "[ \t\r\n]{0,300}",
            "[a-zA-Z' ]{0,80}",
            "[0-9.,-]{0,40}",
            "[{}\\[\\]:,\"a-z0-9 ]{0,60}",
            "[=\\-_/*#<>(){};&|a-z]{0,200}",
            "[\u{300}-\u{36f}a-z\u{e0}-\u{ff}]{0,30}",
            "[\u{4e00}-\u{9fff}\u{3040}-\u{30ff}\u{ac00}-\u{d7a3}]{0,30}",
            "[\u{1f300}-\u{1faff}\u{200d}\u{fe0f}\u{20000}-\u{2a6df}]{0,20}",
        ];
        proptest::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
    }

    proptest::proptest! {
        #[test]
        fn bounds_hold_for_any_text(text in texts()) {
            never_too_few(&text);
        }
    }

    #[test]
    fn bounds_hold_where_there_is_a_token_a_byte() {
        // A byte a token, as both vocabularies have it, and the longest token of both.
        for text in ["\u{ffff}", "\u{10ffff}\u{f0000}", &" ".repeat(128), ""] {
            never_too_few(text);
        }
        let blanks = " ".repeat(128);
        assert_eq!(o200k_base_singleton().encode_ordinary(&blanks).len(), 1);
    }

    /// What `at_least` rests on, token by token.
    #[test]
    fn no_token_of_openai_is_longer_or_reaches_over_a_word_edge() {
        let facts = TokenizerFamily::OpenAi.facts();
        for (vocabulary, size) in vocabularies().into_iter().zip([199_998, 100_256]) {
            for rank in 0..size {
                let token = vocabulary.decode_bytes(&[rank]).unwrap();
                assert!(token.len() as u64 <= facts.longest_token, "{token:?}");
                let is_mark = |byte: u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
                // The apostrophe of `don't` is no mark of JSON.
                let word_then_mark = token.windows(2).any(|two| {
                    two[0].is_ascii_alphanumeric() && is_mark(two[1]) && two[1] != b'\''
                });
                let marks_then_word = token.windows(3).any(|three| {
                    is_mark(three[0]) && is_mark(three[1]) && three[2].is_ascii_alphanumeric()
                });
                let shown = String::from_utf8_lossy(&token);
                assert!(!word_then_mark && !marks_then_word, "{rank}: {shown:?}");
            }
        }
    }

    /// How loose `at_most` is: bytes a token, measured with `o200k_base` (`cl100k_base` is within 0.2 of it). These
    /// sentences 4.6, this JSON 4.2; this repository's Markdown 3.7 to 3.8; pretty JSON full of numbers 3.0.
    #[test]
    fn at_most_is_within_a_known_factor_of_english_and_json() {
        let english = "Summarize the ticket for a support agent who has ten seconds. Name the product, \
            say what the customer wants, and keep every number and date exactly as it was written. \
            If the ticket holds more than one request, list them in the order of their urgency.";
        let json = r#"{"type":"object","properties":{"name":{"type":"string","description":"Full name"},
            "age":{"type":"integer","minimum":0}},"required":["name","age"],"additionalProperties":false}"#;
        for text in [english, json] {
            let tokens = o200k_base_singleton().encode_ordinary(text).len() as u64;
            let most = at_most(text, TokenizerFamily::OpenAi);
            assert!(
                (3 * tokens..6 * tokens).contains(&most),
                "{most} for {tokens}"
            );
        }
    }

    #[test]
    fn a_model_has_the_tokenizer_of_its_kind() {
        let cases = [
            ("openai", "gpt-5.4-mini", TokenizerFamily::OpenAi),
            ("openai", "o4", TokenizerFamily::Unknown),
            ("anthropic", "claude-haiku-4-5", TokenizerFamily::Claude),
            ("deepseek", "deepseek-v4-flash", TokenizerFamily::DeepSeek),
            (
                "gemini",
                "gemini-3.1-flash-lite",
                TokenizerFamily::SentencePiece,
            ),
            ("grok", "grok-4", TokenizerFamily::Unknown),
            ("local", "gpt-5", TokenizerFamily::Unknown),
            (
                "deepinfra",
                "deepseek-ai/DeepSeek-R1-Distill-Llama-3.3-70B",
                TokenizerFamily::Llama3,
            ),
            (
                "deepinfra",
                "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B",
                TokenizerFamily::Qwen,
            ),
            (
                "fireworks",
                "accounts/fireworks/models/llama-v3p1-8b-instruct",
                TokenizerFamily::Llama3,
            ),
        ];
        for (provider, model, family) in cases {
            assert_eq!(TokenizerFamily::of(provider, model), family, "{model}");
        }
    }

    #[test]
    fn the_frame_is_counted_once_and_a_message() {
        assert_eq!([framing(0), framing(2)], [140, 164]);
    }

    #[test]
    fn normalised_text_is_counted_as_it_becomes() {
        // U+FDFA becomes 18 Arabic letters and blanks, U+0958 two letters; an ideograph stays.
        for (text, most) in [("abc", 4), ("日本", 7), ("\u{fdfa}", 34), ("\u{958}", 10)] {
            assert_eq!(at_most(text, TokenizerFamily::Qwen), most, "{text:?}");
        }
    }
}
