//! What does a crate with many routes cost to build?
//!
//! `cargo run --release -p tests --bin scale -- 1 10 100 500` writes a crate with that many routes each below the
//! target folder, and builds it offline with every dependency built already. What is printed are CPU seconds, user and
//! system together, of cargo and all that it starts; `--json` prints them for machines. With `--size` it is the bytes of
//! the optimized program, stripped, that calls each route; with `--check` what `cargo rig check` takes for the routes, by
//! the `cargo-rig` beside this program (`cargo build --release -p cargo-rig`). It asserts nothing.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for developers, which deals in processes and tables"
)]

mod scratch;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use scratch::{Scratch, route};

/// Of this many edits of one kind the middle one counts.
const EDITS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_json = arguments.iter().any(|argument| argument == "--json");
    let mut counts: Vec<usize> = arguments
        .iter()
        .filter_map(|argument| argument.parse().ok())
        .collect();
    if counts.is_empty() {
        counts = vec![1, 10, 100];
    }
    let place = Place::new();
    if arguments.iter().any(|argument| argument == "--size") {
        let sizes = counts
            .into_iter()
            .map(|routes| (routes, place.size(routes)));
        return print_sizes(&sizes.collect::<Vec<_>>(), is_json);
    }
    if arguments.iter().any(|argument| argument == "--check") {
        for routes in counts {
            let cost = place.check(routes);
            println!("{routes:>6} routes checked: {cost:.2}");
        }
        return;
    }
    let dependencies = place.warm_up();
    let rows: Vec<Row> = counts
        .into_iter()
        .flat_map(|routes| place.measure(routes))
        .collect();
    if is_json {
        let rows: Vec<_> = rows.iter().map(Row::json).collect();
        println!("{}", json!({ "dependencies": dependencies, "rows": rows }));
        return;
    }
    println!("routes  command    cold    yaml    rust    none  script  generated");
    for row in &rows {
        println!(
            "{:>6}  {:<7} {:>7.2} {:>7.2} {:>7.2} {:>7.2} {:>7.2}  {:>6} KB",
            row.routes,
            row.command,
            row.cold,
            row.yaml,
            row.rust,
            row.none,
            row.script,
            row.generated / 1_024
        );
    }
    println!("\nrig-build and what it stands on, cold: {dependencies:.2}");
}

/// Prints how large programs are with so many routes, and what each route adds to the first.
fn print_sizes(sizes: &[(usize, u64)], is_json: bool) {
    for (routes, bytes) in sizes {
        let (first, least) = sizes[0];
        let added = (*routes > first).then(|| (bytes - least) / (routes - first) as u64);
        if is_json {
            println!(
                "{}",
                json!({ "routes": routes, "bytes": bytes, "bytes_per_route": added })
            );
        } else {
            let added = added.map_or(String::new(), |added| format!(", {added} for each route"));
            println!("{routes:>6} routes: {bytes:>9} bytes{added}");
        }
    }
}

/// What one command costs on one crate, in CPU seconds.
struct Row {
    routes: usize,
    command: &'static str,
    /// Everything of the crate itself, its build script included.
    cold: f64,
    /// After a changed number in one route.
    yaml: f64,
    /// After a changed text in one Rust file.
    rust: f64,
    /// After no change.
    none: f64,
    /// The run of the build script alone, unoptimized as cargo builds it.
    script: f64,
    /// The bytes that it generates.
    generated: u64,
}

impl Row {
    fn json(&self) -> serde_json::Value {
        json!({
            "routes": self.routes,
            "command": self.command,
            "cold": self.cold,
            "yaml_edit": self.yaml,
            "rust_edit": self.rust,
            "no_edit": self.none,
            "build_script": self.script,
            "generated_bytes": self.generated,
        })
    }
}

/// Where the crates are, and what they are built with.
struct Place {
    root: PathBuf,
}

impl Place {
    fn new() -> Self {
        let program = std::env::current_exe().unwrap();
        let target = program.ancestors().nth(2).unwrap();
        let root = target.join("scale");
        fs::create_dir_all(&root).unwrap();
        Self { root }
    }

    /// Builds the dependencies; returns what `rig-build` costs alone.
    fn warm_up(&self) -> f64 {
        let scratch = Scratch::new(&self.root, 1);
        let alone = scratch.alone(&self.root);
        let target = self.root.join("target-alone");
        drop(fs::remove_dir_all(&target));
        let mut cargo = self.cargo(&alone, &["build"]);
        let cost = cpu_of(cargo.env("CARGO_TARGET_DIR", &target));
        for command in ["check", "build"] {
            cpu_of(&mut self.cargo(&scratch, &[command]));
        }
        cost
    }

    fn measure(&self, routes: usize) -> Vec<Row> {
        let scratch = Scratch::new(&self.root, routes);
        let rows = ["check", "build"].map(|command| {
            let cost = || cpu_of(&mut self.cargo(&scratch, &[command]));
            // Twice, so that the dependencies' own files of another run are not counted.
            cost();
            cpu_of(&mut self.cargo(&scratch, &["clean", "-p", &scratch.name]));
            eprintln!("{routes} routes, cargo {command}");
            let cold = cost();
            let edited = |edit: &dyn Fn(usize)| {
                median((0..EDITS).map(|n| {
                    edit(n);
                    cost()
                }))
            };
            let yaml = edited(&|n| scratch.write("routes/task-0.yaml", &route(0, 30_001 + n)));
            let rust =
                edited(&|n| scratch.write("src/tasks_0.rs", &scratch.tasks(0, &"!".repeat(n + 1))));
            let none = median((0..EDITS).map(|_| cost()));
            let (script, generated) = self.script(&scratch);
            Row {
                routes,
                command,
                cold,
                yaml,
                rust,
                none,
                script,
                generated,
            }
        });
        rows.into()
    }

    /// Returns the bytes of the optimized program.
    fn size(&self, routes: usize) -> u64 {
        let scratch = Scratch::new(&self.root, routes);
        eprintln!("{routes} routes, cargo build --release");
        let mut cargo = self.cargo(&scratch, &["build", "--release"]);
        cpu_of(cargo.env("CARGO_PROFILE_RELEASE_STRIP", "true"));
        let program = self.root.join("target/release").join(&scratch.name);
        program.metadata().unwrap().len()
    }

    /// Returns what `cargo rig check` takes.
    fn check(&self, routes: usize) -> f64 {
        let scratch = Scratch::new(&self.root, routes);
        let program = std::env::current_exe().unwrap();
        let mut command = Command::new(program.with_file_name("cargo-rig"));
        cpu_of(command.arg("check").current_dir(&scratch.folder))
    }

    /// Runs the build script that cargo built, as cargo does.
    fn script(&self, scratch: &Scratch) -> (f64, u64) {
        let builds = self.root.join("target/debug/build");
        let prefix = format!("{}-", scratch.name);
        let programs = fs::read_dir(builds).unwrap().map(|entry| entry.unwrap());
        let mut programs = programs
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
            .map(|entry| entry.path().join("build-script-build"));
        let program = programs.find(|program| program.is_file()).unwrap();
        let out = self.root.join(format!("out-{}", scratch.routes));
        drop(fs::remove_dir_all(&out));
        fs::create_dir_all(&out).unwrap();
        let mut command = Command::new(program);
        command
            .current_dir(&scratch.folder)
            .env("CARGO_MANIFEST_DIR", &scratch.folder)
            .env("OUT_DIR", &out);
        let cost = cpu_of(&mut command);
        let files = fs::read_dir(out.join("rig")).unwrap();
        let bytes = files.map(|file| file.unwrap().metadata().unwrap().len());
        (cost, bytes.sum())
    }

    /// Returns cargo. Of the cargo around it, it inherits only where registry and toolchain are.
    fn cargo(&self, scratch: &Scratch, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let is_cargos = text.starts_with("CARGO") && text != "CARGO_HOME";
            if is_cargos || ["RUSTFLAGS", "RUSTDOCFLAGS"].contains(&&*text) {
                command.env_remove(name);
            }
        }
        command
            .current_dir(&scratch.folder)
            .args(arguments)
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TERM_COLOR", "never");
        command
    }
}

fn median(costs: impl Iterator<Item = f64>) -> f64 {
    let mut costs: Vec<_> = costs.collect();
    costs.sort_by(f64::total_cmp);
    costs[costs.len() / 2]
}

/// Runs a command to its good end; returns the CPU seconds of it and of all that it waited for.
fn cpu_of(command: &mut Command) -> f64 {
    let before = cpu_of_children();
    let output = command.output().unwrap();
    let shown = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{shown}");
    cpu_of_children() - before
}

/// Returns the CPU seconds of the children that this process has waited for, as Linux counts them.
fn cpu_of_children() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").expect("the system is Linux");
    // The program's name, in parentheses, may hold blanks; behind it the third field follows.
    let fields: Vec<_> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    let ticks = |field: usize| fields[field - 3].parse::<f64>().unwrap();
    (ticks(16) + ticks(17)) / TICKS_PER_SECOND
}
