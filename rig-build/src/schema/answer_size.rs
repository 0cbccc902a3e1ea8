//! How short and how long can an answer be that conforms to the schema?
//!
//! Sizes are bytes of compact JSON. A keyword that is not looked at (`pattern`, `format`, `not`, `if`, `contains`,
//! `uniqueItems`, the dependent and the unevaluated ones, references by anchor) can only forbid answers, so leaving
//! it out keeps `shortest` a lower and `longest` an upper bound. Nothing here counts tokens. That there is a
//! `shortest` does not say that anything conforms; that there is none says that nothing does.
//!
//! Every schema becomes an equation over the sizes of its subschemas; references make the equations recursive.
//! They are solved from "there is no such answer" downwards, so that a recursion that never ends stays there.

mod equation;
#[cfg(test)]
mod laws;
mod parts;
mod scalar;
#[cfg(test)]
mod tests;

use crate::node::Node;
use equation::{Equation, equations};

/// How short and how long a conformant answer can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AnswerSize {
    /// At most what the shortest conformant answer has; `None` where no finite answer conforms, or none
    /// that anybody could write (2^64 bytes).
    pub(crate) shortest: Option<Shortest>,
    /// At least the bytes of the longest conformant answer; `None` where a part of it is unbounded.
    ///
    /// Strings are counted with four bytes a character, the most that UTF-8 takes, and numbers as plain decimals.
    /// An answer can be longer by blanks, by control characters (`\u0001`) and by needless escapes (`\u00e9` for
    /// `é`): no schema bounds those, and no model that answers to the point writes many.
    pub(crate) longest: Option<u64>,
}

/// What the shortest conformant answer has at least, each number taken for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shortest {
    /// The bytes, each key, string and number spelled in the shortest way.
    pub(crate) bytes: u64,
    /// The places where a word (ASCII letters and digits) meets the punctuation of JSON, however it is spelled:
    /// the end of a key, string, number or literal behind a word, and the two marks (`{"`, `,"`, `:"`) in front of
    /// one. The beginning and the end of the answer count as such places too.
    pub(crate) word_edges: u64,
}

/// Returns how short and how long an answer can be that conforms to a bundled schema.
pub(crate) fn answer_size(root: &Node) -> AnswerSize {
    let unknown = AnswerSize {
        shortest: Some(Shortest::ANY),
        longest: None,
    };
    let Some(equations) = equations(root) else {
        return unknown;
    };
    let order = dependencies_first(&equations);
    let mut sizes = vec![Size::UNSOLVED; equations.len()];
    for _ in 0..MAX_PASSES {
        let mut changed = false;
        for id in &order {
            let size = equations[*id].size(&sizes);
            changed |= std::mem::replace(&mut sizes[*id], size) != size;
        }
        if !changed {
            let Size { shortest, longest } = sizes[0];
            return AnswerSize {
                shortest: (shortest.bytes != u64::MAX).then_some(shortest),
                longest: (longest != u64::MAX).then_some(longest),
            };
        }
    }
    unknown
}

/// Without recursion one pass solves everything and the second sees that it did. A schema that needs more than
/// this many was made to need them.
const MAX_PASSES: usize = 64;

/// Both sizes of what conforms to one subschema; `u64::MAX` is infinite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    shortest: Shortest,
    longest: u64,
}

impl Shortest {
    /// Any answer at all: a digit.
    const ANY: Self = Self {
        bytes: 1,
        word_edges: 0,
    };
    /// No answer.
    const NEVER: Self = Self {
        bytes: u64::MAX,
        word_edges: u64::MAX,
    };

    fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            word_edges: self.word_edges.saturating_add(other.word_edges),
        }
    }

    fn times(self, count: u64) -> Self {
        Self {
            bytes: self.bytes.saturating_mul(count),
            word_edges: self.word_edges.saturating_mul(count),
        }
    }

    /// Adds bytes that make no word edge.
    fn and_bytes(self, bytes: u64) -> Self {
        Self {
            bytes: self.bytes.saturating_add(bytes),
            ..self
        }
    }
}

impl Size {
    /// What is known before anything is: the upper end of both.
    const UNSOLVED: Self = Self {
        shortest: Shortest::NEVER,
        longest: u64::MAX,
    };
    /// What conforms to `false`.
    const NOTHING: Self = Self {
        shortest: Shortest::NEVER,
        longest: 0,
    };
    /// What conforms to `true`.
    const ANYTHING: Self = Self {
        shortest: Shortest::ANY,
        longest: u64::MAX,
    };

    fn new(shortest: u64, word_edges: u64, longest: u64) -> Self {
        Self {
            shortest: Shortest {
                bytes: shortest,
                word_edges,
            },
            longest,
        }
    }

    /// Returns the size of what conforms to one of the two.
    fn or(self, other: Self) -> Self {
        Self {
            shortest: Shortest {
                bytes: self.shortest.bytes.min(other.shortest.bytes),
                word_edges: self.shortest.word_edges.min(other.shortest.word_edges),
            },
            longest: self.longest.max(other.longest),
        }
    }

    /// Returns the size of what conforms to both.
    fn and(self, other: Self) -> Self {
        Self {
            shortest: Shortest {
                bytes: self.shortest.bytes.max(other.shortest.bytes),
                word_edges: self.shortest.word_edges.max(other.shortest.word_edges),
            },
            longest: self.longest.min(other.longest),
        }
    }
}

/// Returns the equations in an order in which each comes after those that it asks, as far as recursion lets it.
fn dependencies_first(equations: &[Equation]) -> Vec<usize> {
    let mut order = Vec::with_capacity(equations.len());
    let mut seen = vec![false; equations.len()];
    let mut open = vec![(0, equations[0].asks())];
    seen[0] = true;
    while let Some((id, asks)) = open.last_mut() {
        match asks.pop() {
            Some(next) if !std::mem::replace(&mut seen[next], true) => {
                open.push((next, equations[next].asks()));
            }
            Some(_) => {}
            None => {
                order.push(*id);
                open.pop();
            }
        }
    }
    order
}
