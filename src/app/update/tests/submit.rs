//! What is sent, how, and what waits.

use crate::app::effect::{Effect, How};
use crate::app::headless::Exit;
use crate::app::msg::Msg;
use crate::app::stage::{Stage, opened, queued, reply, sent, steering, view};
use crate::config::check::Value;
use crate::config::load;
use crate::config::settings::Settings;
use crate::proto::ask::PermissionMode;
use crate::proto::command::{Command, Placement, Prompt, QueueCommand};
use crate::proto::entry::EntryPatch;
use crate::proto::event::AgentEvent;
use crate::proto::ids::{EntryId, TicketId};
use crate::proto::message::Block;
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::proto::prompt::PromptRecord;
use crate::ui::layers::Layer;
use crate::ui::scene::NextDeadline;

fn remember(text: &str) -> Effect {
    Effect::Remember(PromptRecord {
        text: text.to_owned(),
        folder: "/home/ada/src/tool".into(),
        pastes: Vec::new(),
    })
}

#[test]
fn how_a_prompt_comes_to_the_agent() {
    let table = [
        ("enter", false, true, How::Own(Placement::Back)),
        ("enter", true, true, How::Steer),
        ("enter", true, false, How::Own(Placement::Back)),
        ("alt+enter", false, true, How::Own(Placement::Back)),
        ("alt+enter", true, true, How::Own(Placement::Back)),
        // For terminals that fill the screen by alt+enter.
        ("alt+q", false, true, How::Own(Placement::Back)),
        ("alt+q", true, true, How::Own(Placement::Back)),
        ("ctrl+enter", false, true, How::Own(Placement::Replace)),
        ("ctrl+enter", true, true, How::Own(Placement::Replace)),
        ("ctrl+enter", true, false, How::Own(Placement::Replace)),
    ];
    for (key, is_running, steers, how) in table {
        let mut stage = if is_running { Stage::running() } else { Stage::open() };
        stage.state.enter_steers = steers;
        stage.type_text("go on");
        let expected = [Effect::Submit(Prompt::text("go on"), how), remember("go on")];
        assert_eq!(stage.keys(&[key]), expected, "{key} {is_running} {steers}");
        assert_eq!(stage.written(), "");
    }
}

#[test]
fn the_setting_is_read() {
    let mut values = load::defaults();
    assert!(Stage::started().state.enter_steers);
    values.insert("composer.enter_while_running", Value::Text("queue".to_owned()));
    assert!(!Settings::from_values(&values).enter_steers);
}

#[test]
fn with_nothing_written_the_first_row_goes() {
    let now = || sent(Command::Queue(QueueCommand::SendNow { ticket: TicketId(8), version: 3 }));
    for (key, expected) in [("enter", now()), ("ctrl+enter", now()), ("alt+enter", Vec::new())] {
        let mut stage = Stage::open();
        stage.change(|view, _| view.queue = vec![queued(8, "one"), queued(9, "two")]);
        assert_eq!(stage.keys(&[key]), expected, "{key}");
    }
    assert_eq!(Stage::open().keys(&["enter", "ctrl+enter"]), []);
    assert_eq!(Stage::started().keys(&["enter"]), []);
}

#[test]
fn rows_are_taken_back_the_last_first() {
    let mut stage = Stage::running();
    stage.change(|view, _| {
        view.queue = vec![queued(8, "one"), queued(9, "two")];
        view.steering = vec![steering(7, "three")];
    });
    stage.type_text("since");
    let remove =
        |ticket, version| sent(Command::Queue(QueueCommand::Remove { ticket: TicketId(ticket), version }));
    assert_eq!(stage.keys(&["alt+up"]), remove(9, 3));
    assert_eq!(stage.written(), "two\n\nsince");
    stage.change(|view, _| view.queue.clear());
    assert_eq!(stage.keys(&["alt+up"]), remove(7, 2));
    assert_eq!(stage.written(), "three\n\ntwo\n\nsince");
    stage.change(|view, _| view.steering.clear());
    assert_eq!(stage.keys(&["alt+up"]), []);
}

#[test]
fn what_is_sent_before_a_session_is_open_waits_for_it() {
    let mut stage = Stage::with(|beginning| beginning.prompts = vec![Prompt::text("from the command line")]);
    assert_eq!(stage.line("first"), [remember("first")]);
    assert_eq!(stage.line("!make"), [remember("!make")]);
    assert_eq!(stage.line("!!ls"), [remember("!!ls")]);
    let screen = stage.screen();
    for text in ["from the command line", "first", "!make", "!ls"] {
        assert!(screen.contains(text), "{text} in\n{screen}");
    }
    // The last one is taken back, and sent again.
    assert_eq!(stage.keys(&["alt+up"]), []);
    assert_eq!(stage.written(), "!!ls");
    stage.key("enter");
    let own = |text: &str| Effect::Submit(Prompt::text(text), How::Own(Placement::Back));
    let shell = |command: &str, shown_only| {
        Effect::Send(Command::RunShell { command: command.to_owned(), shown_only })
    };
    let expected = [own("from the command line"), own("first"), shell("make", false), shell("ls", true)];
    assert_eq!(stage.opened(opened(view())), expected);
    assert!(stage.state.session.waiting.is_empty());
}

#[test]
fn commands_by_name_alias_and_argument() {
    let mut stage = Stage::open();
    let first = |effects: Vec<Effect>| effects.into_iter().next();
    let model = ModelRef::new("anthropic", "claude-sonnet-5");
    let table = [
        ("/quit", Effect::Quit(Exit::Success)),
        ("/exit", Effect::Quit(Exit::Success)),
        ("/thinking high", Effect::Send(Command::SetThinking(ThinkingLevel::High))),
        ("/thinking", Effect::Send(Command::NextThinking)),
        ("/mode yolo", Effect::Send(Command::SetMode(PermissionMode::Yolo))),
        ("/permissions", Effect::Send(Command::SetMode(PermissionMode::Edits))),
        ("/model claude-sonnet-5", Effect::Send(Command::SetModel(model.clone()))),
        ("/model anthropic/claude-sonnet-5", Effect::Send(Command::SetModel(model))),
        ("/name  two words ", Effect::Send(Command::Rename("two words".to_owned()))),
        ("/theme terminal", Effect::LoadTheme("terminal".to_owned())),
        (
            "/set screen.mouse false",
            Effect::Set { key: "screen.mouse".to_owned(), value: Some("false".to_owned()) },
        ),
        ("/set screen.mouse", Effect::Set { key: "screen.mouse".to_owned(), value: None }),
        ("/trust", Effect::Trust(true)),
        ("/untrust", Effect::Trust(false)),
        ("/resume", Effect::ListSessions),
    ];
    for (line, expected) in table {
        assert_eq!(first(stage.line(line)), Some(expected), "{line}");
        assert_eq!(stage.written(), "", "{line}");
        stage.state.layers.clear();
    }
    // What can't be used is searched for.
    stage.line("/model gpt-6");
    assert!(matches!(stage.state.layers.last(), Some(Layer::Models(_))));
    stage.state.layers.clear();
    stage.line("/hotkeys");
    assert!(matches!(stage.state.layers.last(), Some(Layer::Help(_))));
}

#[test]
fn what_is_no_command() {
    let mut stage = Stage::open();
    stage.line("/hlep me");
    assert_eq!(
        (stage.written().as_str(), stage.toast()),
        ("/hlep me", "There is no command /hlep. f1 lists all.")
    );
    for path in ["/usr/bin/env is a path", "/ alone"] {
        let effects = stage.line(path);
        assert_eq!(effects.first(), Some(&Effect::Submit(Prompt::text(path), How::Own(Placement::Back))));
    }
    for (line, words) in [("/thinking hard", "hard"), ("/mode all", "ask, edits, yolo")] {
        assert!(stage.line(line).iter().all(|effect| matches!(effect, Effect::Remember(_))));
        assert!(stage.toast().contains(words), "{}", stage.toast());
    }
}

#[test]
fn nothing_is_sent_to_an_agent_that_has_ended() {
    let mut stage = Stage::running();
    let id = EntryId::new("one");
    let block = Block::Thinking { thinking: "Well".to_owned(), thinking_signature: None, redacted: false };
    stage.event(AgentEvent::Entry { id: id.clone(), patch: EntryPatch::Start(reply("")) });
    stage.event(AgentEvent::Entry { id, patch: EntryPatch::Open { index: 0, block } });
    stage.tell(Msg::AgentEnded);
    assert!(stage.screen().contains("/resume opens it again"));
    for line in ["a prompt", "!make"] {
        let effects = stage.line(line);
        assert!(effects.iter().all(|effect| matches!(effect, Effect::Remember(_))), "{effects:?}");
        assert_eq!(stage.written(), line);
    }
    // The screen no longer says that something runs, and nothing moves.
    assert!(!stage.state.phase.is_live() && !stage.state.is_running());
    stage.state.toast = None;
    stage.draw();
    assert_eq!(stage.state.scene.next_deadline, NextDeadline::default());
    // There is nothing to stop, so the key that stops quits.
    stage.keys(&["ctrl+c", "ctrl+c"]);
    assert_eq!(stage.keys(&["ctrl+c"]), [Effect::Quit(Exit::Success)]);
}
