//! Twenty tickets sorted by a model on this machine: `cargo run -p examples --bin triage -- --base-url URL`.
//!
//! Any OpenAI-compatible server will do (llama.cpp, vLLM, Ollama); the route's `local` host is in
//! `routes/rig.yaml`.

#![allow(clippy::print_stdout, reason = "an example talks to a person")]

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use examples::rows::table;
use rig::Rig;

/// Sorts a support ticket.
#[rig::route("triage")]
pub async fn triage(input: TriageInput) -> rig::Result<Triage>;

/// Sorts twenty support tickets with a model on this machine.
#[derive(Debug, Parser)]
struct Arguments {
    /// Where the server is, e.g. `http://127.0.0.1:18080/v1`.
    #[arg(long, env = "LOCAL_BASE_URL")]
    base_url: String,
    /// Where the rows go.
    #[arg(long, default_value = ".modelrig/telemetry.db")]
    telemetry_db: String,
}

const TICKETS: [&str; 20] = [
    "I was charged twice for order 4411. Refund me now!!!",
    "How do I export my data to CSV?",
    "The app crashes when I open the settings page on Android 15.",
    "I cannot log in, the reset mail never arrives.",
    "Please change the invoice address of our company to 12 Harbour Lane.",
    "Your last update deleted all my drafts. This is unacceptable.",
    "Is there a dark mode?",
    "The total on invoice 2026-118 does not add up.",
    "Search returns nothing since yesterday evening.",
    "Can I share a board with somebody outside of my team?",
    "Someone in Brazil signed in to my account and it was not me!",
    "Typo on the pricing page: it says montly.",
    "We would like to pay by bank transfer instead of by card.",
    "Uploading a 3 GB video stops at 99 percent, three times in a row now.",
    "Thanks for the quick help yesterday, all works again.",
    "Where is my order A-7719? It was due last week.",
    "Please delete my account and everything you have about me.",
    "The API answers 500 for about one request in ten.",
    "What does the error `quota exceeded` mean?",
    "Third time I write about order 9020. Nobody answers. I will go to your competitor.",
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::parse();
    let rig = Rig::builder()
        .base_url("local", arguments.base_url)
        .telemetry_db(arguments.telemetry_db)
        .build()?;
    // However `main` ends, exporters have time to send what is stored.
    let _guard = rig.guard();
    let (mut rows, mut conformant) = (Vec::new(), 0);
    for (index, ticket) in TICKETS.iter().enumerate() {
        let input = TriageInput {
            ticket: (*ticket).to_owned(),
        };
        match triage(input).on(&rig).run().await {
            Ok(run) => {
                conformant += 1;
                let Triage {
                    category,
                    urgency,
                    angry,
                    subject,
                    ..
                } = &run.output;
                println!(
                    "{:>2}  {category:?}, urgency {urgency}, angry {angry}: {subject}",
                    index + 1
                );
                rows.extend(rig.attempts(&run.meta.run_id).await?);
            }
            Err(error) => {
                println!("{:>2}  {error}", index + 1);
                if let Some(failure) = error.failure() {
                    rows.extend(rig.attempts(&failure.run_id).await?);
                }
            }
        }
    }
    println!("\n{}", table(&rows));
    println!(
        "{conformant} of {} tickets have a conformant value",
        TICKETS.len()
    );
    Ok(if conformant >= 19 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
