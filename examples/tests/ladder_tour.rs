//! Does the page on the ladder show what the tour prints? `UPDATE_EXPECT=1` writes it there anew.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::path::Path;
use std::{env, fs};

const BEGIN: &str = "```text\n";

// L1, L3, L4, L5, L7, L8, L9, R5: each stage is one of them, as rows.
#[test]
fn the_page_on_the_ladder_shows_the_tour() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ladder.md");
    let page = fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (shown, tail) = rest.split_once("```\n").unwrap();
    let tour = examples::tour::tour();
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(path, format!("{head}{BEGIN}{tour}```\n{tail}")).unwrap();
    } else {
        assert!(shown == tour, "{tour}");
    }
}
