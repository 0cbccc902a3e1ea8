//! What does a caller see of a run while it goes on?
//!
//! The ladder is that of any call. Beside it runs a channel on which it tells what happens: there is no task and no
//! thread, the caller who polls for the next event is who lets the ladder go on.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use rig_spec::FailureClass;

use crate::error::Result;
use crate::ladder::Served;
use crate::run::Run;
use crate::transport::BoxFuture;

/// Something that happens in a run.
///
/// Each attempt begins with `Started`. It ends with `Discarded`, unless it is the one that serves, or a search for
/// which the next attempt is told the findings.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "an event is moved once, and its users need not unbox the output"
)]
pub enum Event<T> {
    /// An attempt was dispatched.
    #[non_exhaustive]
    Started {
        /// Its place in the run, from 1; the `attempt` of its row.
        attempt: u32,
        /// The provider that is asked; `search` for the search of a grounded route.
        provider: Cow<'static, str>,
        /// The model that is asked.
        model: Cow<'static, str>,
    },
    /// Some text of an answer, as it arrived. Nobody has looked at it yet: it is of use to show that something is
    /// happening, and [`Event::Done`] has the output.
    #[non_exhaustive]
    Delta {
        /// The attempt whose answer it belongs to.
        attempt: u32,
        /// The text; it follows that of the attempt's last delta.
        text: String,
    },
    /// An attempt failed, and what was heard of its answer counts for nothing. A retry, a repair or the next candidate
    /// follows, or the end.
    #[non_exhaustive]
    Discarded {
        /// The attempt.
        attempt: u32,
        /// Why it failed.
        class: FailureClass,
    },
    /// The output, and how it came about: what the call returns without streaming. Nothing follows.
    Done(Run<T>),
}

/// The events of a run, in order.
///
/// It ends after [`Event::Done`] or after an error, which is the one that the call returns without streaming. It is a
/// [`Stream`], and [`Events::next`] needs no crate for streams.
///
/// The run goes on only while it is polled, and reads no further than it is heard: a caller who takes long over an
/// event holds up the attempt, whose `timeout_ms` goes on. Dropping it ends the run, and every attempt that was
/// dispatched keeps its row.
#[must_use = "a stream does nothing until it is polled"]
pub struct Events<T> {
    listener: Listener,
    run: Option<BoxFuture<'static, Result<Served>>>,
    end: Option<Result<Served>>,
    typed: fn(Served) -> Result<Run<T>>,
}

impl<T> Events<T> {
    /// Returns the events of the run that is made for this listener; `typed` reads what it ends with.
    pub(crate) fn new(
        typed: fn(Served) -> Result<Run<T>>,
        run: impl FnOnce(Listener) -> BoxFuture<'static, Result<Served>>,
    ) -> Self {
        let listener = Listener::default();
        Self {
            run: Some(run(listener.clone())),
            listener,
            end: None,
            typed,
        }
    }

    /// Waits for the next event; `None` after the last. Giving up the wait loses no event.
    ///
    /// # Errors
    ///
    /// Those of [`crate::Call::run`]. Nothing follows an error.
    pub async fn next(&mut self) -> Option<Result<Event<T>>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl<T> Stream for Events<T> {
    type Item = Result<Event<T>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if let Some(told) = this.listener.take() {
            return Poll::Ready(Some(Ok(told.into())));
        }
        if let Some(run) = &mut this.run
            && let Poll::Ready(served) = run.as_mut().poll(cx)
        {
            this.run = None;
            this.end = Some(served);
        }
        if let Some(told) = this.listener.take() {
            return Poll::Ready(Some(Ok(told.into())));
        }
        if this.run.is_some() {
            return Poll::Pending;
        }
        let end = this.end.take();
        Poll::Ready(end.map(|served| served.and_then(this.typed).map(Event::Done)))
    }
}

/// Where a run tells what happens.
#[derive(Clone, Default)]
pub(crate) struct Listener(Arc<Mutex<VecDeque<Told>>>);

/// What a run tells: an event before its end.
pub(crate) enum Told {
    /// See [`Event::Started`].
    Started {
        attempt: u32,
        provider: Cow<'static, str>,
        model: Cow<'static, str>,
    },
    /// See [`Event::Delta`].
    Delta { attempt: u32, text: String },
    /// See [`Event::Discarded`].
    Discarded { attempt: u32, class: FailureClass },
}

impl Listener {
    /// Tells something without waiting. There are two such events an attempt.
    pub(crate) fn tell(&self, told: Told) {
        self.queue().push_back(told);
    }

    /// Tells something and waits until it is taken.
    pub(crate) async fn deliver(&self, told: Told) {
        self.tell(told);
        // Nobody need be woken: who takes it is who polls this.
        poll_fn(|_| match self.queue().is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }

    fn take(&self) -> Option<Told> {
        self.queue().pop_front()
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Told>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> From<Told> for Event<T> {
    fn from(told: Told) -> Self {
        match told {
            Told::Started {
                attempt,
                provider,
                model,
            } => Self::Started {
                attempt,
                provider,
                model,
            },
            Told::Delta { attempt, text } => Self::Delta { attempt, text },
            Told::Discarded { attempt, class } => Self::Discarded { attempt, class },
        }
    }
}

/// Without the text, which a model wrote.
impl<T: fmt::Debug> fmt::Debug for Event<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started {
                attempt,
                provider,
                model,
            } => write!(f, "Started({attempt}, {provider}/{model})"),
            Self::Delta { attempt, text } => write!(f, "Delta({attempt}, {} bytes)", text.len()),
            Self::Discarded { attempt, class } => write!(f, "Discarded({attempt}, {class})"),
            Self::Done(run) => f.debug_tuple("Done").field(run).finish(),
        }
    }
}

impl<T> fmt::Debug for Events<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Events(…)")
    }
}
