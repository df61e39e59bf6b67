//! What a search of the web found: one line for each hit.

use super::{MOST_ROWS, Panel, json};
use crate::text::formats;
use crate::text::wrap::Run;
use crate::theme::role::Role;
use crate::ui::entries::outcome::Outcome;
use crate::ui::entries::seg::{self, Seg};
use serde_json::Value;
use std::sync::Arc;

/// Hits that are shown of a closed row.
const SHOWN: usize = 3;

/// One hit.
#[derive(Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its title, on one line.
    pub title: String,
    /// Its address.
    pub url: String,
    /// What it says, if that is told.
    pub says: String,
}

/// The hits, if the result has that shape: a list of things that have a title and an address each. Nothing else counts:
/// what is no list of hits is shown as it is.
pub fn hits(outcome: &Outcome<'_>) -> Option<Vec<Hit>> {
    let told = outcome.details.and_then(|details| details.get("results")?.as_array());
    if let Some(list) = told {
        return read(list);
    }
    match json::parse(outcome.body())? {
        Value::Array(list) => read(&list).filter(|hits| !hits.is_empty()),
        Value::Object(object) => read(object.get("results")?.as_array()?),
        _ => None,
    }
}

fn read(list: &[Value]) -> Option<Vec<Hit>> {
    let text = |hit: &Value, keys: &[&str]| -> Option<String> {
        keys.iter().find_map(|key| hit.get(key)?.as_str()).map(str::to_owned)
    };
    let hit = |hit: &Value| {
        Some(Hit {
            title: seg::line(&text(hit, &["title", "name"])?),
            url: seg::line(text(hit, &["url", "link", "href"])?.trim()),
            says: text(hit, &["snippet", "description", "summary"]).unwrap_or_default(),
        })
    };
    list.iter().map(hit).collect()
}

/// The tool looks for something. Of others a list of nothing may be one of anything.
pub fn is_search(tool: &str) -> bool {
    tool.contains("search")
}

/// How many there are, and whether that is all.
pub fn facts(tool: &str, outcome: &Outcome<'_>) -> Vec<Seg> {
    let muted = |text: String| Seg::new(Role::Muted, text);
    let Some(hits) = hits(outcome) else { return Vec::new() };
    let mut facts = match hits.len() {
        0 if !is_search(tool) => return Vec::new(),
        0 => vec![muted(", no results".to_owned())],
        count => vec![muted(format!(", {}", formats::counted(count as u64, "result")))],
    };
    let is = |key: &str| outcome.details.and_then(|details| details.get(key)?.as_bool()) == Some(true);
    facts.extend(is("partial").then(|| Seg::new(Role::Warning, ", partial")));
    facts.extend(is("cached").then(|| muted(", cached".to_owned())));
    facts
}

/// Adds them to a panel: the first few, or all with what they say.
pub fn draw(panel: &mut Panel<'_>, hits: &[Hit]) {
    let shown = match panel.cx.open {
        true => hits.len().min(MOST_ROWS / 2),
        // A row that says that one is hidden would stand where that one could.
        false if hits.len() == SHOWN + 1 => SHOWN + 1,
        false => SHOWN.min(hits.len()),
    };
    for (at, hit) in hits.iter().take(shown).enumerate() {
        let mut address = Run::new(host(&hit.url), panel.style(Role::Muted), 0);
        // Whatever else stands there is not opened by a click.
        let is_link = hit.url.starts_with("https://") || hit.url.starts_with("http://");
        address.link = is_link.then(|| Arc::from(hit.url.as_str()));
        let runs = vec![
            Run::new(format!("{}. ", at + 1), panel.style(Role::Dim), 0),
            Run::new(hit.title.as_str(), panel.style(Role::ToolOutput), 0),
            Run::new("  ", panel.style(Role::Muted), 0),
            address,
        ];
        if !panel.cx.open {
            let row = panel.cut_line(runs);
            panel.push(row);
            continue;
        }
        panel.push_line(runs, 0);
        let says = seg::line(&hit.says);
        if !says.is_empty() {
            panel.set_in(3);
            let muted = panel.style(Role::Muted);
            panel.push_words(&says, muted);
            panel.set_in(0);
        }
    }
    if hits.len() > shown {
        panel.note(0, &formats::counted((hits.len() - shown) as u64, "more result"));
    }
}

fn host(url: &str) -> &str {
    let bare = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = bare.split(['/', '?', '#']).next().unwrap_or(bare);
    host.strip_prefix("www.").unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_what_one_knows_a_page_by() {
        let table = [
            ("https://www.rust-lang.org/learn?x#y", "rust-lang.org"),
            ("http://localhost:8080", "localhost:8080"),
            ("odd", "odd"),
            ("", ""),
        ];
        for (url, expected) in table {
            assert_eq!(host(url), expected);
        }
    }
}
