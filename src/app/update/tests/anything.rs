//! Whatever comes in whatever order: nothing panics, every screen can be drawn, and nothing typed is lost.

use crate::app::effect::Effect;
use crate::app::msg::{Done, Msg};
use crate::app::stage::{
    Stage, command_ask, key_event, opened, queued, reply, running, said, shell, steering, typed, view,
};
use crate::proto::command::TicketOutcome;
use crate::proto::entry::EntryPatch;
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::ids::{AskId, CallId, EntryId, RecordingId, TicketId, TurnId};
use crate::proto::message::{Block, Message, StopReason, text_of};
use crate::proto::tool::ToolOutput;
use crate::proto::usage::Usage;
use crate::proto::voice::{ChunkState, VoiceEvent, VoiceFailure, VoiceWarning, Wait};
use crate::term::input::Input;
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;

const KEYS: [&str; 47] = [
    "enter",
    "alt+enter",
    "ctrl+enter",
    "esc",
    "tab",
    "shift+tab",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "pageup",
    "pagedown",
    "backspace",
    "delete",
    "ctrl+c",
    "ctrl+d",
    "ctrl+f",
    "ctrl+g",
    "ctrl+k",
    "ctrl+l",
    "ctrl+n",
    "ctrl+o",
    "ctrl+p",
    "ctrl+r",
    "ctrl+s",
    "ctrl+t",
    "ctrl+u",
    "ctrl+w",
    "ctrl+y",
    "ctrl+_",
    "ctrl+up",
    "ctrl+down",
    "ctrl+shift+up",
    "alt+up",
    "alt+m",
    "alt+p",
    "alt+t",
    "alt+c",
    "alt+s",
    "alt+y",
    "shift+left",
    "shift+enter",
    "f1",
    "space",
    "ctrl+space",
];

#[derive(Clone, Debug)]
enum Step {
    Key(&'static str),
    Type(char),
    Line(&'static str),
    Paste(String),
    Mouse(MouseEventKind, u16, u16),
    Resize(u16, u16),
    Focus(bool),
    Wait(u64),
    Event(Box<AgentEvent>),
    View(u8),
    Opened,
    NotOpened,
    Listed,
    Ended,
    Voice(Box<VoiceEvent>),
}

fn event() -> impl Strategy<Value = AgentEvent> {
    let entry = |id: u8, patch| AgentEvent::Entry { id: EntryId::new(id.to_string()), patch };
    let call = || CallId::new("call-1");
    let block = prop_oneof![
        "[a-z *`\n|-]{0,60}".prop_map(Block::text),
        "[a-z \n]{0,60}".prop_map(|thinking| Block::Thinking {
            thinking,
            thinking_signature: None,
            redacted: false
        }),
    ];
    prop_oneof![
        Just(AgentEvent::TurnStarted { turn: TurnId(1), ticket: TicketId(1) }),
        Just(AgentEvent::RoundStarted { round: 1 }),
        (0..3_u8).prop_map(move |id| {
            let empty = Message::Assistant(said(Vec::new(), StopReason::Pending));
            entry(id, EntryPatch::Start(Arc::new(empty)))
        }),
        (0..3_u8, 0..3_usize, block.clone())
            .prop_map(move |(id, index, block)| entry(id, EntryPatch::Open { index, block })),
        (0..3_u8, 0..3_usize, ".{0,40}").prop_map(move |(id, index, delta)| {
            entry(id, EntryPatch::Append { index, delta, usage: Usage::default() })
        }),
        (0..3_u8, 0..3_usize, block).prop_map(move |(id, index, block)| entry(
            id,
            EntryPatch::Close { index, block, usage: Usage::default() }
        )),
        (0..3_u8).prop_map(move |id| entry(id, EntryPatch::Finish(reply("A reply.\n\n- one\n- two")))),
        Just(AgentEvent::ToolStarted {
            call: call(),
            tool: "bash".to_owned(),
            arguments: serde_json::Map::new(),
            limit_ms: None
        }),
        ".{0,60}".prop_map(move |delta| AgentEvent::ToolProgress { call: call(), delta }),
        ".{0,60}".prop_map(move |text| AgentEvent::ToolFinished {
            call: call(),
            tool: "bash".to_owned(),
            output: Arc::new(ToolOutput::text(text)),
            duration_ms: Some(5),
        }),
        Just(AgentEvent::ShellStarted { command: "make".to_owned(), shown_only: false }),
        ".{0,60}".prop_map(|delta| AgentEvent::ShellProgress { delta }),
        (0..3_u64).prop_map(|id| AgentEvent::PermissionAsked(command_ask(id, "cargo test\nls"))),
        (0..3_u64).prop_map(|id| AgentEvent::PermissionResolved { ask: AskId(id) }),
        Just(AgentEvent::RetryScheduled {
            attempt: 1,
            max_attempts: 5,
            delay_ms: 2_000,
            error: "Overloaded.".to_owned()
        }),
        Just(AgentEvent::RetryFinished { success: true, attempt: 1, error: None }),
        Just(AgentEvent::TurnFinished {
            turn: TurnId(1),
            ticket: TicketId(1),
            outcome: TicketOutcome::Completed
        }),
        Just(AgentEvent::TurnFinished {
            turn: TurnId(1),
            ticket: TicketId(1),
            outcome: TicketOutcome::Failed { error: "It failed.\nTwice.".to_owned() },
        }),
        ".{0,200}".prop_map(|text| AgentEvent::Notice { level: NoticeLevel::Warning, text }),
    ]
}

fn voice() -> impl Strategy<Value = VoiceEvent> {
    let recording = (1..4_u64).prop_map(RecordingId);
    let text = ".{0,60}";
    prop_oneof![
        recording.clone().prop_map(|recording| VoiceEvent::Opening {
            recording,
            model: "parakeet".to_owned(),
            processor: "cpu"
        }),
        (recording.clone(), text).prop_map(|(recording, microphone)| VoiceEvent::Listening {
            recording,
            microphone,
            latency: Duration::ZERO
        }),
        (recording.clone(), 0..4_000_000_u64, any::<f32>(), 0..9_u32).prop_map(
            |(recording, millis, level, clipped)| VoiceEvent::Level {
                recording,
                recorded: Duration::from_millis(millis),
                level,
                clipped
            }
        ),
        (recording.clone(), 0..30_u32).prop_map(|(recording, number)| VoiceEvent::Chunk {
            recording,
            number,
            state: ChunkState::Decoding
        }),
        (recording.clone(), text).prop_map(|(recording, text)| VoiceEvent::Partial { recording, text }),
        (recording.clone(), prop::option::of(Just(Wait::Fetching)))
            .prop_map(|(recording, on)| VoiceEvent::Waits { recording, on }),
        (recording.clone(), Just(VoiceWarning::Silent))
            .prop_map(|(recording, warning)| VoiceEvent::Warning { recording, warning }),
        (recording.clone(), text).prop_map(|(recording, why)| VoiceEvent::StoppedItself { recording, why }),
        (recording.clone(), text, prop::option::of(text))
            .prop_map(|(recording, text, note)| VoiceEvent::Text { recording, text, note }),
        recording.clone().prop_map(VoiceEvent::Nothing),
        recording.clone().prop_map(VoiceEvent::Cancelled),
        (recording, text, any::<bool>()).prop_map(|(recording, text, can_retry)| VoiceEvent::Failed {
            recording,
            failure: VoiceFailure::Decoding,
            text,
            can_retry
        }),
        (0..200_u64, 0..100_u64).prop_map(|(done, total)| VoiceEvent::Fetching {
            model: "parakeet".to_owned(),
            done,
            total
        }),
        Just(VoiceEvent::Fetched { model: "parakeet".to_owned(), result: Ok(()) }),
        text.prop_map(VoiceEvent::Notice),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let mouse = prop_oneof![
        Just(MouseEventKind::Down(MouseButton::Left)),
        Just(MouseEventKind::Drag(MouseButton::Left)),
        Just(MouseEventKind::ScrollUp),
        Just(MouseEventKind::ScrollDown),
        Just(MouseEventKind::Moved),
    ];
    let lines = [
        "/model", "/theme", "/resume", "/new", "/voice", "/session", "/help", "/nothing", "!make", "a prompt",
    ];
    prop_oneof![
        6 => prop::sample::select(&KEYS).prop_map(Step::Key),
        6 => prop_oneof![prop::sample::select(vec!['/', '@', '!', '\\', 'y', '日', '\u{301}']), any::<char>()]
            .prop_map(Step::Type),
        1 => prop::sample::select(lines.to_vec()).prop_map(Step::Line),
        1 => "(.{0,50}|(.{0,20}\n){0,30})".prop_map(Step::Paste),
        4 => (mouse, 0..210_u16, 0..70_u16).prop_map(|(kind, column, row)| Step::Mouse(kind, column, row)),
        2 => (1..=200_u16, 1..=60_u16).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        1 => any::<bool>().prop_map(Step::Focus),
        2 => (0..3_000_u64).prop_map(Step::Wait),
        8 => event().prop_map(|event| Step::Event(Box::new(event))),
        3 => any::<u8>().prop_map(Step::View),
        1 => Just(Step::Opened),
        1 => Just(Step::NotOpened),
        1 => Just(Step::Listed),
        1 => Just(Step::Ended),
        6 => voice().prop_map(|event| Step::Voice(Box::new(event))),
    ]
}

/// Takes a step; returns what it sends.
fn take(stage: &mut Stage, step: Step) -> Vec<Effect> {
    match step {
        Step::Key(name) => stage.key(name).effects,
        Step::Type(c) => stage.tell(Msg::Input(Input::Key(typed(c)))).effects,
        Step::Line(text) => stage.line(text),
        Step::Paste(text) => stage.tell(Msg::Input(Input::Paste(text))).effects,
        Step::Mouse(kind, column, row) => {
            let event = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
            stage.tell(Msg::Input(Input::Mouse(event))).effects
        }
        Step::Resize(columns, rows) => stage.tell(Msg::Input(Input::Resize { columns, rows })).effects,
        Step::Focus(has_focus) => stage.tell(Msg::Input(Input::Focus(has_focus))).effects,
        Step::Wait(millis) => {
            stage.wait(millis);
            Vec::new()
        }
        Step::Event(event) => stage.event(*event),
        Step::View(bits) => stage.change(|view, now| {
            view.running = (bits & 1 > 0).then(|| running(now));
            view.queue = (0..u64::from(bits >> 1 & 3)).map(|id| queued(id, "a row\nof two")).collect();
            view.steering = (0..u64::from(bits >> 3 & 1)).map(|id| steering(9 + id, "said")).collect();
            view.shell = (bits & 16 > 0).then(|| shell(now));
            view.ask = (bits & 32 > 0).then(|| Arc::new(command_ask(1, "cargo test")));
            view.name = (bits & 64 > 0).then(|| "日本 a name".to_owned());
            view.context.known = bits & 128 > 0;
            view.context.tokens = u64::from(bits) * 2_000;
        }),
        Step::Opened => {
            let mut opened = opened(view());
            opened.history = vec![reply("An old reply.\n\n```\ncode\n```")];
            stage.opened(opened)
        }
        Step::NotOpened => stage.done(Done::NotOpened("It could not be opened.".to_owned())),
        Step::Listed => {
            let entries = ["src/".to_owned(), "日本.md".to_owned(), "a b.rs".to_owned()].into();
            stage.done(Done::Listing { folder: String::new(), entries })
        }
        Step::Ended => stage.tell(Msg::AgentEnded).effects,
        Step::Voice(event) => stage.tell(Msg::Voice(event)).effects,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn nothing_breaks(steps in prop::collection::vec(step(), 1..60)) {
        let mut stage = Stage::started();
        for step in steps {
            take(&mut stage, step);
            let (buffer, caret) = stage.draw();
            if let Some(caret) = caret {
                prop_assert!(buffer.area.contains(caret), "{caret:?} is beyond {:?}", buffer.area);
            }
        }
    }

    /// Whatever is told: when the screen shows something else for it, a frame is asked for.
    #[test]
    fn what_changes_the_screen_asks_for_a_frame(steps in prop::collection::vec(step(), 1..40)) {
        let mut stage = Stage::started();
        for step in steps {
            let msg = match &step {
                Step::Event(event) => Msg::Agent(event.clone()),
                Step::Voice(event) => Msg::Voice(event.clone()),
                Step::Key(name) => Msg::Input(Input::Key(key_event(name))),
                Step::Type(c) => Msg::Input(Input::Key(typed(*c))),
                Step::Paste(text) => Msg::Input(Input::Paste(text.clone())),
                _ => {
                    take(&mut stage, step);
                    continue;
                }
            };
            // What was asked for since the last frame is settled by one, and what moves by itself by another.
            stage.draw();
            let before = stage.draw();
            let changed = stage.tell(msg).changed;
            let after = stage.draw();
            prop_assert!(changed || before == after, "{step:?} was not shown");
        }
    }

    /// Letters, Enter in its three forms and taking back, while turns and questions come and go: every letter is written,
    /// sent, or waits.
    #[test]
    fn nothing_typed_is_lost(
        steps in prop::collection::vec(
            prop_oneof![
                8 => "[ghpquvwx]".prop_map(|text| text.chars().next().map_or(Step::Ended, Step::Type)),
                2 => prop::sample::select(vec!["enter", "alt+enter", "ctrl+enter"]).prop_map(Step::Key),
                1 => prop::sample::select(vec![0_u8, 1, 16]).prop_map(Step::View),
                1 => (0..3_u64).prop_map(|id| Step::Event(Box::new(AgentEvent::PermissionAsked(command_ask(id, "ls"))))),
                1 => (0..3_u64).prop_map(|id| Step::Event(Box::new(AgentEvent::PermissionResolved { ask: AskId(id) }))),
                1 => Just(Step::Event(Box::new(AgentEvent::Settled { aborted: true }))),
                1 => Just(Step::Opened),
                1 => Just(Step::Ended),
            ],
            1..60,
        ),
    ) {
        let mut stage = Stage::started();
        let (mut all, mut kept) = (Vec::new(), Vec::new());
        for step in steps {
            // Nobody types while a question is on the screen: then letters are answers.
            let is_asked = !stage.state.layers.is_empty();
            match &step {
                Step::Type(_) | Step::Key(_) if is_asked => continue,
                Step::Type(c) => all.push(*c),
                _ => {}
            }
            for effect in take(&mut stage, step) {
                if let Effect::Submit(prompt, _) = effect {
                    kept.extend(text_of(&prompt.content).chars());
                }
            }
        }
        kept.extend(stage.written().chars());
        for early in &stage.state.session.waiting {
            if let crate::app::state::Early::Prompt(prompt) = early {
                kept.extend(text_of(&prompt.content).chars());
            }
        }
        kept.retain(|c| c.is_alphabetic());
        all.sort_unstable();
        kept.sort_unstable();
        prop_assert_eq!(all, kept);
    }
}

#[test]
fn every_key_of_the_table_is_one() {
    for name in KEYS {
        key_event(name);
    }
}
