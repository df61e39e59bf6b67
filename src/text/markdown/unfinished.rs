//! The end of a text that is still being written: marks whose other half has not come yet.
//!
//! A reader should not see `**` for a moment and the text jump by two columns when the closing half comes. So the last line is
//! drawn as if what is open were closed, and a mark that nothing follows yet is not drawn. A guess that turns out wrong costs
//! nothing: what is drawn at the end is the text as it is.

/// The block with its last line as it will probably go on; `None` when there is nothing to mend.
pub(super) fn mended(block: &str) -> Option<String> {
    if is_in_code(block) {
        return None;
    }
    let line_start = block.rfind('\n').map_or(0, |at| at + 1);
    let (above, line) = block.split_at_checked(line_start)?;
    if let Some(end) = lone_marks(above, line) {
        return Some(block.get(..line_start + end).unwrap_or(block).trim_end_matches([' ', '\t']).to_owned());
    }
    let (end, closing) = open_marks(line).unwrap_or((line.len(), String::new()));
    let kept = block.get(..line_start + end).unwrap_or(block);
    let table = table_below(above, line.get(..end).unwrap_or(line));
    if closing.is_empty() && end == line.len() && table.is_none() {
        return None;
    }
    match table {
        Some(Table::Names(rule)) => Some(format!("{}{closing}\n{rule}", kept.trim_end_matches([' ', '\t']))),
        Some(Table::Rule(rule)) => Some(format!("{above}{rule}")),
        None => Some(format!("{}{closing}", kept.trim_end_matches([' ', '\t']))),
    }
}

/// Where a line ends for now of which nothing but marks has come: they may become a bullet, a rule, a fence, emphasis, or
/// make a heading of the text above, and until that is known it is none of these.
fn lone_marks(above: &str, line: &str) -> Option<usize> {
    let mut rest = line.trim_start_matches(|c: char| c.is_whitespace() || c == '>');
    loop {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let behind = match rest.strip_prefix(['-', '*', '+']) {
            Some(behind) => behind,
            None if number.len() < rest.len() => number.strip_prefix(['.', ')']).unwrap_or(number),
            None => rest.trim_start_matches('#'),
        };
        let inner = behind.trim_start_matches(' ');
        if inner.len() == behind.len() || inner.is_empty() {
            break;
        }
        rest = inner;
    }
    let mark = rest.chars().next()?;
    if !rest.trim_end().chars().all(|c| c == mark) {
        return None;
    }
    let is_below_text = above.lines().next_back().is_some_and(|line| !super::is_blank(line));
    let is_held = match mark {
        '*' | '_' | '~' | '`' => true,
        // With a blank behind it is a bullet.
        '-' | '+' => is_below_text || rest.len() == 2 || rest == "-" || rest == "+",
        '=' => is_below_text,
        // Below the names of a table it begins the rule.
        '|' => rest.trim_end() == "|" && above.lines().next_back().and_then(bar).is_none(),
        _ => false,
    };
    // Below text also this underlines a heading.
    let underlines = mark == '-' && is_below_text;
    let is_bullet = matches!(mark, '-' | '*' | '+')
        && !underlines
        && rest.strip_prefix(mark).is_some_and(|rest| rest.starts_with(' '));
    (is_held && !is_bullet).then(|| line.len() - rest.len())
}

/// What makes a table of what has come.
enum Table {
    /// The line is its names: this rule goes below.
    Names(String),
    /// The line is a part of the rule: this is all of it.
    Rule(String),
}

/// A line that begins with a bar is a row of a table: its names, when no such line stands above. Without the rule below them
/// they would be text with bars in it for as long as they are written.
fn table_below(above: &str, line: &str) -> Option<Table> {
    let mut lines = above.lines().rev();
    let (last, before) = (lines.next(), lines.next());
    if super::is_blank(line.trim_matches(|c| matches!(c, ' ' | '\t' | '>'))) {
        let (lead, names) = last.and_then(bar)?;
        return before.and_then(bar).is_none().then(|| Table::Rule(rule(lead, names)));
    }
    let (lead, row) = bar(line)?;
    let Some((_, names)) = last.and_then(bar) else {
        // A bar alone says little.
        return (row.len() > 1).then(|| Table::Names(rule(lead, row)));
    };
    let is_rule = row.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    if !is_rule || before.and_then(bar).is_some() {
        return None;
    }
    Some(Table::Rule(rule(lead, names)))
}

/// What stands before the first bar of a line that begins with one, and the rest.
fn bar(line: &str) -> Option<(&str, &str)> {
    let row = line.trim_start_matches(|c: char| c.is_whitespace() || c == '>');
    row.starts_with('|').then(|| line.split_at(line.len() - row.len()))
}

/// A rule for as many columns as the names have.
fn rule(lead: &str, names: &str) -> String {
    let names = names.trim_end();
    let inner = names.strip_prefix('|').unwrap_or(names);
    let inner = inner.strip_suffix('|').unwrap_or(inner).replace("\\|", "");
    format!("{lead}|{}", "---|".repeat(inner.matches('|').count() + 1))
}

/// Within a fence, as in a list item, or within indented code every mark is meant.
fn is_in_code(block: &str) -> bool {
    let fences = block.lines().filter(|line| {
        let line = line.trim_start();
        line.starts_with("```") || line.starts_with("~~~")
    });
    block.starts_with("    ") || block.starts_with('\t') || fences.count() % 2 == 1
}

/// An open mark: its character, and how often it stands there.
type Mark = (char, usize);

/// Where the line ends for now, and what closes it. `None`: nothing is open.
fn open_marks(line: &str) -> Option<(usize, String)> {
    let mut open: Vec<Mark> = Vec::new();
    let mut before: Option<char> = None;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let at = line.len() - rest.len();
        if c == '\\' {
            let mut chars = rest.chars();
            chars.next();
            before = chars.next();
            rest = chars.as_str();
            continue;
        }
        if !matches!(c, '*' | '_' | '~' | '`') {
            before = Some(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        }
        let after = rest.trim_start_matches(c);
        let count = rest.len() - after.len();
        let run = rest.get(..count).unwrap_or_default();
        let next = after.chars().next();
        if c == '`' {
            match code_end(after, run) {
                Some(end) => {
                    before = Some('`');
                    rest = after.get(end..).unwrap_or_default();
                    continue;
                }
                // What stands in open code is no mark.
                None if after.is_empty() => return Some((at, closing(&open))),
                None => {
                    // The first half of a longer closing mark is not drawn either.
                    let end = line.trim_end_matches('`').len();
                    return Some((end, format!("{run}{}", closing(&open))));
                }
            }
        }
        let follows_word = before.is_some_and(|c| !c.is_whitespace());
        let closes = follows_word && open.last() == Some(&(c, count));
        let opens = next.is_some_and(|c| !c.is_whitespace())
            && before.is_none_or(|c| c.is_whitespace() || c.is_ascii_punctuation());
        let is_mark = c != '~' || count == 2;
        if closes {
            open.pop();
        } else if next.is_none() && (is_mark || c == '~') {
            return Some((at, closing(&open)));
        } else if opens && is_mark && count <= 3 {
            open.push((c, count));
        }
        before = Some(c);
        rest = after;
    }
    let is_link = line.rfind("](").is_some_and(|at| {
        line.get(at..).is_some_and(|url| !url.contains(')') && !url.contains(char::is_whitespace))
    });
    if open.is_empty() && !is_link {
        return None;
    }
    Some((line.len(), format!("{}{}", if is_link { ")" } else { "" }, closing(&open))))
}

/// Bytes up to behind the mark that ends code begun with such a run.
fn code_end(text: &str, run: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('`')) {
        let rest = text.get(at + found..).unwrap_or_default();
        let count = rest.len() - rest.trim_start_matches('`').len();
        at += found + count;
        if count == run.len() {
            return Some(at);
        }
    }
    None
}

fn closing(open: &[Mark]) -> String {
    open.iter().rev().flat_map(|(c, count)| std::iter::repeat_n(*c, *count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn open_marks_are_closed_for_now() {
        let table = [
            ("plain text", None),
            ("a **bo", Some("a **bo**")),
            ("a **bold", Some("a **bold**")),
            ("a **bold*", Some("a **bold**")),
            ("a **bold**", None),
            ("a **bold ", Some("a **bold**")),
            ("a **", Some("a")),
            ("a *", Some("a")),
            ("a `co", Some("a `co`")),
            ("a ``co`", Some("a ``co``")),
            ("a `", Some("a")),
            ("**a `co", Some("**a `co`**")),
            ("**a _b", Some("**a _b_**")),
            ("~~gone", Some("~~gone~~")),
            ("about ~5", None),
            ("2 * 3 * 4", None),
            ("snake_case", None),
            ("a \\*b", None),
            ("see [docs](http://exa", Some("see [docs](http://exa)")),
            ("see [docs](http://example.org) and", None),
            ("- [ ", None),
            ("*", Some("")),
            ("* ", None),
            ("- **", Some("-")),
            ("1. `", Some("1.")),
            ("> ~~", Some(">")),
            ("## _", Some("##")),
            ("-", Some("")),
            ("--", Some("")),
            ("---", None),
            ("- a\n-", Some("- a\n")),
            ("text\n---", Some("text\n")),
            ("text\n- ", Some("text\n")),
            ("text\n=", Some("text\n")),
            ("text\n\n=", None),
            ("- a\n  -", Some("- a\n")),
            ("```", None),
            ("``", Some("")),
            ("|", Some("")),
            ("| a", Some("| a\n|---|")),
            ("| a | **b", Some("| a | **b**\n|---|---|")),
            ("| a \\| b |", Some("| a \\| b |\n|---|")),
            ("| a | b |\n|--", Some("| a | b |\n|---|---|")),
            ("> | a | b |\n> |", Some("> | a | b |\n> |---|---|")),
            ("| a | b |\n", Some("| a | b |\n|---|---|")),
            ("| a | b |\n|---|---|\n| 1 | **2", Some("| a | b |\n|---|---|\n| 1 | **2**")),
            ("| a |\n|---|\n| - |", None),
            ("- a\n  ```\n  **x", None),
            ("    **code", None),
            ("first **bold**\nsecond **b", Some("first **bold**\nsecond **b**")),
            ("## A **he", Some("## A **he**")),
        ];
        for (text, expected) in table {
            assert_eq!(mended(text).as_deref(), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_mended(text in "[a-b *_~`\\\\\\[\\]()|>=#\n日é-]{0,40}") {
            if let Some(mended) = mended(&text) {
                // Nothing but marks is added or taken.
                let bare = |text: &str| text.replace(['*', '_', '~', '`', ')', ' ', '\t', '-', '=', '|', '>', '\n'], "");
                prop_assert_eq!(bare(&mended), bare(&text));
            }
        }
    }
}
