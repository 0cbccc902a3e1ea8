//! How is a route with grounding tested without a search provider?

use std::collections::VecDeque;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::search::{Finding, Search, SearchError};
use crate::transport::BoxFuture;

/// Answers searches from a script, in order. Cloning it gives another handle on the same script.
#[derive(Clone, Default)]
pub struct ScriptedSearch(Arc<Mutex<Script>>);

#[derive(Default)]
struct Script {
    answers: VecDeque<Result<Vec<Finding>, SearchError>>,
    queries: Vec<String>,
}

impl ScriptedSearch {
    /// Returns a search without answers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an answer to the end of the script. A search that finds the script empty fails.
    pub fn push(&self, answer: Result<Vec<Finding>, SearchError>) {
        self.script().answers.push_back(answer);
    }

    /// Returns what was searched for so far, in order.
    #[must_use]
    pub fn queries(&self) -> Vec<String> {
        self.script().queries.clone()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Search for ScriptedSearch {
    fn search(&self, query: String) -> BoxFuture<'_, Result<Vec<Finding>, SearchError>> {
        let mut script = self.script();
        script.queries.push(query);
        let answer = script
            .answers
            .pop_front()
            .unwrap_or_else(|| Err(SearchError::new("the script has no answer left")));
        Box::pin(ready(answer))
    }
}
