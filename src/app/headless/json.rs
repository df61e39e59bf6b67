//! Events as JSON lines, under the names that Pi's `--mode json` uses.
//!
//! Three things differ on purpose. `tool_execution_update` carries what is new (`"delta": true`), so that the stream
//! grows linearly with the output. `agent_end` says in `mynah_error` why a prompt was not answered, also when no response
//! had begun. Events that Pi does not have begin with `mynah_`.

use super::problem;
use crate::proto::compaction::CompactionOutcome;
use crate::proto::entry::EntryPatch;
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::ids::{CallId, EntryId};
use crate::proto::message::{Block, Message};
use crate::proto::tool::ToolOutput;
use crate::proto::usage::Usage;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Turns events into lines. Keeps what later lines need: kinds of open blocks, arguments of running calls, the messages
/// of the turn.
#[derive(Debug, Default)]
pub struct JsonLines {
    blocks: HashMap<EntryId, HashMap<usize, &'static str>>,
    calls: HashMap<CallId, (String, Map<String, Value>)>,
    messages: Vec<Arc<Message>>,
}

impl JsonLines {
    /// The line for an event, without its newline; `None` for events that are the program's own business.
    pub fn line(&mut self, event: &AgentEvent) -> Option<Value> {
        Some(match event {
            AgentEvent::TurnStarted { .. } => {
                self.messages.clear();
                json!({"type": "agent_start"})
            }
            AgentEvent::RoundStarted { .. } => json!({"type": "turn_start"}),
            AgentEvent::Entry { id, patch } => return self.patch(id, patch),
            AgentEvent::ToolStarted { call, tool, arguments, .. } => {
                self.calls.insert(call.clone(), (tool.clone(), arguments.clone()));
                json!({"type": "tool_execution_start", "toolCallId": call, "toolName": tool, "args": arguments})
            }
            AgentEvent::ToolProgress { call, delta } => {
                let (tool, arguments) = self.calls.get(call)?;
                json!({
                    "type": "tool_execution_update", "toolCallId": call, "toolName": tool, "args": arguments,
                    "partialResult": {"content": [{"type": "text", "text": delta}], "delta": true},
                })
            }
            AgentEvent::ToolSteps { call, chain } => {
                json!({"type": "mynah_tool_steps", "toolCallId": call, "chain": **chain})
            }
            // What is only drawn, until something is compacted here.
            AgentEvent::ToolWait { .. } | AgentEvent::CompactionProgress { .. } => return None,
            AgentEvent::CompactionStarted { reason, .. } => {
                json!({"type": "compaction_start", "reason": reason.as_str()})
            }
            AgentEvent::CompactionFinished { outcome } => {
                let aborted = matches!(outcome, CompactionOutcome::Cancelled);
                let mut line = json!({"type": "compaction_end", "aborted": aborted, "willRetry": false});
                if let CompactionOutcome::Failed { error } = outcome {
                    insert_some(&mut line, "errorMessage", Some(error.clone()));
                }
                line
            }
            AgentEvent::ToolFinished { call, tool, output, duration_ms } => {
                self.calls.remove(call);
                tool_finished(call, tool, output, *duration_ms)
            }
            AgentEvent::RoundFinished { message, results } => {
                let results: Vec<Value> =
                    results.iter().map(|result| with_role(json!(result), "toolResult")).collect();
                json!({"type": "turn_end", "message": with_role(json!(message), "assistant"), "toolResults": results})
            }
            AgentEvent::RetryScheduled { attempt, max_attempts, delay_ms, error } => json!({
                "type": "auto_retry_start", "attempt": attempt, "maxAttempts": max_attempts, "delayMs": delay_ms,
                "errorMessage": error,
            }),
            AgentEvent::RetryFinished { success, attempt, error } => {
                let mut line = json!({"type": "auto_retry_end", "success": success, "attempt": attempt});
                insert_some(&mut line, "finalError", error.clone());
                line
            }
            AgentEvent::TurnFinished { outcome, .. } => {
                let messages = std::mem::take(&mut self.messages);
                let mut line = json!({"type": "agent_end", "messages": messages, "willRetry": false});
                insert_some(&mut line, "mynah_error", problem(outcome, false));
                line
            }
            AgentEvent::Settled { aborted } => json!({"type": "agent_settled", "aborted": aborted}),
            AgentEvent::QueueChanged { steering, waiting } => {
                json!({"type": "queue_update", "steering": steering, "followUp": waiting})
            }
            AgentEvent::ThinkingChanged(level) => json!({"type": "thinking_level_changed", "level": level}),
            AgentEvent::Renamed(name) => json!({"type": "session_info_changed", "name": name}),
            AgentEvent::ModelChanged(model) => {
                json!({"type": "mynah_model_changed", "provider": model.provider, "modelId": model.id})
            }
            AgentEvent::ModeChanged(mode) => json!({"type": "mynah_mode_changed", "mode": mode}),
            AgentEvent::PermissionAsked(ask) => json!({"type": "mynah_permission_asked", "ask": ask}),
            AgentEvent::ShellStarted { command, shown_only } => {
                json!({"type": "mynah_shell_start", "command": command, "excludeFromContext": shown_only})
            }
            AgentEvent::ShellProgress { delta } => json!({"type": "mynah_shell_update", "delta": delta}),
            AgentEvent::ShellFinished { message } => json!({"type": "mynah_shell_end", "message": message}),
            AgentEvent::PermissionResolved { ask } => {
                json!({"type": "mynah_permission_resolved", "ask": ask})
            }
            AgentEvent::Notice { level, text } => {
                let level = match level {
                    NoticeLevel::Info => "info",
                    NoticeLevel::Warning => "warning",
                    NoticeLevel::Error => "error",
                };
                json!({"type": "mynah_notice", "level": level, "text": text})
            }
        })
    }

    fn patch(&mut self, id: &EntryId, patch: &EntryPatch) -> Option<Value> {
        let (usage, event) = match patch {
            EntryPatch::Start(message) => return Some(json!({"type": "message_start", "message": message})),
            EntryPatch::Finish(message) => {
                self.blocks.remove(id);
                self.messages.push(message.clone());
                return Some(json!({"type": "message_end", "message": message}));
            }
            EntryPatch::Open { index, block } => {
                let (kind, event) = match block {
                    Block::Text { .. } => ("text", json!({"type": "text_start", "contentIndex": index})),
                    Block::Thinking { .. } => {
                        ("thinking", json!({"type": "thinking_start", "contentIndex": index}))
                    }
                    Block::ToolCall(call) => (
                        "toolcall",
                        json!({
                            "type": "toolcall_start", "contentIndex": index, "id": call.id, "toolName": call.name,
                        }),
                    ),
                    Block::Image { .. } | Block::Unknown => return None,
                };
                self.blocks.entry(id.clone()).or_default().insert(*index, kind);
                (Usage::default(), event)
            }
            EntryPatch::Append { index, delta, usage } => {
                let kind = self.blocks.get(id)?.get(index)?;
                (*usage, json!({"type": format!("{kind}_delta"), "contentIndex": index, "delta": delta}))
            }
            EntryPatch::Close { index, block, usage } => {
                let event = match block {
                    Block::Text { text, .. } => {
                        json!({"type": "text_end", "contentIndex": index, "content": text})
                    }
                    Block::Thinking { thinking, .. } => {
                        json!({"type": "thinking_end", "contentIndex": index, "content": thinking})
                    }
                    Block::ToolCall(_) => {
                        json!({"type": "toolcall_end", "contentIndex": index, "toolCall": block})
                    }
                    Block::Image { .. } | Block::Unknown => return None,
                };
                (*usage, event)
            }
        };
        Some(json!({"type": "message_update", "usage": usage, "assistantMessageEvent": event}))
    }
}

fn tool_finished(call: &CallId, tool: &str, output: &ToolOutput, duration_ms: Option<u64>) -> Value {
    let mut line = json!({
        "type": "tool_execution_end", "toolCallId": call, "toolName": tool, "result": output,
        "isError": output.is_error,
    });
    insert_some(&mut line, "durationMs", duration_ms);
    line
}

/// Messages know their role by their place in [`Message`]; bare ones get it here.
fn with_role(message: Value, role: &str) -> Value {
    match message {
        Value::Object(fields) => {
            let mut all = Map::new();
            all.insert("role".to_owned(), role.into());
            all.extend(fields);
            Value::Object(all)
        }
        other => other,
    }
}

fn insert_some(line: &mut Value, key: &str, value: Option<impl Into<Value>>) {
    if let (Value::Object(fields), Some(value)) = (line, value) {
        fields.insert(key.to_owned(), value.into());
    }
}
