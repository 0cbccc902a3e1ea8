//! W1: a provider that the source names has no method for a knob that it does not honour.

fn main() {
    let _ = rig::raw::gemini("gemini-3.1-pro-preview").grounding();
    let _ = rig::raw::deepseek("deepseek-chat").grounding();
    let _ = rig::raw::gemini("gemini-3.1-pro-preview").cache();
}
