//! A database and the connection to it, which is made anew as often as it is cut.
//!
//! A writer tries everything once, and the queue does the rest. A reader tries again for a moment, since whoever reads waits.

use std::time::Duration;

use postgres::Error;

use super::super::StoreError;
use super::super::queue::{Ask, Reads, Record, Tables, Trouble};
use super::accounts::{self, Money};
use super::columns;
use super::schema;
use super::session::{self, Server, Session};

/// How often something is read at a server that is not there: at once, and after pauses that double from [`FIRST_PAUSE`],
/// 6.35 s together.
const TRIES: u32 = 8;

const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// A database, on the thread of its connection.
pub(super) struct Database {
    server: Server,
    /// `None` before it is needed, and after a failure.
    session: Option<Session>,
    /// Whether the last read was given up because nobody answered. Then the next is tried once, so that readers do not each
    /// wait for a server that is gone.
    is_gone: bool,
}

/// What is asked of a connection.
pub(super) type Asking = Box<dyn Ask<Session, Error>>;

impl Database {
    /// Returns a database that is connected to when something is asked of it.
    pub(super) fn new(server: Server) -> Self {
        Self {
            server,
            session: None,
            is_gone: false,
        }
    }

    /// Connects, and brings the tables up to date. Whatever fails is an error at the start, also what might pass.
    pub(super) fn open(server: Server, location: String) -> Result<Self, Trouble> {
        let opened = server.connect().map_err(schema::Unusable::from);
        let opened = opened.and_then(|mut session| {
            schema::migrate(session.client())?;
            Ok(session)
        });
        match opened {
            Ok(session) => Ok(Self {
                session: Some(session),
                ..Self::new(server)
            }),
            Err(unusable) => Err(Trouble::Lasting(unusable.at(location))),
        }
    }

    /// Does something once. Whatever a transaction had done is undone with its failure.
    fn attempt(
        &mut self,
        work: impl FnOnce(&mut Session) -> Result<(), Error>,
    ) -> Result<(), Failed> {
        let session = match &mut self.session {
            Some(session) => session,
            none => match self.server.connect() {
                Ok(session) => none.insert(session),
                // Nobody's row is at fault where there is no connection to be had.
                Err(error) => return Err(Failed::Passing(error)),
            },
        };
        let Err(error) = work(session) else {
            return Ok(());
        };
        let is_passing = session::is_passing(&error);
        if is_passing || !session.recovers() {
            self.session = None;
        }
        Err(match is_passing {
            true => Failed::Passing(error),
            false => Failed::Lasting(error),
        })
    }

    /// Does something that the queue does again if its failure may pass.
    fn write(
        &mut self,
        work: impl FnOnce(&mut Session) -> Result<(), Error>,
    ) -> Result<(), Trouble> {
        self.attempt(work).map_err(|failed| match failed {
            Failed::Passing(error) => Trouble::Passing(reason(&error)),
            // Whoever waits for a lock waits as long as it takes.
            Failed::Lasting(error) if session::is_locked(&error) => {
                Trouble::Passing(reason(&error))
            }
            Failed::Lasting(error) => Trouble::Lasting(reason(&error)),
        })
    }
}

/// Why something failed once.
enum Failed {
    /// The same may succeed on a new connection.
    Passing(Error),
    Lasting(Error),
}

impl Tables for Database {
    type Write = Money;
    type Aside = Asking;
    type Reads = Self;

    /// The writer tries to reach a server that is down once in this time.
    const LONGEST_PAUSE: Duration = Duration::from_secs(1);

    fn commit(&mut self, records: &[Record], writes: &mut [Money]) -> Result<(), Trouble> {
        self.write(|session| {
            let due = writes.iter_mut().filter(|money| money.is_due());
            let mut money: Vec<_> = due.collect();
            accounts::open(session, &money)?;
            session.transact(|session| {
                columns::insert(session, records)?;
                accounts::decide(session, &mut money)
            })
        })
    }

    fn answer(write: Money, committed: Result<(), StoreError>) {
        write.ask.answer(committed);
    }

    fn aside(&mut self, aside: &mut Asking) -> Result<(), Trouble> {
        self.write(|session| aside.apply(session))
    }

    fn answer_aside(aside: Asking, committed: Result<(), StoreError>) {
        aside.answer(committed);
    }
}

impl Reads for Database {
    type Read = Asking;

    fn is_awaited(read: &Asking) -> bool {
        read.is_awaited()
    }

    fn read(&mut self, mut read: Asking) {
        let tries = if self.is_gone { 1 } else { TRIES };
        let mut pause = Duration::ZERO;
        for left in (0..tries).rev() {
            match self.attempt(|session| read.apply(session)) {
                Err(Failed::Passing(_)) if left > 0 && read.is_awaited() => {}
                done => {
                    self.is_gone = matches!(done, Err(Failed::Passing(_)));
                    let done = done.map_err(|failed| match failed {
                        Failed::Passing(error) | Failed::Lasting(error) => reason(&error),
                    });
                    return read.answer(done);
                }
            }
            std::thread::park_timeout(pause);
            pause = (pause * 2).max(FIRST_PAUSE);
        }
    }
}

fn reason(error: &Error) -> StoreError {
    StoreError::Failed {
        reason: session::reason(error),
    }
}
