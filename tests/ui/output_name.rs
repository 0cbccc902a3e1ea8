//! A name in the signature that the route does not generate.

#[rig::route("good")]
pub async fn good(input: GoodInputs) -> rig::Result<Answers>;

fn main() {}
