//! Everything a key can do. One table makes the enum, its names in `keymap.toml`, where each may be bound, and the
//! text that help and the palette show.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a key is pressed. A place is asked before the ones around it: see [`super::keymap::Keymap::resolve`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Context {
    /// Everywhere.
    Global,
    /// The prompt that is being written.
    Composer,
    /// The prompt while it is empty; asked before `composer`.
    ComposerEmpty,
    /// The list of completions above the prompt.
    Completion,
    /// The search in earlier prompts.
    HistorySearch,
    /// The search in the transcript.
    Search,
    /// A focused row of the transcript.
    Transcript,
    /// Pickers.
    List,
    /// The settings, where nothing is typed.
    Settings,
    /// Windows over the transcript.
    Popup,
    /// A question for permission.
    Card,
}

impl Context {
    /// All of them, in the order in which help shows them.
    pub const ALL: [Self; 11] = [
        Self::Global,
        Self::Composer,
        Self::ComposerEmpty,
        Self::Completion,
        Self::HistorySearch,
        Self::Search,
        Self::Transcript,
        Self::List,
        Self::Settings,
        Self::Popup,
        Self::Card,
    ];

    /// Its section in `keymap.toml`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Composer => "composer",
            Self::ComposerEmpty => "composer_empty",
            Self::Completion => "completion",
            Self::HistorySearch => "history_search",
            Self::Search => "search",
            Self::Transcript => "transcript",
            Self::List => "list",
            Self::Settings => "settings",
            Self::Popup => "popup",
            Self::Card => "card",
        }
    }

    /// Its heading in help.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Global => "Everywhere",
            Self::Composer => "Writing a prompt",
            Self::ComposerEmpty => "With nothing written",
            Self::Completion => "Completions",
            Self::HistorySearch => "Searching earlier prompts",
            Self::Search => "Searching the transcript",
            Self::Transcript => "A focused row",
            Self::List => "Lists",
            Self::Settings => "Settings",
            Self::Popup => "Windows",
            Self::Card => "Permission",
        }
    }

    /// People type here: a key that types a character can't be bound.
    pub const fn takes_text(self) -> bool {
        match self {
            Self::Global
            | Self::Composer
            | Self::ComposerEmpty
            | Self::Completion
            | Self::HistorySearch
            | Self::Search
            | Self::List => true,
            Self::Transcript | Self::Settings | Self::Popup | Self::Card => false,
        }
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! actions {
    ($($variant:ident, $name:literal, [$($context:ident)+], $text:literal;)+) => {
        /// What a key can do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Action {
            $(#[doc = $text] #[serde(rename = $name)] $variant,)+
        }

        impl Action {
            /// All of them, in the order in which help shows them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its name in `keymap.toml`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// What it does, in one line.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// Where it may be bound; the first one is where it belongs.
            pub const fn contexts(self) -> &'static [Context] {
                match self { $(Self::$variant => &[$(Context::$context),+]),+ }
            }
        }
    };
}

actions! {
    // Everywhere.
    Cancel, "cancel", [Global], "Close the topmost layer, else stop the turn";
    Interrupt, "interrupt", [Global], "Clear the prompt, else stop the turn; twice when idle: quit";
    Quit, "quit", [Global ComposerEmpty], "Quit";
    Suspend, "suspend", [Global], "Suspend to the shell";
    Palette, "palette", [Global], "Command palette";
    Help, "help", [Global], "Help";
    Settings, "settings", [Global], "Settings";
    Reload, "reload", [Global], "Read settings, keys and colours anew";
    Repaint, "repaint", [Global], "Draw the whole screen again";
    NextMode, "next_mode", [Global], "Next permission mode";
    PickModel, "pick_model", [Global], "Choose a model";
    NextModel, "next_model", [Global], "Next model of the same provider";
    NextThinking, "next_thinking", [Global], "Next thinking level";
    Jobs, "jobs", [Global], "Background jobs";
    SendToBackground, "send_to_background", [Global ComposerEmpty], "Let the running command go on in the background";
    PickSession, "pick_session", [Global], "Choose a session";
    NewSession, "new_session", [Global], "New session";
    ExpandRows, "expand_rows", [Global], "Expand all rows";
    ToggleThinking, "toggle_thinking", [Global], "Show or hide thinking";
    ToggleFolded, "toggle_folded", [Global], "Show each run of work as one line, or all of it";
    ToggleMouse, "toggle_mouse", [Global], "Mouse capture on or off";
    FocusPrevious, "focus_previous", [Global Transcript], "Focus the row above";
    FocusNext, "focus_next", [Global Transcript], "Focus the row below";
    PageUp, "page_up", [Global Transcript Popup], "Scroll up by a page";
    PageDown, "page_down", [Global Transcript Popup], "Scroll down by a page";
    HalfPageUp, "half_page_up", [Global Transcript Popup], "Scroll up by half a page";
    HalfPageDown, "half_page_down", [Global Transcript Popup], "Scroll down by half a page";
    Top, "top", [Global ComposerEmpty Transcript Popup], "Go to the beginning";
    Bottom, "bottom", [Global ComposerEmpty Transcript Popup], "Go to the end";
    PreviousPrompt, "previous_prompt", [Global Transcript], "Scroll to the prompt before";
    NextPrompt, "next_prompt", [Global Transcript], "Scroll to the prompt after";
    Search, "search", [Global ComposerEmpty Transcript], "Search the transcript; while a search is on: the next match";
    CopyLast, "copy_last", [Global], "Copy the last block of code, else the last answer";
    Paste, "paste", [Global], "Paste the clipboard";
    Dictate, "dictate", [Global], "Dictate: hold to talk, or tap to begin and to end";

    // The prompt.
    Submit, "submit", [Composer], "Send; while a turn runs: steer it; with nothing written: send the top waiting row";
    Queue, "queue", [Composer], "Send after the turn";
    SendNow, "send_now", [Composer], "Stop the turn and send now";
    TakeBack, "take_back", [Composer], "Take the last waiting row back";
    NewLine, "new_line", [Composer], "New line";
    Editor, "editor", [Composer Global], "Write in the external editor";
    Complete, "complete", [Composer], "Complete the path before the caret";
    HistorySearch, "history_search", [Composer], "Search earlier prompts";
    HistoryPrevious, "history_previous", [Composer], "The prompt before";
    HistoryNext, "history_next", [Composer], "The prompt after";
    Left, "left", [Composer], "Left";
    Right, "right", [Composer], "Right";
    Up, "up", [Composer], "Up; from the first row: the prompt before";
    Down, "down", [Composer], "Down; from the last row: the prompt after";
    WordLeft, "word_left", [Composer], "A word to the left";
    WordRight, "word_right", [Composer], "A word to the right";
    LineStart, "line_start", [Composer], "Start of the line";
    LineEnd, "line_end", [Composer], "End of the line";
    TextStart, "text_start", [Composer], "Start of the prompt";
    TextEnd, "text_end", [Composer], "End of the prompt";
    JumpForward, "jump_forward", [Composer], "Forward to the character typed next";
    JumpBackward, "jump_backward", [Composer], "Back to the character typed next";
    SelectLeft, "select_left", [Composer Transcript], "Select to the left";
    SelectRight, "select_right", [Composer Transcript], "Select to the right";
    SelectUp, "select_up", [Composer Transcript], "Select upwards";
    SelectDown, "select_down", [Composer Transcript], "Select downwards";
    SelectWordLeft, "select_word_left", [Composer Transcript], "Select a word to the left";
    SelectWordRight, "select_word_right", [Composer Transcript], "Select a word to the right";
    SelectLineStart, "select_line_start", [Composer Transcript], "Select to the start of the line";
    SelectLineEnd, "select_line_end", [Composer Transcript], "Select to the end of the line";
    SelectAll, "select_all", [Composer Transcript], "Select all";
    CopySelection, "copy_selection", [Composer Transcript], "Copy what is selected";
    DeleteBack, "delete_back", [Composer], "Delete to the left";
    DeleteForward, "delete_forward", [Composer], "Delete to the right";
    KillWordBack, "kill_word_back", [Composer], "Cut a word to the left, or what is selected";
    KillWordForward, "kill_word_forward", [Composer], "Cut a word to the right";
    KillToStart, "kill_to_start", [Composer], "Cut to the start of the line";
    KillToEnd, "kill_to_end", [Composer], "Cut to the end of the line";
    Yank, "yank", [Composer], "Put back what was cut last";
    YankPop, "yank_pop", [Composer], "Replace what was put back by what was cut before it";
    Undo, "undo", [Composer], "Undo";
    Redo, "redo", [Composer], "Redo";
    ExpandChip, "expand_chip", [Composer], "Show a large paste in full";

    // Completions.
    CompletionPrevious, "completion_previous", [Completion], "The completion above";
    CompletionNext, "completion_next", [Completion], "The completion below";
    CompletionAccept, "completion_accept", [Completion], "Take the completion";
    CompletionSubmit, "completion_submit", [Completion], "Take the completion; of a finished command: send";
    CompletionClose, "completion_close", [Completion], "Close the completions";

    // Searching earlier prompts.
    SearchOlder, "search_older", [HistorySearch], "The match before";
    SearchNewer, "search_newer", [HistorySearch], "The match after";
    SearchScope, "search_scope", [HistorySearch], "This folder or all folders";
    SearchErase, "search_erase", [HistorySearch Search], "Erase the last character of the search";
    SearchAccept, "search_accept", [HistorySearch Search], "Take what was found";
    SearchCancel, "search_cancel", [HistorySearch Search], "End the search";

    // Searching the transcript.
    SearchNext, "search_next", [Search Transcript Global], "The next match in the transcript";
    SearchPrevious, "search_previous", [Search Transcript Global], "The match before in the transcript";
    SearchRegex, "search_regex", [Search], "Look for a regular expression, or for the text as it is";

    // Rows, lists, windows.
    Open, "open", [Transcript], "Open the row";
    ToggleRow, "toggle_row", [Transcript], "Expand or fold the row";
    CloseRun, "close_run", [Transcript], "Close the run that the row is in";
    CopyRow, "copy_row", [Transcript Popup], "Copy";
    CopyBlock, "copy_block", [Transcript], "Copy the next block of the row: code or a quote";
    OpenLink, "open_link", [Transcript], "Open the next address of the row";
    ScrollUp, "scroll_up", [Popup Transcript Card], "Scroll up by a line";
    ScrollDown, "scroll_down", [Popup Transcript Card], "Scroll down by a line";
    ListUp, "list_up", [List Settings Card], "The entry above";
    ListDown, "list_down", [List Settings Card], "The entry below";
    ListPageUp, "list_page_up", [List Settings Card], "A page up";
    ListPageDown, "list_page_down", [List Settings Card], "A page down";
    Confirm, "confirm", [List Popup Card], "Choose";
    ListScope, "list_scope", [List], "This project or all";
    ListSort, "list_sort", [List], "Next order";
    ListNamed, "list_named", [List], "Only sessions with a name";
    ListPath, "list_path", [List], "Show paths";
    ListRename, "list_rename", [List], "Rename";
    ListDelete, "list_delete", [List], "Delete";

    // Windows.
    PopupClose, "popup_close", [Popup], "Close the window";
    PopupSearch, "popup_search", [Popup], "Search in the window";
    PopupNextMatch, "popup_next_match", [Popup], "The next match in the window";
    PopupPreviousMatch, "popup_previous_match", [Popup], "The match before in the window";
    PopupNextStep, "popup_next_step", [Popup], "The next step of the command";
    PopupPreviousStep, "popup_previous_step", [Popup], "The step before";
    PopupNextRow, "popup_next_row", [Popup], "The window of the row below";
    PopupPreviousRow, "popup_previous_row", [Popup], "The window of the row above";
    PopupCopyOutput, "popup_copy_output", [Popup], "Copy what it gave";
    PopupCopyPath, "popup_copy_path", [Popup], "Copy the path of the file with all of the output";
    PopupFollow, "popup_follow", [Popup], "Stay at the end, or not";
    PopupSides, "popup_sides", [Popup], "Show a change side by side, or not";
    PopupStop, "popup_stop", [Popup], "Stop the job";

    // Settings.
    SettingChange, "setting_change", [Settings], "Change it: switch, next choice, or write";
    SettingNext, "setting_next", [Settings], "The next choice";
    SettingPrevious, "setting_previous", [Settings], "The choice before";
    SettingReset, "setting_reset", [Settings], "Back to the default";
    SettingSearch, "setting_search", [Settings], "Search";

    // Permission.
    AllowOnce, "allow_once", [Card], "Yes, once";
    AllowSession, "allow_session", [Card], "Yes, in this session";
    AllowAlways, "allow_always", [Card], "Yes, always in this project";
    Deny, "deny", [Card], "No";
    DenyWithMessage, "deny_with_message", [Card], "No, with a message";
}

impl Action {
    /// The action with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_the_same_in_serde() {
        let mut seen = BTreeSet::new();
        for action in Action::ALL {
            assert!(seen.insert(action.name()), "{action} twice");
            assert_eq!(serde_json::to_value(action).expect("plain"), action.name());
            assert_eq!(Action::named(action.name()), Some(*action));
            assert!(
                !action.text().ends_with('.') && !action.text().contains('!'),
                "{action}: {}",
                action.text()
            );
        }
    }

    #[test]
    fn contexts_have_the_names_of_serde() {
        for context in Context::ALL {
            assert_eq!(serde_json::to_value(context).expect("plain"), context.as_str());
        }
    }
}
