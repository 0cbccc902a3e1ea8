//! What becomes of a schema that is hostile or huge?

use super::{Ends, MEGABYTE, check, check_schema, route, series};

#[test]
fn a_schema_of_ten_megabytes() {
    let text = "x".repeat(10 * MEGABYTE);
    check_schema(
        &format!("{{\"description\": \"{text}\"}}"),
        Ends::Module(32 * MEGABYTE),
    );
    let many = series(100_000, ", ", |n| {
        format!(
            "\"property_number_{n}\": {{ \"type\": \"string\", \"description\": \"Number {n}.\" }}"
        )
    });
    check_schema(
        &format!("{{ \"type\": \"object\", \"properties\": {{ {many} }} }}"),
        Ends::Module(64 * MEGABYTE),
    );
}

#[test]
fn a_schema_of_ten_thousand_properties() {
    let key = |n: usize| format!("\"a{n}\"");
    let properties = series(10_000, ", ", |n| {
        format!("{}: {{ \"type\": \"string\" }}", key(n))
    });
    let required = series(10_000, ", ", key);
    let object = |more: &str| {
        format!(
            "{{ \"type\": \"object\", \"properties\": {{ {properties}{more} }}, \"required\": [{required}], \"additionalProperties\": false }}"
        )
    };
    check_schema(&object(""), Ends::Module(8 * MEGABYTE));
    check_schema(
        &object(&format!(", {properties}")),
        Ends::Findings("duplicate-key", 10_000),
    );
    let same = series(10_000, ", ", |n| {
        format!("\"{}a\": {{}}", "-".repeat(n % 97) + &" ".repeat(n / 97))
    });
    check_schema(
        &format!("{{ \"type\": \"object\", \"properties\": {{ {same} }} }}"),
        Ends::Module(16 * MEGABYTE),
    );
    let wrong = series(10_000, ", ", |n| format!("\"a{n}\": 1"));
    check_schema(
        &format!("{{ \"properties\": {{ {wrong} }} }}"),
        Ends::Findings("bad-schema", 10_000),
    );
}

#[test]
fn a_schema_of_ten_thousand_structs() {
    let properties = series(10_000, ", ", |n| {
        format!(
            "\"a{n}\": {{ \"type\": \"object\", \"title\": \"Same\", \"properties\": {{ \"x\": {{ \"enum\": [\"{n}\"] }} }} }}"
        )
    });
    check_schema(
        &format!("{{ \"type\": \"object\", \"properties\": {{ {properties} }} }}"),
        Ends::Module(16 * MEGABYTE),
    );
}

#[test]
fn an_enum_of_ten_thousand_values() {
    let values = series(10_000, ", ", |n| format!("\"value {n}\""));
    let schema = format!("{{ \"enum\": [{values}] }}");
    check_schema(&schema, Ends::Module(4 * MEGABYTE));
    let mixed = series(10_000, ", ", |n| format!("{n}, \"{n}\""));
    check_schema(
        &format!("{{ \"enum\": [{mixed}] }}"),
        Ends::Module(8 * MEGABYTE),
    );
    let alike = series(10_000, ", ", |n| {
        format!("\"{}a{}\"", " ".repeat(n % 100), "-".repeat(n / 100))
    });
    check_schema(
        &format!("{{ \"enum\": [{alike}] }}"),
        Ends::Module(8 * MEGABYTE),
    );
}

#[test]
fn nesting_in_json() {
    for (open, close) in [("[", "]"), ("{\"not\": ", "}")] {
        let value = open.repeat(5_000) + "1" + &close.repeat(5_000);
        check_schema(&value, Ends::Findings("json-syntax", 1));
        check_schema(&open.repeat(5_000), Ends::Findings("json-syntax", 1));
    }
    for keyword in ["items", "additionalProperties", "not", "anyOf"] {
        let (open, close) = match keyword {
            "anyOf" => ("{\"anyOf\": [".to_owned(), "]}"),
            _ => (
                format!(
                    "{{\"type\": \"{}\", \"{keyword}\": ",
                    if keyword == "items" {
                        "array"
                    } else {
                        "object"
                    }
                ),
                "}",
            ),
        };
        let deep = open.repeat(60) + "{\"type\": \"string\"}" + &close.repeat(60);
        check_schema(&deep, Ends::Module(MEGABYTE));
    }
}

#[test]
fn a_chain_of_references() {
    let defs = series(10_000, ", ", |n| {
        format!("\"d{n}\": {{ \"$ref\": \"#/$defs/d{}\" }}", n + 1)
    });
    let schema = |last: &str| {
        format!(
            "{{ \"type\": \"object\", \"additionalProperties\": false, \"properties\": {{ \"x\": {{ \"$ref\": \"#/$defs/d0\" }} }}, \"$defs\": {{ {defs}, {last} }} }}"
        )
    };
    check_schema(
        &schema("\"d10000\": { \"type\": \"string\" }"),
        Ends::Module(4 * MEGABYTE),
    );
    check_schema(
        &schema("\"d10000\": { \"$ref\": \"#/$defs/d0\" }"),
        Ends::Module(4 * MEGABYTE),
    );
    let objects = defs_of_objects(10_000, |n| vec![n + 1]);
    check_schema(&objects, Ends::Module(16 * MEGABYTE));
    let strict =
        route("schema: ./s.json\ncandidates: [{ provider: anthropic, model: claude-haiku-4-5 }]\n");
    check(
        &[
            ("r.yaml", &strict),
            ("p.md", "Hello."),
            ("s.json", &objects),
        ],
        Ends::Module(16 * MEGABYTE),
    );
}

/// Every definition refers to the next one twice: 2^100 paths to the last one.
#[test]
fn a_graph_with_more_paths_than_atoms() {
    let strict = "candidates: [{ provider: openai, model: gpt-5.4 }, { provider: anthropic, model: claude-haiku-4-5 }]\n";
    for count in [100, 2_000] {
        let schema = defs_of_objects(count, |n| vec![n + 1, n + 1]);
        check_schema(&schema, Ends::Module(8 * MEGABYTE));
        let route = route(&format!("schema: ./s.json\n{strict}"));
        check(
            &[("r.yaml", &route), ("p.md", "Hello."), ("s.json", &schema)],
            Ends::Module(8 * MEGABYTE),
        );
    }
    let complete = defs_of_objects(150, |n| (n + 1..150).collect());
    check_schema(&complete, Ends::Module(8 * MEGABYTE));
}

/// A schema with `count` objects; each has a property for every definition that `targets` names.
fn defs_of_objects(count: usize, targets: impl Fn(usize) -> Vec<usize>) -> String {
    let object = |n: usize| {
        let targets = targets(n).into_iter().filter(|target| *target < count);
        let properties: Vec<_> = targets
            .enumerate()
            .map(|(at, target)| format!("\"p{at}\": {{ \"$ref\": \"#/$defs/d{target}\" }}"))
            .collect();
        // Nothing is required: with everything, the shortest answer would be as large as the number of paths.
        format!(
            "{{ \"type\": \"object\", \"additionalProperties\": false, \"properties\": {{ {} }} }}",
            properties.join(", ")
        )
    };
    let defs = series(count, ", ", |n| format!("\"d{n}\": {}", object(n)));
    let root = object(0);
    format!(
        "{}, \"$defs\": {{ {defs} }} }}",
        root.strip_suffix(" }").unwrap()
    )
}

/// The hosts whose dialects lower a schema, and one that is sent it as it is.
const HOSTS: [&str; 4] = [
    "{ provider: openai, model: gpt-5.4-mini }",
    "{ provider: anthropic, model: claude-haiku-4-5 }",
    "{ provider: gemini, model: gemini-3.1-flash-lite }",
    "{ provider: deepseek, model: m }",
];

/// Checks a schema for each of the hosts, alone and together.
#[track_caller]
fn check_everywhere(schema: &str, ends: impl Fn() -> Ends) {
    for candidates in HOSTS
        .iter()
        .map(|host| (*host).to_owned())
        .chain([HOSTS.join(", ")])
    {
        let route = route(&format!("schema: ./s.json\ncandidates: [{candidates}]\n"));
        let files = [
            ("r.yaml", route.as_str()),
            ("p.md", "Hello."),
            ("s.json", schema),
        ];
        check(&files, ends());
    }
}

/// FC-65: what is small as it is written, and gigabytes where references are expanded or branches multiplied.
#[test]
fn small_schemas_that_grow_when_expanded() {
    let module = || Ends::Module(MEGABYTE);
    let level = |n: usize, required: &str| {
        let next = format!("{{ \"$ref\": \"#/$defs/L{}\" }}", n + 1);
        format!(
            "\"L{n}\": {{ \"type\": \"object\", \"properties\": {{ \"a\": {next}, \"b\": {next} }}, \"required\": [{required}], \"additionalProperties\": false }}"
        )
    };
    for required in ["", "\"a\", \"b\""] {
        let levels = series(30, ", ", |n| level(n, required));
        let diamond = format!(
            "{{ \"type\": \"object\", \"properties\": {{ \"top\": {{ \"$ref\": \"#/$defs/L0\" }} }}, \"required\": [\"top\"], \"additionalProperties\": false, \"$defs\": {{ {levels}, \"L30\": {{ \"enum\": [\"x\", \"y\"] }} }} }}"
        );
        check_everywhere(&diamond, module);
    }
    let choice = |n: usize| {
        let branches = series(4, ", ", |value| {
            format!(
                "{{ \"properties\": {{ \"k{n}\": {{ \"const\": {value} }} }}, \"required\": [\"k{n}\"] }}"
            )
        });
        format!("{{ \"anyOf\": [{branches}] }}")
    };
    let all_of = format!(
        "{{ \"type\": \"object\", \"allOf\": [{}] }}",
        series(12, ", ", choice)
    );
    check_everywhere(&all_of, module);
    let variant = |n: usize, base: &str| {
        format!(
            "\"V{n}\": {{ \"allOf\": [{{ \"$ref\": \"#/$defs/{base}\" }}, {{ \"type\": \"object\", \"properties\": {{ \"kind\": {{ \"const\": \"v{n}\" }}, \"f{n}\": {{ \"type\": \"integer\" }} }}, \"required\": [\"kind\"] }}] }}"
        )
    };
    let choices = series(18, ", ", |n| format!("{{ \"$ref\": \"#/$defs/V{n}\" }}"));
    let base = "{ \"type\": \"object\", \"properties\": { \"id\": { \"type\": \"string\" } } }";
    let based = format!(
        "{{ \"oneOf\": [{choices}], \"$defs\": {{ \"Base\": {base}, {} }} }}",
        series(18, ", ", |n| variant(n, "Base"))
    );
    check_everywhere(&based, module);
    let circular = format!(
        "{{ \"$ref\": \"#/$defs/View\", \"$defs\": {{ \"View\": {{ \"type\": \"object\", \"oneOf\": [{choices}] }}, {} }} }}",
        series(18, ", ", |n| variant(n, "View"))
    );
    check_everywhere(&circular, || Ends::Findings("bad-schema", 1));
}

/// Choices whose branches need the same keys, each within the next ones.
#[test]
fn recursive_unions_whose_branches_need_the_same_keys() {
    let branch = |next: usize, kind: &str| {
        format!(
            "{{ \"type\": \"object\", \"required\": [\"next\", \"v\"], \"additionalProperties\": false, \"properties\": {{ \"next\": {{ \"$ref\": \"#/$defs/n{next}\" }}, \"v\": {{ \"type\": \"{kind}\" }} }} }}"
        )
    };
    let unions = series(40, ", ", |n| {
        let (next, other) = ((n + 1) % 40, (n + 7) % 40);
        format!(
            "\"n{n}\": {{ \"anyOf\": [{}, {}, {}, {{ \"type\": \"integer\" }}] }}",
            branch(next, "integer"),
            branch(other, "string"),
            branch(n, "boolean")
        )
    });
    let schema = format!("{{ \"$ref\": \"#/$defs/n0\", \"$defs\": {{ {unions} }} }}");
    check_everywhere(&schema, || Ends::Module(MEGABYTE));
}

/// Each object has a choice beside it, whose branches are such objects: every path is a type of its own.
#[test]
fn choices_beside_properties_within_each_other() {
    let schema = |levels: usize| {
        let defs = series(levels, ", ", |n| {
            let object = |name: &str| {
                format!(
                    "\"{name}{n}\": {{ \"type\": \"object\", \"properties\": {{ \"{name}{n}\": {{ \"type\": \"string\" }} }}, \"anyOf\": [{{ \"$ref\": \"#/$defs/a{0}\" }}, {{ \"$ref\": \"#/$defs/b{0}\" }}] }}",
                    n + 1
                )
            };
            format!("{}, {}", object("a"), object("b"))
        });
        format!(
            "{{ \"$ref\": \"#/$defs/a0\", \"$defs\": {{ {defs}, \"a{levels}\": {{ \"type\": \"object\" }}, \"b{levels}\": {{ \"type\": \"object\" }} }} }}"
        )
    };
    check_everywhere(&schema(5), || Ends::Module(MEGABYTE));
    check_everywhere(&schema(14), || Ends::Module(8 * MEGABYTE));
    check_everywhere(&schema(30), || Ends::Findings("bad-schema", 1));
}

#[test]
fn ten_thousand_dangling_references() {
    let properties = series(10_000, ", ", |n| {
        format!(
            "\"a{n}\": {{ \"$ref\": \"#/$defs/gone{n}\" }}, \"b{n}\": {{ \"$ref\": \"#gone{n}\" }}"
        )
    });
    check_schema(
        &format!("{{ \"type\": \"object\", \"properties\": {{ {properties} }} }}"),
        Ends::Findings("bad-schema", 20_000),
    );
}

#[test]
fn a_thousand_schema_files_that_name_each_other() {
    let mut files = vec![
        ("r.yaml".to_owned(), route("schema: ./s0.json\n")),
        ("p.md".to_owned(), "Hello.".to_owned()),
    ];
    for n in 0..1_000 {
        let next = (n + 1) % 1_000;
        let text = format!(
            "{{ \"type\": \"object\", \"properties\": {{ \"a\": {{ \"$ref\": \"s{next}.json\" }}, \"b\": {{ \"$ref\": \"./s{}.json\" }} }} }}",
            (n * 7) % 1_000
        );
        files.push((format!("s{n}.json"), text));
    }
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    check(&files, Ends::Module(4 * MEGABYTE));
}
