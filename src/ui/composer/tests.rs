use super::complete::{CommandItem, ValueItem};
use super::view::{ComposerStyles, max_rows};
use super::*;
use crate::proto::prompt::PromptRecord;
use std::time::Duration;

/// A composer and a clock.
struct Desk {
    composer: Composer,
    now: Instant,
}

impl Desk {
    fn new() -> Self {
        let mut desk = Self { composer: Composer::new("/here".into()), now: Instant::now() };
        desk.composer.inform_completer(|completer| completer.set_commands(commands()));
        desk
    }

    fn with(text: &str) -> Self {
        let mut desk = Self::new();
        desk.types(text);
        desk
    }

    /// Types key by key.
    fn types(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.composer.handle(Input::Type(c.encode_utf8(&mut [0; 4])), self.now);
        }
        self
    }

    fn acts(&mut self, actions: &[Action]) -> &mut Self {
        for action in actions {
            self.act(*action);
        }
        self
    }

    fn act(&mut self, action: Action) -> Outcome {
        self.composer.handle(Input::Act(action), self.now)
    }

    fn pastes(&mut self, text: &str) -> &mut Self {
        self.composer.handle(Input::Paste(text), self.now);
        self
    }

    fn waits(&mut self, millis: u64) -> &mut Self {
        self.now += Duration::from_millis(millis);
        self
    }

    /// The text with labels, and `|` at the caret.
    fn shown(&self) -> String {
        let buffer = &self.composer.buffer;
        let before = buffer.slice(Pos::default(), self.composer.caret.pos);
        let after = buffer.slice(self.composer.caret.pos, buffer.end());
        format!("{}|{}", buffer.chips.labelled(&before), buffer.chips.labelled(&after))
    }

    fn rows(&self) -> Vec<String> {
        self.composer.view(&ComposerStyles::default()).rows.iter().map(ToString::to_string).collect()
    }

    fn candidates(&self) -> Vec<&str> {
        let popup = self.composer.completer().popup();
        popup.map(|popup| popup.candidates.iter().map(|it| it.label.as_str()).collect()).unwrap_or_default()
    }
}

fn commands() -> Vec<CommandItem> {
    let item = |name: &str, argument: &str, values: &[&str]| CommandItem {
        name: name.to_owned(),
        argument: argument.to_owned(),
        text: format!("about {name}"),
        values: values
            .iter()
            .map(|value| ValueItem { value: (*value).to_owned(), text: String::new() })
            .collect(),
        ..CommandItem::default()
    };
    vec![item("model", "[search]", &[]), item("mode", "<mode>", &["ask", "edits"]), item("new", "", &[])]
}

fn submitted(outcome: Outcome) -> Submission {
    match outcome {
        Outcome::Submit(submission) => *submission,
        other => panic!("no prompt: {other:?}"),
    }
}

#[test]
fn undo_goes_by_words_pauses_motions_and_pastes() {
    let mut desk = Desk::with("fix the parser");
    let mut undone = Vec::new();
    for _ in 0..4 {
        desk.act(Action::Undo);
        undone.push(desk.shown());
    }
    assert_eq!(undone, ["fix the |", "fix |", "|", "|"]);
    desk.acts(&[Action::Redo, Action::Redo]);
    assert_eq!(desk.shown(), "fix the |");

    let mut desk = Desk::with("ab");
    desk.waits(600).types("cd").acts(&[Action::Left]).types("x").pastes("yz");
    let mut undone = Vec::new();
    for _ in 0..4 {
        desk.act(Action::Undo);
        undone.push(desk.shown());
    }
    assert_eq!(undone, ["abcx|d", "abc|d", "ab|", "|"]);
}

#[test]
fn a_run_of_deletions_is_one_step() {
    let mut desk = Desk::with("one two");
    desk.acts(&[Action::DeleteBack, Action::DeleteBack, Action::DeleteBack, Action::Undo]);
    assert_eq!(desk.shown(), "one two|");
}

#[test]
fn cuts_join_come_back_and_rotate() {
    let mut desk = Desk::with("one two three");
    desk.acts(&[Action::KillWordBack, Action::KillWordBack]);
    assert_eq!(desk.shown(), "one |");
    desk.acts(&[Action::LineStart, Action::KillToEnd, Action::Yank]);
    assert_eq!(desk.shown(), "one |");
    desk.act(Action::YankPop);
    assert_eq!(desk.shown(), "two three|");
    desk.act(Action::YankPop);
    assert_eq!(desk.shown(), "one |");
    desk.acts(&[Action::Left, Action::YankPop]);
    assert_eq!(desk.shown(), "one| ", "only right after a yank");
}

#[test]
fn lines_are_cut_to_their_ends_and_then_joined() {
    let mut desk = Desk::with("one\ntwo");
    desk.acts(&[Action::KillToStart, Action::KillToStart]);
    assert_eq!(desk.shown(), "one|");
    desk.types("\ntwo").acts(&[Action::Up, Action::LineEnd, Action::KillToEnd]);
    assert_eq!(desk.shown(), "one|two");
}

#[test]
fn the_column_is_kept_over_short_rows() {
    let mut desk = Desk::with("longer line\nab\nanother line");
    desk.acts(&[Action::Left, Action::Left, Action::Up]);
    assert_eq!(desk.shown(), "longer line\nab|\nanother line");
    desk.act(Action::Up);
    assert_eq!(desk.shown(), "longer lin|e\nab\nanother line");
}

#[test]
fn what_is_selected_is_replaced_copied_and_cut() {
    let mut desk = Desk::with("one two");
    desk.act(Action::SelectWordLeft);
    assert_eq!(desk.act(Action::CopySelection), Outcome::Copy("two".to_owned()));
    desk.types("x");
    assert_eq!(desk.shown(), "one x|");
    desk.acts(&[Action::SelectAll, Action::KillWordBack]);
    assert_eq!(desk.shown(), "|");
    desk.acts(&[Action::Yank, Action::SelectLeft, Action::Left]);
    assert_eq!(desk.shown(), "one |x");
}

#[test]
fn large_pastes_are_one_unit_and_sent_in_full() {
    let mut desk = Desk::with("see ");
    let paste = "line\n".repeat(122);
    desk.pastes(&paste).types(" ok");
    assert_eq!(desk.shown(), "see [paste #1 +122 lines] ok|");
    desk.acts(&[Action::LineStart, Action::WordRight, Action::Right, Action::Right]);
    assert_eq!(desk.shown(), "see [paste #1 +122 lines]| ok");
    desk.act(Action::DeleteBack);
    assert_eq!(desk.shown(), "see | ok");
    desk.act(Action::Undo);
    let sent = submitted(desk.act(Action::Submit));
    assert_eq!(sent.text, format!("see {paste} ok"));
    assert_eq!(sent.shown, "see [paste #1 +122 lines] ok");
    assert!(desk.composer.is_empty());
    desk.act(Action::Up);
    assert_eq!(desk.composer.expanded(), sent.text, "the history gives the paste back");
}

#[test]
fn what_comes_in_is_clean() {
    let mut desk = Desk::new();
    desk.pastes("a\tb\r\nc\u{1b}[31md\u{202e}e\u{7}\u{10f000}");
    assert_eq!(desk.shown(), "a    b\ncde\u{fffd}|");
    let mut desk = Desk::with("see");
    desk.pastes("/etc/hosts");
    assert_eq!(desk.shown(), "see /etc/hosts|");
}

#[test]
fn a_backslash_before_enter_is_a_new_line() {
    let mut desk = Desk::with("one\\");
    assert_eq!(desk.act(Action::Submit), Outcome::Changed);
    assert_eq!(desk.shown(), "one\n|");
    desk.types("two");
    assert_eq!(submitted(desk.act(Action::Submit)).text, "one\ntwo");
}

#[test]
fn first_characters_say_what_a_line_is() {
    let table = [
        ("!ls -l", LineKind::Shell, "ls -l"),
        ("!! ls", LineKind::ShellShownOnly, "ls"),
        ("/new", LineKind::Command, "/new"),
        ("hello", LineKind::Prompt, "hello"),
    ];
    for (text, kind, sent) in table {
        let submission = submitted(Desk::with(text).act(Action::Submit));
        assert_eq!((submission.kind, submission.text.as_str()), (kind, sent), "{text}");
    }
    assert_eq!(Desk::with("! ").act(Action::Submit), Outcome::Unchanged);
    assert_eq!(Desk::with(" \n ").act(Action::SendNow), Outcome::SubmitEmpty(Delivery::SendNow));
}

#[test]
fn cleared_text_comes_back_by_undo() {
    let mut desk = Desk::with("half a thought");
    assert_eq!(desk.act(Action::Interrupt), Outcome::Changed);
    assert_eq!(desk.shown(), "|");
    assert_eq!(desk.act(Action::Interrupt), Outcome::Ignored, "the next one is the program's");
    desk.act(Action::Undo);
    assert_eq!(desk.shown(), "half a thought|");
}

#[test]
fn earlier_prompts_come_at_the_edges_and_the_draft_comes_back() {
    let mut desk = Desk::with("first");
    desk.act(Action::Submit);
    desk.types("second").act(Action::Submit);
    desk.types("a draft").acts(&[Action::Up, Action::Up]);
    assert_eq!(desk.shown(), "first|");
    desk.acts(&[Action::Down, Action::Down]);
    assert_eq!(desk.shown(), "a draft|");
    // What was written is not lost when an earlier prompt is changed instead.
    desk.acts(&[Action::Up, Action::Up]).types("!").acts(&[Action::Undo, Action::Undo]);
    assert_eq!(desk.shown(), "a draft|");
}

#[test]
fn a_search_shows_what_it_finds_and_gives_the_draft_back() {
    let mut desk = Desk::new();
    let there = PromptRecord { text: "fix docs".to_owned(), folder: "/there".into(), pastes: Vec::new() };
    desk.composer.history_mut().load(vec![there]);
    desk.types("fix the parser").act(Action::Submit);
    desk.types("draft").act(Action::HistorySearch);
    desk.types("fix");
    assert_eq!(desk.composer.contexts().first(), Some(&Context::HistorySearch));
    assert_eq!(desk.rows(), ["fix the parser", "earlier prompts here: fix"]);
    desk.acts(&[Action::SearchScope, Action::SearchOlder]);
    assert_eq!(desk.rows(), ["fix docs", "earlier prompts: fix"]);
    desk.types("x");
    assert_eq!(desk.rows(), ["fix docs", "earlier prompts: fixx  no match"]);
    desk.act(Action::SearchCancel);
    assert_eq!(desk.shown(), "draft|");
    desk.act(Action::HistorySearch);
    desk.types("parser").act(Action::SearchAccept);
    assert_eq!(desk.shown(), "fix the parser|");
}

#[test]
fn commands_are_completed_and_sent() {
    let mut desk = Desk::with("/mo");
    assert_eq!(desk.candidates(), ["/model [search]", "/mode <mode>"]);
    desk.acts(&[Action::CompletionPrevious, Action::CompletionAccept]);
    assert_eq!(desk.shown(), "/mode |");
    assert_eq!(desk.candidates(), ["ask", "edits"]);
    desk.types("ed");
    assert_eq!(submitted(desk.act(Action::CompletionSubmit)).text, "/mode edits");
    desk.types("/ne");
    assert_eq!(submitted(desk.act(Action::CompletionSubmit)).text, "/new");
    desk.types("/mode");
    assert_eq!(desk.candidates(), ["/mode <mode>", "/model [search]"], "a whole name comes first");
    assert_eq!(submitted(desk.act(Action::CompletionSubmit)).text, "/mode", "a whole name is sent as it is");
    desk.types("/m").act(Action::CompletionClose);
    assert_eq!(desk.types("o").candidates(), Vec::<&str>::new(), "closed means closed");
}

#[test]
fn files_become_chips_and_folders_stay_open() {
    let mut desk = Desk::with("look at @cl");
    assert_eq!(desk.composer.completer().wanted(), Some(""));
    let files: Vec<String> = ["src/", "src/cli.rs", "a b/clip.txt"].map(str::to_owned).to_vec();
    desk.composer.inform_completer(|completer| completer.set_listing(String::new(), files.into()));
    assert_eq!(desk.candidates(), ["src/cli.rs", "a b/clip.txt"]);
    desk.act(Action::CompletionSubmit);
    assert_eq!(desk.shown(), "look at @src/cli.rs |");
    desk.types("@clip").act(Action::CompletionAccept);
    desk.types("and @src").act(Action::CompletionAccept);
    assert_eq!(desk.shown(), "look at @src/cli.rs @\"a b/clip.txt\" and @src/|");
    assert_eq!(desk.candidates(), ["src/cli.rs"], "a folder stays open, and is not offered again");
    desk.acts(&[Action::CompletionClose, Action::KillWordBack, Action::KillWordBack, Action::DeleteBack]);
    let sent = submitted(desk.act(Action::Submit));
    assert_eq!(sent.files, ["src/cli.rs", "a b/clip.txt"]);
    desk.types("../x");
    desk.act(Action::Complete);
    assert_eq!(desk.composer.completer().wanted(), Some("../"));
}

#[test]
fn hidden_files_are_not_offered_first() {
    let mut desk = Desk::with("@");
    let files: Vec<String> = [".env", ".github/x.yml", "README.md", "src/env.rs"].map(str::to_owned).to_vec();
    desk.composer.inform_completer(|completer| completer.set_listing(String::new(), files.into()));
    assert_eq!(desk.candidates(), ["README.md", "src/env.rs", ".env", ".github/x.yml"]);
    assert_eq!(desk.types("env").candidates(), ["src/env.rs", ".env"]);
    desk.act(Action::KillToStart);
    assert_eq!(desk.types("@.e").candidates().first().copied(), Some(".env"), "unless they are asked for");
}

#[test]
fn an_empty_composer_asks() {
    let mut desk = Desk::new();
    let view = desk.composer.view(&ComposerStyles::default());
    assert_eq!((desk.rows(), view.caret), (vec!["Ask anything".to_owned()], (0, 0)));
    desk.composer.set_size(6, 5);
    assert_eq!(desk.rows(), ["Ask a…"]);
    desk.composer.set_size(1, 1);
    assert_eq!(desk.rows(), ["…"]);
}

#[test]
fn the_caret_has_a_cell_behind_a_full_row() {
    let mut desk = Desk::new();
    desk.composer.set_size(7, 5);
    desk.types("日本語");
    let caret = |desk: &Desk| desk.composer.view(&ComposerStyles::default()).caret;
    assert_eq!((desk.rows(), caret(&desk)), (vec!["日本語".to_owned()], (0, 6)));
    desk.types(" ");
    assert_eq!(caret(&desk), (1, 0));
    desk.types("x");
    assert_eq!((desk.rows(), caret(&desk)), (vec!["日本語".to_owned(), "x".to_owned()], (1, 1)));
}

#[test]
fn long_texts_scroll_with_the_caret() {
    let mut desk = Desk::new();
    desk.composer.set_size(20, 3);
    desk.types("1\n2\n3\n4\n5");
    let view = desk.composer.view(&ComposerStyles::default());
    assert_eq!((desk.rows(), view.caret), (vec!["3".to_owned(), "4".to_owned(), "5".to_owned()], (2, 1)));
    assert_eq!((view.mark_above().as_deref(), view.mark_below()), (Some("↑ 2 more"), None));
    desk.act(Action::TextStart);
    let view = desk.composer.view(&ComposerStyles::default());
    assert_eq!(
        (view.caret, view.mark_above(), view.mark_below().as_deref()),
        ((0, 0), None, Some("↓ 2 more"))
    );
    desk.composer.click(2, 9, false);
    assert_eq!(desk.shown(), "1\n2\n3|\n4\n5");
    desk.types(&"\n".repeat(1200));
    desk.act(Action::TextEnd);
    let view = desk.composer.view(&ComposerStyles::default());
    assert_eq!(view.mark_above().as_deref(), Some("↑ 1,202 more"));
    desk.act(Action::TextStart);
    let view = desk.composer.view(&ComposerStyles::default());
    assert_eq!(view.mark_below().as_deref(), Some("↓ 1,202 more"));
    assert_eq!([max_rows(10), max_rows(50), max_rows(3)], [5, 15, 3]);
}

#[test]
fn what_was_taken_back_stands_before_what_is_written() {
    let mut desk = Desk::with("new");
    let now = desk.now;
    desk.composer.put_back("old", &[], now);
    assert_eq!(desk.shown(), "old\n\nnew|");
    desk.composer.replace_all("edited\n", now);
    assert_eq!(desk.shown(), "edited|");
}

#[test]
fn the_caret_jumps_to_the_character_typed_next() {
    let mut desk = Desk::with("let a = b;\nlet c = a;");
    let table: [(Action, &str, &str); 6] = [
        (Action::JumpBackward, "a", "let a = b;\nlet c = |a;"),
        (Action::JumpBackward, "a", "let |a = b;\nlet c = a;"),
        (Action::JumpBackward, "a", "let |a = b;\nlet c = a;"),
        (Action::JumpForward, "c", "let a = b;\nlet |c = a;"),
        (Action::JumpForward, "C", "let a = b;\nlet |c = a;"),
        (Action::JumpForward, ";", "let a = b;\nlet c = a|;"),
    ];
    for (action, target, expected) in table {
        assert_eq!(desk.act(action), Outcome::Changed);
        assert!(desk.composer.jumping().is_some(), "the key is waited for");
        assert_eq!(desk.types(target).shown(), expected, "{action} {target}");
        assert_eq!(desk.composer.jumping(), None);
    }
    // What is not a character ends it, and does what it always does.
    desk.act(Action::JumpForward);
    assert_eq!(desk.act(Action::Cancel), Outcome::Changed);
    assert_eq!(desk.types("x").shown(), "let a = b;\nlet c = ax|;");
    desk.acts(&[Action::JumpBackward, Action::LineStart]).types("y");
    assert_eq!(desk.shown(), "let a = b;\ny|let c = ax;");
    desk.act(Action::JumpForward);
    desk.pastes("z").types("t");
    assert_eq!(desk.shown(), "let a = b;\nyzt|let c = ax;");
    assert_eq!(Desk::new().act(Action::JumpForward), Outcome::Unchanged);
    // Letters with marks and wide ones are targets, too.
    let mut desk = Desk::with("日本語 e\u{301}x");
    desk.act(Action::TextStart);
    desk.act(Action::JumpForward);
    assert_eq!(desk.types("語").shown(), "日本|語 e\u{301}x");
}

#[test]
fn a_large_paste_is_shown_in_full_on_request() {
    let paste = "line\n".repeat(12);
    let mut desk = Desk::with("see ");
    desk.pastes(&paste).types(" ok");
    assert_eq!(desk.act(Action::ExpandChip), Outcome::Changed);
    assert_eq!(desk.shown(), format!("see {paste}| ok"));
    desk.act(Action::Undo);
    assert_eq!(desk.shown(), "see [paste #1 +12 lines] ok|");
    // The one at the caret goes first, then those before it, then those behind.
    desk.pastes(&"two\n".repeat(11)).acts(&[Action::TextStart, Action::ExpandChip]);
    assert_eq!(desk.shown(), format!("see {paste}| ok[paste #2 +11 lines]"));
    desk.act(Action::ExpandChip);
    assert_eq!(desk.act(Action::ExpandChip), Outcome::Unchanged, "there is none left");
    // By a click on it, not beside it.
    let mut desk = Desk::with("see ");
    desk.pastes(&paste);
    let now = desk.now;
    assert!(!desk.composer.expand_clicked(0, 3, now) && !desk.composer.expand_clicked(0, 60, now));
    assert!(desk.composer.expand_clicked(0, 4, now));
    assert_eq!(desk.shown(), format!("see {paste}|"));
    // Nothing larger is there than a file: that stays what it is.
    let mut desk = Desk::with("@");
    desk.composer
        .inform_completer(|completer| completer.set_listing(String::new(), ["a.rs".to_owned()].into()));
    desk.act(Action::CompletionAccept);
    assert_eq!(desk.act(Action::ExpandChip), Outcome::Unchanged);
}

#[test]
fn the_column_is_kept_from_frame_to_frame() {
    let mut desk = Desk::with("longer line\nab\nanother line");
    desk.composer.set_size(40, 5);
    desk.act(Action::Up);
    desk.composer.set_size(40, 5);
    desk.act(Action::Up);
    assert_eq!(desk.shown(), "longer line|\nab\nanother line");
}

#[test]
fn what_a_search_finds_is_marked() {
    let mut desk = Desk::with("Fix the parser, then fix docs");
    desk.act(Action::Submit);
    desk.act(Action::HistorySearch);
    desk.types("fix docs");
    let matched = ratatui::style::Style::new().underlined();
    let view = desk.composer.view(&ComposerStyles { matched, ..ComposerStyles::default() });
    let marked: Vec<&str> = view.rows[0]
        .spans
        .iter()
        .filter(|span| span.style == matched)
        .map(|span| span.content.as_ref())
        .collect();
    assert_eq!(marked, ["Fix", "fix", "docs"]);
}

#[test]
fn dropped_files_stand_as_paths() {
    let table = [
        ("see", "/home/a/my\\ file.txt ", "see \"/home/a/my file.txt\"|"),
        ("see ", "file:///etc/hosts", "see /etc/hosts|"),
        ("see", "'/home/a/my file.txt'", "see '/home/a/my file.txt'|"),
        ("!cat ", "/home/a/my\\ file.txt", "!cat /home/a/my\\ file.txt|"),
        ("日本", "./x", "日本 ./x|"),
        ("(", "/x", "(/x|"),
    ];
    for (before, paste, expected) in table {
        assert_eq!(Desk::with(before).pastes(paste).shown(), expected);
    }
}

#[test]
fn an_open_session_has_its_prompts_at_hand() {
    let record = |text: &str, folder: &str| PromptRecord {
        text: text.to_owned(),
        folder: folder.into(),
        pastes: Vec::new(),
    };
    let mut desk = Desk::new();
    let large = "p\n".repeat(12);
    desk.composer.history_mut().open_session(vec!["one".to_owned(), large.clone(), "two".to_owned()]);
    // What lies on disk is read later, or earlier.
    desk.composer.history_mut().load(vec![
        record("one", "/here"),
        record("two", "/there"),
        record("else", "/here"),
    ]);
    let mut seen = Vec::new();
    for _ in 0..5 {
        desk.act(Action::Up);
        seen.push(desk.shown());
        desk.act(Action::TextStart);
    }
    assert_eq!(seen, ["two|", "[paste #1 +12 lines]|", "one|", "else|", "|else"]);
    desk.acts(&[Action::TextEnd, Action::Down, Action::Down]);
    assert_eq!(desk.composer.expanded(), large);
}

#[test]
fn all_prompts_are_kept_not_a_hundred() {
    let mut desk = Desk::new();
    for number in 0..150 {
        desk.types(&format!("prompt {number}")).act(Action::Submit);
    }
    for _ in 0..150 {
        desk.acts(&[Action::Up, Action::TextStart]);
    }
    assert_eq!(desk.composer.expanded(), "prompt 0");
}

#[test]
fn a_draft_is_what_is_written_not_what_is_looked_at() {
    let mut desk = Desk::with("sent");
    desk.act(Action::Submit);
    assert_eq!(desk.composer.draft(), None);
    desk.types("draft");
    let draft = desk.composer.draft();
    desk.act(Action::HistorySearch);
    desk.types("sent");
    assert_eq!((desk.shown().as_str(), desk.composer.draft()), ("sent|", draft.clone()));
    desk.act(Action::SearchCancel);
    desk.act(Action::Up);
    assert_eq!((desk.shown().as_str(), desk.composer.draft()), ("sent|", draft));
}

#[test]
fn a_draft_comes_back_before_what_was_written_since() {
    let mut desk = Desk::with("old");
    desk.pastes(&"line\n".repeat(12)).types("x").act(Action::Left);
    let draft = desk.composer.draft().expect("written");
    let mut other = Desk::new();
    other.composer.put_draft_before(&draft);
    assert_eq!(other.shown(), "old[paste #1 +12 lines]|x");
    let mut other = Desk::with("new\nlines");
    other.composer.put_draft_before(&draft);
    assert_eq!(other.shown(), "old[paste #1 +12 lines]x\n\nnew\nlines|");
    // What lies on disk may be anything.
    let bad = "a\u{1b}[31mb\u{10f000}\tc";
    let bad: crate::proto::prompt::Draft =
        serde_json::from_value(serde_json::json!({"before": [{"text": bad}, {"file": bad}]}))
            .expect("a draft");
    other.composer.begin_with(Some(&bad));
    assert!(!other.composer.expanded().contains(['\u{1b}', '\u{10f000}', '\t']), "{}", other.shown());
}
