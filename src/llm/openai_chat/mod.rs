//! OpenAI Chat Completions and its many relatives.

mod calls;
mod decoder;
mod message;
mod options;
mod request;

pub use decoder::ChatDecoder;

use super::Request;
use super::compat::ChatCompat;
use super::wire::Exchange;

/// The names under which servers send readable thinking; the one that was used is remembered as the block's signature,
/// so that it goes back under the same name.
const REASONING_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

/// The request as this dialect sends it to this base URL.
pub fn exchange(request: &Request, base_url: &str) -> Result<Exchange, serde_json::Error> {
    let compat = ChatCompat::of(&request.model, base_url);
    Ok(Exchange {
        path: "/chat/completions",
        headers: options::headers(request, &compat),
        body: request::body(request, &compat)?,
        decoder: Box::new(ChatDecoder::new(compat.finish_reason)),
    })
}

#[cfg(test)]
mod tests;
