//! The commands that can be typed after `/`, as a table. Dispatch, completion, help and the palette read it.

use crate::app::update::voice::menu::WORDS as VOICE_WORDS;
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
    command("thinking", "[level]", "How hard the model thinks"),
    command("mode", "[mode]", "What runs without asking").or(&["permissions"]),
    command("new", "", "New session").or(&["clear"]),
    command("resume", "", "Open an earlier session"),
    command("clone", "", "New session with all of this one"),
    command("name", "[text]", "Show or set the name of the session").or(&["rename"]),
    command("session", "", "File, id, counts, tokens and cost of the session").or(&["cost", "status"]),
    command("copy", "", "Copy the last answer"),
    command("fold", "[on|off]", "Show each run of work as one line, or all of it"),
    command("copy-block", "[number]", "Copy a block of code or a quote: the last, or the one of this number"),
    command("display", "[switch] [value]", "Show or change how work is shown"),
    command("theme", "[name]", "Choose the colours"),
    command("voice", "[what]", "Dictation: microphone, model, language, status, set up, unload"),
    command("jobs", "", "Background jobs: their logs, and stopping them"),
    command("set", "<setting> [value]", "Show or change one setting"),
    command("settings", "", "All settings, to see and change").or(&["config"]),
    command("reload", "", "Read settings, keys and colours anew"),
    command("trust", "", "Read the settings of this project from now on"),
    command("untrust", "", "Do not read the settings of this project"),
    command("quit", "", "Quit").or(&["exit"]),
];

/// The command with this name or alias.
pub fn find(name: &str) -> Option<&'static SlashCommand> {
    COMMANDS.iter().find(|command| command.name == name || command.aliases.contains(&name))
}

/// The table in Markdown, for the README.
pub fn reference_table() -> String {
    let mut table = "| command | also | what it does |\n|---|---|---|\n".to_owned();
    for command in COMMANDS {
        let aliases: Vec<String> = command.aliases.iter().map(|alias| format!("`/{alias}`")).collect();
        // A bar would end the cell.
        let name = format!("/{} {}", command.name, command.argument).replace('|', "\\|");
        table.push_str(&format!("| `{}` | {} | {} |\n", name.trim_end(), aliases.join(" "), command.text));
    }
    table
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
            "mode" => words(PermissionMode::ALL.map(PermissionMode::as_str)),
            "display" => values(crate::app::update::display::values()),
            "thinking" => words(ThinkingLevel::ALL.map(ThinkingLevel::as_str)),
            "fold" => words(["on", "off"]),
            "voice" => values(VOICE_WORDS.map(|(word, text)| (word.to_owned(), text.to_owned()))),
            _ => Vec::new(),
        },
    });
    items.collect()
}

fn words<const N: usize>(words: [&str; N]) -> Vec<ValueItem> {
    values(words.into_iter().map(|word| (word.to_owned(), String::new())))
}

/// Values and what they mean, as completion takes them.
pub fn values(values: impl IntoIterator<Item = (String, String)>) -> Vec<ValueItem> {
    values.into_iter().map(|(value, text)| ValueItem { value, text }).collect()
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
