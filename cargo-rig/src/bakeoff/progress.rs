//! How far is a bake-off, and what has it cost?
//!
//! A bar on stderr, on a terminal only.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use rig_spec::Usd;

use super::artifact::{Log, Sample};
use super::show::dollars;

/// The progress of a bake-off.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    spent: Mutex<Usd>,
}

impl Progress {
    /// Shows how far it is already.
    pub(crate) fn new(log: &Log) -> Self {
        let planned = log.header.captures.len() * log.header.variants.len();
        let bar = ProgressBar::new(planned as u64);
        let style = ProgressStyle::with_template("{bar:30} {pos} of {len} runs  {msg}  {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_position(log.samples.len() as u64);
        // What was done in an earlier process is no measure of this one's speed.
        bar.reset_eta();
        bar.enable_steady_tick(Duration::from_millis(500));
        let progress = Self {
            bar,
            spent: Mutex::new(log.samples.values().map(Sample::cost).sum()),
        };
        progress.tell(Usd::ZERO);
        progress
    }

    /// Adds what has ended.
    pub(crate) fn add(&self, sample: &Sample) {
        self.tell(sample.cost());
        self.bar.inc(1);
    }

    /// Says something beside the bar.
    pub(crate) fn say(&self, text: &str) {
        self.bar.println(text);
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn tell(&self, cost: Usd) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        *spent = *spent + cost;
        self.bar.set_message(format!("{} spent", dollars(*spent)));
    }
}
