//! Does an edit of a route, a prompt or a schema reach the program?

use serde_json::Value;

use crate::scratch::{BUILD, Built, PROMPT, SCHEMA, Scratch, WORKSPACE, manifest, route};

/// Says which version ran, what it was told, and what came back; no network, no files, no runtime.
const MAIN: &str = r##"//! Calls the route once and prints what can be seen of it.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rig::testing::{ManualClock, MemoryStore, Scripted, ScriptedTransport};

#[rig::route("fc.base")]
async fn fc_base(input: FcBaseInput) -> rig::Result<FcBase>;

fn main() {
    let clock = ManualClock::new();
    let transport = ScriptedTransport::new(&clock);
    transport.push(Scripted::chat(r#"{"answer": "forty-two"}"#));
    let rig = rig::Rig::builder()
        .ignore_env()
        .key("deepseek", "key")
        .transport(transport.clone())
        .store(MemoryStore::default())
        .clock(clock)
        .build()
        .unwrap();
    let mut call = pin!(fc_base(FcBaseInput { q: "x".to_owned() }).on(&rig).run());
    let run = loop {
        if let Poll::Ready(run) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            break run.unwrap();
        }
    };
    println!("{}", run.meta.route_version);
    println!("{}", run.output.answer);
    println!("{}", String::from_utf8(transport.requests()[0].body.clone()).unwrap());
}
"##;

/// What the program prints.
struct Printed {
    version: String,
    answer: String,
    system: String,
}

fn rebuild() -> Scratch {
    Scratch::new(
        "rebuild",
        &[
            ("Cargo.toml", &(manifest("rebuild", "") + WORKSPACE)),
            ("build.rs", BUILD),
            ("src/main.rs", MAIN),
            ("routes/route.yaml", &route("fc.base")),
            ("routes/prompt.md", PROMPT),
            ("routes/schema.json", SCHEMA),
        ],
    )
}

/// A crate that is built in one profile.
struct Project {
    scratch: Scratch,
    /// `--profile`'s name: incremental in `dev`, and not in `release`.
    profile: &'static str,
}

/// Builds and runs; `edited` says whether there has to be something to build.
fn printed(project: &Project, edited: bool) -> Printed {
    let ran = project.cargo("run").good();
    if edited {
        assert!(ran.compiled("rebuild"), "{}", ran.stderr);
        let compiled = ran.stderr.matches("Compiling").count();
        assert_eq!(
            compiled, 1,
            "an edit rebuilds its crate alone: {}",
            ran.stderr
        );
    }
    let lines: Vec<_> = ran.stdout.lines().collect();
    let [version, answer, body] = lines.as_slice() else {
        panic!("{}", ran.stdout)
    };
    let body: Value = serde_json::from_str(body).unwrap();
    Printed {
        version: (*version).to_owned(),
        answer: (*answer).to_owned(),
        system: body["messages"][0]["content"].as_str().unwrap().to_owned(),
    }
}

fn build(project: &Project) -> Built {
    project.cargo("build")
}

impl Project {
    fn cargo(&self, command: &str) -> Built {
        self.scratch.cargo(&[command, "--profile", self.profile])
    }
}

/// FC-55, C12.
#[test]
fn an_edit_of_any_file_of_a_route_rebuilds_its_crate_and_nothing_else_does() {
    for profile in ["dev", "release"] {
        edit(&Project {
            scratch: rebuild(),
            profile,
        });
    }
}

fn edit(project: &Project) {
    let scratch = &project.scratch;
    let first = printed(project, false);
    assert_eq!((&*first.version, &*first.answer), ("1", "forty-two"));
    assert!(
        first.system.starts_with("Answer in JSON. Question: x\n"),
        "{}",
        first.system
    );

    // Step 2: the prompt alone.
    scratch.write("routes/prompt.md", &format!("ADDED. {PROMPT}"));
    assert!(
        printed(project, true)
            .system
            .starts_with("ADDED. Answer in JSON.")
    );

    // Step 3: the schema alone; the program's `answer` is gone.
    scratch.write("routes/schema.json", &SCHEMA.replace("answer", "reply"));
    let no_field = ["no field `answer` on type `FcBase`", "src/main.rs:30:31"];
    build(project).bad(&no_field);

    // Step 4: the schema is back, then the route alone.
    scratch.write("routes/schema.json", SCHEMA);
    let version = |number| route("fc.base").replace("version: 1", number);
    scratch.write("routes/route.yaml", &version("version: 2"));
    assert_eq!(printed(project, true).version, "2");
    scratch.write("routes/route.yaml", &version("version: 3"));
    assert_eq!(printed(project, true).version, "3");

    // Step 5: a file that the route reaches only through its schema.
    let text = r#"{ "type": "string" }"#;
    scratch.write(
        "routes/schema.json",
        &SCHEMA.replace(text, r#"{ "$ref": "./defs.json" }"#),
    );
    scratch.write("routes/defs.json", text);
    assert!(!printed(project, true).system.contains("REVISED"));
    let revised = r#"{ "type": "string", "description": "REVISED" }"#;
    scratch.write("routes/defs.json", revised);
    assert!(printed(project, true).system.contains("REVISED"));

    // Step 6: no edits, and one that is no route's.
    build(project).fresh();
    build(project).fresh();
    scratch.write("notes.md", "Nothing.\n");
    build(project).fresh();

    // The same outside the routes directory.
    let outside = r#"{ "$ref": "../schemas/defs.json" }"#;
    scratch.write("routes/schema.json", &SCHEMA.replace(text, outside));
    scratch.write("schemas/defs.json", text);
    assert!(!printed(project, true).system.contains("REVISED"));
    scratch.write("schemas/defs.json", revised);
    assert!(printed(project, true).system.contains("REVISED"));

    // The schema goes: an error that names it, each time, until it is back.
    scratch.remove("routes/schema.json");
    let gone = [
        "[missing-file] the schema `routes/schema.json` cannot be read: there is no such file",
        "--> routes/route.yaml:3:9",
        "src/main.rs:8:14",
    ];
    build(project).bad(&gone);
    build(project).bad(&gone);
    scratch.write("routes/schema.json", SCHEMA);
    assert_eq!(printed(project, true).answer, "forty-two");
}
