//! What do the types that `rig-build` generates make of a folder's instances?

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::{Command, Stdio};

use rig_build::{Severity, compile_dir};
use serde_json::Value;

use crate::Row;
use crate::corpus::Case;
use crate::scratch::{Built, Scratch, repository};

const ROUTE: &str = "route: judged
version: 1
schema: ./SCHEMA
candidates: [{ provider: deepseek, model: deepseek-v4-flash }]
prompt: { system: ./prompt.md }
policy: { json: json_mode }
";

/// Judges every case, in their order.
pub(crate) fn judge(cases: &[Case]) -> Vec<Row> {
    let mut rows: Vec<Row> = cases.iter().map(Row::new).collect();
    let scratch = Scratch::new("generated");
    let manifest = format!(
        "[package]\nname = \"schema-table-generated\"\nedition = \"2024\"\n\n[dependencies]\nrig = {{ package = \"modelrig\", path = '{}/rig' }}\nserde = \"1\"\nserde_json = \"1\"\n\n[workspace]\nresolver = \"3\"\n",
        repository().display()
    );
    scratch.write("Cargo.toml", &manifest);
    scratch.lock();
    let mut roots: BTreeMap<usize, String> = BTreeMap::new();
    for (number, case) in cases.iter().enumerate() {
        match generate(case, &mut rows[number]) {
            Ok((module, root)) => {
                scratch.write(&format!("src/s{number}.rs"), &module);
                roots.insert(number, root);
            }
            Err(reason) => rows[number].reasons.push(reason),
        }
        let instances = serde_json::to_string(&case.instances).unwrap();
        scratch.write(&format!("cases/{number}.json"), &instances);
    }
    let read = |number: usize| {
        format!(
            "|text| rig::__private::conform(s{number}::ROUTE.schema.as_ref().expect(\"a schema\"), text)"
        )
    };
    compile_and_run(&scratch, true, roots, read, &mut rows);
    rows
}

/// Compiles the modules whose root types these are, without those that do not compile, and judges the instances.
pub(crate) fn compile_and_run(
    scratch: &Scratch,
    is_offline: bool,
    mut roots: BTreeMap<usize, String>,
    read: impl Fn(usize) -> String,
    rows: &mut [Row],
) {
    let program = loop {
        scratch.write("src/main.rs", &main_file(&roots, &read));
        match scratch.build(is_offline) {
            Built::Program(program) => break program,
            Built::Broken(modules) => {
                for (number, error) in modules {
                    roots.remove(&number);
                    rows[number].reasons.push(format!("rustc: {error}"));
                }
            }
        }
    };
    let numbers: Vec<usize> = roots.into_keys().collect();
    numbers
        .iter()
        .for_each(|number| rows[*number].compiles = true);
    run(&program, &scratch.folder.join("cases"), &numbers, rows);
}

/// Returns the module of a schema and the name of its root type, or why there is none.
fn generate(case: &Case, row: &mut Row) -> Result<(String, String), String> {
    let folder = tempfile::tempdir().unwrap();
    let schema = format!("{}.schema.json", case.name);
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(&schema, &case.schema);
    write("prompt.md", "Answer.");
    write(
        "judged.yaml",
        &ROUTE.replace("./SCHEMA", &format!("{:?}", format!("./{schema}"))),
    );
    let compiled = catch_unwind(|| compile_dir(folder.path(), "routes"));
    let compiled = compiled.map_err(|_| "the generator panics".to_owned())?;
    let route = compiled.routes.first().ok_or("there is no route")?;
    let is_fallback = |code: &str| code == "untyped-schema";
    row.value_fallbacks = route
        .findings
        .iter()
        .filter(|finding| is_fallback(finding.code))
        .count();
    let Some(module) = &route.expanded() else {
        let errors = route
            .findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error);
        let errors: Vec<_> = errors
            .filter_map(|finding| finding.text.lines().next())
            .collect();
        return Err(errors.join("; "));
    };
    let root = module
        .split("impl __rig::Output for ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let root = root.ok_or("the module has no output type")?.to_owned();
    Ok((format!("use ::rig::__private as __rig;\n\n{module}"), root))
}

fn main_file(roots: &BTreeMap<usize, String>, read: &impl Fn(usize) -> String) -> String {
    let mut text = include_str!("program.rs").to_owned();
    let mut table = String::new();
    for (number, root) in roots {
        writeln!(text, "#[allow(warnings)]\nmod s{number};").unwrap();
        writeln!(table, "    ({number}, |number, instances| judge::<s{number}::{root}>({}, number, instances)),",
            read(*number)).unwrap();
    }
    writeln!(text, "type Judge = fn(usize, &[(bool, String)]) -> Value;\n\nconst SCHEMAS: &[(usize, Judge)] = &[\n{table}];").unwrap();
    text
}

/// Runs the program; where it dies, it goes on behind the schema that killed it.
fn run(program: &Path, cases: &Path, numbers: &[usize], rows: &mut [Row]) {
    let mut from = 0;
    loop {
        let mut command = Command::new(program);
        command
            .arg(cases)
            .arg(from.to_string())
            .stderr(Stdio::null());
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for line in text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
        {
            let number = usize::try_from(line["number"].as_u64().unwrap()).unwrap();
            rows[number].judged(&line);
            from = number + 1;
        }
        if output.status.success() {
            return;
        }
        let Some(died) = numbers.iter().copied().find(|number| *number >= from) else {
            return;
        };
        rows[died]
            .reasons
            .push(format!("the program dies: {}", output.status));
        from = died + 1;
    }
}
