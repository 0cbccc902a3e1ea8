//! How are envelopes kept in tables?
//!
//! Every function here is a part of the writer's immediate transaction, so nobody comes between its reading and its
//! writing, in this process or another.

use rig_spec::Usd;
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::super::{Envelope, EnvelopeState, Reserve, Reserved};
use super::columns::{count, signed};

/// Opens an envelope, or returns the one that is there.
pub(super) fn open(
    connection: &Connection,
    envelope: &Envelope,
    now_ms: i64,
) -> rusqlite::Result<EnvelopeState> {
    if let Some(state) = state(connection, &envelope.name, now_ms)? {
        return Ok(state);
    }
    connection
        .prepare_cached(
            "INSERT INTO envelopes (name, cap_nanousd, spent_nanousd, reserved_nanousd, opened)
             VALUES (:name, :cap, 0, 0, :now)",
        )?
        .execute(named_params! {
            ":name": envelope.name,
            ":cap": signed(envelope.cap.as_nanos()),
            ":now": now_ms,
        })?;
    Ok(EnvelopeState::new(envelope.clone()))
}

/// Returns the state of an envelope, in which whatever has lapsed by now is spent.
pub(super) fn state(
    connection: &Connection,
    name: &str,
    now_ms: i64,
) -> rusqlite::Result<Option<EnvelopeState>> {
    let found = connection
        .prepare_cached(
            "SELECT cap_nanousd, spent_nanousd, reserved_nanousd FROM envelopes WHERE name = ?1",
        )?
        .query_row([name], |row| {
            Ok(EnvelopeState {
                name: name.to_owned(),
                cap: usd(row, "cap_nanousd")?,
                spent: usd(row, "spent_nanousd")?,
                reserved: usd(row, "reserved_nanousd")?,
            })
        })
        .optional()?;
    let Some(mut state) = found else {
        return Ok(None);
    };
    let mut lapse = connection.prepare_cached(
        "UPDATE charges SET charge_nanousd = reserved_nanousd, lapsed = 1
         WHERE envelope = ?1 AND charge_nanousd IS NULL AND lapses <= ?2 RETURNING reserved_nanousd",
    )?;
    let lapsed = lapse.query_map((name, now_ms), |row| usd(row, "reserved_nanousd"))?;
    let lapsed: Vec<_> = lapsed.collect::<rusqlite::Result<_>>()?;
    if !lapsed.is_empty() {
        let total = lapsed.into_iter().sum();
        state.settle(total, total);
        save(connection, &state)?;
    }
    Ok(Some(state))
}

/// Returns the state of every envelope, in the order of their names.
pub(super) fn all(connection: &Connection, now_ms: i64) -> rusqlite::Result<Vec<EnvelopeState>> {
    let mut names = connection.prepare_cached("SELECT name FROM envelopes ORDER BY name")?;
    let names = names.query_map([], |row| row.get::<_, String>(0))?;
    let names: Vec<_> = names.collect::<rusqlite::Result<_>>()?;
    let states = names.iter().map(|name| state(connection, name, now_ms));
    states.filter_map(Result::transpose).collect()
}

/// Reserves an amount, or says why not. The same reservation is made once.
pub(super) fn reserve(connection: &Connection, wanted: &Reserve) -> rusqlite::Result<Reserved> {
    let mut state = open(connection, &wanted.envelope, wanted.now_ms)?;
    let mut known = connection.prepare_cached("SELECT 1 FROM charges WHERE id = ?1")?;
    if known.exists([&wanted.id])? {
        return Ok(Reserved::Granted);
    }
    if !state.reserve(wanted.amount) {
        return Ok(Reserved::Exhausted(state));
    }
    save(connection, &state)?;
    connection
        .prepare_cached(
            "INSERT INTO charges (id, envelope, reserved_nanousd, charge_nanousd, lapses, lapsed)
             VALUES (:id, :envelope, :reserved, NULL, :lapses, 0)",
        )?
        .execute(named_params! {
            ":id": wanted.id,
            ":envelope": state.name,
            ":reserved": signed(wanted.amount.as_nanos()),
            ":lapses": wanted.lapses_ms,
        })?;
    Ok(Reserved::Granted)
}

/// Turns a reservation into a charge; `None` charges what was reserved. What is settled already stays as it is.
pub(super) fn settle(
    connection: &Connection,
    id: &str,
    charge: Option<Usd>,
) -> rusqlite::Result<()> {
    let found = connection
        .prepare_cached(
            "SELECT envelope, charges.reserved_nanousd AS taken, lapsed, name, cap_nanousd, spent_nanousd,
                    envelopes.reserved_nanousd
             FROM charges JOIN envelopes ON name = envelope
             WHERE id = ?1 AND (charge_nanousd IS NULL OR lapsed)",
        )?
        .query_row([id], |row| {
            let state = EnvelopeState {
                name: row.get("name")?,
                cap: usd(row, "cap_nanousd")?,
                spent: usd(row, "spent_nanousd")?,
                reserved: usd(row, "reserved_nanousd")?,
            };
            Ok((state, usd(row, "taken")?, row.get::<_, bool>("lapsed")?))
        })
        .optional()?;
    let Some((mut state, taken, has_lapsed)) = found else {
        return Ok(());
    };
    let charge = charge.unwrap_or(taken);
    if has_lapsed {
        state.correct(taken, charge);
    } else {
        state.settle(taken, charge);
    }
    save(connection, &state)?;
    connection
        .prepare_cached("UPDATE charges SET charge_nanousd = ?2, lapsed = 0 WHERE id = ?1")?
        .execute((id, signed(charge.as_nanos())))?;
    Ok(())
}

fn save(connection: &Connection, state: &EnvelopeState) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE envelopes SET spent_nanousd = :spent, reserved_nanousd = :reserved WHERE name = :name",
        )?
        .execute(named_params! {
            ":name": state.name,
            ":spent": signed(state.spent.as_nanos()),
            ":reserved": signed(state.reserved.as_nanos()),
        })?;
    Ok(())
}

fn usd(row: &Row<'_>, column: &str) -> rusqlite::Result<Usd> {
    count(row, column).map(Usd::nanos)
}
