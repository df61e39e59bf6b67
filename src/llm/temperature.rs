//! Which requests take a temperature.

use super::{Dialect, Request};
use crate::llm::compat::host_of;
use crate::proto::model::ThinkingLevel;
use serde_json::Value;

/// The temperature to send: none where the model refuses one. Models that think while they answer refuse it, and so do
/// those of OpenAI that can think at all.
pub fn of(request: &Request) -> Option<f32> {
    let temperature = request.temperature?;
    let model = &request.model;
    if let Some(takes) = model.compat.get("supportsTemperature").and_then(Value::as_bool) {
        return takes.then_some(temperature);
    }
    let thinks = model.reasoning && request.thinking != ThinkingLevel::Off;
    let is_openai = model.dialect == Dialect::OpenAiResponses || host_of(&model.base_url) == "api.openai.com";
    let refuses = thinks || (is_openai && model.reasoning);
    (!refuses).then_some(temperature)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::fixtures::{json_of, model, request, user};
    use crate::llm::{Model, anthropic, openai_chat, openai_responses};
    use std::sync::Arc;

    #[test]
    fn sent_to_those_that_take_one() {
        let mut request = request(model(Dialect::OpenAiCompletions), vec![user("hi")]);
        assert_eq!(of(&request), None);
        request.temperature = Some(0.0);
        assert_eq!(of(&request), Some(0.0));
        let mut change = |change: fn(&mut Model)| {
            let mut model = (*request.model).clone();
            change(&mut model);
            request.model = Arc::new(model);
            of(&request)
        };
        assert_eq!(change(|model| model.reasoning = true), Some(0.0));
        assert_eq!(change(|model| model.base_url = "https://api.openai.com/v1".to_owned()), None);
        assert_eq!(
            change(|model| drop(model.compat.insert("supportsTemperature".to_owned(), true.into()))),
            Some(0.0)
        );
        assert_eq!(
            change(|model| drop(model.compat.insert("supportsTemperature".to_owned(), false.into()))),
            None
        );
    }

    #[test]
    fn every_dialect_sends_it() {
        for dialect in [Dialect::AnthropicMessages, Dialect::OpenAiCompletions, Dialect::OpenAiResponses] {
            let mut request = request(model(dialect), vec![user("hi")]);
            let body = |request: &Request| {
                let url = "https://example.org/v1";
                let exchange = match dialect {
                    Dialect::AnthropicMessages => anthropic::exchange(request, url),
                    Dialect::OpenAiCompletions => openai_chat::exchange(request, url),
                    _ => openai_responses::exchange(request, url),
                };
                json_of(&exchange.unwrap().body)
            };
            assert!(body(&request).get("temperature").is_none(), "{dialect:?}");
            request.temperature = Some(0.0);
            assert_eq!(body(&request)["temperature"], 0.0, "{dialect:?}");
        }
    }
}
