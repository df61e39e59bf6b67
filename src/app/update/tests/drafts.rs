//! What is being written: when it is kept, and what comes back.

use crate::app::effect::Effect;
use crate::app::msg::Opened;
use crate::app::stage::{Stage, opened, reply, view};
use crate::app::update::drafts::{keep_if_changed, owner_of};
use crate::proto::ids::SessionId;
use crate::proto::message::Message;
use crate::proto::prompt::{Draft, DraftPart};
use crate::store::drafts::{Found, Owner};
use std::sync::Arc;
use std::time::Duration;

fn draft(text: &str) -> Draft {
    Draft { before: vec![DraftPart::Text(text.to_owned())], after: Vec::new() }
}

fn owner() -> Owner {
    owner_of(&view()).expect("kept")
}

/// Another session of the folder, in which this was said.
fn other(id: &str, said: &[&str]) -> Opened {
    let mut session = view();
    session.id = SessionId::new(id);
    session.file = Some(format!("/sessions/{id}.jsonl").into());
    let history: Vec<Arc<Message>> = said.iter().map(|text| reply(text)).collect();
    Opened { history, ..opened(session) }
}

fn owner_of_other(id: &str) -> Owner {
    owner_of(&other(id, &[]).view).expect("kept")
}

fn kept(stage: &mut Stage) -> Vec<Effect> {
    let now = stage.now;
    keep_if_changed(&mut stage.state, now).effects
}

#[test]
fn what_is_written_is_kept_within_half_a_second_and_nothing_at_rest() {
    let mut stage = Stage::open();
    assert_eq!(stage.state.draft.due, None);
    stage.type_text("he");
    let first = stage.state.draft.due.expect("to be kept");
    assert!(first <= stage.now + Duration::from_millis(500));
    // Whoever goes on typing does not put it off.
    stage.wait(300);
    stage.type_text("llo");
    assert_eq!(stage.state.draft.due, Some(first));
    assert_eq!(kept(&mut stage), [Effect::KeepDraft(owner(), Some(draft("hello")))]);
    assert_eq!((stage.state.draft.due, kept(&mut stage)), (None, Vec::new()));
    // A frame and a wait change nothing.
    stage.wait(10_000);
    stage.draw();
    stage.change(|view, _| view.name = Some("x".to_owned()));
    assert_eq!(stage.state.draft.due, None);
    // The caret is part of it.
    stage.keys(&["left"]);
    let Draft { before, after } = match kept(&mut stage).remove(0) {
        Effect::KeepDraft(_, Some(draft)) => draft,
        other => panic!("{other:?}"),
    };
    let text = |text: &str| vec![DraftPart::Text(text.to_owned())];
    assert_eq!((before, after), (text("hell"), text("o")));
}

#[test]
fn what_was_sent_or_cleared_is_forgotten_at_once() {
    for key in ["enter", "ctrl+c"] {
        let mut stage = Stage::open();
        stage.type_text("hello");
        kept(&mut stage);
        stage.keys(&[key]);
        assert_eq!(stage.state.draft.due, Some(stage.now), "{key}");
        assert_eq!(kept(&mut stage), [Effect::KeepDraft(owner(), None)], "{key}");
    }
}

#[test]
fn without_sessions_nothing_is_kept() {
    let mut stage = Stage::started();
    let mut session = view();
    session.file = None;
    stage.opened(opened(session));
    stage.type_text("secret");
    assert_eq!((stage.state.draft.due, kept(&mut stage)), (None, Vec::new()));
}

#[test]
fn text_typed_before_the_session_is_open_is_kept_once_it_is() {
    let mut stage = Stage::started();
    stage.type_text("early");
    assert_eq!(stage.state.draft.due, None, "nobody to keep it for: the loop must not spin");
    stage.opened(opened(view()));
    assert!(stage.state.draft.due.is_some());
    assert_eq!(kept(&mut stage), [Effect::KeepDraft(owner(), Some(draft("early")))]);
}

#[test]
fn each_session_has_its_own() {
    let mut stage = Stage::started();
    stage.opened(Opened { history: vec![reply("Hello.")], ..opened(view()) });
    stage.type_text("for the first");
    // Nothing was to be kept yet: it is when the session goes.
    assert_eq!(
        stage.opened(other("two", &["Hello."])),
        [Effect::KeepDraft(owner(), Some(draft("for the first")))]
    );
    assert_eq!((stage.written().as_str(), stage.toast()), ("", ""));
    stage.keys(&["ctrl+_"]);
    assert_eq!(stage.written(), "", "what was written elsewhere does not come back by undo");
    stage.type_text("for the second");
    let mut back = Opened { history: vec![reply("Hello.")], ..opened(view()) };
    back.draft = Some(Found { draft: draft("for the first"), from: None });
    let effects = stage.opened(back);
    assert_eq!(effects, [Effect::KeepDraft(owner_of_other("two"), Some(draft("for the second")))]);
    assert_eq!(stage.written(), "for the first");
    assert_eq!(stage.toast(), "What you were writing here is back.");
    // The same session again: all stays.
    stage.type_text("!");
    assert_eq!(stage.opened(opened(view())), []);
    assert_eq!(stage.written(), "for the first!");
}

#[test]
fn a_page_without_a_session_goes_on_as_the_next() {
    let mut stage = Stage::open();
    stage.type_text("unsaid");
    let effects = stage.opened(other("two", &[]));
    let expected =
        [Effect::KeepDraft(owner_of_other("two"), Some(draft("unsaid"))), Effect::KeepDraft(owner(), None)];
    assert_eq!((effects.as_slice(), stage.written().as_str()), (expected.as_slice(), "unsaid"));
    // What was emptied does not come back from the disk.
    stage.keys(&["ctrl+c"]);
    let mut three = other("three", &[]);
    three.draft = Some(Found { draft: draft("unsaid"), from: Some(SessionId::new("two")) });
    stage.opened(three);
    assert_eq!((stage.written().as_str(), stage.toast()), ("", ""));
}

#[test]
fn what_a_crash_left_in_the_folder_is_taken_over() {
    let mut stage = Stage::started();
    stage.type_text("and now");
    let mut first = opened(view());
    first.draft = Some(Found { draft: draft("lost"), from: Some(SessionId::new("gone")) });
    let effects = stage.opened(first);
    assert_eq!(stage.written(), "lost\n\nand now");
    assert_eq!(stage.toast(), "What you were writing here is back.");
    let gone = Owner { session: SessionId::new("gone"), ..owner() };
    assert!(
        matches!(effects.as_slice(), [Effect::KeepDraft(new, Some(_)), Effect::KeepDraft(old, None)] if *new == owner() && *old == gone),
        "{effects:?}"
    );
    assert!(stage.state.draft.due.is_some(), "what was typed meanwhile is kept, too");
}

#[test]
fn a_key_that_is_waited_for_ends_with_the_stop_key() {
    let mut stage = Stage::running();
    stage.type_text("abc");
    stage.keys(&["ctrl+]"]);
    assert!(stage.screen().contains("ahead to which character?"));
    assert_eq!(stage.keys(&["esc"]), [], "the turn goes on");
    assert!(!stage.screen().contains("to which character?"));
    stage.keys(&["ctrl+alt+]"]);
    stage.type_text("b");
    stage.type_text("x");
    assert_eq!(stage.written(), "axbc");
    stage.keys(&["super+left"]);
    stage.type_text("1");
    stage.keys(&["super+right"]);
    stage.type_text("2");
    assert_eq!(stage.written(), "1axbc2");
}

#[test]
fn the_caret_stands_behind_what_was_typed_last() {
    let mut stage = Stage::open();
    let wide = "語".repeat(60);
    let check = |stage: &mut Stage, what: &str| {
        let (buffer, caret) = stage.draw();
        let caret = caret.unwrap_or_else(|| panic!("no caret: {what}"));
        assert_eq!(buffer[(caret.x - 2, caret.y)].symbol(), "語", "{what} {caret:?}");
    };
    stage.type_text("語");
    check(&mut stage, "behind a wide character");
    stage.type_text(&wide);
    check(&mut stage, "at the right edge and in the next row");
    for _ in 0..20 {
        stage.keys(&["ctrl+j"]);
        stage.type_text("語");
    }
    check(&mut stage, "scrolled");
    stage.keys(&["ctrl+r"]);
    stage.type_text("語");
    check(&mut stage, "searching");
    stage.type_text(&wide);
    check(&mut stage, "searching for much");
    stage.keys(&["esc", "ctrl+c"]);
    for (key, what) in [("ctrl+p", "palette"), ("alt+m", "models"), ("f1", "help")] {
        stage.keys(&[key]);
        if stage.state.layers.is_empty() {
            panic!("{what} did not open");
        }
        stage.type_text("語");
        let (_, caret) = stage.draw();
        if caret.is_some() {
            check(&mut stage, what);
            stage.type_text(&wide);
            check(&mut stage, what);
        }
        stage.keys(&["esc", "esc"]);
        while stage.state.layers.pop().is_some() {}
    }
}
