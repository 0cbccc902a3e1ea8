//! What YAML would have a reader follow or merge.

use std::fmt::Write as _;

use super::{Ends, check_route, series};

#[test]
fn an_alias_bomb_is_refused_unread() {
    let mut bomb = "a0: &a0 [lol, lol, lol]\n".to_owned();
    for n in 1..200 {
        let uses = series(9, ", ", |_| format!("*a{}", n - 1));
        writeln!(bomb, "a{n}: &a{n} [{uses}]").unwrap();
    }
    check_route(&bomb, Ends::Findings("yaml-alias", 1_000));
}

#[test]
fn an_anchor_in_every_value_is_told_once_each() {
    let list = series(10_000, ", ", |n| format!("&a{n} x"));
    check_route(
        &format!("variants: [{list}]\n"),
        Ends::Findings("yaml-alias", 10_000),
    );
}

#[test]
fn ten_thousand_keys_twice() {
    let keys = series(10_000, "", |n| format!("key_{n}: 1\nkey_{n}: 1\n"));
    check_route(&keys, Ends::Findings("duplicate-key", 10_000));
}
