//! What answers the examples where there is no key? A provider on loopback, over real HTTP.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A provider that answers from a script. It stops with the process.
#[derive(Debug)]
pub struct DemoProvider {
    address: SocketAddr,
}

/// One scripted answer.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    body: Value,
}

type Scripts = Arc<Mutex<HashMap<String, Vec<Reply>>>>;

impl DemoProvider {
    /// Starts the provider on a free port of this machine.
    ///
    /// `scripts` are the answers by path, e.g. `/openai/chat/completions`; the last answer of a path stays.
    ///
    /// # Errors
    ///
    /// Returns what the system says when no port can be had.
    pub async fn start(
        scripts: impl IntoIterator<Item = (&'static str, Vec<Reply>)>,
    ) -> io::Result<Self> {
        let scripts = scripts
            .into_iter()
            .map(|(path, replies)| (path.to_owned(), replies));
        let scripts: Scripts = Arc::new(Mutex::new(scripts.collect()));
        let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let scripts = Arc::clone(&scripts);
                let service = service_fn(move |request| {
                    let answer = answer(&scripts, &request);
                    async move { answer }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Ok(Self { address })
    }

    /// Returns the address of a provider's folder, e.g. `http://127.0.0.1:40000/openai`.
    #[must_use]
    pub fn base_url(&self, provider: &str) -> String {
        format!("http://{}/{provider}", self.address)
    }
}

impl Reply {
    /// A refusal for lack of capacity.
    #[must_use]
    pub fn shed() -> Self {
        let error = json!({ "message": "Rate limit reached (demo)", "type": "requests", "code": "rate_limit_exceeded" });
        Self {
            status: 429,
            body: json!({ "error": error }),
        }
    }

    /// An answer in Anthropic's form.
    #[must_use]
    pub fn message(text: &str) -> Self {
        let body = json!({
            "id": "msg_demo",
            "type": "message",
            "role": "assistant",
            "content": [{ "type": "text", "text": text }],
            "stop_reason": "end_turn",
            "usage": { "input_tokens": 214, "output_tokens": 61 },
        });
        Self { status: 200, body }
    }
}

fn answer(
    scripts: &Scripts,
    request: &Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut scripts = scripts.lock().unwrap_or_else(PoisonError::into_inner);
    let reply = match scripts.get_mut(request.uri().path()) {
        Some(replies) if replies.len() > 1 => replies.remove(0),
        Some(replies) if replies.len() == 1 => replies[0].clone(),
        _ => Reply {
            status: 404,
            body: json!({ "error": { "message": "no such path (demo)" } }),
        },
    };
    let mut response = Response::new(Full::from(reply.body.to_string()));
    *response.status_mut() = hyper::StatusCode::from_u16(reply.status).unwrap_or_default();
    Ok(response)
}
