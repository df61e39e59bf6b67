//! Any bytes, cut anywhere.

use super::super::reader::Reader;
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Output in which displays, escapes and noise follow each other.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let pieces: [&[u8]; 28] = [
        b"\r",
        b"\n",
        b"\x1b[2K",
        b"\x1b[K",
        b"\x1b[A",
        b"\x1b[3A",
        b"\x1b[B",
        b"\x1b[99999999999999999999C",
        b"\x1b[24;1H",
        b"\x1b[J",
        b"\x1b7",
        b"\x1b8",
        b"\x1b]0;title\x07",
        b"\x08",
        b"[3/12] ",
        b"45%",
        b"100%",
        b" 7% |###   | 3/40 [00:01<00:12, 3it/s]",
        "━━━━ 5.2/15.8 MB 10.1 MB/s eta 0:00:02".as_bytes(),
        b"0123456789ab: Downloading [=> ] 5MB/10MB",
        b"#######",
        b"Receiving objects:  45% (450/1000)",
        "█é…".as_bytes(),
        b"\xff\xfe",
        b"99999999999999999999999/99999999999999999999999",
        b"[==> ] 3/0: x",
        b" eta 99999999999999999999d",
        b"words ",
    ];
    let piece = prop_oneof![
        6 => proptest::sample::select(pieces.to_vec()).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => (any::<u8>(), 0..9_000_usize).prop_map(|(byte, count)| vec![byte; count]),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn the_cutting_of_the_output_changes_nothing(bytes in output(), cuts in proptest::collection::vec(1..2_000_usize, 1..40)) {
        let start = Instant::now();
        let mut whole = Reader::default();
        whole.feed(&bytes, start);
        let mut cut = Reader::default();
        let mut rest = bytes.as_slice();
        for length in cuts.into_iter().cycle() {
            let (chunk, after) = rest.split_at(length.min(rest.len()));
            cut.feed(chunk, start);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        let now = start + Duration::from_millis(100);
        prop_assert_eq!(whole.look(now), cut.look(now));
        for reader in [&mut whole, &mut cut] {
            reader.feed(b"\n[3/12] Building", now);
        }
        let now = now + Duration::from_millis(100);
        prop_assert_eq!(whole.look(now), cut.look(now));
        prop_assert_eq!(whole.next_look(), cut.next_look());
    }

    #[test]
    fn looks_in_between_find_clean_and_finite_meters(chunks in proptest::collection::vec(output(), 0..6)) {
        let mut now = Instant::now();
        let mut reader = Reader::default();
        for (number, chunk) in chunks.iter().enumerate() {
            if number % 3 == 2 {
                reader.skip(now);
            }
            reader.feed(chunk, now);
            now += Duration::from_millis(150);
            if let Some(meter) = reader.look(now) {
                prop_assert!(meter.share.is_none_or(|share| share.is_finite() && (0.0..1.0).contains(&share)));
                prop_assert!(!meter.is_empty());
                prop_assert!(meter.left.is_none_or(|left| left > Duration::ZERO));
                prop_assert!(meter.facts.iter().all(|fact| fact.len() < 600 && !fact.chars().any(char::is_control)));
            }
            prop_assert!(reader.next_look().is_none_or(|next| next > now));
            prop_assert!(reader.kept_bytes() <= 96 * 1024, "{} bytes", reader.kept_bytes());
        }
    }
}
