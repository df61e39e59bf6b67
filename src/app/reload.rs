//! Settings, keys and colours read anew while the program runs. A file that can't be used leaves what holds.

use super::msg::Reloaded;
use super::start::Surroundings;
use super::theme_choice;
use crate::config::keymap::Keymap;
use crate::theme::mix::Rgb;
use std::sync::Arc;

/// Reads everything anew. `theme` is the one in force, unless the settings now name another. Gives what everything is to
/// start from afterwards.
pub fn read(
    before: &Arc<Surroundings>,
    flags: &[String],
    theme: &str,
    page: Option<Rgb>,
) -> (Arc<Surroundings>, Reloaded) {
    let mut mistakes = Vec::new();
    let mut around = before.clone();
    let mut loaded = None;
    match Surroundings::find(before.env.clone(), Some(&before.cwd), flags) {
        Ok(now) => match &now.loaded.broken {
            Some(why) => mistakes.push(format!("{why} What held before still holds.")),
            None => {
                // What was told at the start, or when it was read last, is not told again.
                let known = &before.loaded.warnings;
                let new = now.loaded.warnings.iter().filter(|warning| !known.contains(warning));
                mistakes.extend(new.map(|warning| warning.text.clone()));
                loaded = Some(now.loaded.clone());
                around = Arc::new(now);
            }
        },
        Err(error) => mistakes.push(error.to_string()),
    }
    let keymap = match Keymap::read(&around.places) {
        Ok((keymap, warnings)) => {
            mistakes.extend(warnings.into_iter().map(|warning| warning.text));
            Some(keymap)
        }
        Err(why) => {
            mistakes.push(format!("{why} The keys from before still hold."));
            None
        }
    };
    let wanted = &around.loaded.settings.screen.theme;
    let theme = if *wanted == before.loaded.settings.screen.theme { theme } else { wanted };
    let (theme, warnings) = theme_choice::named(theme, &around, page);
    let theme = warnings.is_empty().then_some(theme);
    mistakes.extend(warnings);
    let themes = theme_choice::names(&around);
    (around, Reloaded { asked: false, loaded, keymap, theme, themes, mistakes })
}
