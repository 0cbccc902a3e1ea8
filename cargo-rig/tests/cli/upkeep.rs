//! Do the commands that keep a database in order delete what they say, and show nothing that they must not?

use serde_json::Value;

use crate::bench::Bench;
use crate::reading::json;

// A URL holds a password, wherever it comes from and however broken it is.
#[test]
fn no_command_shows_the_password_of_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let secret = "s3cret-p4ss";
    for url in [
        format!("postgres://somebody:{secret}@127.0.0.1:1/telemetry"),
        format!("postgresql://somebody:{secret}@127.0.0.1:1/telemetry?sslmode=disable"),
        format!("postgres://somebody:{secret}/@127.0.0.1:1"),
        format!("POSTGRES://somebody:{secret}@127.0.0.1:1/telemetry"),
        format!("mysql://somebody:{secret}@127.0.0.1:1/telemetry"),
        format!("postgres://127.0.0.1:1/telemetry?user=somebody&password={secret}"),
    ] {
        for command in [
            &["runs"][..],
            &["report"],
            &["run", "last"],
            &["envelopes"],
            &["grade", "x", "up"],
        ] {
            let named = crate::rig_with(folder.path(), command, &[("MODELRIG_TELEMETRY_DB", &url)]);
            let given = crate::rig(folder.path(), &[command, &["--db", &url]].concat());
            for ran in [named, given] {
                assert_eq!(ran.code, 2, "{command:?}");
                let shown = format!("{}{}", ran.stdout, ran.stderr);
                assert!(
                    !shown.contains(secret) && !shown.contains("somebody"),
                    "{shown}"
                );
                assert!(shown.contains("://"), "{shown}");
            }
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

// T7: captures by tag, then rows by age; a count says beforehand what a deletion says afterwards.
#[test]
fn what_is_pruned_is_counted_first_and_gone_afterwards() {
    let bench = Bench::new();
    let unsaid = bench.rig(&["prune"]);
    assert_eq!(unsaid.code, 2);
    assert!(
        unsaid.stderr.contains("nothing says what is to be deleted"),
        "{}",
        unsaid.stderr
    );
    let of_c0 = ["prune", "--captures", "--tag", "customer=c0"];
    for (more, said) in [
        (&["--dry-run"][..], "would delete 20 captures\n"),
        (
            &["--dry-run", "--route", "other"],
            "would delete 0 captures\n",
        ),
        (&[], "deleted 20 captures\n"),
        (&[], "deleted 0 captures\n"),
    ] {
        let ran = bench.rig(&[&of_c0[..], more].concat());
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
            (0, said, "")
        );
    }
    assert_eq!(bench.rig(&["grade", "capture-01", "up"]).code, 0);
    let one = bench.rig(&["prune", "--id", "run-01"]);
    assert_eq!(one.stdout, "deleted 1 row, 1 capture and 1 verdict\n");
    let all = json(&bench, &["prune", "--older-than", "1s", "--json"]);
    let expected = serde_json::json!({
        "dry_run": false, "rows": 39, "captures": 19, "verdicts": 0, "kept_unexported": 0,
        "leaves_traces": false,
    });
    assert_eq!(all, expected);
    assert_eq!(bench.rig(&["runs", "--since", "9000d"]).stdout, "no run\n");
    for wrong in [
        &["--tag", "customer"][..],
        &["--all", "--id", "x"],
        &["--older-than", "soon"],
    ] {
        assert_eq!(
            bench.rig(&[&["prune"], wrong].concat()).code,
            2,
            "{wrong:?}"
        );
    }
}

// T9: what waits and what was set aside is shown, and is an exit code of 1.
#[test]
fn what_exporters_have_set_aside_is_shown() {
    let bench = Bench::new();
    let unused = bench.rig(&["exports"]);
    assert_eq!(
        (unused.code, unused.stdout.as_str()),
        (0, "nothing was ever exported\n")
    );
    let database = rusqlite::Connection::open(bench.database()).unwrap();
    database
        .execute_batch(
            "INSERT INTO exports (exporter, cursor, fault, fault_ts)
             VALUES ('ingest', 'capture-09', NULL, NULL), ('otlp', NULL, 'status 401', 1790000000000);
             INSERT INTO export_set_aside (exporter, id, ts, reason)
             VALUES ('ingest', 'capture-03', 1790000000000, 'status 400')",
        )
        .unwrap();
    let ran = bench.rig(&["exports"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let expected = "\
exporter  waiting  set aside  last request
ingest         30          1  taken
otlp           40          0  status 401, since 2026-09-21 14:13:20 UTC

1 row set aside by ingest, which stay in the database
capture-03  2026-09-21 14:13:20  status 400
";
    assert_eq!(ran.stdout, expected);
    let document = bench.rig(&["exports", "--json"]);
    let document: Value = serde_json::from_str(&document.stdout).unwrap();
    assert_eq!(
        document["exporters"][0]["newest_set_aside"][0]["id"],
        "capture-03"
    );
    // Rows that wait are not pruned unless somebody says so.
    let kept = bench.rig(&["prune", "--older-than", "1s"]);
    assert!(
        kept.stdout
            .contains("kept 40 rows that an exporter has not sent yet"),
        "{}",
        kept.stdout
    );
    let gone = bench.rig(&["prune", "--all", "--unexported"]);
    assert!(
        gone.stdout.starts_with("deleted 40 rows"),
        "{}",
        gone.stdout
    );
    assert!(!bench.rig(&["exports"]).stdout.contains("capture-03"));
}

// T7: what a bake-off writes holds outputs, and is its owner's.
#[cfg(unix)]
#[test]
fn the_files_of_a_bake_off_are_its_owners() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    let baked = [
        "bakeoff",
        "label",
        "--variants",
        "fair",
        "--budget-usd",
        "1",
        "--last",
        "4",
    ];
    assert_eq!(bench.rig(&baked).code, 0);
    let folder = bench.database().with_file_name("bakeoffs");
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert!(
        files
            .iter()
            .any(|file| file.extension().is_some_and(|end| end == "jsonl"))
    );
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[expect(clippy::print_stderr, reason = "a skipped test has to say so")]
fn say(line: &str) {
    eprintln!("{line}");
}

// The rows of a fleet are read by their URL, as in the program.
#[test]
fn a_database_of_a_server_is_read_by_its_url() {
    let Ok(server) = std::env::var("MODELRIG_TEST_POSTGRES") else {
        say("skipped: MODELRIG_TEST_POSTGRES names no server");
        return;
    };
    let at_server = |statement: String| {
        let mut client = postgres::Client::connect(&server, postgres::NoTls).unwrap();
        client.batch_execute(&statement).unwrap();
    };
    let name = format!("modelrig_cli_{}", uuid::Uuid::now_v7().simple());
    at_server(format!("CREATE DATABASE {name}"));
    let url = format!("{}/{name}", server.rsplit_once('/').unwrap().0);
    let folder = tempfile::tempdir().unwrap();
    let ran = crate::rig(folder.path(), &["runs", "--db", &url]);
    at_server(format!("DROP DATABASE {name} WITH (FORCE)"));
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "no run\n", "")
    );
}
