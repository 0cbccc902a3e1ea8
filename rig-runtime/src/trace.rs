//! Where in somebody's trace does a run belong?
//!
//! A caller that traces hands on what stands in its `traceparent` header (W3C Trace Context, version 00); the rows of the
//! run keep it, and the spans made of them hang there.

use std::fmt;

/// The place in a trace that a `traceparent` header names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Traceparent {
    /// The trace; never 0.
    pub trace_id: u128,
    /// The span that asks; never 0.
    pub parent_id: u64,
    /// The trace flags; the lowest bit says that the trace is recorded.
    pub flags: u8,
}

impl Traceparent {
    /// Reads a header, e.g. `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`. `None` is what the specification
    /// has readers ignore: a header of another form, or with a zero id. Of a later version, what version 00 knows is read.
    #[must_use]
    pub fn parse(header: &str) -> Option<Self> {
        let mut parts = header.trim().splitn(5, '-');
        let mut part = |length: usize| {
            let part = parts.next().filter(|part| part.len() == length)?;
            let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            let is_hex = part.bytes().all(is_hex);
            is_hex.then(|| u128::from_str_radix(part, 16).ok())?
        };
        let version = part(2)?;
        let trace_id = part(32)?;
        let parent_id = u64::try_from(part(16)?).ok()?;
        let flags = u8::try_from(part(2)?).ok()?;
        let has_more = parts.next().is_some();
        let is_known = version != 0xff && !(version == 0 && has_more);
        (is_known && trace_id != 0 && parent_id != 0).then_some(Self {
            trace_id,
            parent_id,
            flags,
        })
    }

    /// Returns whether the trace is recorded.
    #[must_use]
    pub const fn is_sampled(self) -> bool {
        self.flags & 1 == 1
    }
}

impl fmt::Display for Traceparent {
    /// Writes the header.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            trace_id,
            parent_id,
            flags,
        } = self;
        write!(f, "00-{trace_id:032x}-{parent_id:016x}-{flags:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_header_is_read_and_written() {
        let read = Traceparent::parse(HEADER).unwrap();
        assert_eq!(read.trace_id, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
        assert_eq!(
            (read.parent_id, read.is_sampled()),
            (0x00f0_67aa_0ba9_02b7, true)
        );
        assert_eq!(read.to_string(), HEADER);
        let unsampled = HEADER.replace("-01", "-00");
        assert!(!Traceparent::parse(&unsampled).unwrap().is_sampled());
        // A later version may say more.
        let later = format!("{}-and-more", HEADER.replacen("00", "cc", 1));
        assert_eq!(Traceparent::parse(&later), Some(read));
    }

    #[test]
    fn what_is_no_header_is_ignored() {
        let zero_trace = format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32));
        let zero_span = format!("00-{}-{}-01", "1".repeat(32), "0".repeat(16));
        let broken = [
            "",
            "00",
            "00--00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-é4bf92f3577b34da6a3ce929d0e0e47-00f067aa0ba902b7-01",
            &zero_trace,
            &zero_span,
        ];
        for header in broken {
            assert_eq!(Traceparent::parse(header), None, "{header}");
        }
    }
}
