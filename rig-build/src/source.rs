//! Which files were read, and which piece of which file is meant?

use std::ops::Range;

/// A file that was read. Its text is UTF-8 and has no byte order mark.
#[derive(Debug)]
pub(crate) struct Source {
    /// The path as a user can open it from the crate's root.
    pub(crate) shown: String,
    /// The text.
    pub(crate) text: String,
    line_starts: Vec<usize>,
}

/// Every file that was read, by [`SourceId`].
#[derive(Debug, Default)]
pub(crate) struct Sources(Vec<Source>);

/// A file of a [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SourceId(usize);

/// A piece of a file, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Span {
    /// The file.
    pub(crate) source: SourceId,
    /// Its first byte.
    pub(crate) start: usize,
    /// The byte after its last.
    pub(crate) end: usize,
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

impl Source {
    /// Returns the 0-based line that holds the byte.
    pub(crate) fn line_of(&self, byte: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= byte) - 1
    }

    /// Returns the bytes of a 0-based line, without its line break.
    pub(crate) fn line(&self, index: usize) -> Range<usize> {
        let start = self.line_starts[index];
        let end = self
            .line_starts
            .get(index + 1)
            .copied()
            .unwrap_or(self.text.len());
        let text = self.text[start..end].trim_end_matches(['\n', '\r']);
        start..start + text.len()
    }

    /// Returns the text of a 0-based line up to the byte.
    pub(crate) fn before(&self, byte: usize, line: usize) -> &str {
        let range = self.line(line);
        let byte = self
            .text
            .floor_char_boundary(byte.clamp(range.start, range.end));
        &self.text[range.start..byte]
    }
}

impl Sources {
    /// Takes a file in.
    pub(crate) fn add(&mut self, shown: String, text: String) -> SourceId {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0)
            .chain(breaks.map(|(at, _)| at + 1))
            .collect();
        self.0.push(Source {
            shown,
            text,
            line_starts,
        });
        SourceId(self.0.len() - 1)
    }

    /// Returns a file.
    pub(crate) fn get(&self, id: SourceId) -> &Source {
        &self.0[id.0]
    }
}

impl Span {
    /// Returns the span of these bytes of a file.
    pub(crate) fn new(source: SourceId, bytes: Range<usize>) -> Self {
        Self {
            source,
            start: bytes.start,
            end: bytes.end.max(bytes.start),
        }
    }
}

impl<T> Spanned<T> {
    /// Returns the value with its place.
    pub(crate) fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}
