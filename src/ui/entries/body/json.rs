//! Results that are JSON, as people read them.

use super::{MOST_ROWS, Panel, code};
use crate::text::highlight::{self, Highlighter};
use crate::text::width;
use crate::text::wrap::Run;
use crate::theme::role::Role;
use crate::ui::entries::seg;
use serde_json::Value;

/// Lines that are shown of a closed row.
const SHOWN: usize = 4;

/// Longer results are shown as they are: to read one twice would be felt.
const MOST: usize = 64 * 1024;

/// Keys of an object that is a list of facts rather than data.
const FEW: usize = 12;

/// Columns of the widest key that others are aligned with.
const KEY: usize = 24;

/// An object or a list, if that is all a text is.
pub fn parse(text: &str) -> Option<Value> {
    let text = text.trim();
    let is_maybe = text.len() <= MOST && text.starts_with(['{', '[']) && text.ends_with(['}', ']']);
    let value: Value = if is_maybe { serde_json::from_str(text).ok()? } else { return None };
    let is_empty = match &value {
        Value::Object(object) => object.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => true,
    };
    (!is_empty).then_some(value)
}

/// Adds a value: an object of few keys as aligned lines, others with a line for each of their parts.
pub fn draw(panel: &mut Panel<'_>, value: &Value) {
    if let Value::Object(object) = value
        && object.len() <= FEW
        && (!panel.cx.open || object.values().all(|value| !value.is_object() && !value.is_array()))
    {
        let widest = object.keys().map(|key| width::of(&seg::line(key))).filter(|key| *key <= KEY).max();
        let lines = object.iter().map(|(key, value)| {
            let key = seg::line(key);
            let gap = widest.unwrap_or(0).saturating_sub(width::of(&key)) + 2;
            let value = match value {
                Value::String(text) if panel.cx.open => text.clone(),
                Value::String(text) => seg::line(text),
                other => other.to_string(),
            };
            (format!("{key}{}", " ".repeat(gap)), value)
        });
        return pairs(panel, lines.collect());
    }
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    if panel.cx.open {
        return code::whole(panel, &text, Highlighter::for_language("json"));
    }
    let lines: Vec<&str> = text.lines().collect();
    let shown = shown(lines.len());
    let mut highlighter = Highlighter::for_language("json");
    for line in lines.iter().take(shown) {
        let line = crate::text::clean::for_terminal(super::clip(line)).replace('\n', " ");
        let parts = highlighter.line(&line);
        let row = panel.cut_line(highlight::runs(&line, &parts, |role| panel.style(role)));
        panel.push(row);
    }
    panel.more(0, lines.len() - shown);
}

fn pairs(panel: &mut Panel<'_>, pairs: Vec<(String, String)>) {
    let shown = if panel.cx.open { pairs.len() } else { shown(pairs.len()) };
    for (key, value) in pairs.iter().take(shown) {
        let key_run = Run::new(key.as_str(), panel.style(Role::Muted), 0);
        let style = panel.style(Role::ToolOutput);
        if !panel.cx.open {
            let row = panel.cut_line(vec![key_run, Run::new(value.as_str(), style, key.len())]);
            panel.push(row);
            continue;
        }
        let value = crate::text::clean::for_terminal(value.trim_end());
        let mut before = vec![key_run];
        for line in value.split('\n') {
            before.push(Run::new(line, style, key.len()));
            panel.push_line(std::mem::take(&mut before), 0);
            if panel.is_full() {
                return;
            }
        }
    }
    panel.more(0, pairs.len() - shown);
}

/// A row that says that one line is hidden would stand where that line could.
fn shown(lines: usize) -> usize {
    if lines == SHOWN + 1 { lines } else { SHOWN.min(lines).min(MOST_ROWS) }
}
