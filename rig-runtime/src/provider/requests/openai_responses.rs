//! Do requests have the shape that the responses dialect wants?

use rig_spec::{Dialect, NativeSchema};

use super::tools::LOOKUP;
use super::*;

static STRICT: Provider = Provider {
    name: "openai-responses",
    dialect: Dialect::OpenAiResponses,
    base_url: "https://api.openai.com/v1",
    base_url_env: "OPENAI_RESPONSES_BASE_URL",
    key_env: Some("OPENAI_API_KEY"),
    native_schema: NativeSchema::OpenAiStrict,
    tiers: &Tier::ALL,
    ..Provider::BLANK
};

#[test]
fn a_responses_request_carries_everything_the_route_declares() {
    let request = request(&STRICT, AS_WRITTEN, SAMPLING, Some(Tier::Standard));
    assert_eq!(request.url, "https://api.openai.com/v1/responses");
    let key = ("authorization", "Bearer k-1".to_owned());
    assert_eq!(request.headers[2..], [key]);
    let schema: Value = serde_json::from_str(SCHEMA.json).unwrap();
    assert_eq!(
        body(&request),
        json!({
            "model": "m-1",
            "instructions": "be \"brief\"",
            "input": "go",
            "temperature": 1.5,
            "top_p": 0.9,
            "max_output_tokens": 512,
            "text": { "format": {
                "type": "json_schema",
                "name": "summary",
                "strict": true,
                "schema": schema,
            } },
            "service_tier": "default",
            "store": false,
        })
    );
}

#[test]
fn a_responses_request_says_nothing_that_the_route_does_not() {
    let request = request(&STRICT, Enforcement::Coached, Sampling::BLANK, None);
    assert_eq!(
        body(&request),
        json!({ "model": "m-1", "instructions": "be \"brief\"", "input": "go", "store": false })
    );
}

/// L1: tools beside a search.
#[test]
fn a_responses_request_searches_and_names_its_tools() {
    let request = encode(&Prompt {
        provider: &STRICT,
        model: "m-1",
        base_url: "http://127.0.0.1:1",
        key: None,
        system: "",
        user: "go",
        form: Form::Json,
        tools: &[Offer::from(&LOOKUP)],
        searches: true,
        prefix: None,
        policy: &Policy::BLANK,
        effort: None,
        streams: true,
    });
    let parameters: Value = serde_json::from_str(LOOKUP.parameters.json).unwrap();
    assert_eq!(
        body(&request),
        json!({
            "model": "m-1",
            "input": "go",
            "tools": [
                { "type": "web_search" },
                {
                    "type": "function",
                    "name": LOOKUP.name,
                    "description": LOOKUP.description,
                    "parameters": parameters,
                    "strict": false,
                },
            ],
            "max_tool_calls": 5,
            "text": { "format": { "type": "json_object" } },
            "store": false,
            "stream": true,
        })
    );
}
