//! How are rows kept without a disk? In a vector, for tests and for processes that want no file.

use std::collections::{BTreeMap, HashSet};
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rig_spec::Usd;

use super::envelope::check_name;
use super::export::{Holder, LISTED};
use super::ledger::{Ledger, Stage};
use super::reading::observed;
use super::{
    AttemptRow, Capture, ChargeRow, Envelope, EnvelopeState, ExportNext, ExportState, ExportTurn,
    Exported, Grade, Graded, ObservedLatency, Page, PassedOver, Prune, Pruned, Reserve, Reserved,
    SetAside, Spend, Spending, Store, StoreError, VerdictRow, VerdictsOf,
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
    exports: BTreeMap<String, Export>,
}

#[derive(Debug, Default)]
struct Export {
    cursor: Option<String>,
    holder: Option<Holder>,
    set_aside: Vec<SetAside>,
    fault: Option<(String, i64)>,
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
        let after = after(&self.rows, export.cursor.as_ref());
        let rows = self.rows[after..].iter().take(turn.most as usize);
        let next = ExportNext::of(rows.map(|row| (row.id.as_str(), Some(row))));
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
            .is_none()
        {
            return;
        }
        let since_ms = export.fault.as_ref().map(|(_, since_ms)| *since_ms);
        match done.fault {
            Some(fault) => export.fault = Some((fault, since_ms.unwrap_or(done.now_ms))),
            None if done.cursor.is_some() => export.fault = None,
            None => {}
        }
        let cursor = done.cursor.filter(|cursor| self.ids.contains(cursor));
        export.cursor = cursor.or(export.cursor.take());
        for PassedOver { id, reason } in done.set_aside {
            if export.set_aside.iter().all(|known| known.id != id) {
                let ts_ms = done.now_ms;
                export.set_aside.push(SetAside { id, ts_ms, reason });
            }
        }
    }

    fn exports(&self) -> Vec<ExportState> {
        let state = |(exporter, export): (&String, &Export)| {
            let mut newest = export.set_aside.clone();
            newest.sort_by(|a, b| (b.ts_ms, &b.id).cmp(&(a.ts_ms, &a.id)));
            newest.truncate(LISTED as usize);
            let (fault, since_ms) = export.fault.clone().unzip();
            ExportState {
                exporter: exporter.clone(),
                waiting: (self.rows.len() - after(&self.rows, export.cursor.as_ref())) as u64,
                set_aside: export.set_aside.len() as u64,
                newest_set_aside: newest,
                fault,
                fault_since_ms: since_ms,
            }
        };
        self.exports.iter().map(state).collect()
    }

    fn prune(&mut self, prune: &Prune, now_ms: i64) -> Pruned {
        let cursors = self.exports.values().map(|export| export.cursor.as_ref());
        let exported = cursors.map(|cursor| after(&self.rows, cursor)).min();
        let (mut going, mut pruned) = (HashSet::new(), Pruned::default());
        for (at, row) in self.rows.iter().enumerate() {
            if !prune.takes(row, now_ms) {
                continue;
            }
            let is_exported = exported.is_none_or(|exported| at < exported);
            if !prune.takes_rows || is_exported || prune.takes_unexported {
                going.insert(row.id.clone());
            } else {
                pruned.kept_unexported += 1;
            }
        }
        let captures = self.captures.iter();
        let captures = captures.filter(|capture| going.contains(&capture.id));
        pruned.captures = captures.count() as u64;
        let stays = |row: &&AttemptRow| !going.contains(&row.id);
        let runs: HashSet<_> = self.rows.iter().map(|row| &row.run_id).collect();
        let staying = self.rows.iter().filter(stays);
        let staying: HashSet<_> = staying.map(|row| row.run_id.clone()).collect();
        let is_over = |verdict: &VerdictRow| match &verdict.inference_id {
            Some(id) => going.contains(id),
            None => runs.contains(&verdict.run_id) && !staying.contains(&verdict.run_id),
        };
        if prune.takes_rows {
            pruned.rows = going.len() as u64;
            let over = self.verdicts.iter().filter(|verdict| is_over(verdict));
            pruned.verdicts = over.count() as u64;
        }
        if prune.is_dry {
            return pruned;
        }
        self.captures.retain(|capture| !going.contains(&capture.id));
        if prune.takes_rows {
            self.verdicts.retain(|verdict| !is_over(verdict));
            for export in self.exports.values_mut() {
                let before = &self.rows[..after(&self.rows, export.cursor.as_ref())];
                let last = before.iter().rfind(stays);
                export.cursor = last.map(|row| row.id.clone());
                export.set_aside.retain(|row| !going.contains(&row.id));
            }
            self.ids.retain(|id| !going.contains(id));
            self.rows.retain(|row| !going.contains(&row.id));
        }
        pruned
    }
}

/// Returns how many rows are up to a cursor; none if it is on none.
fn after(rows: &[AttemptRow], cursor: Option<&String>) -> usize {
    let last = cursor.and_then(|cursor| rows.iter().rposition(|row| row.id == *cursor));
    last.map_or(0, |last| last + 1)
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
        let state = check_name("envelope", &envelope.name)
            .map(|()| self.kept().ledger.open(&envelope, now_ms));
        Box::pin(ready(state))
    }

    fn reserve(&self, wanted: Reserve) -> BoxFuture<'_, Result<Reserved, StoreError>> {
        let reserved = check_name("envelope", &wanted.envelope.name)
            .map(|()| self.kept().ledger.reserve(&wanted));
        Box::pin(ready(reserved))
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
        let next = turn.check().map(|()| self.kept().next_export(turn));
        Box::pin(ready(next))
    }

    fn exported(&self, done: Exported) -> BoxFuture<'_, Result<(), StoreError>> {
        self.kept().exported(done);
        Box::pin(ready(Ok(())))
    }

    fn exports(&self) -> BoxFuture<'_, Result<Vec<ExportState>, StoreError>> {
        Box::pin(ready(Ok(self.kept().exports())))
    }

    fn prune(&self, prune: Prune, now_ms: i64) -> BoxFuture<'_, Result<Pruned, StoreError>> {
        Box::pin(ready(Ok(self.kept().prune(&prune, now_ms))))
    }
}
