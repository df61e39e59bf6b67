//! The keys as a table in Markdown, for the README.

use super::action::Action;
use super::keymap::Keymap;

/// Keys of the prompt that are where every editor has them. With them nobody would find the others.
const IN_EVERY_EDITOR: &[Action] = &[
    Action::Left,
    Action::Right,
    Action::WordLeft,
    Action::WordRight,
    Action::LineStart,
    Action::LineEnd,
    Action::TextStart,
    Action::TextEnd,
    Action::SelectLeft,
    Action::SelectRight,
    Action::SelectUp,
    Action::SelectDown,
    Action::SelectWordLeft,
    Action::SelectWordRight,
    Action::SelectLineStart,
    Action::SelectLineEnd,
    Action::DeleteBack,
    Action::DeleteForward,
    Action::CompletionPrevious,
    Action::CompletionNext,
    Action::SearchErase,
    Action::ListUp,
    Action::ListDown,
    Action::ListPageUp,
    Action::ListPageDown,
    Action::SettingNext,
    Action::SettingPrevious,
];

/// Keys and what they do, place by place. Moving, selecting and deleting are left out, and so is what has no key.
pub fn reference_table(keymap: &Keymap) -> String {
    let mut table = "| where | key | what it does |\n|---|---|---|\n".to_owned();
    let mut last = None;
    for row in keymap.help() {
        if IN_EVERY_EDITOR.contains(&row.action) || row.keys.is_empty() {
            continue;
        }
        let place = if last == Some(row.context) { "" } else { row.context.title() };
        last = Some(row.context);
        let keys: Vec<String> = row.keys.iter().map(|key| format!("`{key}`")).collect();
        table.push_str(&format!("| {place} | {} | {} |\n", keys.join(" "), row.action.text()));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_named_once_and_arrows_are_left_out() {
        let table = reference_table(&Keymap::defaults());
        assert_eq!(table.matches("| Everywhere |").count(), 1);
        assert!(table.contains("| `shift+enter` `ctrl+j` | New line |"), "{table}");
        assert!(!table.contains("| `left`"), "{table}");
        assert!(table.lines().all(|line| line.matches('|').count() == 4), "{table}");
    }
}
