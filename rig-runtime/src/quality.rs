//! Does the caller take an output that conforms?
//!
//! A predicate over the output's type, which the ladder does not know: it is hidden here as the type is in `Held`.

use std::sync::Arc;

use rig_spec::FailureClass;

use crate::attempt::{Answer, Outcome};
use crate::clock::{Clock, within};
use crate::deadline::Left;
use crate::provider::Failed;
use crate::transport::BoxFuture;

/// The caller's own judgement of an output.
pub(crate) enum QualityGate {
    /// One that is there at once.
    Now(Box<dyn Fn(&Answer) -> bool + Send + Sync>),
    /// One to wait for. It has the answer meanwhile, and gives it back.
    Later(Box<dyn Fn(Box<Answer>) -> Judging + Send + Sync>),
}

/// A judgement to wait for.
type Judging = BoxFuture<'static, (Box<Answer>, bool)>;

impl QualityGate {
    /// Returns the gate of a predicate.
    pub(crate) fn new<T: 'static>(accepts: impl Fn(&T) -> bool + Send + Sync + 'static) -> Self {
        // An answer of another type is for nobody to judge: the call says so where it looks for its own.
        Self::Now(Box::new(move |answer| answer.output().is_none_or(&accepts)))
    }

    /// Returns the gate of a predicate that has to be waited for.
    pub(crate) fn waiting<T, F>(accepts: F) -> Self
    where
        T: Sync + 'static,
        F: for<'a> Fn(&'a T) -> BoxFuture<'a, bool> + Send + Sync + 'static,
    {
        let accepts = Arc::new(accepts);
        Self::Later(Box::new(move |answer| {
            let accepts = Arc::clone(&accepts);
            Box::pin(async move {
                let verdict = match answer.output() {
                    Some(output) => accepts(output).await,
                    None => true,
                };
                (answer, verdict)
            })
        }))
    }

    /// Returns what a conformant answer comes to, within what the run has left.
    pub(crate) async fn judge(
        &self,
        clock: &dyn Clock,
        answer: Box<Answer>,
        left: Option<Left>,
    ) -> Outcome {
        let (answer, accepted) = match (self, left) {
            (Self::Now(accepts), _) => {
                let accepted = accepts(&answer);
                (answer, accepted)
            }
            (Self::Later(judging), None) => judging(answer).await,
            (Self::Later(judging), Some(left)) => {
                match within(clock, left.time, judging(answer)).await {
                    Some(judged) => judged,
                    None => {
                        let message = left.message();
                        return Outcome::Failed(Failed::new(FailureClass::Timeout, message));
                    }
                }
            }
        };
        if accepted {
            Outcome::Conformant(answer)
        } else {
            Outcome::QualityRejected
        }
    }
}
