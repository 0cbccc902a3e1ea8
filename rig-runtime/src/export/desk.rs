//! What may come between an exporter and its work?

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;

use super::Drain;
use crate::clock::Clock;
use crate::transport::BoxFuture;

/// The longest that somebody waits for an exporter.
const LONGEST_DRAIN: Duration = Duration::from_secs(5);

/// Where an exporter is told to hurry and to stop.
pub(super) struct Desk {
    pokes: Arc<Notify>,
    orders: UnboundedReceiver<Drain>,
    clock: Arc<dyn Clock>,
    waiting: Vec<Waiting>,
}

/// Somebody who waits, and what ends the wait.
struct Waiting {
    done: Drain,
    patience: BoxFuture<'static, ()>,
}

/// How something at the desk ended.
#[derive(Debug, PartialEq)]
pub(super) enum Attended<T> {
    /// It came to its end.
    Done(T),
    /// Somebody began to wait.
    Hurried,
    /// Nobody needs the exporter any more.
    Stopped,
}

impl Desk {
    pub(super) fn new(
        pokes: Arc<Notify>,
        orders: UnboundedReceiver<Drain>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            pokes,
            orders,
            clock,
            waiting: Vec::new(),
        }
    }

    /// Works; only a stop ends that early, and gives `None`.
    pub(super) async fn work<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        loop {
            match self.attend(work.as_mut()).await {
                Attended::Done(done) => return Some(done),
                Attended::Hurried => {}
                Attended::Stopped => return None,
            }
        }
    }

    /// Waits until there may be rows, at most this long.
    pub(super) async fn until_poked(&mut self, longest: Duration) -> Attended<()> {
        let (pokes, clock) = (Arc::clone(&self.pokes), Arc::clone(&self.clock));
        let mut poked = pin!(async move { pokes.notified().await });
        let mut timer = pin!(async move { clock.sleep(longest).await });
        let first = poll_fn(move |cx| match poked.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => timer.as_mut().poll(cx),
        });
        self.attend(pin!(first)).await
    }

    /// Waits this long.
    pub(super) async fn pause(&mut self, pause: Duration) -> Attended<()> {
        let clock = Arc::clone(&self.clock);
        self.attend(pin!(async move { clock.sleep(pause).await }))
            .await
    }

    /// Returns whether somebody waits.
    pub(super) fn is_hurried(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Tells everybody who waits that everything has arrived.
    pub(super) fn settle(&mut self) {
        for waiting in self.waiting.drain(..) {
            // Whoever waited may have gone away.
            let _ = waiting.done.send(());
        }
    }

    /// Sends everybody away who waits, since it will not be done soon.
    pub(super) fn dismiss(&mut self) {
        self.waiting.clear();
    }

    async fn attend<T>(
        &mut self,
        mut work: std::pin::Pin<&mut impl Future<Output = T>>,
    ) -> Attended<T> {
        poll_fn(|cx| {
            let told = self.listen(cx);
            if told == Some(Attended::Stopped) {
                return Poll::Ready(Attended::Stopped);
            }
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(Attended::Done(done));
            }
            // Whoever waits too long is forgotten.
            self.waiting
                .retain_mut(|waiting| waiting.patience.as_mut().poll(cx).is_pending());
            match told {
                Some(_) => Poll::Ready(Attended::Hurried),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// Returns what there is to hear.
    fn listen(&mut self, cx: &mut Context<'_>) -> Option<Attended<()>> {
        let mut told = None;
        loop {
            match self.orders.poll_recv(cx) {
                Poll::Ready(Some(done)) => {
                    let clock = Arc::clone(&self.clock);
                    let patience = Box::pin(async move { clock.sleep(LONGEST_DRAIN).await });
                    self.waiting.push(Waiting { done, patience });
                    told = Some(Attended::Hurried);
                }
                Poll::Ready(None) => return Some(Attended::Stopped),
                Poll::Pending => return told,
            }
        }
    }
}
