//! FC-79: is the file exactly the one that was named?

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rig::Rig;
use rusqlite::{Connection, OpenFlags};

use crate::scratch::{repository, walk};
use crate::server::Server;
use crate::stuck::{answering, asked, runtime};

/// Tells this binary that it is a process whose environment names the file; the server's address.
const CHILD: &str = "LOOPBACK_PATHS_CHILD";

/// Not a test: makes one call.
#[test]
fn child() {
    let Ok(url) = env::var(CHILD) else { return };
    let builder = Rig::builder().key("north", "key");
    let rig = builder.base_url("north", url).build().unwrap();
    runtime().block_on(async {
        asked().on(&rig).run().await.unwrap();
        rig.close().await.unwrap();
    });
}

/// Makes a call in a process of its own, in a folder, whose environment names the file so.
fn call(server: &Server, folder: &Path, named: &Path) {
    let status = Command::new(env::current_exe().unwrap())
        .args(["--exact", "paths::child", "--nocapture"])
        .current_dir(folder)
        .env(CHILD, server.base_url("north"))
        .env("MODELRIG_TELEMETRY_DB", named)
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.unwrap().success(), "{}", named.display());
}

/// Returns every file of a folder, but for those by which git leaves it alone.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    walk(folder, &mut |path| {
        if path.file_name().is_none_or(|name| name != ".gitignore") {
            files.push(path.strip_prefix(folder).unwrap().to_owned());
        }
    });
    files
}

// FC-79, T1: `?`, `#`, `%41`, `file:` and `:memory:` are characters of a name like any other, in an absolute path and in a
// relative one; nothing else is made.
#[test]
fn fc_79_a_path_that_looks_like_a_uri_is_a_path() {
    let names = repository().join("../shared/fieldcases/FC-79/paths.txt");
    let Ok(names) = fs::read_to_string(&names) else {
        println!("skipped: {} is not there", names.display());
        return;
    };
    let server = answering();
    for name in names.lines() {
        let folder = tempfile::tempdir().unwrap();
        // The names of temporary folders may be links.
        let root = folder.path().canonicalize().unwrap();
        let file = root.join(name);
        call(&server, &root, &file);
        call(&server, &root, Path::new(name));
        assert_eq!(files(&root), [PathBuf::from(name)]);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = Connection::open_with_flags(&file, flags).unwrap();
        let rows: i64 = connection
            .query_row("SELECT count(*) FROM inferences", [], |row| row.get(0))
            .unwrap();
        assert_eq!(rows, 2, "{name}");
    }
}
