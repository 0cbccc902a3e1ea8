//! What comes further on in a text?
//!
//! Values are stepped over without a look at what is in them: who reads on comes to them in time.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Fault, INEXACT, Reader, Token, is_exact};
use crate::steps;

/// Why a text begins with no value.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) fault: Fault,
    /// The brackets that were open, in bytes, outermost first.
    pub(crate) open: Vec<usize>,
}

/// A list or an object that is not closed yet.
struct Open<'t> {
    start: usize,
    /// The keys of an object so far.
    keys: Option<HashSet<Cow<'t, str>>>,
}

impl<'t> Reader<'t> {
    /// Steps over a whole value that [`Self::exact_value`] reads. Repeated keys are not looked for.
    pub(crate) fn step_over(&mut self) -> Result<(), Fault> {
        steps::count(1);
        match self.token()? {
            Token::Number(number, text) if !is_exact(number, text) => return Err(INEXACT),
            Token::Null | Token::Bool(_) | Token::Number(..) | Token::Text(_) => {}
            Token::List => {
                let mut is_first = true;
                while self.has_item(is_first)? {
                    self.step_over()?;
                    is_first = false;
                }
            }
            Token::Object => {
                let mut is_first = true;
                while !self.is_end_of_object() {
                    self.key(is_first)?;
                    self.step_over()?;
                    is_first = false;
                }
            }
        }
        Ok(())
    }

    /// Steps over a whole value, in which no key is repeated.
    ///
    /// # Errors
    ///
    /// Why it is none, with the brackets that were open then: a value that begins at one of them fails for the same
    /// reason, if it nests no less deeply.
    pub(crate) fn check(&mut self) -> Result<(), Broken> {
        let mut open: Vec<Open<'t>> = Vec::new();
        match self.check_within(&mut open) {
            Ok(()) => Ok(()),
            Err(fault) => Err(Broken {
                fault,
                open: open.into_iter().map(|open| open.start).collect(),
            }),
        }
    }

    fn check_within(&mut self, open: &mut Vec<Open<'t>>) -> Result<(), Fault> {
        loop {
            steps::count(1);
            self.peek();
            let start = self.at;
            let keys = match self.token()? {
                Token::List => Some(None),
                Token::Object => Some(Some(HashSet::new())),
                Token::Null | Token::Bool(_) | Token::Number(..) | Token::Text(_) => None,
            };
            let is_first = keys.is_some();
            open.extend(keys.map(|keys| Open { start, keys }));
            if self.is_over(open, is_first)? {
                return Ok(());
            }
        }
    }

    /// Steps to the next value within the open brackets, over those that close; returns whether all have closed.
    fn is_over(&mut self, open: &mut Vec<Open<'t>>, mut is_first: bool) -> Result<bool, Fault> {
        while let Some(Open { keys, .. }) = open.last_mut() {
            let goes_on = match keys {
                None => self.has_item(is_first)?,
                Some(_) if self.is_end_of_object() => false,
                Some(keys) => {
                    let key = self.key(is_first)?;
                    if let Some(key) = keys.replace(key) {
                        return Err(Fault::Repeated(key.into_owned()));
                    }
                    true
                }
            };
            if goes_on {
                return Ok(false);
            }
            open.pop();
            is_first = false;
        }
        Ok(true)
    }

    /// Goes to where a value ends that begins here.
    pub(crate) fn go_to(&mut self, end: usize) {
        self.at = end;
    }

    /// Returns the text that the object here has under a key, if it has one there; as a rule its first key is written
    /// so.
    pub(crate) fn text_at(&self, key: &str, written: Option<&str>) -> Option<Cow<'t, str>> {
        let mut ahead = *self;
        ahead.enter().ok()?;
        if !written.is_some_and(|written| ahead.key_is(written, true)) {
            ahead = *self;
            if !ahead.keys_until(|found| found == key)? {
                return None;
            }
        }
        match ahead.peek() {
            Some(b'"') => ahead.string().ok(),
            _ => None,
        }
    }

    /// Returns the first key of the object here, if it is one that has any.
    pub(crate) fn first_key(&self) -> Option<Cow<'t, str>> {
        let mut ahead = *self;
        if ahead.peek() != Some(b'{') {
            return None;
        }
        ahead.enter().ok()?;
        ahead.key(true).ok()
    }

    /// Steps into the object here, to the value of the first key that is asked for; returns whether there is one.
    fn keys_until(&mut self, mut is: impl FnMut(&Cow<'t, str>) -> bool) -> Option<bool> {
        if self.peek() != Some(b'{') {
            return None;
        }
        self.enter().ok()?;
        let mut is_first = true;
        while !self.is_end_of_object() {
            let key = self.key(is_first).ok()?;
            if is(&key) {
                return Some(true);
            }
            self.skip()?;
            is_first = false;
        }
        Some(false)
    }

    /// Steps over a value whose brackets and strings close; what is in it is not looked at.
    pub(crate) fn skip(&mut self) -> Option<()> {
        let start = self.at;
        let skipped = self.skip_value();
        steps::count(self.at - start);
        skipped
    }

    fn skip_value(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let mut open = 0_u32;
        self.peek()?;
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.skip_string()?;
                    if open == 0 {
                        return Some(());
                    }
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' if open == 0 => return Some(()),
                b'}' | b']' => {
                    open -= 1;
                    if open == 0 {
                        self.at += 1;
                        return Some(());
                    }
                }
                b',' if open == 0 => return Some(()),
                _ => {}
            }
            self.at += 1;
        }
        None
    }

    /// Steps over a string, as far as its closing quote tells; its escapes are not looked at.
    fn skip_string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            self.plain();
            let byte = self.text.as_bytes().get(self.at)?;
            self.at += 1;
            match byte {
                b'"' => return Some(()),
                // What is escaped is not the closing quote.
                b'\\' if self.at < self.text.len() => self.at += 1,
                _ => {}
            }
        }
    }
}
