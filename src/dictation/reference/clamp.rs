//! A long text keeps its begin and its end: what an answer is about stands at its begin, what it comes to at its end.

use unicode_segmentation::UnicodeSegmentation as _;

/// The smallest and the largest limit, in characters (Unicode scalar values).
pub const LIMITS: (usize, usize) = (500, 12_000);

/// A cut moves to the border of a line that is at most this many characters away.
const BORDER_REACH: usize = 80;

/// Stands on a line of its own for what was left out.
const GAP: &str = "\n…\n";
const GAP_CHARS: usize = 3;

/// At most `limit` characters of a text; the limit is forced into [`LIMITS`]. What is longer keeps the first two thirds
/// and as much of its end as fits. Cuts are at borders of lines where one is near, and never inside what people see as
/// one character.
pub fn clamp(text: &str, limit: usize) -> String {
    let limit = limit.clamp(LIMITS.0, LIMITS.1);
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    let head = limit * 2 / 3;
    let tail = limit - head - GAP_CHARS;
    let head = head_end(text, head);
    let tail = tail_start(text, count - tail);
    let (head, tail) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    format!("{head}{GAP}{tail}")
}

/// Where the begin ends, in bytes: at most `chars` characters.
fn head_end(text: &str, chars: usize) -> usize {
    let (mut place, mut at, mut border) = (0, 0, None);
    for (start, cluster) in text.grapheme_indices(true) {
        let size = cluster.chars().count();
        if at + size > chars {
            break;
        }
        at += size;
        place = start + cluster.len();
        if cluster.ends_with('\n') {
            // Without the line end: the gap begins with one.
            border = Some((start, at));
        }
    }
    match border {
        Some((border, after)) if chars.saturating_sub(after) <= BORDER_REACH => border,
        _ => place,
    }
}

/// Where the end begins, in bytes: not before the character of that number.
fn tail_start(text: &str, first: usize) -> usize {
    let mut at = 0;
    let mut place = None;
    let mut is_border = true;
    for (start, cluster) in text.grapheme_indices(true) {
        if at >= first {
            let place = *place.get_or_insert(start);
            if is_border {
                return start;
            }
            if at - first >= BORDER_REACH {
                return place;
            }
        }
        is_border = cluster.ends_with('\n');
        at += cluster.chars().count();
    }
    place.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count(text: &str) -> usize {
        text.chars().count()
    }

    #[test]
    fn sizes_around_the_limit() {
        for (limit, forced) in
            [(0, 500), (499, 500), (500, 500), (6_000, 6_000), (12_000, 12_000), (13_000, 12_000)]
        {
            for size in [0, forced - 1, forced] {
                let text = "x".repeat(size);
                assert_eq!(clamp(&text, limit), text, "{limit} {size}");
            }
            // No border is near: the limit is used up.
            let cut = clamp(&"x".repeat(forced + 1), limit);
            assert_eq!(count(&cut), forced);
            let (head, tail) = cut.split_once("\n…\n").unwrap();
            assert_eq!((head.len(), tail.len()), (forced * 2 / 3, forced - forced * 2 / 3 - 3), "{limit}");
        }
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        let text = "é".repeat(500);
        assert_eq!(clamp(&text, 500), text);
        assert_eq!(count(&clamp(&"🦜".repeat(501), 500)), 500);
    }

    #[test]
    fn cuts_go_to_borders_of_lines_that_are_near() {
        // 333 of the head: the border after 300 is near; of the tail the one 40 behind its begin is.
        let text = format!("{}\n{}\n{}", "a".repeat(299), "b".repeat(600), "c".repeat(120));
        assert_eq!(clamp(&text, 500), format!("{}\n…\n{}", "a".repeat(299), "c".repeat(120)));
        // Borders out of reach: 82 before the end of the head, 81 behind the begin of the tail.
        let text = format!("{}\n{}\n{}", "a".repeat(251), "b".repeat(600), "c".repeat(82));
        let cut = clamp(&text, 500);
        assert_eq!(count(&cut), 500);
        assert!(cut.contains("b\n…\nb"), "{cut}");
    }

    #[test]
    fn what_people_see_as_one_character_stays_whole() {
        // Three characters each: a letter and two marks; 333 and the tail's 164 are not at a border of both.
        let text = "e\u{301}\u{327}".repeat(400);
        for limit in 500..506 {
            let cut = clamp(&text, limit);
            assert!(count(&cut) <= limit);
            for part in cut.split("\n…\n") {
                assert!(part.starts_with('e') && part.ends_with('\u{327}'), "{limit}");
            }
        }
        let family = "👩\u{200d}👩\u{200d}👧".repeat(200);
        for part in clamp(&family, 501).split("\n…\n") {
            assert_eq!(count(part) % 5, 0);
        }
        // One character that never ends.
        let endless = format!("e{}", "\u{301}".repeat(20_000));
        assert!(count(&clamp(&endless, 500)) <= 500);
    }

    proptest! {
        #[test]
        fn never_longer_and_made_of_begin_and_end(
            text in "([a-z ]{0,60}(\n|\u{301}|é|🦜)){0,200}",
            limit in 0_usize..3_000,
        ) {
            let cut = clamp(&text, limit);
            let limit = limit.clamp(500, 12_000);
            prop_assert!(count(&cut) <= limit);
            if count(&text) <= limit {
                prop_assert_eq!(cut, text);
            } else {
                let (head, tail) = cut.split_once("\n…\n").unwrap();
                prop_assert!(text.starts_with(head) && text.ends_with(tail));
                prop_assert!(count(head) + 81 + 4 >= limit * 2 / 3);
            }
        }
    }
}
