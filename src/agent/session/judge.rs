//! The checks of a call before it runs: it exists, its arguments fit, the rules allow it.

use super::Session;
use crate::agent::fsm::{Event, Judgement};
use crate::agent::permission::{self, PathContext, Verdict};
use crate::proto::ask::{PermissionAnswer, PermissionAsk};
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::message::ToolCall;
use crate::proto::tool::ToolOutput;
use crate::tools::{Arguments, Tool};

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
        let verdict = permission::judge(
            &self.parts.rules,
            self.parts.mode,
            &call.name,
            &subjects,
            &PathContext {
                cwd: &self.parts.workshop.cwd,
                project_root: &self.parts.folders.project_root,
                home: &self.parts.folders.home,
                config_dir: &self.parts.folders.config,
                resolve: &permission::resolve_on_disk,
            },
        );
        let headline = tool.headline(&checked);
        match verdict {
            Verdict::Allow => Some(run(tool.as_ref(), checked)),
            Verdict::Deny { reason } => Some(Judgement::Answer(denial(&call.name, &headline, &reason))),
            Verdict::Ask { reason, suggestions } if self.parts.interactive => {
                let ask = PermissionAsk {
                    id: self.next_ask(),
                    call: call.id.clone(),
                    tool: call.name.clone(),
                    summary: headline,
                    reason,
                    suggestions,
                };
                self.outbox.publish(AgentEvent::PermissionAsked(ask.clone()));
                self.pending = Some(run(tool.as_ref(), checked));
                self.asking = Some(ask);
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

    /// The user has answered the question about a call.
    pub(super) fn answered(&mut self, asked: &PermissionAsk, answer: PermissionAnswer) {
        let Some(pending) = self.pending.take() else { return };
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

fn run(tool: &dyn Tool, arguments: Arguments) -> Judgement {
    Judgement::Run { mutating: tool.is_mutating(&arguments), arguments }
}

/// What the model reads about a call that a rule denies.
fn denial(tool: &str, headline: &str, reason: &str) -> ToolOutput {
    ToolOutput::error(format!(
        "This {tool} call was refused and did not run: {headline}\n{reason} Do not try to get the same effect in another way."
    ))
}
