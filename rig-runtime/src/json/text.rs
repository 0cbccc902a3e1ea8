//! How is a JSON string read?

use std::borrow::Cow;

use super::{Fault, Reader};

impl<'t> Reader<'t> {
    /// Reads a string, from its opening quote on.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<Cow<'t, str>, Fault> {
        let start = self.at + 1;
        self.at = start;
        self.plain();
        if self.text.as_bytes().get(self.at) == Some(&b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(&self.text[start..self.at - 1]));
        }
        self.escaped(start).map(Cow::Owned)
    }

    /// Reads the rest of a string, which holds more than plain characters and begins there.
    #[inline(never)]
    fn escaped(&mut self, start: usize) -> Result<String, Fault> {
        let text = self.text;
        let mut out = text[start..self.at].to_owned();
        loop {
            match text.as_bytes().get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                Some(_) => return Err(self.fault("control character in a string")),
                None => return Err(self.fault("EOF while parsing a string")),
            }
            let from = self.at;
            self.plain();
            out.push_str(&text[from..self.at]);
        }
    }

    /// Steps to the next quote, backslash or control character, eight bytes at a time.
    pub(super) fn plain(&mut self) {
        const ONES: u64 = 0x0101_0101_0101_0101;
        const HIGHS: u64 = ONES << 7;
        let ends = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
        let mut rest = &self.text.as_bytes()[self.at..];
        while let Some((chunk, more)) = rest.split_first_chunk::<16>()
            && !chunk.iter().fold(false, |any, byte| any | ends(*byte))
        {
            self.at += 16;
            rest = more;
        }
        let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
        let mut length = 0;
        for chunk in rest.as_chunks::<8>().0 {
            let word = u64::from_le_bytes(*chunk);
            let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
            let found = controls | zeros(word ^ (ONES * 0x22)) | zeros(word ^ (ONES * 0x5c));
            if found != 0 {
                self.at += length + found.trailing_zeros() as usize / 8;
                return;
            }
            length += 8;
        }
        let is_plain = |byte: &&u8| !ends(**byte);
        self.at += length + rest[length..].iter().take_while(is_plain).count();
    }

    /// Reads what follows a backslash.
    fn escape(&mut self) -> Result<char, Fault> {
        let byte = self.text.as_bytes().get(self.at).copied();
        self.at += 1;
        Ok(match byte {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => {
                self.at -= 1;
                return Err(self.fault("invalid escape"));
            }
        })
    }

    fn unicode(&mut self) -> Result<char, Fault> {
        let high = self.hex()?;
        let is_pair =
            (0xd800..0xdc00).contains(&high) && self.text.as_bytes()[self.at..].starts_with(b"\\u");
        let mut code = high;
        if is_pair {
            self.at += 2;
            let low = self.hex()?;
            if !(0xdc00..0xe000).contains(&low) {
                return Err(self.fault("lone surrogate"));
            }
            code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        }
        char::from_u32(code).ok_or_else(|| self.fault("lone surrogate"))
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let code = digits.and_then(|digits| {
            digits.iter().try_fold(0, |code, digit| {
                char::from(*digit)
                    .to_digit(16)
                    .map(|digit| code * 16 + digit)
            })
        });
        let code = code.ok_or_else(|| self.fault("invalid escape"))?;
        self.at += 4;
        Ok(code)
    }
}
