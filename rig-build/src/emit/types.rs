//! The types of a route: its input struct, its variants; and what its schema lets through.

use super::{docs_comment, put};
use crate::ast::VariableKind;
use crate::check::Input;
use crate::names::{escaped, pascal};
use crate::schema::types::{Def, Field, Item, Rest, Scalar, Shape, Ty, Types, Union, Variant};

/// What types are made of. It exists whenever prompt and schema are good, whatever else is wrong.
pub(crate) struct Source<'a> {
    /// The route's name.
    pub(crate) route: &'a str,
    /// The input struct's name.
    pub(crate) input_name: &'a str,
    /// The input struct's fields.
    pub(crate) input: &'a [Input],
    /// The schema's types and hash; `None` for a route whose output is any JSON value.
    pub(crate) output: Option<(&'a Types, u64)>,
    /// The variants that a call can name.
    pub(crate) variants: &'a [&'a str],
}

/// Returns the input type of a route, and its variants.
pub(crate) fn types(source: &Source<'_>) -> String {
    let mut out = String::new();
    input(&mut out, source);
    variants(&mut out, source);
    out
}

/// Returns the types of what the schema lets through; `None` for any JSON value. They are apart from the others, since a
/// route whose function names another route's output has no need of its own.
pub(crate) fn output_types(source: &Source<'_>) -> Option<String> {
    let (types, hash) = source.output?;
    let mut out = String::new();
    for (n, def) in types.defs.iter().enumerate() {
        if n > 0 {
            out.push('\n');
        }
        define(&mut out, def, types);
    }
    output(&mut out, types, hash);
    Some(out)
}

fn output(out: &mut String, types: &Types, hash: u64) {
    let root = &types.defs[0].name;
    put(
        out,
        format_args!(
            "\nimpl __rig::Output for {root} {{\n    const SCHEMA: u64 = {};\n}}\n",
            super::values::hash(hash)
        ),
    );
}

fn variants(out: &mut String, source: &Source<'_>) {
    put(
        out,
        format_args!(
            "\n/// The variants that a call of `{}` can name.\n",
            source.route
        ),
    );
    out.push_str("#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub enum Variant {");
    for name in source.variants {
        put(
            out,
            format_args!("\n    /// The variant `{name}`.\n    {},", pascal(name)),
        );
    }
    out.push_str(if source.variants.is_empty() {
        "}\n"
    } else {
        "\n}\n"
    });
    out.push_str("\nimpl __rig::RouteVariant for Variant {\n    fn index(self) -> usize {\n");
    out.push_str(if source.variants.is_empty() {
        "        match self {}\n"
    } else {
        "        self as usize\n"
    });
    out.push_str("    }\n}\n");
}

const TRAITS: &str = "#[derive(Clone, Debug, PartialEq)]\n";

fn input(out: &mut String, source: &Source<'_>) {
    let (route, name) = (source.route, source.input_name);
    put(
        out,
        format_args!("/// What the prompt of `{route}` needs.\n{TRAITS}pub struct {name} {{"),
    );
    for (n, field) in source.input.iter().enumerate() {
        let line = if n == 0 { "\n" } else { "" };
        let ty = match field.kind {
            VariableKind::String => "::std::string::String",
            VariableKind::Json => "__rig::Value",
            VariableKind::Integer => "i64",
            VariableKind::Number => "f64",
            VariableKind::Boolean => "bool",
        };
        let ty = match field.optional {
            true => format!("::core::option::Option<{ty}>"),
            false => ty.to_owned(),
        };
        let (key, name) = (&field.key, escaped(&field.name));
        put(
            out,
            format_args!("{line}    /// The variable `{key}`.\n    pub {name}: {ty},\n"),
        );
    }
    put(out, format_args!("}}\n\n__rig::input!({name} {{"));
    for (n, field) in source.input.iter().enumerate() {
        let line = if n == 0 { "\n" } else { "" };
        put(
            out,
            format_args!("{line}    {}: {:?},\n", escaped(&field.name), field.key),
        );
    }
    out.push_str("});\n");
}

fn define(out: &mut String, def: &Def, types: &Types) {
    let name = &def.name;
    match &def.docs {
        Some(docs) => docs_comment(out, "", docs),
        None => put(
            out,
            format_args!("/// `{name}`, as the schema describes it.\n"),
        ),
    }
    match &def.shape {
        Shape::Struct { fields, rest } => structure(out, name, fields, rest.as_ref(), types),
        Shape::Items { items, rest } => list(out, name, items, rest.as_ref(), types),
        Shape::Enum(variants) => scalars(out, name, variants),
        Shape::Union(union) => choice(out, name, union, types),
        Shape::Newtype(ty) => {
            let ty = rust(ty, types);
            put(
                out,
                format_args!(
                    "{TRAITS}pub struct {name}(\n    /// The value.\n    pub {ty},\n);\n\n__rig::newtype!({name});\n"
                ),
            );
        }
        Shape::Open => {}
    }
}

fn structure(out: &mut String, name: &str, fields: &[Field], rest: Option<&Rest>, types: &Types) {
    if fields.is_empty() && rest.is_none() {
        put(
            out,
            format_args!("{TRAITS}pub struct {name} {{}}\n\n__rig::object!({name} {{}});\n"),
        );
        return;
    }
    put(out, format_args!("{TRAITS}pub struct {name} {{\n"));
    for field in fields {
        match &field.docs {
            Some(docs) => docs_comment(out, "    ", docs),
            None if field.key.is_empty() => {
                docs_comment(out, "    ", "The property without a name.");
            }
            None => docs_comment(
                out,
                "    ",
                &format!("The property `{}`.", field.key.replace('`', "'")),
            ),
        }
        let ty = rust(&field.ty, types);
        let ty = match field.required {
            true => ty,
            // `None` is "not there"; null, where the schema takes it, is a value.
            false => format!("::core::option::Option<{ty}>"),
        };
        put(
            out,
            format_args!("    pub {}: {ty},\n", escaped(&field.name)),
        );
    }
    if let Some(rest) = rest {
        let (rest, ty) = (escaped(&rest.name), map_of(&rust(&rest.ty, types)));
        out.push_str("    /// The properties that the schema does not list.\n");
        put(out, format_args!("    pub {rest}: {ty},\n"));
    }
    put(out, format_args!("}}\n\n__rig::object!({name} {{\n"));
    for field in fields {
        let kind = if field.required {
            "required"
        } else {
            "optional"
        };
        put(
            out,
            format_args!("    {}: {kind} {:?},\n", escaped(&field.name), field.key),
        );
    }
    if let Some(rest) = rest {
        put(out, format_args!("    ..{}\n", escaped(&rest.name)));
    }
    out.push_str("});\n");
}

fn scalars(out: &mut String, name: &str, variants: &[Variant]) {
    put(
        out,
        format_args!("#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub enum {name} {{\n"),
    );
    for variant in variants {
        match &variant.docs {
            Some(docs) => docs_comment(out, "    ", docs),
            None => docs_comment(
                out,
                "    ",
                &format!("The value {}.", shown(&variant.value)),
            ),
        }
        put(out, format_args!("    {},\n", variant.name));
    }
    put(out, format_args!("}}\n\n__rig::scalars!({name} {{\n"));
    for variant in variants {
        let (name, value) = (&variant.name, literal(&variant.value));
        put(out, format_args!("    {name} = {value},\n"));
    }
    out.push_str("});\n");
}

/// A choice is written as whatever it is, and read branch by branch.
fn choice(out: &mut String, name: &str, union: &Union, types: &Types) {
    put(out, format_args!("{TRAITS}pub enum {name} {{\n"));
    for branch in &union.branches {
        match &branch.docs {
            Some(docs) => docs_comment(out, "    ", docs),
            None if branch.tags.is_empty() => {
                put(out, format_args!("    /// The branch `{}`.\n", branch.name))
            }
            None => {
                let tag = union.tag.as_deref().unwrap_or_default().replace('`', "'");
                let tags: Vec<_> = branch.tags.iter().map(|tag| format!("{tag:?}")).collect();
                docs_comment(out, "    ", &format!("`{tag}` is {}.", tags.join(" or ")));
            }
        }
        put(
            out,
            format_args!("    {}({}),\n", branch.name, rust(&branch.ty, types)),
        );
    }
    match &union.tag {
        Some(tag) => put(
            out,
            format_args!("}}\n\n__rig::union!({name} by {tag:?} {{\n"),
        ),
        None => put(out, format_args!("}}\n\n__rig::union!({name} {{\n")),
    }
    for branch in &union.branches {
        put(out, format_args!("    {}", branch.name));
        if union.tag.is_some() {
            let tags: Vec<_> = branch.tags.iter().map(|tag| format!("{tag:?}")).collect();
            let gap = if tags.is_empty() { "" } else { " " };
            put(out, format_args!(" ={gap}{}", tags.join(" | ")));
        }
        out.push_str(",\n");
    }
    out.push_str("});\n");
}

/// A list whose first items have types of their own, and need not all be there.
fn list(out: &mut String, name: &str, items: &[Item], rest: Option<&Ty>, types: &Types) {
    let mut kinds = Vec::new();
    put(out, format_args!("{TRAITS}pub struct {name}(\n"));
    for (n, item) in items.iter().enumerate() {
        match &item.docs {
            Some(docs) => docs_comment(out, "    ", docs),
            None => put(out, format_args!("    /// Item {}.\n", n + 1)),
        }
        let ty = rust(&item.ty, types);
        if item.required {
            put(out, format_args!("    pub {ty},\n"));
        } else {
            put(out, format_args!("    pub ::core::option::Option<{ty}>,\n"));
        }
        kinds.push(if item.required {
            "required"
        } else {
            "optional"
        });
    }
    if let Some(rest) = rest {
        let ty = rust(rest, types);
        put(
            out,
            format_args!("    /// The items behind these.\n    pub ::std::vec::Vec<{ty}>,\n"),
        );
        kinds.push("rest");
    }
    let kinds: Vec<_> = kinds
        .iter()
        .enumerate()
        .map(|(n, kind)| format!("{n}: {kind}"))
        .collect();
    put(
        out,
        format_args!(");\n\n__rig::items!({name} {{ {} }});\n", kinds.join(", ")),
    );
}

fn shown(value: &Scalar) -> String {
    match value {
        Scalar::String(text) => format!("{text:?}"),
        Scalar::Integer(number) => format!("`{number}`"),
        Scalar::Number(bits) => format!("`{:?}`", f64::from_bits(*bits)),
        Scalar::Boolean(value) => format!("`{value}`"),
        Scalar::Null => "`null`".to_owned(),
    }
}

fn literal(value: &Scalar) -> String {
    match value {
        Scalar::String(text) => format!("String({text:?})"),
        Scalar::Integer(number) => format!("Integer({})", super::values::integer(number)),
        Scalar::Number(bits) => format!("Number({:?})", f64::from_bits(*bits)),
        Scalar::Boolean(value) => format!("Boolean({value})"),
        Scalar::Null => "Null".to_owned(),
    }
}

fn rust(ty: &Ty, types: &Types) -> String {
    match ty {
        Ty::String => "::std::string::String".to_owned(),
        Ty::Integer => "i64".to_owned(),
        Ty::Unsigned => "u64".to_owned(),
        Ty::Number => "f64".to_owned(),
        Ty::Boolean => "bool".to_owned(),
        Ty::Null => "()".to_owned(),
        Ty::Value => "__rig::Value".to_owned(),
        Ty::List(item) => format!("::std::vec::Vec<{}>", rust(item, types)),
        Ty::Map(value) => map_of(&rust(value, types)),
        Ty::Tuple(items) => {
            let items: Vec<_> = items.iter().map(|item| rust(item, types)).collect();
            let one = if items.len() == 1 { "," } else { "" };
            format!("({}{one})", items.join(", "))
        }
        Ty::Nullable(inner) => format!("::core::option::Option<{}>", rust(inner, types)),
        Ty::Boxed(inner) => format!("::std::boxed::Box<{}>", rust(inner, types)),
        Ty::Named(index) => types.defs[*index].name.clone(),
    }
}

fn map_of(value: &str) -> String {
    format!("::std::collections::BTreeMap<::std::string::String, {value}>")
}
