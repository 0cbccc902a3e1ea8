//! Which brackets of a text open JSON values, and where do the others close?
//!
//! Any bracket may be asked for, and each part of the text is looked at a few times at most: where a value is broken, it is
//! known of all brackets that were open.

use std::collections::HashMap;

use crate::json::{Broken, Fault, Reader};

/// The brackets of a text.
pub(super) struct Brackets<'t> {
    pub(super) text: &'t str,
    /// Why those open no value that were found to open none.
    broken: HashMap<usize, Fault>,
    /// The closing bracket of each opening one, by position; `None` before the first use.
    pairs: Option<HashMap<usize, usize>>,
}

impl<'t> Brackets<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            broken: HashMap::new(),
            pairs: None,
        }
    }

    /// Returns the value that a bracket opens.
    ///
    /// # Errors
    ///
    /// Why it opens none; places are those in the text.
    pub(super) fn value(&mut self, at: usize) -> Result<&'t str, Fault> {
        if let Some(fault) = self.broken.get(&at) {
            return Err(fault.clone());
        }
        let ahead = &self.text[at..];
        let mut reader = Reader::new(ahead);
        let Err(Broken { fault, open }) = reader.check() else {
            return Ok(&ahead[..reader.at()]);
        };
        let fault = match fault {
            Fault::Syntax { reason, at: inner } => Fault::Syntax {
                reason,
                at: at + inner,
            },
            other => other,
        };
        let open = open.into_iter().map(|inner| (at + inner, fault.clone()));
        self.broken.extend(open);
        Err(fault)
    }

    /// Returns the length up to where a bracket closes; `None` where it does not.
    pub(super) fn length(&mut self, at: usize) -> Option<usize> {
        let pairs = self.pairs.get_or_insert_with(|| pairs(self.text));
        pairs.get(&at).map(|close| close + 1 - at)
    }
}

/// Returns where each bracket of a text closes that does. Brackets in strings do not count, and a quote that stands
/// where no string begins is none (`5" wide`). A bracket that closes another kind than was opened last leaves all open
/// ones unclosed.
fn pairs(text: &str) -> HashMap<usize, usize> {
    let mut pairs = HashMap::new();
    let mut open: Vec<(u8, usize)> = Vec::new();
    let bytes = text.as_bytes();
    let mut before = b' ';
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' if matches!(before, b'{' | b'[' | b',' | b':') && !open.is_empty() => {
                at += 1;
                while let Some(byte) = bytes.get(at).filter(|byte| **byte != b'"') {
                    at += if *byte == b'\\' { 2 } else { 1 };
                }
            }
            b'{' | b'[' => open.push((*byte, at)),
            b'}' | b']' => match open.pop() {
                // The codes of brackets that belong together differ by two.
                Some((opened, start)) if opened == byte - 2 => {
                    pairs.insert(start, at);
                }
                _ => open.clear(),
            },
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            before = *byte;
        }
        at += 1;
    }
    pairs
}
