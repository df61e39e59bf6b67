//! Wrapping, Markdown, highlighting, differences.

use super::{median, millis, tell};
use mynah::text::diff;
use mynah::text::highlight::{self, Highlighter};
use mynah::text::markdown::{self, stream::MarkdownStream};
use mynah::text::wrap::{self, Break};
use mynah::theme::Theme;
use ratatui::style::Style;
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

/// Characters that stand for one token.
const TOKEN: usize = 4;

/// Prose, lists, a table, code: about 1 KB each time.
fn answer(bytes: usize) -> String {
    let mut text = String::new();
    let mut section = 0;
    while text.len() < bytes {
        section += 1;
        let _ = write!(
            text,
            "## Section {section}\n\nThe lexer rejects an **empty buffer** before the parser sees it, and `first()` is \
             unwrapped in [one caller](https://example.org/{section}). It goes on for a while, as answers do, so that \
             rows have to be wrapped.\n\n- one thing to do\n- another one\n  - with a detail\n\n```rust\nfn tokens(&self) \
             -> Result<Vec<Token>> {{\n    // Empty input is valid.\n    if self.buffer.is_empty() {{ return \
             Ok(Vec::new()); }}\n    let first = self.buffer.first().ok_or(Error::Empty)?;\n    self.read(first, \
             {section})\n}}\n```\n\n| file | lines |\n|---|--:|\n| lexer.rs | {section} |\n| parser.rs | 12 |\n\n> quoted \
             text\n\n"
        );
    }
    text
}

fn code(lines: usize) -> String {
    (0..lines).fold(String::new(), |mut text, line| {
        let _ =
            writeln!(text, "    let value_{line} = compute(\"text {line}\", {line} + 1); // comment {line}");
        text
    })
}

fn time(runs: usize, mut work: impl FnMut()) -> f64 {
    let times = (0..runs).map(|_| {
        let begun = Instant::now();
        work();
        millis(begun.elapsed())
    });
    median(times.collect())
}

/// 80 KB of prose at 100 columns.
pub fn wrap() {
    let prose = answer(80 * 1024);
    let columns = 100;
    tell(
        "wrap_80kb",
        time(15, || drop(black_box(wrap::text(&prose, Style::new(), columns, Break::Words)))),
        "ms",
    );
}

/// A whole answer of 20,000 tokens, and one that streams, token by token, at two lengths.
pub fn markdown() {
    let theme = Theme::quiet_dark();
    highlight::warm("rust");
    let whole = answer(20_000 * TOKEN);
    tell("markdown_20k_tokens", time(7, || drop(black_box(markdown::render(&whole, &theme, 100)))), "ms");
    let stream = |tokens: usize| {
        let text = answer(tokens * TOKEN);
        let mut stream = MarkdownStream::new();
        let begun = Instant::now();
        let mut count = 0_u32;
        for token in text.as_bytes().chunks(TOKEN) {
            stream.push(&String::from_utf8_lossy(token));
            stream.layout(&theme, 100);
            count += 1;
        }
        1000.0 * millis(begun.elapsed()) / f64::from(count)
    };
    let short = median((0..5).map(|_| stream(1000)).collect());
    let long = stream(100_000);
    tell("markdown_stream_token_1k", short, "us");
    tell("markdown_stream_token_100k", long, "us");
    tell("markdown_stream_100k_to_1k", long / short, "ratio");
    let fence = |lines: usize| {
        let text = format!("```rust\n{}", code(lines));
        let mut stream = MarkdownStream::new();
        let begun = Instant::now();
        let mut count = 0_u32;
        for token in text.as_bytes().chunks(TOKEN) {
            stream.push(&String::from_utf8_lossy(token));
            stream.layout(&theme, 100);
            count += 1;
        }
        1000.0 * millis(begun.elapsed()) / f64::from(count)
    };
    tell(
        "markdown_stream_fence_5000_to_50_lines",
        fence(5000) / median((0..5).map(|_| fence(50)).collect()),
        "ratio",
    );
}

/// 1,000 lines of Rust.
pub fn highlight() {
    let text = code(1000);
    highlight::warm("rust");
    let lines = || drop(black_box(highlight::lines(&text, Highlighter::for_language("rust"))));
    tell("highlight_1000_lines", time(7, lines), "ms");
}

/// 1,000 changed lines among 5,000, laid out.
pub fn diff() {
    let old = code(5000);
    let new = old.replace("0 = compute", "0 = calculate");
    let theme = Theme::quiet_dark();
    let work = || {
        let lines = diff::between(&old, &new, diff::CONTEXT);
        drop(black_box(diff::rows(&lines, "x.rs", &theme, 100)));
    };
    tell("diff_5000_lines", time(5, work), "ms");
}
