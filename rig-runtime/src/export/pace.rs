//! What an exporter does next, after an answer: pure decisions.
//!
//! A failure is that of the moment (wait, and send the same again), of the destination (leave it alone for a while; nothing
//! is lost), or of the rows (send fewer, until there is one, and set that aside). A row is set aside only when the
//! destination refuses it twice and takes an empty request in between: one that refuses everything is itself at fault.

use std::time::Duration;

use uuid::Uuid;

/// The most rows of a request.
pub(super) const MOST: u32 = 512;

/// The longest wait after failures of the moment.
const LONGEST_BACKOFF: Duration = Duration::from_secs(60);

/// The first and the longest pause that a destination at fault is left alone.
const FIRST_PAUSE: Duration = Duration::from_secs(60);
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);

/// The longest wait that a receiver may ask for.
const LONGEST_WISH: Duration = Duration::from_secs(240);

/// After so many failures in a row with status 500 the rows are suspected.
const SUSPECTED: u32 = 4;

/// After so many requests of the greatest size that was taken, a greater one is tried.
const CONTENT: u32 = 32;

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Sent {
    /// The rows have arrived, but for so many of them, which the destination does not want.
    Taken { rejected: u64 },
    /// They have not.
    Refused(Refused),
}

/// Why rows have not arrived.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Refused {
    pub(super) fault: Fault,
    pub(super) reason: String,
    /// How long the receiver asks to wait.
    pub(super) wish: Option<Duration>,
}

/// What is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The moment: the same may pass later.
    Moment,
    /// The server, or rows that it cannot deal with: status 500.
    Unclear,
    /// The destination: its address, its key, what it understands.
    Destination,
    /// The rows, or one of them.
    Rows,
    /// Their number.
    Size,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Next {
    /// The rows have arrived.
    Deliver,
    /// The next request has fewer rows, or the same one.
    Again,
    /// The same is sent again after this long.
    Wait(Duration),
    /// Nothing is sent for this long.
    Pause(Duration),
    /// An empty request shows whether the destination takes any.
    Probe,
    /// These rows never arrive.
    SetAside,
}

/// What failures have taught.
#[derive(Debug)]
pub(super) struct Pace {
    /// How often it has failed since rows arrived.
    failures: u32,
    /// How often that was with status 500.
    unclear: u32,
    /// How often the destination was left alone since it took something.
    pauses: u32,
    /// The most rows of the next request.
    limit: u32,
    /// Among how many of the next rows one is that the destination refuses; 0 where nothing is known.
    suspicious: u32,
    /// The most rows that the destination seems to take at once.
    ceiling: u32,
    /// How many requests of that size it has taken.
    contented: u32,
    /// The row that was refused alone by a destination that then took an empty request.
    suspect: Option<Uuid>,
}

impl Refused {
    /// Returns a failure of the moment.
    pub(super) fn passing(reason: impl Into<String>) -> Self {
        Self {
            fault: Fault::Moment,
            reason: reason.into(),
            wish: None,
        }
    }

    /// Returns what an HTTP status says.
    pub(super) fn status(status: u16, wish: Option<Duration>) -> Self {
        let fault = match status {
            400 | 422 => Fault::Rows,
            413 => Fault::Size,
            500 => Fault::Unclear,
            408 | 425 | 429 | 502..=504 => Fault::Moment,
            // Redirects are not followed; 501 and 505 say what the destination cannot do.
            300..=499 | 501 | 505 => Fault::Destination,
            _ => Fault::Moment,
        };
        Self {
            fault,
            reason: format!("status {status}"),
            wish,
        }
    }
}

impl Pace {
    pub(super) const fn new() -> Self {
        Self {
            failures: 0,
            unclear: 0,
            pauses: 0,
            limit: MOST,
            suspicious: 0,
            ceiling: MOST,
            contented: 0,
            suspect: None,
        }
    }

    /// Returns the most rows of the next request.
    pub(super) const fn limit(&self) -> u32 {
        self.limit
    }

    /// Decides after a request with these rows, of which there is at least one.
    pub(super) fn after(&mut self, sent: &Sent, rows: &[Uuid]) -> Next {
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let refused = match sent {
            Sent::Taken { rejected: 0 } => {
                self.arrived(count);
                return Next::Deliver;
            }
            // It says how many it does not want, and not which.
            Sent::Taken { rejected } if *rejected < u64::from(count) => return self.search(count),
            Sent::Taken { .. } => return self.set_aside(),
            Sent::Refused(refused) => refused,
        };
        match refused.fault {
            Fault::Moment => self.wait(refused.wish),
            Fault::Destination => self.pause(refused.wish),
            Fault::Unclear if self.unclear < SUSPECTED => {
                self.unclear += 1;
                self.wait(refused.wish)
            }
            Fault::Size if count > 1 => {
                self.ceiling = count / 2;
                self.contented = 0;
                self.limit = self.ceiling;
                Next::Again
            }
            Fault::Rows | Fault::Unclear | Fault::Size if count > 1 => self.search(count),
            Fault::Rows | Fault::Unclear | Fault::Size => {
                if self.suspect.is_some() && self.suspect == rows.first().copied() {
                    return self.set_aside();
                }
                self.limit = 1;
                Next::Probe
            }
        }
    }

    /// Decides after an empty request, which followed the refusal of this row.
    pub(super) fn after_probe(&mut self, sent: &Sent, row: Option<Uuid>) -> Next {
        match sent {
            Sent::Taken { .. } => {
                self.suspect = row;
                Next::Again
            }
            Sent::Refused(refused) => match refused.fault {
                Fault::Moment | Fault::Unclear => self.wait(refused.wish),
                Fault::Destination | Fault::Rows | Fault::Size => self.pause(refused.wish),
            },
        }
    }

    /// Decides after the store could not be read or written.
    pub(super) fn after_store(&mut self) -> Next {
        self.wait(None)
    }

    /// A search goes on in the half that is left. Else batches grow back to the greatest size that is taken, and now and then
    /// beyond.
    fn arrived(&mut self, count: u32) {
        self.failures = 0;
        self.pauses = 0;
        self.suspect = None;
        if self.limit >= self.ceiling {
            self.unclear = 0;
            self.contented += u32::from(count >= self.ceiling);
            if self.contented >= CONTENT {
                self.contented = 0;
                self.ceiling = (self.ceiling * 2).min(MOST);
            }
        }
        self.suspicious = self.suspicious.saturating_sub(count);
        self.limit = match self.suspicious {
            0 => (self.limit * 2).min(self.ceiling),
            left => (left / 2).max(1),
        };
    }

    /// One of these rows is refused: the half of them is next.
    fn search(&mut self, count: u32) -> Next {
        self.suspicious = count;
        self.limit = count / 2;
        Next::Again
    }

    /// Whatever comes next is no worse for the row that was refused.
    fn set_aside(&mut self) -> Next {
        self.suspicious = 0;
        self.arrived(0);
        self.unclear = 0;
        Next::SetAside
    }

    /// 1 s, doubled each time, at most a minute; longer if the receiver asks for it.
    fn wait(&mut self, wish: Option<Duration>) -> Next {
        let backoff = Duration::from_secs(1 << self.failures.min(6)).min(LONGEST_BACKOFF);
        self.failures = self.failures.saturating_add(1);
        Next::Wait(longer(backoff, wish))
    }

    /// A minute, doubled each time, at most a quarter of an hour; longer if the receiver asks for it.
    fn pause(&mut self, wish: Option<Duration>) -> Next {
        let pause = FIRST_PAUSE * (1 << self.pauses.min(4));
        self.pauses = self.pauses.saturating_add(1);
        self.suspect = None;
        Next::Pause(longer(pause.min(LONGEST_PAUSE), wish))
    }
}

fn longer(wait: Duration, wish: Option<Duration>) -> Duration {
    wish.map_or(wait, |wish| wish.min(LONGEST_WISH).max(wait))
}

#[cfg(test)]
mod tests;
