//! How does a transaction get hold of envelopes, and put them back?
//!
//! It locks their rows, in the order of their names, so that two that want the same ones take turns and never wait for each
//! other. Then it reads what matters of them into a [`Ledger`], has that decide, and writes back what has changed: some
//! six statements for a whole batch, however many dispatches it pays for.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;

use postgres::types::ToSql;
use postgres::{Error, Row};

use super::super::ledger::{Charge, Ledger, Stage};
use super::super::queue::Ask;
use super::super::{ChargeRow, Envelope, EnvelopeState};
use super::columns::{self, signed, text, usd};
use super::session::Session;

/// What is done with an envelope, and which rows that takes.
pub(super) struct Money {
    pub(super) needs: Needs,
    pub(super) ask: Box<dyn Ask<Ledger, Infallible>>,
}

/// Which rows of the tables a decision takes.
#[derive(Default)]
pub(super) struct Needs {
    /// The envelope that is opened if there is none of its name.
    pub(super) opens: Option<Envelope>,
    /// The envelope that is looked at.
    pub(super) looks_at: Option<String>,
    /// The reservation.
    pub(super) charge: Option<String>,
    /// Whatever lapses until then, in milliseconds since 1970 (UTC).
    pub(super) now_ms: Option<i64>,
    /// Whether it is left undone if nobody waits for it any more.
    pub(super) asker: bool,
}

impl Money {
    /// Returns whether it is still to be done.
    pub(super) fn is_due(&self) -> bool {
        !self.needs.asker || self.ask.is_awaited()
    }
}

const OPEN: &str = "
    INSERT INTO envelopes (name, cap_nanousd, spent_nanousd, reserved_nanousd, opened)
    SELECT name, cap, 0, 0, opened FROM unnest($1::text[], $2::int8[], $3::int8[]) AS given (name, cap, opened)
    ORDER BY name
    ON CONFLICT (name) DO NOTHING";

const NAMES: &str = "SELECT DISTINCT envelope FROM charges WHERE id = ANY ($1)";

const LOCK: &str = "
    SELECT name, cap_nanousd, spent_nanousd, reserved_nanousd
    FROM envelopes WHERE name = ANY ($1) ORDER BY name FOR UPDATE";

const CHARGES: &str = "
    SELECT id, envelope, reserved_nanousd, charge_nanousd, lapses, lapsed
    FROM charges WHERE id = ANY ($1)
    UNION
    SELECT id, envelope, reserved_nanousd, charge_nanousd, lapses, lapsed
    FROM charges WHERE envelope = ANY ($2) AND charge_nanousd IS NULL AND lapses <= $3";

const OF_ENVELOPE: &str = "
    SELECT id, envelope, reserved_nanousd, charge_nanousd, lapses, lapsed
    FROM charges WHERE envelope = $1 ORDER BY id COLLATE \"C\"";

const SAVE_CHARGES: &str = "
    INSERT INTO charges (id, envelope, reserved_nanousd, charge_nanousd, lapses, lapsed)
    SELECT * FROM unnest($1::text[], $2::text[], $3::int8[], $4::int8[], $5::int8[], $6::bool[])
    ON CONFLICT (id) DO UPDATE SET charge_nanousd = EXCLUDED.charge_nanousd, lapsed = EXCLUDED.lapsed";

const SAVE_ENVELOPES: &str = "
    UPDATE envelopes SET spent_nanousd = given.spent, reserved_nanousd = given.reserved
    FROM unnest($1::text[], $2::int8[], $3::int8[]) AS given (name, spent, reserved)
    WHERE envelopes.name = given.name";

/// Returns the names of all envelopes, in order.
pub(super) fn names(session: &mut Session) -> Result<Vec<String>, Error> {
    let rows = session.query(
        "SELECT name FROM envelopes ORDER BY name COLLATE \"C\"",
        &[],
    )?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Opens the envelopes that are not there yet, ahead of the transaction: a new row cannot be locked in the order of names.
pub(super) fn open(session: &mut Session, money: &[&mut Money]) -> Result<(), Error> {
    let mut names = BTreeSet::new();
    let (mut caps, mut opened) = (Vec::new(), Vec::new());
    // The first of a name is the one that opens.
    let opens = money.iter().filter_map(|money| {
        let opens = money.needs.opens.as_ref()?;
        Some((opens, money.needs.now_ms))
    });
    let mut given = Vec::new();
    for (envelope, now_ms) in opens {
        if names.insert(&envelope.name) {
            given.push(text(&envelope.name));
            caps.push(signed(envelope.cap.as_nanos()));
            opened.push(now_ms.unwrap_or(0));
        }
    }
    if !given.is_empty() {
        session.execute(OPEN, &[&given, &caps, &opened])?;
    }
    Ok(())
}

/// Returns what was taken from an envelope, in the order of the ids.
pub(super) fn charges(session: &mut Session, envelope: &str) -> Result<Vec<ChargeRow>, Error> {
    let envelope = text(envelope);
    let rows = session.query(columns::CHARGED, &[&envelope])?;
    let rows: HashMap<_, _> = rows
        .iter()
        .map(|row| (row.get::<_, String>("id"), columns::read(row)))
        .collect();
    let charges = session.query(OF_ENVELOPE, &[&envelope])?;
    let row = |found: &Row| {
        let id: String = found.get("id");
        let charge = charge(found);
        ChargeRow {
            reserved: charge.reserved,
            charged: charge.charged(),
            is_expired: charge.stage == Stage::Lapsed,
            row: rows.get(&id).cloned(),
            id,
        }
    };
    Ok(charges.iter().map(row).collect())
}

/// Has a ledger decide about envelopes, as a part of a transaction.
pub(super) fn decide(session: &mut Session, money: &mut [&mut Money]) -> Result<(), Error> {
    if money.is_empty() {
        return Ok(());
    }
    let before = load(session, money)?;
    let mut ledger = before.clone();
    for money in money {
        let Ok(()) = money.ask.apply(&mut ledger);
    }
    save(session, &before, &ledger)
}

fn load(session: &mut Session, money: &[&mut Money]) -> Result<Ledger, Error> {
    let needs = || money.iter().map(|money| &money.needs);
    let ids: Vec<&str> = needs()
        .filter_map(|needs| needs.charge.as_deref())
        .collect();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for needs in needs() {
        let opens = needs.opens.as_ref().map(|envelope| &envelope.name);
        names.extend(opens.or(needs.looks_at.as_ref()).cloned());
    }
    // Whose a reservation is never changes, so that no lock is needed to see it.
    if !ids.is_empty() {
        let of_charges = session.query(NAMES, &[&ids])?;
        names.extend(of_charges.iter().map(|row| row.get::<_, String>(0)));
    }
    let names: Vec<_> = names.into_iter().collect();
    let mut ledger = Ledger::default();
    for row in session.query(LOCK, &[&names])? {
        ledger.hold(EnvelopeState {
            name: row.get("name"),
            cap: usd(&row, "cap_nanousd"),
            spent: usd(&row, "spent_nanousd"),
            reserved: usd(&row, "reserved_nanousd"),
        });
    }
    let now_ms = needs().filter_map(|needs| needs.now_ms).max();
    for row in session.query(CHARGES, &[&ids, &names, &now_ms])? {
        ledger.charge(row.get("id"), charge(&row));
    }
    Ok(ledger)
}

fn charge(row: &Row) -> Charge {
    let charged: Option<i64> = row.get("charge_nanousd");
    Charge {
        envelope: row.get("envelope"),
        reserved: usd(row, "reserved_nanousd"),
        lapses_ms: row.get("lapses"),
        stage: match charged {
            None => Stage::UnderWay,
            Some(_) if row.get("lapsed") => Stage::Lapsed,
            Some(_) => Stage::Settled(usd(row, "charge_nanousd")),
        },
    }
}

fn save(session: &mut Session, before: &Ledger, after: &Ledger) -> Result<(), Error> {
    let charges = after.changed_charges(before);
    if !charges.is_empty() {
        let column = |of: fn(&Charge) -> i64| -> Vec<_> {
            charges.iter().map(|(_, charge)| of(charge)).collect()
        };
        let charged = |(_, charge): &(&String, &Charge)| match charge.stage {
            Stage::UnderWay => None,
            Stage::Lapsed => Some(signed(charge.reserved.as_nanos())),
            Stage::Settled(cost) => Some(signed(cost.as_nanos())),
        };
        let columns: [&(dyn ToSql + Sync); 6] = [
            &charges.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
            &charges
                .iter()
                .map(|(_, charge)| &charge.envelope)
                .collect::<Vec<_>>(),
            &column(|charge| signed(charge.reserved.as_nanos())),
            &charges.iter().map(charged).collect::<Vec<_>>(),
            &column(|charge| charge.lapses_ms),
            &charges
                .iter()
                .map(|(_, charge)| charge.stage == Stage::Lapsed)
                .collect::<Vec<_>>(),
        ];
        session.execute(SAVE_CHARGES, &columns)?;
    }
    let envelopes = after.changed_envelopes(before);
    if !envelopes.is_empty() {
        let names: Vec<_> = envelopes.iter().map(|state| &state.name).collect();
        let spent: Vec<_> = envelopes
            .iter()
            .map(|state| signed(state.spent.as_nanos()))
            .collect();
        let reserved: Vec<_> = envelopes
            .iter()
            .map(|state| signed(state.reserved.as_nanos()))
            .collect();
        session.execute(SAVE_ENVELOPES, &[&names, &spent, &reserved])?;
    }
    Ok(())
}
