//! What does an automaton do for a pattern, step by step?

use super::class::Class;
use super::parse::Tree;

/// The steps of an automaton.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    /// Whether a match can only begin where the text does.
    pub(super) anchored: bool,
}

/// One step. Where nothing else is said, the next one follows.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Takes a character of the set.
    Take(Class),
    /// Goes on at both.
    Fork(usize, usize),
    /// Goes on there.
    Jump(usize),
    /// Goes on at the start of the text.
    Start,
    /// Goes on at the end of the text.
    End,
    /// Goes on between a word and what is none.
    Boundary { negated: bool },
    /// Goes on where the steps from `from` find a match from here on; where they do not, if negated.
    Look {
        from: usize,
        behind: bool,
        negated: bool,
    },
    /// A match.
    Found,
}

/// The most steps of an automaton.
const MOST_STEPS: usize = 20_000;

/// Makes the automaton of a pattern; `None` if it would have too many steps.
pub(super) fn compile(tree: &Tree) -> Option<Program> {
    let mut maker = Maker::default();
    maker.write(tree, false)?;
    maker.push(Step::Found)?;
    // What is looked for stands behind the steps that look, and may itself look for more.
    while let Some((at, what, behind)) = maker.looks.pop() {
        let start = maker.steps.len();
        if let Some(Step::Look { from, .. }) = maker.steps.get_mut(at) {
            *from = start;
        }
        maker.write(what, behind)?;
        maker.push(Step::Found)?;
    }
    Some(Program {
        steps: maker.steps,
        anchored: is_anchored(tree),
    })
}

fn is_anchored(tree: &Tree) -> bool {
    match tree {
        Tree::Start => true,
        Tree::Each(parts) => parts.first().is_some_and(is_anchored),
        Tree::Either(options) => options.iter().all(is_anchored),
        _ => false,
    }
}

#[derive(Default)]
struct Maker<'t> {
    steps: Vec<Step>,
    looks: Vec<(usize, &'t Tree, bool)>,
}

impl<'t> Maker<'t> {
    fn push(&mut self, step: Step) -> Option<usize> {
        if self.steps.len() >= MOST_STEPS {
            return None;
        }
        self.steps.push(step);
        Some(self.steps.len() - 1)
    }

    fn aim(&mut self, at: usize, target: usize) {
        if let Some(Step::Fork(_, to) | Step::Jump(to)) = self.steps.get_mut(at) {
            *to = target;
        }
    }

    /// Writes the steps that match a tree; backwards, where the text is read backwards.
    fn write(&mut self, tree: &'t Tree, backwards: bool) -> Option<()> {
        match tree {
            Tree::Class(class) => {
                self.push(Step::Take(class.clone()))?;
            }
            Tree::Start => {
                self.push(Step::Start)?;
            }
            Tree::End => {
                self.push(Step::End)?;
            }
            Tree::Boundary { negated } => {
                self.push(Step::Boundary { negated: *negated })?;
            }
            Tree::Each(parts) if backwards => {
                for part in parts.iter().rev() {
                    self.write(part, backwards)?;
                }
            }
            Tree::Each(parts) => {
                for part in parts {
                    self.write(part, backwards)?;
                }
            }
            Tree::Either(options) => self.either(options, backwards)?,
            Tree::Repeat { what, least, most } => {
                for _ in 0..*least {
                    self.write(what, backwards)?;
                }
                match most {
                    None => self.forever(what, backwards)?,
                    Some(most) => self.at_most(what, most - least, backwards)?,
                }
            }
            Tree::Look {
                what,
                behind,
                negated,
            } => {
                let at = self.push(Step::Look {
                    from: 0,
                    behind: *behind,
                    negated: *negated,
                })?;
                self.looks.push((at, what, *behind));
            }
        }
        Some(())
    }

    fn either(&mut self, options: &'t [Tree], backwards: bool) -> Option<()> {
        let Some((last, others)) = options.split_last() else {
            return Some(());
        };
        let mut ends = Vec::new();
        for option in others {
            let fork = self.push(Step::Fork(self.steps.len() + 1, 0))?;
            self.write(option, backwards)?;
            ends.push(self.push(Step::Jump(0))?);
            self.aim(fork, self.steps.len());
        }
        self.write(last, backwards)?;
        for end in ends {
            self.aim(end, self.steps.len());
        }
        Some(())
    }

    fn forever(&mut self, what: &'t Tree, backwards: bool) -> Option<()> {
        let fork = self.push(Step::Fork(self.steps.len() + 1, 0))?;
        self.write(what, backwards)?;
        self.push(Step::Jump(fork))?;
        self.aim(fork, self.steps.len());
        Some(())
    }

    fn at_most(&mut self, what: &'t Tree, times: u32, backwards: bool) -> Option<()> {
        let mut forks = Vec::new();
        for _ in 0..times {
            forks.push(self.push(Step::Fork(self.steps.len() + 1, 0))?);
            self.write(what, backwards)?;
        }
        for fork in forks {
            self.aim(fork, self.steps.len());
        }
        Some(())
    }
}
