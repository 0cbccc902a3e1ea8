//! What the candidate ladder does, turn by turn: `cargo run -p examples --bin ladder_tour`.
//!
//! Its providers are scripted: no key, no network, no waiting. `docs/ladder.md` has the same text.

#![allow(clippy::print_stdout, reason = "an example talks to a person")]

fn main() {
    print!("{}", examples::tour::tour());
}
