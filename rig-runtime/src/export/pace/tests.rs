//! T9: is what is at fault found, and nothing else taken for it?

use super::*;

fn refused(status: u16) -> Sent {
    Sent::Refused(Refused::status(status, None))
}

fn rows(count: u128) -> Vec<Uuid> {
    (0..count).map(Uuid::from_u128).collect()
}

const TAKEN: Sent = Sent::Taken { rejected: 0 };

// T9: which statuses are whose fault.
#[test]
fn statuses_are_sorted() {
    let fault = |status| Refused::status(status, None).fault;
    for status in [408, 425, 429, 502, 503, 504, 521, 599] {
        assert_eq!(fault(status), Fault::Moment, "{status}");
    }
    for status in [301, 307, 401, 402, 403, 404, 405, 407, 410, 415, 451, 501] {
        assert_eq!(fault(status), Fault::Destination, "{status}");
    }
    let others = [400, 413, 422, 500].map(fault);
    assert_eq!(
        others,
        [Fault::Rows, Fault::Size, Fault::Rows, Fault::Unclear]
    );
}

// T9: of a batch the half is sent, down to the row; it is refused twice around an empty request, and set aside.
#[test]
fn a_row_is_found_proved_and_set_aside() {
    let mut pace = Pace::new();
    for (sent, left) in [(512, 256), (256, 128), (3, 1)] {
        assert_eq!(pace.after(&refused(400), &rows(sent)), Next::Again);
        assert_eq!(pace.limit(), left);
    }
    assert_eq!(pace.after(&refused(400), &rows(1)), Next::Probe);
    assert_eq!(pace.after_probe(&TAKEN, Some(Uuid::nil())), Next::Again);
    assert_eq!(pace.limit(), 1);
    assert_eq!(pace.after(&refused(422), &rows(1)), Next::SetAside);
    // What comes after it is taken in batches again.
    let sizes: Vec<_> = (0..10)
        .map(|_| {
            pace.after(&TAKEN, &rows(1));
            pace.limit()
        })
        .collect();
    assert_eq!(sizes, [4, 8, 16, 32, 64, 128, 256, 512, 512, 512]);
    // Another row that is refused alone is not yet proved.
    assert_eq!(pace.after(&refused(400), &[Uuid::max()]), Next::Probe);
}

// T9: the row is found among 512 in one request a halving, and one more, wherever it is.
#[test]
fn a_search_halves() {
    for bad in [0, 1, 300, 511] {
        let (mut pace, mut at, mut requests) = (Pace::new(), 0, 0);
        while at <= bad {
            let count = u128::from(pace.limit()).min(512 - at);
            let is_bad = (at..at + count).contains(&bad);
            let sent = if is_bad { refused(400) } else { TAKEN };
            requests += 1;
            match pace.after(&sent, &rows(count)) {
                Next::Deliver => at += count,
                Next::Again => {}
                Next::Probe => break,
                other => panic!("{other:?}"),
            }
        }
        assert!(requests <= 11, "{bad}: {requests}");
        assert_eq!((at, pace.limit()), (bad, 1));
    }
}

// T9: one that refuses an empty request as well is at fault itself, and no row is.
#[test]
fn a_destination_that_refuses_everything_is_at_fault() {
    let mut pace = Pace::new();
    let mut pauses = Vec::new();
    for _ in 0..6 {
        assert_eq!(pace.after(&refused(400), &rows(1)), Next::Probe);
        match pace.after_probe(&refused(400), Some(Uuid::nil())) {
            Next::Pause(pause) => pauses.push(pause.as_secs()),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(pauses, [60, 120, 240, 480, 900, 900]);
}

// T9: a size that is too much is left for a while, and tried again after many that were taken.
#[test]
fn a_batch_that_shrank_grows_again() {
    let mut pace = Pace::new();
    assert_eq!(pace.after(&refused(413), &rows(512)), Next::Again);
    assert_eq!(pace.limit(), 256);
    for _ in 0..CONTENT {
        assert_eq!(pace.limit(), 256);
        assert_eq!(pace.after(&TAKEN, &rows(256)), Next::Deliver);
    }
    assert_eq!(pace.limit(), 512);
    pace.after(&refused(413), &rows(512));
    assert_eq!(pace.limit(), 256);
}

// T9: a row that a server cannot deal with does not hold up the others for ever.
#[test]
fn a_server_error_is_the_moments_first_and_then_a_rows() {
    let mut pace = Pace::new();
    for _ in 0..SUSPECTED {
        assert!(matches!(pace.after(&refused(500), &rows(2)), Next::Wait(_)));
    }
    assert_eq!(pace.after(&refused(500), &rows(2)), Next::Again);
    assert_eq!(pace.after(&refused(500), &rows(1)), Next::Probe);
    // The server itself is down.
    let wait = Next::Wait(Duration::from_secs(16));
    assert_eq!(pace.after_probe(&refused(500), Some(Uuid::nil())), wait);
    assert_eq!(pace.after(&refused(500), &rows(1)), Next::Probe);
    assert_eq!(pace.after_probe(&TAKEN, Some(Uuid::nil())), Next::Again);
    assert_eq!(pace.after(&refused(500), &rows(1)), Next::SetAside);
    assert!(matches!(pace.after(&refused(500), &rows(9)), Next::Wait(_)));
}

// T9: a partial success says how many, and not which.
#[test]
fn what_is_rejected_in_part_is_looked_for() {
    let mut pace = Pace::new();
    let rejected = |rejected| Sent::Taken { rejected };
    assert_eq!(pace.after(&rejected(1), &rows(8)), Next::Again);
    assert_eq!(pace.limit(), 4);
    assert_eq!(pace.after(&rejected(4), &rows(4)), Next::SetAside);
    assert_eq!(pace.after(&rejected(0), &rows(4)), Next::Deliver);
}

// A receiver may ask for a longer wait and for no shorter one, and not for a day.
#[test]
fn a_wish_lengthens_a_wait() {
    let asks = |secs| Sent::Refused(Refused::status(503, Some(Duration::from_secs(secs))));
    let mut pace = Pace::new();
    let waits: Vec<_> = [30, 0, 86_400, 0]
        .map(|secs| match pace.after(&asks(secs), &rows(1)) {
            Next::Wait(wait) => wait.as_secs(),
            other => panic!("{other:?}"),
        })
        .into();
    assert_eq!(waits, [30, 2, 240, 8]);
}
