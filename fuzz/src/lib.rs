//! How is a directory of routes written as one input, and what has to be true of every one?
//!
//! An input is a list of files: a line `=== path`, then the file's bytes. What stands before the first such line is
//! `route.yaml`, so that any bytes at all are an input.

pub mod answers;
pub mod replies;

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use rig_build::{Compilation, Severity, compile_dir, compile_to};

/// Stands before a file's path, at the start of a line.
const MARK: &[u8] = b"=== ";

/// More files than this are more of the same.
const MOST_FILES: usize = 12;

/// What all findings of one directory may take, per byte of its files and besides.
const MOST_TEXT_PER_BYTE: usize = 2_000;
const MOST_TEXT: usize = 100_000;

/// A directory as it stands on disk, and what it is compiled to; files of an input before are gone.
pub struct Directory {
    root: PathBuf,
    routes: PathBuf,
    out: PathBuf,
    written: Vec<PathBuf>,
}

/// Writes files as one input.
pub fn join(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut input = Vec::new();
    for (path, bytes) in files {
        input.extend_from_slice(MARK);
        input.extend_from_slice(path.as_bytes());
        input.push(b'\n');
        input.extend_from_slice(bytes);
        if !bytes.ends_with(b"\n") {
            input.push(b'\n');
        }
    }
    input
}

/// Reads one input as files. Paths that would lead out of the directory are left out.
pub fn split(input: &[u8]) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = vec![(PathBuf::from("route.yaml"), Vec::new())];
    for line in input.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_prefix(MARK).map(|path| path.trim_ascii()) {
            Some(path) => {
                let path = String::from_utf8_lossy(path).into_owned();
                files.push((PathBuf::from(path), Vec::new()));
            }
            None => {
                if let Some((_, bytes)) = files.last_mut() {
                    bytes.extend_from_slice(line);
                }
            }
        }
    }
    files.retain(|(path, bytes)| stays_within(path) && !bytes.is_empty());
    files.truncate(MOST_FILES);
    files
}

fn stays_within(path: &Path) -> bool {
    let parts: Vec<_> = path.components().collect();
    let plain = |part: &Component<'_>| matches!(part, Component::Normal(name) if name.len() < 64 && !name.to_string_lossy().contains('\0'));
    (1..=3).contains(&parts.len()) && parts.iter().all(plain)
}

impl Directory {
    /// Returns an empty directory of this process.
    pub fn new() -> io::Result<Self> {
        // Memory, where the system has a folder for it: an input is written and read thousands of times a second.
        let memory = Path::new("/dev/shm");
        let parent = match memory.is_dir() {
            true => memory.to_path_buf(),
            false => std::env::temp_dir(),
        };
        let root = parent.join(format!("rig-fuzz-{}", std::process::id()));
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        let (routes, out) = (root.join("routes"), root.join("out"));
        fs::create_dir_all(&routes)?;
        Ok(Self {
            root,
            routes,
            out,
            written: Vec::new(),
        })
    }

    /// Exchanges the files for those of another input; returns the sum of their lengths.
    pub fn write(&mut self, input: &[u8]) -> usize {
        for path in self.written.drain(..) {
            drop(fs::remove_file(path));
        }
        let mut length = 0;
        for (path, bytes) in split(input) {
            let path = self.routes.join(path);
            let folder = path.parent().unwrap_or(&self.routes);
            // A path may be a folder here and a file there; the first one has it.
            if fs::create_dir_all(folder).is_ok() && fs::write(&path, &bytes).is_ok() {
                length += bytes.len();
                self.written.push(path);
            }
        }
        length
    }

    /// Compiles the directory twice, and panics where something that has to be true is not.
    pub fn check(&self, length: usize) {
        let first = compile_dir(&self.routes, "routes");
        let again =
            compile_to(&self.routes, "routes", &self.out).expect("every name is one of a file");
        assert_eq!(
            shown(&first),
            shown(&again),
            "the same files, the same text"
        );
        assert_eq!(first.watched, again.watched);
        let own = first.routes.iter().flat_map(|route| &route.findings);
        let mut text = 0;
        for finding in first.directory.iter().chain(own) {
            text += finding.text.len();
            let head = format!("[{}]: ", finding.code);
            assert!(finding.text.contains(&head), "{}", finding.text);
            assert!(finding.text.ends_with('\n'), "{}", finding.text);
            let has_separator = finding.text.contains('\u{1e}');
            assert!(!has_separator, "a separator in {:?}", finding.text);
        }
        let most = MOST_TEXT + MOST_TEXT_PER_BYTE * length;
        assert!(text <= most, "{text} bytes of findings for {length} bytes");
        for route in &first.routes {
            let is_error = |finding: &rig_build::Finding| finding.severity == Severity::Error;
            let broken = route.findings.iter().any(is_error);
            assert_eq!(
                broken,
                route.module.is_none(),
                "errors, or a module: {route:?}"
            );
            let types = self.out.join(format!("{}.types.rs", route.name));
            let types = fs::read_to_string(types).ok();
            for rust in route.module.iter().chain(&types).chain(&route.output_types) {
                if let Err(error) = syn::parse_file(rust) {
                    panic!("{error} in\n{rust}");
                }
            }
        }
    }
}

fn shown(compilation: &Compilation) -> String {
    format!("{:?} {:?}", compilation.directory, compilation.routes)
}

impl Drop for Directory {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.root));
    }
}
