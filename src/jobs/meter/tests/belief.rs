//! What is shown, and for how long.

use super::{Watch, worded};
use std::time::Duration;

#[test]
fn a_trusted_display_shows_at_once() {
    assert_eq!(worded(Watch::new().see("[3/12] Building a.o\n")), "25.0% · 3/12");
}

#[test]
fn a_full_share_is_a_finished_step_and_its_facts_end_after_three_seconds() {
    let mut watch = Watch::new();
    assert_eq!(worded(watch.see("[3/12] Building a.o\n")), "25.0% · 3/12");
    assert_eq!(worded(watch.see("[12/12] Linking a\n")), "12/12");
    assert_eq!(worded(watch.after(2_900)), "12/12");
    assert_eq!(worded(watch.after(100)), "nothing");
    assert_eq!(watch.reader.next_look(), None);
}

#[test]
fn time_left_of_a_finished_step_is_dropped() {
    let line = "5,000 100%    1.43MB/s    0:00:09\r";
    assert_eq!(worded(Watch::new().see(line)), "1.43MB/s");
}

#[test]
fn a_bare_percentage_shows_after_a_rise_until_it_falls() {
    let mut watch = Watch::new();
    let steps = [
        ("10%", "nothing"),
        ("10%", "nothing"),
        ("20%", "20.0%"),
        ("20%", "20.0%"),
        ("15%", "nothing"),
        ("15%", "nothing"),
        ("16%", "16.0%"),
        ("100%", "nothing"),
        ("3%", "nothing"),
        ("4%", "4.0%"),
    ];
    for (text, shown) in steps {
        assert_eq!(worded(watch.see(&format!("\rworking {text}"))), shown, "{text}");
    }
}

#[test]
fn coverage_never_looks_like_progress() {
    let mut watch = Watch::new();
    let table = "a.py  100  20  80%\nb.py  10  1  90%\nTOTAL 110 10 95%\n";
    assert_eq!(worded(watch.see(table)), "nothing");
    assert_eq!(worded(watch.see("TOTAL 100 20 80%\n")), "nothing");
    assert_eq!(worded(watch.see("TOTAL 100 20 80%\n")), "nothing");
}

#[test]
fn a_bare_percentage_that_does_not_climb_leaves_a_bar_as_other_output_does() {
    let mut watch = Watch::new();
    watch.see("[3/12] Building a.o\n");
    assert_eq!(worded(watch.see("lines: 80%\n")), "25.0% · 3/12");
    assert_eq!(worded(watch.after(2_900)), "25.0% · 3/12");
    assert_eq!(worded(watch.after(100)), "nothing");
}

#[test]
fn other_output_ends_a_bar_three_seconds_after_its_first_line() {
    let mut watch = Watch::new();
    watch.see("[3/12] Building a.o\n");
    assert_eq!(watch.reader.next_look(), None, "a bar stays while nothing comes");
    assert_eq!(worded(watch.after(60_000)), "25.0% · 3/12");
    let begin = watch.now + Duration::from_millis(200);
    assert_eq!(worded(watch.see("warning: a\n")), "25.0% · 3/12");
    assert_eq!(watch.reader.next_look(), Some(begin + Duration::from_secs(3)));
    assert_eq!(worded(watch.see("warning: b\n")), "25.0% · 3/12");
    assert_eq!(worded(watch.after(2_700)), "25.0% · 3/12");
    assert_eq!(worded(watch.after(100)), "nothing");
}

#[test]
fn a_line_of_the_display_starts_the_three_seconds_anew() {
    let mut watch = Watch::new();
    watch.see("[3/12] Building a.o\n");
    watch.see("warning: a\n");
    watch.after(2_000);
    assert_eq!(worded(watch.see("[4/12] Building b.o\n")), "33.3% · 4/12");
    assert_eq!(worded(watch.after(10_000)), "33.3% · 4/12");
}

#[test]
fn facts_without_a_share_last_three_seconds() {
    let mut watch = Watch::new();
    assert_eq!(worded(watch.see("x   [ <=> ] 1.15M   975KB/s")), "1.15M · 975KB/s");
    assert_eq!(worded(watch.after(2_000)), "1.15M · 975KB/s");
    assert_eq!(worded(watch.see("\rx   [ <=> ] 1.20M   975KB/s")), "1.20M · 975KB/s");
    assert_eq!(worded(watch.after(2_900)), "1.20M · 975KB/s");
    assert_eq!(worded(watch.after(100)), "nothing");
}

#[test]
fn other_output_does_not_prolong_facts() {
    let mut watch = Watch::new();
    watch.see("x   [ <=> ] 1.15M   975KB/s\n");
    watch.after(1_000);
    assert_eq!(worded(watch.see("words\n")), "1.15M · 975KB/s");
    assert_eq!(worded(watch.after(1_800)), "nothing");
}

#[test]
fn a_line_of_other_output_counts_when_it_is_finished() {
    let mut watch = Watch::new();
    watch.see("[3/12] Building a.o\n");
    watch.see("half a li");
    assert_eq!(worded(watch.after(9_000)), "25.0% · 3/12");
    watch.see("ne\n");
    assert_eq!(worded(watch.after(3_000)), "nothing");
}

#[test]
fn looks_are_due_ten_times_a_second() {
    let mut watch = Watch::new();
    watch.reader.feed(b"a", watch.now);
    assert_eq!(watch.reader.next_look(), Some(watch.now), "nobody looked yet");
    watch.reader.look(watch.now);
    assert_eq!(watch.reader.next_look(), None);
    watch.reader.feed(b"b", watch.now);
    let due = watch.now + Duration::from_millis(100);
    assert_eq!(watch.reader.next_look(), Some(due));
    watch.reader.feed(b"c", watch.now + Duration::from_millis(50));
    assert_eq!(watch.reader.next_look(), Some(due), "more output does not put it off");
}

#[test]
fn a_line_that_was_cut_off_by_a_flood_is_not_read() {
    let mut watch = Watch::new();
    watch.see("a\n");
    watch.reader.skip(watch.now);
    assert_eq!(worded(watch.see("[3/12] Building")), "nothing");
    assert_eq!(worded(watch.see("\n[4/12] Building")), "33.3% · 4/12");
}

#[test]
fn of_many_lines_the_last_are_read() {
    let mut watch = Watch::new();
    let words = "words\n".repeat(40);
    assert_eq!(worded(watch.see(&format!("{words}[3/12] Building\n{words}"))), "25.0% · 3/12");
    let many = "words\n".repeat(400);
    let mut watch = Watch::new();
    assert_eq!(worded(watch.see(&format!("[3/12] Building\n{many}"))), "nothing");
    assert_eq!(worded(watch.see(&format!("{many}[4/12] Building\n"))), "33.3% · 4/12");
}

#[test]
fn coverage_of_one_package_after_the_other_is_no_progress() {
    let mut watch = Watch::new();
    for percent in [10, 20, 50] {
        let line = format!("ok  example.com/a  0.1s  coverage: {percent}.0% of statements\n");
        assert_eq!(worded(watch.see(&line)), "nothing");
    }
}

#[test]
fn blank_lines_are_no_other_output() {
    let mut watch = Watch::new();
    watch.see("[3/12] Building a.o\n");
    watch.see("\n\n     \r\n");
    assert_eq!(worded(watch.after(9_000)), "25.0% · 3/12");
}

#[test]
fn what_was_on_the_screen_before_a_flood_is_forgotten() {
    let mut watch = Watch::new();
    watch.see("0123456789ab: Pull complete\n");
    watch.reader.skip(watch.now);
    assert_eq!(worded(watch.see("\n123456789abc: Waiting\n")), "0.0% · 0/1 layers");
}
