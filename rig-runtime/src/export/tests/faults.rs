//! T9: does every good row arrive, however a destination fails, and is no more set aside than what is at fault?

use std::collections::BTreeSet;
use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
use crate::store::{ExportState, SetAside};
use crate::transport::{BoxFuture, Response, Transport, TransportError};

/// A destination with moods and with rules.
#[derive(Clone, Debug, Default)]
struct Rules {
    /// What it does with the first requests, whatever they hold.
    moods: Vec<Mood>,
    /// What it refuses, by the row's number, with which status.
    refuses: Vec<(u64, u16)>,
    /// The most rows that it takes at once.
    most: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Mood {
    Status(u16),
    /// With a `Retry-After` of so many seconds.
    Shed(u32),
    Unreachable,
    /// It takes the request, and its answer is lost.
    Mute,
}

/// What has arrived there.
#[derive(Default)]
struct Seen {
    requests: usize,
    arrived: Vec<u64>,
    sizes: Vec<usize>,
}

#[derive(Clone)]
struct Fickle {
    rules: Arc<Rules>,
    seen: Arc<Mutex<Seen>>,
    scripted: ScriptedTransport,
}

impl Transport for Fickle {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        let rows = attempts(&body(&request));
        let mut seen = self.seen.lock().unwrap();
        seen.sizes.push(rows.len());
        let mood = self.rules.moods.get(seen.requests);
        seen.requests += 1;
        let refuses = |row: &u64| self.rules.refuses.iter().find(|(number, _)| number == row);
        let reply = match mood {
            Some(Mood::Status(status)) => Scripted::status(*status, ""),
            Some(Mood::Shed(secs)) => {
                Scripted::status(429, "").header("retry-after", secs.to_string())
            }
            Some(Mood::Unreachable) => Scripted::unsent("connection refused"),
            mood => {
                let refused = rows.iter().find_map(refuses);
                if self.rules.most.is_some_and(|most| rows.len() > most) {
                    Scripted::status(413, "")
                } else if let Some((_, status)) = refused {
                    Scripted::status(*status, "")
                } else {
                    seen.arrived.extend(rows);
                    match mood {
                        Some(Mood::Mute) => Scripted::fault("connection reset"),
                        _ => ok(),
                    }
                }
            }
        };
        self.scripted.push(reply);
        self.scripted.send(request)
    }
}

/// Exports so many rows until none is left, and returns what arrived and how the exporter stands.
fn exported(rows: u32, rules: Rules) -> (World, Seen, ExportState) {
    let world = World::new((1..=rows).map(row), Vec::new());
    let seen = Arc::<Mutex<Seen>>::default();
    let fickle = Fickle {
        rules: Arc::new(rules),
        seen: Arc::clone(&seen),
        scripted: world.transport.clone(),
    };
    let world = World {
        fickle: Some(Box::new(move || Box::new(fickle.clone()))),
        ..world
    };
    world.export(async |hand| {
        // Whoever is sent away comes again, as the next process does.
        for _ in 0..2_000 {
            if hand.drain().await {
                return;
            }
            world.clock.advance(Duration::from_secs(60));
        }
        panic!("the exporter never ends: {:?}", state(&world));
    });
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    let state = state(&world);
    (world, seen, state)
}

fn state(world: &World) -> ExportState {
    block_on(world.store.exports()).unwrap().remove(0)
}

fn id(number: u32) -> String {
    row(number).id
}

// T9: a row that is refused for good is set aside, and the others arrive.
#[test]
fn a_row_at_fault_is_set_aside_and_nothing_waits_behind_it() {
    let rules = Rules {
        refuses: vec![(300, 400)],
        ..Rules::default()
    };
    let (_, seen, state) = exported(600, rules);
    let arrived: BTreeSet<_> = seen.arrived.iter().copied().collect();
    assert!(arrived.into_iter().eq((1..=600).filter(|row| *row != 300)));
    assert_eq!(seen.arrived.len(), 599);
    assert_eq!((state.waiting, state.set_aside), (0, 1));
    assert_eq!((state.fault, state.fault_since_ms), (None, None));
    let [
        SetAside {
            id: known, reason, ..
        },
    ] = state.newest_set_aside.as_slice()
    else {
        panic!("{:?}", state.newest_set_aside)
    };
    assert_eq!((known, reason.as_str()), (&id(300), "status 400"));
}

// T9: one at fault is left alone, loses nothing, and says so; whoever waits for it is sent away at once.
#[test]
fn a_destination_at_fault_pauses_and_loses_nothing() {
    for status in [401, 403, 404, 400, 422] {
        let rules = Rules {
            moods: vec![Mood::Status(status); 5],
            ..Rules::default()
        };
        let world = World::new([row(1), row(2)], Vec::new());
        let scripted = world.transport.clone();
        let seen = Arc::<Mutex<Seen>>::default();
        let fickle = Fickle {
            rules: Arc::new(rules),
            seen: Arc::clone(&seen),
            scripted,
        };
        let world = World {
            fickle: Some(Box::new(move || Box::new(fickle.clone()))),
            ..world
        };
        world.export(async |hand| {
            let began = crate::clock::Clock::monotonic(&world.clock);
            assert!(!hand.drain().await);
            assert_eq!(crate::clock::Clock::monotonic(&world.clock), began);
            let paused = state(&world);
            assert_eq!((paused.waiting, paused.set_aside), (2, 0), "{status}");
            assert_eq!(paused.fault, Some(format!("status {status}")));
            while !hand.drain().await {}
        });
        let settled = state(&world);
        assert_eq!(
            (settled.waiting, settled.set_aside, settled.fault),
            (0, 0, None)
        );
        assert_eq!(seen.lock().unwrap().arrived, [1, 2]);
    }
}

// T9: batches that a destination finds too large are smaller for a while, and not for ever.
#[test]
fn a_batch_that_shrank_grows_again() {
    let rules = Rules {
        moods: vec![Mood::Status(413)],
        ..Rules::default()
    };
    let (_, seen, _) = exported(32 * 256 + 600, rules);
    assert_eq!(seen.sizes[..3], [512, 256, 256]);
    assert_eq!(seen.sizes[33..35], [512, 88]);
}

// T4: what a newer version has recorded, and what no rig has, is passed over and counted.
#[test]
fn what_cannot_be_exported_is_counted() {
    let stranger = AttemptRow {
        id: "mine".to_owned(),
        ..row(2)
    };
    let world = World::new([row(1), stranger, row(3)], vec![ok()]);
    assert!(world.export(async |hand| hand.drain().await));
    assert_eq!(world.arrived(), [[1, 3]]);
    let state = state(&world);
    assert_eq!((state.waiting, state.set_aside), (0, 1));
    assert_eq!(state.newest_set_aside[0].id, "mine");
}

// T4: a class of a newer version is no word of ours, and is sent as none.
#[test]
fn a_class_that_nobody_knows_is_sent_as_another() {
    let newer = AttemptRow {
        failure: Some(RowFailure::Unknown("words of a walrus")),
        ..row(1)
    };
    let world = World::new([newer], vec![ok()]);
    assert!(world.export(async |hand| hand.drain().await));
    let requests = world.transport.requests();
    assert_eq!(body(&requests[0])["rows"][0]["failure_class"], "_OTHER");
}

fn mood() -> impl Strategy<Value = Mood> {
    prop_oneof![
        prop::sample::select(vec![408, 425, 429, 502, 503, 504, 520]).prop_map(Mood::Status),
        prop::sample::select(vec![301, 401, 402, 403, 404, 405, 410]).prop_map(Mood::Status),
        (0..300_u32).prop_map(Mood::Shed),
        Just(Mood::Unreachable),
        Just(Mood::Mute),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // T9: whatever the schedule of its failures, in the end every good row has arrived, exactly the bad ones are set aside,
    // and nothing waits.
    #[test]
    fn every_good_row_arrives_and_exactly_the_bad_ones_are_set_aside(
        rows in 1..120_u32,
        moods in prop::collection::vec(mood(), 0..40),
        bad in prop::collection::btree_map(1..120_u64, prop::sample::select(vec![400, 413, 422, 500]), 0..12),
        block in prop::option::of((1..120_u64, 1..15_u64)),
        most in prop::option::of(1..120_usize),
    ) {
        let mut bad = bad;
        if let Some((from, count)) = block {
            bad.extend((from..from + count).map(|row| (row, 400)));
        }
        bad.retain(|row, _| *row <= u64::from(rows));
        let rules = Rules { moods, refuses: bad.clone().into_iter().collect(), most };
        let (world, seen, state) = exported(rows, rules);
        let arrived: BTreeSet<_> = seen.arrived.iter().copied().collect();
        let good: BTreeSet<_> = (1..=u64::from(rows)).filter(|row| !bad.contains_key(row)).collect();
        prop_assert_eq!(arrived, good);
        prop_assert_eq!((state.waiting, state.set_aside), (0, bad.len() as u64));
        let newest: BTreeSet<_> = state.newest_set_aside.iter().map(|row| row.id.clone()).collect();
        let bad: BTreeSet<_> = bad.keys().map(|row| id(u32::try_from(*row).unwrap())).collect();
        prop_assert!(newest.is_subset(&bad) && newest.len() == bad.len().min(20));
        // Each row costs a search at most, and not one for each that was tried before.
        prop_assert!(seen.requests < 120 + rows as usize + 30 * bad.len(), "{}", seen.requests);
        drop(world);
    }
}
