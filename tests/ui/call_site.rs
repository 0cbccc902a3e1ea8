//! C10: what a call cannot say.

#[rig::route("good")]
pub async fn good(input: GoodInput) -> rig::Result<Answer>;

pub async fn missing_variable(question: String) -> rig::Result<Answer> {
    good(GoodInput { question }).await
}

pub async fn misspelt_variable(question: String, reader: String) -> rig::Result<Answer> {
    good(GoodInput { question, raeder: reader }).await
}

pub async fn missing_output(input: GoodInput) -> rig::Result<String> {
    Ok(good(input).await?.title)
}

pub async fn unknown_variant(input: GoodInput) -> rig::Result<Answer> {
    good(input).variant(good::Variant::InWord).await
}

/// Its only candidate is on trial.
pub async fn trial_variant(input: GoodInput) -> rig::Result<Answer> {
    good(input).variant(good::Variant::Later).await
}

fn main() {}
