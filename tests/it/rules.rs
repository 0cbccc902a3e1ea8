//! Is there a test for every rule of the ladder, and does it say so?

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

/// The rules of the contract that a test has to prove, in its sections R, L and K.
const RULES: [(char, RangeInclusive<u32>); 3] = [('R', 1..=7), ('L', 1..=18), ('K', 0..=9)];

/// The rules that a contract states: `- **L7** …`.
fn stated(contract: &str) -> Vec<&str> {
    let rules = contract
        .lines()
        .filter_map(|line| line.strip_prefix("- **")?.split("**").next());
    rules
        .filter(|rule| rule.starts_with(['R', 'L', 'K']))
        .collect()
}

/// Adds the words of the comments that stand at tests, of every source in a folder.
fn named_at_tests(folder: &Path, words: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // The simulation goes through all of them; a test of one rule says which.
        let is_none = ["target", "sim", "sim.rs", "rules.rs"].contains(&name.as_str());
        if is_none || name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            named_at_tests(&path, words);
        } else if name.ends_with(".rs") {
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<_> = text.lines().map(str::trim).collect();
            let is_test = |at: &usize| ["#[test]", "#[tokio::test]"].contains(&lines[*at]);
            for test in (0..lines.len()).filter(is_test) {
                let above = lines[..test].iter().rev();
                let comment = above.take_while(|line| line.starts_with("//"));
                let named = comment.flat_map(|line| line.split(|c: char| !c.is_alphanumeric()));
                words.extend(named.map(str::to_owned));
            }
        }
    }
}

#[test]
fn every_rule_of_the_ladder_has_a_test_that_names_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut rules = Vec::new();
    for (section, numbers) in RULES {
        rules.extend(numbers.map(|number| format!("{section}{number}")));
    }
    if let Ok(contract) = fs::read_to_string(root.join("../shared/contract.md")) {
        let mut stated = stated(&contract);
        stated.sort_by_key(|rule| rules.iter().position(|known| known == rule));
        assert_eq!(stated, rules, "the contract's rules");
    }
    let mut named = BTreeSet::new();
    named_at_tests(&root, &mut named);
    let unnamed: Vec<_> = rules.iter().filter(|rule| !named.contains(*rule)).collect();
    assert!(unnamed.is_empty(), "no test names {unnamed:?}");
}
