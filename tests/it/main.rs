//! Behaviour: real ladder, scripted transport, manual clock, in-memory store.
//!
//! A test is a script, a call and the transcript that has to come of them; [`tests::check`] says how to read one.

#![allow(clippy::unwrap_used)]

mod book;
mod boundary;
mod bounds;
mod cache;
mod cancel;
mod capture;
mod charge;
mod deadline;
mod drill;
mod envelope;
mod fail;
mod fieldcase;
mod ground;
mod keys;
mod mock;
mod privacy;
mod providers;
mod quality;
mod quoted;
mod raw;
mod readme;
mod reasons;
mod recordings;
mod relayed;
mod repair;
mod replay;
mod request;
mod resolve;
mod retry;
mod rules;
mod serve;
mod sim;
mod sized;
mod store;
mod stream;
mod stuck;
mod tools;
mod variant;

use rig::testing::Scripted;
use tests::routes::{LadderInput, MendInput, MessagesInput, PatientInput};

const BOTH: &str = "north south";
const GOOD: &str = r#"{"verdict":"yes","because":"it is","also":null}"#;
const BAD: &str = r#"{"verdict":"maybe","because":"it is","also":null}"#;
const QUESTION: &str = "Is it so?";

fn good() -> Scripted {
    Scripted::chat(GOOD)
}

fn bad() -> Scripted {
    Scripted::chat(BAD)
}

/// A failure as the chat dialect tells it.
fn fault(status: u16, code: &str, message: &str) -> Scripted {
    let error = serde_json::json!({ "error": { "message": message, "code": code } });
    Scripted::status(status, error.to_string())
}

fn shed() -> Scripted {
    fault(429, "rate_limit_exceeded", "slow down")
}

fn question() -> LadderInput {
    LadderInput {
        question: QUESTION.to_owned(),
    }
}

fn mend_input() -> MendInput {
    MendInput {
        question: QUESTION.to_owned(),
    }
}

fn patient_input() -> PatientInput {
    PatientInput {
        question: QUESTION.to_owned(),
    }
}

fn messages_input() -> MessagesInput {
    MessagesInput {
        question: QUESTION.to_owned(),
    }
}
