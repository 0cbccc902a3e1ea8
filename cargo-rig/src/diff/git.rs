//! How was a folder at a revision of git?
//!
//! Read by the program `git`, into a folder of its own with an index of its own: nothing of the user's changes.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rig_build::Compilation;
use tempfile::TempDir;

use crate::output::{Result, Stop};

/// Compiles the routes of a folder as they were. What lies outside their crate is fetched only where a route names it.
pub(super) fn at(
    revision: &str,
    routes: &Path,
    compile: impl Fn(&Path) -> Compilation,
) -> Result<Compilation> {
    let tree = Tree::of(revision, routes)?;
    tree.fetch(Some(&tree.crate_prefix))?;
    let then = tree.folder.path().join("tree").join(&tree.prefix);
    if !then.is_dir() {
        return Ok(Compilation::default());
    }
    let compilation = compile(&then);
    let is_missing = |finding: &rig_build::Finding| finding.code == "missing-file";
    let misses = compilation
        .routes
        .iter()
        .any(|route| route.findings.iter().any(is_missing));
    if !misses {
        return Ok(compilation);
    }
    tree.fetch(None)?;
    Ok(compile(&then))
}

/// A revision, and where it is unpacked.
struct Tree {
    folder: TempDir,
    top: PathBuf,
    /// The commit.
    commit: String,
    /// The routes, from the top of the repository.
    prefix: String,
    /// The folder in which they lie, from there.
    crate_prefix: String,
}

impl Tree {
    fn of(revision: &str, routes: &Path) -> Result<Self> {
        let asked = |arguments: &[&str]| {
            let output = run(Command::new("git").current_dir(routes).args(arguments), &[])?;
            Ok(output.trim_end_matches(['\n', '\r']).to_owned())
        };
        let top = PathBuf::from(asked(&["rev-parse", "--show-toplevel"])?);
        let prefix = asked(&["rev-parse", "--show-prefix"])?;
        let wanted = format!("{revision}^{{commit}}");
        let commit = asked(&[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &wanted,
        ])
        .map_err(|_| Stop::new(format!("git knows no revision `{revision}`")))?;
        let crate_prefix = prefix.trim_end_matches('/').rsplit_once('/');
        let crate_prefix = crate_prefix.map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let folder = tempfile::tempdir()
            .map_err(|error| Stop::new(format!("no folder for the old routes: {error}")))?;
        Ok(Self {
            folder,
            top,
            commit,
            prefix,
            crate_prefix,
        })
    }

    /// Unpacks the files below a folder, or all.
    fn fetch(&self, below: Option<&str>) -> Result<()> {
        self.git(&["read-tree", &self.commit], &[])?;
        let mut list = vec![
            "ls-tree",
            "-r",
            "-z",
            "--name-only",
            "--full-tree",
            &self.commit,
        ];
        if let Some(below) = below.filter(|below| !below.is_empty()) {
            list.extend(["--", below]);
        }
        let files = self.git(&list, &[])?;
        let prefix = format!("--prefix={}/tree/", self.folder.path().display());
        self.git(
            &["checkout-index", "-f", "-z", "--stdin", &prefix],
            files.as_bytes(),
        )?;
        Ok(())
    }

    fn git(&self, arguments: &[&str], input: &[u8]) -> Result<String> {
        let index = self.folder.path().join("index");
        let mut git = Command::new("git");
        run(
            git.current_dir(&self.top)
                .env("GIT_INDEX_FILE", index)
                .args(arguments),
            input,
        )
    }
}

/// Runs git to its good end.
fn run(command: &mut Command, input: &[u8]) -> Result<String> {
    let failed = |what: &dyn std::fmt::Display| Stop::new(format!("git: {what}"));
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().map_err(|error| failed(&error))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A git that has failed already reads nothing; what it says is told below.
        let _ = stdin.write_all(input);
    }
    let output = child.wait_with_output().map_err(|error| failed(&error))?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        let command = command
            .get_args()
            .next()
            .and_then(OsStr::to_str)
            .unwrap_or_default();
        let told = told.trim().trim_start_matches("fatal: ");
        return Err(failed(&if told.is_empty() { command } else { told }));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
