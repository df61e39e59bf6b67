//! What a result holds, in a few words behind the title.

use super::body::{change, results};
use super::draft::Draft;
use super::outcome::Outcome;
use super::seg::{self, Seg};
use super::title::{self, Kind};
use crate::proto::message::{Block, ToolResultMessage};
use crate::text::{diff, formats};
use crate::theme::role::Role;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Before each fact.
const DOT: &str = " · ";

/// Facts of a call that is over.
pub fn ended(
    tool: &str,
    arguments: &Map<String, Value>,
    outcome: &Outcome<'_>,
    result: &ToolResultMessage,
) -> Vec<Seg> {
    match Kind::of(tool) {
        Kind::Write => {
            let mut facts = write(arguments);
            // Of a file that was there before.
            facts.extend(edit(outcome));
            facts
        }
        _ if !outcome.is_ok() => Vec::new(),
        Kind::Read => read(outcome, result),
        Kind::Edit => edit(outcome),
        Kind::Grep => grep(outcome),
        Kind::Find => {
            let found = listing(outcome.body(), "No files found matching pattern");
            let total = outcome.number(&["truncation", "totalLines"]).unwrap_or(found.lines().count() as u64);
            let mut facts = vec![match total {
                0 => muted("no files"),
                total => muted(formats::counted(total, "file")),
            }];
            facts.extend(outcome.has("resultLimitReached").then(limit_reached));
            joined(facts)
        }
        Kind::Ls => ls(outcome),
        Kind::Other => results::facts(tool, outcome),
        Kind::Bash => Vec::new(),
    }
}

/// Facts of a call whose arguments are whole, before it is over.
pub fn going_on(tool: &str, arguments: &Map<String, Value>) -> Vec<Seg> {
    match Kind::of(tool) {
        Kind::Write => write(arguments),
        Kind::Edit => {
            let edits = arguments.get("edits").and_then(Value::as_array).map_or(0, Vec::len);
            several_edits(edits)
        }
        _ => Vec::new(),
    }
}

/// Facts of a call that is being written.
pub fn writing(tool: &str, draft: &Draft<'_>) -> Vec<Seg> {
    match Kind::of(tool) {
        Kind::Write => draft.lines("content").map_or_else(Vec::new, |lines| {
            joined(vec![muted(format!("{}…", formats::counted(lines as u64, "line")))])
        }),
        Kind::Edit => several_edits(draft.pieces("edits", "oldText")),
        _ => Vec::new(),
    }
}

/// Lines that a read gave, if it gave text.
pub fn read_lines(outcome: &Outcome<'_>) -> Option<u64> {
    let body = file_text(outcome.body());
    let is_text = outcome.is_ok() && !body.is_empty() && !is_sentence(body);
    is_text.then(|| body.lines().count() as u64)
}

/// A file's text without the notices behind it.
pub fn file_text(text: &str) -> &str {
    let mut body = text;
    loop {
        let end = body.trim_end_matches('\n');
        let (before, last) = end.rsplit_once("\n\n").unwrap_or(("", end));
        let is_notice = last.starts_with('[')
            && last.ends_with(']')
            && (last.contains("to continue.")
                || last.contains("are not valid UTF-8")
                || last.contains(" limit. Use bash: sed"));
        if !is_notice {
            return body;
        }
        body = before;
    }
}

/// A listing without its notices; nothing when it says that there is nothing.
pub fn listing<'a>(text: &'a str, nothing: &str) -> &'a str {
    let end = text.trim_end();
    let body = match end.rsplit_once("\n\n[") {
        Some((before, notice)) if notice.ends_with(']') => before,
        _ => end,
    };
    if body == nothing { "" } else { body }
}

/// Splits a line of a search into file, number and text, and tells whether it is a match.
pub fn found(line: &str) -> Option<(&str, &str, &str, bool)> {
    let at = |mark: char| {
        line.match_indices(mark).find_map(|(begin, _)| {
            let rest = line.get(begin + 1..)?;
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let after = rest.get(digits..)?.strip_prefix(mark)?;
            let text = after.strip_prefix(' ').or_else(|| after.is_empty().then_some(""))?;
            (digits > 0).then_some((begin, rest.get(..digits)?, text))
        })
    };
    let (hit, near) = (at(':'), at('-'));
    let is_match = match (&hit, &near) {
        (Some(hit), Some(near)) => hit.0 < near.0,
        (hit, _) => hit.is_some(),
    };
    let (begin, number, text) = if is_match { hit? } else { near? };
    Some((line.get(..begin)?, number, text, is_match))
}

fn muted(text: impl Into<String>) -> Seg {
    Seg::new(Role::Muted, text)
}

fn limit_reached() -> Seg {
    Seg::new(Role::Warning, "limit reached")
}

/// Facts with a dot before each.
fn joined(facts: Vec<Seg>) -> Vec<Seg> {
    facts.into_iter().flat_map(|fact| [muted(DOT), fact]).collect()
}

fn is_sentence(body: &str) -> bool {
    body == "(empty file)"
        || body.starts_with("Read image file [")
        || (body.starts_with('[') && body.contains(" is a binary file of "))
}

fn read(outcome: &Outcome<'_>, result: &ToolResultMessage) -> Vec<Seg> {
    let body = file_text(outcome.body());
    let has_picture = result.content.iter().any(|block| matches!(block, Block::Image { .. }));
    let fact = if has_picture || body.starts_with("Read image file [") {
        muted(picture(body, outcome))
    } else if body == "(empty file)" {
        muted("empty")
    } else if is_sentence(body) {
        muted("binary file")
    } else if outcome.number(&["truncation", "outputLines"]) == Some(0) {
        Seg::new(Role::Warning, "line over the size limit")
    } else {
        let shown = body.lines().count() as u64;
        let all = outcome.number(&["truncation", "totalLines"]).filter(|all| *all > shown);
        muted(match all {
            Some(all) => format!("{} of {}", formats::count(shown), formats::counted(all, "line")),
            None => formats::counted(shown, "line"),
        })
    };
    joined(vec![fact])
}

/// `image · 1,024×768 png`, as far as that is told.
fn picture(body: &str, outcome: &Outcome<'_>) -> String {
    let told = outcome.number(&["width"]).zip(outcome.number(&["height"]));
    // One that was made smaller for the model.
    let original = || {
        let (sides, _) = body.split_once("[Image: original ")?.1.split_once(',')?;
        let (width, height) = sides.split_once('x')?;
        Some((width.parse().ok()?, height.parse().ok()?))
    };
    let Some((width, height)) = told.or_else(original) else { return "image".to_owned() };
    // The kind of the file, not of what the model got of it.
    let mime = outcome
        .details
        .and_then(|details| details.get("mimeType")?.as_str())
        .and_then(|mime| mime.strip_prefix("image/"));
    let sent = || Some(body.split_once("[image/")?.1.split_once(']')?.0);
    let kind = mime.or_else(sent);
    let kind = kind.map(|kind| format!(" {}", seg::line(kind))).unwrap_or_default();
    format!("image · {}×{}{kind}", formats::count(width), formats::count(height))
}

fn edit(outcome: &Outcome<'_>) -> Vec<Seg> {
    let lines = change::lines(outcome);
    if lines.is_empty() {
        return Vec::new();
    }
    let (added, removed) = diff::totals(&lines);
    vec![
        muted(DOT),
        Seg::new(Role::Success, format!("+{}", formats::count(added as u64))),
        muted(" "),
        Seg::new(Role::Error, format!("−{}", formats::count(removed as u64))),
    ]
}

fn several_edits(edits: usize) -> Vec<Seg> {
    if edits < 2 {
        return Vec::new();
    }
    joined(vec![muted(formats::counted(edits as u64, "edit"))])
}

fn write(arguments: &Map<String, Value>) -> Vec<Seg> {
    let Some(content) = title::text(arguments, "content") else { return Vec::new() };
    joined(vec![muted(formats::counted(content.lines().count() as u64, "line"))])
}

fn grep(outcome: &Outcome<'_>) -> Vec<Seg> {
    let mut files = HashSet::new();
    let mut matches = 0;
    for line in listing(outcome.body(), "No matches found").lines() {
        if let Some((file, _, _, true)) = found(line) {
            matches += 1;
            files.insert(file);
        }
    }
    let mut facts = vec![match matches {
        0 => muted("no matches"),
        _ => {
            let plural = if matches == 1 { "" } else { "es" };
            let files = formats::counted(files.len() as u64, "file");
            muted(format!("{} match{plural} in {files}", formats::count(matches)))
        }
    }];
    let is_cut = outcome.has("matchLimitReached") || outcome.has("truncation");
    facts.extend(is_cut.then(limit_reached));
    joined(facts)
}

fn ls(outcome: &Outcome<'_>) -> Vec<Seg> {
    let listed = listing(outcome.body(), "(empty directory)");
    let folders = listed.lines().filter(|line| line.ends_with('/')).count();
    let entries = listed.lines().count() as u64;
    let all = outcome.number(&["truncation", "totalLines"]).unwrap_or(entries);
    let mut facts = vec![match (all, folders) {
        (0, _) => muted("empty"),
        (all, 0) => muted(entries_word(all)),
        (all, folders) => {
            muted(format!("{} ({})", entries_word(all), formats::counted(folders as u64, "dir")))
        }
    }];
    facts.extend(outcome.has("entryLimitReached").then(limit_reached));
    joined(facts)
}

fn entries_word(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{} entries", formats::count(count)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::ids::CallId;
    use serde_json::json;

    fn words(tool: &str, arguments: Value, text: &str, details: Value) -> String {
        let result = ToolResultMessage {
            tool_call_id: CallId::new("c"),
            tool_name: tool.to_owned(),
            content: vec![Block::text(text)],
            details: Some(details),
            usage: None,
            is_error: false,
            duration_ms: Some(12),
            timestamp: 0,
        };
        let outcome = Outcome::of(&result, false);
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let facts = ended(tool, &arguments, &outcome, &result);
        facts.into_iter().map(|fact| fact.text).collect()
    }

    #[test]
    fn facts_of_each_tool() {
        let cut = json!({"truncation": {"totalLines": 5321, "outputLines": 2}});
        let too_long = json!({"truncation": {"totalLines": 2, "outputLines": 0}});
        let patch = "--- a\n+++ a\n@@ -1,2 +1,3 @@\n x\n-a\n+b\n+c\n";
        let table = [
            ("read", json!({}), "a\nb\n", json!({}), " · 2 lines"),
            ("read", json!({}), "a", json!({}), " · 1 line"),
            ("read", json!({}), "(empty file)", json!({}), " · empty"),
            ("read", json!({}), "[x is a binary file of 3B. Use bash.]", json!({}), " · binary file"),
            ("read", json!({}), "Read image file [image/png]", json!({}), " · image"),
            (
                "read",
                json!({}),
                "Read image file [image/png]\n[Image: original 4096x3000, shown at 2000x1465. Multiply]",
                json!({}),
                " · image · 4,096×3,000 png",
            ),
            (
                "read",
                json!({}),
                "Read image file [image/jpeg]",
                json!({"width": 1024, "height": 768}),
                " · image · 1,024×768 jpeg",
            ),
            (
                "read",
                json!({}),
                "Read image file [image/jpeg]\n[Image: original 4096x3000, shown at 2000x1465. Multiply]",
                json!({"width": 4096, "height": 3000, "mimeType": "image/png", "bytes": 9}),
                " · image · 4,096×3,000 png",
            ),
            (
                "read",
                json!({"limit": 2}),
                "a\nb\n\n[9 more lines in file. Use offset=3 to continue.]",
                json!({}),
                " · 2 lines",
            ),
            (
                "read",
                json!({}),
                "a\nb\n\n[Showing lines 1-2 of 5321. Use offset=3 to continue.]",
                cut,
                " · 2 of 5,321 lines",
            ),
            (
                "read",
                json!({}),
                "[Line 1 is 60KB, exceeds 50KB limit. Use bash: sed -n '1p' x | head -c 51200]",
                too_long,
                " · line over the size limit",
            ),
            ("edit", json!({}), "Successfully replaced.", json!({ "patch": patch }), " · +2 −1"),
            ("write", json!({"content": "a\nb\n"}), "Successfully wrote.", json!({}), " · 2 lines"),
            ("write", json!({"content": "a"}), "Done.", json!({ "patch": patch }), " · 1 line · +2 −1"),
            ("grep", json!({}), "No matches found", json!({}), " · no matches"),
            ("grep", json!({}), "a-1- x\na:2: y\na:3: z\n--\nb-c:4: w", json!({}), " · 3 matches in 2 files"),
            (
                "grep",
                json!({}),
                "a:2: y\n\n[1 matches limit reached. Use limit=2 for more, or refine pattern]",
                json!({"matchLimitReached": 1}),
                " · 1 match in 1 file · limit reached",
            ),
            ("find", json!({}), "a\nb/", json!({}), " · 2 files"),
            ("find", json!({}), "No files found matching pattern", json!({}), " · no files"),
            ("ls", json!({}), "a\nb/\nc", json!({}), " · 3 entries (1 dir)"),
            ("ls", json!({}), "(empty directory)", json!({}), " · empty"),
            ("bash", json!({}), "x", json!({}), ""),
        ];
        for (tool, arguments, text, details, expected) in table {
            assert_eq!(words(tool, arguments, text, details), expected, "{tool}: {text}");
        }
    }

    #[test]
    fn a_line_that_was_found_is_taken_apart() {
        assert_eq!(found("src/a-b.rs:12: let x"), Some(("src/a-b.rs", "12", "let x", true)));
        assert_eq!(found("src/a.rs-3- use b:4: c"), Some(("src/a.rs", "3", "use b:4: c", false)));
        assert_eq!(found("a:7:"), Some(("a", "7", "", true)));
        assert_eq!(found("--"), None);
    }
}
