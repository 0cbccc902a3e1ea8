//! `cargo rig expand`: what is generated for a route?

use std::path::PathBuf;

use rig_build::compile_dir;

use crate::output::{Exit, Output, Result, Stop};
use crate::routes;

/// What `cargo rig expand` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The route.
    route: String,
    /// The folder of the routes [default: `routes` here or in the nearest folder above].
    #[arg(long, value_name = "DIR")]
    routes: Option<PathBuf>,
}

/// Prints the generated module, formatted.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let routes = routes::find(arguments.routes.as_deref())?;
    let compilation = compile_dir(&routes.dir, &routes.shown);
    let name = &arguments.route;
    let found = compilation.routes.iter().find(|route| route.name == *name);
    let Some(route) = found else {
        let names: Vec<_> = compilation
            .routes
            .iter()
            .map(|route| route.name.as_str())
            .collect();
        let help = match names.as_slice() {
            [] => format!("`{}` has none", routes.shown),
            names => format!("`{}` has {}", routes.shown, names.join(", ")),
        };
        return Err(Stop::new(format!("there is no route `{name}`")).help(help));
    };
    let Some(text) = route.expanded() else {
        for finding in &route.findings {
            output.print(&format!("{}\n", finding.coloured()))?;
        }
        return Err(Stop::new(format!("the route `{name}` has errors")));
    };
    output.print(&formatted(&text))?;
    Ok(Exit::Good)
}

/// Returns Rust as prettyplease sets it; what it cannot read stays as it is.
fn formatted(text: &str) -> String {
    match syn::parse_file(text) {
        Ok(file) => prettyplease::unparse(&file),
        Err(_) => text.to_owned(),
    }
}
