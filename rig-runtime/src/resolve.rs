//! Which of a route's candidates may serve this call?
//!
//! Contract R1, as far as it depends on the call: `providers_only`, `providers_ignore`, zero retention, the price
//! ceiling. The compiler has done the rest, and the order is the one that it left. The repair model is held to the
//! same filters.

use rig_spec::{Candidate, Plan, Route};

pub(crate) use rig_spec::Narrowing;

/// Who may serve a call.
pub(crate) struct Eligible {
    /// The candidates, in ladder order.
    pub(crate) candidates: Vec<&'static Candidate>,
    /// How many repairs there may be.
    pub(crate) max_repairs: u8,
    /// Who does the second of them.
    pub(crate) repair_model: Option<&'static Candidate>,
    /// Which candidates may not serve, and what says so.
    pub(crate) removed: Vec<String>,
}

/// Narrows the plan of a route to what the call lets serve.
pub(crate) fn resolve(route: &Route, plan: &'static Plan, narrowing: &Narrowing) -> Eligible {
    let removed = |candidate: &Candidate, for_task: bool| {
        let filter = narrowing
            .removes(
                candidate.provider.name,
                candidate.capabilities,
                candidate.price,
            )
            .or_else(|| unsearched(route, candidate, narrowing).filter(|_| for_task))?;
        let (provider, model) = (candidate.provider.name, candidate.model);
        Some(format!("`{provider}/{model}` {filter}"))
    };
    let kept = plan.candidates.iter();
    let repair = plan.repair.as_ref();
    let repair_model = repair
        .and_then(|repair| repair.model)
        .filter(|model| removed(model, false).is_none());
    let max_repairs = repair.map_or(0, |repair| repair.max_repairs);
    let askable = if repair_model.is_some() { 2 } else { 1 };
    Eligible {
        candidates: kept
            .filter(|candidate| removed(candidate, true).is_none())
            .collect(),
        max_repairs: max_repairs.min(askable),
        repair_model,
        removed: plan
            .candidates
            .iter()
            .filter_map(|candidate| removed(candidate, true))
            .collect(),
    }
}

impl Eligible {
    /// Returns whether a candidate may be dispatched, as itself or as the repair model.
    pub(crate) fn allows(&self, candidate: &Candidate) -> bool {
        let repair_model = self.repair_model.iter();
        self.candidates.iter().chain(repair_model).any(|allowed| {
            allowed.provider.name == candidate.provider.name && allowed.model == candidate.model
        })
    }
}

/// R6: who needs a search that may keep the query is removed.
fn unsearched(route: &Route, candidate: &Candidate, narrowing: &Narrowing) -> Option<String> {
    let search = route.grounding.as_ref()?.search?;
    narrowing.removes_searched(candidate.capabilities, search.zero_retention)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rig_spec::{
        ANTHROPIC, Capabilities, Capability, DEEPSEEK, Enforcement, GROK, Grounding, Limits,
        OPENAI, Price, Provider, Rates, Repair, Search, Template, Usd, UsdPerMtok,
    };

    use super::*;

    const SEALED: Capabilities = Capabilities::of(&[Capability::ZeroRetention]);

    const fn candidate(
        provider: &'static Provider,
        capabilities: Capabilities,
        nanos: Option<u64>,
    ) -> Candidate {
        Candidate {
            provider,
            model: "m",
            capabilities,
            enforcement: Enforcement::Coached,
            price: match nanos {
                Some(nanos) => Some(Price::flat(Rates::nanos(nanos, nanos))),
                None => None,
            },
            limits: Limits::UNKNOWN,
        }
    }

    const NONE: Capabilities = Capabilities::of(&[]);
    static CANDIDATES: [Candidate; 4] = [
        candidate(&OPENAI, NONE, Some(5)),
        candidate(&ANTHROPIC, SEALED, Some(10)),
        candidate(&GROK, SEALED, None),
        candidate(
            &DEEPSEEK,
            Capabilities::of(&[Capability::ZeroRetention, Capability::GroundedNative]),
            Some(1),
        ),
    ];
    static PLAN: Plan = Plan {
        candidates: &CANDIDATES,
        prompt: Template { segments: &[] },
        repair: Some(Repair {
            max_repairs: 2,
            model: Some(&CANDIDATES[0]),
        }),
    };

    fn names(eligible: &Eligible) -> Vec<&str> {
        let candidates = eligible.candidates.iter();
        candidates
            .map(|candidate| candidate.provider.name)
            .collect()
    }

    fn of(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    // R1, R2: each filter, and the candidates stay in their order.
    #[test]
    fn each_filter_removes_what_it_says() {
        let cases: [(Narrowing, &[&str]); 5] = [
            (
                Narrowing::default(),
                &["openai", "anthropic", "grok", "deepseek"],
            ),
            (
                Narrowing {
                    only: Some(of(&["deepseek", "openai", "nobody"])),
                    ..Narrowing::default()
                },
                &["openai", "deepseek"],
            ),
            (
                Narrowing {
                    ignore: of(&["openai"]),
                    ..Narrowing::default()
                },
                &["anthropic", "grok", "deepseek"],
            ),
            (
                Narrowing {
                    zero_retention: true,
                    ..Narrowing::default()
                },
                &["anthropic", "grok", "deepseek"],
            ),
            (
                Narrowing {
                    max_price: Some(UsdPerMtok::nanos(10)),
                    ..Narrowing::default()
                },
                &["openai", "deepseek"],
            ),
        ];
        for (narrowing, expected) in cases {
            let eligible = resolve(&Route::BLANK, &PLAN, &narrowing);
            assert_eq!(names(&eligible), expected, "{narrowing:?}");
            assert_eq!(eligible.removed.len(), 4 - expected.len());
        }
    }

    // R1: the first filter in the contract's order is the one that is named.
    #[test]
    fn the_first_filter_is_named() {
        let narrowing = Narrowing {
            only: Some(Vec::new()),
            ignore: of(&["openai"]),
            zero_retention: true,
            max_price: Some(UsdPerMtok::nanos(0)),
        };
        let eligible = resolve(&Route::BLANK, &PLAN, &narrowing);
        assert_eq!(
            eligible.removed[0],
            "`openai/m` is not one of `providers_only`"
        );
        assert!(eligible.candidates.is_empty());
    }

    // R6: a repair model that is not designated is not asked, and the first repair is left.
    #[test]
    fn the_repair_model_is_held_to_the_call_too() {
        let repairs = |narrowing: &Narrowing| {
            let eligible = resolve(&Route::BLANK, &PLAN, narrowing);
            assert_eq!(
                eligible.repair_model.is_some(),
                eligible.allows(&CANDIDATES[0])
            );
            eligible.max_repairs
        };
        assert_eq!(repairs(&Narrowing::default()), 2);
        let sealed = Narrowing {
            zero_retention: true,
            ..Narrowing::default()
        };
        assert_eq!(repairs(&sealed), 1);
    }

    // R6: nothing is searched for where the search may keep it.
    #[test]
    fn who_needs_a_search_that_may_keep_the_query_is_removed() {
        static OPEN: Search = Search {
            url: "https://search.test",
            key_env: None,
            cost: Usd::ZERO,
            zero_retention: false,
        };
        static CLOSED: Search = Search {
            url: "https://search.test",
            key_env: None,
            cost: Usd::ZERO,
            zero_retention: true,
        };
        let eligible = |search, zero_retention| {
            let route = Route {
                grounding: Some(Grounding {
                    query: Template { segments: &[] },
                    search: Some(search),
                }),
                ..Route::BLANK
            };
            let narrowing = Narrowing {
                zero_retention,
                ..Narrowing::default()
            };
            resolve(&route, &PLAN, &narrowing).candidates.len()
        };
        assert_eq!((eligible(&OPEN, false), eligible(&CLOSED, false)), (4, 4));
        assert_eq!((eligible(&OPEN, true), eligible(&CLOSED, true)), (1, 3));
    }

    proptest! {
        // R1: whoever is left keeps every filter, and nobody is lost without a reason.
        #[test]
        fn nobody_is_left_that_a_filter_removes(
            only in prop::option::of(prop::collection::vec(0_usize..4, 0..4)),
            ignore in prop::collection::vec(0_usize..4, 0..3),
            zero_retention in any::<bool>(),
            max_price in prop::option::of(0_u64..25),
        ) {
            let named = |picked: &[usize]| -> Vec<String> {
                picked.iter().map(|at| CANDIDATES[*at].provider.name.to_owned()).collect()
            };
            let narrowing = Narrowing {
                only: only.as_deref().map(named),
                ignore: named(&ignore),
                zero_retention,
                max_price: max_price.map(UsdPerMtok::nanos),
            };
            let eligible = resolve(&Route::BLANK, &PLAN, &narrowing);
            prop_assert_eq!(eligible.candidates.len() + eligible.removed.len(), CANDIDATES.len());
            for (at, candidate) in CANDIDATES.iter().enumerate() {
                let keeps = only.as_ref().is_none_or(|only| only.contains(&at))
                    && !ignore.contains(&at)
                    && (!zero_retention || candidate.capabilities.has(Capability::ZeroRetention))
                    && max_price.is_none_or(|most| {
                        candidate.price.is_some_and(|price| price.rates.blended() <= UsdPerMtok::nanos(most))
                    });
                prop_assert_eq!(names(&eligible).contains(&candidate.provider.name), keeps);
            }
        }
    }
}
