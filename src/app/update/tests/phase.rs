//! The phase line, thinking and the end of a prompt, from events and keys to the screen.

use crate::app::msg::Done;
use crate::app::stage::{Stage, reply};
use crate::config::check::Value;
use crate::config::load::Loaded;
use crate::config::settings::Settings;
use crate::proto::command::TicketOutcome;
use crate::proto::entry::EntryPatch;
use crate::proto::event::AgentEvent;
use crate::proto::ids::{EntryId, TicketId, TurnId};
use crate::proto::message::Block;
use crate::proto::usage::Usage;
use crate::transcript::item::{Body, Fold};
use crate::ui::scene::NextDeadline;

fn thinking(text: &str) -> Block {
    Block::Thinking { thinking: text.to_owned(), thinking_signature: None, redacted: false }
}

fn patch(stage: &mut Stage, patch: EntryPatch) {
    stage.event(AgentEvent::Entry { id: EntryId::new("one"), patch });
}

/// A turn whose model thinks this.
fn thinks(stage: &mut Stage, text: &str) {
    stage.event(AgentEvent::RoundStarted { round: 1 });
    patch(stage, EntryPatch::Start(reply("")));
    patch(stage, EntryPatch::Open { index: 0, block: thinking("") });
    let delta = text.to_owned();
    patch(stage, EntryPatch::Append { index: 0, delta, usage: Usage::default() });
}

fn thought(stage: &mut Stage, text: &str) {
    stage.wait(420);
    patch(stage, EntryPatch::Close { index: 0, block: thinking(text), usage: Usage::default() });
}

fn ends(stage: &mut Stage, outcome: TicketOutcome) {
    stage.event(AgentEvent::TurnFinished { turn: TurnId(1), ticket: TicketId(1), outcome });
    stage.change(|view, _| view.running = None);
}

fn set(stage: &mut Stage, key: &'static str, value: &str) {
    let mut loaded = Loaded::defaults();
    loaded.values.insert(key, Value::Text(value.to_owned()));
    loaded.settings = Settings::from_values(&loaded.values);
    let loaded = Box::new(loaded);
    stage.done(Done::Set { key: key.to_owned(), value: value.to_owned(), but: String::new(), loaded });
}

const LINES: &str = "alpha\n\nbeta\n\ngamma\n\ndelta";

#[test]
fn one_verb_lasts_a_prompt_and_its_past_ends_it() {
    let mut stage = Stage::open();
    set(&mut stage, "display.verbs", "Whistling|Whistled");
    stage.event(AgentEvent::TurnStarted { turn: TurnId(1), ticket: TicketId(1) });
    stage.event(AgentEvent::RoundStarted { round: 1 });
    stage.wait(2000);
    let screen = stage.screen();
    assert!(screen.contains("Whistling… 00:0") && screen.contains("· sending request"), "{screen}");
    ends(&mut stage, TicketOutcome::Completed);
    assert!(stage.screen().contains("∎ Whistled for 2s, done "), "{}", stage.screen());
    // Of the next prompt again, and never of one that was stopped.
    stage.event(AgentEvent::TurnStarted { turn: TurnId(2), ticket: TicketId(2) });
    stage.wait(3000);
    ends(&mut stage, TicketOutcome::Cancelled);
    assert!(stage.screen().contains("∎ Stopped after 3s"), "{}", stage.screen());
}

#[test]
fn the_mark_is_lit_and_then_the_screen_is_still() {
    let mut stage = Stage::running();
    stage.wait(1000);
    ends(&mut stage, TicketOutcome::Completed);
    stage.state.toast = None;
    stage.wait(380);
    assert!(stage.screen().contains("─ ⣿⣿⣿ ──"), "{}", stage.screen());
    assert!(stage.state.scene.next_deadline.animation.is_some());
    stage.wait(380);
    assert!(!stage.screen().contains('⣿'));
    assert_eq!(stage.state.scene.next_deadline.animation, NextDeadline::default().animation);
}

#[test]
fn what_is_thought_shows_its_end_and_then_a_row() {
    let mut stage = Stage::running();
    thinks(&mut stage, LINES);
    let screen = stage.screen();
    assert!(screen.contains("∴ alpha\u{a0}· beta\u{a0}· gamma\u{a0}· delta"), "{screen}");
    assert!(screen.matches("Thinking").count() == 1, "only the phase line tells it: {screen}");
    thought(&mut stage, LINES);
    let screen = stage.screen();
    assert!(screen.contains("∴ Thought for 0.4s") && !screen.contains("alpha"), "{screen}");
}

#[test]
fn the_key_flips_all_thinking_and_forgets_single_wishes() {
    let mut stage = Stage::running();
    thinks(&mut stage, LINES);
    thought(&mut stage, LINES);
    stage.state.conversation.set_fold(0, Fold::Closed);
    stage.key("ctrl+t");
    assert!(stage.screen().contains("beta"), "{}", stage.screen());
    let folds =
        |stage: &Stage| stage.state.conversation.items().iter().map(|item| item.fold).collect::<Vec<_>>();
    assert!(folds(&stage).iter().all(|fold| *fold == Fold::Usual));
    stage.state.conversation.set_fold(0, Fold::Open);
    stage.key("ctrl+t");
    assert!(!stage.screen().contains("beta"), "{}", stage.screen());
}

#[test]
fn a_style_of_thinking_holds_at_once() {
    let mut stage = Stage::running();
    set(&mut stage, "display.thinking", "collapsed");
    thinks(&mut stage, LINES);
    assert!(!stage.screen().contains("alpha"));
    stage.key("ctrl+t");
    assert!(stage.screen().contains("alpha\u{a0}· beta"), "{}", stage.screen());
    set(&mut stage, "display.thinking", "full");
    let screen = stage.screen();
    assert!(screen.contains("alpha") && !screen.contains("alpha\u{a0}·"), "{screen}");
    thought(&mut stage, LINES);
    let screen = stage.screen();
    assert!(screen.contains("Thought for 0.4s") && screen.contains("delta"), "{screen}");
    stage.key("ctrl+t");
    assert!(!stage.screen().contains("delta"));
    set(&mut stage, "display.thinking", "tail");
    assert!(stage.screen().contains("Thought for 0.4s") && !stage.screen().contains("delta"));
    assert!(stage.state.conversation.items().iter().any(|item| matches!(item.body, Body::Thinking(_))));
}

#[test]
fn thinking_that_is_kept_back_is_a_row_once_it_is_over() {
    let mut stage = Stage::running();
    thinks(&mut stage, "");
    assert!(!stage.screen().contains('∴'));
    thought(&mut stage, "");
    assert!(stage.screen().contains("∴ Thought for 0.4s · not shown by the provider"), "{}", stage.screen());
}

/// The command, which is no other way than the setting.
#[test]
fn a_style_that_is_typed_holds_at_once_too() {
    let mut stage = Stage::running();
    thinks(&mut stage, LINES);
    stage.line("/display thinking full");
    let screen = stage.screen();
    assert!(screen.contains("alpha") && !screen.contains("alpha\u{a0}·"), "{screen}");
    thought(&mut stage, LINES);
    assert!(stage.screen().contains("delta"), "{}", stage.screen());
    stage.line("/display thinking tail");
    assert!(!stage.screen().contains("delta"), "{}", stage.screen());
}
