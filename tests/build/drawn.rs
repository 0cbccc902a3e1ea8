//! Which routes does the simulation have compiled? Some with candidates on trial, drawn from a fixed seed.
//!
//! The compiler leaves out what is on trial, and the ladder never hears of it: only a route that went through the compiler
//! can show that it is not served. The drawing, and not the compiler, says what is on trial.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

/// How many routes are drawn.
const ROUTES: usize = 48;

/// Their hosts by the names that the simulation knows; all but `delta` need a key.
const PROJECT: &str = r"
providers:
  - name: alfa
    dialect: openai
    base_url: http://alfa.test/v1
    key_env: ALFA_API_KEY
    capabilities: [structured_native, json_mode, zero_retention]
    models: { m1: { in: 0.10, out: 0.30 }, m2: { in: 2.00, out: 6.00 } }
  - name: bravo
    dialect: openai
    base_url: http://bravo.test/v1
    key_env: BRAVO_API_KEY
    capabilities: [json_mode]
    models: { m1: { in: 0.20, out: 0.60 }, m2: { in: 1.00, out: 3.00 } }
  - name: charlie
    dialect: anthropic
    base_url: http://charlie.test/v1
    key_env: CHARLIE_API_KEY
    capabilities: [structured_native, zero_retention]
    models: { m1: { in: 0.40, out: 1.20 }, m2: { in: 0.80, out: 2.40 } }
  - name: delta
    dialect: openai
    base_url: http://delta.test/v1
    capabilities: [structured_native, json_mode]
    models: { m1: { in: 0.30, out: 0.90 }, m2: {} }
";

const HOSTS: [&str; 4] = ["alfa", "bravo", "charlie", "delta"];

/// A provider, a model, and whether it is on trial.
type Declared = (&'static str, &'static str, bool);

/// Returns a module for each route, and a list of them.
///
/// # Errors
///
/// When one of them is rejected, or nothing can be written.
pub(crate) fn modules(out: &Path) -> io::Result<String> {
    let folder = out.join("drawn");
    fs::create_dir_all(&folder)?;
    let schema = fs::read("routes/fc.base.schema.json")?;
    fs::write(folder.join("schema.json"), schema)?;
    fs::write(folder.join("prompt.md"), "Decide. {{question}}")?;
    fs::write(folder.join("rig.yaml"), PROJECT)?;
    let dice = &mut Dice(0x1dea);
    let mut trials = Vec::new();
    for number in 0..ROUTES {
        let (text, declared) = route(dice, number);
        fs::write(folder.join(format!("drawn{number:02}.yaml")), text)?;
        let on_trial = declared.into_iter().filter(|(_, _, trial)| *trial);
        let on_trial = on_trial.map(|(provider, model, _)| (provider, model));
        trials.push(on_trial.collect::<Vec<_>>());
    }
    let compilation = rig_build::compile_dir(&folder, "drawn");
    let mut modules = String::new();
    let mut list = String::new();
    for (route, trials) in compilation.routes.iter().zip(trials) {
        let Some(module) = route.expanded() else {
            let said: Vec<_> = route
                .findings
                .iter()
                .map(|finding| &*finding.text)
                .collect();
            return Err(io::Error::other(said.join("\n")));
        };
        let name = &route.name;
        write!(
            modules,
            "mod {name} {{\n    use ::rig::__private as __rig;\n\n{module}}}\n\n"
        )
        .map_err(io::Error::other)?;
        writeln!(list, "    (&{name}::ROUTE, &{trials:?}),").map_err(io::Error::other)?;
    }
    Ok(format!(
        "{modules}/// The routes, each with what it declares on trial.\npub static DRAWN: &[(&::rig::__private::Route, &[(&str, &str)])] = &[\n{list}];\n"
    ))
}

fn route(dice: &mut Dice, number: usize) -> (String, Vec<Declared>) {
    let zero_retention = dice.one_in(6);
    let mut declared: Vec<Declared> = Vec::new();
    // One that is served live whatever the route requires.
    declared.push((dice.of(&["alfa", "charlie"]), dice.of(&["m1", "m2"]), false));
    for _ in 0..1 + dice.below(4) {
        let (provider, model) = (dice.of(&HOSTS), dice.of(&["m1", "m2"]));
        if declared
            .iter()
            .all(|(known, of, _)| (*known, *of) != (provider, model))
        {
            declared.push((provider, model, dice.one_in(2)));
        }
    }
    let (first, at) = (declared[0], dice.below(declared.len()));
    declared.swap(0, at);
    let flow = |all: &[Declared], with_trials: bool| {
        let one = |(provider, model, trial): &Declared| {
            let trial = if *trial && with_trials {
                ", trial: true"
            } else {
                ""
            };
            format!("{{ provider: {provider}, model: {model}{trial} }}")
        };
        all.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!(
        "route: drawn{number:02}\nversion: 3\nschema: ./schema.json\ncandidates: [{}]\n",
        flow(&declared, true)
    );
    let mut put = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    put("prompt: { system: ./prompt.md, variables: [question] }");
    if zero_retention {
        put("require: [zero_retention]");
    }
    if dice.one_in(3) {
        put("prefer: [cost]");
    }
    if dice.one_in(4) {
        put("capture: true");
    }
    let mut retries = Vec::new();
    for class in ["content_invalid", "capacity_shed", "network", "timeout"] {
        if dice.one_in(2) {
            retries.push(format!("{class}: {}", 1 + dice.below(3)));
        }
    }
    let json = dice.of(&["native", "json_mode"]);
    put(&format!(
        "policy: {{ retries: {{ {} }}, timeout_ms: {}, json: {json} }}",
        retries.join(", "),
        dice.of(&["5000", "60000"])
    ));
    match dice.below(3) {
        0 => {}
        1 => put("repair: { max_repairs: 1 }"),
        _ => put(&format!(
            "repair: {{ max_repairs: 2, repair_model: {}/{} }}",
            first.0, first.1
        )),
    }
    if dice.one_in(3) {
        // Those on trial are named by a variant as well; it may serve them no more than the route.
        let named: Vec<_> = declared
            .iter()
            .filter(|one| one.2 || **one == first)
            .copied()
            .collect();
        put(&format!(
            "variants: [{{ name: narrow, candidates: [{}] }}]",
            flow(&named, false)
        ));
    }
    (text, declared)
}

/// A stream of numbers from a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn of(&mut self, all: &[&'static str]) -> &'static str {
        all[self.below(all.len())]
    }
}
