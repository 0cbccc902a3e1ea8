//! The thread that writes: whatever has queued up becomes one transaction.
//!
//! **Invariant:** while the process lives, nothing is given up because of a lock or a server that is away. A fault of one row or
//! write costs itself: what fails together is done again by halves.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread::park_timeout;
use std::time::Duration;

use super::super::StoreError;
use super::load::{Load, Weight, reason};
use super::{Command, Record, Tables, Trouble};

/// Most commands that one transaction takes in.
const BATCH: usize = 512;

/// The pause before the third try at a store that is locked or down. The second try has none; each later pause is twice the
/// last one, up to [`Tables::LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(10);

pub(super) struct Writer<T> {
    /// The error of a store that could not be opened after all.
    tables: Result<T, StoreError>,
    load: Arc<Load>,
}

/// What one transaction is to take in, and what is done beside it.
struct Batch<T: Tables> {
    records: Vec<Record>,
    writes: Vec<T::Write>,
    asides: Vec<T::Aside>,
    flushes: Vec<tokio::sync::oneshot::Sender<u64>>,
    marks: Vec<std::sync::mpsc::SyncSender<()>>,
    weight: Weight,
}

impl<T: Tables> Batch<T> {
    fn take(first: Command<T>, commands: &Receiver<Command<T>>) -> Self {
        let mut batch = Self {
            records: Vec::new(),
            writes: Vec::new(),
            asides: Vec::new(),
            flushes: Vec::new(),
            marks: Vec::new(),
            weight: Weight::default(),
        };
        for command in std::iter::once(first).chain(commands.try_iter().take(BATCH - 1)) {
            batch.weight.add(command.weight());
            match command {
                Command::Record(record) => batch.records.push(*record),
                Command::Write(write) => batch.writes.push(write),
                Command::Aside(aside) => batch.asides.push(aside),
                Command::Flush(answer) => batch.flushes.push(answer),
                Command::Mark(mark) => batch.marks.push(mark),
            }
        }
        batch
    }
}

impl<T: Tables> Writer<T> {
    /// Opens the store and writes until nobody can ask for more. `opened` is told the first outcome; a store that is locked
    /// counts as opened, and what is asked of it waits.
    pub(super) fn run(
        mut open: impl FnMut() -> Result<T, Trouble>,
        opened: &Sender<Result<(), StoreError>>,
        commands: &Receiver<Command<T>>,
        load: Arc<Load>,
    ) {
        let tables = persist(&load, T::LONGEST_PAUSE, || {
            let tables = open();
            // Whoever opens hears of the first outcome only, and may not have waited for it.
            let _ = opened.send(match &tables {
                Ok(_) | Err(Trouble::Passing(_)) => Ok(()),
                Err(Trouble::Lasting(error)) => Err(error.clone()),
            });
            tables
        });
        let tables = tables.map_err(Trouble::into_error);
        let mut writer = Self { tables, load };
        while let Ok(first) = commands.recv() {
            writer.store(Batch::take(first, commands));
        }
    }

    fn store(&mut self, batch: Batch<T>) {
        let Batch {
            mut records,
            mut writes,
            asides,
            flushes,
            marks,
            weight,
        } = batch;
        match self.commit(&mut records, &mut writes) {
            Ok(()) => {
                self.load.stored(records.iter());
                let answers = vec![Ok(()); writes.len()];
                self.answer(writes, answers);
            }
            Err(Trouble::Lasting(_)) if records.len() + writes.len() > 1 => {
                self.store_apart(records, writes);
            }
            Err(trouble) => {
                let error = trouble.into_error();
                if !records.is_empty() {
                    self.load.lose(records.len() as u64, &reason(&error));
                }
                let answers = vec![Err(error); writes.len()];
                self.answer(writes, answers);
            }
        }
        for mut aside in asides {
            let done = self.persist(|tables| tables.aside(&mut aside));
            let done = done.map_err(Trouble::into_error);
            self.refused(&done);
            T::answer_aside(aside, done);
        }
        self.load.give_back(weight);
        for answer in flushes {
            let _ = answer.send(self.load.counts().lost_rows);
        }
        for mark in marks {
            let _ = mark.try_send(());
        }
    }

    /// Stores what cannot be stored together: money first, since somebody waits for it.
    fn store_apart(&mut self, mut records: Vec<Record>, mut writes: Vec<T::Write>) {
        let mut answers = Vec::with_capacity(writes.len());
        let write = |tables: &mut T, writes: &mut [T::Write]| tables.commit(&[], writes);
        self.halve(&mut writes, write, &mut answers);
        self.answer(writes, answers);

        let mut stored = Vec::with_capacity(records.len());
        let record = |tables: &mut T, records: &mut [Record]| tables.commit(records, &mut []);
        self.halve(&mut records, record, &mut stored);
        let kept = records.iter().zip(&stored);
        let kept = kept.filter(|(_, stored)| stored.is_ok());
        self.load.stored(kept.map(|(record, _)| record));
        let mut lost = stored.iter().filter_map(|stored| stored.as_ref().err());
        if let Some(first) = lost.next() {
            self.load.lose(lost.count() as u64 + 1, &reason(first));
        }
    }

    fn answer(&self, writes: Vec<T::Write>, answers: Vec<Result<(), StoreError>>) {
        for (write, answer) in writes.into_iter().zip(answers) {
            self.refused(&answer);
            T::answer(write, answer);
        }
    }

    fn refused(&self, answer: &Result<(), StoreError>) {
        if let Err(error) = answer {
            self.load.refuse(error);
        }
    }

    fn commit(&mut self, records: &mut [Record], writes: &mut [T::Write]) -> Result<(), Trouble> {
        if records.is_empty() && writes.is_empty() {
            return Ok(());
        }
        self.persist(|tables| tables.commit(records, writes))
    }

    /// Commits items together; else each half for itself, down to the ones at fault.
    fn halve<I>(
        &mut self,
        items: &mut [I],
        commit: impl Fn(&mut T, &mut [I]) -> Result<(), Trouble> + Copy,
        done: &mut Vec<Result<(), StoreError>>,
    ) {
        if items.is_empty() {
            return;
        }
        let end = done.len() + items.len();
        match self.persist(|tables| commit(tables, items)) {
            Ok(()) => done.resize(end, Ok(())),
            Err(Trouble::Lasting(_)) if items.len() > 1 => {
                let (first, second) = items.split_at_mut(items.len() / 2);
                self.halve(first, commit, done);
                self.halve(second, commit, done);
            }
            Err(trouble) => done.resize(end, Err(trouble.into_error())),
        }
    }

    fn persist(
        &mut self,
        mut work: impl FnMut(&mut T) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        match &mut self.tables {
            Ok(tables) => persist(&self.load, T::LONGEST_PAUSE, || work(tables)),
            Err(error) => Err(Trouble::Lasting(error.clone())),
        }
    }
}

/// Does something, again and again while what keeps it from succeeding may pass and the writer has time.
fn persist<D>(
    load: &Load,
    longest: Duration,
    mut work: impl FnMut() -> Result<D, Trouble>,
) -> Result<D, Trouble> {
    let mut pause = Duration::ZERO;
    loop {
        match work() {
            Err(Trouble::Passing(error)) => {
                if load.is_over() {
                    return Err(Trouble::Passing(error));
                }
                // What succeeds at the second try is nobody's concern.
                if !pause.is_zero() {
                    load.wait_for(&error);
                }
            }
            other => return other,
        }
        park_timeout(pause);
        pause = (pause * 2).clamp(FIRST_PAUSE, longest);
    }
}

impl Trouble {
    fn into_error(self) -> StoreError {
        match self {
            Self::Passing(error) | Self::Lasting(error) => error,
        }
    }
}

impl<T: Tables> Command<T> {
    /// Returns what the command adds to the load.
    pub(super) fn weight(&self) -> Weight {
        match self {
            Self::Record(record) => Weight::of(record),
            Self::Write(_) | Self::Aside(_) => Weight::WRITE,
            Self::Flush(_) | Self::Mark(_) => Weight::default(),
        }
    }
}
