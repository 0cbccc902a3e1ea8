//! Are tools told in each dialect?

use rig_spec::Tool;

use super::*;

pub(super) const LOOKUP: Tool = Tool {
    name: "lookup",
    description: "Looks up.",
    parameters: SCHEMA,
};

/// L1, W3: tools as the chat and the messages dialect have them; where calls share nothing else, the mark is on the last of them.
#[test]
fn tools_are_told_in_each_dialect() {
    let body = |provider: &'static Provider, shared: usize| {
        let candidate = Candidate {
            provider,
            model: "m-1",
            capabilities: provider.capabilities,
            enforcement: Enforcement::Coached,
            price: None,
            limits: Limits::UNKNOWN,
        };
        let tools = [LOOKUP, LOOKUP];
        let prefix = Prefix::new("Ada", shared, None, &tools);
        body(&encode(&Prompt {
            provider: candidate.provider,
            model: candidate.model,
            base_url: provider.base_url,
            key: None,
            system: "Ada",
            user: "go",
            form: Form::of(candidate.enforcement, None),
            tools: &tools.each_ref().map(Offer::from),
            searches: false,
            prefix: Some(&prefix),
            policy: &Policy::BLANK,
            effort: None,
            streams: false,
        }))
    };
    let schema: Value = serde_json::from_str(SCHEMA.json).unwrap();
    let function = json!({ "name": "lookup", "description": "Looks up.", "parameters": schema });
    let tool = json!({ "type": "function", "function": function });
    assert_eq!(body(&OPENAI, 0)["tools"], json!([tool, tool]));
    let plain = json!({ "name": "lookup", "description": "Looks up.", "input_schema": schema });
    let mut marked = plain.clone();
    marked["cache_control"] = json!({ "type": "ephemeral" });
    assert_eq!(body(&ANTHROPIC, 0)["tools"], json!([plain, marked]));
    assert_eq!(body(&ANTHROPIC, 3)["tools"], json!([plain, plain]));
}
