//! Which runs are there at all? Every sequence of outcomes up to a length, on every small ladder.
//!
//! Outcomes that the ladder cannot tell apart are one letter of the alphabet; sequences that begin alike and end
//! before they differ are one run.

use rig::__private::{
    Candidate, FailureClass, Limits, Plan, Policy, Repair, Route, Segment, Template,
};
use tests::routes::{fc_base, ladder};

use super::case::{Case, Keeper, Options, Reply, What};
use super::draw::HOSTS;
use super::model::{End, Observed, expect};

/// The longest sequence of outcomes, on ladders of so many candidates.
const LONGEST: [usize; 4] = [0, 6, 6, 5];

/// What the ladder can tell apart. A call of a tool serves as an answer does, and words miss the schema as JSON may.
#[derive(Clone, Copy, PartialEq)]
enum Letter {
    Serves,
    MissesTheSchema,
    /// `content_invalid`, and nothing to repair. It is like the one before unless a repair is still to come.
    Unusable,
    /// A class that is retried on its own budget.
    Sheds,
    /// Another such class: of more than two, each pair is like this one.
    BreaksDown,
    /// No budget matters: cut, rejected, without credentials, or a wait that is too long.
    FallsThrough,
}

/// Returns every ladder with up to 3 candidates, budgets of up to 2, and up to 2 repairs.
pub(super) fn every_ladder() -> Vec<Ladder> {
    let mut ladders = Vec::new();
    for candidates in 1..=3 {
        for max_repairs in 0..=2 {
            for content in 0..=2 {
                for shed in 0..=2 {
                    // Which of the two classes has the larger budget is the same twice.
                    for network in shed..=2 {
                        ladders.push(Ladder::new(
                            candidates,
                            max_repairs,
                            [content, shed, network],
                        ));
                    }
                }
            }
        }
    }
    ladders
}

/// A small ladder.
pub(super) struct Ladder {
    route: &'static Route,
    max_repairs: usize,
    /// Those of `content_invalid` and of the two classes that are retried on their own.
    budgets: [u32; 3],
}

impl Ladder {
    fn new(candidates: usize, max_repairs: u8, [content, shed, network]: [u32; 3]) -> Self {
        let native = ladder::ROUTE.plan.candidates[0].enforcement;
        let candidate = |provider| Candidate {
            provider,
            model: "m1",
            capabilities: ladder::ROUTE.plan.candidates[0].capabilities,
            enforcement: native,
            limits: Limits::UNKNOWN,
            price: None,
        };
        let all: Vec<_> = HOSTS[..4].iter().map(candidate).collect();
        let all: &'static [Candidate] = all.leak();
        let retries = vec![
            (FailureClass::ContentInvalid, content),
            (FailureClass::CapacityShed, shed),
            (FailureClass::Network, network),
        ];
        let route = Route {
            name: "small",
            schema: fc_base::ROUTE.schema,
            plan: Plan {
                candidates: &all[..candidates],
                prompt: Template {
                    segments: &[Segment::Variable("question")],
                },
                repair: (max_repairs > 0).then_some(Repair {
                    max_repairs,
                    model: Some(&all[candidates - 1]),
                }),
            },
            policy: Policy {
                retries: retries.leak(),
                ..Policy::BLANK
            },
            ..Route::BLANK
        };
        Self {
            route: Box::leak(Box::new(route)),
            max_repairs: usize::from(max_repairs),
            budgets: [content, shed, network],
        }
    }

    /// Hands over every run, as long as nothing goes wrong.
    pub(super) fn runs(
        &self,
        each: &mut impl FnMut(&Case) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut case = Case {
            seed: 0,
            route: self.route,
            trials: &[],
            keys: HOSTS.iter().map(|host| host.name).collect(),
            options: Options::default(),
            script: Vec::new(),
            leaves_in_wait: None,
            store: Keeper::default(),
        };
        self.grow(&mut case, &mut Vec::new(), each)
    }

    /// Goes on with a run that has not ended, by each outcome that it can meet.
    fn grow(
        &self,
        case: &mut Case,
        word: &mut Vec<Letter>,
        each: &mut impl FnMut(&Case) -> Result<(), String>,
    ) -> Result<(), String> {
        let longest = LONGEST[self.route.plan.candidates.len()];
        if word.len() == longest || expect(case, &Observed::default()).end != End::CallerLeft {
            return each(case);
        }
        for letter in self.alphabet(word) {
            case.script
                .push(Reply::now(letter.what(word.len(), self.budgets)));
            word.push(letter);
            self.grow(case, word, each)?;
            word.pop();
            case.script.pop();
        }
        Ok(())
    }
}

impl Ladder {
    /// The outcomes that differ after these.
    fn alphabet(&self, word: &[Letter]) -> Vec<Letter> {
        let failures = self.failures();
        let mut letters = vec![Letter::Serves, Letter::MissesTheSchema];
        let first = word
            .iter()
            .position(|letter| *letter == Letter::MissesTheSchema);
        match first {
            // However else a repair fails, it has used its unit.
            Some(first) if word.len() - first <= self.max_repairs => {
                letters.push(failures[word.len() % failures.len()]);
                return letters;
            }
            None if self.max_repairs > 0 => letters.push(Letter::Unusable),
            _ => {}
        }
        // Of two sequences in which two classes with one budget have only changed places, one is enough.
        let [_, shed, network] = self.budgets;
        let is_second = shed == network && !word.contains(&Letter::Sheds);
        let is_open = |letter: &&Letter| !is_second || **letter != Letter::BreaksDown;
        letters.extend(failures.iter().filter(is_open));
        letters
    }

    /// A class without a budget falls through as everything does that has none.
    fn failures(&self) -> &'static [Letter] {
        match self.budgets {
            [_, 0, 0] => &[Letter::FallsThrough],
            [_, 0, _] => &[Letter::FallsThrough, Letter::BreaksDown],
            _ => &[Letter::FallsThrough, Letter::BreaksDown, Letter::Sheds],
        }
    }
}

impl Letter {
    /// Those of a letter take turns.
    fn what(self, at: usize, budgets: [u32; 3]) -> What {
        let status = |status, asks| What::Status {
            status,
            code: "",
            asks,
        };
        match self {
            Self::Serves => What::Good,
            Self::MissesTheSchema => [What::Bad, What::Prose][at % 2],
            Self::Unusable => What::BadTool,
            Self::Sheds => status([429, 503][at % 2], None),
            Self::BreaksDown => [What::Fault, status(500, None)][at % 2],
            Self::FallsThrough => {
                let all = [
                    What::Cut { whole: true },
                    status(401, None),
                    status(404, None),
                    status(429, Some(241)),
                    status(503, None),
                    What::Fault,
                ];
                let without_budget = budgets.iter().skip(1).filter(|budget| **budget == 0);
                all[at % (4 + without_budget.count())]
            }
        }
    }
}
