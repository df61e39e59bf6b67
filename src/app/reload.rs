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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::env::Env;
    use crate::config::{keymap, load};
    use std::fs;

    struct World {
        home: tempfile::TempDir,
        around: Arc<Surroundings>,
    }

    impl World {
        fn new(config: &str) -> Self {
            let home = tempfile::tempdir().expect("a home");
            let env =
                Env::of([("MYNAH_HOME", home.path().to_str().expect("plain")), ("COLORTERM", "truecolor")]);
            fs::create_dir_all(home.path().join("config/themes")).expect("folders");
            fs::create_dir(home.path().join("project")).expect("a folder");
            fs::write(home.path().join("config/config.toml"), config).expect("a file");
            let project = home.path().join("project");
            let around = Surroundings::find(env, Some(&project), &[]).expect("it is there");
            Self { home, around: Arc::new(around) }
        }

        fn write(&self, file: &str, text: &str) {
            fs::write(self.home.path().join("config").join(file), text).expect("a file");
        }

        fn read(&mut self) -> Reloaded {
            let theme = self.around.loaded.settings.screen.theme.clone();
            let (around, reloaded) = read(&self.around, &[], &theme, None);
            self.around = around;
            reloaded
        }
    }

    #[test]
    fn what_is_broken_leaves_what_holds_with_line_and_reason() {
        let mut world = World::new("[retry]\nmax_attempts = 9\n[screen]\ntheme = \"mine\"\n");
        world.write("themes/base.toml", "[colors]\ntext = \"#ff0000\"\n");
        world.write("themes/mine.toml", "inherits = \"base\"\n");
        let right = world.read();
        assert_eq!(right.mistakes, [""; 0]);
        let theme = right.theme.expect("it is right");

        world.write("config.toml", "[retry]\nmax_attempts = = 3\n");
        world.write("keymap.toml", "[global]\n\nhelp =\n");
        // One that it inherits from.
        world.write("themes/base.toml", "[colors]\ntext = \"#ff\"\n");
        let broken = world.read();
        assert!(broken.loaded.is_none() && broken.keymap.is_none() && broken.theme.is_none());
        for (mistake, begins) in broken.mistakes.iter().zip([
            "config.toml:2: this is no TOML",
            "keymap.toml:3: this is no TOML",
            "base.toml:2: `text` must",
        ]) {
            assert!(mistake.contains(begins), "{mistake}");
        }
        assert_eq!(broken.mistakes.len(), 3);
        assert_eq!(world.around.loaded.settings.retry.max_attempts, 9, "new sessions have it too");

        world.write("config.toml", "[retry]\nmax_attempts = 3\n[screen]\ntheme = \"mine\"\n");
        world.write("keymap.toml", "[global]\nhelp = \"f9\"\n");
        world.write("themes/base.toml", "[colors]\ntext = \"#00ff00\"\n");
        let mended = world.read();
        assert_eq!(mended.mistakes, [""; 0]);
        assert_eq!(mended.loaded.expect("it is right").settings.retry.max_attempts, 3);
        assert_eq!(world.around.loaded.settings.retry.max_attempts, 3);
        assert_ne!(mended.theme.expect("it is right").revision(), theme.revision());
        assert_ne!(mended.keymap, Some(Keymap::defaults()));
        assert!(
            load::user_file(&world.around.places).exists()
                && keymap::user_file(&world.around.places).exists()
        );
    }

    #[test]
    fn another_theme_in_the_settings_is_the_one_that_is_read() {
        let mut world = World::new("");
        assert_eq!(world.read().theme.map(|theme| theme.name().to_owned()).as_deref(), Some("quiet-dark"));
        world.write("config.toml", "[screen]\ntheme = \"contrast\"\n");
        assert_eq!(world.read().theme.map(|theme| theme.name().to_owned()).as_deref(), Some("contrast-dark"));
    }
}
