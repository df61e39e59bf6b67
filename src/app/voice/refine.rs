//! The correcting model behind the providers that sessions have: one request each time, with its deadline, and what came
//! of it as the correction wants it.

use crate::dictation::refine::Reason;
use crate::dictation::refine::attempt::Answer;
use crate::dictation::refine::consent::Destination;
use crate::dictation::refine::prompt::Prompt;
use crate::dictation::refine::run::Editor;
use crate::llm::assemble::Assembler;
use crate::llm::compat::host_of;
use crate::llm::error::{ErrorClass, LlmError};
use crate::llm::{CacheRetention, Model, Provider, Request, StreamEvent, thinking};
use crate::proto::message::{Block, Message, StopReason, UserMessage};
use crate::proto::model::ThinkingLevel;
use crate::proto::usage::Usage;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;

/// Room for the answer, in tokens: a corrected text is no longer than what was said, and thinking needs some.
const ROOM: u64 = 16_384;

/// A model that corrects.
pub struct ModelEditor {
    model: Arc<Model>,
    provider: Arc<dyn Provider>,
}

impl ModelEditor {
    /// Corrects with this model, over this way to it.
    pub fn new(model: Arc<Model>, provider: Arc<dyn Provider>) -> Self {
        Self { model, provider }
    }
}

/// Where requests to a model go, for the question of consent.
pub fn destination(model: &Model) -> Destination {
    Destination { provider: model.reference.provider.clone(), host: host_of(&model.base_url) }
}

impl Editor for ModelEditor {
    fn ask(
        &self,
        prompt: Prompt,
        deadline: Instant,
    ) -> Pin<Box<dyn Future<Output = (Answer, Usage)> + Send + '_>> {
        Box::pin(async move {
            let request = Arc::new(self.request(prompt));
            let (sender, mut events) = mpsc::unbounded_channel();
            let mut assembler = Assembler::new(&self.model, request.thinking, 0);
            let mut streaming = self.provider.stream(request, sender);
            let mut is_streaming = true;
            let limit = tokio::time::sleep_until(deadline.into());
            tokio::pin!(limit);
            loop {
                let event = tokio::select! {
                    biased;
                    event = events.recv() => event,
                    () = &mut streaming, if is_streaming => {
                        is_streaming = false;
                        continue;
                    }
                    () = &mut limit => {
                        let answer = Answer::Failed { reason: Reason::Timeout, complains_of_input: false };
                        return (answer, assembler.message().usage);
                    }
                };
                match event {
                    Some(StreamEvent::Done { reason, .. }) => {
                        let message = assembler.message();
                        return (answer(reason, message.text()), message.usage);
                    }
                    Some(StreamEvent::Failed(error)) => return (failure(&error), assembler.message().usage),
                    Some(event) => drop(assembler.push(event)),
                    None => {
                        let answer = Answer::Failed { reason: Reason::Connection, complains_of_input: false };
                        return (answer, assembler.message().usage);
                    }
                }
            }
        })
    }
}

impl ModelEditor {
    /// No tools, no history, as little thinking as the model offers, nothing cached.
    fn request(&self, prompt: Prompt) -> Request {
        let said = UserMessage { content: vec![Block::text(prompt.user)], timestamp: 0 };
        Request {
            model: Arc::clone(&self.model),
            system: Arc::from(prompt.system),
            messages: vec![Arc::new(Message::User(said))],
            tools: Arc::from([]),
            thinking: thinking::clamp(&self.model, ThinkingLevel::Off),
            max_tokens: Some(ROOM),
            session_id: String::new(),
            cache: CacheRetention::None,
            temperature: Some(0.0),
        }
    }
}

fn answer(reason: StopReason, text: String) -> Answer {
    match reason {
        StopReason::Stop => Answer::Text(text),
        StopReason::Length => Answer::CutShort,
        _ => Answer::NoText,
    }
}

const fn failure(error: &LlmError) -> Answer {
    let reason = match error.class {
        ErrorClass::Auth => Reason::Authentication,
        ErrorClass::UnknownModel => Reason::Configuration,
        ErrorClass::RateLimit | ErrorClass::Quota => Reason::RateLimited,
        ErrorClass::Server => Reason::Overloaded,
        ErrorClass::Network | ErrorClass::Stream => Reason::Connection,
        ErrorClass::Overflow => Reason::TooLarge,
        ErrorClass::Refusal | ErrorClass::Invalid => Reason::Refused,
    };
    Answer::Failed { reason, complains_of_input: error.complains_of_input }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictation::reference::{Agent, Excerpt};
    use crate::dictation::refine::prompt::Style;
    use crate::dictation::refine::run::{Refined, refine};
    use crate::llm::Dialect;
    use crate::llm::endpoint::{Endpoint, KeyStyle};
    use crate::llm::http::HttpProvider;
    use crate::testkit::provider::test_model;
    use crate::testkit::server::{ModelServer, Step};
    use std::collections::BTreeMap;
    use std::time::Duration;

    async fn refined(server: &ModelServer, limit: Duration) -> Refined {
        let base_url = server.openai_base_url();
        let endpoint = Endpoint {
            provider: "test".to_owned(),
            provider_name: "Test".to_owned(),
            base_url: base_url.clone(),
            key: None,
            key_variable: None,
            key_style: KeyStyle::Dialect,
            headers: BTreeMap::new(),
        };
        let model = Model { dialect: Dialect::OpenAiCompletions, base_url, reasoning: false, ..test_model() };
        let editor = ModelEditor::new(Arc::new(model), Arc::new(HttpProvider::new(endpoint, None)));
        let excerpt = Excerpt::of(Agent::Mynah, "I changed `parse_line`.", 6_000);
        refine(&editor, Style::CodingAgent, "rename pars line", excerpt, Instant::now() + limit).await
    }

    const LIMIT: Duration = Duration::from_secs(20);

    #[tokio::test(flavor = "multi_thread")]
    async fn a_request_holds_what_was_said_and_the_reference_alone() {
        let server = ModelServer::start(vec![Step::text("Rename `parse_line`.").usage(50, 5, 0)]);
        let refined = refined(&server, LIMIT).await;
        assert_eq!(refined.text.as_deref(), Ok("Rename `parse_line`."));
        assert_eq!((refined.requests, refined.usage.output), (1, 5));
        assert!(server.violations().is_empty(), "{:?}", server.violations());
        let body = &server.requests()[0].body;
        assert_eq!(body["temperature"], 0.0);
        assert!(body.get("tools").is_none());
        let messages = body["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 2);
        let user = messages[1]["content"]
            .as_str()
            .unwrap_or_else(|| messages[1]["content"][0]["text"].as_str().unwrap());
        let user: serde_json::Value = serde_json::from_str(user).unwrap();
        assert_eq!(user["transcript"], "rename pars line");
        assert_eq!(user["reference_context"]["agent"], "Mynah");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn too_large_is_asked_once_more_without_the_reference() {
        let too_large = Step::status(400).code("context_length_exceeded").message("too many tokens");
        let server = ModelServer::start(vec![too_large, Step::text("Rename it.")]);
        let refined = refined(&server, LIMIT).await;
        assert_eq!(refined.text.as_deref(), Ok("Rename it."));
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        assert!(!String::from_utf8_lossy(&requests[1].body_bytes).contains("parse_line"));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn other_failures_are_asked_once() {
        for (step, reason) in [
            (Step::status(401), Reason::Authentication),
            (Step::status(429), Reason::RateLimited),
            (Step::status(500), Reason::Overloaded),
            (Step::text("half").stop("length"), Reason::CutShort),
            (Step::cut(0), Reason::Connection),
        ] {
            let server = ModelServer::start(vec![step]);
            let refined = refined(&server, LIMIT).await;
            assert_eq!((refined.text, server.requests().len()), (Err(reason), 1));
        }
        let server = ModelServer::start(vec![Step::hang(0)]);
        let refined = refined(&server, Duration::from_millis(300)).await;
        assert_eq!(refined.text, Err(Reason::Timeout));
    }
}
