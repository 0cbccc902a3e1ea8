//! A name that no route has.

#[rig::route("godo")]
pub async fn near(input: GoodInput) -> rig::Result<Answer>;

#[rig::route("summarize")]
pub async fn far(input: SummarizeInput) -> rig::Result<Summary>;

#[rig::route]
pub async fn none(input: NoneInput) -> rig::Result<Answer>;

#[rig::route(good)]
pub async fn bare(input: GoodInput) -> rig::Result<Answer>;

#[rig::route("good", root = rig)]
pub async fn more(input: GoodInput) -> rig::Result<Answer>;

fn main() {}
