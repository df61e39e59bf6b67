//! A command that prints as fast as it can.

use super::super::reader::Reader;
use super::super::tail::Tail;
use std::time::{Duration, Instant};

const CHUNK: usize = 16 * 1024;

fn flood(line: &[u8], looks_every: Duration) -> f64 {
    let total = 200_000_000_usize;
    let chunk: Vec<u8> = line.iter().copied().cycle().take(CHUNK).collect();
    let mut reader = Reader::default();
    let start = Instant::now();
    for _ in 0..total / CHUNK {
        let now = Instant::now();
        reader.feed(&chunk, now);
        if reader.next_look().is_some_and(|next| next <= now) || looks_every.is_zero() {
            std::hint::black_box(reader.look(now));
        }
    }
    assert!(reader.kept_bytes() <= 96 * 1024, "{} bytes", reader.kept_bytes());
    200.0 / start.elapsed().as_secs_f64()
}

#[test]
#[ignore = "takes time, prints figures"]
fn two_hundred_megabytes() {
    let long = [b'x'; 5_000];
    let bars = b"\r 45%|####      | 18/40 [00:01<00:12, 3it/s]";
    let cases: [(&str, &[u8]); 4] =
        [("yes", b"y\n"), ("no line ends", b"z"), ("long lines", &long), ("bars", bars)];
    for (name, line) in cases {
        let due = flood(line, Duration::from_millis(100));
        println!("{name}: {due:.0} MB/s with looks when they are due");
    }
    println!("yes, a look at each chunk: {:.0} MB/s", flood(b"y\n", Duration::ZERO));
}

#[test]
fn a_flood_ends_a_bar_and_keeps_little() {
    let mut now = Instant::now();
    let mut reader = Reader::default();
    reader.feed(b"[3/12] Building a.o\n", now);
    assert!(reader.look(now).is_some());
    let chunk = b"y\n".repeat(CHUNK / 2);
    for _ in 0..35 {
        for _ in 0..20 {
            reader.feed(&chunk, now);
        }
        now += Duration::from_millis(100);
        reader.look(now);
    }
    assert_eq!(reader.look(now), None);
    assert!(reader.kept_bytes() <= 96 * 1024, "{} bytes", reader.kept_bytes());
}

#[test]
fn the_last_bytes_are_kept_however_they_came() {
    // Sizes of what came, and whether something is gone.
    let cases: [(&[usize], bool); 7] = [
        (&[10], false),
        (&[CHUNK], false),
        (&[10, CHUNK - 10], false),
        (&[10, CHUNK - 9], true),
        (&[1, CHUNK], true),
        (&[CHUNK + 1], true),
        (&[CHUNK, CHUNK, 5], true),
    ];
    for (sizes, cut) in cases {
        let all: Vec<u8> = (0..sizes.iter().sum()).map(|index: usize| index.to_le_bytes()[0]).collect();
        let mut tail = Tail::default();
        let mut rest = all.as_slice();
        for size in sizes {
            let (chunk, after) = rest.split_at(*size);
            tail.push(chunk);
            rest = after;
        }
        let taken = tail.take();
        assert_eq!(taken.cut, cut, "{sizes:?}");
        assert_eq!(taken.bytes, all[all.len().saturating_sub(CHUNK)..], "{sizes:?}");
        assert!(tail.is_empty());
    }
}
