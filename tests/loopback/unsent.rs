//! E2: what is an attempt charged that never came to be sent?

use std::net::TcpListener;
use std::pin::pin;
use std::task::{Context, Waker};
use std::thread;

use rig::store::EnvelopeState;
use rig::{Rig, Usd};
use tests::routes::{LadderInput, ladder};

use crate::bed::{Bed, bed_at, fast_bed};
use crate::server::{Event, Reply, Seen, Server, Unreachable};

/// How much faster than the machine's the clock of these tests is: the route gives an attempt ten seconds.
const FASTER: u32 = 20;

fn call(rig: &Rig) -> impl Future<Output = rig::Result<rig::Run<tests::routes::Reply>>> + use<> {
    let input = LadderInput {
        question: "Is it?".to_owned(),
    };
    ladder(input).envelope("e", Usd::dollars(1)).on(rig).run()
}

fn state(bed: &Bed) -> EnvelopeState {
    let state = bed.runtime.block_on(bed.rig.envelope("e"));
    state.unwrap().unwrap()
}

/// Asserts what the envelope has spent; nothing is reserved.
#[track_caller]
fn spent(bed: &Bed, spent: Usd) {
    let state = state(bed);
    assert_eq!((state.spent, state.reserved), (spent, Usd::ZERO));
}

/// Returns what a request reserves: `north` takes 1 USD per million tokens in and 2 out, `south` a tenth, and
/// `max_output_tokens` are 256.
fn reserved(seen: &Seen) -> u64 {
    let north = (seen.body.len() as u64 + 1_024) * 1_000 + 256 * 2_000;
    match seen.head.starts_with("post /north/") {
        true => north,
        false => north / 10,
    }
}

fn fails(class: &str) -> [String; 4] {
    ["north/n1", "north/n1", "south/s1", "south/s1"].map(|name| format!("{name} {class}"))
}

// E2: no connection.
#[test]
fn a_refused_connection_is_charged_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let bed = bed_at(FASTER, Server::scripted([]), Some(&address));
    let error = bed.runtime.block_on(call(&bed.rig)).unwrap_err();
    assert_eq!(error.failure().unwrap().message, "connection refused");
    assert_eq!(bed.rows(), fails("network"));
    spent(&bed, Usd::ZERO);
}

// E2: a request that was never written, since the attempt's time was over before there was a connection.
#[test]
fn a_timeout_without_a_connection_is_charged_nothing() {
    let host = Unreachable::new();
    let bed = bed_at(FASTER, Server::scripted([]), Some(&host.address));
    bed.runtime.block_on(call(&bed.rig)).unwrap_err();
    assert_eq!(bed.rows(), fails("timeout"));
    spent(&bed, Usd::ZERO);
}

// E2: nor is anything written before TLS is set up.
#[test]
fn a_timeout_in_the_handshake_is_charged_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let taken: Vec<_> = listener.incoming().take(4).collect();
        // Held until the process ends.
        thread::park();
        drop(taken);
    });
    let bed = bed_at(FASTER, Server::scripted([]), Some(&address));
    bed.runtime.block_on(call(&bed.rig)).unwrap_err();
    assert_eq!(bed.rows(), fails("timeout"));
    spent(&bed, Usd::ZERO);
}

// E2: the host has the request, and may bill it.
#[test]
fn a_request_that_was_read_keeps_its_reservation() {
    for class in ["network", "timeout"] {
        let reply = || match class {
            "network" => Reply::Reset,
            _ => Reply::Stall(String::new()),
        };
        let bed = fast_bed(FASTER, [reply(), reply(), reply(), reply()]);
        bed.runtime.block_on(call(&bed.rig)).unwrap_err();
        assert_eq!(bed.rows(), fails(class));
        let seen = bed.server.requests();
        assert_eq!(seen.len(), 4);
        let kept = seen.iter().map(reserved).sum();
        spent(&bed, Usd::nanos(kept));
    }
}

// E2, K6: the caller is gone before there is a connection.
#[test]
fn a_caller_gone_before_the_request_is_written_is_charged_nothing() {
    let host = Unreachable::new();
    let bed = bed_at(FASTER, Server::scripted([]), Some(&host.address));
    {
        let _context = bed.runtime.enter();
        let mut call = pin!(call(&bed.rig));
        let mut ctx = Context::from_waker(Waker::noop());
        assert!(call.as_mut().poll(&mut ctx).is_pending());
    }
    assert_eq!(bed.rows.rows().len(), 1);
    assert_eq!(bed.rows(), ["north/n1 cancelled"]);
    spent(&bed, Usd::ZERO);
}

// E2, K6: the caller is gone after the host has the request.
#[test]
fn a_caller_gone_after_the_request_is_written_keeps_its_reservation() {
    let bed = fast_bed(1, [Reply::Stall(String::new())]);
    let seen = {
        let _context = bed.runtime.enter();
        let mut call = pin!(call(&bed.rig));
        let mut ctx = Context::from_waker(Waker::noop());
        assert!(call.as_mut().poll(&mut ctx).is_pending());
        match bed.server.next() {
            Event::Request(seen) => seen,
            other @ Event::Closed(_) => panic!("{other:?}"),
        }
    };
    assert!(matches!(bed.server.next(), Event::Closed(0)));
    assert_eq!(bed.rows(), ["north/n1 cancelled"]);
    spent(&bed, Usd::nanos(reserved(&seen)));
}
