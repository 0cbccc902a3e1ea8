//! A call that nobody awaits.

#![deny(unused_must_use)]

#[rig::route("score")]
pub async fn score(input: ScoreInput) -> rig::Result<Score>;

pub async fn never_awaited(input: ScoreInput) {
    score(input);
}

fn main() {}
