//! `cargo rig explain`: what would a call of a route do, or what does a finding mean?

mod page;
mod pages;

use std::path::PathBuf;

use rig_build::{CompiledRoute, Explained, compile_dir};
use rig_spec::Narrowing;

use crate::output::{Exit, Output, Result, Stop, variable};
use crate::routes;

/// What `cargo rig explain` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A route, the code of a check, or a failure class.
    name: String,
    /// The variant that the call names.
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// As a call with `.zero_retention()`.
    #[arg(long)]
    zero_retention: bool,
    /// As a call with `.providers_only([…])`; may be repeated.
    #[arg(long, value_name = "PROVIDER")]
    only: Vec<String>,
    /// As a call with `.providers_ignore([…])`; may be repeated.
    #[arg(long, value_name = "PROVIDER")]
    ignore: Vec<String>,
    /// The folder of the routes [default: `routes` here or in the nearest folder above].
    #[arg(long, value_name = "DIR")]
    routes: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Prints the page of a route, of a check, or of a failure class.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let found = routes::find(arguments.routes.as_deref());
    let page = pages::page(&arguments.name);
    let compilation = found
        .as_ref()
        .ok()
        .map(|routes| compile_dir(&routes.dir, &routes.shown));
    let routes = compilation
        .as_ref()
        .map(|compilation| compilation.routes.as_slice());
    let routes = routes.unwrap_or_default();
    let route = routes.iter().find(|route| route.name == arguments.name);
    let Some(route) = route else {
        return match (page, found) {
            (Some(page), _) => {
                output.print(&page)?;
                Ok(Exit::Good)
            }
            (None, Err(stop)) => Err(stop),
            (None, Ok(_)) => Err(unknown(&arguments.name, routes)),
        };
    };
    let explained = explained(route, arguments, output)?;
    let here = Here::of(&explained);
    if arguments.json {
        output.json(&page::document(&explained, &here))?;
    } else {
        let width = output.width();
        output.print(&page::text(&explained, &here, width))?;
    }
    Ok(match explained.candidates.as_slice() {
        [] => Exit::Found,
        _ => Exit::Good,
    })
}

fn explained(
    route: &CompiledRoute,
    arguments: &Arguments,
    output: &mut Output,
) -> Result<Explained> {
    let narrowing = Narrowing {
        only: Some(arguments.only.clone()).filter(|only| !only.is_empty()),
        ignore: arguments.ignore.clone(),
        zero_retention: arguments.zero_retention,
        max_price: None,
    };
    let variant = arguments
        .variant
        .as_deref()
        .filter(|variant| *variant != "default");
    if let Some(explained) = route.explain(variant, &narrowing) {
        return Ok(explained);
    }
    if route.is_broken() {
        for finding in &route.findings {
            output.print(&format!("{}\n", finding.coloured()))?;
        }
        return Err(Stop::new(format!("the route `{}` has errors", route.name)));
    }
    let known = route.variants().join("`, `");
    let help = match known.as_str() {
        "" => "it has none".to_owned(),
        known => format!("it has `{known}`"),
    };
    let variant = variant.unwrap_or_default();
    Err(Stop::new(format!(
        "the route `{}` has no variant `{variant}`",
        route.name
    ))
    .help(help))
}

/// Says that there is no such name, with the one that was probably meant.
fn unknown(name: &str, routes: &[CompiledRoute]) -> Stop {
    let mut names: Vec<&str> = routes.iter().map(|route| route.name.as_str()).collect();
    names.extend(pages::names().map(|name| -> &str { name }));
    let stop = Stop::new(format!(
        "there is no route, check or failure class `{name}`"
    ));
    let nearest = names
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .min()
        .filter(|(distance, _)| *distance <= name.chars().count().div_ceil(3));
    match nearest {
        Some((_, known)) => stop.help(format!("did you mean `{known}`?")),
        None => stop.help("`cargo rig check` lists what is found in the routes, with its codes"),
    }
}

/// What the environment of this command says to a route.
pub(crate) struct Here {
    /// For each candidate the variable that it lacks, if it is keyless here.
    keyless: Vec<Option<String>>,
    /// For each candidate the address that the environment gives it.
    addresses: Vec<Option<String>>,
    /// The variable of the search provider that is not set.
    search: Option<String>,
}

impl Here {
    fn of(explained: &Explained) -> Self {
        // A key is trimmed, and an empty one is none (R5).
        let missing = |name: &String| variable(name).is_none_or(|key| key.trim().is_empty());
        let lacks = |name: &Option<String>| name.clone().filter(missing);
        let search = explained.search.as_ref();
        let search = search.and_then(|search| lacks(&search.key_env));
        let rungs = &explained.candidates;
        Self {
            // Who needs a search that has no key is skipped as keyless candidates are.
            keyless: rungs
                .iter()
                .map(|rung| {
                    lacks(&rung.key_env).or_else(|| search.clone().filter(|_| rung.is_searched_for))
                })
                .collect(),
            addresses: rungs
                .iter()
                .map(|rung| variable(&rung.base_url_env))
                .collect(),
            search,
        }
    }
}
