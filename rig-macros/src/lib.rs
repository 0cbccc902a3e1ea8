//! How does a function become a route's call?
//!
//! `#[rig::route("name")]` on a bodiless `async fn` finds what the build script compiled for that route and puts it
//! beside the function. There is no compiler in here: the macro reads an index, includes a file, and raises what
//! the build script found at the route's name.

mod compiled;
mod expand;
mod signature;

use proc_macro::TokenStream;

/// Binds a function to a compiled route.
///
/// ```text
/// #[rig::route("summarize")]
/// pub async fn summarize(input: SummarizeInput) -> rig::Result<Summary>;
/// ```
///
/// The function has no body, one parameter and returns `rig::Result` of the route's output type. What stands in
/// its place afterwards:
///
/// * `fn summarize(input: SummarizeInput) -> rig::Call<Summary, summarize::Variant>`, which runs when it is awaited;
/// * `mod summarize` with every type of the route, `Variant` and `ROUTE`;
/// * `SummarizeInput` and `Summary`, re-exported beside the function.
///
/// A route with tools returns `rig::Result<rig::Turn<Summary>>`.
///
/// A crate that knows `modelrig` by another name than `rig` says so: `#[modelrig::route("x", crate = modelrig)]`.
#[proc_macro_attribute]
pub fn route(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(arguments.into(), item.into()).into()
}
