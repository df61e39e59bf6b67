//! Dictated text: it stands where the caret is, as if it had been typed, and is never sent by itself.

use super::edit::clean;
use super::undo::EditKind;
use super::{Composer, Last, LineKind, Pos};
use std::time::Instant;

/// Bytes of a dictated text that are taken: some twenty minutes of speech.
pub const LONGEST: usize = 16 * 1024;

impl Composer {
    /// Puts a dictated text at the caret, over what is selected. A `corrected` one is a step of its own over it: undone
    /// once, what was heard stands there; undone twice, nothing of it.
    ///
    /// A search in earlier prompts keeps what it has found, a character that was to be jumped to is no longer waited for,
    /// and no list of completions opens: the next Enter means what it says. False if nothing is left of the text.
    pub fn dictate(&mut self, heard: &str, corrected: Option<&str>, now: Instant) -> bool {
        let is_one_line = matches!(self.kind(), LineKind::Shell | LineKind::ShellShownOnly);
        let heard = plain(heard, is_one_line);
        let corrected = corrected.map(|text| plain(text, is_one_line)).filter(|text| *text != heard);
        if heard.is_empty() && corrected.as_ref().is_none_or(String::is_empty) {
            return false;
        }
        self.leave_search();
        self.jump = None;
        self.last = Last::Other;
        self.undo.close();
        let start = self.selection().map_or(self.caret.pos, |(start, _)| start);
        let gap = if self.needs_gap(start) { " " } else { "" };
        let text = format!("{gap}{heard}");
        self.insert(&text, EditKind::Single, now);
        if let Some(corrected) = corrected.filter(|text| !text.is_empty()) {
            let begin = Pos { at: start.at + gap.len(), ..start };
            self.apply(begin, start.after(&text), &corrected, EditKind::Single, now);
        }
        self.undo.close();
        self.completer.refresh(None, false);
        self.scroll();
        true
    }

    /// What stands before does not end in white space; a new line is some.
    fn needs_gap(&self, at: Pos) -> bool {
        let before = self.buffer.line(at.line).get(..at.at).unwrap_or_default();
        let is_mark = at.line == 0 && matches!(before, "!" | "!!");
        !is_mark && before.chars().next_back().is_some_and(|c| !c.is_whitespace())
    }
}

/// Without what steers a terminal, without blanks around it, and no longer than is taken.
fn plain(text: &str, is_one_line: bool) -> String {
    let mut text = clean(text);
    if is_one_line {
        text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let mut text = text.trim().to_owned();
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.truncate(text.trim_end().len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::action::Action;
    use crate::ui::composer::complete::CommandItem;
    use crate::ui::composer::{Input, Outcome};
    use proptest::prelude::*;

    fn composer(text: &str) -> Composer {
        let mut composer = Composer::new("/here".into());
        composer.inform_completer(|completer| {
            let item = CommandItem { name: "model".to_owned(), ..CommandItem::default() };
            completer.set_commands(vec![item]);
        });
        composer.handle(Input::Type(text), Instant::now());
        composer
    }

    fn act(composer: &mut Composer, action: Action) -> Outcome {
        composer.handle(Input::Act(action), Instant::now())
    }

    #[test]
    fn a_blank_before_it_only_where_words_would_touch() {
        let table = [
            ("", "hello", "hello"),
            ("say", "hello", "say hello"),
            ("say ", "hello", "say hello"),
            ("say\n", "hello", "say\nhello"),
            ("say\t", "hello", "say    hello"),
            ("!", "git status", "!git status"),
            ("!git", "status\nnow", "!git status now"),
            ("", "  hello \n", "hello"),
            ("(", "hello", "( hello"),
        ];
        for (before, said, text) in table {
            let mut composer = composer(before);
            assert!(composer.dictate(said, None, Instant::now()));
            assert_eq!(composer.expanded(), text, "{before:?} {said:?}");
        }
    }

    #[test]
    fn it_is_one_step_and_a_correction_another() {
        let now = Instant::now();
        let mut composer = composer("say");
        composer.dictate("hello um world", None, now);
        act(&mut composer, Action::Undo);
        assert_eq!(composer.expanded(), "say");
        act(&mut composer, Action::Redo);
        assert_eq!(composer.expanded(), "say hello um world");

        let mut composer = composer_with_caret_before("say", ", please");
        composer.dictate("hello um world", Some("hello, world"), now);
        assert_eq!(composer.expanded(), "say hello, world, please");
        composer.handle(Input::Type("X"), now);
        assert_eq!(composer.expanded(), "say hello, worldX, please");
        act(&mut composer, Action::Undo);
        act(&mut composer, Action::Undo);
        assert_eq!(composer.expanded(), "say hello um world, please");
        act(&mut composer, Action::Undo);
        assert_eq!(composer.expanded(), "say, please");
        act(&mut composer, Action::Redo);
        act(&mut composer, Action::Redo);
        assert_eq!(composer.expanded(), "say hello, world, please");
    }

    fn composer_with_caret_before(before: &str, after: &str) -> Composer {
        let mut composer = composer(&format!("{before}{after}"));
        for _ in after.chars() {
            act(&mut composer, Action::Left);
        }
        composer
    }

    #[test]
    fn a_correction_of_several_lines_is_undone_whole() {
        let mut composer = composer("list:");
        composer.dictate("one two\r\nthree", Some("1. one\r\n2. two"), Instant::now());
        assert_eq!(composer.expanded(), "list: 1. one\n2. two");
        act(&mut composer, Action::Undo);
        assert_eq!(composer.expanded(), "list: one two\nthree");
        act(&mut composer, Action::Undo);
        assert_eq!(composer.expanded(), "list:");
    }

    #[test]
    fn an_unchanged_or_empty_correction_is_none() {
        for corrected in ["hello", " hello\n", ""] {
            let mut composer = composer("say");
            composer.dictate("hello", Some(corrected), Instant::now());
            assert_eq!(composer.expanded(), "say hello");
            act(&mut composer, Action::Undo);
            assert_eq!(composer.expanded(), "say", "{corrected:?}");
        }
    }

    #[test]
    fn nothing_in_it_steers_the_terminal() {
        let mut composer = composer("");
        composer.dictate("a\u{1b}[31mb\u{9b}c\u{202e}d\r\ne\u{7}f\u{2066}", None, Instant::now());
        assert_eq!(composer.expanded(), "ab\u{0}cd\nef".replace('\u{0}', ""));
        assert!(!composer.dictate("\u{1b}[0m \u{202e}\r\n", None, Instant::now()));
        assert_eq!(composer.expanded(), "abcd\nef");
    }

    #[test]
    fn it_has_an_end() {
        let mut composer = composer("");
        composer.dictate(&"日".repeat(LONGEST), None, Instant::now());
        assert_eq!(composer.expanded().len(), LONGEST / 3 * 3);
    }

    #[test]
    fn no_list_takes_the_next_key() {
        for text in ["/mo", "@src", "!ls"] {
            let mut composer = composer("");
            composer.dictate(text, None, Instant::now());
            assert!(
                composer.completer().popup().is_none() && composer.completer().wanted().is_none(),
                "{text}"
            );
            assert_eq!(composer.expanded(), text);
        }
        // One that was open is gone, too.
        let mut composer = composer("/mo");
        assert!(composer.completer().popup().is_some());
        composer.dictate("del", None, Instant::now());
        assert!(composer.completer().popup().is_none());
    }

    #[test]
    fn what_was_asked_for_is_ended() {
        let mut jumping = composer("one two");
        act(&mut jumping, Action::JumpBackward);
        jumping.dictate("three", None, Instant::now());
        assert!(jumping.jumping().is_none());
        assert_eq!(jumping.expanded(), "one two three");

        let mut searching = composer("written");
        act(&mut searching, Action::HistorySearch);
        searching.dictate("more", None, Instant::now());
        assert!(searching.searching().is_none());
        assert_eq!(searching.expanded(), "written more");
    }

    #[test]
    fn it_replaces_what_is_selected() {
        let mut composer = composer("one two");
        act(&mut composer, Action::SelectWordLeft);
        composer.dictate("three", None, Instant::now());
        assert_eq!(composer.expanded(), "one three");
        act(&mut composer, Action::Undo);
        assert_eq!(composer.expanded(), "one two");
    }

    proptest! {
        #[test]
        fn undone_it_is_as_before(
            before in "[a-z \n日!/]{0,20}", heard in "[a-z \n\u{1b}é👍🏽]{0,30}", corrected in prop::option::of("[a-z \n日]{0,30}"),
            left in 0_usize..10,
        ) {
            let mut composer = composer(&before);
            for _ in 0..left {
                act(&mut composer, Action::Left);
            }
            let was = composer.expanded();
            let mut steps = usize::from(composer.dictate(&heard, corrected.as_deref(), Instant::now()));
            if steps == 1 && corrected.is_some() {
                steps = 2;
            }
            while composer.expanded() != was && steps > 0 {
                act(&mut composer, Action::Undo);
                steps -= 1;
            }
            prop_assert_eq!(composer.expanded(), was);
        }
    }
}
