//! The sheet with its styles. The screens are looked at when they change.

use crate::app::stage::Stage;
use crate::assert_screen;
use crate::proto::chain::{Chain, Step, StepJoint, StepState};
use crate::proto::compaction::CompactionReason;
use crate::proto::entry::EntryPatch;
use crate::proto::event::AgentEvent;
use crate::proto::ids::{CallId, EntryId, TicketId, TurnId};
use crate::proto::message::Message;
use crate::proto::tool::ToolOutput;
use crate::theme::Theme;
use crate::theme::depth::Depth;
use serde_json::{Value, json};
use std::sync::Arc;

const SIZES: [(u16, u16); 3] = [(60, 20), (100, 30), (160, 40)];

const PATCH: &str = "--- src/lexer.rs\n+++ src/lexer.rs\n@@ -38,7 +38,8 @@\n impl Lexer {\n     /// All tokens of the text.\n     fn tokens(&self) -> Result<Vec<Token>> {\n-        if self.text.is_empty() { return Err(Error::Empty) }\n+        if self.text.is_empty() { return Ok(Vec::new()) }\n+        let mut tokens = Vec::with_capacity(self.text.len() / 4);\n         let mut at = 0;\n         while at < self.text.len() {\n";

fn call(stage: &mut Stage, tool: &str, arguments: Value) -> CallId {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let call = CallId::new("call");
    stage.event(AgentEvent::TurnStarted { turn: TurnId(1), ticket: TicketId(1) });
    stage.event(AgentEvent::ToolStarted {
        call: call.clone(),
        tool: tool.to_owned(),
        arguments,
        limit_ms: (tool == "bash").then_some(120_000),
    });
    call
}

fn ends(stage: &mut Stage, call: CallId, tool: &str, output: ToolOutput, millis: u64) {
    stage.wait(millis);
    let (tool, output) = (tool.to_owned(), Arc::new(output));
    stage.event(AgentEvent::ToolFinished { call, tool, output, duration_ms: Some(millis) });
    // Past any flash.
    stage.wait(2_000);
}

/// A command of three steps, the last of which failed.
fn steps(stage: &mut Stage) {
    let command = "cargo fmt && cargo clippy && cargo test parser";
    let id = call(stage, "bash", json!({ "command": command }));
    let output: String = (1..=120)
        .map(|case| match case {
            96 => format!("test parser::case_{case:03} ... \u{1b}[31mFAILED\u{1b}[0m\n"),
            _ => format!("test parser::case_{case:03} ... \u{1b}[32mok\u{1b}[0m\n"),
        })
        .collect();
    let step = |text: &str, state, took_ms, exit, output: &str| Step {
        text: text.to_owned(),
        joint: StepJoint::And,
        state,
        started_ms: Some(0),
        took_ms: Some(took_ms),
        exit,
        output: output.to_owned(),
        lines_before: 0,
    };
    let chain = Chain {
        location: None,
        steps: vec![
            step("cargo fmt", StepState::Ok, 400, Some(0), ""),
            step("cargo clippy", StepState::Ok, 8_600, Some(0), "Finished\n"),
            step("cargo test parser", StepState::Failed, 15_100, Some(101), &output),
        ],
    };
    let text = format!("{output}\n\nCommand exited with code 101");
    let result =
        ToolOutput { is_error: true, ..ToolOutput::text(text).with_details(json!({ "chain": chain })) };
    stage.event(AgentEvent::ToolSteps { call: id.clone(), chain: Arc::new(chain) });
    ends(stage, id, "bash", result, 24_100);
}

fn edit(stage: &mut Stage) {
    let id = call(stage, "edit", json!({"path": "src/lexer.rs"}));
    let result = ToolOutput::text("Successfully replaced.").with_details(json!({ "patch": PATCH }));
    ends(stage, id, "edit", result, 12);
}

/// A script that runs, of several lines.
fn script(stage: &mut Stage) {
    let lines: String = (1..=20).map(|line| format!("echo {line}\n")).collect();
    let id = call(
        stage,
        "bash",
        json!({"command": format!("set -e\nfor f in *.rs; do\n  wc -l \"$f\"\ndone\n{lines}")}),
    );
    stage.wait(3_200);
    stage.event(AgentEvent::ToolProgress { call: id, delta: "  12 a.rs\n  40 b.rs\n".to_owned() });
}

fn read(stage: &mut Stage) {
    let id = call(stage, "read", json!({"path": "src/main.rs", "offset": 98}));
    let text = "/// Begins.\nfn main() {\n    let text = \"a\\tb\";\n\tprintln!(\"{text}\");\n}\n";
    ends(stage, id, "read", ToolOutput::text(text), 3);
}

fn said(stage: &mut Stage, message: Value) {
    let message: Message = serde_json::from_value(message).expect("a message");
    let patch = EntryPatch::Finish(Arc::new(message));
    stage.event(AgentEvent::Entry { id: EntryId::new("e1"), patch });
    stage.wait(5_000);
}

fn thinking(stage: &mut Stage) {
    let text = "The lexer fails on an **empty** text.\n\n1. It asks for the first token\n2. There is none\n\n```rust\nlet first = tokens[0];\n```\n";
    let block = json!({"type": "thinking", "thinking": text, "thinkingSignature": ""});
    said(
        stage,
        json!({"role": "assistant", "content": [block], "api": "", "provider": "", "model": "",
        "usage": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}},
        "stopReason": "stop", "timestamp": 0}),
    );
}

fn summary(stage: &mut Stage) {
    said(
        stage,
        json!({"role": "compactionSummary", "tokensBefore": 112_000, "timestamp": 0,
        "summary": "## Goal\nFix the lexer.\n\n## Done\n- [x] A test that fails\n- [ ] `tokens` on an empty text\n"}),
    );
}

fn summing_up(stage: &mut Stage) {
    stage.event(AgentEvent::CompactionStarted { reason: CompactionReason::Auto, tokens_before: 112_000 });
    stage.wait(4_200);
    stage.event(AgentEvent::CompactionProgress { delta: "## Goal\nFix the lexer.\n\n## Do".to_owned() });
    stage.wait(5_000);
}

/// A command of the user.
fn shell(stage: &mut Stage) {
    said(
        stage,
        json!({"role": "bashExecution", "command": "git status --short", "exitCode": 128,
        "output": "fatal: not a git repository\n", "cancelled": false, "truncated": false, "timestamp": 0}),
    );
}

fn picture(stage: &mut Stage) {
    let id = call(stage, "read", json!({"path": "docs/shot.png"}));
    let content = json!([{"type": "text", "text": "Read image file [image/png]\n[Image: original 3840x2160, displayed at 1568x882.]"},
        {"type": "image", "mimeType": "image/png", "data": "A".repeat(4096)}]);
    let content = serde_json::from_value(content).expect("blocks");
    ends(stage, id, "read", ToolOutput { content, ..ToolOutput::text("") }, 30);
}

fn themes() -> Vec<(&'static str, Theme)> {
    vec![("", Theme::quiet_dark()), ("-light", Theme::quiet_light()), ("-ansi", Theme::terminal())]
}

#[test]
fn sheets() {
    type Scene = (&'static str, fn(&mut Stage), &'static [&'static str]);
    let scenes: [Scene; 10] = [
        ("steps", steps, &[]),
        ("edit", edit, &[]),
        ("script", script, &[]),
        ("read", read, &[]),
        ("search", steps, &["/", "0", "3"]),
        ("thinking", thinking, &[]),
        ("summary", summary, &[]),
        ("summing-up", summing_up, &[]),
        ("shell", shell, &[]),
        ("picture", picture, &[]),
    ];
    for (name, play, keys) in scenes {
        for (suffix, theme) in themes() {
            for size in SIZES {
                // The light and the plain ones differ in colours alone.
                let is_looked_at_once =
                    matches!(name, "thinking" | "summary" | "summing-up" | "shell" | "picture");
                if (!suffix.is_empty() || is_looked_at_once) && size != (100, 30) {
                    continue;
                }
                if !suffix.is_empty() && matches!(name, "read" | "shell" | "picture") {
                    continue;
                }
                let mut stage = Stage::running();
                stage.state.size = size;
                stage.state.theme = theme.clone();
                play(&mut stage);
                stage.keys(&["ctrl+up", "enter"]);
                stage.draw();
                stage.keys(keys);
                let (mut buffer, caret) = stage.draw();
                if suffix == "-ansi" {
                    for cell in &mut buffer.content {
                        cell.fg = Depth::Ansi.quantise(cell.fg);
                        cell.bg = Depth::Ansi.quantise(cell.bg);
                    }
                }
                assert_screen!("sheet", format!("{name}{suffix}"), &buffer, caret);
            }
        }
    }
}
