//! A conversation of any length, mixed as real ones are: prompts, prose, tables, outputs of 2,000 lines, differences.

use mynah::app::draw::draw;
use mynah::app::effect::Effect;
use mynah::app::msg::Msg;
use mynah::app::state::{AppState, Beginning};
use mynah::app::update::update;
use mynah::config::keymap::Keymap;
use mynah::config::load::Loaded;
use mynah::proto::ids::CallId;
use mynah::proto::message::{
    AssistantMessage, Block, Message, StopReason, ToolCall, ToolResultMessage, UserMessage,
};
use mynah::proto::usage::Usage;
use mynah::term::input::Input;
use mynah::term::screen::{Frame, Screen};
use mynah::theme::Theme;
use ratatui::buffer::{Buffer, Cell};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

pub const SIZE: (u16, u16) = (200, 60);
pub const SHORT: usize = 100;
pub const LONG: usize = 100_000;

/// The program without a terminal and an agent, but with the bytes that a terminal would get.
pub struct World {
    pub state: AppState,
    screen: Screen,
    spare: Buffer,
    out: Vec<u8>,
}

impl World {
    /// One in which these messages were said, and drawn once.
    pub fn of(messages: usize) -> Self {
        Self::with((0..messages).map(message).collect())
    }

    /// One in which nothing but calls was made, by a prompt.
    pub fn of_run(messages: usize) -> Self {
        let calls = (1..messages).map(|index| {
            if index.is_multiple_of(2) {
                return Arc::new(result(2, index));
            }
            let arguments = json!({"command": format!("cargo test step_{index}")});
            Arc::new(said(vec![Block::ToolCall(ToolCall {
                id: CallId::new(format!("c{index}")),
                name: "bash".to_owned(),
                arguments: arguments.as_object().cloned().unwrap_or_default(),
                thought_signature: None,
                malformed: None,
            })]))
        });
        Self::with(std::iter::once(message(0)).chain(calls).collect())
    }

    fn with(messages: Vec<Arc<Message>>) -> Self {
        let mut state = AppState::new(Beginning {
            loaded: Loaded::defaults(),
            cwd: "/project".into(),
            home: "/home/u".into(),
            term_program: None,
            no_session: true,
            pick_session: false,
            themes: Vec::new(),
            theme: Theme::quiet_dark(),
            page_known: true,
            keymap: Keymap::defaults(),
            notices: Vec::new(),
            prompts: Vec::new(),
            size: SIZE,
            now: Instant::now(),
        });
        state.conversation.load(messages);
        let mut world =
            Self { state, screen: Screen::new(true, true), spare: Buffer::default(), out: Vec::new() };
        world.frame();
        world
    }

    /// The text of the rows that the last frame showed.
    pub fn rows(&self) -> Vec<String> {
        let cells = self.screen.shown();
        let width = usize::from(cells.area.width).max(1);
        let text = |row: &[Cell]| row.iter().map(Cell::symbol).collect::<String>().trim_end().to_owned();
        cells.content.chunks(width).map(text).collect()
    }

    /// Draws a frame and paints it; returns the bytes for the terminal.
    pub fn frame(&mut self) -> usize {
        let mut cells = std::mem::take(&mut self.spare);
        cells.resize(Rect::new(0, 0, self.state.size.0, self.state.size.1));
        cells.reset();
        let caret = draw(&mut self.state, Instant::now(), &mut cells);
        self.out.clear();
        self.spare = self.screen.paint(Frame { cells, caret, ..Frame::default() }, &mut self.out);
        self.out.len()
    }

    pub fn tell(&mut self, msg: Msg) -> Vec<Effect> {
        update(&mut self.state, msg, Instant::now()).effects
    }

    pub fn press(&mut self, code: KeyCode, held: KeyModifiers) -> Vec<Effect> {
        let effects = self.tell(Msg::Input(Input::Key(KeyEvent::new(code, held))));
        self.frame();
        effects
    }

    pub fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) {
        let event = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
        self.tell(Msg::Input(Input::Mouse(event)));
        self.frame();
    }

    pub fn resize(&mut self, (columns, rows): (u16, u16)) {
        self.tell(Msg::Input(Input::Resize { columns, rows }));
        self.frame();
    }
}

/// The kinds of messages repeat after so many.
const KINDS: usize = 20;

/// Of so many rounds of kinds one has an output of 2,000 lines.
const LONG_OUTPUT_EACH: usize = 5;

/// 2,000 lines, as tools cut their output.
static OUTPUT: LazyLock<String> =
    LazyLock::new(|| (0..2000).map(|line| format!("test parser::case_{line} ... ok\n")).collect());

/// A message of a long conversation, by its place.
pub fn message(index: usize) -> Arc<Message> {
    Arc::new(match index % KINDS {
        0 => Message::User(UserMessage {
            content: vec![Block::text(format!("Do step {index}, and say what you find in the lexer."))],
            timestamp: 0,
        }),
        kind if kind % 2 == 1 => assistant(kind, index),
        kind => result(kind, index),
    })
}

fn assistant(kind: usize, index: usize) -> Message {
    let says = match kind {
        1 => format!(
            "Step **{index}**: the guard must let an empty buffer pass.\n\n- one thing, `tokens`\n- another\n\n```rust\nfn \
             tokens(&self) -> Vec<Token> {{\n    self.buffer.clone()\n}}\n```\n"
        ),
        7 => format!(
            "| file | line | what breaks |\n|---|--:|---|\n{}",
            (0..12)
                .map(|row| format!(
                    "| src/part_{row}.rs | {} | `unwrap` on the first token of {index} |\n",
                    row * 7
                ))
                .collect::<String>()
        ),
        19 => {
            return said(vec![Block::text(format!(
                "That went well: {index} is done. On to the next one, which is longer and needs a look at the parser first."
            ))]);
        }
        _ => format!("Looking at {index}."),
    };
    let (name, arguments) = match kind {
        3 | 13 => ("edit", json!({"path": "src/lexer.rs", "edits": []})),
        5 | 15 => ("read", json!({"path": "src/parser.rs"})),
        _ => ("bash", json!({"command": format!("cargo test step_{index}")})),
    };
    said(vec![
        Block::text(says),
        Block::ToolCall(ToolCall {
            id: CallId::new(format!("c{index}")),
            name: name.to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            thought_signature: None,
            malformed: None,
        }),
    ])
}

fn result(kind: usize, index: usize) -> Message {
    let (tool, text, details): (&str, String, Value) = match kind {
        4 | 14 => (
            "edit",
            "Edited src/lexer.rs".to_owned(),
            json!({"patch": "--- src/lexer.rs\n+++ src/lexer.rs\n@@ -38,3 +38,4 @@\n impl Lexer {\n-    fn empty() {}\n+    \
                             fn tokens(&self) {}\n+    fn more(&self) {}\n }\n"}),
        ),
        6 | 16 => ("read", "fn main() {\n    run();\n}\n".repeat(30), json!({})),
        10 if (index / KINDS).is_multiple_of(LONG_OUTPUT_EACH) => {
            ("bash", OUTPUT.clone(), json!({"exitCode": 0}))
        }
        _ => ("bash", "test parser::empty ... ok\n".repeat(40), json!({"exitCode": 0})),
    };
    Message::ToolResult(ToolResultMessage {
        tool_call_id: CallId::new(format!("c{}", index - 1)),
        tool_name: tool.to_owned(),
        content: vec![Block::text(text)],
        details: Some(details),
        usage: None,
        is_error: false,
        duration_ms: Some(1200),
        timestamp: 0,
    })
}

/// A message of the model.
pub fn said(content: Vec<Block>) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        api: String::new(),
        provider: "openai".to_owned(),
        model: "any".to_owned(),
        response_model: None,
        usage: Usage::default(),
        stop_reason: StopReason::Stop,
        error_message: None,
        timestamp: 0,
        response_id: None,
        raw_stop_reason: None,
        duration_ms: None,
        thinking_level: None,
    })
}
