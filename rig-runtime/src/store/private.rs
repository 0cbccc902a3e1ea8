//! Files and directories that only their owner may read.
//!
//! On Unix they are made so (0600 and 0700). Elsewhere they have the access of the directory that they are in.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Creates a directory for its owner alone, and those above it that are missing. In it is a `.gitignore` that passes
/// over everything. A directory that exists is left as it is.
///
/// # Errors
///
/// Returns an error if there is none afterwards.
pub fn directory(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    owners_directory(&mut builder);
    if let Some(above) = path.parent() {
        builder.recursive(true).create(above)?;
    }
    match builder.recursive(false).create(path) {
        Ok(()) => {
            // Whoever cannot have it can have the directory all the same.
            let ignored = file(&path.join(".gitignore"));
            let _ = ignored.and_then(|mut ignored| ignored.write_all(b"*\n"));
            Ok(())
        }
        // Another process was faster.
        Err(_) if path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates a file for its owner alone, to be appended to.
///
/// # Errors
///
/// Returns an error if there is one already, or none can be made.
pub fn file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    owners_file(&mut options);
    options.append(true).create_new(true).open(path)
}

/// Takes away what others may do with a file.
#[cfg(unix)]
pub(super) fn tighten(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = fs::metadata(path)?.permissions();
    if permissions.mode() & 0o077 == 0 {
        return Ok(());
    }
    permissions.set_mode(permissions.mode() & 0o700);
    fs::set_permissions(path, permissions)
}

#[cfg(not(unix))]
pub(super) fn tighten(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn owners_directory(builder: &mut fs::DirBuilder) {
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o700);
}

#[cfg(not(unix))]
fn owners_directory(_: &mut fs::DirBuilder) {}

#[cfg(unix)]
fn owners_file(options: &mut OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

#[cfg(not(unix))]
fn owners_file(_: &mut OpenOptions) {}

#[cfg(all(test, unix))]
mod tests;
