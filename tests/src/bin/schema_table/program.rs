//! Judges the types that were generated for a folder of schemas. This is the source of the scratch crate.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Serialize;
use serde_json::{Value, json};

/// Judges the schemas from this number on; prints one line for each as soon as it is judged.
fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("the folder of the instances");
    let from: usize = arguments.next().expect("a number").parse().expect("a number");
    for (number, judge) in SCHEMAS.iter().filter(|(number, _)| *number >= from) {
        let text = std::fs::read_to_string(format!("{folder}/{number}.json")).expect("the instances");
        let instances: Vec<(bool, String)> = serde_json::from_str(&text).expect("the instances");
        println!("{}", judge(*number, &instances));
        std::io::stdout().flush().expect("the output is open");
    }
}

fn judge<T: Serialize>(
    read: impl Fn(&str) -> Result<T, String>,
    number: usize,
    instances: &[(bool, String)],
) -> Value {
    let (mut valid, mut valid_ok, mut invalid, mut rejected) = (0, 0, 0, 0);
    let mut reasons: Vec<String> = Vec::new();
    for (place, (is_valid, text)) in instances.iter().enumerate() {
        let judged = catch_unwind(AssertUnwindSafe(|| read(text).map(|output| round(&output, text))));
        let fault = match judged {
            Err(_) => Some("a panic".to_owned()),
            Ok(Err(fault)) => is_valid.then_some(fault),
            Ok(Ok(_)) if !is_valid => Some("accepted".to_owned()),
            Ok(Ok(fault)) => fault,
        };
        *(if *is_valid { &mut valid } else { &mut invalid }) += 1;
        match fault {
            None => *(if *is_valid { &mut valid_ok } else { &mut rejected }) += 1,
            Some(fault) => reasons.push(format!("instance {place}: {fault}")),
        }
    }
    json!({
        "number": number,
        "valid": valid,
        "valid_ok": valid_ok,
        "invalid": invalid,
        "invalid_rejected": rejected,
        "reasons": reasons,
    })
}

/// Says what is wrong with a value that was read and written again.
fn round(output: &impl Serialize, text: &str) -> Option<String> {
    let before: Value = serde_json::from_str(text).expect("the instance was read before");
    match serde_json::to_value(output) {
        Err(error) => Some(format!("not written: {error}")),
        Ok(after) if same(&before, &after) => None,
        Ok(after) => Some(format!("written as {}", after.to_string().chars().take(200).collect::<String>())),
    }
}

/// Returns whether two values are one JSON value: `3` and `3.0` are.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || ((a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64()),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}
