//! FC-01: a YAML key written twice.

use super::{Case, assert_error};

// F3
#[test]
fn fc_01_a_key_written_twice_is_an_error_at_its_second_place() {
    let Some(case) = Case::open("FC-01") else {
        return;
    };
    let lines = [
        ("dup_in_candidate.yaml", "7:5", "model-c"),
        ("dup_in_retries.yaml", "19:5", "network: 0"),
        ("dup_quoted.yaml", "16:3", "\"tier\": flex"),
        ("dup_top_level.yaml", "3:1", "version: 2"),
    ];
    let keys = case.expected("error_mentions");
    assert_eq!(keys.len(), lines.len());
    for ((file, key), (name, place, line)) in keys.iter().zip(lines) {
        assert_eq!(file, name);
        let route = case.compile(file, &case.read(file), &[]);
        let key = format!("`{key}`");
        let place = format!("routes/{file}:{place}\n");
        assert_error(file, &route, "duplicate-key", &place, &[&key, line]);
    }
}
