//! What a route cannot be bound to.

#[rig::route("good")]
pub async fn with_a_body(input: GoodInput) -> rig::Result<Answer> {
    todo()
}

#[rig::route("good")]
pub async fn two_parameters(input: GoodInput, more: u8) -> rig::Result<Answer>;

#[rig::route("good")]
pub async fn no_parameter() -> rig::Result<Answer>;

#[rig::route("good")]
pub async fn no_return_type(input: GoodInput);

#[rig::route("good")]
pub async fn another_return_type(input: GoodInput) -> Answer;

#[rig::route("good")]
pub fn not_async(input: GoodInput) -> rig::Result<Answer>;

#[rig::route("good")]
pub async fn generic<T>(input: T) -> rig::Result<Answer>;

#[rig::route("good")]
pub struct NoFunction;

fn main() {}
