//! Is everything found wherever a crate lies, and from wherever it is built?

use std::fs;
use std::path::{Path, PathBuf};

use crate::scratch::{
    Built, PROMPT, SCHEMA, Scratch, WORKSPACE, cargo, manifest, repository, route, run, walk,
};

const BUILD: &str = "fn main() {\n    rig_build::compile(\"modelrig/routes\");\n}\n";

/// Says which routes the program has: its own, and that of the crate it depends on.
const ONE: &str = r##"//! Prints what it and its dependency are told.

#[rig::route("fc.base")]
async fn fc_base(input: FcBaseInput) -> rig::Result<FcBase>;

fn main() {
    let own = |rig: &rig::Rig| fc_base(FcBaseInput { q: "one".to_owned() }).on(rig).run();
    println!("{}", two::told(own));
    println!("{}", two::ask("two"));
}

#[test]
fn the_routes_answer() {
    main();
}
"##;

const TWO: &str = r##"//! A library with a route of its own.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rig::testing::{ManualClock, MemoryStore, Scripted, ScriptedTransport};

#[rig::route("fc.two")]
async fn fc_two(input: FcTwoInput) -> rig::Result<FcTwo>;

/// Calls the library's route.
pub fn ask(q: &str) -> String {
    told(|rig| fc_two(FcTwoInput { q: q.to_owned() }).on(rig).run())
}

/// Makes a call and returns its route, its version and the request that it sent.
pub fn told<T, F: Future<Output = rig::Result<rig::Run<T>>>>(call: impl FnOnce(&rig::Rig) -> F) -> String {
    let clock = ManualClock::new();
    let transport = ScriptedTransport::new(&clock);
    transport.push(Scripted::chat(r#"{"answer": "yes"}"#));
    let rig = rig::Rig::builder()
        .ignore_env()
        .key("deepseek", "key")
        .transport(transport.clone())
        .store(MemoryStore::default())
        .clock(clock)
        .build()
        .unwrap();
    let mut call = pin!(call(&rig));
    let meta = loop {
        if let Poll::Ready(run) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            break run.unwrap().meta;
        }
    };
    let body = String::from_utf8(transport.requests()[0].body.clone()).unwrap();
    format!("{} {} {body}", meta.route, meta.route_version)
}

#[test]
fn the_route_answers() {
    assert!(ask("x").starts_with("fc.two 1 "));
}
"##;

/// The route of `two`, whose schema lies outside the routes directory.
fn two() -> String {
    route("fc.two").replace("./schema.json", "../schemas/s.json")
}

/// The workspace of FC-56.
fn workspace() -> Scratch {
    Scratch::new(
        "places",
        &[
            (
                "Cargo.toml",
                &format!("{WORKSPACE}members = [\"apps/one\", \"libs/two\"]\n"),
            ),
            ("modelrig/routes/trap.yaml", "route: [broken\n"),
            (
                "apps/one/Cargo.toml",
                &manifest("one", "two = { path = \"../../libs/two\" }\n"),
            ),
            ("apps/one/build.rs", BUILD),
            ("apps/one/src/main.rs", ONE),
            ("apps/one/modelrig/routes/route.yaml", &route("fc.base")),
            ("apps/one/modelrig/routes/schema.json", SCHEMA),
            ("apps/one/modelrig/routes/prompt.md", PROMPT),
            ("libs/two/Cargo.toml", &manifest("two", "")),
            ("libs/two/build.rs", BUILD),
            ("libs/two/src/lib.rs", TWO),
            ("libs/two/modelrig/routes/route.yaml", &two()),
            (
                "libs/two/modelrig/routes/prompt.md",
                &format!("Two. {PROMPT}"),
            ),
            (
                "libs/two/modelrig/schemas/s.json",
                &SCHEMA.replace("FcBase", "FcTwo"),
            ),
        ],
    )
}

/// Runs cargo in a folder, with the arguments as one would type them.
fn cargo_in(folder: &Path, arguments: &str) -> Built {
    run(cargo(folder).args(arguments.split(' '))).good()
}

/// Asserts that `one` prints both routes, each with its own prompt.
#[track_caller]
fn prints_both(ran: &Built) {
    let lines: Vec<_> = ran.stdout.lines().collect();
    let [one, two] = lines.as_slice() else {
        panic!("{}", ran.stdout)
    };
    assert!(
        one.starts_with("fc.base 1 ") && one.contains("\"Answer in JSON. Question: one"),
        "{one}"
    );
    assert!(
        two.starts_with("fc.two 1 ") && two.contains("\"Two. Answer in JSON. Question: two"),
        "{two}"
    );
}

/// Asserts that no file of the build scripts says where anything lies, and returns the index of each.
#[track_caller]
fn indexes(folder: &Path, packages: &[&str]) -> Vec<String> {
    let built = cargo_in(folder, "build --message-format=json");
    let index = |out_dir: &PathBuf| {
        let out = out_dir.join("rig");
        walk(&out, &mut |path| {
            let text = fs::read_to_string(path).unwrap();
            for place in [folder, out_dir, repository()] {
                let place = place.to_str().unwrap();
                assert!(!text.contains(place), "{} names {place}", path.display());
            }
        });
        fs::read_to_string(out.join("routes.index")).unwrap()
    };
    built.out_dirs(packages).iter().map(index).collect()
}

/// FC-56, steps 1 to 3 and 6.
#[test]
fn a_member_of_a_workspace_builds_from_anywhere_and_its_sources_stay_as_they_are() {
    let scratch = workspace();
    let root = scratch.root();
    let before = scratch.tree();

    for arguments in ["build", "build -p one", "test --workspace", "doc --no-deps"] {
        cargo_in(root, arguments);
    }
    prints_both(&cargo_in(root, "run -p one"));
    prints_both(&cargo_in(&root.join("apps/one"), "run"));
    let manifest = root.join("apps/one/Cargo.toml");
    let mut from_afar = cargo(Path::new("/"));
    let from_afar = from_afar.args(["run", "--manifest-path"]).arg(&manifest);
    prints_both(&run(from_afar).good());
    // Every scratch crate has its target folder elsewhere; this is yet another.
    let elsewhere = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scratch/elsewhere");
    let mut command = cargo(root);
    prints_both(
        &run(command
            .args(["run", "-p", "one"])
            .env("CARGO_TARGET_DIR", elsewhere))
        .good(),
    );

    // Each has its own routes only, and nobody has read the trap.
    let expected = ["fc.base\tFcBase\n", "fc.two\tFcTwo\n"];
    assert_eq!(indexes(root, &["one", "two"]), expected);
    // Permissions do not bind a superuser, so that the sources are compared instead of locked.
    assert_eq!(scratch.tree(), before);
}

/// FC-56, step 5. A finding shows a path that can be opened from the crate's root, wherever that lies.
#[test]
fn a_workspace_that_has_moved_builds_and_reports_at_its_new_place() {
    let scratch = workspace();
    let there = scratch.root().with_file_name("plätze, neu");
    if there.exists() {
        fs::remove_dir_all(&there).unwrap();
    }
    cargo_in(scratch.root(), "build");
    fs::rename(scratch.root(), &there).unwrap();
    prints_both(&cargo_in(&there, "run -p one"));
    let expected = ["fc.base\tFcBase\n", "fc.two\tFcTwo\n"];
    assert_eq!(indexes(&there, &["one", "two"]), expected);

    let library = there.join("libs/two/modelrig");
    let route = two().replace("version", "versoin");
    fs::write(library.join("routes/route.yaml"), route).unwrap();
    let schema = "{\n  \"type\": \"obect\"\n}\n";
    fs::write(library.join("schemas/s.json"), schema).unwrap();
    let mut from_afar = cargo(Path::new("/"));
    let manifest = there.join("apps/one/Cargo.toml");
    run(from_afar.args(["build", "--manifest-path"]).arg(manifest)).bad(&[
        "--> modelrig/routes/route.yaml:2:1",
        "--> modelrig/schemas/s.json:2:11",
    ]);
    fs::rename(&there, scratch.root()).unwrap();
}

/// FC-56, step 4. Not `cargo package` itself: it refuses dependencies that are not on a registry yet. It says what
/// it would pack, and that is unpacked here.
#[test]
fn a_packaged_crate_has_all_it_needs() {
    let scratch = workspace();
    let listed = cargo_in(scratch.root(), "package --list --allow-dirty -p two").stdout;
    let folder = tempfile::tempdir().unwrap();
    let generated = [".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml.orig"];
    for path in listed.lines().filter(|path| !generated.contains(path)) {
        let to = folder.path().join(path);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(scratch.root().join("libs/two").join(path), to).unwrap();
    }
    let lock = scratch.root().join("Cargo.lock");
    fs::copy(lock, folder.path().join("Cargo.lock")).unwrap();
    for path in ["modelrig/routes/route.yaml", "modelrig/schemas/s.json"] {
        assert!(folder.path().join(path).exists(), "{listed}");
    }
    cargo_in(folder.path(), "test");
    assert_eq!(indexes(folder.path(), &["two"]), ["fc.two\tFcTwo\n"]);
}
