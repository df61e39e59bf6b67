//! Whole screens with their styles, at three sizes. They are looked at when they change.

use crate::app::stage::{Stage, command_ask, opened, queued, running, said, steering, view};
use crate::assert_screen;
use crate::proto::ask::{AskPreview, PermissionAsk, PermissionMode};
use crate::proto::command::TicketOutcome;
use crate::proto::entry::EntryPatch;
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::ids::{AskId, CallId, EntryId, TicketId, TurnId};
use crate::proto::message::{Block, Message, StopReason, ToolCall, UserMessage};
use crate::proto::tool::ToolOutput;
use crate::proto::usage::{Cost, Counts, Usage};
use crate::theme::Theme;
use crate::theme::depth::Depth;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

const SIZES: [(u16, u16); 3] = [(60, 20), (100, 30), (160, 50)];

/// What the colours are.
#[derive(Clone, Copy)]
enum Ground {
    Dark,
    Light,
    Contrast,
    /// The terminal's own sixteen.
    Ansi,
}

const PATCH: &str = "--- src/lexer.rs\n+++ src/lexer.rs\n@@ -38,7 +38,8 @@\n impl Lexer {\n     /// All tokens of the text.\n     \
                     fn tokens(&self) -> Result<Vec<Token>> {\n-        if self.text.is_empty() { return \
                     Err(Error::Empty) }\n+        if self.text.is_empty() { return Ok(Vec::new()) }\n+        let mut \
                     tokens = Vec::with_capacity(self.text.len() / 4);\n         let mut at = 0;\n         while at < \
                     self.text.len() {\n";

const REPLY: &str = "The lexer accepts empty input now. What else I found:\n\n- `parse` unwraps the first token, so the command \
                     line still panics on an **empty file**\n- the help says that input can't be empty\n\n| file | line | what \
                     breaks |\n|---|--:|---|\n| src/parser.rs | 88 | `unwrap` on the first token |\n| src/cli.rs | 12 | \
                     the help text |\n\nThis is the whole fix of the parser:\n\n```rust\nlet Some(first) = tokens.first() \
                     else {\n    return Ok(Ast::default());\n};\n```\n\nShall I change both?";

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

impl Stage {
    fn entry(&mut self, id: &str, patch: EntryPatch) {
        self.event(AgentEvent::Entry { id: EntryId::new(id), patch });
    }

    fn prompt(&mut self, text: &str) {
        let content = vec![Block::text(text)];
        let message = Arc::new(Message::User(UserMessage { content, timestamp: 0 }));
        self.entry("user", EntryPatch::Start(message.clone()));
        self.entry("user", EntryPatch::Finish(message));
        self.event(AgentEvent::TurnStarted { turn: TurnId(1), ticket: TicketId(1) });
    }

    /// A block as it streams, without its end.
    fn streams(&mut self, id: &str, index: usize, block: &Block) {
        let (empty, delta) = match block {
            Block::Thinking { thinking, .. } => (thinking_block(""), thinking.clone()),
            Block::ToolCall(call) => (
                Block::ToolCall(ToolCall { arguments: Map::new(), ..call.clone() }),
                serde_json::to_string(&call.arguments).unwrap(),
            ),
            Block::Text { text, .. } => (Block::text(""), text.clone()),
            other => (other.clone(), String::new()),
        };
        self.entry(id, EntryPatch::Open { index, block: empty });
        self.wait(1_600);
        self.entry(id, EntryPatch::Append { index, delta, usage: Usage::default() });
        self.wait(1_600);
    }

    fn begins(&mut self, id: &str) {
        self.event(AgentEvent::RoundStarted { round: 1 });
        self.wait(700);
        let empty = Message::Assistant(said(Vec::new(), StopReason::Pending));
        self.entry(id, EntryPatch::Start(Arc::new(empty)));
        self.wait(600);
    }

    fn says(&mut self, id: &str, content: Vec<Block>) {
        self.begins(id);
        for (index, block) in content.iter().enumerate() {
            self.streams(id, index, block);
            self.entry(id, EntryPatch::Close { index, block: block.clone(), usage: Usage::default() });
        }
        let is_last = !content.iter().any(|block| matches!(block, Block::ToolCall(_)));
        let reason = if is_last { StopReason::Stop } else { StopReason::ToolUse };
        self.entry(id, EntryPatch::Finish(Arc::new(Message::Assistant(said(content, reason)))));
    }

    fn starts(&mut self, call: &ToolCall) {
        self.event(AgentEvent::ToolStarted {
            call: call.id.clone(),
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
            limit_ms: call.arguments.get("timeout").and_then(Value::as_u64).map(|seconds| seconds * 1000),
        });
    }

    fn runs(&mut self, call: &ToolCall, text: &str, details: Value, is_error: bool, millis: u64) {
        self.starts(call);
        let output = ToolOutput { is_error, ..ToolOutput::text(text).with_details(details) };
        self.event(AgentEvent::ToolFinished {
            call: call.id.clone(),
            tool: call.name.clone(),
            output: Arc::new(output),
            duration_ms: Some(millis),
        });
    }
}

fn thinking_block(text: &str) -> Block {
    Block::Thinking { thinking: text.to_owned(), thinking_signature: None, redacted: false }
}

fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: CallId::new(id),
        name: name.to_owned(),
        arguments: object(arguments),
        thought_signature: None,
        malformed: None,
    }
}

/// A session in which something was said already.
fn stage() -> Stage {
    let mut stage = Stage::started();
    let mut view = view();
    view.name = Some("empty input".to_owned());
    view.usage = Usage {
        input: 402_000,
        output: 19_400,
        cache_read: 3_100_000,
        cache_write: 88_000,
        cost: Cost { total: 0.94, ..Cost::default() },
        ..Usage::default()
    };
    view.counts = Counts { prompts: 5, rounds: 22, tools: 63, airtime: Duration::from_secs(432) };
    view.context.tokens = 61_000;
    view.context.known = true;
    stage.state.branch = Some("dev".to_owned());
    stage.state.session.clock = Some((15, 7));
    stage.opened(opened(view));
    stage
}

fn start() -> Stage {
    let mut stage = Stage::open();
    stage.state.branch = Some("dev".to_owned());
    stage
}

/// One prompt with some of everything, up to its last calls.
fn first_rounds() -> Stage {
    let mut stage = stage();
    stage.prompt("Make the parser accept empty input, add a test, and tell me what else breaks.");
    stage.change(|view, now| view.running = Some(running(now)));
    let read = call("1", "read", json!({"path": "src/lexer.rs", "offset": 1, "limit": 80}));
    let grep = call("2", "grep", json!({"pattern": "is_empty", "path": "src", "glob": "*.rs"}));
    stage.says(
        "one",
        vec![
            thinking_block("The lexer comes first. I should read it and see who calls it."),
            Block::text("The lexer rejects an empty buffer before the parser sees it. I'll read both, then change the guard."),
            Block::ToolCall(read.clone()),
            Block::ToolCall(grep.clone()),
        ],
    );
    let lines: String = (1..=80).map(|line| format!("line {line}\n")).collect();
    stage.runs(&read, &lines, json!({}), false, 12);
    let found = "src/lexer.rs:41: if self.text.is_empty()\nsrc/parser.rs:88: if tokens.is_empty()";
    stage.runs(&grep, found, json!({}), false, 34);
    stage
}

fn conversation() -> Stage {
    let mut stage = first_rounds();
    let edit = call("3", "edit", json!({"path": "src/lexer.rs", "edits": [{}]}));
    let test = call("4", "bash", json!({"command": "cargo fmt && cargo test parser"}));
    stage.says("two", vec![Block::ToolCall(edit.clone()), Block::ToolCall(test.clone())]);
    stage.runs(&edit, "Edited src/lexer.rs.", json!({ "patch": PATCH }), false, 8);
    let output = "running 3 tests\ntest lexer::numbers ... ok\ntest parser::empty_input ... FAILED\n\nfailures:\n    \
                  parser::empty_input\n\nerror: test failed, to rerun pass `--lib`\n\nCommand exited with code 101";
    stage.runs(&test, output, json!({"exitCode": 101}), true, 24_100);
    stage.says("three", vec![Block::text(REPLY)]);
    stage.event(AgentEvent::TurnFinished {
        turn: TurnId(1),
        ticket: TicketId(1),
        outcome: TicketOutcome::Completed,
    });
    stage.change(|view, _| view.running = None);
    stage
}

fn working() -> Stage {
    let mut stage = first_rounds();
    let test = call("3", "bash", json!({"command": "cargo test --workspace", "timeout": 120}));
    stage.says("two", vec![Block::ToolCall(test.clone())]);
    stage.starts(&test);
    let delta = "   Compiling tool v0.3.0 (/home/ada/src/tool)\n    Finished `test` profile in 21.30s\ntest ast::roundtrip ... ok\ntest parser::empty_input ... ok\n";
    stage.event(AgentEvent::ToolProgress { call: test.id, delta: delta.to_owned() });
    stage.change(|view, _| {
        view.steering = vec![steering(7, "the CLI help says it can't be empty, look there too")];
        view.queue = vec![
            queued(8, "then write the changelog entry"),
            queued(9, "and bump the version\nin both places"),
        ];
    });
    stage.wait(31_000);
    stage.type_text("what does the benchmark say");
    stage
}

fn thinking() -> Stage {
    let mut stage = first_rounds();
    stage.begins("two");
    stage.streams(
        "two",
        0,
        &thinking_block(
            "The CLI help says the input can't be empty, which is no longer true.\n\n- so the text in `cli.rs` needs \
             the same change\n- and the **example** that shows the error should go. I'd rather replace it by the new \
             behaviour than delete it, since people look for it and nothing else in the help tells them what an empty \
             input means",
        ),
    );
    stage
}

fn permission() -> Stage {
    let mut stage = first_rounds();
    let edit = call("3", "edit", json!({"path": "src/lexer.rs", "edits": [{}]}));
    stage.says("two", vec![Block::ToolCall(edit.clone())]);
    stage.event(AgentEvent::PermissionAsked(PermissionAsk {
        id: AskId(1),
        call: edit.id,
        tool: "edit".to_owned(),
        summary: "src/lexer.rs".to_owned(),
        reason: "Edits ask in ask mode.".to_owned(),
        suggestions: vec!["edit(./src/lexer.rs)".to_owned(), "edit(./src/**)".to_owned()],
        preview: AskPreview::Change { path: "src/lexer.rs".to_owned(), patch: PATCH.to_owned() },
    }));
    stage.wait(2_000);
    stage
}

fn permission_command() -> Stage {
    let mut stage = first_rounds();
    let command = "set -e\ncargo test --workspace --all-features -- --nocapture | tee target/test.log\ngit add -A && git commit -m 'Accept empty input'";
    let bash = call("call-1", "bash", json!({"command": command}));
    stage.says("two", vec![Block::ToolCall(bash)]);
    stage.event(AgentEvent::PermissionAsked(command_ask(1, command)));
    stage.wait(2_000);
    stage
}

fn completion() -> Stage {
    let mut stage = conversation();
    stage.type_text("/");
    stage.key("down");
    stage
}

fn models() -> Stage {
    let mut stage = conversation();
    stage.key("alt+m");
    stage
}

fn help() -> Stage {
    let mut stage = conversation();
    stage.key("f1");
    stage
}

fn chord() -> Stage {
    let mut stage = conversation();
    let keys = "[global]\nhelp = [\"f1\", \"ctrl+x h\"]\nsettings = [\"f2\", \"ctrl+x s\"]\nrepaint = \"ctrl+x l\"\n";
    stage.state.keymap = stage.state.keymap.clone().patched(keys, std::path::Path::new("keymap.toml")).0;
    stage.key("ctrl+x");
    stage
}

fn error() -> Stage {
    let mut stage = Stage::with(|beginning| {
        beginning.notices = vec![
            "/home/ada/.config/mynah/keymap.toml:3: there is no action `jump`. The usual keys hold."
                .to_owned(),
        ];
    });
    let mut view = view();
    view.mode = PermissionMode::Yolo;
    stage.opened(opened(view));
    stage.prompt("Make the parser accept empty input.");
    stage.event(AgentEvent::Notice {
        level: NoticeLevel::Info,
        text: "The model is now Claude Opus 5.5.".to_owned(),
    });
    stage.event(AgentEvent::Notice {
        level: NoticeLevel::Error,
        text: "The session could not be saved: no space left on device. What is shown here is kept in memory and written when there is room.".to_owned(),
    });
    stage.wait(42_000);
    stage.event(AgentEvent::TurnFinished {
        turn: TurnId(1),
        ticket: TicketId(1),
        outcome: TicketOutcome::Failed {
            error: "The provider is overloaded (529). The prompt is kept: send it again in a while."
                .to_owned(),
        },
    });
    stage.line("/hlep");
    stage
}

fn show(case: &str, stage: fn() -> Stage, ground: Ground) {
    let (suffix, theme) = match ground {
        Ground::Dark => ("", None),
        Ground::Light => ("_light", Some(Theme::quiet_light())),
        Ground::Contrast => ("_contrast", Some(Theme::contrast_dark())),
        Ground::Ansi => ("_ansi", Some(Theme::terminal())),
    };
    for size in SIZES {
        let mut stage = stage();
        stage.state.size = size;
        if let Some(theme) = &theme {
            stage.state.theme = theme.clone();
        }
        let (mut buffer, caret) = stage.draw();
        if matches!(ground, Ground::Ansi) {
            for cell in &mut buffer.content {
                cell.fg = Depth::Ansi.quantise(cell.fg);
                cell.bg = Depth::Ansi.quantise(cell.bg);
            }
        }
        assert_screen!("screen", format!("{case}{suffix}"), &buffer, caret);
    }
}

#[test]
fn screens() {
    show("start", start, Ground::Dark);
    show("conversation", conversation, Ground::Dark);
    show("working", working, Ground::Dark);
    show("thinking", thinking, Ground::Dark);
    show("permission", permission, Ground::Dark);
    show("permission_command", permission_command, Ground::Dark);
    show("completion", completion, Ground::Dark);
    show("models", models, Ground::Dark);
    show("help", help, Ground::Dark);
    show("error", error, Ground::Dark);
    show("chord", chord, Ground::Dark);
}

#[test]
fn screens_on_light() {
    show("conversation", conversation, Ground::Light);
    show("working", working, Ground::Light);
}

#[test]
fn screens_of_high_contrast() {
    show("conversation", conversation, Ground::Contrast);
    show("permission", permission, Ground::Contrast);
}

#[test]
fn screens_with_sixteen_colours() {
    show("conversation", conversation, Ground::Ansi);
    show("working", working, Ground::Ansi);
}

mod moving;

mod folds;

#[path = "flow_screens.rs"]
mod flows;
