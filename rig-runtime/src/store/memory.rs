//! How are rows kept without a disk? In a vector, for tests and for processes that want no file.

use std::collections::{HashMap, HashSet};
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rig_spec::Usd;

use super::export::Holder;
use super::ledger::{Ledger, Stage};
use super::reading::observed;
use super::{
    AttemptRow, Capture, ChargeRow, Envelope, EnvelopeState, ExportNext, ExportTurn, Exported,
    Grade, Graded, ObservedLatency, Page, Reserve, Reserved, Spend, Spending, Store, StoreError,
    VerdictRow, VerdictsOf,
};
use crate::transport::BoxFuture;

/// Keeps rows in memory. They are gone with the store. Cloning it gives another handle on the same rows.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    rows: Vec<AttemptRow>,
    captures: Vec<Capture>,
    ids: HashSet<String>,
    ledger: Ledger,
    verdicts: Vec<VerdictRow>,
    /// By exporter.
    exports: HashMap<String, Export>,
}

#[derive(Debug, Default)]
struct Export {
    cursor: Option<String>,
    holder: Option<Holder>,
}

impl Kept {
    fn grade(&mut self, grade: Grade) -> Result<(), StoreError> {
        if !grade.verdict.is_finite() {
            return Err(StoreError::Score);
        }
        let Some(row) = self.rows.iter().find(|row| grade.of.takes(row)) else {
            let id = grade.of.id().to_owned();
            return Err(StoreError::Unknown { id });
        };
        if self.verdicts.iter().all(|known| known.id != grade.id) {
            self.verdicts.push(VerdictRow {
                id: grade.id,
                ts_ms: grade.ts_ms,
                run_id: row.run_id.clone(),
                inference_id: grade.of.into_attempt(),
                verdict: grade.verdict,
            });
        }
        Ok(())
    }

    fn next_export(&mut self, turn: ExportTurn) -> ExportNext {
        let export = self.exports.entry(turn.exporter.clone()).or_default();
        if export
            .holder
            .as_ref()
            .is_some_and(|holder| holder.keeps_out(&turn))
        {
            return ExportNext::Taken;
        }
        let last = |cursor: &String| self.rows.iter().rposition(|row| row.id == *cursor);
        let after = export
            .cursor
            .as_ref()
            .and_then(last)
            .map_or(0, |last| last + 1);
        let next = ExportNext::of(self.rows[after..].iter().take(turn.most as usize));
        if next != ExportNext::Nothing {
            export.holder = Some(turn.holder());
        }
        next
    }

    fn exported(&mut self, done: Exported) {
        let Some(export) = self.exports.get_mut(&done.exporter) else {
            return;
        };
        let is_its_turn = |holder: &Holder| holder.worker == done.worker;
        if export
            .holder
            .take_if(|holder| is_its_turn(holder))
            .is_some()
        {
            export.cursor = done.cursor.or(export.cursor.take());
        }
    }
}

impl MemoryStore {
    /// Returns every row, in the order of recording.
    #[must_use]
    pub fn rows(&self) -> Vec<AttemptRow> {
        self.kept().rows.clone()
    }

    /// Nothing panics while the lock is held, so what it guards is whole.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn record(&self, row: AttemptRow) {
        let mut kept = self.kept();
        if kept.ids.insert(row.id.clone()) {
            kept.rows.push(row);
        }
    }

    fn record_captured(&self, row: AttemptRow, capture: Capture) {
        let mut kept = self.kept();
        if kept.ids.insert(row.id.clone()) {
            kept.rows.push(row);
            kept.captures.push(capture);
        }
    }

    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(ready(Ok(())))
    }

    fn attempts(&self, run_id: &str) -> BoxFuture<'_, Result<Vec<AttemptRow>, StoreError>> {
        let kept = self.kept();
        let mut rows: Vec<_> = kept
            .rows
            .iter()
            .filter(|row| row.run_id == run_id)
            .cloned()
            .collect();
        rows.sort_by_key(|row| row.attempt);
        Box::pin(ready(Ok(rows)))
    }

    fn captures(&self, route: &str) -> BoxFuture<'_, Result<Vec<Capture>, StoreError>> {
        let kept = self.kept();
        let of_route = kept
            .captures
            .iter()
            .filter(|capture| capture.route == route);
        let mut captures: Vec<_> = of_route.cloned().collect();
        captures.sort_by_key(|capture| capture.ts_ms);
        Box::pin(ready(Ok(captures)))
    }

    fn observed_latency(
        &self,
        route: &str,
    ) -> BoxFuture<'_, Result<Vec<ObservedLatency>, StoreError>> {
        let observed = observed(route, self.kept().rows.iter());
        Box::pin(ready(Ok(observed)))
    }

    fn spend(&self, of: Spending) -> BoxFuture<'_, Result<Spend, StoreError>> {
        let kept = self.kept();
        let taken = kept.rows.iter().filter(|row| of.takes(row));
        let spend = taken.fold(Spend::default(), Spend::add);
        Box::pin(ready(Ok(spend)))
    }

    fn page(&self, of: Page) -> BoxFuture<'_, Result<Vec<AttemptRow>, StoreError>> {
        let kept = self.kept();
        let mut rows: Vec<_> = kept.rows.iter().filter(|row| of.takes(row)).collect();
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        rows.truncate(of.limit as usize);
        Box::pin(ready(Ok(rows.into_iter().cloned().collect())))
    }

    fn open_envelope(
        &self,
        envelope: Envelope,
        now_ms: i64,
    ) -> BoxFuture<'_, Result<EnvelopeState, StoreError>> {
        let state = self.kept().ledger.open(&envelope, now_ms);
        Box::pin(ready(Ok(state)))
    }

    fn reserve(&self, wanted: Reserve) -> BoxFuture<'_, Result<Reserved, StoreError>> {
        Box::pin(ready(Ok(self.kept().ledger.reserve(&wanted))))
    }

    fn settle(&self, id: &str, charge: Option<Usd>) {
        let mut kept = self.kept();
        kept.ledger.settle(id, charge);
    }

    fn envelope(
        &self,
        name: &str,
        now_ms: i64,
    ) -> BoxFuture<'_, Result<Option<EnvelopeState>, StoreError>> {
        let state = self.kept().ledger.state(name, now_ms).cloned();
        Box::pin(ready(Ok(state)))
    }

    fn envelopes(&self, now_ms: i64) -> BoxFuture<'_, Result<Vec<EnvelopeState>, StoreError>> {
        let mut kept = self.kept();
        let names = kept.ledger.names();
        let state = |name: &String| kept.ledger.state(name, now_ms).cloned();
        let states = names.iter().filter_map(state).collect();
        Box::pin(ready(Ok(states)))
    }

    fn charges(&self, envelope: &str) -> BoxFuture<'_, Result<Vec<ChargeRow>, StoreError>> {
        let kept = self.kept();
        let row = |id: &str| kept.rows.iter().find(|row| row.id == id).cloned();
        let charges = kept.ledger.charges(envelope).into_iter();
        let charges = charges.map(|(id, charge)| ChargeRow {
            id: id.clone(),
            reserved: charge.reserved,
            charged: charge.charged(),
            is_expired: charge.stage == Stage::Lapsed,
            row: row(id),
        });
        Box::pin(ready(Ok(charges.collect())))
    }

    fn grade(&self, grade: Grade) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(ready(self.kept().grade(grade)))
    }

    fn verdicts(&self, of: VerdictsOf) -> BoxFuture<'_, Result<Vec<VerdictRow>, StoreError>> {
        let kept = self.kept();
        let is_of_route = |verdict: &VerdictRow, route: &str| {
            let run = Graded::Run(verdict.run_id.clone());
            kept.rows
                .iter()
                .any(|row| row.route == route && run.takes(row))
        };
        let mut verdicts = kept.verdicts.clone();
        verdicts.retain(|verdict| match &of {
            VerdictsOf::Run(run_id) => verdict.run_id == *run_id,
            VerdictsOf::Route(route) => is_of_route(verdict, route),
        });
        verdicts.sort_by_key(|verdict| verdict.ts_ms);
        Box::pin(ready(Ok(verdicts)))
    }

    fn next_export(&self, turn: ExportTurn) -> BoxFuture<'_, Result<ExportNext, StoreError>> {
        Box::pin(ready(Ok(self.kept().next_export(turn))))
    }

    fn exported(&self, done: Exported) -> BoxFuture<'_, Result<(), StoreError>> {
        self.kept().exported(done);
        Box::pin(ready(Ok(())))
    }
}
