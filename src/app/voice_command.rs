//! `mynah voice`: microphones and speech models, as plain lines.

use super::config_command::{self, ConfigCommand, ConfigCx, Scope};
use super::start::Surroundings;
use crate::cli::VoiceAction;
use crate::dictation::capture;
use crate::dictation::engine::parts::Models;
use crate::dictation::models::library::Library;
use crate::dictation::models::size_text;
use crate::dictation::models::table::Entry;
use crate::dictation::transcriber::Cancel;
use crate::proto::voice::{Microphone, SoundSource, VoiceSettings};
use std::fmt::Write;
use std::io;

/// Where such a command speaks.
pub trait Console {
    /// The result.
    ///
    /// # Errors
    /// As the stream says.
    fn print(&mut self, text: &str) -> io::Result<()>;

    /// Something besides the result.
    fn note(&mut self, text: &str);

    /// Asks a question; `None` where nobody can answer.
    fn agrees(&mut self, question: &str) -> Option<bool>;

    /// How far something is: each line takes the place of the one before.
    fn progress(&mut self, text: &str, is_last: bool);
}

/// Does it; false if something is not right.
///
/// # Errors
/// Nothing was done, and why.
pub fn run(
    action: Option<&VoiceAction>,
    around: &Surroundings,
    console: &mut dyn Console,
) -> anyhow::Result<bool> {
    let library = library(around, console);
    let settings = &around.loaded.settings.voice.engine;
    match action {
        None | Some(VoiceAction::Status) => {
            console.print(&status(&library, settings, &microphones()))?;
            Ok(true)
        }
        Some(VoiceAction::Models) => {
            console.print(&models(&library, settings))?;
            Ok(true)
        }
        Some(VoiceAction::Microphones) => match microphones() {
            Ok(list) if list.is_empty() => anyhow::bail!("There is no microphone."),
            Ok(list) => {
                console.print(&list.iter().map(|one| microphone(one) + "\n").collect::<String>())?;
                Ok(true)
            }
            Err(why) => anyhow::bail!(why),
        },
        Some(VoiceAction::Setup { model, yes }) => {
            let settings = with_model(settings, model.as_deref());
            set_up(&library, &settings, *yes, console)
        }
        Some(VoiceAction::Use { model }) => use_model(&library, settings, model, around, console),
        Some(VoiceAction::Check) => check(&library, console),
        Some(VoiceAction::Remove { model }) => {
            let entry = known(&library, model)?;
            if !library.shelf().folder_of(entry).exists() {
                anyhow::bail!("{} is not on this disk.", entry.title);
            }
            let bytes = library.remove(entry)?;
            console.print(&format!("{} was removed: {} are free again.\n", entry.title, size_text(bytes)))?;
            Ok(true)
        }
    }
}

/// The speech models of this user; what is wrong with the user's table is said.
pub(super) fn library(around: &Surroundings, console: &mut dyn Console) -> Library {
    let (library, warnings) = Library::load(&around.places, &around.env);
    for warning in warnings {
        console.note(&warning);
    }
    library
}

pub(super) fn with_model(settings: &VoiceSettings, model: Option<&str>) -> VoiceSettings {
    let mut settings = settings.clone();
    if let Some(model) = model {
        model.clone_into(&mut settings.model);
    }
    settings
}

/// Sees to it that the model of these settings is on this disk; asks first. False if it is not wanted.
pub(super) fn fetch(
    library: &Library,
    settings: &VoiceSettings,
    yes: bool,
    console: &mut dyn Console,
) -> anyhow::Result<bool> {
    let picked = library.pick(settings).map_err(anyhow::Error::msg)?;
    if picked.is_here {
        return Ok(true);
    }
    let offer = library.offer(&picked.name, None).filter(|_| picked.can_fetch);
    let offer =
        offer.ok_or_else(|| anyhow::anyhow!("The speech model {} is not there.", picked.path.display()))?;
    if settings.offline {
        anyhow::bail!("{} is not on this machine, and Mynah is offline (network.offline).", offer.title);
    }
    let what = format!(
        "{}: {} from {}, licence {}; {}; needs {} of memory.",
        offer.title,
        size_text(offer.bytes),
        offer.from,
        offer.licence,
        offer.languages,
        size_text(offer.memory)
    );
    if yes {
        console.note(&what);
    } else {
        match console.agrees(&format!("{what}\nFetch it?")) {
            Some(true) => {}
            Some(false) => return Ok(false),
            None => anyhow::bail!(
                "The speech model {} is not on this machine. Fetch it: mynah voice setup {} --yes",
                offer.title,
                offer.name
            ),
        }
    }
    let progress = &mut |done: u64, total: u64| {
        let percent = done.saturating_mul(100).checked_div(total).unwrap_or(0);
        let text =
            format!("{} {percent}% ({} of {})", offer.title, size_text(done), size_text(total.max(done)));
        console.progress(&text, done >= total);
    };
    library
        .fetch(&offer.name, settings, &Cancel::default(), progress)
        .map_err(|(_failure, text)| anyhow::anyhow!(text))?;
    Ok(true)
}

fn set_up(
    library: &Library,
    settings: &VoiceSettings,
    yes: bool,
    console: &mut dyn Console,
) -> anyhow::Result<bool> {
    let mut settings = settings.clone();
    // What is here already is no reason not to fetch the better one.
    let choice = library.choose(&settings).map_err(anyhow::Error::msg)?;
    if let Some(better) = choice.better {
        settings.model = better;
    }
    let name = library.pick(&settings).map_err(anyhow::Error::msg)?.title;
    if !fetch(library, &settings, yes, console)? {
        console.note("Nothing was fetched.");
        return Ok(false);
    }
    console.print(&format!("{name} is ready.\n"))?;
    Ok(true)
}

fn use_model(
    library: &Library,
    settings: &VoiceSettings,
    model: &str,
    around: &Surroundings,
    console: &mut dyn Console,
) -> anyhow::Result<bool> {
    let cx = ConfigCx { places: &around.places, project: &around.project_root, env: &around.env, flags: &[] };
    let key = "voice.model".to_owned();
    if model == "auto" {
        config_command::run(&ConfigCommand::Unset { key }, Scope::User, cx)?;
        console.print("The speech model goes by this machine's memory again.\n")?;
        return Ok(true);
    }
    let picked = library.pick(&with_model(settings, Some(model))).map_err(anyhow::Error::msg)?;
    // A path must hold from wherever Mynah is started.
    let value = if picked.can_fetch { picked.name.clone() } else { picked.path.display().to_string() };
    config_command::run(&ConfigCommand::Set { key, value }, Scope::User, cx)?;
    let mut text = format!("{} is used from now on.\n", picked.title);
    if !picked.is_here {
        let _ = writeln!(text, "It is not on this machine yet: mynah voice setup fetches it.");
    }
    console.print(&text)?;
    Ok(true)
}

fn check(library: &Library, console: &mut dyn Console) -> anyhow::Result<bool> {
    let (mut text, mut all_right) = (String::new(), true);
    for entry in library.table().entries() {
        if !library.shelf().folder_of(entry).exists() {
            continue;
        }
        // Writing to a String can't fail.
        let _ = match library.check(entry, &Cancel::default()) {
            Ok(bytes) => {
                writeln!(
                    text,
                    "{}: {}, as it came (nobody but its host vouches for it)",
                    entry.name,
                    size_text(bytes)
                )
            }
            Err(fault) => {
                all_right = false;
                writeln!(text, "{}: {fault}. Fetch it again: mynah voice setup {}", entry.name, entry.name)
            }
        };
    }
    if text.is_empty() {
        text.push_str("No speech model is on this disk.\n");
    }
    console.print(&text)?;
    Ok(all_right)
}

fn known<'a>(library: &'a Library, name: &str) -> anyhow::Result<&'a Entry> {
    library.table().find(name).ok_or_else(|| {
        anyhow::anyhow!("There is no speech model `{name}` in the table. mynah voice models lists them.")
    })
}

fn microphones() -> Result<Vec<Microphone>, String> {
    capture::quiet_stderr(capture::list).map_err(|error| error.to_string())
}

fn microphone(one: &Microphone) -> String {
    if one.is_default { format!("{} (default)", one.name) } else { one.name.clone() }
}

fn status(
    library: &Library,
    settings: &VoiceSettings,
    microphones: &Result<Vec<Microphone>, String>,
) -> String {
    let (free, (folder, disk)) = library.room();
    let model = match library.choose(settings) {
        Ok(choice) => {
            let picked = library.pick(settings);
            let here = if picked.is_ok_and(|picked| picked.is_here) { "" } else { " (not fetched yet)" };
            format!("{}{here}: {}", choice.what.name(), choice.why)
        }
        Err(why) => why,
    };
    let microphone = match (&settings.source, microphones) {
        // Nobody misses one where a command brings the sound.
        (SoundSource::Command(command), _) => format!("none: the sound comes from {command}"),
        (_, Ok(list)) => {
            let wanted = list.iter().find(|one| one.name == settings.microphone);
            let used = wanted.or_else(|| list.iter().find(|one| one.is_default)).or_else(|| list.first());
            used.map_or_else(|| "none".to_owned(), |one| one.name.clone())
        }
        (_, Err(why)) => why.clone(),
    };
    format!(
        "model       {model}\nmicrophone  {microphone}\nlanguage    {}\nmemory      {} free\nmodels in   {} ({} free)\n",
        settings.language,
        size_text(free),
        folder.display(),
        size_text(disk)
    )
}

fn models(library: &Library, settings: &VoiceSettings) -> String {
    let rows = library.rows(settings);
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let languages = rows.iter().map(|row| row.languages.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let here = if row.is_here { "here" } else { "-" };
        let skipped = row.skipped.unwrap_or_default();
        let line = format!(
            "{:<width$}  {here:<4}  {:>7}  {:<languages$}  {skipped}",
            row.name,
            size_text(row.bytes),
            row.languages
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
