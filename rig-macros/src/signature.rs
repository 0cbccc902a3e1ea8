//! Is the function one that a route can be bound to?

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, GenericArgument, Ident, LitStr, Path, PathArguments, ReturnType, Signature,
    Token, Type, Visibility, token,
};

/// What stands in the attribute's parentheses.
pub(crate) struct Arguments {
    /// The route's name.
    pub(crate) route: LitStr,
    /// The path of the crate `modelrig`.
    pub(crate) root: Path,
}

/// The function below the attribute.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) input: Type,
    pub(crate) output: Type,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            let help = "write `#[rig::route(\"my-task\")]`";
            return Err(fault(
                Span::call_site(),
                "the attribute does not name its route",
                help,
            ));
        }
        let route = input.parse().map_err(|error| {
            let help = "write `#[rig::route(\"my-task\")]`";
            fault(error.span(), "a route's name is a string", help)
        })?;
        let mut root = syn::parse_quote!(::rig);
        if input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let key = Ident::parse_any(input)?;
            if key != "crate" {
                let help = "remove it, or write `crate = …` with the name that this crate has here";
                return Err(fault(
                    key.span(),
                    "the only further argument is `crate`",
                    help,
                ));
            }
            input.parse::<Token![=]>()?;
            let path = input.call(Path::parse_mod_style)?;
            root = if path.leading_colon.is_some() || path.segments[0].ident == "crate" {
                path
            } else {
                syn::parse_quote!(::#path)
            };
            input.parse::<Option<Token![,]>>()?;
        }
        if !input.is_empty() {
            let help = "remove what follows";
            return Err(fault(input.span(), "the attribute ends here", help));
        }
        Ok(Self { route, root })
    }
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature: Signature = input.parse().map_err(|error| {
            let help = "write `async fn my_task(input: MyTaskInput) -> rig::Result<MyTask>;`";
            let message = format!("`#[rig::route]` goes on a bodiless `async fn`: {error}");
            fault(error.span(), &message, help)
        })?;
        if input.peek(token::Brace) {
            let body = input.parse::<proc_macro2::Group>()?;
            return Err(fault(
                body.span(),
                "a route function has no body",
                "end the signature with `;`",
            ));
        }
        input.parse::<Token![;]>()?;
        let (argument, output) = shape(&signature)?;
        Ok(Self {
            attributes,
            visibility,
            name: signature.ident,
            input: argument,
            output,
        })
    }
}

/// Returns the types of the parameter and of the answer.
fn shape(signature: &Signature) -> syn::Result<(Type, Type)> {
    if signature.asyncness.is_none() {
        let help = format!("write `async fn {}`", signature.ident);
        return Err(fault(
            signature.fn_token.span,
            "a route function is `async`",
            &help,
        ));
    }
    if !signature.generics.params.is_empty() {
        let help = "the route's file decides its types; remove the generics";
        return Err(fault(
            signature.generics.span(),
            "a route function is not generic",
            help,
        ));
    }
    let argument = match signature.inputs.iter().collect::<Vec<_>>().as_slice() {
        [FnArg::Typed(argument)] => argument.ty.as_ref().clone(),
        [] => {
            let help = format!(
                "write `{}(input: {}Input)`",
                signature.ident,
                pascal(&signature.ident)
            );
            return Err(fault(
                signature.paren_token.span.join(),
                "a route function has one parameter, the input",
                &help,
            ));
        }
        [FnArg::Receiver(receiver), ..] => {
            return Err(fault(
                receiver.span(),
                "a route function is no method",
                "move it out of the `impl` block",
            ));
        }
        [_, second, ..] => {
            let help = "declare the values as `prompt.variables` of the route; they become fields of the input";
            return Err(fault(
                second.span(),
                "a route function has one parameter, the input",
                help,
            ));
        }
    };
    let help = "write `-> rig::Result<…>` with the route's output type";
    let ReturnType::Type(_, output) = &signature.output else {
        let at = signature.paren_token.span.close();
        return Err(fault(at, "a route function returns `rig::Result`", help));
    };
    match answer(output) {
        Some(output) => Ok((argument, output)),
        None => Err(fault(
            output.span(),
            "a route function returns `rig::Result`",
            help,
        )),
    }
}

/// Returns `T` of `…::Result<T>`.
fn answer(ty: &Type) -> Option<Type> {
    let Type::Path(path) = ty else { return None };
    let last = path
        .path
        .segments
        .last()
        .filter(|segment| segment.ident == "Result")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.iter().collect::<Vec<_>>().as_slice() {
        [GenericArgument::Type(ty)] => Some(ty.clone()),
        _ => None,
    }
}

/// Returns the output type: `T` of `…::Turn<T>`, else the type itself.
pub(crate) fn output(ty: &Type) -> &Type {
    let Type::Path(path) = ty else { return ty };
    let last = path.path.segments.last();
    let Some(last) = last.filter(|segment| segment.ident == "Turn") else {
        return ty;
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return ty;
    };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) if arguments.args.len() == 1 => inner,
        _ => ty,
    }
}

/// Returns the name, where the type is nothing but a name.
pub(crate) fn plain_name(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.get_ident(),
        _ => None,
    }
}

fn pascal(name: &Ident) -> String {
    let name = name.to_string();
    let words = name.split('_').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let mut chars = word.chars();
            let first: String = chars
                .next()
                .into_iter()
                .flat_map(char::to_uppercase)
                .collect();
            first + chars.as_str()
        })
        .collect()
}

fn fault(at: Span, message: &str, help: &str) -> syn::Error {
    syn::Error::new(at, format!("{message}\nhelp: {help}"))
}

/// Returns a compile error with this text at this place.
pub(crate) fn compile_error(at: Span, text: &str) -> TokenStream {
    syn::Error::new(at, text).to_compile_error()
}
