//! How does a caller ask a route?

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::marker::PhantomData;

use rig_spec::{FailureClass, Route};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::conform;
use crate::error::{ConfigError, Error, Failure, Result};
use crate::ladder::{self, Job, Served};
use crate::rig::{self, Rig};
use crate::run::Run;
use crate::transport::BoxFuture;

/// A type that holds what a route's schema describes.
///
/// The route compiler implements it for the types that it generates.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the output of a route",
    label = "not generated from a route's schema",
    note = "the output of a route is the type generated from its schema, or `serde_json::Value` for `schema: null`"
)]
pub trait Output: DeserializeOwned + Send + 'static {
    /// The hash of the schema that the type was generated from; 0 for any JSON value.
    const SCHEMA: u64;
}

/// A variant that a route declares.
///
/// The route compiler implements it for the `Variant` that it generates for a route.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the variants of a route",
    note = "the variants of a route are the `Variant` in the route's module"
)]
pub trait RouteVariant: Copy + Send + 'static {
    /// Returns the variant's place in the route's list.
    fn index(self) -> usize;
}

/// The variants of a route that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoVariant {}

/// A call of a route that has not been made yet.
///
/// Nothing happens until it is awaited: `call.await` returns the output, `call.run().await` the output and
/// how it came about. It needs a tokio runtime, unless the rig has a transport and a clock of its own.
/// Dropping the future ends the run; every attempt that was dispatched keeps its row.
#[must_use = "a call does nothing until it is awaited"]
pub struct Call<T, V = NoVariant> {
    route: &'static Route,
    input: Option<Map<String, Value>>,
    rig: Option<Rig>,
    variant: Option<V>,
    tags: BTreeMap<String, String>,
    output: PhantomData<fn() -> T>,
}

/// Returns a call of a route with this input. What it asks of `T` is asked where the call is made, and of generated
/// code by `assert_schema`.
pub fn call<T, V: RouteVariant>(route: &'static Route, input: impl Serialize) -> Call<T, V> {
    Call {
        route,
        input: variables(input),
        rig: None,
        variant: None,
        tags: BTreeMap::new(),
        output: PhantomData,
    }
}

impl<T: Output, V: RouteVariant> Call<T, V> {
    /// Puts a tag on every row of the run. A key that is given again gets the new value.
    pub fn tag(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.insert(key.into(), value.into());
        self
    }

    /// Makes the call on this rig instead of the process default.
    pub fn on(mut self, rig: &Rig) -> Self {
        self.rig = Some(rig.clone());
        self
    }

    /// Makes the call under a variant of the route.
    pub fn variant(mut self, variant: V) -> Self {
        self.variant = Some(variant);
        self
    }

    /// Makes the call and returns the output with how it came about.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if nothing could be dispatched, [`Error::Failure`] if the ladder ended without a
    /// conformant output.
    pub fn run(self) -> impl Future<Output = Result<Run<T>>> + Send + use<T, V> {
        let rig = self.rig.clone();
        // Boxed, so that a caller's future holds a pointer and not the ladder.
        let served: BoxFuture<'static, _> = Box::pin(serve(rig, self.into_job()));
        async move { typed(served.await?) }
    }

    fn into_job(self) -> Result<Job, ConfigError> {
        let route = self.route;
        let variant = match self.variant.map(V::index) {
            Some(index) => {
                let declared = route.variants.get(index);
                Some(declared.ok_or(ConfigError::UnknownVariant { route: route.name })?)
            }
            None => None,
        };
        let input = self.input.ok_or(ConfigError::Input { route: route.name })?;
        Ok(Job {
            route,
            variant,
            input,
            tags: self.tags,
            hold: conform::hold::<T>,
        })
    }
}

impl<T: Output, V: RouteVariant> IntoFuture for Call<T, V> {
    type Output = Result<T>;
    type IntoFuture = BoxFuture<'static, Result<T>>;

    fn into_future(self) -> Self::IntoFuture {
        let run = self.run();
        Box::pin(async move { Ok(run.await?.output) })
    }
}

impl Output for Value {
    const SCHEMA: u64 = 0;
}

impl RouteVariant for NoVariant {
    fn index(self) -> usize {
        match self {}
    }
}

/// Returns the variables of an input; `None` if it is no object of variables.
fn variables(input: impl Serialize) -> Option<Map<String, Value>> {
    match serde_json::to_value(input) {
        Ok(Value::Object(variables)) => Some(variables),
        // The input of a route without variables may be a unit struct.
        Ok(Value::Null) => Some(Map::new()),
        Ok(_) | Err(_) => None,
    }
}

async fn serve(rig: Option<Rig>, job: Result<Job, ConfigError>) -> Result<Served> {
    let job = job?;
    let rig = match rig {
        Some(rig) => rig,
        None => rig::process_default()?,
    };
    ladder::run(rig.parts(), &job).await
}

/// Turns the answer that passed the gate into the route's type, in which it is.
fn typed<T: Output>(served: Served) -> Result<Run<T>> {
    let Run { output, meta } = served.run;
    match output.into::<T>() {
        Some(output) => Ok(Run { output, meta }),
        None => Err(Error::Failure(Box::new(Failure {
            class: FailureClass::InvariantViolation,
            message: format!(
                "the output conforms to the schema, but is no `{}`",
                std::any::type_name::<T>()
            ),
            provider: meta.provider,
            model: meta.model,
            route: meta.route,
            run_id: meta.run_id,
            history: served.history,
        }))),
    }
}
