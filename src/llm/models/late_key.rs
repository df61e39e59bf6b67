//! A provider whose key, or a header, is printed by a command: it runs when a request needs it, not at the start.

use super::key_command::{self, KeyCommandError};
use crate::config::env::Env;
use crate::llm::endpoint::{Endpoint, Secret};
use crate::llm::error::{ErrorClass, LlmError};
use crate::llm::http::HttpProvider;
use crate::llm::{BoxFuture, Provider, Request, StreamEvent, StreamSender};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// Runs commands, and keeps the output of those that are meant to run once.
pub struct KeyCommands {
    env: Env,
    hidden: Vec<String>,
    // Locked while a command runs: two requests must not make a password manager ask twice.
    kept: Mutex<BTreeMap<String, Secret>>,
}

impl KeyCommands {
    /// Commands get this environment less the hidden variables.
    pub fn new(env: Env, hidden: Vec<String>) -> Self {
        Self { env, hidden, kept: Mutex::default() }
    }

    #[expect(clippy::significant_drop_tightening, reason = "locked while the command runs, see `kept`")]
    async fn run(&self, command: &LateCommand) -> Result<Secret, KeyCommandError> {
        let text = command.command.reveal();
        let output = || key_command::output_of(text, &self.env, &self.hidden, key_command::LIMIT);
        if !command.keep {
            return output().await.map(Secret::new);
        }
        let mut kept = self.kept.lock().await;
        if let Some(known) = kept.get(text) {
            return Ok(known.clone());
        }
        let secret = Secret::new(output().await?);
        kept.insert(text.to_owned(), secret.clone());
        Ok(secret)
    }
}

/// A command and what its output is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateCommand {
    /// The command.
    pub command: Secret,
    /// Run it once and keep the output.
    pub keep: bool,
    /// The header that gets the output; `None` is the key.
    pub header: Option<String>,
}

/// Sends requests as soon as the commands have printed what is missing.
pub struct LateKeyProvider(Arc<Inner>);

struct Inner {
    endpoint: Endpoint,
    late: Vec<LateCommand>,
    commands: Arc<KeyCommands>,
    idle: Option<Duration>,
    /// The last one, used again while nothing changed: it holds open connections.
    made: Mutex<Option<(Endpoint, Arc<HttpProvider>)>>,
}

impl LateKeyProvider {
    /// The endpoint lacks what `late` will print.
    pub fn new(
        endpoint: Endpoint,
        late: Vec<LateCommand>,
        commands: Arc<KeyCommands>,
        idle: Option<Duration>,
    ) -> Self {
        Self(Arc::new(Inner { endpoint, late, commands, idle, made: Mutex::default() }))
    }
}

impl Inner {
    async fn endpoint(&self) -> Result<Endpoint, LlmError> {
        let mut endpoint = self.endpoint.clone();
        for command in &self.late {
            let output = self.commands.run(command).await.map_err(|error| self.failure(command, &error))?;
            match &command.header {
                None => endpoint.key = Some(output),
                Some(header) => {
                    endpoint.headers.insert(header.clone(), output.reveal().to_owned());
                }
            }
        }
        Ok(endpoint)
    }

    async fn http(&self) -> Result<Arc<HttpProvider>, LlmError> {
        let endpoint = self.endpoint().await?;
        let mut made = self.made.lock().await;
        if let Some((_, http)) = made.as_ref().filter(|(known, _)| *known == endpoint) {
            return Ok(Arc::clone(http));
        }
        let http = Arc::new(HttpProvider::new(endpoint.clone(), self.idle));
        *made = Some((endpoint, Arc::clone(&http)));
        drop(made);
        Ok(http)
    }

    fn failure(&self, command: &LateCommand, error: &KeyCommandError) -> LlmError {
        let what = command.header.as_ref().map_or("key".to_owned(), |header| format!("header `{header}`"));
        let file = if command.keep { "auth.toml" } else { "the models file" };
        LlmError {
            class: ErrorClass::Auth,
            message: format!(
                "The command that prints the {what} of {} {error}. Nothing was sent. Check the command in {file}.",
                self.endpoint.provider_name
            ),
            retry_after: None,
            status: None,
            complains_of_input: false,
        }
    }
}

impl Provider for LateKeyProvider {
    fn stream(&self, request: Arc<Request>, events: StreamSender) -> BoxFuture<'static, ()> {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            match inner.http().await {
                Ok(http) => http.stream(request, events).await,
                // Nobody listens any more: then nobody misses the event.
                Err(error) => drop(events.send(StreamEvent::Failed(error))),
            }
        })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::llm::endpoint::KeyStyle;
    use crate::llm::models::blank_model;
    use crate::llm::{CacheRetention, Dialect};
    use crate::proto::model::{ModelRef, ThinkingLevel};
    use tokio::sync::mpsc;

    fn inner(late: Vec<LateCommand>) -> Inner {
        let endpoint = Endpoint {
            provider: "p".to_owned(),
            provider_name: "Pea".to_owned(),
            base_url: "http://127.0.0.1:1".to_owned(),
            key: None,
            key_variable: None,
            key_style: KeyStyle::Dialect,
            headers: BTreeMap::new(),
        };
        let commands = Arc::new(KeyCommands::new(Env::of([("PATH", "/usr/bin:/bin")]), Vec::new()));
        Inner { endpoint, late, commands, idle: None, made: Mutex::default() }
    }

    fn late(command: &str, keep: bool, header: Option<&str>) -> LateCommand {
        LateCommand { command: Secret::new(command), keep, header: header.map(str::to_owned) }
    }

    #[tokio::test]
    async fn outputs_go_where_they_belong() {
        let inner = inner(vec![late("echo k", true, None), late("echo h", false, Some("X-H"))]);
        let endpoint = inner.endpoint().await.unwrap();
        assert_eq!(endpoint.key, Some(Secret::new("k")));
        assert_eq!(endpoint.headers["X-H"], "h");
    }

    #[tokio::test]
    async fn a_kept_output_is_asked_for_once_and_another_each_time() {
        let dir = tempfile::tempdir().unwrap();
        for (keep, runs) in [(true, 1), (false, 2)] {
            let log = dir.path().join(keep.to_string());
            let inner = inner(vec![late(&format!("echo x >> {0}; wc -l < {0}", log.display()), keep, None)]);
            inner.endpoint().await.unwrap();
            inner.endpoint().await.unwrap();
            assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), runs);
        }
    }

    #[tokio::test]
    async fn connections_are_kept_while_nothing_changed() {
        let same = inner(vec![late("echo k", false, None)]);
        let (first, second) = (same.http().await.unwrap(), same.http().await.unwrap());
        assert!(Arc::ptr_eq(&first, &second));
    }

    #[tokio::test]
    async fn a_failed_command_is_an_error_that_says_where_to_look() {
        let inner = inner(vec![late("echo sk-1; exit 1", true, None)]);
        let error = inner.endpoint().await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Auth);
        assert!(error.message.contains("Pea") && error.message.contains("auth.toml"), "{}", error.message);
        assert!(!error.message.contains("sk-1"));
    }

    #[tokio::test]
    async fn a_failed_command_ends_the_stream() {
        let request = Request {
            model: Arc::new(blank_model(ModelRef::new("p", "m"), Dialect::OpenAiCompletions)),
            system: "".into(),
            messages: Vec::new(),
            tools: Arc::new([]),
            thinking: ThinkingLevel::Off,
            max_tokens: None,
            session_id: String::new(),
            cache: CacheRetention::None,
            temperature: None,
        };
        let provider = LateKeyProvider(Arc::new(inner(vec![late("exit 1", true, None)])));
        let (sender, mut events) = mpsc::unbounded_channel();
        provider.stream(Arc::new(request), sender).await;
        let Some(StreamEvent::Failed(error)) = events.recv().await else { panic!("the command failed") };
        assert_eq!(error.class, ErrorClass::Auth);
        assert_eq!(events.recv().await, None);
    }
}
