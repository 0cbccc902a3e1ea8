//! Do requests have the shape that Gemini wants?

use rig_spec::GEMINI;

use super::tools::LOOKUP;
use super::*;

#[test]
fn a_gemini_request_carries_everything_the_route_declares() {
    let request = request(&GEMINI, AS_WRITTEN, SAMPLING, Some(Tier::Flex));
    assert_eq!(
        request.url,
        "https://generativelanguage.googleapis.com/v1beta/models/m-1:generateContent"
    );
    assert_eq!(request.headers[2..], [("x-goog-api-key", "k-1".to_owned())]);
    let schema: Value = serde_json::from_str(SCHEMA.json).unwrap();
    assert_eq!(
        body(&request),
        json!({
            "systemInstruction": { "parts": [{ "text": "be \"brief\"" }] },
            "contents": [{ "role": "user", "parts": [{ "text": "go" }] }],
            "generationConfig": {
                "temperature": 1.5,
                "topP": 0.9,
                "maxOutputTokens": 512,
                "responseMimeType": "application/json",
                "responseJsonSchema": schema,
            },
            "service_tier": "flex",
        })
    );
}

#[test]
fn a_gemini_request_says_nothing_that_the_route_does_not() {
    let request = request(&GEMINI, Enforcement::Coached, Sampling::BLANK, None);
    assert_eq!(
        body(&request),
        json!({
            "systemInstruction": { "parts": [{ "text": "be \"brief\"" }] },
            "contents": [{ "role": "user", "parts": [{ "text": "go" }] }],
        })
    );
}

fn with_tools(model: &'static str, enforcement: Enforcement, streams: bool) -> (Request, bool) {
    let candidate = Candidate {
        provider: &GEMINI,
        model,
        capabilities: GEMINI.capabilities,
        enforcement,
        price: None,
        limits: Limits::UNKNOWN,
    };
    let request = encode(&Prompt {
        provider: candidate.provider,
        model: candidate.model,
        base_url: "http://127.0.0.1:1",
        key: None,
        system: "",
        user: "go",
        form: Form::of(candidate.enforcement, Some(&SCHEMA)),
        tools: &[Offer::from(&LOOKUP)],
        searches: true,
        prefix: None,
        policy: &Policy::BLANK,
        effort: None,
        streams,
    });
    (request, super::super::coaches(&candidate, false, true))
}

/// Whatever a route calls its model, it is one segment of the path.
#[test]
fn a_model_is_one_segment_of_the_path() {
    for (model, path) in [
        ("gemini-3.1-pro", "models/gemini-3.1-pro"),
        ("models/gemini-3.1-pro", "models/gemini-3.1-pro"),
        ("tunedModels/a-1", "tunedModels/a-1"),
        ("../../evil", "models/..%2F..%2Fevil"),
        ("tunedModels/../x", "tunedModels/..%2Fx"),
        ("x#", "models/x%23"),
        ("x?alt=sse", "models/x%3Falt%3Dsse"),
        ("a:b%2F é", "models/a%3Ab%252F%20%C3%A9"),
    ] {
        let (request, _) = with_tools(model, AS_WRITTEN, false);
        let expected = format!("http://127.0.0.1:1/{path}:generateContent");
        assert_eq!(request.url, expected, "{model}");
    }
}

/// L1: tools and search; models before the third generation take no schema beside them.
#[test]
fn tools_and_search_are_told_and_early_models_are_coached_beside_them() {
    let schema: Value = serde_json::from_str(SCHEMA.json).unwrap();
    let (request, is_coached) = with_tools("gemini-3.1-flash-lite", AS_WRITTEN, false);
    assert!(!is_coached);
    let function =
        json!({ "name": "lookup", "description": "Looks up.", "parametersJsonSchema": schema });
    assert_eq!(
        body(&request),
        json!({
            "contents": [{ "role": "user", "parts": [{ "text": "go" }] }],
            "tools": [{ "googleSearch": {} }, { "functionDeclarations": [function] }],
            "generationConfig": {
                "responseMimeType": "application/json",
                "responseJsonSchema": schema,
            },
        })
    );
    for enforcement in [AS_WRITTEN, Enforcement::JsonMode] {
        let (request, is_coached) = with_tools("gemini-2.5-pro", enforcement, true);
        assert!(is_coached);
        assert_eq!(body(&request).get("generationConfig"), None);
        assert_eq!(
            request.url,
            "http://127.0.0.1:1/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
        );
        assert!(!request.headers.iter().any(|(name, _)| name.contains("key")));
    }
}
