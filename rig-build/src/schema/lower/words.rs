//! How is a keyword said in a few words?

use crate::node::{Entry, Kind, Node};

/// The longest subschema that is quoted, in bytes.
const LONGEST_QUOTE: usize = 160;

/// A keyword that says something about what conforms, and for which type of value.
const KEYWORDS: [(&str, Option<&str>); 45] = [
    ("$ref", None),
    ("$dynamicRef", None),
    ("$recursiveRef", None),
    ("allOf", None),
    ("anyOf", None),
    ("oneOf", None),
    ("not", None),
    ("if", None),
    ("then", None),
    ("else", None),
    ("type", None),
    ("enum", None),
    ("const", None),
    ("minLength", Some("string")),
    ("maxLength", Some("string")),
    ("pattern", Some("string")),
    ("format", Some("string")),
    ("minimum", Some("number")),
    ("maximum", Some("number")),
    ("exclusiveMinimum", Some("number")),
    ("exclusiveMaximum", Some("number")),
    ("multipleOf", Some("number")),
    ("items", Some("array")),
    ("prefixItems", Some("array")),
    ("additionalItems", Some("array")),
    ("unevaluatedItems", Some("array")),
    ("contains", Some("array")),
    ("minContains", Some("array")),
    ("maxContains", Some("array")),
    ("minItems", Some("array")),
    ("maxItems", Some("array")),
    ("uniqueItems", Some("array")),
    ("properties", Some("object")),
    ("patternProperties", Some("object")),
    ("additionalProperties", Some("object")),
    ("unevaluatedProperties", Some("object")),
    ("propertyNames", Some("object")),
    ("required", Some("object")),
    ("minProperties", Some("object")),
    ("maxProperties", Some("object")),
    ("dependentRequired", Some("object")),
    ("dependentSchemas", Some("object")),
    ("dependencies", Some("object")),
    ("contentEncoding", Some("string")),
    ("contentMediaType", Some("string")),
];

/// Returns whether a keyword says something about what conforms.
pub(super) fn is_known(keyword: &str) -> bool {
    KEYWORDS.iter().any(|(name, _)| *name == keyword)
}

/// Returns the type of value that a keyword is about; `None` for those about any.
pub(super) fn about(keyword: &str) -> Option<&'static str> {
    let found = KEYWORDS.iter().find(|(name, _)| *name == keyword);
    found.and_then(|(_, about)| *about)
}

/// Returns what a keyword asks for, as a phrase; `None` where only its JSON could say it, and at length.
pub(super) fn phrase(entry: &Entry) -> Option<String> {
    let value = entry.value.to_json();
    let items = |count: &str| if count == "1" { "item" } else { "items" };
    let characters = |count: &str| {
        if count == "1" {
            "character"
        } else {
            "characters"
        }
    };
    let list = || {
        let texts: Vec<_> = entry.value.items().iter().map(Node::to_json).collect();
        texts.join(", ")
    };
    let text = match entry.key.as_str() {
        "minLength" => format!("at least {value} {}", characters(&value)),
        "maxLength" => format!("at most {value} {}", characters(&value)),
        "minimum" => format!("at least {value}"),
        "maximum" => format!("at most {value}"),
        "exclusiveMinimum" => format!("more than {value}"),
        "exclusiveMaximum" => format!("less than {value}"),
        "multipleOf" => format!("a multiple of {value}"),
        "minItems" => format!("at least {value} {}", items(&value)),
        "maxItems" => format!("at most {value} {}", items(&value)),
        "uniqueItems" => "no item twice".to_owned(),
        "minProperties" => format!("at least {value} properties"),
        "maxProperties" => format!("at most {value} properties"),
        "pattern" => format!("matches {}", entry.value.as_str()?),
        "format" => format!("format {}", entry.value.as_str()?),
        "contentEncoding" | "contentMediaType" => entry.value.as_str()?.to_owned(),
        "enum" => format!("one of {}", list()),
        "const" => format!("always {value}"),
        "default" => format!("by default {value}"),
        "examples" => format!("e.g. {}", entry.value.items().first()?.to_json()),
        "not" => format!("must not match {value}"),
        "contains" => format!("with an item that matches {value}"),
        "prefixItems" => format!("in this order: {}", list()),
        "additionalProperties" | "patternProperties" => format!("other properties match {value}"),
        "propertyNames" => format!("names match {value}"),
        "dependentRequired" | "dependencies" => dependent(&entry.value)?,
        _ => return None,
    };
    (text.len() <= LONGEST_QUOTE).then_some(text)
}

fn dependent(map: &Node) -> Option<String> {
    let each = map.entries().iter().map(|entry| match &entry.value.kind {
        Kind::List(names) => {
            let names: Vec<_> = names.iter().filter_map(Node::as_str).collect();
            Some(format!("with {} also {}", entry.key, names.join(", ")))
        }
        _ => None,
    });
    let each: Vec<_> = each.collect::<Option<_>>()?;
    (!each.is_empty()).then(|| each.join(", "))
}

/// Returns a description with phrases added as a sentence.
pub(super) fn described(description: &str, phrases: &[String]) -> String {
    let mut out = description.trim_end().to_owned();
    if phrases.is_empty() {
        return description.to_owned();
    }
    if !out.is_empty() {
        out.push_str(if out.ends_with(['.', '!', '?', ':', ';']) {
            " "
        } else {
            ". "
        });
    }
    let said = phrases.join("; ");
    let mut letters = said.chars();
    if let Some(first) = letters.next() {
        out.extend(first.to_uppercase());
        out.push_str(letters.as_str());
    }
    out.push('.');
    out
}
