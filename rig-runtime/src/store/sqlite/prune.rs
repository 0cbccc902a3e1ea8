//! How is something deleted from a file, so that it is gone from the file?
//!
//! On a thread and a connection of its own: it looks for ids without any lock, and deletes them in small transactions with
//! pauses, so that whoever writes meanwhile gets its turn. What is deleted is overwritten (`secure_delete`), and then the log
//! is emptied, which would still hold it.

use std::path::Path;
use std::time::Duration;

use rusqlite::{
    Connection, OpenFlags, OptionalExtension, ToSql, TransactionBehavior, named_params,
};
use tokio::sync::oneshot;

use super::super::{Prune, Pruned, StoreError};
use super::columns::count;
use super::{failed, open};
use crate::transport::BoxFuture;

/// The most rows or captures that one transaction deletes.
const BATCH: u32 = 200;

/// How long others have the lock to themselves between two transactions.
const PAUSE: Duration = Duration::from_millis(10);

/// How long to wait for another's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How often, and how long each time, readers are waited for that still use the log.
const LOG_TRIES: u32 = 20;
const LOG_TIMEOUT: Duration = Duration::from_millis(100);

/// The conditions, of a row `i`.
macro_rules! conditions {
    () => {
        "(:before IS NULL OR i.ts < :before)
         AND (:route IS NULL OR i.route = :route)
         AND (:id IS NULL OR i.id = :id OR i.run_id = :id)
         AND (:key IS NULL OR EXISTS (
             SELECT 1 FROM json_each(i.tags) AS own WHERE own.key = :key AND own.value = :value))"
    };
}

/// Up to which row number every exporter has come.
macro_rules! exported {
    () => {
        "coalesce((SELECT min(coalesce((SELECT r.rowid FROM inferences AS r WHERE r.id = cursor), 0)) FROM exports),
             9223372036854775807)"
    };
}

/// Whether a row `i` meets the conditions and may go.
macro_rules! goes {
    () => {
        concat!(
            conditions!(),
            " AND (:unexported OR i.rowid <= ",
            exported!(),
            ")"
        )
    };
}

const ROWS: &str = concat!(
    "SELECT i.id FROM inferences AS i WHERE i.id > :after AND ",
    goes!(),
    " ORDER BY i.id LIMIT :most"
);

const CAPTURES: &str = concat!(
    "SELECT i.id FROM captures JOIN inferences AS i USING (id) WHERE i.id > :after AND ",
    goes!(),
    " ORDER BY i.id LIMIT :most"
);

const COUNT_ROWS: &str = concat!(
    "SELECT
         (SELECT count(*) FROM inferences AS i WHERE ",
    goes!(),
    ") AS rows,
         (SELECT count(*) FROM inferences AS i WHERE ",
    conditions!(),
    ") AS meant,
         (SELECT count(*) FROM captures JOIN inferences AS i USING (id) WHERE ",
    goes!(),
    ") AS captures,
         (SELECT count(*) FROM verdicts AS v WHERE
             EXISTS (SELECT 1 FROM inferences AS i WHERE i.id = v.inference_id AND ",
    goes!(),
    ")
             OR v.inference_id IS NULL
                 AND EXISTS (SELECT 1 FROM inferences AS i WHERE i.run_id = v.run_id)
                 AND NOT EXISTS (SELECT 1 FROM inferences AS i WHERE i.run_id = v.run_id AND NOT (",
    goes!(),
    "))
         ) AS verdicts"
);

const COUNT_CAPTURES: &str = concat!(
    "SELECT 0 AS rows, 0 AS meant, 0 AS verdicts,
         (SELECT count(*) FROM captures JOIN inferences AS i USING (id) WHERE ",
    goes!(),
    ") AS captures"
);

/// Prunes a file on a thread of its own, until it is done or nobody waits for it.
pub(super) fn run(
    path: &Path,
    prune: Prune,
    now_ms: i64,
) -> BoxFuture<'static, Result<Pruned, StoreError>> {
    let path = path.to_owned();
    let (answer, answered) = oneshot::channel();
    let started = std::thread::Builder::new()
        .name("modelrig-prune".to_owned())
        .spawn(move || {
            let done = Pruner::open(&path, prune, now_ms)
                .and_then(|mut pruner| pruner.run(|| !answer.is_closed()));
            let _ = answer.send(done.map_err(failed));
        });
    Box::pin(async move {
        let stopped = |reason: String| StoreError::Failed { reason };
        started.map_err(|error| stopped(error.to_string()))?;
        let done = answered.await;
        done.map_err(|_| stopped("pruning has stopped".to_owned()))?
    })
}

struct Pruner {
    connection: Connection,
    prune: Prune,
    before_ms: Option<i64>,
}

impl Pruner {
    fn open(path: &Path, prune: Prune, now_ms: i64) -> rusqlite::Result<Self> {
        // The store has it open, so that it is there and ours.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(open::plain(path), flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update_and_check(None, "secure_delete", "ON", |_| Ok(()))?;
        let before_ms = prune.before_ms(now_ms);
        Ok(Self {
            connection,
            prune,
            before_ms,
        })
    }

    fn run(&mut self, is_wanted: impl Fn() -> bool) -> rusqlite::Result<Pruned> {
        let mut pruned = self.count()?;
        if self.prune.is_dry {
            return Ok(pruned);
        }
        pruned = Pruned {
            kept_unexported: pruned.kept_unexported,
            ..Pruned::default()
        };
        let mut after = String::new();
        while is_wanted() {
            let ids = self.next(&after)?;
            let Some(last) = ids.last() else {
                break;
            };
            after.clone_from(last);
            pruned.add(&self.delete(&ids)?);
            std::thread::park_timeout(PAUSE);
        }
        pruned.leaves_traces = !self.empty_the_log()?;
        Ok(pruned)
    }

    fn with<T>(
        &self,
        more: &[(&str, &dyn ToSql)],
        work: impl FnOnce(&[(&str, &dyn ToSql)]) -> T,
    ) -> T {
        let (key, value) = self.prune.tag.clone().unzip();
        // Captures are never exported, so that none waits for it.
        let takes_unexported = self.prune.takes_unexported || !self.prune.takes_rows;
        let mut params = named_params! {
            ":before": self.before_ms,
            ":route": self.prune.route,
            ":id": self.prune.id,
            ":key": key,
            ":value": value,
            ":unexported": takes_unexported,
        }
        .to_vec();
        params.extend_from_slice(more);
        work(&params)
    }

    /// Counts what would go.
    fn count(&self) -> rusqlite::Result<Pruned> {
        let select = if self.prune.takes_rows {
            COUNT_ROWS
        } else {
            COUNT_CAPTURES
        };
        self.with(&[], |params| {
            self.connection.query_row(select, params, |row| {
                let rows = count(row, "rows")?;
                Ok(Pruned {
                    rows,
                    captures: count(row, "captures")?,
                    verdicts: count(row, "verdicts")?,
                    kept_unexported: count(row, "meant")?.saturating_sub(rows),
                    leaves_traces: false,
                })
            })
        })
    }

    /// Returns the next ids that may go.
    fn next(&self, after: &str) -> rusqlite::Result<Vec<String>> {
        let select = if self.prune.takes_rows {
            ROWS
        } else {
            CAPTURES
        };
        let mut select = self.connection.prepare_cached(select)?;
        let more: [(&str, &dyn ToSql); 2] = [(":after", &after), (":most", &BATCH)];
        self.with(&more, |params| {
            select.query_map(params, |row| row.get(0))?.collect()
        })
    }

    /// Deletes what has these ids, in one transaction.
    fn delete(&mut self, ids: &[String]) -> rusqlite::Result<Pruned> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let deleted = if self.prune.takes_rows {
            delete_rows(&transaction, ids, self.prune.takes_unexported)
        } else {
            let mut delete = transaction.prepare_cached("DELETE FROM captures WHERE id = ?1")?;
            let captures = ids.iter().map(|id| delete.execute([id]));
            let captures = captures.sum::<rusqlite::Result<usize>>()?;
            Ok(Pruned {
                captures: captures as u64,
                ..Pruned::default()
            })
        }?;
        transaction.commit()?;
        Ok(deleted)
    }

    /// Moves the log into the file and cuts it to nothing; returns whether no reader kept it in use.
    fn empty_the_log(&self) -> rusqlite::Result<bool> {
        // The writer's lock is held while readers are waited for, so that this is often and short.
        self.connection.busy_timeout(LOG_TIMEOUT)?;
        for _ in 0..LOG_TRIES {
            let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
            let is_busy: Option<bool> = self
                .connection
                .query_row(checkpoint, [], |row| row.get(0))
                .optional()?;
            if is_busy != Some(true) {
                return Ok(true);
            }
            std::thread::park_timeout(LOG_TIMEOUT);
        }
        Ok(false)
    }
}

/// Deletes rows and what hangs on them.
fn delete_rows(
    connection: &Connection,
    ids: &[String],
    takes_unexported: bool,
) -> rusqlite::Result<Pruned> {
    let cursors = cursors(connection)?;
    let mut pruned = Pruned::default();
    let goes = concat!(
        "SELECT run_id FROM inferences AS i WHERE i.id = ?1 AND (?2 OR i.rowid <= ",
        exported!(),
        ")"
    );
    let mut goes = connection.prepare_cached(goes)?;
    let mut capture = connection.prepare_cached("DELETE FROM captures WHERE id = ?1")?;
    let mut aside = connection.prepare_cached("DELETE FROM export_set_aside WHERE id = ?1")?;
    let mut row = connection.prepare_cached("DELETE FROM inferences WHERE id = ?1")?;
    let mut verdicts = connection.prepare_cached(
        "DELETE FROM verdicts WHERE run_id = ?2 AND (inference_id = ?1
         OR inference_id IS NULL AND NOT EXISTS (SELECT 1 FROM inferences WHERE run_id = ?2))",
    )?;
    let mut gone = Vec::new();
    for id in ids {
        let run_id = goes.query_row((id, takes_unexported), |row| row.get::<_, String>(0));
        if let Some(run_id) = run_id.optional()? {
            gone.push((id, run_id));
        }
    }
    for (id, run_id) in gone {
        pruned.captures += capture.execute([id])? as u64;
        aside.execute([id])?;
        pruned.rows += row.execute([id])? as u64;
        pruned.verdicts += verdicts.execute((id, &run_id))? as u64;
    }
    for (exporter, number) in cursors {
        step_back(connection, &exporter, number)?;
    }
    Ok(pruned)
}

/// Returns each exporter and the number of the row at its cursor.
fn cursors(connection: &Connection) -> rusqlite::Result<Vec<(String, i64)>> {
    let mut select = connection.prepare_cached(
        "SELECT exporter, inferences.rowid FROM exports JOIN inferences ON inferences.id = cursor",
    )?;
    let cursors = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    cursors.collect()
}

/// Puts a cursor whose row has gone on the last row before it that is still there, so that what comes after stays the same.
fn step_back(connection: &Connection, exporter: &str, number: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE exports
             SET cursor = (SELECT id FROM inferences WHERE rowid < ?2 ORDER BY rowid DESC LIMIT 1)
             WHERE exporter = ?1 AND NOT EXISTS (SELECT 1 FROM inferences WHERE id = cursor)",
        )?
        .execute((exporter, number))?;
    Ok(())
}

#[cfg(test)]
mod tests;
