//! Does an automaton find a match in a text?
//!
//! All states that it can be in are carried along the text together, each once: the work is at most states times
//! characters. A look-around searches from where it stands, so those are counted against a budget.

use super::class::is_word;
use super::program::{Program, Step};

/// The most steps of one search: some for every byte of the text, and a fraction of a second for looking around.
const STEPS_PER_BYTE: u64 = 64;
const STEPS_MORE: u64 = 1 << 23;

/// Returns whether there is a match anywhere in a text; `None` if the budget does not suffice to say.
pub(super) fn is_match(program: &Program, text: &str) -> Option<bool> {
    let mut search = Search {
        program,
        text,
        budget: STEPS_MORE + STEPS_PER_BYTE * text.len() as u64,
    };
    search.run(0, 0, Way::Anywhere)
}

/// How a text is searched.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// A match may begin anywhere from here on.
    Anywhere,
    /// It begins here.
    Here,
    /// It ends here, and is read backwards.
    Behind,
}

struct Search<'p> {
    program: &'p Program,
    text: &'p str,
    budget: u64,
}

/// The states at one place of the text.
struct States {
    /// Steps that take a character.
    taking: Vec<usize>,
    /// Where each step was last reached, by its turn.
    reached: Vec<u32>,
    /// Steps that are still to be followed.
    open: Vec<usize>,
}

impl Search<'_> {
    fn run(&mut self, entry: usize, from: usize, way: Way) -> Option<bool> {
        let mut states = States {
            taking: Vec::new(),
            reached: vec![0; self.program.steps.len()],
            open: Vec::new(),
        };
        let restarts = way == Way::Anywhere && !self.program.anchored;
        let mut at = from;
        let mut turn = 1;
        states.open.push(entry);
        loop {
            if self.follow(&mut states, at, turn)? {
                return Some(true);
            }
            if states.taking.is_empty() && !restarts {
                return Some(false);
            }
            let c = match way {
                Way::Behind => self.text[..at].chars().next_back(),
                Way::Anywhere | Way::Here => self.text[at..].chars().next(),
            };
            let Some(c) = c else {
                return Some(false);
            };
            let mut taking = std::mem::take(&mut states.taking);
            for step in &taking {
                if let Some(Step::Take(class)) = self.program.steps.get(*step)
                    && class.takes(c)
                {
                    states.open.push(step + 1);
                }
            }
            taking.clear();
            states.taking = taking;
            if restarts {
                states.open.push(entry);
            }
            at = match way {
                Way::Behind => at - c.len_utf8(),
                Way::Anywhere | Way::Here => at + c.len_utf8(),
            };
            turn += 1;
        }
    }

    /// Follows all open steps that take no character. Returns whether a match was found.
    fn follow(&mut self, states: &mut States, at: usize, turn: u32) -> Option<bool> {
        while let Some(step) = states.open.pop() {
            self.budget = self.budget.checked_sub(1)?;
            let Some(reached) = states.reached.get_mut(step) else {
                continue;
            };
            if *reached == turn {
                continue;
            }
            *reached = turn;
            let goes_on = match &self.program.steps[step] {
                Step::Found => return Some(true),
                Step::Take(_) => {
                    states.taking.push(step);
                    false
                }
                Step::Fork(one, other) => {
                    states.open.extend([*one, *other]);
                    false
                }
                Step::Jump(to) => {
                    states.open.push(*to);
                    false
                }
                Step::Start => at == 0,
                Step::End => at == self.text.len(),
                Step::Boundary { negated } => self.is_boundary(at) != *negated,
                Step::Look {
                    from,
                    behind,
                    negated,
                } => {
                    let way = if *behind { Way::Behind } else { Way::Here };
                    // A search has to be paid for even where it sees nothing.
                    self.budget = self
                        .budget
                        .checked_sub(self.program.steps.len() as u64 / 8)?;
                    self.run(*from, at, way)? != *negated
                }
            };
            if goes_on {
                states.open.push(step + 1);
            }
        }
        Some(false)
    }

    fn is_boundary(&self, at: usize) -> bool {
        let before = self.text[..at].chars().next_back().is_some_and(is_word);
        let after = self.text[at..].chars().next().is_some_and(is_word);
        before != after
    }
}
