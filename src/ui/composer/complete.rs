//! Completion: what could stand where the caret is, the best first. Files come from listings that the application
//! makes; what is missing is told by [`Completer::wanted`].

use super::buffer::Pos;
use super::mentions::{FileQuery, Query};
use super::rank;
use std::collections::BTreeMap;
use std::sync::Arc;

/// More candidates are not offered.
const MOST_CANDIDATES: usize = 100;

/// What a hidden file is worth less than one in view.
const HIDDEN: i32 = 20;

/// A command that can be typed after `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandItem {
    /// Its name, without the slash.
    pub name: String,
    /// Other names.
    pub aliases: Vec<String>,
    /// What to write behind it, as in `[focus]`; empty when it takes nothing.
    pub argument: String,
    /// What it does, in one line.
    pub text: String,
    /// Values its argument may have; empty when it is free.
    pub values: Vec<ValueItem>,
}

/// A value of an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueItem {
    /// What is written.
    pub value: String,
    /// What it means, in one line.
    pub text: String,
}

/// What taking a candidate does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Insert {
    /// Writes a command; more is to be written behind it when it takes an argument.
    Command {
        /// Its name.
        name: String,
        /// It takes an argument.
        takes_argument: bool,
    },
    /// Writes a value.
    Value(String),
    /// Mentions a file.
    File(String),
    /// Goes on in a folder; the path ends in a slash.
    Folder(String),
    /// Writes a path.
    Path(String),
}

/// Something that could stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What is shown.
    pub label: String,
    /// What is shown beside it.
    pub detail: String,
    /// What taking it does.
    pub insert: Insert,
}

/// The list of completions.
#[derive(Clone, Debug)]
pub struct Popup {
    /// What is completed.
    pub query: Query,
    /// Where what is completed begins.
    pub start: Pos,
    /// The best first.
    pub candidates: Vec<Candidate>,
    /// The one that would be taken.
    pub selected: usize,
}

impl Popup {
    /// The candidate that would be taken.
    pub fn chosen(&self) -> Option<&Candidate> {
        self.candidates.get(self.selected)
    }
}

/// Which entries of a listing fitted a query: only they can fit a longer one.
#[derive(Clone, Debug)]
struct Narrowed {
    folder: String,
    name: String,
    fitting: Vec<usize>,
}

/// Makes the list of completions.
#[derive(Clone, Debug, Default)]
pub struct Completer {
    commands: Vec<CommandItem>,
    /// Entries by folder; those of the project under an empty name. Folders end in a slash.
    listings: BTreeMap<String, Arc<[String]>>,
    popup: Option<Popup>,
    /// Where the user closed the list: it stays closed until something else is completed.
    closed_at: Option<Pos>,
    wanted: Option<String>,
    narrowed: Option<Narrowed>,
}

impl Completer {
    /// Sets the commands that can be completed.
    pub fn set_commands(&mut self, commands: Vec<CommandItem>) {
        self.commands = commands;
    }

    /// Sets the values of a command's argument, as they are known now.
    pub fn set_values(&mut self, command: &str, values: Vec<ValueItem>) {
        if let Some(item) = self.commands.iter_mut().find(|item| item.name == command) {
            item.values = values;
        }
    }

    /// Sets the entries of a folder as [`Completer::wanted`] named it.
    pub fn set_listing(&mut self, folder: String, entries: Arc<[String]>) {
        if self.wanted.as_deref() == Some(folder.as_str()) {
            self.wanted = None;
        }
        self.narrowed = None;
        self.listings.insert(folder, entries);
    }

    /// Forgets all listings: files may have changed.
    pub fn forget_listings(&mut self) {
        self.listings.clear();
        self.narrowed = None;
    }

    /// The folder whose entries are missing; empty: all files of the project.
    pub fn wanted(&self) -> Option<&str> {
        self.wanted.as_deref()
    }

    /// The list, if there is one to show.
    pub const fn popup(&self) -> Option<&Popup> {
        self.popup.as_ref()
    }

    /// Closes the list until something else is completed.
    pub fn close(&mut self) {
        self.closed_at = self.popup.take().map(|popup| popup.start);
        self.wanted = None;
    }

    /// Selects another candidate; beyond the ends it goes round.
    pub fn select(&mut self, by: isize) {
        if let Some(popup) = &mut self.popup {
            let count = popup.candidates.len();
            popup.selected = match popup.selected.checked_add_signed(by) {
                Some(at) if at < count => at,
                Some(_) => 0,
                None => count.saturating_sub(1),
            };
        }
    }

    /// Selects this candidate, if there is one.
    pub fn choose(&mut self, index: usize) {
        if let Some(popup) = &mut self.popup
            && index < popup.candidates.len()
        {
            popup.selected = index;
        }
    }

    /// The list for what now stands before the caret. `asked`: the key asked for it.
    pub fn refresh(&mut self, query: Option<(Pos, Query)>, asked: bool) {
        self.popup = None;
        self.wanted = None;
        let Some((start, query)) = query else {
            self.closed_at = None;
            return;
        };
        if self.closed_at == Some(start) && !asked {
            return;
        }
        self.closed_at = None;
        let candidates = match &query {
            Query::Command(typed) => self.commands_for(typed),
            Query::Argument { command, typed } => self.values_for(command, typed),
            Query::File(files) => self.files_for(files, true),
            Query::Path(files) => self.files_for(files, false),
        };
        if !candidates.is_empty() {
            self.popup = Some(Popup { query, start, candidates, selected: 0 });
        }
    }

    fn commands_for(&self, typed: &str) -> Vec<Candidate> {
        let name_score = |name: &str| {
            let bonus = if name == typed {
                2000
            } else if name.starts_with(typed) {
                1000
            } else {
                0
            };
            rank::score(typed, name).map(|score| score + bonus)
        };
        let scored = self.commands.iter().enumerate().filter_map(|(index, item)| {
            let best = item
                .aliases
                .iter()
                .map(String::as_str)
                .chain([item.name.as_str()])
                .filter_map(name_score)
                .max();
            // With nothing typed yet the order of the table holds.
            best.map(|score| (if typed.is_empty() { 0 } else { score }, index, item))
        });
        best(scored.collect(), |item| Candidate {
            label: if item.argument.is_empty() {
                format!("/{}", item.name)
            } else {
                format!("/{} {}", item.name, item.argument)
            },
            detail: item.text.clone(),
            insert: Insert::Command { name: item.name.clone(), takes_argument: !item.argument.is_empty() },
        })
    }

    /// The name typed is a command's, whole.
    pub fn is_command(&self, typed: &str) -> bool {
        self.commands.iter().any(|item| item.name == typed || item.aliases.iter().any(|alias| alias == typed))
    }

    fn values_for(&self, command: &str, typed: &str) -> Vec<Candidate> {
        let is_meant =
            |item: &&CommandItem| item.name == command || item.aliases.iter().any(|alias| alias == command);
        let Some(item) = self.commands.iter().find(is_meant) else { return Vec::new() };
        let scored = item.values.iter().enumerate().filter_map(|(index, value)| {
            rank::score(typed, &value.value)
                .map(|score| (if typed.is_empty() { 0 } else { score }, index, value))
        });
        best(scored.collect(), |value| Candidate {
            label: value.value.clone(),
            detail: value.text.clone(),
            insert: Insert::Value(value.value.clone()),
        })
    }

    fn files_for(&mut self, files: &FileQuery, mentions: bool) -> Vec<Candidate> {
        let Some(entries) = self.listings.get(&files.folder) else {
            self.wanted = Some(files.folder.clone());
            return Vec::new();
        };
        let is_longer =
            |known: &&Narrowed| known.folder == files.folder && files.name.starts_with(&known.name);
        let before = self.narrowed.as_ref().filter(is_longer).map(|known| known.fitting.as_slice());
        let everything: Vec<usize>;
        let possible = match before {
            Some(possible) => possible,
            None => {
                everything = (0..entries.len()).collect();
                &everything
            }
        };
        let scored: Vec<(i32, usize, &String)> = possible
            .iter()
            .filter_map(|index| {
                let entry = entries.get(*index)?;
                // Whoever has typed a folder wants what is in it: offering it again would make the key do nothing.
                if entry.ends_with('/') && *entry == files.name {
                    return None;
                }
                let score = rank::score(&files.name, entry)?;
                // Hidden files are mentioned rarely, and some of them should not be.
                let is_hidden = !files.name.contains('.') && hidden(entry);
                Some((if is_hidden { score - HIDDEN } else { score }, *index, entry))
            })
            .collect();
        let fitting = scored.iter().map(|(_, index, _)| *index).collect();
        let candidates = best(scored, |entry| {
            let path = format!("{}{entry}", files.folder);
            let insert = match (entry.ends_with('/'), mentions) {
                (true, _) => Insert::Folder(path),
                (false, true) => Insert::File(path),
                (false, false) => Insert::Path(path),
            };
            Candidate { label: entry.clone(), detail: String::new(), insert }
        });
        self.narrowed = Some(Narrowed { folder: files.folder.clone(), name: files.name.clone(), fitting });
        candidates
    }
}

/// It, or a folder it lies in, begins with a dot.
fn hidden(entry: &str) -> bool {
    entry.starts_with('.') || entry.contains("/.")
}

/// The best of what was scored; equals in the order of their indexes.
fn best<T>(mut scored: Vec<(i32, usize, T)>, candidate: impl Fn(T) -> Candidate) -> Vec<Candidate> {
    let order = |a: &(i32, usize, T), b: &(i32, usize, T)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
    if scored.len() > MOST_CANDIDATES {
        scored.select_nth_unstable_by(MOST_CANDIDATES, order);
        scored.truncate(MOST_CANDIDATES);
    }
    scored.sort_unstable_by(order);
    scored.into_iter().map(|(_, _, item)| candidate(item)).collect()
}
