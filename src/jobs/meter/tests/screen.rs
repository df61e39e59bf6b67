//! What a person sees when a program moves the cursor.

use super::super::escape::Escapes;
use super::super::screen::Screen;
use super::{Watch, worded};

fn shown(output: &str) -> Vec<String> {
    let (mut escapes, mut screen) = (Escapes::default(), Screen::default());
    output.chars().filter_map(|character| escapes.next(character)).for_each(|action| screen.act(action));
    screen.lines().collect()
}

#[test]
fn sequences() {
    let cases: [(&str, &[&str]); 20] = [
        ("abc\x1b[?2Kd", &["abcd"]),
        ("a\nb\r\nc", &["a", "b", "c"]),
        ("long line\rnew", &["new"]),
        ("long\r\n", &["long"]),
        ("abc\x1b[2Dx", &["axc"]),
        ("abc\x08\x08x", &["axc"]),
        ("abc\x1b[1G\x1b[0Kx", &["x"]),
        ("abc\r\x1b[2C!", &["ab!"]),
        ("a\x1b[3Cb", &["a   b"]),
        ("a\nb\nc\x1b[2A\rx", &["x", "b", "c"]),
        ("a\nb\n\x1b[2Fx", &["x", "b"]),
        ("a\nb\nc\x1b[1A\x1b[2K\rx\x1b[1B\ry", &["a", "x", "y"]),
        ("abcdef\x1b[3D\x1b[K", &["abc"]),
        ("a\nb\nc\x1b[2;1H\x1b[J", &["a"]),
        ("a\nb\x1b[2J", &[]),
        ("a\x1b7\x1b[24;1fProgress\x1b8b", &["ab", "Progress"]),
        ("\x1b[1;31mred\x1b[0m\x1b[?25l!", &["red!"]),
        ("\x1b]0;title\x07a\x1b]8;;x\x1b\\b\x1b(Bc", &["abc"]),
        ("a\u{202e}b\u{7}\u{1}c", &["abc"]),
        ("\x1b[1;2;3;4mx\x1b[", &["x"]),
    ];
    for (output, lines) in cases {
        assert_eq!(shown(output), lines, "{output:?}");
    }
}

#[test]
fn long_output_scrolls_and_wide_lines_end() {
    let output: String = (0..100).map(|number| format!("line {number}\n")).collect();
    let lines = shown(&output);
    assert_eq!(lines.first().map(String::as_str), Some("line 69"));
    assert_eq!(lines.last().map(String::as_str), Some("line 99"));
    assert_eq!(shown(&"x".repeat(9_000)), ["x".repeat(256)]);
}

#[test]
fn the_first_bar_of_a_block_is_the_whole() {
    for before in ["", &"words\n".repeat(40)] {
        let mut watch = Watch::new();
        watch.see(before);
        reads_the_first_of_a_block(&mut watch);
    }
}

fn reads_the_first_of_a_block(watch: &mut Watch) {
    let outer = " 40%|####      | 2/5 [00:01<00:02, 1it/s]";
    watch.see(&format!("\r{outer}"));
    let inner = "\n\r 10%|#         | 4/40 [00:00<00:01, 9it/s]\x1b[A";
    watch.see(inner);
    assert_eq!(worded(watch.see(inner)), "40.0% · 2s left · 2/5");
    // The block is over, and what comes below is another display.
    let later = "\n\n\r 10%|#         | 1/10 [00:01<00:09, 1it/s]";
    assert_eq!(worded(watch.see(later)), "10.0% · 9s left · 1/10");
}

#[test]
fn a_finished_bar_of_a_block_is_passed_over() {
    let mut watch = Watch::new();
    let bars = "\r100%|####| 5/5 [00:05<00:00, 1it/s]\n 10%|#  | 4/40 [00:00<00:01, 9it/s]";
    watch.see(&format!("{bars}\x1b[A"));
    assert_eq!(worded(watch.see(bars)), "10.0% · 1s left · 4/40");
}

#[test]
fn layers_are_read_together() {
    let mut watch = Watch::new();
    let begin = "0123456789ab: Pulling fs layer\r\n123456789abc: Already exists\r\n";
    assert_eq!(worded(watch.see(begin)), "50.0% · 1/2 layers");
    let half = "\x1b[2A\x1b[2K\r0123456789ab: Downloading [==>  ]  5MB/10MB\r\x1b[2B";
    assert_eq!(worded(watch.see(half)), "62.5% · 1/2 layers");
    let unpacking = "\x1b[2A\x1b[2K\r0123456789ab: Extracting [==>  ]  5MB/10MB\r\x1b[2B";
    assert_eq!(worded(watch.see(unpacking)), "87.5% · 1/2 layers");
    let done = "\x1b[2A\x1b[2K\r0123456789ab: Pull complete \r\x1b[2B";
    assert_eq!(worded(watch.see(done)), "2/2 layers");
}

#[test]
fn a_character_and_a_sequence_may_be_cut_by_a_look() {
    let line = "\r━ 1.0/4.0 kB\x1b[2K\r━ 2.0/4.0 kB";
    for cut in 0..line.len() {
        let mut watch = Watch::new();
        let (first, second) = line.as_bytes().split_at(cut);
        watch.reader.feed(first, watch.now);
        watch.after(200);
        watch.reader.feed(second, watch.now);
        assert_eq!(worded(watch.after(200)), "50.0% · 2.0/4.0 kB", "cut at {cut}");
    }
}

#[test]
fn a_line_is_read_before_the_cursor_leaves_it() {
    let leaving = ["\r", "\n", "\x1b[1G", "\x1b[A", "\x1b[B", "\x1b[2K", "\x1b[2J", "\x1b[9;9H", "\x1b8"];
    for sequence in leaving {
        let mut watch = Watch::new();
        let output = format!("a\n\x1b7b\n[3/12] Building{sequence}\x1b[K");
        assert_eq!(worded(watch.see(&output)), "25.0% · 3/12", "{sequence:?}");
    }
}
