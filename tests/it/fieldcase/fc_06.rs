//! FC-06: enum values that differ only in symbols, or are empty, or mix types.

use std::collections::HashSet;
use std::path::Path;

use rig::testing::Scripted;
use serde::Serialize;
use serde_json::{Value, json};
use tests::check;
use tests::routes::symbols::{SymbolsMixed, SymbolsModel, SymbolsOp, SymbolsQuote};
use tests::routes::{FcSymbolsInput, Symbols, symbols};

use super::Case;

fn input() -> FcSymbolsInput {
    FcSymbolsInput { q: "x".to_owned() }
}

fn check_conformant(output: &str) -> Symbols {
    let value: Value = serde_json::from_str(output).unwrap();
    let mut fields =
        ["op", "model", "quote", "mixed"].map(|name| format!("\"{name}\":{}", value[name]));
    fields[0].insert(0, '{');
    let seen = check(
        "deepseek",
        [Scripted::chat(output)],
        |rig| symbols(input()).on(rig).run(),
        &format!(
            "1 deepseek/deepseek-v4-flash conformant 100+20 $0.0000196\n= {}}}",
            fields.join(",")
        ),
    );
    seen.output().clone()
}

fn check_rejected(output: &str, at: &str) {
    check(
        "deepseek",
        [Scripted::chat(output)],
        |rig| symbols(input()).on(rig).run(),
        &format!(
            "
            1 deepseek/deepseek-v4-flash content_invalid 100+20 $0.0000196
            ! content_invalid deepseek/deepseek-v4-flash: the answer misses the schema at `/{at}` (enum)
            (deepseek/deepseek-v4-flash content_invalid)
            "
        ),
    );
}

fn output(op: &str, model: &str, quote: &str, mixed: &Value) -> String {
    json!({ "op": op, "model": model, "quote": quote, "mixed": mixed }).to_string()
}

// L2: in `mixed` the string "1" and the number 1 stay different.
#[test]
fn fc_06_values_of_symbols_are_told_apart() {
    let first = check_conformant(&output("", "gpt_3_5_turbo", "new\nline", &json!("1")));
    assert_eq!(
        first,
        Symbols {
            op: SymbolsOp::Empty,
            model: SymbolsModel::Gpt35Turbo2,
            quote: SymbolsQuote::NewLine,
            mixed: SymbolsMixed::N1_2,
        }
    );
    let second = check_conformant(&output("≥", "gpt-3.5-turbo", "say \"hi\"", &json!(1)));
    assert_eq!(
        (second.op, second.mixed),
        (SymbolsOp::AtLeast, SymbolsMixed::N1)
    );
    if let Some(case) = Case::open("FC-06") {
        assert_eq!(check_conformant(&case.read("ok.json")), first);
        assert_eq!(check_conformant(&case.read("ok2.json")), second);
    }
}

// L3: nothing is trimmed, folded or converted.
#[test]
fn fc_06_a_value_that_is_nearly_one_is_content_invalid() {
    let one = json!(1);
    check_rejected(&output("=", "GPT-3.5-turbo", "✓", &one), "model");
    check_rejected(&output("= ", "gpt-3.5-turbo", "✓", &one), "op");
    check_rejected(&output("=", "gpt-3.5-turbo", "✓", &json!("true")), "mixed");
    check_rejected(&output("=", "gpt-3.5-turbo", "✓", &json!("null")), "mixed");
    if let Some(case) = Case::open("FC-06") {
        check_rejected(&case.read("bad_case.json"), "model");
        check_rejected(&case.read("bad_trim.json"), "op");
        check_rejected(&case.read("bad_mixed.json"), "mixed");
    }
}

// Every member has a variant of its own, and writes back as itself.
#[test]
fn fc_06_every_member_can_be_reached() {
    let schema: Value =
        serde_json::from_str(include_str!("../../routes/fc/symbols.schema.json")).unwrap();
    let members = |name: &str| schema["properties"][name]["enum"].clone();
    fn all<T: Serialize + std::hash::Hash + Eq + Copy>(variants: &[T]) -> Value {
        let distinct: HashSet<T> = variants.iter().copied().collect();
        assert_eq!(distinct.len(), variants.len());
        serde_json::to_value(variants).unwrap()
    }
    use SymbolsOp as Op;
    let ops = [
        Op::Eq,
        Op::Gt,
        Op::Lt,
        Op::GtEq,
        Op::LtEq,
        Op::NotEq,
        Op::AtLeast,
        Op::Empty,
        Op::Space,
    ];
    assert_eq!(all(&ops), members("op"));
    use SymbolsModel as Model;
    let models = [Model::Gpt35Turbo, Model::Gpt35Turbo2, Model::GPT35Turbo];
    assert_eq!(all(&models), members("model"));
    use SymbolsQuote as Quote;
    let quotes = [
        Quote::SayHi,
        Quote::BackSlash,
        Quote::NewLine,
        Quote::Übergröße,
        Quote::U2713,
        Quote::Self_,
    ];
    assert_eq!(all(&quotes), members("quote"));
    use SymbolsMixed as Mixed;
    let mixed = [Mixed::N1, Mixed::N1_2, Mixed::True, Mixed::Null];
    assert_eq!(all(&mixed), members("mixed"));
}

// The names depend on nothing but the schema.
#[test]
fn fc_06_building_twice_gives_the_same_names() {
    let build = || {
        let routes = Path::new(env!("CARGO_MANIFEST_DIR")).join("routes");
        let compilation = rig_build::compile_dir(&routes, "routes");
        let modules = compilation
            .routes
            .into_iter()
            .map(|route| route.expanded().unwrap());
        modules.collect::<String>()
    };
    assert_eq!(build(), build());
}
