//! How well a short query fits a path or a name: its characters in order, better when they stand together, at the
//! starts of words and in the file's name.

const MATCH: i32 = 16;
const TOGETHER: i32 = 12;
const WORD_START: i32 = 10;
const IN_NAME: i32 = 8;
const GAP: i32 = 1;
const LONGEST_GAP: i32 = 12;

/// A score, higher is better; `None` where the query does not fit. Small letters match capitals too.
pub fn score(query: &str, text: &str) -> Option<i32> {
    // The first place where all characters have come, then backwards to the tightest match that ends there.
    let mut wanted = query.chars().filter(|c| !c.is_whitespace()).peekable();
    let mut end = None;
    for (at, found) in text.char_indices() {
        let Some(next) = wanted.peek() else { break };
        if fits(*next, found) {
            wanted.next();
            end = Some(at + found.len_utf8());
        }
    }
    if wanted.peek().is_some() {
        return None;
    }
    let whole = tight(query, text, end.unwrap_or(0));
    // A match within the file's name says more than one scattered over its folders.
    let name = text.trim_end_matches('/').rfind('/').map_or(0, |slash| slash + 1);
    let in_name = text.get(name..).filter(|_| name > 0).and_then(|name| {
        let mut wanted = query.chars().filter(|c| !c.is_whitespace()).peekable();
        let mut end = 0;
        for (at, found) in name.char_indices() {
            let Some(next) = wanted.peek() else { break };
            if fits(*next, found) {
                wanted.next();
                end = at + found.len_utf8();
            }
        }
        wanted.peek().is_none().then(|| tight(query, name, end))
    });
    let bonus = if name == 0 { Some(whole) } else { in_name };
    let best = bonus.map_or(whole, |score| whole.max(score + IN_NAME));
    Some(best - i32::try_from(text.len() / 8).unwrap_or(i32::MAX / 2))
}

fn fits(wanted: char, found: char) -> bool {
    if found.is_ascii() {
        // Paths are mostly plain, and a listing is long: no tables of Unicode for them.
        return wanted == found || wanted == found.to_ascii_lowercase();
    }
    wanted == found || (!wanted.is_uppercase() && found.to_lowercase().eq([wanted]))
}

fn tight(query: &str, text: &str, end: usize) -> i32 {
    let before = text.get(..end).unwrap_or_default();
    let mut wanted = query.chars().rev().filter(|c| !c.is_whitespace()).peekable();
    let mut score = 0;
    let mut gap: Option<i32> = None;
    let mut chars = before.chars().rev().peekable();
    while let Some(found) = chars.next() {
        let Some(next) = wanted.peek() else { break };
        if !fits(*next, found) {
            gap = gap.map(|gap| gap + 1);
            continue;
        }
        wanted.next();
        score += MATCH;
        match gap {
            Some(0) => score += TOGETHER,
            Some(gap) => score -= GAP * gap.min(LONGEST_GAP),
            None => {}
        }
        gap = Some(0);
        let starts_word = chars.peek().is_none_or(|before| {
            !before.is_alphanumeric() || (before.is_lowercase() && found.is_uppercase())
        });
        if starts_word {
            score += WORD_START;
        }
    }
    score
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_fits_score_higher() {
        let table = [
            ("cli", "src/cli.rs", "src/client/mod_list.rs"),
            ("main", "src/main.rs", "src/domain/a_i_n.rs"),
            ("fb", "foo_bar.rs", "fxxb.rs"),
            ("fb", "fooBar.rs", "foobar.rs"),
            ("read", "README.md", "src/tools/render_and_draw.rs"),
            ("mod", "mod.rs", "src/very/deep/folder/mod.rs"),
        ];
        for (query, better, worse) in table {
            assert!(score(query, better) > score(query, worse), "{query}: {better} over {worse}");
        }
        assert_eq!(score("xyz", "src/cli.rs"), None);
        assert_eq!(score("CLI", "src/cli.rs"), None);
        assert!(score("", "anything").is_some());
    }
}
