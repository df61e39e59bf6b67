//! Performs what the turn machine decides: opens streams, runs tools, waits. The only part of the agent that starts
//! tasks.
//!
//! Invariants: dropping a [`Driver`] ends everything it started; news carry the turn they belong to, so that late ones
//! are recognised; a task that panics becomes an error result, never a lost call.

use super::fsm::{Event, TimerId};
use super::outbox::Outbox;
use crate::jobs::Jobs;
use crate::jobs::table::JobTable;
use crate::llm::assemble::Assembler;
use crate::llm::error::{ErrorClass, LlmError};
use crate::llm::{Model, Provider, Request, StreamEvent, classify};
use crate::proto::entry::EntryPatch;
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::ids::{EntryId, TurnId};
use crate::proto::message::{AssistantMessage, Message, StopReason, ToolCall};
use crate::proto::tool::ToolOutput;
use crate::tools::{FileLocks, Progress, ProgressNews, Tool, ToolCx, ToolLimits, Withheld};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

/// What happened in a turn, for the session that owns it.
#[derive(Debug)]
pub struct News {
    /// The turn.
    pub turn: TurnId,
    /// What happened.
    pub event: Event,
}

/// What every call of a session shares.
#[derive(Clone)]
pub struct Workshop {
    /// Working directory.
    pub cwd: PathBuf,
    /// Shell processes.
    pub jobs: Arc<Jobs>,
    /// Background jobs.
    pub table: Arc<JobTable>,
    /// Where whole outputs go.
    pub output_dir: PathBuf,
    /// What the settings say.
    pub limits: ToolLimits,
    /// One writer at a time per file.
    pub files: Arc<FileLocks>,
}

/// Runs one turn's effects.
pub struct Driver {
    turn: TurnId,
    news: mpsc::UnboundedSender<News>,
    outbox: Outbox,
    workshop: Workshop,
    stream: Option<Stream>,
    timer: Option<AbortHandle>,
    tools: CancellationToken,
    /// Sends the commands that run now to the background.
    detach: CancellationToken,
}

/// A response on its way.
struct Stream {
    task: AbortHandle,
    live: Arc<Mutex<Live>>,
}

/// The part of a response that has come so far. Shared with the task, so that a stop keeps it.
struct Live {
    assembler: Assembler,
    entry: EntryId,
    begun: Instant,
    /// Listeners have been told of the entry.
    announced: bool,
    /// The entry is whole for listeners: what the task still has at hand comes too late.
    closed: bool,
}

impl Driver {
    /// A driver with nothing to do yet.
    pub fn new(turn: TurnId, news: mpsc::UnboundedSender<News>, outbox: Outbox, workshop: Workshop) -> Self {
        Self {
            turn,
            news,
            outbox,
            workshop,
            stream: None,
            timer: None,
            tools: CancellationToken::new(),
            detach: CancellationToken::new(),
        }
    }

    /// Sends a request. The response grows as the entry `entry`; its end is [`Event::StreamFinished`] or
    /// [`Event::StreamFailed`]. `now` is in milliseconds since the epoch.
    pub fn request(&mut self, provider: &dyn Provider, request: Arc<Request>, entry: EntryId, now: i64) {
        let live = Arc::new(Mutex::new(Live {
            assembler: Assembler::new(&request.model, request.thinking, now),
            entry,
            begun: Instant::now(),
            announced: false,
            closed: false,
        }));
        let (sender, receiver) = mpsc::unbounded_channel();
        let model = request.model.clone();
        let streaming = provider.stream(request, sender);
        let task = tokio::spawn(follow(
            streaming,
            receiver,
            live.clone(),
            model,
            self.outbox.clone(),
            self.news.clone(),
            self.turn,
        ));
        self.stream = Some(Stream { task: task.abort_handle(), live });
    }

    /// The stream told its end.
    pub fn stream_ended(&mut self) -> Option<EntryId> {
        self.stream.take().map(|stream| lock(&stream.live).entry.clone())
    }

    /// Drops the stream; what came so far, marked as aborted. `None` when listeners have not heard of it.
    pub fn abort_stream(&mut self) -> Option<(EntryId, AssistantMessage)> {
        let stream = self.stream.take()?;
        stream.task.abort();
        // The task may be at work on another thread and goes on to its next wait: it must not tell of an entry that is
        // whole.
        let mut live = lock(&stream.live);
        live.closed = true;
        if !live.announced {
            return None;
        }
        Some((live.entry.clone(), AssistantMessage { stop_reason: StopReason::Aborted, ..live.message() }))
    }

    /// Sends the commands that run now to the background.
    pub fn detach_commands(&mut self) {
        // Those that start later are not meant.
        std::mem::take(&mut self.detach).cancel();
    }

    /// Runs a call. `images`: the model takes pictures.
    pub fn run(&self, tool: &Arc<dyn Tool>, call: ToolCall, images: bool, withheld: Withheld) {
        let (outbox, id, stopped) = (self.outbox.clone(), call.id.clone(), self.tools.clone());
        let progress = Progress::new(move |news| {
            // A call that was stopped may go on for a while after listeners were told of its end.
            if stopped.is_cancelled() {
                return;
            }
            let call = id.clone();
            outbox.publish(match news {
                ProgressNews::Output(delta) => AgentEvent::ToolProgress { call, delta },
                ProgressNews::Steps(chain) => AgentEvent::ToolSteps { call, chain },
                ProgressNews::Wait(wait) => AgentEvent::ToolWait { call, wait },
            });
        });
        let cx = ToolCx {
            call: call.id.clone(),
            cwd: self.workshop.cwd.clone(),
            cancel: self.tools.clone(),
            detach: self.detach.clone(),
            progress,
            jobs: self.workshop.jobs.clone(),
            table: self.workshop.table.clone(),
            output_dir: self.workshop.output_dir.clone(),
            limits: self.workshop.limits.clone(),
            images,
            files: self.workshop.files.clone(),
            withheld,
        };
        self.outbox.publish(AgentEvent::ToolStarted {
            call: call.id.clone(),
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
            limit_ms: tool.time_limit(&call.arguments, &self.workshop.limits).map(millis),
        });
        let (news, turn) = (self.news.clone(), self.turn);
        let tool = tool.clone();
        tokio::spawn(async move {
            let begun = Instant::now();
            let name = call.name;
            // A task of its own, so that a bug in a tool costs this call and not the session.
            let output = match tokio::spawn(async move { tool.run(call.arguments, cx).await }).await {
                Ok(output) => output,
                Err(error) => {
                    tracing::error!(tool = %name, %error, "a tool panicked");
                    ToolOutput::error(format!(
                        "The tool `{name}` failed because of a bug in Mynah. It may have done part of its work."
                    ))
                }
            };
            let duration_ms = millis(begun.elapsed());
            // Nobody listens any more when the session has ended: the result has no reader then.
            let _gone = news.send(News {
                turn,
                event: Event::ToolFinished { call: call.id, output: Arc::new(output), duration_ms },
            });
        });
    }

    /// Tells all running calls to stop.
    pub fn abort_tools(&self) {
        self.tools.cancel();
    }

    /// Sets the timer.
    pub fn start_timer(&mut self, id: TimerId, after: Duration) {
        if let Some(timer) = self.timer.take() {
            timer.abort();
        }
        let (news, turn) = (self.news.clone(), self.turn);
        let task = tokio::spawn(async move {
            tokio::time::sleep(after).await;
            let _gone = news.send(News { turn, event: Event::TimerFired(id) });
        });
        self.timer = Some(task.abort_handle());
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if let Some(stream) = &self.stream {
            stream.task.abort();
        }
        if let Some(timer) = &self.timer {
            timer.abort();
        }
        self.tools.cancel();
    }
}

impl Live {
    fn message(&self) -> AssistantMessage {
        let mut message = self.assembler.clone().finish();
        message.duration_ms = Some(millis(self.begun.elapsed()));
        message
    }
}

/// Takes the events of a response in until its end, and tells listeners and the session.
async fn follow(
    streaming: crate::llm::BoxFuture<'static, ()>,
    mut events: mpsc::UnboundedReceiver<StreamEvent>,
    live: Arc<Mutex<Live>>,
    model: Arc<Model>,
    outbox: Outbox,
    news: mpsc::UnboundedSender<News>,
    turn: TurnId,
) {
    let provider = tokio::spawn(streaming);
    // Aborting this task must abort the request with it.
    let _abort_with_us = AbortOnDrop(provider.abort_handle());
    let mut ending = None;
    while let Some(event) = events.recv().await {
        let end = match &event {
            StreamEvent::Done { .. } => Some(None),
            StreamEvent::Failed(error) => Some(Some(error.clone())),
            StreamEvent::Started { .. }
            | StreamEvent::TextStart { .. }
            | StreamEvent::TextDelta { .. }
            | StreamEvent::TextEnd { .. }
            | StreamEvent::ThinkingStart { .. }
            | StreamEvent::ThinkingDelta { .. }
            | StreamEvent::ThinkingEnd { .. }
            | StreamEvent::ToolCallStart { .. }
            | StreamEvent::ToolCallDelta { .. }
            | StreamEvent::ToolCallEnd { .. }
            | StreamEvent::Usage(_) => None,
        };
        take(&live, event, &outbox);
        if end.is_some() {
            ending = end;
            break;
        }
    }
    let failure = match ending {
        Some(failure) => failure,
        None => {
            if let Err(error) = provider.await
                && error.is_panic()
            {
                tracing::error!(%error, "a provider panicked");
            }
            let error = LlmError {
                class: ErrorClass::Stream,
                message: "The response ended without its last event.".to_owned(),
                retry_after: None,
                status: None,
                complains_of_input: false,
            };
            take(&live, StreamEvent::Failed(error.clone()), &outbox);
            Some(error)
        }
    };
    let (announced, message) = {
        let live = lock(&live);
        (live.announced, Arc::new(live.message()))
    };
    let event = match (failure, silent_overflow(&message, &model)) {
        (None, None) => Event::StreamFinished(message),
        // There is an answer, to a part of the conversation.
        (None, Some(text)) if message.stop_reason == StopReason::Stop => {
            outbox.publish(AgentEvent::Notice { level: NoticeLevel::Warning, text });
            Event::StreamFinished(message)
        }
        (None, Some(text)) => {
            let error = LlmError {
                class: ErrorClass::Overflow,
                message: text,
                retry_after: None,
                status: None,
                complains_of_input: false,
            };
            Event::StreamFailed { error, message: Some(message), jitter: 0.0 }
        }
        (Some(error), _) => {
            let message = announced.then_some(message);
            Event::StreamFailed { error, message, jitter: fastrand::f64() }
        }
    };
    let _gone = news.send(News { turn, event });
}

/// What to say of a response that shows a conversation larger than the model's window, though the provider reports a
/// success. The window of a model that nobody lists is a guess and proves nothing.
fn silent_overflow(message: &AssistantMessage, model: &Model) -> Option<String> {
    let window = model.context_window;
    let overflows =
        !model.unlisted && classify::is_silent_overflow(&message.usage, message.stop_reason, window);
    overflows.then(|| {
        format!(
            "The conversation is larger than the window of {} ({window} tokens), so the model may not have read all of \
             it. Nothing of it is lost. Choose a model with a larger window, or start a new session.",
            model.reference
        )
    })
}

fn take(live: &Mutex<Live>, event: StreamEvent, outbox: &Outbox) {
    let mut live = lock(live);
    if live.closed {
        return;
    }
    let failed_before_it_began = !live.announced && matches!(event, StreamEvent::Failed(_));
    if !live.announced && !failed_before_it_began {
        live.announced = true;
        let empty = Arc::new(Message::Assistant(live.assembler.message().clone()));
        outbox.publish(AgentEvent::Entry { id: live.entry.clone(), patch: EntryPatch::Start(empty) });
    }
    if let Some(patch) = live.assembler.push(event) {
        outbox.publish(AgentEvent::Entry { id: live.entry.clone(), patch });
    }
}

/// A poisoned lock only means that a listener panicked between two consistent states.
fn lock(live: &Mutex<Live>) -> std::sync::MutexGuard<'_, Live> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::model::ThinkingLevel;
    use crate::testkit::provider::test_model;

    #[test]
    fn what_comes_after_the_end_of_an_entry_is_not_told() {
        let outbox = Outbox::new();
        let mut listener = outbox.subscribe();
        let live = Mutex::new(Live {
            assembler: Assembler::new(&test_model(), ThinkingLevel::Off, 0),
            entry: EntryId::fresh(),
            begun: Instant::now(),
            announced: false,
            closed: false,
        });
        take(&live, StreamEvent::TextStart { index: 0 }, &outbox);
        let told = std::iter::from_fn(|| listener.try_next()).count();
        assert_eq!(told, 2, "the entry and its block begin");
        lock(&live).closed = true;
        take(&live, StreamEvent::TextDelta { index: 0, delta: "late".to_owned() }, &outbox);
        assert_eq!(listener.try_next(), None);
        assert_eq!(lock(&live).message().text(), "");
    }
}
