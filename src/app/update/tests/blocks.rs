//! Copies of blocks, and how work is shown.

use crate::app::effect::Effect;
use crate::app::msg::Done;
use crate::app::stage::{Stage, opened, reply, said, view};
use crate::config::display::{CountStyle, ThinkingStyle};
use crate::proto::chain::{Chain, Step};
use crate::proto::entry::EntryPatch;
use crate::proto::event::AgentEvent;
use crate::proto::ids::{CallId, EntryId};
use crate::proto::message::{Block, Message, StopReason, ToolCall};
use crate::term::clipboard::{Copied, Multiplexer};
use crate::ui::target::{FooterPart, Target};
use std::sync::Arc;

const ANSWER: &str = "So:\n\n```rust\nlet a = 1;\n```\n\n> said\n\nand\n\n```\n\tls\n```\n\nDone.";

fn stage(replies: &[&str]) -> Stage {
    let mut stage = Stage::started();
    let mut opened = opened(view());
    opened.history = replies.iter().map(|text| reply(text)).collect();
    stage.opened(opened);
    stage.draw();
    stage
}

fn card(item: usize, card: usize, text: &str) -> Vec<Effect> {
    vec![Effect::CopyCard { item, card, text: text.to_owned() }]
}

#[test]
fn blocks_are_copied_by_command_and_key() {
    let mut stage = stage(&["Before", ANSWER, "No block here."]);
    let blocks = |stage: &mut Stage, line: &str| {
        let effects = stage.line(line);
        effects.into_iter().filter(|effect| matches!(effect, Effect::CopyCard { .. })).collect::<Vec<_>>()
    };
    assert_eq!(blocks(&mut stage, "/copy-block"), card(1, 2, "\tls"));
    assert_eq!(blocks(&mut stage, "/copy-block 1"), card(1, 0, "let a = 1;"));
    assert_eq!(blocks(&mut stage, "/copy-block 2"), card(1, 1, "said"));
    for wrong in ["/copy-block 0", "/copy-block 4", "/copy-block x"] {
        assert_eq!(blocks(&mut stage, wrong), []);
        assert_eq!(stage.toast(), "The answer has 3 blocks: name one from 1 to 3.");
    }
    stage.keys(&["ctrl+up", "ctrl+up"]);
    assert_eq!(stage.state.pane.focused(), Some(1));
    for (index, text) in ["let a = 1;", "said", "\tls", "let a = 1;"].into_iter().enumerate() {
        assert_eq!(stage.keys(&["b"]), card(1, index % 3, text), "each press the next");
    }
    stage.keys(&["down"]);
    assert_eq!(stage.keys(&["b"]), []);
    assert_eq!(stage.toast(), "There is no block in this row: no code, and no quote.");
}

#[test]
fn the_key_copies_the_last_code_else_the_answer() {
    assert_eq!(stage(&[ANSWER]).keys(&["alt+c"]), card(0, 2, "\tls"));
    assert_eq!(stage(&[ANSWER, "Plain."]).keys(&["alt+c"]), [Effect::Copy("Plain.".to_owned())]);
}

#[test]
fn numbers_of_blocks_are_completed() {
    let mut stage = stage(&[ANSWER]);
    stage.type_text("/copy-block ");
    let popup = stage.state.composer.completer().popup().expect("a list");
    let shown: Vec<_> = popup.candidates.iter().map(|it| (it.label.as_str(), it.detail.as_str())).collect();
    assert_eq!(shown, [("1", "let a = 1;"), ("2", "said"), ("3", "ls")]);
}

#[test]
fn addresses_are_opened_by_a_key() {
    let mut stage = stage(&["[a](https://a.example) and [b](https://b.example).", "Plain."]);
    stage.keys(&["ctrl+up", "ctrl+up"]);
    stage.draw();
    for host in ["a", "b", "a"] {
        assert_eq!(stage.keys(&["u"]), [Effect::OpenLink(format!("https://{host}.example").into())]);
    }
    stage.keys(&["down"]);
    assert_eq!(stage.keys(&["u"]), []);
    assert_eq!(stage.toast(), "No address of this row is in view.");
}

#[test]
fn a_label_says_what_became_of_the_copy() {
    let copied = |stage: &mut Stage, copied| stage.done(Done::CardCopied { item: 0, card: 0, copied });
    let shows = |stage: &mut Stage, word: &str| stage.screen().contains(word);
    let mut stage = stage(&[ANSWER]);
    assert!(shows(&mut stage, "copy") && !shows(&mut stage, "✓ copied"));
    copied(&mut stage, Copied::Confirmed);
    assert!(shows(&mut stage, "✓ copied"));
    stage.wait(1_499);
    assert!(shows(&mut stage, "✓ copied"));
    stage.wait(1);
    assert!(!shows(&mut stage, "✓ copied"), "for 1500 ms");
    copied(&mut stage, Copied::Sent(Multiplexer::None));
    assert!(shows(&mut stage, "✓ sent"), "nobody has confirmed it");
    copied(&mut stage, Copied::Failed("no clipboard".to_owned()));
    assert!(!shows(&mut stage, "✓ sent"));
    assert_eq!(stage.toast(), "Not copied: no clipboard");
}

#[test]
fn labels_are_there_where_clicks_are() {
    let mut stage = stage(&[ANSWER]);
    let target = Target::Card { item: 0, card: 0 };
    let has_label = |stage: &mut Stage| {
        stage.draw();
        stage.state.scene.hits.areas_of(&target).next().is_some()
    };
    assert!(has_label(&mut stage));
    stage.state.mouse = false;
    assert!(!has_label(&mut stage) && !stage.screen().contains("copy"));
    stage.state.mouse = true;
    stage.state.wheel_only = true;
    assert!(!has_label(&mut stage));
}

#[test]
fn display_switches_hold_at_once_and_are_kept() {
    let mut stage = stage(&["Hello."]);
    let set = |key: &str, value: &str| Effect::Set { key: key.to_owned(), value: Some(value.to_owned()) };
    let table = [
        ("other-tools off", set("display.other_tools", "false")),
        ("chains off", set("display.chains", "false")),
        ("motion reduced", set("screen.reduced_motion", "true")),
        ("thinking full", set("display.thinking", "full")),
        ("count calls", set("display.count", "calls")),
        ("folded on", set("display.folded", "true")),
    ];
    for (line, effect) in table {
        let effects = stage.line(&format!("/display {line}"));
        assert!(effects.contains(&effect), "{line}: {effects:?}");
    }
    let display = stage.state.display;
    assert!(!display.other_tools && !display.chains && display.folded && !stage.state.motion);
    assert_eq!((display.thinking, display.count), (ThinkingStyle::Full, CountStyle::Calls));
    for wrong in ["/display nothing", "/display motion some", "/display motion full stop"] {
        stage.line(wrong);
        assert!(
            stage.toast().contains("/display knows other-tools")
                || stage.toast() == "motion can be full | reduced."
        );
        assert!(!stage.state.motion, "{wrong}");
    }
    stage.line("/display thinking");
    assert_eq!(stage.toast(), "thinking is full; it can be tail | collapsed | full.");
    stage.line("/display");
    let screen = stage.screen();
    for row in
        ["other-tools off", "motion      reduced", "thinking    full", "count       calls", "folded      on"]
    {
        assert!(screen.contains(row), "{row}\n{screen}");
    }
}

#[test]
fn values_of_switches_are_completed() {
    let mut stage = stage(&["Hello."]);
    stage.type_text("/display thinking f");
    let popup = stage.state.composer.completer().popup().expect("a list");
    assert_eq!(popup.candidates[0].label, "thinking full");
    stage.keys(&["tab"]);
    assert_eq!(stage.written().trim_end(), "/display thinking full");
}

#[test]
fn the_footer_counts_calls_or_steps() {
    let mut stage = Stage::running();
    stage.change(|view, _| view.counts.tools = 3);
    let call = CallId::new("c");
    let block = Block::ToolCall(ToolCall {
        id: call.clone(),
        name: "bash".to_owned(),
        arguments: serde_json::Map::new(),
        thought_signature: None,
        malformed: None,
    });
    let empty = EntryPatch::Start(Arc::new(Message::Assistant(said(Vec::new(), StopReason::ToolUse))));
    for patch in [empty, EntryPatch::Open { index: 0, block }] {
        stage.event(AgentEvent::Entry { id: EntryId::new("e"), patch });
    }
    let steps = |count: usize| Arc::new(Chain { steps: vec![Step::default(); count], ..Chain::default() });
    stage.event(AgentEvent::ToolSteps { call: call.clone(), chain: steps(2) });
    stage.event(AgentEvent::ToolSteps { call, chain: steps(4) });
    assert!(stage.screen().contains("6 tools"), "{}", stage.screen());
    let effects = stage.click(&Target::Footer(FooterPart::Tools));
    assert_eq!(effects, [Effect::Set { key: "display.count".to_owned(), value: Some("calls".to_owned()) }]);
    assert!(stage.screen().contains("3 tools"));
    stage.click(&Target::Footer(FooterPart::Tools));
    assert!(stage.screen().contains("6 tools"));
}
