//! A key in the composer: in a short prompt, in 575 KiB, and in one very long line.

use super::{median, tell};
use mynah::config::action::Action;
use mynah::ui::composer::complete::CommandItem;
use mynah::ui::composer::view::ComposerStyles;
use mynah::ui::composer::{Composer, Input};
use std::hint::black_box;
use std::time::{Duration, Instant};

const LARGE: usize = 575 * 1024;
const KEYS: usize = 400;

/// All figures of the composer.
pub fn run() {
    let line = "A line of a text that somebody wrote in an editor, long enough to wrap.\n";
    // As many rows are shown as of the large one.
    let small = key(&line.repeat(12));
    let large = key(&line.repeat(LARGE / line.len()));
    tell("composer_key_small", small, "us");
    tell("composer_key_575k", large, "us");
    tell("composer_key_575k_ratio", large / small, "x");
    one_line();
    pasted();
    wrap(&line.repeat(LARGE / line.len()));
    files();
}

/// A key in one line of 64 KiB against one in a line of 1 KiB, at its end, at its beginning, and in a script without spaces.
fn one_line() {
    let line = |word: &str, length: usize| word.repeat(length / word.len());
    for (name, word, first) in [
        ("composer_key_one_line", "word ", Action::TextEnd),
        ("composer_key_one_line_start", "word ", Action::TextStart),
        ("composer_key_one_word", "word", Action::TextEnd),
        ("composer_key_one_line_cjk", "漢字かな", Action::TextEnd),
    ] {
        let short = key_at(&line(word, 1024), first);
        let long = key_at(&line(word, 64 * 1024), first);
        tell(&format!("{name}_64k"), long, "us");
        tell(&format!("{name}_64k_ratio"), long / short, "x");
    }
    tell("composer_key_one_line_1m", key(&line("word ", 1024 * 1024)), "us");
}

/// A paste of 1 MiB: as a chip, and as its text.
fn pasted() {
    let text = "A line of a log that somebody pasted, long enough to wrap.\n".repeat(1024 * 1024 / 59);
    let mut composer = Composer::new("/".into());
    composer.set_size(50, 12);
    for (name, input) in [
        ("composer_paste_1m", Input::Paste(&text)),
        ("composer_draft_1m", Input::Act(Action::Left)),
        ("composer_expand_1m", Input::Act(Action::ExpandChip)),
    ] {
        let start = Instant::now();
        black_box(composer.handle(input, start));
        black_box(composer.view(&ComposerStyles::default()));
        black_box(composer.draft());
        tell(name, start.elapsed().as_secs_f64() * 1e3, "ms");
    }
}

/// Microseconds from a key to the rows, the caret at the end.
fn key(text: &str) -> f64 {
    key_at(text, Action::TextEnd)
}

/// The same where this action leads.
fn key_at(text: &str, first: Action) -> f64 {
    let mut now = Instant::now();
    let mut composer = Composer::new("/".into());
    composer.set_size(50, 12);
    composer.handle(Input::Insert(text), now);
    composer.handle(Input::Act(first), now);
    let styles = ComposerStyles::default();
    let times = (0..KEYS).map(|index| {
        now += Duration::from_millis(50);
        let input = if index % 10 == 9 { Input::Act(Action::DeleteBack) } else { Input::Type("x") };
        let start = Instant::now();
        black_box(composer.handle(input, now));
        black_box(composer.view(&styles));
        start.elapsed().as_secs_f64() * 1e6
    });
    median(times.collect())
}

/// A resize: everything is wrapped anew.
fn wrap(text: &str) {
    let mut composer = Composer::new("/".into());
    composer.handle(Input::Insert(text), Instant::now());
    let times = (0..10).map(|index| {
        let start = Instant::now();
        composer.set_size(60 + index, 12);
        start.elapsed().as_secs_f64() * 1e3
    });
    tell("composer_wrap_575k", median(times.collect()), "ms");
}

/// `@` completion over many files: the first character, and one more.
fn files() {
    let now = Instant::now();
    let files: Vec<String> =
        (0..100_000).map(|n| format!("src/folder_{}/module_{}/file_{n}.rs", n % 97, n % 31)).collect();
    let mut composer = Composer::new("/".into());
    composer.inform_completer(|completer| {
        completer.set_commands(vec![CommandItem::default()]);
        completer.set_listing(String::new(), files.into());
    });
    composer.handle(Input::Type("@"), now);
    for (name, text) in [("composer_files_100k_first", "f"), ("composer_files_100k_next", "ile99")] {
        let start = Instant::now();
        for c in text.chars() {
            composer.handle(Input::Type(c.encode_utf8(&mut [0; 4])), now);
        }
        tell(
            name,
            start.elapsed().as_secs_f64() * 1e3 / f64::from(u32::try_from(text.len()).unwrap_or(1)),
            "ms",
        );
    }
}
