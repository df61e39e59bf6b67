//! Anthropic Messages.

mod decoder;
mod request;

pub use decoder::{AnthropicDecoder, PAUSE_TURN};

use super::Request;
use super::wire::Exchange;

/// The request as this dialect sends it to this base URL.
pub fn exchange(request: &Request, base_url: &str) -> Result<Exchange, serde_json::Error> {
    Ok(Exchange {
        // Documents write the base URL without `/v1`; people who know OpenAI's write it with.
        path: if base_url.trim_end_matches('/').ends_with("/v1") { "/messages" } else { "/v1/messages" },
        headers: request::headers(request, base_url),
        body: request::body(request, base_url)?,
        decoder: Box::new(AnthropicDecoder::default()),
    })
}

#[cfg(test)]
mod tests;
