//! The speech models of this user: the table, the shelf, the host they come from, and this machine's memory in one.

use super::choose::{self, Choice, Chosen, Facts};
use super::fetch::{self, Fetcher};
use super::open::{self, Manner};
use super::room;
use super::shelf::{Fault, Shelf};
use super::table::{Entry, Table};
use crate::config::env::Env;
use crate::config::places::Places;
use crate::dictation::engine::parts::{Models, Picked};
use crate::dictation::transcriber::{Cancel, Transcriber};
use crate::proto::voice::{ModelOffer, ModelRow, VoiceFailure, VoiceSettings};
use std::path::{Path, PathBuf};

/// The library. Everything is looked up anew each time: another process may have fetched or removed a model.
#[derive(Clone, Debug)]
pub struct Library {
    table: Table,
    shelf: Shelf,
    host: String,
    home: PathBuf,
    cache: PathBuf,
    /// Free memory as tests have it; `None` to ask the system.
    free: Option<u64>,
}

impl Library {
    /// The library of this user, and what is wrong with the user's own table.
    #[must_use]
    pub fn load(places: &Places, env: &Env) -> (Self, Vec<String>) {
        let (table, warnings) = Table::load(places);
        let library = Self {
            table,
            shelf: Shelf::of(places),
            host: fetch::host(env),
            home: places.home.clone(),
            cache: places.cache.join("speech-packed"),
            free: None,
        };
        (library, warnings)
    }

    /// The same library on a machine with this much free memory, in bytes.
    #[must_use]
    pub const fn with_free_memory(mut self, free: u64) -> Self {
        self.free = Some(free);
        self
    }

    /// All models that are known by name.
    #[must_use]
    pub const fn table(&self) -> &Table {
        &self.table
    }

    /// The models on this disk.
    #[must_use]
    pub const fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// The model for the next recording, and a better one that could be fetched.
    ///
    /// # Errors
    /// There is none; what to do, for people.
    pub fn choose(&self, settings: &VoiceSettings) -> Result<Choice, String> {
        choose::choose(Facts {
            table: &self.table,
            wanted: &settings.model,
            language: &settings.language,
            free: self.free_memory(),
            is_here: &|entry| self.shelf.check_sizes(entry).is_ok(),
            path: &|text| self.path(text),
        })
    }

    /// Reads a model's files through.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(&self, entry: &Entry, cancel: &Cancel) -> Result<u64, Fault> {
        self.shelf.check_whole(entry, cancel)
    }

    /// Removes a model, its copies for this processor included, and tells the bytes that are free then.
    ///
    /// # Errors
    /// As the system says.
    pub fn remove(&self, entry: &Entry) -> std::io::Result<u64> {
        let packed = self.packed(&entry.name);
        match std::fs::remove_dir_all(&packed) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.shelf.remove(entry)
    }

    /// Where the copies of a model for this processor are kept.
    fn packed(&self, name: &str) -> PathBuf {
        // A model that was given by its path leaves nothing beside its files.
        let is_plain = self.table.find(name).is_some();
        self.cache.join(if is_plain { name } else { "by-path" })
    }

    fn free_memory(&self) -> u64 {
        self.free.unwrap_or_else(room::free_memory)
    }

    fn path(&self, text: &str) -> Option<PathBuf> {
        let path = match text.strip_prefix("~/") {
            Some(rest) => self.home.join(rest),
            None => PathBuf::from(text),
        };
        path.exists().then(|| std::path::absolute(&path).unwrap_or(path))
    }

    fn pick_entry(&self, choice: &Choice, settings: &VoiceSettings) -> Picked {
        let (name, why) = (choice.what.name(), choice.why.clone());
        let key = |path: &Path| format!("{} {:?}", path.display(), settings.precision);
        match &choice.what {
            Chosen::Known(entry) => {
                let path = self.shelf.path_of(entry);
                Picked {
                    name,
                    title: entry.title.clone(),
                    is_here: self.shelf.check_sizes(entry).is_ok(),
                    can_fetch: true,
                    memory: entry.memory_mb << 20,
                    why,
                    key: key(&path),
                    path,
                }
            }
            Chosen::Own(path) => Picked {
                title: name.clone(),
                name,
                is_here: true,
                can_fetch: false,
                memory: 0,
                why,
                key: key(path),
                path: path.clone(),
            },
        }
    }
}

impl Models for Library {
    fn pick(&self, settings: &VoiceSettings) -> Result<Picked, String> {
        self.choose(settings).map(|choice| self.pick_entry(&choice, settings))
    }

    fn open(
        &self,
        picked: &Picked,
        settings: &VoiceSettings,
        _cancel: &Cancel,
    ) -> Result<Box<dyn Transcriber>, (VoiceFailure, String)> {
        let manner = Manner {
            precision: settings.precision,
            cache: self.packed(&picked.name),
            free: self.free_memory(),
            need: Some(picked.memory).filter(|need| *need > 0),
            threads: settings.threads,
        };
        open::open(&picked.path, &manner).map_err(|error| {
            let failure = open::failure(&error);
            let next = match failure {
                VoiceFailure::Memory => "Close something, or choose a smaller model.",
                _ if picked.can_fetch => "`mynah voice check` tells what is wrong with its files.",
                _ => "Choose another model.",
            };
            (failure, format!("{} can't be used: {error}. {next}", picked.title))
        })
    }

    fn offer(&self, name: &str, why: Option<String>) -> Option<ModelOffer> {
        let entry = self.table.find(name)?;
        let host = self.host.split_once("://").map_or(self.host.as_str(), |(_, host)| host);
        Some(ModelOffer {
            name: entry.name.clone(),
            title: entry.title.clone(),
            from: format!("{host}/{}", entry.repository),
            bytes: entry.bytes().saturating_sub(self.shelf.bytes_so_far(entry)),
            licence: entry.licence.clone(),
            languages: entry.understands.clone(),
            memory: entry.memory_mb << 20,
            why,
        })
    }

    fn fetch(
        &self,
        name: &str,
        settings: &VoiceSettings,
        cancel: &Cancel,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), (VoiceFailure, String)> {
        let Some(entry) = self.table.find(name) else {
            return Err((VoiceFailure::NoModel, format!("There is no speech model `{name}` in the table.")));
        };
        let (host, shelf) = (self.host.clone(), self.shelf.clone());
        let fetcher = Fetcher { host, shelf, offline: settings.offline, free: None };
        fetcher.fetch(entry, cancel, progress).map_err(|error| (error.failure(), error.to_string()))
    }

    fn rows(&self, settings: &VoiceSettings) -> Vec<ModelRow> {
        let free = self.free_memory();
        let mut rows: Vec<ModelRow> = self
            .table
            .entries()
            .iter()
            .map(|entry| {
                let here = self.shelf.check_sizes(entry);
                let need = entry.memory_mb << 20;
                let skipped = if !entry.knows(&settings.language) {
                    Some(format!("understands {} and not `{}`", entry.understands, settings.language))
                } else if free > 0 && need > free {
                    let (need, free) = (super::size_text(need), super::size_text(free));
                    Some(format!("needs {need} of memory, and {free} are free"))
                } else {
                    None
                };
                ModelRow {
                    name: entry.name.clone(),
                    title: entry.title.clone(),
                    languages: entry.understands.clone(),
                    is_here: here.is_ok(),
                    bytes: here.unwrap_or_else(|_fault| entry.bytes()),
                    skipped,
                }
            })
            .collect();
        if self.table.find(&settings.model).is_none()
            && let Some(path) = self.path(&settings.model).filter(|_| !settings.model.is_empty())
        {
            let title = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (name, bytes) = (settings.model.clone(), open::size(&path));
            rows.push(ModelRow {
                name,
                title,
                languages: String::new(),
                is_here: true,
                bytes,
                skipped: None,
            });
        }
        rows
    }

    fn room(&self) -> (u64, (PathBuf, u64)) {
        let folder = self.shelf.folder().to_owned();
        let free = room::free_disk(&folder).unwrap_or(0);
        (self.free_memory(), (folder, free))
    }
}
