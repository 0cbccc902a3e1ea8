//! How does a code review read findings? As SARIF 2.1.0, the OASIS standard.

use rig_build::{CODES, Code, Finding, Place, Severity};
use serde_json::{Map, Value, json};

use super::Found;

/// Returns the log of one run. Addresses are relative to the folder in which the command ran (`%SRCROOT%`).
pub(super) fn log(found: &Found<'_>, shown: &str) -> Value {
    let results = found.findings.iter();
    let results: Vec<_> = results.map(|(_, finding)| result(finding, shown)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "cargo-rig",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": CODES.iter().map(rule).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(code: &Code) -> Value {
    json!({
        "id": code.code,
        "shortDescription": { "text": code.what },
        "fullDescription": { "text": format!("{} {}", code.what, code.why) },
        "help": { "text": code.fix },
    })
}

fn result(finding: &Finding, shown: &str) -> Value {
    let notes = finding.notes.iter().map(|note| format!("note: {note}"));
    let help = finding.help.iter().map(|help| format!("help: {help}"));
    let lines = [finding.message.clone()]
        .into_iter()
        .chain(notes)
        .chain(help);
    let mut result = Map::from_iter([
        ("ruleId".to_owned(), json!(finding.code)),
        ("level".to_owned(), json!(level(finding.severity))),
        (
            "message".to_owned(),
            json!({ "text": lines.collect::<Vec<_>>().join("\n") }),
        ),
        // What is wrong with the directory as such is shown at the directory.
        (
            "locations".to_owned(),
            match &finding.place {
                Some(place) => json!([location(place)]),
                None => json!([{ "physicalLocation": { "artifactLocation": artifact(shown) } }]),
            },
        ),
    ]);
    if let Some(rule) = CODES.iter().position(|code| code.code == finding.code) {
        result.insert("ruleIndex".to_owned(), json!(rule));
    }
    if !finding.related.is_empty() {
        let related = finding.related.iter().map(|place| {
            let mut location = location(place);
            location["message"] = json!({ "text": place.label });
            location
        });
        result.insert("relatedLocations".to_owned(), related.collect());
    }
    Value::Object(result)
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn location(place: &Place) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": artifact(&place.file),
        "region": {
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
        },
    } })
}

fn artifact(file: &str) -> Value {
    json!({ "uri": uri(file), "uriBaseId": "%SRCROOT%" })
}

/// Returns a relative path as a relative address (RFC 3986): whatever cannot stand there is escaped.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn an_address_has_only_what_may_stand_in_one() {
        assert_eq!(
            uri("my routes/a:b é.yaml"),
            "my%20routes/a%3Ab%20%C3%A9.yaml"
        );
    }
}
