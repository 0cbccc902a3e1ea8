//! Do calls that go away wait for a store whose queue is full?

use std::pin::Pin;
use std::task::{Context, Waker};

use rig::Rig;
use rig::transport::{BoxFuture, Request, Response, Transport, TransportError};

use super::{Lock, asked, ends, flush, found};

/// More than a store queues before calls wait for room.
const CALLS: usize = 6_000;

/// Answers nobody.
struct Silent;

impl Transport for Silent {
    fn send(&self, _: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(std::future::pending())
    }
}

// L17, L11: every dropped call hands over its row, and none waits for the lock. The rows are there once it is gone.
#[test]
fn calls_that_go_away_wait_for_no_lock_however_many_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let builder = Rig::builder().ignore_env().key("north", "key");
    let builder = builder.transport(Silent).telemetry_db(&file);
    let rig = builder.build().unwrap();
    let lock = Lock::take(&file);
    {
        let rig = rig.clone();
        ends(move || {
            let runtime = super::runtime();
            let _entered = runtime.enter();
            let mut calls: Vec<Pin<Box<dyn Future<Output = _>>>> = Vec::new();
            for _ in 0..CALLS {
                let mut call: Pin<Box<dyn Future<Output = _>>> = Box::pin(asked().on(&rig).run());
                let mut ctx = Context::from_waker(Waker::noop());
                assert!(call.as_mut().poll(&mut ctx).is_pending());
                calls.push(call);
            }
            drop(calls);
        });
    }
    drop(lock);
    flush(&rig);
    assert_eq!(found(&file).0, i64::try_from(CALLS).unwrap());
}
