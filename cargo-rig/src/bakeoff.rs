//! `cargo rig bakeoff`: which variant answers as well for less?
//!
//! Captured traffic is replayed through the variants of a route, trial candidates included. It measures and proposes
//! (contract W4), and edits no route.

pub(crate) mod artifact;
pub(crate) mod expect;
pub(crate) mod measure;
pub(crate) mod progress;
pub(crate) mod show;
pub(crate) mod work;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rig_runtime::Rig;
use rig_runtime::replay::DEFAULT;
use rig_runtime::store::Capture;
use rig_spec::{TrialRoute, Usd};
use uuid::Uuid;

use self::artifact::{Artifact, Header, Log, SCHEMA};
use self::expect::Expected;
use self::progress::Progress;
use self::work::{Bench, gone, work};
use crate::output::{Exit, Output, Result, Stop, say};
use crate::place::{Place, block_on, now};
use crate::routes;

/// What `cargo rig bakeoff` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The route whose captures are replayed.
    route: String,
    /// The variants, the incumbent first: `default` is the route itself, `provider/model` one declared candidate alone.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAMES",
        required_unless_present = "resume"
    )]
    variants: Option<Vec<String>>,
    /// How many captures, the newest.
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    last: usize,
    /// The most that all of it may cost; each variant has an equal share.
    #[arg(long, value_name = "USD", value_parser = dollars, required_unless_present = "resume")]
    budget_usd: Option<Usd>,
    /// How many runs are under way at once.
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,
    /// A file of expected outputs.
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// Go on with the route's newest bake-off, or that of `--artifact`.
    #[arg(long)]
    resume: bool,
    /// Ask again what was under way when the bake-off was cut off. It may be paid for twice.
    #[arg(long, requires = "resume")]
    ask_again: bool,
    /// Where every sample is written; `bakeoffs/<id>.jsonl` beside the database where it is not said.
    #[arg(long, value_name = "FILE")]
    artifact: Option<PathBuf>,
    /// The folder of the routes [default: `routes` here or in the nearest folder above].
    #[arg(long, value_name = "PATH")]
    routes: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Replays, measures, prints; a partial result is an exit code of 1.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let route = load(arguments.routes.as_deref(), &arguments.route)?;
    let rig = arguments.place.open()?;
    let (log, path, expected) = block_on(done(arguments, rig, route))??;
    let measured = measure::measure(&log, &expected);
    let path = path.display().to_string();
    if arguments.json {
        output.json(&show::document(&log, &measured, &path))?;
    } else {
        let width = output.width();
        output.print(&show::matrix(&log, &measured, width))?;
        say(&format!("every sample: {path}\n"));
    }
    let is_partial = measured.iter().any(|one| one.partial.is_some());
    Ok(if is_partial { Exit::Found } else { Exit::Good })
}

/// Does the work, and returns what came of it, where that is written, and what is expected of each capture.
async fn done(
    arguments: &Arguments,
    rig: Rig,
    route: &'static TrialRoute,
) -> Result<(Log, PathBuf, BTreeMap<String, Expected>)> {
    let all = rig.captures(route.name()).await;
    let all = all.map_err(|error| Stop::new(error.to_string()))?;
    let mut artifact = if arguments.resume {
        resumed(arguments, route)?
    } else {
        begun(arguments, route, &all)?
    };
    let wanted = &artifact.log.header.captures;
    let by_id: BTreeMap<_, _> = all
        .into_iter()
        .map(|capture| (capture.id.clone(), capture))
        .collect();
    let captures = wanted
        .iter()
        .map(|id| by_id.get(id).cloned().ok_or_else(|| gone(id)));
    let captures = captures.collect::<Result<Vec<_>>>()?;
    let shared = captures
        .iter()
        .map(|capture| (capture.id.clone(), Arc::new(capture.clone())));
    // Whatever is wrong with it is said before anything is paid for.
    let expected = match &arguments.expect {
        Some(file) => expect::read(file, &captures)?,
        None => BTreeMap::new(),
    };
    let bench = Bench {
        rig,
        route,
        kind: "bakeoff",
        id: artifact.log.header.id.clone(),
        cap: Usd::nanos(artifact.log.header.cap_nanousd),
    };
    let progress = Progress::new(&artifact.log);
    let at_once = usize::from(arguments.concurrency);
    let worked = work(&bench, &shared.collect(), &mut artifact, at_once, &progress).await;
    progress.end();
    worked?;
    Ok((
        artifact.log.clone(),
        artifact.path().to_path_buf(),
        expected,
    ))
}

/// Begins a bake-off with the newest captures.
fn begun(arguments: &Arguments, route: &TrialRoute, all: &[Capture]) -> Result<Artifact> {
    let variants = arguments.variants.clone().unwrap_or_default();
    known(route, &variants)?;
    let captures = newest(route.name(), all, arguments.last)?;
    let count = u64::try_from(variants.len()).unwrap_or(u64::MAX).max(1);
    let budget = arguments.budget_usd.unwrap_or_default();
    let header = Header {
        schema: SCHEMA,
        id: fresh_id(),
        route: route.name().to_owned(),
        route_version: route.version(),
        fingerprint: fingerprint(route),
        variants,
        captures: captures.iter().map(|capture| capture.id.clone()).collect(),
        cap_nanousd: budget.as_nanos() / count,
        started_ms: now(),
    };
    let path = match &arguments.artifact {
        Some(path) => path.clone(),
        None => arguments
            .place
            .beside(FOLDER)
            .join(format!("{}.jsonl", header.id)),
    };
    Artifact::create(&path, header)
}

/// The folder of the artifacts.
const FOLDER: &str = "bakeoffs";

/// Goes on with a bake-off, if it is still the same.
fn resumed(arguments: &Arguments, route: &TrialRoute) -> Result<Artifact> {
    let path = match &arguments.artifact {
        Some(path) => path.clone(),
        None => {
            let folder = arguments.place.beside(FOLDER);
            artifact::newest(&folder, route.name()).ok_or_else(|| {
                let (shown, name) = (folder.display(), route.name());
                Stop::new(format!("`{shown}` has no bake-off of route `{name}`"))
            })?
        }
    };
    let mut artifact = Artifact::open(&path)?;
    let header = &artifact.log.header;
    if header.route != route.name() || header.fingerprint != fingerprint(route) {
        let message = format!(
            "route `{}` is not what it was when `{}` began",
            route.name(),
            path.display()
        );
        return Err(Stop::new(message).help("begin a new bake-off, or restore the route"));
    }
    let count = header.variants.len() as u64;
    let other_cap = |budget: Usd| budget.as_nanos() / count.max(1) != header.cap_nanousd;
    if arguments
        .variants
        .as_ref()
        .is_some_and(|names| *names != header.variants)
        || arguments.budget_usd.is_some_and(other_cap)
    {
        let message = format!(
            "`{}` began with `--variants {}` and {} for each",
            path.display(),
            header.variants.join(","),
            Usd::nanos(header.cap_nanousd)
        );
        return Err(Stop::new(message)
            .help("an envelope is never resized: resume it as it began, or begin a new one"));
    }
    if arguments.ask_again {
        artifact.log.open.clear();
    }
    Ok(artifact)
}

/// Loads a route with its trial candidates.
pub(crate) fn load(folder: Option<&Path>, name: &str) -> Result<&'static TrialRoute> {
    let routes = routes::find(folder)?;
    let (compilation, loaded) = rig_build::load_dir(&routes.dir, &routes.shown);
    let found = loaded.iter().find(|loaded| loaded.route.name == name);
    if let Some(found) = found {
        return Ok(found.trial);
    }
    if compilation.routes.iter().any(|route| route.name == name)
        || !compilation.directory.is_empty()
    {
        let message = format!("route `{name}` has errors");
        return Err(Stop::new(message).help("`cargo rig check` prints them"));
    }
    let names: Vec<_> = loaded
        .iter()
        .map(|loaded| format!("`{}`", loaded.route.name))
        .collect();
    let message = format!("`{}` has no route `{name}`", routes.shown);
    Err(Stop::new(message).help(format!("there are {}", names.join(", "))))
}

/// Refuses variants that the route has not, and those that are named twice.
pub(crate) fn known(route: &TrialRoute, names: &[String]) -> Result<()> {
    let mut all = vec![DEFAULT];
    all.extend(route.variants());
    for (at, name) in names.iter().enumerate() {
        if !all.contains(&name.as_str()) {
            let message = format!(
                "route `{}` has no variant `{name}` that could serve",
                route.name()
            );
            return Err(Stop::new(message).help(format!("there are `{}`", all.join("`, `"))));
        }
        if names[..at].contains(name) {
            return Err(Stop::new(format!("the variant `{name}` is named twice")));
        }
    }
    Ok(())
}

/// Returns the newest captures, oldest first.
pub(crate) fn newest<'a>(route: &str, all: &'a [Capture], last: usize) -> Result<&'a [Capture]> {
    let captures = &all[all.len().saturating_sub(last)..];
    if captures.is_empty() {
        return Err(Stop::new(format!("nothing is captured of route `{route}`"))
            .help("write `capture: true` into the route, and let calls be served"));
    }
    Ok(captures)
}

/// Returns an id that begins with the time, in hexadecimal.
pub(crate) fn fresh_id() -> String {
    let id = Uuid::now_v7().simple().to_string();
    format!("{}{}", &id[..12], &id[28..])
}

/// Reads an amount.
pub(crate) fn dollars(text: &str) -> std::result::Result<Usd, String> {
    let amount = Usd::from_decimal(text.trim_start_matches('$'));
    amount.ok_or_else(|| "an amount is a number of dollars, e.g. `5` or `0.25`".to_owned())
}

/// Returns a hash (FNV-1a, 64 bits) of all that a route says.
fn fingerprint(route: &TrialRoute) -> String {
    let hash = format!("{route:?}")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
    format!("{hash:016x}")
}
