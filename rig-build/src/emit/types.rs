//! The types of a route: its input struct, its variants, and what its schema lets through.

use super::{docs_comment, put};
use crate::ast::VariableKind;
use crate::check::Input;
use crate::names::{escaped, pascal};
use crate::schema::types::{Def, Field, Rest, Scalar, Shape, Ty, Types, Variant};

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

/// Returns the types of a route.
pub(crate) fn types(source: &Source<'_>) -> String {
    let mut out = String::new();
    input(&mut out, source);
    if let Some((types, hash)) = source.output {
        output(&mut out, types, hash);
    }
    variants(&mut out, source);
    out
}

fn output(out: &mut String, types: &Types, hash: u64) {
    for def in &types.defs {
        out.push('\n');
        define(out, def, types);
    }
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

const SERDE: &str = "#[serde(crate = \"__rig::serde\")]\n";

fn input(out: &mut String, source: &Source<'_>) {
    let (route, name) = (source.route, source.input_name);
    put(
        out,
        format_args!("/// What the prompt of `{route}` needs.\n"),
    );
    put(
        out,
        format_args!("#[derive(Clone, Debug, PartialEq, __rig::Serialize)]\n{SERDE}"),
    );
    if source.input.is_empty() {
        put(out, format_args!("pub struct {name} {{}}\n"));
        return;
    }
    put(out, format_args!("pub struct {name} {{\n"));
    for field in source.input {
        let key = &field.key;
        put(out, format_args!("    /// The variable `{key}`.\n"));
        rename(out, &field.name, key);
        let ty = match field.kind {
            VariableKind::String => "::std::string::String",
            VariableKind::Json => "__rig::Value",
            VariableKind::Integer => "i64",
            VariableKind::Number => "f64",
            VariableKind::Boolean => "bool",
        };
        let ty = if field.optional {
            format!("::core::option::Option<{ty}>")
        } else {
            ty.to_owned()
        };
        put(
            out,
            format_args!("    pub {}: {ty},\n", escaped(&field.name)),
        );
    }
    out.push_str("}\n");
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
        Shape::Enum(variants) => strings(out, name, variants),
        Shape::Scalars(variants) => scalars(out, name, variants),
        Shape::Newtype(ty) => {
            derive(out, "", "#[serde(transparent)]\n");
            put(
                out,
                format_args!(
                    "pub struct {name}(\n    /// The value.\n    pub {},\n);\n",
                    rust(ty, types)
                ),
            );
        }
        Shape::Open => {}
    }
}

fn derive(out: &mut String, more: &str, serde: &str) {
    put(
        out,
        format_args!(
            "#[derive(Clone, {more}Debug, PartialEq, __rig::Serialize, __rig::Deserialize)]\n"
        ),
    );
    out.push_str(SERDE);
    out.push_str(serde);
}

fn structure(out: &mut String, name: &str, fields: &[Field], rest: Option<&Rest>, types: &Types) {
    derive(
        out,
        "",
        if rest.is_none() {
            "#[serde(deny_unknown_fields)]\n"
        } else {
            ""
        },
    );
    if fields.is_empty() && rest.is_none() {
        put(out, format_args!("pub struct {name} {{}}\n"));
        return;
    }
    put(out, format_args!("pub struct {name} {{\n"));
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
        rename(out, &field.name, &field.key);
        let ty = rust(&field.ty, types);
        let ty = if field.required {
            ty
        } else {
            optional(out, field, ty)
        };
        put(
            out,
            format_args!("    pub {}: {ty},\n", escaped(&field.name)),
        );
    }
    if let Some(rest) = rest {
        let ty = rust(&rest.ty, types);
        out.push_str(
            "    /// The properties that the schema does not list.\n    #[serde(flatten)]\n",
        );
        put(
            out,
            format_args!("    pub {}: {},\n", escaped(&rest.name), map_of(&ty)),
        );
    }
    out.push_str("}\n");
}

/// An absent property stays absent: `None` is "not there", and null, where the schema takes it, is a value.
fn optional(out: &mut String, field: &Field, ty: String) -> String {
    let may_be_null = matches!(
        field.ty,
        Ty::Nullable(_) | Ty::Value | Ty::Null | Ty::Named(_)
    );
    out.push_str("    #[serde(default, skip_serializing_if = \"::core::option::Option::is_none\"");
    if may_be_null {
        out.push_str(", deserialize_with = \"__rig::present\"");
    }
    out.push_str(")]\n");
    format!("::core::option::Option<{ty}>")
}

fn rename(out: &mut String, name: &str, key: &str) {
    let written = escaped(name);
    if written.trim_start_matches("r#") != key {
        put(out, format_args!("    #[serde(rename = {key:?})]\n"));
    }
}

fn strings(out: &mut String, name: &str, variants: &[Variant<String>]) {
    derive(out, "Copy, Eq, Hash, ", "");
    put(out, format_args!("pub enum {name} {{\n"));
    for variant in variants {
        docs_comment(out, "    ", &format!("The value {:?}.", variant.value));
        if variant.name != variant.value {
            put(
                out,
                format_args!("    #[serde(rename = {:?})]\n", variant.value),
            );
        }
        put(out, format_args!("    {},\n", variant.name));
    }
    out.push_str("}\n");
}

/// An enum whose values are of several kinds says itself how it is read and written.
fn scalars(out: &mut String, name: &str, variants: &[Variant<Scalar>]) {
    put(
        out,
        format_args!("#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub enum {name} {{\n"),
    );
    for variant in variants {
        docs_comment(
            out,
            "    ",
            &format!("The value {}.", shown(&variant.value)),
        );
        put(out, format_args!("    {},\n", variant.name));
    }
    out.push_str("}\n");
    put(
        out,
        format_args!("\nimpl __rig::ScalarEnum for {name} {{\n"),
    );
    put(
        out,
        format_args!("    const VALUES: &'static [(Self, __rig::Scalar)] = &[\n"),
    );
    for variant in variants {
        put(
            out,
            format_args!(
                "        (Self::{}, __rig::Scalar::{}),\n",
                variant.name,
                literal(&variant.value)
            ),
        );
    }
    out.push_str("    ];\n}\n");
    put(out, format_args!("\nimpl __rig::Serialize for {name} {{\n"));
    out.push_str("    fn serialize<S: __rig::serde::Serializer>(&self, serializer: S) -> ::core::result::Result<S::Ok, S::Error> {\n");
    out.push_str("        __rig::serialize_scalar(self, serializer)\n    }\n}\n");
    put(
        out,
        format_args!("\nimpl<'de> __rig::Deserialize<'de> for {name} {{\n"),
    );
    out.push_str("    fn deserialize<D: __rig::serde::Deserializer<'de>>(deserializer: D) -> ::core::result::Result<Self, D::Error> {\n");
    out.push_str("        __rig::deserialize_scalar(deserializer)\n    }\n}\n");
}

fn shown(value: &Scalar) -> String {
    match value {
        Scalar::String(text) => format!("{text:?}"),
        Scalar::Integer(number) => format!("`{number}`"),
        Scalar::Boolean(value) => format!("`{value}`"),
        Scalar::Null => "`null`".to_owned(),
    }
}

fn literal(value: &Scalar) -> String {
    match value {
        Scalar::String(text) => format!("String({text:?})"),
        Scalar::Integer(number) => format!("Integer({})", super::values::integer(number)),
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
        Ty::Nullable(inner) => format!("::core::option::Option<{}>", rust(inner, types)),
        Ty::Boxed(inner) => format!("::std::boxed::Box<{}>", rust(inner, types)),
        Ty::Named(index) => types.defs[*index].name.clone(),
    }
}

fn map_of(value: &str) -> String {
    format!("::std::collections::BTreeMap<::std::string::String, {value}>")
}
