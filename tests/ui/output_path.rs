//! A type of another route, named by path: the schemas differ.

#[rig::route("score")]
pub async fn score(input: ScoreInput) -> rig::Result<Score>;

#[rig::route("good")]
pub async fn good(input: GoodInput) -> rig::Result<self::Score>;

fn main() {}
