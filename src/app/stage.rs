//! A program without a terminal, an agent or a clock, for tests: what happens is told to it, what follows is data.

use super::draw::draw;
use super::effect::Effect;
use super::msg::{Done, Msg, Opened};
use super::state::{AppState, Beginning};
use super::update::{self, Outcome};
use crate::agent::view::{
    ContextFill, Durability, QueuedView, RunningView, SessionView, ShellView, SteeringView,
};
use crate::config::key::{Key, KeyCode};
use crate::config::keymap::Keymap;
use crate::config::load::Loaded;
use crate::proto::ask::{AskPreview, PermissionAsk, PermissionMode};
use crate::proto::command::{Command, Prompt};
use crate::proto::event::AgentEvent;
use crate::proto::ids::{AskId, CallId, SessionId, TicketId, TurnId};
use crate::proto::message::{AssistantMessage, Block, Message, StopReason};
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::proto::usage::{Counts, Usage};
use crate::term::input::Input;
use crate::theme::Theme;
use crate::ui::layers::models::ModelItem;
use crossterm::event::{
    KeyCode as TerminalCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

pub struct Stage {
    pub state: AppState,
    pub now: Instant,
}

/// Reading the embedded files takes longer than a test.
static LOADED: LazyLock<Loaded> = LazyLock::new(Loaded::defaults);
static KEYMAP: LazyLock<Keymap> = LazyLock::new(Keymap::defaults);
static DARK: LazyLock<Theme> = LazyLock::new(Theme::quiet_dark);
/// Far from the beginning of time, so that everything may lie in the past.
static EPOCH: LazyLock<Instant> = LazyLock::new(|| Instant::now() + Duration::from_secs(100_000));

impl Stage {
    /// A program that has just started; no session is open yet.
    pub fn started() -> Self {
        Self::with(|_| {})
    }

    /// The same with other beginnings.
    pub fn with(change: impl FnOnce(&mut Beginning)) -> Self {
        let mut beginning = Beginning {
            loaded: LOADED.clone(),
            cwd: PathBuf::from("/home/ada/src/tool"),
            home: PathBuf::from("/home/ada"),
            term_program: None,
            no_session: false,
            pick_session: false,
            themes: ["quiet", "quiet-dark", "quiet-light", "terminal"].map(str::to_owned).to_vec(),
            theme: DARK.clone(),
            page_known: true,
            keymap: KEYMAP.clone(),
            notices: Vec::new(),
            prompts: Vec::new(),
            size: (100, 30),
            now: *EPOCH,
        };
        change(&mut beginning);
        let mut state = AppState::new(beginning);
        state.time_of_day = || (15, 7);
        // 14:02:11, in a zone that is always the same.
        state.wall_now = || 1_790_863_331_000;
        state.time_at = |millis| {
            let seconds = millis / 1000 % 86_400;
            let part = |number: i64| u8::try_from(number).unwrap_or_default();
            (part(seconds / 3600), part(seconds / 60 % 60), part(seconds % 60))
        };
        Self { state, now: *EPOCH }
    }

    /// A program with an open session in which nothing was said.
    pub fn open() -> Self {
        let mut stage = Self::started();
        let _begun = update::begin(&mut stage.state, stage.now);
        stage.opened(opened(view()));
        stage
    }

    /// The same while a turn runs.
    pub fn running() -> Self {
        let mut stage = Self::open();
        stage.event(AgentEvent::TurnStarted { turn: TurnId(1), ticket: TicketId(1) });
        stage.change(|view, now| view.running = Some(running(now)));
        stage
    }

    pub fn tell(&mut self, msg: Msg) -> Outcome {
        update::update(&mut self.state, msg, self.now)
    }

    pub fn wait(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
    }

    pub fn event(&mut self, event: AgentEvent) -> Vec<Effect> {
        self.tell(Msg::Agent(Box::new(event))).effects
    }

    pub fn done(&mut self, done: Done) -> Vec<Effect> {
        self.tell(Msg::Done(done)).effects
    }

    pub fn opened(&mut self, opened: Opened) -> Vec<Effect> {
        self.done(Done::Opened(Box::new(opened)))
    }

    /// The view as it is, with a change.
    pub fn change(&mut self, change: impl FnOnce(&mut SessionView, Instant)) -> Vec<Effect> {
        let mut view = self.state.session.view.as_deref().cloned().unwrap_or_else(view);
        change(&mut view, self.now);
        self.tell(Msg::View(Arc::new(view))).effects
    }

    /// Presses a key by its name in the keymap.
    pub fn key(&mut self, name: &str) -> Outcome {
        self.tell(Msg::Input(Input::Key(key_event(name))))
    }

    /// Presses keys, and tells what is to be done.
    pub fn keys(&mut self, names: &[&str]) -> Vec<Effect> {
        names.iter().flat_map(|name| self.key(name).effects).collect()
    }

    /// Types a text, key by key.
    pub fn type_text(&mut self, text: &str) -> Vec<Effect> {
        text.chars().flat_map(|c| self.tell(Msg::Input(Input::Key(typed(c)))).effects).collect()
    }

    /// Types a line and presses Enter. Past any grace, and with no completion in the way of the key.
    pub fn line(&mut self, text: &str) -> Vec<Effect> {
        self.state.composer.replace_all(text, self.now);
        self.key("enter").effects
    }

    /// The cell in which a text begins.
    pub fn cell(&mut self, text: &str) -> (u16, u16) {
        let screen = self.screen();
        let found = screen.lines().zip(0..).find_map(|(line, y)| {
            let (before, _) = line.split_once(text)?;
            Some((u16::try_from(before.chars().count()).ok()?, y))
        });
        found.unwrap_or_else(|| panic!("{text:?} in\n{screen}"))
    }

    pub fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) -> Outcome {
        let event = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
        self.tell(Msg::Input(Input::Mouse(event)))
    }

    /// Clicks the first cell that means this.
    pub fn click(&mut self, target: &crate::ui::target::Target) -> Vec<Effect> {
        self.draw();
        let area = self.state.scene.hits.areas_of(target).next().expect("drawn");
        let pressed = self.mouse(MouseEventKind::Down(MouseButton::Left), area.x, area.y).effects;
        let released = self.mouse(MouseEventKind::Up(MouseButton::Left), area.x, area.y).effects;
        pressed.into_iter().chain(released).collect()
    }

    /// What is written.
    pub fn written(&self) -> String {
        self.state.composer.expanded()
    }

    /// What the passing notice says.
    pub fn toast(&self) -> &str {
        self.state.toast.as_ref().map_or("", |toast| toast.text.as_str())
    }

    /// The screen at its size.
    pub fn draw(&mut self) -> (Buffer, Option<Position>) {
        let mut buffer = Buffer::empty(Rect::new(0, 0, self.state.size.0, self.state.size.1));
        let caret = draw(&mut self.state, self.now, &mut buffer);
        (buffer, caret)
    }

    /// The screen as text.
    pub fn screen(&mut self) -> String {
        let (buffer, _) = self.draw();
        let rows = buffer.content.chunks(usize::from(buffer.area.width));
        let rows = rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>());
        rows.map(|row| row.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }
}

/// A key press as the terminal tells it.
pub fn key_event(name: &str) -> KeyEvent {
    let key: Key = name.parse().expect("a key");
    let mut modifiers = KeyModifiers::NONE;
    let held = [
        (key.mods.ctrl, KeyModifiers::CONTROL),
        (key.mods.alt, KeyModifiers::ALT),
        (key.mods.shift, KeyModifiers::SHIFT),
        (key.mods.logo, KeyModifiers::SUPER),
    ];
    for (is_held, modifier) in held {
        modifiers.set(modifier, is_held);
    }
    let code = match key.code {
        KeyCode::Char(c) => TerminalCode::Char(c),
        KeyCode::F(number) => TerminalCode::F(number),
        KeyCode::Enter => TerminalCode::Enter,
        KeyCode::Esc => TerminalCode::Esc,
        KeyCode::Tab => TerminalCode::Tab,
        KeyCode::Backspace => TerminalCode::Backspace,
        KeyCode::Delete => TerminalCode::Delete,
        KeyCode::Insert => TerminalCode::Insert,
        KeyCode::Up => TerminalCode::Up,
        KeyCode::Down => TerminalCode::Down,
        KeyCode::Left => TerminalCode::Left,
        KeyCode::Right => TerminalCode::Right,
        KeyCode::Home => TerminalCode::Home,
        KeyCode::End => TerminalCode::End,
        KeyCode::PageUp => TerminalCode::PageUp,
        KeyCode::PageDown => TerminalCode::PageDown,
    };
    KeyEvent::new(code, modifiers)
}

/// A character that is typed.
pub fn typed(c: char) -> KeyEvent {
    KeyEvent::new(TerminalCode::Char(c), KeyModifiers::NONE)
}

/// The same key, let go.
pub fn released(name: &str) -> KeyEvent {
    KeyEvent { kind: KeyEventKind::Release, ..key_event(name) }
}

/// A session in which nothing was said.
pub fn view() -> SessionView {
    SessionView {
        id: SessionId::new("0198c0de-0000-7000-8000-000000000001"),
        name: None,
        file: Some(PathBuf::from("/home/ada/.local/share/mynah/sessions/tool/now.jsonl")),
        cwd: PathBuf::from("/home/ada/src/tool"),
        model: ModelRef::new("anthropic", "claude-opus-5-5"),
        model_name: "Claude Opus 5.5".to_owned(),
        thinking: ThinkingLevel::Medium,
        mode: PermissionMode::Ask,
        running: None,
        queue: Vec::new(),
        steering: Vec::new(),
        shell: None,
        jobs: Vec::new(),
        ask: None,
        usage: Usage::default(),
        counts: Counts::default(),
        cache: None,
        context: ContextFill { tokens: 0, window: 200_000, known: false },
        durability: Durability::Saved,
    }
}

pub fn running(now: Instant) -> RunningView {
    RunningView { turn: TurnId(1), ticket: TicketId(1), round: 1, since: now }
}

pub fn shell(now: Instant) -> ShellView {
    ShellView { command: Arc::from("make"), shown_only: false, since: now }
}

pub fn queued(ticket: u64, text: &str) -> QueuedView {
    let prompt = Arc::new(Prompt::text(text));
    QueuedView { ticket: TicketId(ticket), version: 3, text: text.to_owned(), prompt, held: false }
}

pub fn steering(ticket: u64, text: &str) -> SteeringView {
    let prompt = Arc::new(Prompt::text(text));
    SteeringView { ticket: TicketId(ticket), version: 2, text: text.to_owned(), prompt }
}

pub fn opened(view: SessionView) -> Opened {
    Opened { history: Vec::new(), view: Arc::new(view), notices: Vec::new(), models: models(), draft: None }
}

/// Models of two providers, one without a key.
pub fn models() -> Vec<ModelItem> {
    let item = |provider: &str, id: &str, name: &str, window, price, problem: Option<&str>| ModelItem {
        model: ModelRef::new(provider, id),
        name: name.to_owned(),
        window: Some(window),
        price: Some(price),
        thinks: true,
        problem: problem.map(str::to_owned),
    };
    vec![
        item("anthropic", "claude-opus-5-5", "Claude Opus 5.5", 200_000, (5.0, 25.0), None),
        item("anthropic", "claude-sonnet-5", "Claude Sonnet 5", 1_000_000, (3.0, 15.0), None),
        item("openai", "gpt-6", "GPT-6", 400_000, (1.25, 10.0), Some("no key")),
        item("local", "qwen4-coder-30b", "Qwen4 Coder 30B", 131_072, (0.0, 0.0), None),
    ]
}

/// A command that waits for permission.
pub fn command_ask(id: u64, command: &str) -> PermissionAsk {
    PermissionAsk {
        id: AskId(id),
        call: CallId::new(format!("call-{id}")),
        tool: "bash".to_owned(),
        summary: command.lines().next().unwrap_or_default().to_owned(),
        reason: "Shell commands ask in ask mode.".to_owned(),
        suggestions: vec!["bash(cargo test *)".to_owned(), "bash(cargo *)".to_owned()],
        preview: AskPreview::Command(command.to_owned()),
    }
}

/// What a model said.
pub fn said(content: Vec<Block>, stop_reason: StopReason) -> AssistantMessage {
    AssistantMessage {
        content,
        api: String::new(),
        provider: "anthropic".to_owned(),
        model: "claude-opus-5-5".to_owned(),
        response_model: None,
        usage: Usage { output: 640, ..Usage::default() },
        stop_reason,
        error_message: None,
        timestamp: 0,
        response_id: None,
        raw_stop_reason: None,
        duration_ms: Some(8_000),
        thinking_level: None,
    }
}

/// A reply of text alone.
pub fn reply(text: &str) -> Arc<Message> {
    Arc::new(Message::Assistant(said(vec![Block::text(text)], StopReason::Stop)))
}

/// What an effect tells the agent.
pub fn sent(command: Command) -> Vec<Effect> {
    vec![Effect::Send(command)]
}
