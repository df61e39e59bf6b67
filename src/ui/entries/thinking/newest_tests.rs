use super::*;

fn drawn(text: &str, room: usize) -> Vec<String> {
    let end = End::of(text, room);
    end.map_or(Vec::new(), |end| end.rows(Style::new()).iter().map(Row::drawn).collect())
}

#[test]
fn only_the_newest_rows_are_shown() {
    let text = (0..200).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
    let rows = drawn(&text, 30);
    assert_eq!(rows.len(), 3);
    assert!(rows[0].starts_with("… word"), "{rows:?}");
    assert!(rows[2].ends_with("word199"), "{rows:?}");
    assert_eq!(drawn("a few words", 30), ["a few words"]);
    assert!(drawn(" \n", 30).is_empty());
    assert!(drawn(&text, 3).iter().all(|row| width::of(row) <= 3));
}

/// What was shown stays as it was, but for going up and out: a break that moves makes every row jump.
#[test]
fn breaks_stay_where_they_are_while_text_comes() {
    let words = (0..2000).map(|n| format!("w{}", n * 7919 % 10_007)).collect::<Vec<_>>();
    let (mut text, mut before, mut jumps) = (String::new(), Vec::<String>::new(), 0);
    for word in &words {
        text.push_str(word);
        text.push(' ');
        let rows = drawn(&text, 60);
        // All but the last row of before are there still, or their successors without the first.
        let bare = |rows: &[String]| {
            rows.iter().map(|row| row.trim_start_matches("… ").to_owned()).collect::<Vec<_>>()
        };
        let (old, new) = (bare(&before), bare(&rows));
        let whole = old.get(..old.len().saturating_sub(1)).unwrap_or_default();
        if !(new.starts_with(whole) || new.starts_with(whole.get(1..).unwrap_or_default())) {
            jumps += 1;
        }
        before = rows;
    }
    // Once a step: (3 + 1) rows of 60 columns, three times.
    assert!(jumps <= text.len() / 720 + 1, "{jumps} jumps in {} bytes", text.len());
}

#[test]
fn the_cost_does_not_grow_with_the_text() {
    let text = "some words of a long thought ".repeat(10_000);
    for length in [10_000, 100_000, 250_000] {
        let text = text.get(..length).unwrap();
        let looked_at = text.len() - End::of(text, 100).unwrap().begin;
        assert!((1200..=2400).contains(&looked_at), "{looked_at}");
    }
}

#[test]
fn rows_know_where_their_text_stood() {
    let source = "**Plan**\n\n- first \u{202e}step\n- second";
    let end = End::of(source, 80).unwrap();
    let text = end.rows(Style::new())[0].drawn();
    assert_eq!(text, "Plan\u{a0}· first step\u{a0}· second");
    assert_eq!(end.place(text.len() - 1), source.len() - 1);
    assert_eq!(end.place(0), 2 + "\u{202e}".len());
}
