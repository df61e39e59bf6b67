//! `mynah config keys`: which key does what, which of them the user has set, and what is wrong with those.

use crate::config::keymap::{self, Keymap};
use crate::config::places::Places;
use crate::config::shadows;
use std::fmt::Write;

/// The table, and whether the user's file is right. A key that hides another may be meant, so it is no mistake.
pub fn run(places: &Places) -> (String, bool) {
    let (keymap, warnings) = Keymap::load(places);
    let rows: Vec<[String; 3]> = keymap
        .help()
        .iter()
        .map(|row| {
            let keys: Vec<String> = row.keys.iter().map(|chord| format!("\"{chord}\"")).collect();
            let keys = if keys.is_empty() { "no key".to_owned() } else { keys.join(" ") };
            let mark = if keymap.is_own(row.context, row.action) { "*" } else { " " };
            [format!("{mark} [{}]", row.context), row.action.name().to_owned(), keys]
        })
        .collect();
    let width = |column: usize| {
        let widths = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        widths.max().unwrap_or_default()
    };
    let (places_width, names, keys_width) = (width(0), width(1), width(2).min(MOST_KEYS));
    let mut out = String::new();
    for ([place, name, keys], row) in rows.iter().zip(keymap.help()) {
        // Writing into a string can't fail.
        let _ =
            writeln!(out, "{place:places_width$}  {name:names$}  {keys:keys_width$}  {}", row.action.text());
    }
    let _ = writeln!(out, "\n* set in {}", keymap::user_file(places).display());
    for shadow in shadows::of_user(&keymap) {
        let _ = writeln!(out, "{shadow}");
    }
    for warning in &warnings {
        let _ = writeln!(out, "{}", warning.text);
    }
    (out, warnings.is_empty())
}

/// Longer lists of keys push their text away instead of all texts.
const MOST_KEYS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::env::Env;
    use std::fs;

    fn told(text: &str) -> (String, bool) {
        let home = tempfile::tempdir().expect("a home");
        let places = Places::from_env(&Env::of([("MYNAH_HOME", home.path().to_str().expect("plain"))]));
        fs::create_dir_all(&places.config).expect("a folder");
        fs::write(keymap::user_file(&places), text).expect("a file");
        run(&places)
    }

    #[test]
    fn the_users_keys_are_marked_and_mistakes_end_in_failure() {
        let (table, is_right) = told("[composer]\nredo = \"f1\"\n");
        assert!(is_right, "{table}");
        let line = |name: &str| table.lines().find(|line| line.contains(name)).expect("a line").to_owned();
        assert!(line("  redo ").starts_with("* [composer]") && line("  redo ").contains("\"f1\""), "{table}");
        assert!(line("  help ").starts_with("  [global]"), "{table}");
        assert!(line("  editor ").contains("\"ctrl+g\" \"ctrl+x ctrl+e\""), "{table}");
        assert!(line("  history_next ").contains("no key"), "{table}");
        assert!(table.contains("`f1` does `redo` in [composer] and hides `help` of [global]"), "{table}");

        let (table, is_right) = told("[global]\nfly = \"f9\"\n");
        assert!(!is_right && table.contains("keymap.toml:2: there is no action `fly`"), "{table}");
        assert!(!told("[global\n").1, "a file that is no TOML");
    }
}
