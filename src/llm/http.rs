//! Requests over HTTP: sends a dialect's body, reads its server-sent events, and turns failures into typed errors.
//!
//! Invariants: exactly one `Done` or `Failed` ends a stream; the key goes to the endpoint's own host and nowhere else;
//! nothing is repeated here (see [`super::retry`]); dropping the future closes the connection.

use super::decode::{DecodeError, Decoder};
use super::endpoint::{Endpoint, KeyStyle};
use super::error::LlmError;
use super::failure::Context;
use super::provider_error::ProviderError;
use super::sse::SseParser;
use super::wire::Exchange;
use super::{BoxFuture, Dialect, Provider, Request, StreamEvent, StreamSender};
use super::{anthropic, http_client, openai_chat, openai_responses};
use crate::proto::usage::Usage;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, Url};
use std::sync::Arc;
use std::time::Duration;

/// How much of a failed response's body is read, and for how long.
const ERROR_BODY_LIMIT: usize = 64 * 1024;
const ERROR_BODY_TIME: Duration = Duration::from_secs(10);

/// After the last event the rest is read so that the connection can be used again, but not for ever.
const DRAIN_TIME: Duration = Duration::from_secs(2);

/// A provider behind HTTP.
// No `Debug`: extra headers of an endpoint can hold keys.
#[derive(Clone)]
pub struct HttpProvider {
    endpoint: Arc<Endpoint>,
    idle: Option<Duration>,
}

impl HttpProvider {
    /// Talks to this endpoint; a stream that says nothing for `idle` (`None`: for ever) has failed.
    pub fn new(endpoint: Endpoint, idle: Option<Duration>) -> Self {
        Self { endpoint: Arc::new(endpoint), idle }
    }
}

impl Provider for HttpProvider {
    fn stream(&self, request: Arc<Request>, events: StreamSender) -> BoxFuture<'static, ()> {
        let Self { endpoint, idle } = self.clone();
        Box::pin(async move {
            let context = Context { endpoint: &endpoint, model: &request.model };
            let conversation = Conversation { context, idle, request: &request, events: &events };
            if let Err(error) = conversation.run().await {
                // A provider's words may quote what it was sent: they are shown, never logged.
                tracing::warn!(class = ?error.class, status = error.status, "request failed");
                conversation.tell(StreamEvent::Failed(error));
            }
        })
    }
}

/// One request and its answer.
struct Conversation<'a> {
    context: Context<'a>,
    idle: Option<Duration>,
    request: &'a Request,
    events: &'a StreamSender,
}

impl Conversation<'_> {
    async fn run(&self) -> Result<(), LlmError> {
        let exchange = self.exchange()?;
        let url = self.url(exchange.path)?;
        let headers = self.headers(&exchange)?;
        let client = http_client::for_url(&url)
            .map_err(|error| self.context.unsendable(&http_client::cause(&error)))?;
        let sending = client.post(url).headers(headers).body(exchange.body).send();
        let response = self
            .in_time(sending)
            .await?
            .map_err(|error| self.context.network(&http_client::cause(&error)))?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        self.read(response, exchange.decoder).await
    }

    fn exchange(&self) -> Result<Exchange, LlmError> {
        let base_url = &self.context.endpoint.base_url;
        let exchange = match self.request.model.dialect {
            Dialect::AnthropicMessages => anthropic::exchange(self.request, base_url),
            Dialect::OpenAiCompletions => openai_chat::exchange(self.request, base_url),
            Dialect::OpenAiResponses => openai_responses::exchange(self.request, base_url),
            Dialect::Scripted => return Err(self.context.unsendable("a scripted model has no address")),
        };
        exchange.map_err(|error| self.context.unsendable(&error.to_string()))
    }

    fn url(&self, path: &str) -> Result<Url, LlmError> {
        let base = self.context.endpoint.base_url.trim_end_matches('/');
        Url::parse(&format!("{base}{path}")).map_err(|error| {
            let why = format!("its base URL is no web address such as https://example.org/v1 ({error})");
            self.context.unsendable(&why)
        })
    }

    /// Ours, then the dialect's, the key, the model's, the endpoint's: later ones win.
    fn headers(&self, exchange: &Exchange) -> Result<HeaderMap, LlmError> {
        let endpoint = self.context.endpoint;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        for (name, value) in &exchange.headers {
            self.insert(&mut headers, name, value)?;
        }
        if let Some(key) = &endpoint.key {
            let anthropic = self.request.model.dialect == Dialect::AnthropicMessages;
            let (name, value) = match endpoint.key_style {
                KeyStyle::Dialect if anthropic => ("x-api-key", key.reveal().to_owned()),
                KeyStyle::Dialect | KeyStyle::Bearer => {
                    (AUTHORIZATION.as_str(), format!("Bearer {}", key.reveal()))
                }
            };
            let mut value = HeaderValue::try_from(value)
                .map_err(|_secret| self.context.unsendable("its key holds characters that no key has"))?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        for (name, value) in self.request.model.headers.iter().chain(&endpoint.headers) {
            self.insert(&mut headers, name, value)?;
        }
        Ok(headers)
    }

    fn insert(&self, headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), LlmError> {
        // The value may be a key: the message names the header only.
        let unsendable = || self.context.unsendable(&format!("its header `{name}` is not valid"));
        let header = HeaderName::try_from(name).map_err(|_invalid| unsendable())?;
        headers.insert(header, HeaderValue::try_from(value).map_err(|_invalid| unsendable())?);
        Ok(())
    }

    /// A response that is no success, in words.
    async fn refused(&self, mut response: Response) -> LlmError {
        let status = response.status();
        if status.is_redirection() {
            return self.context.no_api("sends requests on to another address, which must not get the key");
        }
        let headers = response.headers().clone();
        let body = tokio::time::timeout(ERROR_BODY_TIME, read_some(&mut response)).await;
        // A body that does not come leaves the status, which says enough.
        let body = body.unwrap_or_default();
        self.context.from_response(
            status.as_u16(),
            &headers,
            &String::from_utf8_lossy(&body),
            jiff::Timestamp::now(),
        )
    }

    async fn read(&self, mut response: Response, mut decoder: Box<dyn Decoder>) -> Result<(), LlmError> {
        let mut parser = SseParser::default();
        let mut frames = Vec::new();
        let mut decoded = Vec::new();
        let mut opening = Opening::default();
        loop {
            let chunk = self
                .in_time(response.chunk())
                .await?
                .map_err(|error| self.context.broken_off(&http_client::cause(&error)))?;
            let is_end = chunk.is_none();
            if let Some(chunk) = chunk {
                opening.take(&chunk);
                parser
                    .push(&chunk, &mut frames)
                    .map_err(|error| self.context.stream(&format!("is broken ({error})")))?;
            } else {
                frames.extend(std::mem::take(&mut parser).end());
            }
            let mut outcome = Ok(());
            for frame in frames.drain(..) {
                opening.seen_frame();
                outcome = decoder.frame(&frame, &mut decoded);
                if outcome.is_err() {
                    break;
                }
            }
            if is_end && outcome.is_ok() {
                if let Some(error) = self.no_stream(&opening) {
                    return Err(error);
                }
                outcome = decoder.end(&mut decoded);
            }
            for event in decoded.drain(..) {
                let is_done = matches!(event, StreamEvent::Done { .. });
                self.tell(event);
                if is_done {
                    if !is_end {
                        tokio::spawn(drain(response));
                    }
                    return Ok(());
                }
            }
            outcome.map_err(|error| self.context.from_decoder(error))?;
        }
    }

    /// A success without a single event is no stream: an error object, or a web page at a wrong address.
    fn no_stream(&self, opening: &Opening) -> Option<LlmError> {
        let text = opening.text()?;
        if text.starts_with('<') {
            return Some(self.context.no_api("answers with a web page instead of a model's stream"));
        }
        let is_json = matches!(serde_json::from_str(&text), Ok(serde_json::Value::Object(_)));
        is_json.then(|| {
            let reported = ProviderError::from_body(&text);
            if reported == ProviderError::default() {
                return self.context.no_api("answers without streaming");
            }
            self.context.from_decoder(DecodeError::Reported(reported))
        })
    }

    async fn in_time<T>(&self, waited: impl Future<Output = T>) -> Result<T, LlmError> {
        match self.idle {
            Some(idle) => {
                tokio::time::timeout(idle, waited).await.map_err(|_elapsed| self.context.idle(idle))
            }
            None => Ok(waited.await),
        }
    }

    /// Nobody who listens is no failure: the turn was stopped, and this future is about to be dropped.
    fn tell(&self, event: StreamEvent) {
        let event = match event {
            StreamEvent::Usage(usage) => StreamEvent::Usage(self.priced(usage)),
            event => event,
        };
        let _ = self.events.send(event);
    }

    fn priced(&self, usage: Usage) -> Usage {
        Usage { cost: self.request.model.price.cost(&usage), ..usage }
    }
}

/// The first bytes of a response, until they turn out to be a stream.
#[derive(Default)]
struct Opening {
    bytes: Vec<u8>,
    is_stream: bool,
}

impl Opening {
    fn take(&mut self, chunk: &[u8]) {
        if !self.is_stream {
            let room = ERROR_BODY_LIMIT.saturating_sub(self.bytes.len());
            self.bytes.extend(chunk.iter().take(room));
        }
    }

    fn seen_frame(&mut self) {
        self.is_stream = true;
        self.bytes = Vec::new();
    }

    fn text(&self) -> Option<String> {
        (!self.is_stream).then(|| String::from_utf8_lossy(&self.bytes).trim().to_owned())
    }
}

/// As much of a body as an error message can need.
async fn read_some(response: &mut Response) -> Vec<u8> {
    let mut body = Vec::new();
    // A body that breaks off is used as far as it came.
    while let Ok(Some(chunk)) = response.chunk().await {
        let room = ERROR_BODY_LIMIT.saturating_sub(body.len());
        body.extend(chunk.iter().take(room));
        if body.len() >= ERROR_BODY_LIMIT {
            break;
        }
    }
    body
}

async fn drain(mut response: Response) {
    let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
    if tokio::time::timeout(DRAIN_TIME, rest).await.is_err() {
        tracing::debug!("a finished stream was not closed by its server");
    }
}

#[cfg(test)]
mod tests;
