//! Which model a recording uses, and why.

use super::size_text;
use super::table::{Entry, Table};
use std::path::PathBuf;

/// What the choice depends on.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The models that are known by name.
    pub table: &'a Table,
    /// A name or a path, as the settings say; empty to choose by the memory.
    pub wanted: &'a str,
    /// `auto`, or a language as `en`.
    pub language: &'a str,
    /// Bytes of free memory.
    pub free: u64,
    /// The model's files are on this disk.
    pub is_here: &'a dyn Fn(&Entry) -> bool,
    /// What a path stands for, if there is something.
    pub path: &'a dyn Fn(&str) -> Option<PathBuf>,
}

/// A choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What is used.
    pub what: Chosen,
    /// Why it is that one, as a sentence.
    pub why: String,
    /// A better one that could be fetched, by its name.
    pub better: Option<String>,
}

/// What is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// A model that is known by name; its files need not be here.
    Known(Box<Entry>),
    /// The user's own file or folder.
    Own(PathBuf),
}

impl Chosen {
    /// As rows and messages call it: the name, or the last part of the path.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Known(entry) => entry.name.clone(),
            Self::Own(path) => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        }
    }
}

/// Which model to use. What was asked for by name is used whatever the memory; else it is the first that chooses itself
/// at this much memory and understands the language. While that one is not here, another that is here and fits is used.
///
/// # Errors
/// The name is neither in the table nor a path, or no model understands the language: what to do, as a sentence.
pub fn choose(facts: Facts<'_>) -> Result<Choice, String> {
    if !facts.wanted.is_empty() {
        return wanted(facts);
    }
    let best = by_memory(facts)?;
    if (facts.is_here)(best) {
        let why = reason(facts, best);
        return Ok(Choice { what: Chosen::Known(Box::new(best.clone())), why, better: None });
    }
    let fits = |entry: &&Entry| {
        entry.knows(facts.language)
            && entry.memory_mb.saturating_mul(1 << 20) <= facts.free
            && (facts.is_here)(entry)
    };
    // Of those that are here the one with the most weights understands best.
    if let Some(entry) = facts.table.entries().iter().filter(fits).max_by_key(|entry| entry.memory_mb) {
        let what = Chosen::Known(Box::new(entry.clone()));
        if entry.memory_mb >= best.memory_mb {
            return Ok(Choice { what, why: "it is here.".to_owned(), better: None });
        }
        let why = format!("it is here; {} would be better and can be fetched.", best.title);
        return Ok(Choice { what, why, better: Some(best.name.clone()) });
    }
    Ok(Choice { what: Chosen::Known(Box::new(best.clone())), why: reason(facts, best), better: None })
}

fn wanted(facts: Facts<'_>) -> Result<Choice, String> {
    let why = "the settings name it.".to_owned();
    if let Some(entry) = facts.table.find(facts.wanted) {
        if !entry.knows(facts.language) {
            return Err(format!(
                "{} understands {} and not `{}`. Choose another model, or set voice.language to auto.",
                entry.title, entry.understands, facts.language
            ));
        }
        return Ok(Choice { what: Chosen::Known(Box::new(entry.clone())), why, better: None });
    }
    if let Some(path) = (facts.path)(facts.wanted) {
        return Ok(Choice { what: Chosen::Own(path), why, better: None });
    }
    Err(format!(
        "There is no speech model `{}`: neither a name that is known nor a file or folder. `mynah voice models` lists \
         the names.",
        facts.wanted
    ))
}

fn by_memory<'a>(facts: Facts<'a>) -> Result<&'a Entry, String> {
    let knows = |entry: &&Entry| entry.knows(facts.language);
    let chooses =
        |entry: &&Entry| entry.default_from_mb.is_some_and(|from| from.saturating_mul(1 << 20) <= facts.free);
    let entries = facts.table.entries();
    entries
        .iter()
        .filter(knows)
        .find(chooses)
        // Little memory is better than none at all: the smallest that would choose itself.
        .or_else(|| entries.iter().filter(knows).min_by_key(|entry| entry.memory_mb))
        .ok_or_else(|| {
            format!(
                "No known model understands `{}`. Set voice.language to auto, or voice.model to a path.",
                facts.language
            )
        })
}

fn reason(facts: Facts<'_>, best: &Entry) -> String {
    let free = size_text(facts.free);
    let before = facts.table.entries().iter().take_while(|entry| entry.name != best.name);
    let Some(first) = before.into_iter().find(|entry| entry.default_from_mb.is_some()) else {
        return format!("{free} of memory are free.");
    };
    if first.knows(facts.language) {
        let need = size_text(first.default_from_mb.unwrap_or_default().saturating_mul(1 << 20));
        format!("{free} of memory are free, and {} wants {need}.", first.title)
    } else {
        format!("{} understands {} and not `{}`.", first.title, first.understands, facts.language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1 << 30;
    const V3: &str = "parakeet-tdt-0.6b-v3";
    const SMALL: &str = "parakeet-tdt-ctc-110m";
    const TINY: &str = "whisper-tiny";

    fn with(wanted: &str, language: &str, free: u64, here: &[&str]) -> Result<Choice, String> {
        choose(Facts {
            table: &Table::built_in(),
            wanted,
            language,
            free,
            is_here: &|entry| here.contains(&entry.name.as_str()),
            path: &|text| (text == "/m/own.nemo").then(|| PathBuf::from(text)),
        })
    }

    #[test]
    fn memory_language_and_what_is_here_decide() {
        for (language, free, here, chosen, better) in [
            ("auto", 2 * GB, &[][..], V3, None),
            ("auto", 2 * GB - 1, &[], SMALL, None),
            ("auto", GB / 2, &[], TINY, None),
            ("auto", 0, &[], TINY, None),
            ("de", 8 * GB, &[], V3, None),
            ("de", GB, &[], TINY, None),
            ("ja", 8 * GB, &[], TINY, None),
            ("ja", 8 * GB, &["whisper-small"], "whisper-small", None),
            ("auto", 8 * GB, &[TINY], TINY, Some(V3)),
            ("auto", 8 * GB, &[TINY, SMALL], SMALL, Some(V3)),
            ("de", 8 * GB, &[TINY, SMALL], TINY, Some(V3)),
            ("auto", 8 * GB, &[TINY, V3], V3, None),
            // What is here and does not fit is no help.
            ("auto", GB, &[V3], SMALL, None),
        ] {
            let choice = with("", language, free, here).unwrap();
            assert_eq!(choice.what.name(), chosen, "{language} {free} {here:?}");
            assert_eq!(choice.better.as_deref(), better, "{language} {free} {here:?}");
            assert!(choice.why.ends_with('.'), "{}", choice.why);
        }
    }

    #[test]
    fn reasons_name_the_numbers() {
        assert_eq!(with("", "auto", 3 * GB, &[]).unwrap().why, "3.2 GB of memory are free.");
        let why = with("", "auto", GB, &[]).unwrap().why;
        assert_eq!(why, "1.1 GB of memory are free, and Parakeet TDT 0.6B v3 wants 2.1 GB.");
        let why = with("", "ja", 3 * GB, &[]).unwrap().why;
        assert_eq!(why, "Parakeet TDT 0.6B v3 understands 25 European languages and not `ja`.");
    }

    #[test]
    fn what_is_asked_for_is_used_or_said_to_be_wrong() {
        assert_eq!(with(V3, "auto", 0, &[]).unwrap().what.name(), V3);
        assert_eq!(with("/m/own.nemo", "ja", 0, &[]).unwrap().what, Chosen::Own("/m/own.nemo".into()));
        assert!(with("whisper-huge", "auto", 0, &[]).unwrap_err().contains("`whisper-huge`"));
        assert!(with(SMALL, "de", 8 * GB, &[]).unwrap_err().contains("understands English and not `de`"));
    }
}
