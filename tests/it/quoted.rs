//! A provider that quotes what it was sent: none of it is in an error.

use rig::raw;
use rig::testing::Scripted;
use serde_json::json;
use tests::routes::{LadderInput, ladder};
use tests::{World, block_on};

const PROMPT: &str =
    "The walrus of Mrs O'Hara weighs\n\t1,204 kg, and it \"sings\" in C:\\new each night.";

/// The texts of an error of a call with this question that a provider answers so.
fn told(question: &str, reply: Scripted) -> String {
    let world = World::with_keys("south");
    world.push([reply]);
    let input = LadderInput {
        question: question.to_owned(),
    };
    let error = block_on(ladder(input).on(&world.rig).run()).unwrap_err();
    format!("{error}\n{error:?}\n{:?}", world.store.rows())
}

fn fault(message: &str) -> Scripted {
    Scripted::status(400, json!({ "error": { "message": message } }).to_string())
}

/// No eight characters of the text stand in what is told, whatever their case and white space.
fn assert_untold(text: &str, told: &str) {
    let fold = |text: &str| {
        let words: Vec<_> = text.split_whitespace().map(str::to_lowercase).collect();
        words.join(" ").chars().collect::<Vec<_>>()
    };
    let told: String = fold(told).iter().collect();
    for run in fold(text).windows(8) {
        let run: String = run.iter().collect();
        assert!(!told.contains(&run), "`{run}` is in: {told}");
    }
}

// L9: in quotes and without, escaped once and twice, in another case, with other white space.
#[test]
fn a_quoted_prompt_is_cut_however_it_is_written() {
    let json = json!(PROMPT).to_string();
    let ways = [
        PROMPT.to_owned(),
        format!("'{}'", &PROMPT[4..30]),
        json.clone(),
        json!(json).to_string(),
        PROMPT.to_uppercase(),
        PROMPT.split_whitespace().collect::<Vec<_>>().join("   "),
        PROMPT.replace(' ', "\\u0020"),
        PROMPT.replace('\n', "\\x0a"),
        PROMPT[5..27].to_owned(),
    ];
    for way in ways {
        let told = told(PROMPT, fault(&format!("Cannot read {way} here.")));
        assert!(told.contains("Cannot read"), "{told}");
        assert_untold(PROMPT, &told);
    }
}

// The static words of the template are no secret, and a provider's own words stay.
#[test]
fn what_comes_from_no_variable_stays() {
    let told = told(
        "zebras?",
        fault("Bad input: Decide this case. zebras? The model is unknown."),
    );
    assert!(
        told.contains("Bad input: Decide this case. … The model is unknown."),
        "{told}"
    );
}

#[test]
fn a_short_value_is_cut_where_it_stands_alone() {
    let cases = [
        ("Grete", "user GRETE is unknown", "user … is unknown"),
        ("Grete", "user Gretel is unknown", "user Gretel is unknown"),
        ("4711", "no case 4711.", "no case …."),
        // Too short, or an ordinary word of providers.
        ("42", "code 42", "code 42"),
        ("model", "the model is unknown", "the model is unknown"),
    ];
    for (value, message, expected) in cases {
        let told = told(value, fault(message));
        assert!(
            told.contains(&format!("s1: {expected} (run")),
            "{value}: {told}"
        );
    }
}

// The answer is as private as the prompt: a stream that fails may quote it.
#[test]
fn a_quoted_answer_is_cut_as_well() {
    let said = r#"{"choices":[{"delta":{"content":"walruses sing at night"}}]}"#;
    let error = r#"{"error":{"message":"cannot go on after: walruses sing at night","code":400}}"#;
    let world = World::with_keys("south");
    world.push([Scripted::status(
        200,
        format!("data: {said}\n\ndata: {error}\n\n"),
    )]);
    let input = LadderInput {
        question: "Who sings?".to_owned(),
    };
    let mut events = ladder(input).on(&world.rig).stream();
    let error = block_on(async {
        loop {
            if let Err(error) = events.next().await.unwrap() {
                break error;
            }
        }
    });
    assert_eq!(error.failure().unwrap().message, "cannot go on after: …");
    let quoted = json!({ "error": {
        "message": "could not parse: walruses sing at night",
        "failed_generation": "walruses sing at night",
    } });
    let told = told("Who sings?", Scripted::status(400, quoted.to_string()));
    assert!(told.contains(": could not parse: … ("), "{told}");
}

// W1: in the raw lane the whole prompt is the caller's.
#[test]
fn the_raw_lane_keeps_the_whole_prompt_to_itself() {
    let world = World::with_keys("openai");
    let message = format!("cannot read: be terse, please / {PROMPT}");
    world.push([fault(&message)]);
    let call = world.rig.raw(raw::Provider::OPENAI, "m");
    let call = call.system("Be terse, please").user(PROMPT);
    let error = block_on(call.run()).unwrap_err();
    assert_untold(PROMPT, &format!("{error:?}"));
    assert_untold("Be terse, please", &format!("{error:?}"));
    assert!(error.to_string().contains("cannot read: … / …"), "{error}");
}

// A message that is nothing but the prompt is none.
#[test]
fn a_message_that_only_quotes_is_named_by_its_status() {
    let told = told(PROMPT, fault(PROMPT));
    assert!(told.contains("s1: HTTP 400 (run"), "{told}");
}
