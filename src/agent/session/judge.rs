//! The checks of a call before it runs: it exists, its arguments fit, the rules allow it.

use super::{Folders, Note, Session};
use crate::agent::fsm::{Event, Judgement};
use crate::agent::permission::{self, PathContext, Rules, Verdict};
use crate::llm::BoxFuture;
use crate::proto::ask::{AskPreview, PermissionAnswer, PermissionAsk, PermissionMode, Subject};
use crate::proto::command::CancelReason;
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::ids::AskId;
use crate::proto::message::ToolCall;
use crate::proto::tool::ToolOutput;
use crate::tools::{Arguments, Tool, Withheld};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The user is asked after this time, also when nothing is known of what the call would do.
const PREVIEW_PATIENCE: Duration = Duration::from_secs(1);

impl Session {
    /// Checks a call. `None`: the user was asked, the answer brings the event.
    pub(super) fn judge(&mut self, call: &ToolCall) -> Option<Event> {
        let judgement = self.judgement(call)?;
        Some(Event::Judged { call: call.id.clone(), judgement })
    }

    fn judgement(&mut self, call: &ToolCall) -> Option<Judgement> {
        let (tool, checked) = match self.parts.tools.prepare(call) {
            Ok(prepared) => prepared,
            Err(answer) => return Some(Judgement::Answer(*answer)),
        };
        let subjects = tool.subjects(&checked, &self.parts.workshop.cwd);
        let verdict = self.bench().verdict(&call.name, &subjects);
        let headline = tool.headline(&checked);
        match verdict {
            Verdict::Allow => Some(run(tool.as_ref(), checked)),
            Verdict::Deny { reason } => Some(Judgement::Answer(denial(&call.name, &headline, &reason))),
            Verdict::Ask { reason, suggestions } if self.parts.interactive => {
                let preview = tool.preview(&checked, &self.parts.workshop.cwd);
                self.pending = Some(run(tool.as_ref(), checked));
                let ask = PermissionAsk {
                    id: self.next_ask(),
                    call: call.id.clone(),
                    tool: call.name.clone(),
                    summary: headline,
                    reason,
                    suggestions,
                    preview: AskPreview::None,
                };
                self.prepare(preview, ask);
                None
            }
            Verdict::Ask { reason, suggestions } => {
                let text = permission::refusal(&call.name, &headline, &reason, &suggestions);
                let notice = permission::refusal_notice(&call.name, &headline, &reason, &suggestions);
                self.notice(NoticeLevel::Warning, notice);
                Some(Judgement::Answer(ToolOutput::error(text)))
            }
        }
    }

    /// Finds out what the call would do; then the user is asked.
    fn prepare(&mut self, preview: BoxFuture<'static, AskPreview>, ask: PermissionAsk) {
        let (notes, id) = (self.notes.clone(), ask.id);
        self.preparing = Some(ask);
        tokio::spawn(async move {
            // A task of its own, so that a bug in a tool costs the preview and not the question.
            let preview = match tokio::time::timeout(PREVIEW_PATIENCE, tokio::spawn(preview)).await {
                Ok(Ok(preview)) => preview,
                Ok(Err(error)) => {
                    tracing::error!(%error, "a preview panicked");
                    AskPreview::None
                }
                Err(_) => AskPreview::None,
            };
            let _ended = notes.send(Note::Previewed { ask: id, preview });
        });
    }

    /// Asks the user, unless the question fell away meanwhile.
    pub(super) fn previewed(&mut self, ask: AskId, preview: AskPreview) {
        let Some(asked) = self.preparing.take_if(|preparing| preparing.id == ask) else { return };
        let asked = PermissionAsk { preview, ..asked };
        self.outbox.publish(AgentEvent::PermissionAsked(asked.clone()));
        self.asking = Some(Arc::new(asked));
    }

    /// The question about a call falls away.
    pub(super) fn unask(&mut self) {
        self.pending = None;
        self.preparing = None;
        if let Some(asked) = self.asking.take() {
            self.outbox.publish(AgentEvent::PermissionResolved { ask: asked.id });
        }
    }

    /// What a mutating call is answered with if the rules do not allow it any more; nobody is asked again.
    pub(super) fn second_thought(&self, tool: &dyn Tool, call: &ToolCall) -> Option<ToolOutput> {
        if !tool.is_mutating(&call.arguments) {
            return None;
        }
        let bench = self.bench();
        match bench.verdict(&call.name, &tool.subjects(&call.arguments, &bench.cwd)) {
            Verdict::Allow => None,
            Verdict::Ask { reason, .. } | Verdict::Deny { reason } => {
                Some(denial(&call.name, &tool.headline(&call.arguments), &reason))
            }
        }
    }

    fn bench(&self) -> Bench {
        Bench {
            rules: self.parts.rules.clone(),
            mode: self.parts.mode,
            cwd: self.parts.workshop.cwd.clone(),
            folders: self.parts.folders.clone(),
        }
    }

    /// What a search may not tell of: files that are denied, hold keys, or ask where the search itself did not.
    pub(super) fn withheld(&self, tool: &dyn Tool, arguments: &Arguments) -> Withheld {
        let (bench, name) = (self.bench(), tool.spec().name.clone());
        let subjects = tool.subjects(arguments, &bench.cwd);
        let was_asked = matches!(bench.verdict(&name, &subjects), Verdict::Ask { .. });
        Withheld::new(move |path| match bench.verdict(&name, &[Subject::Read(path.to_owned())]) {
            Verdict::Allow => false,
            Verdict::Ask { .. } => !was_asked || permission::is_key_file(path, &bench.paths()),
            Verdict::Deny { .. } => true,
        })
    }

    pub(super) fn answer(&mut self, ask: AskId, answer: PermissionAnswer) {
        // A late answer to a question that fell away must not decide about another call.
        let Some(asked) = self.asking.take_if(|asking| asking.id == ask) else { return };
        self.outbox.publish(AgentEvent::PermissionResolved { ask });
        if let PermissionAnswer::Session { rule } | PermissionAnswer::Always { rule } = &answer
            && let Err(error) = self.parts.rules.add_session_allow(rule)
        {
            self.notice(NoticeLevel::Error, format!("The rule was not taken: {error} This call runs."));
        }
        if let PermissionAnswer::Always { rule } = &answer
            && let Err(error) = (self.parts.save_grant)(rule)
        {
            self.notice(
                NoticeLevel::Error,
                format!("The rule holds for this session but was not saved: {error}"),
            );
        }
        self.answered(&asked, answer);
    }

    /// The user has answered the question about a call.
    fn answered(&mut self, asked: &PermissionAsk, answer: PermissionAnswer) {
        let Some(pending) = self.pending.take() else { return };
        // After a no the user speaks first, as after a stop.
        if answer == PermissionAnswer::No {
            let change = self.queue.turn_cancelled(CancelReason::Stop);
            if change.changed {
                self.announce_queue();
            }
        } else if let Some(running) = &mut self.running {
            running.allowed.insert(asked.call.clone());
        }
        let judgement = match answer {
            PermissionAnswer::Once | PermissionAnswer::Session { .. } | PermissionAnswer::Always { .. } => {
                pending
            }
            PermissionAnswer::No => Judgement::Refused,
            PermissionAnswer::NoWith { message } => Judgement::Answer(ToolOutput::error(format!(
                "The user refused this call and says: {message}"
            ))),
        };
        self.feed(Event::Judged { call: asked.call.clone(), judgement });
    }
}

/// What verdicts depend on, at one moment.
struct Bench {
    rules: Rules,
    mode: PermissionMode,
    cwd: PathBuf,
    folders: Folders,
}

impl Bench {
    fn verdict(&self, tool: &str, subjects: &[Subject]) -> Verdict {
        permission::judge(&self.rules, self.mode, tool, subjects, &self.paths())
    }

    fn paths(&self) -> PathContext<'_> {
        PathContext {
            cwd: &self.cwd,
            project_root: &self.folders.project_root,
            home: &self.folders.home,
            config_dir: &self.folders.config,
            resolve: &permission::resolve_on_disk,
        }
    }
}

fn run(tool: &dyn Tool, arguments: Arguments) -> Judgement {
    Judgement::Run { mutating: tool.is_mutating(&arguments), arguments }
}

/// What the model reads about a call that a rule denies.
fn denial(tool: &str, headline: &str, reason: &str) -> ToolOutput {
    ToolOutput::error(format!(
        "This {tool} call was refused and did not run: {headline}\n{reason} Do not try to get the same effect in another way."
    ))
}
