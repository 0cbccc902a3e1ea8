//! A type that no route generates.

pub struct Own;

#[rig::route("good")]
pub async fn good(input: GoodInput) -> rig::Result<crate::Own>;

fn main() {}
