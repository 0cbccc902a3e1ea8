//! How does a caller ask a route?

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::time::Duration;

use rig_spec::{Route, Usd, UsdPerMtok, Variant};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::cache::CacheHandle;
use crate::conform::{self, ReadJson};
use crate::envelope::Named;
use crate::error::{ConfigError, Result};
use crate::ladder::Job;
use crate::quality::QualityGate;
use crate::resolve::{Narrowing, resolve};
use crate::rig::Rig;
use crate::run::Run;
use crate::store::envelope::check_name;
use crate::stream::Events;
use crate::trace::Traceparent;
use crate::transport::BoxFuture;
use crate::turn::Turn;

mod serve;

use serve::{serve, typed};

/// A type that holds what a route's schema describes.
///
/// The route compiler implements it for the types that it generates.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the output of a route",
    label = "not generated from a route's schema",
    note = "the output of a route is the type generated from its schema, or `serde_json::Value` for `schema: null`"
)]
pub trait Output: ReadJson + Send + 'static {
    /// The hash of the schema that the type was generated from; 0 for any JSON value.
    const SCHEMA: u64;
}

/// What a call of a route returns: the output, or on a route with tools a [`Turn`] of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the output of a route",
    label = "not generated from a route's schema",
    note = "the output of a route is the type generated from its schema, or `serde_json::Value` for `schema: null`; that of a route with tools is `rig::Turn` of it"
)]
pub trait Answer: Sized + Send + 'static {
    /// The output's type.
    type Output: Output;

    /// Whether it can be a call of tools.
    const TOOLS: bool;

    /// Returns the answer; `None` for one that it cannot be.
    fn of(turn: Turn<Self::Output>) -> Option<Self>;
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
/// how it came about, and `call.stream()` tells what happens meanwhile. Any executor can run it: sockets and timers are on
/// a thread that all rigs of the process share.
/// Dropping the future ends the run; every attempt that was dispatched keeps its row.
#[must_use = "a call does nothing until it is awaited"]
pub struct Call<T, V = NoVariant> {
    route: &'static Route,
    input: Option<Map<String, Value>>,
    rig: Option<Rig>,
    variant: Option<V>,
    tags: BTreeMap<String, String>,
    traceparent: Option<Traceparent>,
    deadline: Option<Duration>,
    narrowing: Narrowing,
    quality: Option<QualityGate>,
    caches: Vec<CacheHandle>,
    envelope: Option<Named>,
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
        traceparent: None,
        deadline: None,
        narrowing: Narrowing {
            zero_retention: route.zero_retention,
            ..Narrowing::default()
        },
        quality: None,
        caches: Vec::new(),
        envelope: None,
        output: PhantomData,
    }
}

impl<T: Answer, V: RouteVariant> Call<T, V> {
    /// Puts a tag on every row of the run. A key that is given again gets the new value.
    pub fn tag(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.insert(key.into(), value.into());
        self
    }

    /// Says where in a trace the run belongs: a `traceparent` header (W3C Trace Context), as that of the request which the
    /// caller is serving. It is on every row, and the exported spans hang there, unless the trace is not recorded. What is no
    /// such header is ignored.
    pub fn traceparent(mut self, header: &str) -> Self {
        self.traceparent = Traceparent::parse(header);
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

    /// Lets only endpoints serve that are designated to keep nothing of what they are sent. The repair model and the
    /// search are held to it too, nothing is captured, and the rows have the tag `zdr_enforced`. A route that demands
    /// it demands it of every call.
    pub fn zero_retention(mut self) -> Self {
        self.narrowing.zero_retention = true;
        self
    }

    /// Lets only these providers serve, of those that the route declares; none of them if the list is empty. Of two
    /// lists the last counts.
    pub fn providers_only<P: Into<String>>(
        mut self,
        providers: impl IntoIterator<Item = P>,
    ) -> Self {
        self.narrowing.only = Some(providers.into_iter().map(Into::into).collect());
        self
    }

    /// Keeps these providers from serving.
    pub fn providers_ignore<P: Into<String>>(
        mut self,
        providers: impl IntoIterator<Item = P>,
    ) -> Self {
        let ignored = providers.into_iter().map(Into::into);
        self.narrowing.ignore.extend(ignored);
        self
    }

    /// Lets only candidates serve whose price for a token in and a token out together is at most this; one without a
    /// known price may not. The route's own ceiling holds as well.
    pub fn max_price(mut self, most: UsdPerMtok) -> Self {
        self.narrowing.max_price = Some(most);
        self
    }

    /// Ends the run this long after it has begun, waits included, with a failure of class `timeout`. Of this and the
    /// route's `policy.deadline_ms` the shorter counts.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Names a place in a provider's prompt cache, which wins over the route's `cache: auto` there. Of two for one provider
    /// the last counts. One for a provider that no candidate has, or that takes none, is a [`ConfigError`].
    pub fn cache(mut self, handle: CacheHandle) -> Self {
        self.caches
            .retain(|other| other.provider != handle.provider);
        self.caches.push(handle);
        self
    }

    /// Pays for every dispatch of the run, repairs and searches too, from the envelope of this name, which calls and
    /// processes share that share a store. Whoever opens it first sets its cap; without one it is the rig's
    /// ([`RigBuilder::envelope_cap`](crate::RigBuilder::envelope_cap)), $25 unless told otherwise.
    ///
    /// ```
    /// # use rig_runtime::Call;
    /// # fn of(call: Call<serde_json::Value>) -> Call<serde_json::Value> {
    /// call.envelope("support", rig_spec::Usd::dollars(5)) // or `None`
    /// # }
    /// ```
    ///
    /// Before each dispatch the most that it can cost is reserved. What is more than the envelope has left is not
    /// dispatched, and ends the run with a failure of class `budget_exhausted`. Of two envelopes the last counts. A name of
    /// more than 512 bytes is a [`ConfigError`].
    pub fn envelope(mut self, name: impl Into<String>, cap: impl Into<Option<Usd>>) -> Self {
        self.envelope = Some(Named {
            name: name.into(),
            cap: cap.into(),
        });
        self
    }

    /// Lets only an output serve that this accepts, of those that conform to the schema. One that it does not is a
    /// failure of class `quality_rejected`: it is never repaired, and the same candidate is asked again only within
    /// `policy.retries.quality_rejected`, else the next one. Calls of tools are no output. Of two gates the last counts.
    ///
    /// ```
    /// # use rig_runtime::{Call, NoVariant};
    /// # fn of(call: Call<serde_json::Value>) -> Call<serde_json::Value> {
    /// call.quality_gate(|summary| summary["bullets"].as_array().is_some_and(|bullets| bullets.len() > 2))
    /// # }
    /// ```
    ///
    /// If it panics, the call does, after its rows are stored.
    pub fn quality_gate(
        mut self,
        accepts: impl Fn(&T::Output) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.quality = Some(QualityGate::new(accepts));
        self
    }

    /// Is [`Call::quality_gate`] for a judgement that has to wait, e.g. for another route's. A deadline of the run ends
    /// it; the timeout of an attempt is over before.
    ///
    /// ```
    /// # use rig_runtime::Call;
    /// # async fn is_known(word: &str) -> bool { !word.is_empty() }
    /// # fn of(call: Call<serde_json::Value>) -> Call<serde_json::Value> {
    /// call.quality_gate_async(|answer| Box::pin(async move {
    ///     match answer["word"].as_str() {
    ///         Some(word) => is_known(word).await,
    ///         None => false,
    ///     }
    /// }))
    /// # }
    /// ```
    pub fn quality_gate_async<F>(mut self, accepts: F) -> Self
    where
        F: for<'a> Fn(&'a T::Output) -> BoxFuture<'a, bool> + Send + Sync + 'static,
        T::Output: Sync,
    {
        self.quality = Some(QualityGate::waiting(accepts));
        self
    }

    /// Makes the call and returns the output with how it came about.
    ///
    /// # Errors
    ///
    /// [`Error::Config`](crate::Error::Config) if nothing could be dispatched,
    /// [`Error::Failure`](crate::Error::Failure) if the ladder ended without a conformant output.
    pub fn run(self) -> impl Future<Output = Result<Run<T>>> + Send + use<T, V> {
        let rig = self.rig.clone();
        // Boxed, so that a caller's future holds a pointer and not the ladder.
        let served: BoxFuture<'static, _> = Box::pin(serve(rig, self.into_job()));
        async move { typed(served.await?) }
    }

    /// Makes the call and returns what happens while it happens: the same ladder, rows and result as with
    /// [`Call::run`], and the text of the answers as it arrives. Nothing happens until the stream is polled, and
    /// dropping it ends the run as dropping the future of a call does.
    pub fn stream(self) -> Events<T> {
        let rig = self.rig.clone();
        Events::new(typed, |listener| {
            let mut job = self.into_job();
            if let Ok(job) = &mut job {
                job.listener = Some(listener);
            }
            Box::pin(serve(rig, job))
        })
    }

    fn into_job(mut self) -> Result<Job, ConfigError> {
        let route = self.route;
        let variant = match self.variant.map(V::index) {
            Some(index) => {
                let declared = route.variants.get(index);
                Some(declared.ok_or(ConfigError::UnknownVariant { route: route.name })?)
            }
            None => None,
        };
        if self.narrowing.zero_retention {
            self.tags.insert(ZDR_ENFORCED.to_owned(), "true".to_owned());
        }
        if let Some(handle) = self.caches.iter().find(|handle| !handle.is_taken(route)) {
            let provider = handle.provider.clone();
            let route = route.name;
            return Err(ConfigError::NoCacheHandle { route, provider });
        }
        if let Some(envelope) = &self.envelope {
            check_name("envelope", &envelope.name).map_err(ConfigError::Store)?;
        }
        let plan = variant.map_or(&route.plan, |variant: &Variant| &variant.plan);
        let input = self.input.ok_or(ConfigError::Input { route: route.name })?;
        Ok(Job {
            route,
            variant,
            input,
            eligible: resolve(route, plan, &self.narrowing),
            zero_retention: self.narrowing.zero_retention,
            tags: self.tags,
            traceparent: self.traceparent,
            hold: conform::hold::<T::Output>,
            quality: self.quality,
            caches: self.caches,
            envelope: self.envelope,
            deadline: self.deadline,
            waited: Duration::ZERO,
            listener: None,
        })
    }
}

impl<T: Answer, V: RouteVariant> IntoFuture for Call<T, V> {
    type Output = Result<T>;
    type IntoFuture = BoxFuture<'static, Result<T>>;

    fn into_future(self) -> Self::IntoFuture {
        let run = self.run();
        Box::pin(async move { Ok(run.await?.output) })
    }
}

/// The tag of a run that hands nothing to an endpoint which may keep it (R6).
const ZDR_ENFORCED: &str = "zdr_enforced";

impl Output for Value {
    const SCHEMA: u64 = 0;
}

impl<T: Output> Answer for T {
    type Output = T;

    const TOOLS: bool = false;

    fn of(turn: Turn<T>) -> Option<T> {
        match turn {
            Turn::Output(output) => Some(output),
            Turn::ToolCalls(_) => None,
        }
    }
}

impl<T: Output> Answer for Turn<T> {
    type Output = T;

    const TOOLS: bool = true;

    fn of(turn: Self) -> Option<Self> {
        Some(turn)
    }
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
