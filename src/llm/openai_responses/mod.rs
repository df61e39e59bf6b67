//! OpenAI Responses.

mod decoder;
mod request;

pub use decoder::ResponsesDecoder;

use super::Request;
use super::compat::ResponsesCompat;
use super::wire::Exchange;
use serde::{Deserialize, Serialize};

/// What a text block remembers of its message item, as JSON in the block's signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TextSignature {
    v: u8,
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
}

/// The request as this dialect sends it to this base URL.
pub fn exchange(request: &Request, base_url: &str) -> Result<Exchange, serde_json::Error> {
    let compat = ResponsesCompat::of(&request.model, base_url);
    Ok(Exchange {
        path: "/responses",
        headers: request::headers(request, compat),
        body: request::body(request, compat)?,
        decoder: Box::new(ResponsesDecoder::default()),
    })
}

#[cfg(test)]
mod tests;
