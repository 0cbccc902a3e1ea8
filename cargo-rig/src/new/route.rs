//! What does a first route look like?

use rig_build::{escaped, pascal, snake};

use crate::output::{Result, Stop};

/// Names that every Rust file has already.
const TAKEN: [&str; 12] = [
    "Box", "Clone", "Default", "Err", "None", "Ok", "Option", "Result", "Send", "Some", "String",
    "Vec",
];

/// A route that is to be written.
pub(super) struct NewRoute<'a> {
    name: &'a str,
    /// The output type.
    output: String,
}

impl<'a> NewRoute<'a> {
    /// Returns the route of this name.
    pub(super) fn named(name: &'a str) -> Result<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
        if !starts || !name.chars().all(plain) || name.len() > 100 {
            return Err(Stop::new(format!("`{name}` cannot name a route")).help(
                "start with a letter, and use only `a-z A-Z 0-9 . _ -`, at most 100 of them",
            ));
        }
        let mut output = pascal(name);
        if TAKEN.contains(&output.as_str()) {
            output += "Answer";
        }
        Ok(Self { name, output })
    }

    /// Returns the route's name.
    pub(super) const fn name(&self) -> &str {
        self.name
    }

    /// Returns the files of the route, by their paths from the crate's root.
    pub(super) fn files(&self, folder: &str) -> Vec<(String, String)> {
        let (name, title) = (self.name, &self.output);
        let route = format!(
            "route: {name}
version: 1
schema: ./{name}.schema.json
candidates:
  - {{ provider: openai, model: gpt-5.4-mini }}
  - {{ provider: anthropic, model: claude-haiku-4-5 }}
prompt:
  system: ./{name}.md
  variables: [article]
policy:
  retries: {{ content_invalid: 1, network: 2 }}
  timeout_ms: 30000
  sampling: {{ max_output_tokens: 1024 }}
repair: {{ max_repairs: 1 }}
"
        );
        let prompt = "Write a headline for this article, and say how sure you are that it fits (0 to 1).\n\n{{article}}\n";
        let schema = format!(
            r#"{{
  "title": "{title}",
  "type": "object",
  "properties": {{
    "text": {{ "type": "string", "description": "At most ten words." }},
    "confidence": {{ "type": "number", "description": "0 to 1." }}
  }},
  "required": ["text", "confidence"],
  "additionalProperties": false
}}
"#
        );
        let path = |end: &str| format!("{folder}/{name}.{end}");
        vec![
            (path("yaml"), route),
            (path("md"), prompt.to_owned()),
            (path("schema.json"), schema),
        ]
    }

    /// Returns the function that binds the route, and a program around it where the crate is one. `root` is the name under
    /// which the crate sees the facade.
    pub(super) fn code(&self, root: &str, is_program: bool) -> String {
        let (name, output) = (self.name, &self.output);
        let function = escaped(&snake(name));
        let input = format!("{}Input", pascal(name));
        let attribute = match root {
            "rig" => format!("#[rig::route(\"{name}\")]"),
            root => format!("#[{root}::route(\"{name}\", crate = {root})]"),
        };
        let binding = format!(
            "/// Writes a headline.\n{attribute}\npub async fn {function}(input: {input}) -> {root}::Result<{output}>;\n"
        );
        if !is_program {
            return binding;
        }
        format!(
            "{binding}
#[tokio::main]
async fn main() -> {root}::Result<()> {{
    let article = \"The bakery on Main Street has won the county's bread prize for the third year.\";
    let headline = {function}({input} {{ article: article.to_owned() }}).await?;
    println!(\"{{}} ({{:.0}} %)\", headline.text, headline.confidence * 100.0);
    Ok(())
}}
"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the name, the files compile without a finding.
    #[test]
    fn every_name_makes_a_route_that_compiles() {
        for name in [
            "headline",
            "my-task.v2",
            "type",
            "Option",
            "a",
            "self",
            "x_1-2",
        ] {
            let folder = tempfile::tempdir().unwrap();
            for (path, text) in NewRoute::named(name).unwrap().files("routes") {
                let path = folder.path().join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            let compilation = rig_build::compile_dir(&folder.path().join("routes"), "routes");
            let [route] = compilation.routes.as_slice() else {
                panic!("{compilation:?}")
            };
            assert!(
                route.findings.is_empty() && compilation.directory.is_empty(),
                "{compilation:?}"
            );
            assert_eq!(route.name, name);
            let code = NewRoute::named(name).unwrap().code("rig", true);
            let shown = route.expanded().unwrap();
            assert!(
                syn::parse_file(&code.replace(">;", "> { loop {} }")).is_ok(),
                "{code}"
            );
            for part in [
                pascal(name) + "Input",
                NewRoute::named(name).unwrap().output,
            ] {
                assert!(
                    shown.contains(&format!("pub struct {part} ")) && code.contains(&part),
                    "{part}: {shown}"
                );
            }
        }
        for name in ["", "1a", "ä", "a/b", "a b"] {
            assert!(NewRoute::named(name).is_err(), "{name}");
        }
    }
}
