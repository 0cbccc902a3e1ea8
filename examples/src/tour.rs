//! What does the ladder do? One run for each of its turns, told as text.

use std::fmt::Write as _;
use std::time::Duration;

use rig::store::AttemptRow;
use rig::testing::{Mock, block_on};
use rig::{Call, Event, FailureClass, Run, Turn};
use serde_json::json;

/// Answers a customer.
#[rig::route("desk")]
pub async fn desk(input: DeskInput) -> rig::Result<Turn<DeskReply>>;

const FIRST: &str = "openai/gpt-5.4-mini";
const CHATTY: &str = "Happy to help! Where is your order, you ask?";
const MOODY: &str = r#"{ "mood": "hungry", "text": "It is on its way." }"#;

/// Returns the tour: the same text every time, since its providers are scripted and its clock is not the machine's.
#[must_use]
pub fn tour() -> String {
    let mut out = String::new();
    stage(
        &mut out,
        "Fall-through: a candidate that sheds load is asked again within its budget, then the next one",
        &desk::mock()
            .always_fails(FIRST, FailureClass::CapacityShed)
            .answers(reply()),
        ask(),
    );
    stage(
        &mut out,
        "Repair by the same model: it is told what is wrong with its answer",
        &desk::mock().answers_text(MOODY).answers(reply()),
        ask(),
    );
    stage(
        &mut out,
        "Repair by the repair model: it is given the answer, its faults and the schema",
        &desk::mock()
            .answers_text(MOODY)
            .answers_text(CHATTY)
            .answers(reply()),
        ask(),
    );
    stage(
        &mut out,
        "Quality gate: the caller rejects what conforms, and it is not repaired",
        &desk::mock()
            .answers(DeskReply {
                text: "Yes.".to_owned(),
                ..reply()
            })
            .answers(reply()),
        ask().quality_gate(|reply| reply.text.len() > 10),
    );
    stage(
        &mut out,
        "Keyless: a candidate without a key is skipped, with no request and no row",
        &desk::mock().without_key("openai").answers(reply()),
        ask(),
    );
    stage(
        &mut out,
        "Tools: a call of one is returned to the caller, who runs it or does not",
        &desk::mock().calls_tool("lookup_order", json!({ "order": "A-17" })),
        ask(),
    );
    streamed(
        &mut out,
        "Stream: text is told as it arrives, and an attempt that failed is taken back",
        &desk::mock()
            .fails(FIRST, FailureClass::ContentInvalid)
            .answers_text(MOODY)
            .answers(reply()),
        ask(),
    );
    stage(
        &mut out,
        "Nobody is left: the call fails with the class of the last failure",
        &desk::mock()
            .always_fails(FIRST, FailureClass::Timeout)
            .always_fails("anthropic/claude-haiku-4-5", FailureClass::Refusal),
        ask(),
    );
    out
}

fn ask() -> Call<Turn<DeskReply>, desk::Variant> {
    desk(DeskInput {
        question: "Where is my order A-17?".to_owned(),
    })
}

fn reply() -> DeskReply {
    DeskReply {
        mood: desk::DeskReplyMood::Worried,
        text: "It left the shop on Monday and should reach you tomorrow.".to_owned(),
    }
}

type DeskCall = Call<Turn<DeskReply>, desk::Variant>;

fn stage(out: &mut String, title: &str, mock: &Mock, call: DeskCall) {
    let end = end(block_on(call.on(mock).run()));
    let gap = if out.is_empty() { "" } else { "\n" };
    // Writing to a `String` cannot fail.
    let _ = writeln!(out, "{gap}{title}");
    rows(out, mock);
    let _ = writeln!(out, "  {end}");
}

fn streamed(out: &mut String, title: &str, mock: &Mock, call: DeskCall) {
    let _ = writeln!(out, "\n{title}");
    let mut said = String::new();
    let mut events = call.on(mock).stream();
    while let Some(event) = block_on(events.next()) {
        if let Ok(Event::Delta { text, .. }) = &event {
            said += text;
            continue;
        }
        if !said.is_empty() {
            let _ = writeln!(out, "  said {:?}", std::mem::take(&mut said));
        }
        let line = match event {
            Ok(Event::Started {
                attempt,
                provider,
                model,
                ..
            }) => format!("started {attempt} {provider}/{model}"),
            Ok(Event::Discarded { attempt, class, .. }) => format!("discarded {attempt} {class}"),
            Ok(Event::Done(run)) => format!("done {}", end(Ok(run))),
            Ok(_) => continue,
            Err(error) => end(Err(error)),
        };
        let _ = writeln!(out, "  {line}");
    }
    rows(out, mock);
}

fn end(result: rig::Result<Run<Turn<DeskReply>>>) -> String {
    match result {
        Ok(run) => match run.output {
            Turn::Output(reply) => format!("= {}", reply.text),
            Turn::ToolCalls(calls) => calls
                .iter()
                .map(|call| format!("= {} {}", call.name, call.arguments))
                .collect(),
        },
        Err(error) => match error.failure() {
            Some(failure) => format!("! {}: {}", failure.class, failure.message),
            None => format!("! {error}"),
        },
    }
}

fn rows(out: &mut String, mock: &Mock) {
    let mut ended = None;
    for row in mock.rows() {
        let _ = writeln!(out, "  {}", line(&row, ended));
        ended = Some(row.ts_ms + i64::try_from(row.latency_ms).unwrap_or(0));
    }
}

fn line(row: &AttemptRow, ended: Option<i64>) -> String {
    let who = format!("{}/{}", row.provider, row.model);
    let end = row.failure.map_or("served", |failure| failure.name());
    let mut line = format!("{} {who:<26} {end:<16}", row.attempt);
    let millis = |ms: i64| Duration::from_millis(u64::try_from(ms).unwrap_or(0));
    let wait = millis(row.ts_ms - ended.unwrap_or(row.ts_ms));
    let took = Duration::from_millis(row.latency_ms);
    let notes = [
        row.repaired_by.is_some().then(|| "repair".to_owned()),
        (!wait.is_zero()).then(|| format!("after {wait:?}")),
        (!took.is_zero()).then(|| format!("took {took:?}")),
    ];
    let notes: Vec<_> = notes.into_iter().flatten().collect();
    line += &notes.join(", ");
    line.trim_end().to_owned()
}
