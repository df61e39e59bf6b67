//! A provider that plays given responses, in process: for tests of the agent that are not about the wire.

use crate::llm::error::{ErrorClass, LlmError};
use crate::llm::{BoxFuture, Dialect, Model, Price, Provider, Request, StreamEvent, StreamSender};
use crate::proto::ids::CallId;
use crate::proto::message::StopReason;
use crate::proto::model::ModelRef;
use crate::proto::usage::Usage;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Plays one response per request; without any left it says `done`.
#[derive(Clone, Default)]
pub struct PlayedProvider(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    responses: VecDeque<Response>,
    requests: Vec<Arc<Request>>,
}

/// One response.
pub struct Response {
    before: Vec<StreamEvent>,
    gate: Option<Gate>,
    after: Vec<StreamEvent>,
    panics: bool,
}

/// Holds a response until it is opened.
#[derive(Clone)]
pub struct Gate {
    reached: Arc<Semaphore>,
    open: Arc<Semaphore>,
}

impl Gate {
    fn new() -> Self {
        Self { reached: Arc::new(Semaphore::new(0)), open: Arc::new(Semaphore::new(0)) }
    }

    /// Waits until the response stands at the gate.
    pub async fn reached(&self) {
        self.reached.acquire().await.expect("never closed").forget();
    }

    /// Lets the response go on.
    pub fn open(&self) {
        self.open.add_permits(1);
    }

    async fn pass(&self) {
        self.reached.add_permits(1);
        self.open.acquire().await.expect("never closed").forget();
    }
}

impl Response {
    /// The model says something and is done.
    pub fn says(text: &str) -> Self {
        Self::of(said(0, text), StopReason::Stop)
    }

    /// The model makes calls: id, tool, arguments.
    pub fn calls(calls: &[(&str, &str, Value)]) -> Self {
        let mut events = Vec::new();
        for (index, (id, name, arguments)) in calls.iter().enumerate() {
            events.extend([
                StreamEvent::ToolCallStart { index, id: CallId::new(*id), name: (*name).to_owned() },
                StreamEvent::ToolCallDelta { index, delta: arguments.to_string() },
                StreamEvent::ToolCallEnd { index, signature: None, corrected: None, arguments: None },
            ]);
        }
        Self::of(events, StopReason::ToolUse)
    }

    /// The request fails before anything came.
    pub fn fails(class: ErrorClass) -> Self {
        Self { before: vec![failure(class)], gate: None, after: Vec::new(), panics: false }
    }

    /// The response breaks after this text.
    pub fn breaks_after(text: &str, class: ErrorClass) -> Self {
        let mut before = said(0, text);
        before.push(failure(class));
        Self { before, gate: None, after: Vec::new(), panics: false }
    }

    /// The adapter has a bug.
    pub const fn panics() -> Self {
        Self { before: Vec::new(), gate: None, after: Vec::new(), panics: true }
    }

    /// The response waits at a gate after its first words (or before anything, for calls).
    pub fn gated(mut self) -> (Self, Gate) {
        let gate = Gate::new();
        self.gate = Some(gate.clone());
        let split = match self.before.get(1) {
            Some(StreamEvent::TextDelta { .. }) => 2,
            _ => 0,
        };
        self.after = self.before.split_off(split);
        (self, gate)
    }

    /// The response begins and waits at a gate before it says anything.
    pub fn gated_after_its_start(mut self) -> (Self, Gate) {
        let gate = Gate::new();
        self.gate = Some(gate.clone());
        self.after = std::mem::replace(
            &mut self.before,
            vec![StreamEvent::Started { response_id: None, response_model: None }],
        );
        (self, gate)
    }

    /// The provider counts these tokens.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        for event in &mut self.before {
            if let StreamEvent::Usage(counted) = event {
                *counted = usage.with_total();
            }
        }
        self
    }

    /// The response ends for this reason.
    #[must_use]
    pub fn with_stop(mut self, stop: StopReason) -> Self {
        for event in &mut self.before {
            if let StreamEvent::Done { reason, .. } = event {
                *reason = stop;
            }
        }
        self
    }

    fn of(mut before: Vec<StreamEvent>, reason: StopReason) -> Self {
        before.push(StreamEvent::Usage(Usage { input: 10, output: 2, ..Usage::default() }.with_total()));
        before.push(StreamEvent::Done { reason, raw_reason: None });
        Self { before, gate: None, after: Vec::new(), panics: false }
    }
}

fn said(index: usize, text: &str) -> Vec<StreamEvent> {
    vec![
        StreamEvent::TextStart { index },
        StreamEvent::TextDelta { index, delta: text.to_owned() },
        StreamEvent::TextEnd { index, signature: None },
    ]
}

fn failure(class: ErrorClass) -> StreamEvent {
    StreamEvent::Failed(LlmError {
        class,
        message: "The played response failed.".to_owned(),
        retry_after: None,
        status: None,
        complains_of_input: false,
    })
}

impl PlayedProvider {
    /// Plays these.
    pub fn new(responses: impl IntoIterator<Item = Response>) -> Self {
        let state = State { responses: responses.into_iter().collect(), requests: Vec::new() };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Adds a response at the end.
    pub fn push(&self, response: Response) {
        self.state().responses.push_back(response);
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Arc<Request>> {
        self.state().requests.clone()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Provider for PlayedProvider {
    fn stream(&self, request: Arc<Request>, events: StreamSender) -> BoxFuture<'static, ()> {
        let response = {
            let mut state = self.state();
            state.requests.push(request);
            state.responses.pop_front().unwrap_or_else(|| Response::says("done"))
        };
        Box::pin(async move {
            assert!(!response.panics, "the played adapter has a bug");
            for event in response.before {
                let _gone = events.send(event);
            }
            if let Some(gate) = response.gate {
                gate.pass().await;
            }
            for event in response.after {
                let _gone = events.send(event);
            }
        })
    }
}

/// A model for tests: 100,000 tokens, no prices, pictures and thinking.
pub fn test_model() -> Model {
    Model {
        reference: ModelRef::new("test", "model"),
        name: "Test model".to_owned(),
        dialect: Dialect::Scripted,
        base_url: String::new(),
        reasoning: true,
        thinking_levels: BTreeMap::new(),
        images: true,
        context_window: 100_000,
        max_tokens: 8_000,
        price: Price::default(),
        headers: BTreeMap::new(),
        compat: Map::new(),
        unlisted: false,
    }
}
