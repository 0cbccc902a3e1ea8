//! How long does a call take whose store answers nobody, or late?

use std::time::Duration;

use proptest::prelude::*;
use rig::store::{CLOSE, Envelope, GRACE, StoreError};
use rig::testing::{ManualClock, MemoryStore, ScriptedTransport};
use rig::{Clock, ConfigError, Error, FailureClass, Rig, Usd};
use tests::routes::ladder;
use tests::{Watched, block_on};

use crate::{bad, good, question, shed};

/// The route's `timeout_ms`.
const TIMEOUT: Duration = Duration::from_secs(10);

struct Bed {
    clock: ManualClock,
    transport: ScriptedTransport,
    rows: MemoryStore,
    store: Watched,
    rig: Rig,
}

fn bed() -> Bed {
    let clock = ManualClock::new();
    let transport = ScriptedTransport::new(&clock);
    let rows = MemoryStore::default();
    let store = Watched::new(rows.clone(), |_| Ok(()));
    let rig = Rig::builder()
        .ignore_env()
        .key("north", "k")
        .key("south", "k")
        .transport(transport.clone())
        .store(store.clone())
        .clock(clock.clone())
        .build()
        .unwrap();
    Bed {
        clock,
        transport,
        rows,
        store,
        rig,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    // L17: a call on a frozen store ends with its answer or its deadline, and the grace after it at most. Each dispatch waits
    // for room for no longer than the grace, and for no more than a quarter of what the run has left. All rows are handed over.
    #[test]
    fn a_frozen_store_keeps_no_answer_from_its_caller(
        replies in proptest::collection::vec(0_u8..3, 1..4),
        deadline_ms in proptest::option::of(100_u64..9_000),
    ) {
        let bed = bed();
        for reply in &replies {
            bed.transport.push(match reply {
                0 => good(),
                1 => bad(),
                _ => shed(),
            });
        }
        bed.store.freeze(true);
        let mut call = ladder(question());
        if let Some(deadline_ms) = deadline_ms {
            call = call.deadline(Duration::from_millis(deadline_ms));
        }
        let result = block_on(call.on(&bed.rig).run());
        let took = bed.clock.monotonic();
        let sent = bed.transport.requests().len();
        prop_assert_eq!(bed.rows.rows().len(), sent);
        if replies[0] == 0 {
            prop_assert!(result.is_ok());
            let room = deadline_ms.map_or(GRACE, |ms| GRACE.min(Duration::from_millis(ms) / 4));
            prop_assert_eq!(took, room + GRACE);
        }
        if let Some(deadline_ms) = deadline_ms {
            prop_assert!(took <= Duration::from_millis(deadline_ms) + GRACE);
        }
    }
}

// L17, L16, T5: a reservation ends with the run's deadline, which is what the call fails for; without one with the attempt's
// time, and then for want of money. Nothing is sent, and what is reserved too late is given back.
#[test]
fn a_reservation_that_is_not_answered_ends_in_the_runs_time() {
    let bed = bed();
    let call = |deadline| {
        let call = ladder(question()).envelope("e", Usd::dollars(1));
        let before = bed.clock.monotonic();
        let call = match deadline {
            Some(deadline) => call.deadline(deadline),
            None => call,
        };
        let error = block_on(call.on(&bed.rig).run()).unwrap_err();
        (error, bed.clock.monotonic() - before)
    };
    bed.store.freeze(true);
    let deadline = Duration::from_secs(1);
    let (error, took) = call(Some(deadline));
    assert_eq!(error.class(), Some(FailureClass::Timeout));
    assert_eq!(took, deadline + GRACE);
    let (error, took) = call(None);
    assert_eq!(error.class(), Some(FailureClass::BudgetExhausted));
    let message = &error.failure().unwrap().message;
    assert!(
        message.ends_with("did not answer within 10000 ms"),
        "{message}"
    );
    assert_eq!(took, GRACE + TIMEOUT + GRACE);
    assert_eq!(bed.transport.requests().len(), 0);
    bed.store.freeze(false);
    // The store had reserved both times, and told nobody.
    let state = block_on(bed.rig.envelope("e")).unwrap().unwrap();
    assert_eq!((state.spent, state.reserved), (Usd::ZERO, Usd::ZERO));
}

// L17: a store that answers at once costs a call no time, and no timer that could end.
#[test]
fn a_store_that_answers_costs_no_time() {
    let bed = bed();
    bed.transport.push(good());
    let call = ladder(question()).envelope("e", Usd::dollars(1));
    block_on(call.on(&bed.rig).run()).unwrap();
    assert_eq!(bed.clock.monotonic(), Duration::ZERO);
}

// E6: a name that a store may not hold is an error before anything is dispatched.
#[test]
fn an_envelope_with_a_long_name_is_refused_before_anything_is_sent() {
    let bed = bed();
    let limit = Envelope::LONGEST_NAME;
    let call = ladder(question()).envelope("e".repeat(limit + 1), None);
    let error = block_on(call.on(&bed.rig).run()).unwrap_err();
    let expected = StoreError::Name {
        of: "envelope",
        limit,
        length: limit + 1,
    };
    assert_eq!(error, Error::Config(ConfigError::Store(expected)));
    assert_eq!(
        error.to_string(),
        "the name of this envelope has 513 bytes, and 512 are the most"
    );
    bed.transport.push(good());
    let call = ladder(question()).envelope("e".repeat(limit), None);
    block_on(call.on(&bed.rig).run()).unwrap();
    assert_eq!(bed.rows.rows().len(), 1);
}

// T5: closing waits for a frozen store in the machine's time, whatever the rig's clock is, and says what it could not do.
#[test]
fn closing_ends() {
    let bed = bed();
    bed.store.freeze(true);
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let closed = runtime.unwrap().block_on(bed.rig.close());
    let after_ms = u64::try_from(CLOSE.as_millis()).unwrap();
    assert_eq!(closed, Err(StoreError::NoAnswer { after_ms }));
}
