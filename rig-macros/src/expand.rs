//! What stands in the place of the function?

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Path, Type};

use crate::compiled::{Compiled, Found};
use crate::signature::{self, Arguments, Function, compile_error, plain_name};

/// Expands the attribute. Whatever goes wrong becomes a compile error; nothing panics.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments: Arguments = match syn::parse2(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return error.to_compile_error(),
    };
    let function: Function = match syn::parse2(item) {
        Ok(function) => function,
        Err(error) => return error.to_compile_error(),
    };
    let at = arguments.route.span();
    let name = arguments.route.value();
    let compiled = match Compiled::open() {
        Ok(compiled) => compiled,
        Err(message) => return compile_error(at, &message),
    };
    match compiled.find(&name) {
        Ok(Found::Good { typed }) => good(&compiled, &name, &arguments.root, &function, typed),
        Ok(Found::Broken { findings, types }) => {
            broken(&compiled, &name, &arguments, &function, &findings, types)
        }
        Err(message) => compile_error(at, &message),
    }
}

fn good(
    compiled: &Compiled,
    route: &str,
    root: &Path,
    function: &Function,
    typed: bool,
) -> TokenStream {
    let Function {
        attributes,
        visibility,
        name,
        input,
        output,
    } = function;
    let docs = compiled.path(&format!("{route}.md"));
    let doubles = doubles(
        root,
        &quote!(#root::testing::Mock::new(&ROUTE)),
        &quote!(#root::testing::drill(&ROUTE).at_most(MAX_ATTEMPTS, MAX_WALL_CLOCK, MAX_COST)),
    );
    let file = format!("{route}.rs");
    let module = module(compiled, &file, route, root, function, &doubles);
    let exports = exports(function, typed);
    let same_schema = same_schema(root, name, output);
    quote! {
        #(#attributes)*
        #[doc = ""]
        #[doc = ::core::include_str!(#docs)]
        #visibility fn #name(input: #input) -> #root::Call<#output, #name::Variant> {
            #root::__private::call(&#name::ROUTE, input)
        }
        #same_schema
        #exports
        #module
    }
}

/// Fails to compile, at the output type, where that has another schema than the route. It is an item, since what
/// stands in a function is not evaluated by `cargo check`.
fn same_schema(root: &Path, name: &Ident, output: &Type) -> TokenStream {
    let at = output.span();
    let root = quote!(#root).into_iter().map(|mut token| {
        token.set_span(at);
        token
    });
    let root: TokenStream = root.collect();
    quote_spanned!(at=> const _: () = #root::__private::assert_schema::<#output>(&#name::ROUTE);)
}

/// Raises every finding, and keeps the types so that the rest of the crate is still checked.
fn broken(
    compiled: &Compiled,
    route: &str,
    arguments: &Arguments,
    function: &Function,
    findings: &[String],
    types: bool,
) -> TokenStream {
    let at = arguments.route.span();
    let errors: TokenStream = findings
        .iter()
        .map(|finding| compile_error(at, finding))
        .collect();
    if !types {
        return errors;
    }
    let Function {
        attributes,
        visibility,
        name,
        input,
        output,
    } = function;
    let root = &arguments.root;
    let none = quote!(::core::unreachable!("the route does not compile"));
    let doubles = doubles(root, &none, &none);
    let file = format!("{route}.types.rs");
    let module = module(compiled, &file, route, root, function, &doubles);
    let exports = exports(function, true);
    quote! {
        #errors
        #(#attributes)*
        #visibility fn #name(_: #input) -> #root::Call<#output, #name::Variant> {
            ::core::unreachable!("the route does not compile")
        }
        #exports
        #module
    }
}

/// What a user's tests are written with.
fn doubles(root: &Path, mock: &TokenStream, drill: &TokenStream) -> TokenStream {
    quote! {
        /// Returns a rig for tests: every candidate answers with what conforms to the schema, until the test says else.
        #[must_use]
        pub fn mock() -> #root::testing::Mock {
            #mock
        }

        /// Lets every candidate fail with every class, and returns what the route does then.
        #[must_use]
        pub fn drill() -> #root::testing::Drill {
            #drill
        }
    }
}

/// The module that holds what was generated. Its one `allow` is for what no care in the generator can know: which
/// fields a binary reads, and how the author's names and words read together.
fn module(
    compiled: &Compiled,
    file: &str,
    route: &str,
    root: &Path,
    function: &Function,
    doubles: &TokenStream,
) -> TokenStream {
    let Function {
        visibility, name, ..
    } = function;
    let path = compiled.path(file);
    let output = compiled
        .output_types(route)
        .filter(|_| defines_output(function))
        .map(|path| quote!(::core::include!(#path);));
    let docs = format!("The types and the table of the route `{route}`.");
    quote! {
        #[doc = #docs]
        #[allow(
            dead_code, unreachable_pub, unused_qualifications,
            clippy::doc_markdown, clippy::enum_variant_names, clippy::module_name_repetitions,
            clippy::pub_underscore_fields, clippy::struct_field_names
        )]
        #visibility mod #name {
            use #root::__private as __rig;
            #output
            ::core::include!(#path);
            #doubles
        }
    }
}

/// Returns whether the route's own module has to define its output types: not where the signature names those of
/// another route by a path, which share the schema.
fn defines_output(function: &Function) -> bool {
    match signature::output(&function.output) {
        Type::Path(path) if path.path.segments.len() > 1 => {
            let mut segments = path.path.segments.iter();
            segments.any(|segment| segment.ident == function.name)
        }
        _ => true,
    }
}

/// Re-exports the types that the signature names plainly. A path (`self::Summary`) says that the type comes from
/// elsewhere.
fn exports(function: &Function, typed: bool) -> TokenStream {
    let Function {
        visibility,
        name,
        input,
        output,
        ..
    } = function;
    let output: Option<&Ident> = plain_name(signature::output(output)).filter(|_| typed);
    let names: Vec<&Ident> = [plain_name(input), output].into_iter().flatten().collect();
    if names.is_empty() {
        return TokenStream::new();
    }
    quote!(#visibility use self::#name::{#(#names),*};)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_that_names_anothers_output_defines_none() {
        let cases = [
            ("Headline", true),
            ("rig::Turn<Headline>", true),
            ("headline::Headline", true),
            ("self::headline::Headline", true),
            ("self::Summary", false),
            ("summarize::Summary", false),
            ("rig::Turn<summarize::Summary>", false),
        ];
        for (output, defines) in cases {
            let text = format!("async fn headline(input: HeadlineInput) -> rig::Result<{output}>;");
            let function = syn::parse_str(&text).expect("it is a route's function");
            assert_eq!(defines_output(&function), defines, "{output}");
        }
    }
}
