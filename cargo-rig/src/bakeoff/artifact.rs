//! What has a bake-off done so far, on disk?
//!
//! One JSON document a line, appended as things happen and synced before the next thing does; `docs/bakeoffs.md` documents
//! them. What is on disk is what a resumed bake-off knows: a line says that a run is about to be paid for, another what
//! came of it. A last line that was cut off is nothing.
//!
//! **Invariant:** a run is started only after its line `started` is on disk, so that none is paid for twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rig_runtime::store::private;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::output::{Result, Stop};

/// The version of the lines.
pub(crate) const SCHEMA: u32 = 1;

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Line {
    /// The first line: what is to be done.
    Bakeoff(Header),
    /// A run is about to begin.
    Started(Pair),
    /// A run that was begun has dispatched nothing, since its envelope did not suffice; it may be begun again.
    Refused(Pair),
    /// A run has ended.
    Sample(Sample),
    /// Nothing more is asked of a variant, since its envelope is spent.
    Stopped {
        /// The variant.
        variant: String,
        /// What the envelope says.
        message: String,
    },
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The version of the lines.
    pub(crate) schema: u32,
    /// The id; rows have it as the value of the tag `replay`.
    pub(crate) id: String,
    pub(crate) route: String,
    pub(crate) route_version: u32,
    /// A hash of everything that the route says; another one would not be comparable.
    pub(crate) fingerprint: String,
    /// The incumbent first.
    pub(crate) variants: Vec<String>,
    /// The ids of the captures, oldest first.
    pub(crate) captures: Vec<String>,
    /// The cap of each variant's envelope `bakeoff:<id>:<variant>`, in nano-dollars.
    pub(crate) cap_nanousd: u64,
    /// In milliseconds since 1970 (UTC).
    pub(crate) started_ms: i64,
}

/// A capture under a variant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Pair {
    pub(crate) variant: String,
    pub(crate) capture: String,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sample {
    #[serde(flatten)]
    pub(crate) pair: Pair,
    pub(crate) ended: Ended,
    /// The run's id; none where nothing could be asked.
    pub(crate) run_id: Option<String>,
    /// The last failure's message.
    pub(crate) message: Option<String>,
    /// From the first dispatch to the end of the run, waits included, in milliseconds.
    pub(crate) latency_ms: u64,
    /// One per row.
    pub(crate) attempts: Vec<Attempt>,
    /// The conformant output.
    pub(crate) output: Option<Value>,
}

/// What a run ended with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ended {
    /// A conformant output.
    Output,
    /// A call of tools, which no gate has judged.
    ToolCalls,
    /// A failure of this class.
    Failed(String),
    /// The envelope was spent in the middle of the run.
    OutOfMoney,
    /// The prompt cannot be rendered from what was captured: nothing was asked.
    Unasked,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Attempt {
    /// That of the row in `inferences`.
    pub(crate) id: String,
    pub(crate) provider: String,
    pub(crate) model: String,
    /// `null` for the one that served.
    pub(crate) failure_class: Option<String>,
    pub(crate) cost_nanousd: u64,
    pub(crate) pricing_missing: bool,
    pub(crate) latency_ms: u64,
    pub(crate) tokens_in: Option<u64>,
    pub(crate) tokens_out: Option<u64>,
    /// Set on rows of the repair rung.
    pub(crate) repaired_by: Option<String>,
}

/// What is known of a bake-off.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Log {
    pub(crate) header: Header,
    pub(crate) samples: BTreeMap<Pair, Sample>,
    /// Begun, and nobody knows what came of it.
    pub(crate) open: BTreeSet<Pair>,
    /// Why nothing more is asked of a variant.
    pub(crate) stopped: BTreeMap<String, String>,
}

/// The file of a bake-off, which nobody else writes meanwhile.
#[derive(Debug)]
pub(crate) struct Artifact {
    file: File,
    path: PathBuf,
    pub(crate) log: Log,
}

impl Log {
    fn new(header: Header) -> Self {
        Self {
            header,
            samples: BTreeMap::new(),
            open: BTreeSet::new(),
            stopped: BTreeMap::new(),
        }
    }

    /// Returns what these lines say; `None` where the first is no header of this version.
    fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(serde_json::from_str::<Line>);
        let Some(Ok(Line::Bakeoff(header))) = lines.next() else {
            return None;
        };
        let mut log = Self::new(header);
        for line in lines {
            log.add(line.ok()?);
        }
        (log.header.schema == SCHEMA).then_some(log)
    }

    fn add(&mut self, line: Line) {
        match line {
            Line::Bakeoff(_) => {}
            Line::Started(pair) => {
                self.open.insert(pair);
            }
            Line::Refused(pair) => {
                self.open.remove(&pair);
            }
            Line::Sample(sample) => {
                self.open.remove(&sample.pair);
                self.samples.insert(sample.pair.clone(), sample);
            }
            Line::Stopped { variant, message } => {
                self.stopped.insert(variant, message);
            }
        }
    }

    /// Returns what is still to be asked: capture by capture, so that what is cut short compares the same ones.
    pub(crate) fn left(&self) -> Vec<Pair> {
        let Header {
            captures, variants, ..
        } = &self.header;
        let pairs = captures.iter().flat_map(|capture| {
            variants.iter().map(|variant| Pair {
                variant: variant.clone(),
                capture: capture.clone(),
            })
        });
        let is_left = |pair: &Pair| {
            !self.samples.contains_key(pair)
                && !self.open.contains(pair)
                && !self.stopped.contains_key(&pair.variant)
        };
        pairs.filter(is_left).collect()
    }
}

impl Artifact {
    /// Begins a new file.
    pub(crate) fn create(path: &Path, header: Header) -> Result<Self> {
        if let Some(folder) = path.parent() {
            private::directory(folder).map_err(|error| cannot("written", path, error))?;
        }
        // It holds outputs.
        let mut artifact = Self {
            file: private::file(path).map_err(|error| cannot("written", path, error))?,
            path: path.to_path_buf(),
            log: Log::new(header.clone()),
        };
        artifact.lock()?;
        artifact.add(Line::Bakeoff(header))?;
        Ok(artifact)
    }

    /// Goes on with a file. A last line that was cut off is taken away.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().read(true).append(true).open(path);
        let mut file = file.map_err(|error| cannot("read", path, error))?;
        let mut text = String::new();
        file.read_to_string(&mut text)
            .map_err(|error| cannot("read", path, error))?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let log = Log::read(&text[..whole]).ok_or_else(|| {
            Stop::new(format!(
                "`{}` is no bake-off of this version",
                path.display()
            ))
        })?;
        let artifact = Self {
            file,
            path: path.to_path_buf(),
            log,
        };
        artifact.lock()?;
        artifact
            .file
            .set_len(whole as u64)
            .map_err(|error| cannot("written", path, error))?;
        Ok(artifact)
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a line, and waits until it is on disk.
    pub(crate) fn add(&mut self, line: Line) -> Result<()> {
        let mut text = serde_json::to_string(&line)
            .map_err(|error| Stop::new(format!("a line of the artifact: {error}")))?;
        text.push('\n');
        let written = self.file.seek(SeekFrom::End(0));
        let written = written.and_then(|_| self.file.write_all(text.as_bytes()));
        let written = written.and_then(|()| self.file.sync_data());
        written.map_err(|error| cannot("written", &self.path, error))?;
        self.log.add(line);
        Ok(())
    }

    /// Keeps other processes from asking the same things at the same time.
    fn lock(&self) -> Result<()> {
        self.file.try_lock().map_err(|_| {
            Stop::new(format!(
                "another process is at work on `{}`",
                self.path.display()
            ))
        })
    }
}

/// Returns the newest bake-off of a route in a folder.
pub(crate) fn newest(folder: &Path, route: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?;
    let mut found: Vec<_> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .filter_map(|path| {
            let text = fs::read_to_string(&path).ok()?;
            let Ok(Line::Bakeoff(header)) = serde_json::from_str(text.lines().next()?) else {
                return None;
            };
            (header.route == route).then_some((header.started_ms, header.id, path))
        })
        .collect();
    found.sort();
    found.pop().map(|(_, _, path)| path)
}

fn cannot(what: &str, path: &Path, error: impl std::fmt::Display) -> Stop {
    Stop::new(format!("`{}` cannot be {what}: {error}", path.display()))
}

#[cfg(test)]
pub(crate) mod tests;
