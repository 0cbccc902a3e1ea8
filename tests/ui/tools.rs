//! C10: a route with tools answers with a turn, and only such a route does.

mod without {
    #[rig::route("tooled")]
    pub async fn tooled(input: TooledInput) -> rig::Result<Answer>;
}

mod with {
    #[rig::route("good")]
    pub async fn good(input: GoodInput) -> rig::Result<rig::Turn<Answer>>;
}

mod fine {
    #[rig::route("tooled")]
    pub async fn tooled(input: TooledInput) -> rig::Result<rig::Turn<Answer>>;
}

fn main() {}
