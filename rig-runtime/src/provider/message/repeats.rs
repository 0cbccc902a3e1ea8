//! What does a message repeat of texts that it may not hold?
//!
//! A provider quotes a prompt as it likes: escaped, in another case, with other white space. So both sides are compared
//! in one form: case folded, each run of white space as one blank. The message is also compared with its escapes undone.
//!
//! The cost is linear in the texts: they are read once per round, past an index of the short message.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// The shortest run that is cut, in characters.
const RUN: usize = 8;

/// The shortest text that is cut where it stands as a word of its own, in characters.
const SHORTEST: usize = 3;

/// How often a text may have been escaped.
const MOST_ESCAPES: usize = 4;

/// Returns a message without what it repeats of these texts, with `…` in each place.
///
/// **Invariant:** no run of eight characters of a text is left, also not with its escapes undone; nor a whole text of
/// three to seven characters that stands as a word, unless providers use that word themselves. White space is collapsed.
pub(in crate::provider) fn without_repeats(message: &str, texts: &[Cow<'_, str>]) -> String {
    let mut shown = super::one_line(message);
    if texts.is_empty() {
        return shown;
    }
    // A value that is rendered as JSON may be shown as the text that it holds.
    let plain = texts.iter().filter_map(|text| unescaped_text(text));
    let plain: Vec<_> = plain.collect();
    let texts = texts.iter().map(Cow::as_ref);
    let texts: Vec<_> = texts.chain(plain.iter().map(String::as_str)).collect();
    // What is left may come to stand beside something new. Each round shortens the message.
    while let Some(shorter) = cut(&shown, &texts) {
        shown = shorter;
    }
    shown
}

/// A character of a message in some form, and the characters of the message that it came from.
#[derive(Clone, Copy)]
struct Char {
    c: char,
    from: usize,
    to: usize,
}

/// Returns the message without what it repeats; `None` where that is nothing.
fn cut(message: &str, texts: &[&str]) -> Option<String> {
    let chars: Vec<char> = message.chars().collect();
    let mut index = Index::of(&chars);
    let mut is_cut = vec![false; chars.len()];
    for text in texts {
        index.mark(text, &mut is_cut);
    }
    if !is_cut.contains(&true) {
        return None;
    }
    let mut shown = String::with_capacity(message.len());
    for at in 0..chars.len() {
        let is_inner = |at: usize| is_cut.get(at) == Some(&true);
        // A blank at the edge of a run says nothing.
        let is_edge = chars[at] == ' ' && !(at > 0 && is_inner(at - 1) && is_inner(at + 1));
        match is_cut[at] && !is_edge {
            false if chars[at] == '…' && shown.ends_with('…') => {}
            false => shown.push(chars[at]),
            true if shown.ends_with('…') => {}
            true => shown.push('…'),
        }
    }
    (shown != message).then_some(shown)
}

type Places = Vec<(usize, usize)>;

/// Where a message has which run of eight characters, and which short word.
struct Index {
    runs: HashMap<u64, Places>,
    words: HashMap<String, Places>,
    /// A bit for each hash that may be in `runs`: most runs of a text are in no message.
    filter: Vec<u64>,
}

const FILTER_BITS: u32 = 16;

impl Index {
    fn of(message: &[char]) -> Self {
        let mut index = Self {
            runs: HashMap::new(),
            words: HashMap::new(),
            filter: vec![0; 1 << (FILTER_BITS - 6)],
        };
        let plain = message.iter().enumerate();
        let plain = plain.map(|(at, c)| Char {
            c: *c,
            from: at,
            to: at + 1,
        });
        let mut form = Some(plain.collect::<Vec<_>>());
        for _ in 0..=MOST_ESCAPES {
            let Some(chars) = form else { break };
            index.add(&folded(&chars));
            form = unescaped(&chars);
        }
        index
    }

    fn add(&mut self, chars: &[Char]) {
        let mut hash = Rolling::default();
        for (at, char) in chars.iter().enumerate() {
            let Some(run) = hash.push(char.c) else {
                continue;
            };
            self.filter[filter_word(run)] |= filter_bit(run);
            let places = self.runs.entry(run).or_default();
            places.push((chars[at + 1 - RUN].from, char.to));
        }
        for from in 0..chars.len() {
            for to in from + SHORTEST..chars.len().min(from + RUN) {
                self.add_word(chars, from, to);
            }
            let to = chars.len();
            if (SHORTEST..RUN).contains(&(to - from)) {
                self.add_word(chars, from, to);
            }
        }
    }

    fn add_word(&mut self, chars: &[Char], from: usize, to: usize) {
        if is_edge(chars, from) && is_edge(chars, to) {
            let word = chars[from..to].iter().map(|char| char.c).collect();
            let places: &mut Places = self.words.entry(word).or_default();
            places.push((chars[from].from, chars[to - 1].to));
        }
    }

    /// Marks what the message has of a text. What is marked once is not looked for again.
    fn mark(&mut self, text: &str, is_cut: &mut [bool]) {
        let mut cut = |places: Option<Places>| {
            for (from, to) in places.into_iter().flatten() {
                is_cut[from..to].fill(true);
            }
        };
        let mut hash = Rolling::default();
        let mut start = String::new();
        for c in Folded::of(text.chars()) {
            if start.len() <= RUN * char::MAX_LEN_UTF8 {
                start.push(c);
            }
            if let Some(run) = hash.push(c)
                && self.filter[filter_word(run)] & filter_bit(run) != 0
            {
                cut(self.runs.remove(&run));
            }
        }
        let word = start.trim();
        if (SHORTEST..RUN).contains(&word.chars().count()) && !is_ordinary(word) {
            cut(self.words.remove(word));
        }
    }
}

fn filter_word(hash: u64) -> usize {
    (hash >> (64 - FILTER_BITS + 6)) as usize
}

fn filter_bit(hash: u64) -> u64 {
    1 << ((hash >> (64 - FILTER_BITS)) & 63)
}

/// Returns whether a word may begin or end at a place: no letter or digit stands on both sides of it. Scripts that write
/// no blanks between words have such a place everywhere.
fn is_edge(chars: &[Char], at: usize) -> bool {
    const FIRST_WITHOUT_BLANKS: char = '\u{2e80}';
    let is_inner = |at: usize| {
        let c = chars.get(at).map(|char| char.c);
        c.is_some_and(|c| c.is_alphanumeric() && c < FIRST_WITHOUT_BLANKS)
    };
    at == 0 || !(is_inner(at - 1) && is_inner(at))
}

/// A hash of the last eight characters.
#[derive(Default)]
struct Rolling {
    /// The weights of the last characters, in the order in which they are replaced.
    last: [u64; RUN],
    count: usize,
    hash: u64,
}

impl Rolling {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    /// The weight of the character that leaves.
    const OLDEST: u64 = Self::BASE.wrapping_pow(RUN as u32);

    /// Takes in a character, and returns the hash of the run that it ends.
    fn push(&mut self, c: char) -> Option<u64> {
        let weight = u64::from(u32::from(c)) + 1;
        let oldest = std::mem::replace(&mut self.last[self.count % RUN], weight);
        self.count += 1;
        self.hash = self.hash.wrapping_mul(Self::BASE).wrapping_add(weight);
        // Before the eighth character the oldest is 0.
        self.hash = self.hash.wrapping_sub(oldest.wrapping_mul(Self::OLDEST));
        // The high bits choose the place in the filter, and a product spreads to them.
        (self.count >= RUN).then(|| self.hash.wrapping_mul(Self::BASE))
    }
}

/// Returns the characters in the form in which they are compared.
fn folded(chars: &[Char]) -> Vec<Char> {
    let mut folded: Vec<Char> = Vec::with_capacity(chars.len());
    for char in chars {
        if is_blank(char.c) {
            match folded.last_mut().filter(|last| last.c == ' ') {
                Some(blank) => blank.to = char.to,
                None => folded.push(Char { c: ' ', ..*char }),
            }
        } else {
            folded.extend(fold(char.c).map(|c| Char { c, ..*char }));
        }
    }
    folded
}

/// The characters of a text in the same form.
struct Folded<I> {
    chars: I,
    ready: VecDeque<char>,
    was_blank: bool,
}

impl<I: Iterator<Item = char>> Folded<I> {
    fn of(chars: I) -> Self {
        Self {
            chars,
            ready: VecDeque::new(),
            was_blank: false,
        }
    }
}

impl<I: Iterator<Item = char>> Iterator for Folded<I> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        loop {
            if let Some(c) = self.ready.pop_front() {
                return Some(c);
            }
            let c = self.chars.next()?;
            if !is_blank(c) {
                self.was_blank = false;
                // Nearly all of a text.
                if c.is_ascii() {
                    return Some(c.to_ascii_lowercase());
                }
                self.ready.extend(fold(c));
            } else if !self.was_blank {
                self.was_blank = true;
                return Some(' ');
            }
        }
    }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

/// Returns a character without its case: `ß` and `SS` are the same, and so are `σ` and `ς`.
fn fold(c: char) -> impl Iterator<Item = char> {
    c.to_uppercase().flat_map(char::to_lowercase)
}

/// Returns a text with its escapes undone once; `None` where there are none.
fn unescaped_text(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut rest = text;
    let mut is_changed = false;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (c, length) = escape(|at| after.chars().nth(at)).unwrap_or(('\\', 0));
        is_changed |= length > 0;
        plain.push(c);
        rest = after
            .char_indices()
            .nth(length)
            .map_or("", |(at, _)| &after[at..]);
    }
    plain.push_str(rest);
    is_changed.then_some(plain)
}

/// Returns characters with their escapes undone once, as JSON and Python write them; `None` where there are none.
fn unescaped(chars: &[Char]) -> Option<Vec<Char>> {
    let mut plain = Vec::with_capacity(chars.len());
    let mut at = 0;
    while let Some(first) = chars.get(at) {
        let (c, length) = match first.c {
            '\\' => escape(|after| Some(chars.get(at + 1 + after)?.c))
                .map_or(('\\', 1), |(c, length)| (c, length + 1)),
            c => (c, 1),
        };
        plain.push(Char {
            c,
            from: first.from,
            to: chars[at + length - 1].to,
        });
        at += length;
    }
    (plain.len() < chars.len()).then_some(plain)
}

/// Returns the character that an escape stands for, and how many characters follow its backslash. `after` are those.
fn escape(after: impl Fn(usize) -> Option<char>) -> Option<(char, usize)> {
    let digits = |from: usize, count: usize| {
        let mut digits = (from..from + count).map(|at| after(at)?.to_digit(16));
        digits.try_fold(0, |number, digit| Some(number * 16 + digit?))
    };
    let whole = |number: u32, length: usize| Some((char::from_u32(number)?, length));
    match after(0)? {
        'n' | 'r' | 't' | 'b' | 'f' | 'v' | 'a' | '0' => Some((' ', 1)),
        c @ ('"' | '\'' | '`' | '\\' | '/') => Some((c, 1)),
        'x' => whole(digits(1, 2)?, 3),
        'U' => whole(digits(1, 8)?, 9),
        'u' => {
            let first = digits(1, 4)?;
            let is_pair = (0xd800..0xdc00).contains(&first)
                && (after(5), after(6)) == (Some('\\'), Some('u'));
            match digits(7, 4).filter(|last| is_pair && (0xdc00..0xe000).contains(last)) {
                Some(last) => whole(0x1_0000 + ((first - 0xd800) << 10) + (last - 0xdc00), 11),
                None => whole(first, 5),
            }
        }
        _ => None,
    }
}

/// The words of three to seven letters of which providers' messages consist. They are no secret, whoever else uses them.
const ORDINARY: &str = " access account again allowed and any api are argument array audio auth bad been blocked body \
    bool boolean but cache cached call calls can cannot chat check client code content context could credit credits data \
    default denied does empty enabled enough error errors exceed exist expired failed false fetch field file filter flex \
    for format found from given has have header host http https image input integer invalid item items json key keys large \
    length limit limits list long low high max maximum may medium message method min minimal minimum minute missing mode \
    model models must name network none not null number object one only output param params parse path per plan please \
    policy prompt quota rate reach reached read reason region request require reset retry role safety schema seconds server \
    service session should size status stop stream string system text than that the then this tier time timeout token \
    tokens too tool tools true try turn type unable unknown url usage use used user using valid value values was were when \
    will with without yes you your zero ";

fn is_ordinary(word: &str) -> bool {
    ORDINARY.split(' ').any(|ordinary| ordinary == word)
}

#[cfg(test)]
mod tests;
