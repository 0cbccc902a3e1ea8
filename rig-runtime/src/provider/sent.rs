//! What a request held that its response may quote, or be about.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::key::Key;
use crate::render;

/// The private parts of a request. A message about its response holds none of them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sent<'a> {
    /// The key.
    pub(crate) key: Option<&'a Key>,
    /// The caller's cache handle; empty where its name is not known. Without one no response is `cache_invalid`.
    pub(crate) handle: Option<&'a str>,
    /// The variables of the prompt.
    pub(crate) variables: Option<&'a Map<String, Value>>,
    /// Texts that are private as a whole.
    pub(crate) texts: &'a [&'a str],
}

impl<'a> Sent<'a> {
    /// Returns every private text: the variables as they are rendered, the strings within them, and the further texts.
    pub(super) fn private(&self) -> Vec<Cow<'a, str>> {
        let mut texts: Vec<Cow<'a, str>> = self.texts.iter().map(|text| (*text).into()).collect();
        for value in self.variables.into_iter().flat_map(Map::values) {
            texts.push(render::written(value));
            if !value.is_string() {
                strings(value, &mut texts);
            }
        }
        texts
    }
}

/// Adds the strings within a value.
fn strings<'a>(value: &'a Value, texts: &mut Vec<Cow<'a, str>>) {
    match value {
        Value::String(text) => texts.push(text.into()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, texts)),
        Value::Object(members) => members.values().for_each(|member| strings(member, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
