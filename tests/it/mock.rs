//! What does the offline double answer, and does it go through the real ladder?

use rig::store::RowFailure;
use rig::testing::{Mock, block_on};
use rig::{Call, Event, FailureClass, Run, Turn};
use serde_json::{Value, json};
use tests::routes::ladder::Reply;
use tests::routes::{
    AnythingInput, GroundedInput, ProfileInput, ReferenceInput, TooledInput, anything, grounded,
    ladder, mend, messages, profile, reference, tooled,
};

use crate::{GOOD, QUESTION, mend_input, messages_input, question};

fn ends(mock: &Mock) -> Vec<String> {
    let end = |end: Option<RowFailure>| end.map_or("conformant", RowFailure::name);
    let rows = mock.rows();
    let line = rows
        .iter()
        .map(|row| format!("{}/{} {}", row.provider, row.model, end(row.failure)));
    line.collect()
}

fn reply() -> Reply {
    serde_json::from_str(GOOD).unwrap()
}

#[test]
fn a_mock_answers_with_what_conforms_in_every_dialect() {
    let mock = ladder::mock();
    let run = block_on(ladder(question()).on(&mock).run()).unwrap();
    assert_eq!(ends(&mock), ["north/n1 conformant"]);
    assert!(run.meta.validated);
    for mock in [messages::mock(), messages::mock().without_key("anthropic")] {
        block_on(messages(messages_input()).on(&mock).run()).unwrap();
        assert_eq!(mock.rows().len(), 1);
    }
    let input = ProfileInput {
        text: QUESTION.to_owned(),
    };
    block_on(profile(input).on(&profile::mock()).run()).unwrap();
    let mock = grounded::mock();
    let input = GroundedInput {
        question: QUESTION.to_owned(),
    };
    let run = block_on(grounded(input).on(&mock).run()).unwrap();
    assert!(run.meta.validated);
    let input = AnythingInput {
        data: Value::Null,
        count: 1,
        note: None,
    };
    block_on(anything(input).on(&anything::mock()).run()).unwrap();
}

// W2: what a mock streams is what it would have sent whole, in every dialect.
#[test]
fn a_mock_streams_what_it_would_have_sent_whole() {
    let heard = |call: Call<Reply, reference::Variant>| {
        let (mut events, mut text, mut done) = (call.stream(), String::new(), None);
        while let Some(event) = block_on(events.next()) {
            match event.unwrap() {
                Event::Delta { text: more, .. } => text += &more,
                Event::Done(run) => done = Some(run),
                _ => {}
            }
        }
        (text, done.unwrap())
    };
    let call = || {
        reference(ReferenceInput {
            question: QUESTION.to_owned(),
        })
    };
    for mock in [reference::mock, || reference::mock().without_key("gemini")] {
        let whole = block_on(call().on(&mock()).run()).unwrap();
        let (text, streamed) = heard(call().on(&mock()));
        assert_eq!(whole.output, streamed.output);
        assert_eq!(serde_json::from_str::<Reply>(&text).unwrap(), whole.output);
        let usage = |run: &Run<Reply>| (run.meta.provider, run.meta.tokens_in, run.meta.tokens_out);
        assert_eq!(usage(&whole), usage(&streamed));
    }
    let call = || messages(messages_input());
    let whole = block_on(call().on(&messages::mock()).run()).unwrap();
    let mock = messages::mock();
    let mut events = call().on(&mock).stream();
    let mut last = None;
    while let Some(event) = block_on(events.next()) {
        last = Some(event.unwrap());
    }
    assert!(matches!(last, Some(Event::Done(run)) if run.output == whole.output));
}

#[test]
fn the_same_seed_gives_the_same_answer_and_others_others() {
    let of = |seed| {
        block_on(ladder(question()).on(&ladder::mock().seed(seed)).run())
            .unwrap()
            .output
    };
    let all: Vec<_> = (0..30).map(|seed| format!("{:?}", of(seed))).collect();
    assert_eq!(format!("{:?}", of(7)), all[7]);
    let mut kinds = all.clone();
    kinds.sort();
    kinds.dedup();
    assert!(kinds.len() > 5, "{all:?}");
}

#[test]
fn answers_are_given_in_order_and_then_drawn_again() {
    let mock = ladder::mock()
        .answers(reply())
        .answers(json!({ "verdict": "no", "because": "x", "also": null }));
    let ask = || block_on(ladder(question()).on(&mock).run()).unwrap().output;
    assert_eq!(ask(), reply());
    assert_eq!(ask().because, "x");
    let drawn = ask();
    assert!(drawn.because != "x" && drawn != reply());
}

// L3, L7: what does not conform goes to the repair rung, as it would.
#[test]
fn an_answer_that_does_not_conform_is_repaired() {
    let mock = mend::mock().answers_text("It is so.").answers(reply());
    let run = block_on(mend(mend_input()).on(&mock).run()).unwrap();
    assert_eq!(run.meta.repaired_by.as_deref(), Some("north/n1"));
    assert_eq!(run.output, reply());
    assert_eq!(
        ends(&mock),
        ["north/n1 content_invalid", "north/n1 conformant"]
    );
}

// K: every class that a provider can cause is read as that class, in the chat and the messages dialect.
#[test]
fn a_candidate_fails_as_it_is_told() {
    for class in [
        FailureClass::ContentInvalid,
        FailureClass::Refusal,
        FailureClass::Timeout,
        FailureClass::CapacityShed,
        FailureClass::Network,
        FailureClass::ConfigAuth,
    ] {
        let mock = messages::mock();
        let names: Vec<_> = messages::ROUTE.plan.candidates.iter().collect();
        let mock = names.iter().fold(mock, |mock, candidate| {
            mock.always_fails(
                &format!("{}/{}", candidate.provider.name, candidate.model),
                class,
            )
        });
        let error = block_on(messages(messages_input()).on(&mock).run()).unwrap_err();
        assert_eq!(error.class(), Some(class));
        let rows = mock.rows();
        assert!(rows.len() >= names.len());
        for row in rows {
            assert_eq!(row.failure, Some(RowFailure::Class(class)), "{row:?}");
        }
    }
}

// L4: the next attempt fails, and the one after it is answered; waits cost no time.
#[test]
fn failures_are_counted() {
    let mock = ladder::mock()
        .fails("north/n1", FailureClass::CapacityShed)
        .fails("north/n1", FailureClass::Network);
    block_on(ladder(question()).on(&mock).run()).unwrap();
    assert_eq!(
        ends(&mock),
        [
            "north/n1 capacity_shed",
            "north/n1 network",
            "north/n1 conformant"
        ]
    );
    assert_eq!(mock.clock().waits().len(), 2);
}

// R5
#[test]
fn a_candidate_can_be_keyless() {
    let mock = ladder::mock().without_key("north");
    let run = block_on(ladder(question()).on(&mock).run()).unwrap();
    assert_eq!((run.meta.provider, mock.rows().len()), ("south", 1));
}

// L1
#[test]
fn a_tool_can_be_called_in_every_dialect() {
    let input = || TooledInput {
        question: QUESTION.to_owned(),
    };
    for mock in [tooled::mock(), tooled::mock().without_key("north")] {
        let mock = mock.calls_tool("lookup", json!({ "case": 7 }));
        let turn = block_on(tooled(input()).on(&mock).run()).unwrap().output;
        let Turn::ToolCalls(calls) = turn else {
            panic!("{turn:?}")
        };
        assert_eq!(
            (calls[0].name, &calls[0].arguments),
            ("lookup", &json!({ "case": 7 }))
        );
        assert!(matches!(
            block_on(tooled(input()).on(&mock).run()).unwrap().output,
            Turn::Output(_)
        ));
    }
}

#[test]
fn requests_and_rows_can_be_read_and_other_routes_are_not_answered() {
    let mock = ladder::mock();
    let run = block_on(ladder(question()).on(&mock).run()).unwrap();
    let requests = mock.requests();
    assert!(
        str::from_utf8(&requests[0].body)
            .unwrap()
            .contains(QUESTION)
    );
    assert_eq!(
        block_on(mock.attempts(&run.meta.run_id)).unwrap(),
        mock.rows()
    );
    let error = block_on(messages(messages_input()).on(&mock).run()).unwrap_err();
    assert_eq!(error.class(), Some(FailureClass::ConfigAuth));
}

#[test]
fn a_candidate_that_is_none_is_named_where_the_test_says_it() {
    let fault = |said: fn() -> Mock| {
        let panic = std::panic::catch_unwind(said).unwrap_err();
        panic.downcast_ref::<String>().unwrap().clone()
    };
    assert_eq!(
        fault(|| ladder::mock().fails("north/n2", FailureClass::Network)),
        r#"route `ladder` has no candidate `north/n2`, but {"north/n1", "south/s1"}"#
    );
    assert_eq!(
        fault(|| ladder::mock().always_fails("north/n1", FailureClass::BudgetExhausted)),
        "no answer of a provider ends an attempt with `budget_exhausted`"
    );
    assert_eq!(
        fault(|| ladder::mock().without_key("openai")),
        "route `ladder` has no candidate of a provider `openai`"
    );
}
