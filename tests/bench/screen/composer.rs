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
    tell("composer_key_one_line_64k", key(&"word ".repeat(64 * 1024 / 5)), "us");
    wrap(&line.repeat(LARGE / line.len()));
    files();
}

/// Microseconds from a key to the rows, the caret at the end.
fn key(text: &str) -> f64 {
    let mut now = Instant::now();
    let mut composer = Composer::new("/".into());
    composer.set_size(50, 12);
    composer.handle(Input::Insert(text), now);
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
