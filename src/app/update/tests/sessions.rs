//! Sessions that open, do not open, and give way to others.

use crate::app::effect::{Effect, SessionChoice};
use crate::app::msg::{Done, Msg};
use crate::app::stage::{Stage, command_ask, opened, reply, sent, view};
use crate::app::update;
use crate::proto::command::{Command, Prompt};
use crate::proto::event::AgentEvent;
use crate::ui::layers::Layer;

fn open(choice: SessionChoice) -> Vec<Effect> {
    vec![Effect::Open(choice)]
}

#[test]
fn the_program_begins_with_the_first_frame_and_a_session() {
    let mut stage = Stage::started();
    let outcome = update::begin(&mut stage.state, stage.now);
    let expected = [Effect::LoadHistory, Effect::FindBranch, Effect::Open(SessionChoice::AsStarted)];
    assert_eq!((outcome.effects.as_slice(), outcome.changed), (expected.as_slice(), true));
    assert!(stage.screen().contains("starting…"));
}

#[test]
fn a_session_is_chosen_first_when_that_is_asked_for() {
    let mut stage = Stage::with(|beginning| beginning.pick_session = true);
    let outcome = update::begin(&mut stage.state, stage.now);
    assert_eq!(outcome.effects, [Effect::LoadHistory, Effect::FindBranch, Effect::ListSessions]);
    // Whoever chooses none gets a new one.
    assert_eq!(stage.keys(&["esc"]), open(SessionChoice::New));
    assert!(stage.state.layers.is_empty());
}

#[test]
fn another_one_waits_until_the_first_is_open() {
    let mut stage = Stage::started();
    let _begun = update::begin(&mut stage.state, stage.now);
    assert_eq!(stage.state.layers.len(), 0);
    assert_eq!(stage.line("/new").len(), 1);
    assert_eq!(stage.state.session.next, Some(SessionChoice::New));
    // Its prompts go to the session in which they will be read.
    stage.line("hello");
    assert_eq!(stage.opened(opened(view())), open(SessionChoice::New));
    let effects = stage.opened(opened(view()));
    assert!(matches!(effects.as_slice(), [Effect::Submit(prompt, _)] if *prompt == Prompt::text("hello")));
}

#[test]
fn a_session_that_cannot_be_opened_gives_way_to_a_new_one_once() {
    let mut stage = Stage::started();
    let _begun = update::begin(&mut stage.state, stage.now);
    assert_eq!(stage.done(Done::NotOpened("It is broken.".to_owned())), open(SessionChoice::New));
    assert_eq!(stage.done(Done::NotOpened("The disk is full.".to_owned())), []);
    let screen = stage.screen();
    assert!(screen.contains("It is broken.") && screen.contains("The disk is full."), "{screen}");
    // It may be tried again.
    assert!(stage.line("/new").contains(&Effect::Open(SessionChoice::New)));
}

#[test]
fn the_session_before_goes_on_when_another_cannot_be_opened() {
    let mut stage = Stage::open();
    stage.line("/new");
    assert_eq!(stage.done(Done::NotOpened("No room.".to_owned())), []);
    assert!(!stage.state.session.opening);
    stage.type_text("still here");
    assert!(matches!(stage.keys(&["enter"]).as_slice(), [Effect::Submit(..), Effect::Remember(_)]));
}

#[test]
fn another_session_takes_the_place_of_all_that_was_shown() {
    let mut stage = Stage::running();
    stage.type_text("unsent");
    stage.event(AgentEvent::PermissionAsked(command_ask(1, "make")));
    let mut other = opened(view());
    other.history = vec![reply("From another day.")];
    other.notices = vec!["It was written by a newer version.".to_owned()];
    stage.opened(other);
    assert!(stage.state.layers.is_empty() && !stage.state.phase.is_live());
    let screen = stage.screen();
    for text in ["From another day.", "newer version", "unsent"] {
        assert!(screen.contains(text), "{text} in\n{screen}");
    }
}

#[test]
fn what_the_settings_told_stays_above_the_first_session() {
    let mut stage = Stage::with(|beginning| beginning.notices = vec!["keymap.toml, line 3".to_owned()]);
    stage.opened(opened(view()));
    assert!(stage.screen().contains("keymap.toml, line 3"));
    stage.opened(opened(view()));
    assert!(!stage.screen().contains("keymap.toml, line 3"));
}

#[test]
fn a_copy_needs_something_to_copy() {
    let mut stage = Stage::open();
    stage.line("/clone");
    assert_eq!(stage.toast(), "There is nothing to copy yet.");
    let mut talked = opened(view());
    talked.history = vec![reply("Hello.")];
    let file = talked.view.file.clone().unwrap_or_default();
    stage.opened(talked);
    assert_eq!(stage.line("/clone").first(), Some(&Effect::Open(SessionChoice::CopyOf(file))));
}

#[test]
fn an_open_session_is_renamed_by_its_agent() {
    let mut stage = Stage::open();
    stage.line("/name parser");
    assert_eq!(
        stage.line("/rename parser").first(),
        Some(&sent(Command::Rename("parser".to_owned())).remove(0))
    );
    stage.change(|view, _| view.name = Some("parser".to_owned()));
    stage.line("/name");
    assert_eq!(stage.toast(), "The session is called parser.");
}

#[test]
fn the_list_of_sessions_fills_when_they_are_known() {
    let mut stage = Stage::open();
    assert_eq!(stage.line("/resume").first(), Some(&Effect::ListSessions));
    assert_eq!(stage.done(Done::Sessions(Vec::new(), 0)), []);
    assert!(matches!(stage.state.layers.as_slice(), [Layer::Sessions(_)]));
    // It was closed meanwhile.
    stage.key("esc");
    assert_eq!(stage.done(Done::Sessions(Vec::new(), 0)), []);
    assert!(stage.state.layers.is_empty());
}

#[test]
fn the_list_of_models_fills_when_they_are_known() {
    let mut stage = Stage::started();
    stage.key("alt+m");
    let screen = stage.screen();
    assert!(!screen.contains("ANTHROPIC_API_KEY") && !screen.contains("claude-sonnet-5"), "{screen}");
    stage.opened(opened(view()));
    assert!(stage.screen().contains("claude-sonnet-5"));
}

#[test]
fn a_lost_terminal_and_a_signal_end_the_program() {
    use crate::app::headless::Exit;
    let mut stage = Stage::running();
    assert_eq!(stage.tell(Msg::TerminalLost).effects, [Effect::Quit(Exit::Signal(1))]);
    assert_eq!(stage.tell(Msg::Signal(15)).effects, [Effect::Quit(Exit::Signal(15))]);
}
