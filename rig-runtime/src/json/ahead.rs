//! What comes further on in a text?
//!
//! Values are stepped over without a look at what is in them: who reads on comes to them in time.

use std::borrow::Cow;

use super::Reader;

impl<'t> Reader<'t> {
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

    /// Returns the keys of the object here, as far as there are any.
    pub(crate) fn keys(&self) -> Vec<Cow<'t, str>> {
        let mut keys = Vec::new();
        let mut ahead = *self;
        ahead.keys_until(|key| {
            keys.push(key.clone());
            false
        });
        keys
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
    pub(super) fn skip(&mut self) -> Option<()> {
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
