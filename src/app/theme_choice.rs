//! Which theme holds: by the setting, the terminal's ground and how many colours it has.

use super::start::Surroundings;
use crate::theme::Theme;
use crate::theme::contrast::Contrast;
use crate::theme::depth::Depth;
use crate::theme::load::{self, Choice};
use crate::theme::mix::Rgb;
use std::path::PathBuf;

/// The theme of the settings, and what is wrong with it.
pub fn of_settings(around: &Surroundings, page: Option<Rgb>) -> (Theme, Vec<String>) {
    named(&around.loaded.settings.screen.theme, around, page)
}

/// The theme of this name, as the setting `screen.theme` would have it.
pub fn named(name: &str, around: &Surroundings, page: Option<Rgb>) -> (Theme, Vec<String>) {
    let choice = Choice {
        setting: name,
        page,
        depth: depth(around),
        contrast: Contrast::named(&around.loaded.settings.screen.contrast).unwrap_or_default(),
    };
    let (theme, warnings) = load::load(&choice, &folder(around));
    (theme, warnings.into_iter().map(|warning| warning.text).collect())
}

/// How many colours are shown.
pub fn depth(around: &Surroundings) -> Depth {
    Depth::of(&around.loaded.settings.screen.colors, |name| around.env.get(name))
}

/// The names that can be chosen.
pub fn names(around: &Surroundings) -> Vec<String> {
    load::names(&folder(around))
}

fn folder(around: &Surroundings) -> PathBuf {
    around.places.config.join("themes")
}
