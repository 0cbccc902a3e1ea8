//! Where do files come from, and which of them must cargo watch?

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::diagnostic::{Diagnostic, Sink};
use crate::source::{SourceId, Sources, Span, Spanned};

/// Every file that a compilation read.
#[derive(Debug, Default)]
pub(crate) struct Files {
    pub(crate) sources: Sources,
    places: BTreeMap<SourceId, PathBuf>,
    by_path: BTreeMap<PathBuf, SourceId>,
    watched: BTreeSet<PathBuf>,
}

impl Files {
    /// Reads a file; `shown` is its path as messages say it. A file that is not UTF-8 is reported here, and so
    /// is one that cannot be read.
    pub(crate) fn read(&mut self, path: &Path, shown: &str, sink: &mut Sink) -> Option<SourceId> {
        match self.try_read(path, shown, sink) {
            Ok(read) => read,
            Err(error) => {
                let message = format!("`{shown}` cannot be read: {}", reason(&error));
                sink.push(
                    Diagnostic::error("missing-file", message)
                        .help("check the path and its permissions"),
                );
                None
            }
        }
    }

    /// Reads the file that a value of another file names, relative to that other file.
    pub(crate) fn read_named(
        &mut self,
        what: &str,
        name: &Spanned<String>,
        sink: &mut Sink,
    ) -> Option<SourceId> {
        let from = name.span.source;
        let folder = self
            .places
            .get(&from)
            .and_then(|path| path.parent())
            .unwrap_or(Path::new(""));
        let path = normal(&folder.join(&name.value));
        let shown_from = self.sources.get(from).shown.clone();
        let shown_folder = Path::new(&shown_from).parent().unwrap_or(Path::new(""));
        let shown = slashes(&normal(&shown_folder.join(&name.value)));
        match self.try_read(&path, &shown, sink) {
            Ok(read) => read,
            Err(error) => {
                let message = format!("the {what} `{shown}` cannot be read: {}", reason(&error));
                let help =
                    format!("create the file; paths are relative to the folder of `{shown_from}`");
                sink.push(
                    Diagnostic::error("missing-file", message)
                        .at(name.span)
                        .help(help),
                );
                None
            }
        }
    }

    fn try_read(
        &mut self,
        path: &Path,
        shown: &str,
        sink: &mut Sink,
    ) -> io::Result<Option<SourceId>> {
        if let Some(known) = self.by_path.get(path) {
            return Ok(Some(*known));
        }
        let bytes = match read_file(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                // Watching a path that is missing would rerun the build script for ever; its folder tells as much.
                let parent = path.ancestors().skip(1).find(|folder| folder.is_dir());
                self.watched.extend(parent.map(Path::to_path_buf));
                return Err(error);
            }
        };
        self.watched.insert(path.to_path_buf());
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let text = String::from_utf8_lossy(bytes).into_owned();
        let broken = std::str::from_utf8(bytes)
            .err()
            .map(|error| error.valid_up_to());
        let id = self.sources.add(shown.to_owned(), text);
        self.places.insert(id, path.to_path_buf());
        if let Some(at) = broken {
            let span = Span::new(id, at..at + '\u{fffd}'.len_utf8());
            let help = "save the file as UTF-8";
            sink.push(
                Diagnostic::error("not-utf8", format!("`{shown}` is not UTF-8"))
                    .at(span)
                    .help(help),
            );
            return Ok(None);
        }
        self.by_path.insert(path.to_path_buf(), id);
        Ok(Some(id))
    }

    /// Returns the files, and the folders of missing ones, whose change changes the result.
    pub(crate) fn watched(&self) -> &BTreeSet<PathBuf> {
        &self.watched
    }
}

/// Reads a file that ends: a device or a pipe may go on for ever.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let kind = std::fs::metadata(path)?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    std::fs::read(path)
}

fn reason(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file",
        io::ErrorKind::PermissionDenied => "permission denied",
        io::ErrorKind::IsADirectory => "it is a folder",
        io::ErrorKind::InvalidInput => "it is no ordinary file",
        _ => "the system reports an error",
    }
}

/// Removes `.` and resolves `..` in the path's text, so that messages show what a user would write.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_))) =>
            {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// Returns a path with `/` between its parts on every system.
pub(crate) fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
