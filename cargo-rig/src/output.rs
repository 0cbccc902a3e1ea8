//! How does a command speak to its user?
//!
//! What was asked for goes to stdout, everything else to stderr. Colours are written always; the stream takes them out
//! where nobody sees them.

use std::fmt::Display;
use std::io::{self, Write};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use serde_json::Value;

/// When to colour.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What the exit code says of a command that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Nothing is wrong.
    Good,
    /// Something wrong was found, and printed.
    Found,
}

impl Exit {
    /// Returns the exit code.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Found => 1,
        }
    }
}

/// Why a command could not do its work.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    message: String,
    help: Option<String>,
}

/// What comes of a command.
pub(crate) type Result<T = Exit> = std::result::Result<T, Stop>;

impl Stop {
    /// The exit code.
    pub(crate) const CODE: u8 = 2;

    /// A command that could not do its work; the message begins in lower case.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            message,
            help: None,
        }
    }

    /// Sets what to do about it.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Tells the user, on stderr.
    pub(crate) fn report(&self) {
        let mut text = format!("{BAD}error{BAD:#}: {}\n", self.message);
        if let Some(help) = &self.help {
            text += &format!("{HELP}help{HELP:#}: {help}\n");
        }
        // Where stderr is gone nobody is there to be told.
        let _ = anstream::stderr().write_all(text.as_bytes());
    }
}

/// What heads and names look like.
pub(crate) const STRONG: Style = Style::new().bold();
/// What is well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// What is wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What may be wrong.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default().bold();
/// What to do.
pub(crate) const HELP: Style = AnsiColor::Cyan.on_default().bold();
/// What is less important than the rest of its line.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// Returns a text in a style.
pub(crate) fn paint(style: Style, text: impl Display) -> String {
    // A line break within a colour would colour what other programs write on the next line.
    let text = format!("{text}");
    let body = text.trim_end_matches('\n');
    format!("{style}{body}{style:#}{}", &text[body.len()..])
}

/// Where a command prints.
pub(crate) struct Output {
    stdout: AutoStream<io::Stdout>,
    width: usize,
}

impl Output {
    /// The width of a page that is no terminal and has no `COLUMNS`.
    const WIDTH: usize = 100;

    /// Returns the stdout of this process.
    pub(crate) fn new(colour: Colour) -> Self {
        match colour {
            Colour::Auto => anstream::ColorChoice::Auto,
            Colour::Always => anstream::ColorChoice::Always,
            Colour::Never => anstream::ColorChoice::Never,
        }
        .write_global();
        let terminal = terminal_size::terminal_size_of(io::stdout());
        let width = match terminal {
            Some((width, _)) => Some(usize::from(width.0)),
            None => variable("COLUMNS").and_then(|columns| columns.trim().parse().ok()),
        };
        Self {
            stdout: anstream::stdout(),
            width: width.filter(|width| *width > 0).unwrap_or(Self::WIDTH),
        }
    }

    /// Returns how many characters a line may have.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// Prints a text, with its colours where they are wanted.
    pub(crate) fn print(&mut self, text: &str) -> Result<()> {
        let written = self.stdout.write_all(text.as_bytes());
        match written.and_then(|()| self.stdout.flush()) {
            // `cargo rig … | head` has read what it wanted.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(|error| Stop::new(format!("stdout: {error}"))),
        }
    }

    /// Prints a document for programs.
    pub(crate) fn json(&mut self, document: &Value) -> Result<()> {
        self.print(&format!("{document:#}\n"))
    }
}

/// Tells the user something beside what was asked for, on stderr.
pub(crate) fn say(text: &str) {
    // Where stderr is gone nobody is there to be told.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// Returns a variable of the environment, unless it is empty.
#[expect(
    clippy::disallowed_methods,
    reason = "the commands read the environment here and nowhere else"
)]
pub(crate) fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?;
    let value = value.to_string_lossy().into_owned();
    (!value.is_empty()).then_some(value)
}
