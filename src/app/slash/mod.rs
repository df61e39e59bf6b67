//! The commands that can be typed after `/`, as a table. Dispatch, completion, help and the palette read it.

use crate::proto::ask::PermissionMode;
use crate::proto::model::ThinkingLevel;
use crate::ui::composer::complete::{CommandItem, ValueItem};

/// One command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// What to write behind it: `<…>` must be there, `[…]` may. Empty: nothing.
    pub argument: &'static str,
    /// What it does, in one line.
    pub text: &'static str,
}

const fn command(name: &'static str, argument: &'static str, text: &'static str) -> SlashCommand {
    SlashCommand { name, aliases: &[], argument, text }
}

impl SlashCommand {
    const fn or(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}

/// All commands, in the order in which lists show them.
pub const COMMANDS: &[SlashCommand] = &[
    command("help", "", "Keys and commands").or(&["hotkeys", "keys"]),
    command("model", "[search]", "Choose the model; an exact name switches at once"),
    command("models", "", "Choose and order the models that the key cycles").or(&["scoped-models"]),
    command("thinking", "[level]", "How hard the model thinks"),
    command("mode", "[mode]", "What runs without asking").or(&["permissions"]),
    command("new", "", "New session").or(&["clear"]),
    command("resume", "[search]", "Open an earlier session"),
    command("name", "[text]", "Show or set the name of the session").or(&["rename"]),
    command("session", "", "File, id, counts, tokens and cost of the session"),
    command("tree", "", "Branches of the session"),
    command("rewind", "", "Go back to an earlier prompt").or(&["undo"]),
    command("fork", "", "New session from an earlier prompt"),
    command("clone", "", "New session with all of this one"),
    command("compact", "[focus]", "Summarise the history to make room"),
    command("copy", "", "Copy the last answer"),
    command("export", "[path]", "Write the session as HTML, or as JSONL by the ending"),
    command("import", "<path>", "Open a session file"),
    command("theme", "[name]", "Choose the colours"),
    command("fold", "", "Folded view on or off"),
    command("settings", "", "Settings").or(&["config"]),
    command("set", "<setting> [value]", "Show or change one setting"),
    command("jobs", "", "Background jobs"),
    command("agents", "", "Agents"),
    command("login", "[provider]", "Add the key of a provider"),
    command("logout", "[provider]", "Remove the key of a provider"),
    command("trust", "", "Whether the settings of this project are read"),
    command("reload", "", "Read keys, themes, prompts, skills and context files again"),
    command("quit", "", "Quit").or(&["exit"]),
];

/// The command with this name or alias.
pub fn find(name: &str) -> Option<&'static SlashCommand> {
    COMMANDS.iter().find(|command| command.name == name || command.aliases.contains(&name))
}

/// The table as completion takes it. Values that are known only while the program runs (models, sessions, themes)
/// are added later.
pub fn completion_items() -> Vec<CommandItem> {
    let items = COMMANDS.iter().map(|command| CommandItem {
        name: command.name.to_owned(),
        aliases: command.aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        argument: command.argument.to_owned(),
        text: command.text.to_owned(),
        values: match command.name {
            "mode" => values(PermissionMode::ALL.map(PermissionMode::as_str)),
            "thinking" => values(ThinkingLevel::ALL.map(ThinkingLevel::as_str)),
            _ => Vec::new(),
        },
    });
    items.collect()
}

fn values<const N: usize>(words: [&str; N]) -> Vec<ValueItem> {
    words.into_iter().map(|word| ValueItem { value: word.to_owned(), text: String::new() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_name_means_one_command() {
        let mut seen = BTreeSet::new();
        for command in COMMANDS {
            for name in command.aliases.iter().chain([&command.name]) {
                assert!(seen.insert(*name), "{name} twice");
                assert_eq!(find(name), Some(command));
            }
            assert!(!command.text.ends_with('.'), "{}", command.text);
        }
        assert_eq!(find("exit").map(|command| command.name), Some("quit"));
    }

    #[test]
    fn known_values_are_offered() {
        let items = completion_items();
        let thinking = items.iter().find(|item| item.name == "thinking").expect("in the table");
        assert!(thinking.values.iter().any(|value| value.value == "high"));
    }
}
