//! Writes the types that typify makes of a folder of schemas. This is the source of a scratch crate.

use std::panic::catch_unwind;

use schemars::schema::{RootSchema, Schema};
use serde_json::{Value, json};
use typify::{TypeSpace, TypeSpaceSettings};

fn main() {
    let folder = std::env::args().nth(1).expect("the folder of the schemas");
    for number in 0.. {
        let Ok(text) = std::fs::read_to_string(format!("{folder}/{number}.schema.json")) else {
            return;
        };
        let module = catch_unwind(|| module(&text)).unwrap_or_else(|_| Err("typify panics".to_owned()));
        let line = match module {
            Ok((module, root)) => {
                std::fs::write(format!("{folder}/{number}.rs"), module).expect("the folder is there");
                json!({ "number": number, "root": root })
            }
            Err(reason) => json!({ "number": number, "reason": reason }),
        };
        println!("{line}");
    }
}

fn module(text: &str) -> Result<(String, String), String> {
    let schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut schema: RootSchema = serde_json::from_value(schema).map_err(|error| error.to_string())?;
    schema.schema.metadata().title.get_or_insert_with(|| "Root".to_owned());
    let mut space = TypeSpace::new(&TypeSpaceSettings::default());
    space.add_ref_types(std::mem::take(&mut schema.definitions)).map_err(|error| error.to_string())?;
    let root = space.add_type(&Schema::Object(schema.schema)).map_err(|error| error.to_string())?;
    let root = space.get_type(&root).map_err(|error| error.to_string())?.ident().to_string();
    // The root may be a type of the standard library.
    let module = format!("{}\npub type JudgedRoot = {root};\n", space.to_stream());
    Ok((module, "JudgedRoot".to_owned()))
}
