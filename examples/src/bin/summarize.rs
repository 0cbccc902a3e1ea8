//! A route from its file to a typed value: `cargo run -p examples --bin summarize`.
//!
//! Without keys it runs against a demo provider on this machine: the first candidate sheds load, the second
//! answers badly and then well. With `OPENAI_API_KEY` or `ANTHROPIC_API_KEY` it calls the providers instead
//! (`OPENAI_BASE_URL` and `ANTHROPIC_BASE_URL` override their addresses).

#![allow(clippy::print_stdout, reason = "an example talks to a person")]

use std::error::Error;

use examples::demo::{DemoProvider, Reply};
use examples::rows::table;
use rig::Rig;

/// Summarizes a support ticket.
#[rig::route("summarize")]
pub async fn summarize(input: SummarizeInput) -> rig::Result<Summary>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let rig = if has_key() {
        Rig::builder().build()?
    } else {
        demo().await?
    };
    // However `main` ends, exporters have time to send what is stored.
    let _guard = rig.guard();

    let input = SummarizeInput {
        ticket: "Since this morning every export ends with error 507. We have payroll on Friday, please help!".to_owned(),
        product: "Ledger".to_owned(),
    };
    let run = match summarize(input)
        .tag("customer", "acme")
        .on(&rig)
        .run()
        .await
    {
        Ok(run) => run,
        Err(error) => {
            println!("{error}\n");
            if let Some(failure) = error.failure() {
                println!(
                    "what to do: {}\nsee: {}\n",
                    failure.fix_hint(),
                    failure.docs_url()
                );
                println!("{}", table(&rig.attempts(&failure.run_id).await?));
            }
            return Err(error.into());
        }
    };

    println!("{:#?}\n", run.output);
    let meta = &run.meta;
    println!(
        "served by {}/{} after {} attempts, in run {}\n",
        meta.provider,
        meta.model,
        meta.attempts.total(),
        meta.run_id
    );
    println!("{}", table(&rig.attempts(&meta.run_id).await?));
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the example has to know whether to start its demo"
)]
fn has_key() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    set("OPENAI_API_KEY") || set("ANTHROPIC_API_KEY")
}

async fn demo() -> Result<Rig, Box<dyn Error>> {
    println!(
        "No OPENAI_API_KEY or ANTHROPIC_API_KEY is set: this is the demo provider on loopback, no model is asked.\n"
    );
    let good = r#"{
        "headline": "Exports fail with error 507 since this morning",
        "severity": "high",
        "facts": ["Every export ends with error 507", "It began this morning", "Payroll is due on Friday"],
        "wants": "Working exports before Friday"
    }"#;
    let provider = DemoProvider::start([
        ("/openai/chat/completions", vec![Reply::shed()]),
        (
            "/anthropic/messages",
            vec![
                Reply::message(r#"{ "headline": "Exports fail" }"#),
                Reply::message(good),
            ],
        ),
    ])
    .await?;
    let builder = Rig::builder()
        .ignore_env()
        .telemetry_db(".modelrig/telemetry.db");
    let builder = ["openai", "anthropic"]
        .into_iter()
        .fold(builder, |builder, name| {
            builder
                .key(name, "demo-key")
                .base_url(name, provider.base_url(name))
        });
    Ok(builder.build()?)
}
