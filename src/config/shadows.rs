//! Keys that an inner place hides from an outer one. Meant or not: the embedded keys hide what they mean to, so only
//! what the user's file brings about is told.

use super::action::{Action, Context};
use super::chord::Chord;
use super::keymap::Keymap;
use std::fmt;
use std::sync::LazyLock;

/// The ways on which a key looks for its action, from the inside out: as the screen asks them.
pub const PATHS: &[&[Context]] = &[
    &[Context::ComposerEmpty, Context::Composer, Context::Global],
    &[Context::Completion, Context::Composer, Context::Global],
    &[Context::HistorySearch, Context::Global],
    &[Context::Search, Context::Transcript, Context::Global],
    &[Context::Search, Context::Composer, Context::Global],
    &[Context::Transcript, Context::Global],
    &[Context::List, Context::Composer, Context::Global],
    &[Context::Settings, Context::Global],
    &[Context::Card, Context::Global],
];

/// A key of an inner place that hides one of an outer place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shadow {
    /// The place that is asked first.
    pub inner: Context,
    /// What is pressed there.
    pub chord: Chord,
    /// What it does there.
    pub action: Action,
    /// The place around it.
    pub outer: Context,
    /// What is hidden: the same keys, or some that begin with them or that they begin.
    pub hidden: Chord,
    /// What that would do.
    pub hidden_action: Action,
}

impl fmt::Display for Shadow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { inner, chord, action, outer, hidden, hidden_action } = self;
        write!(f, "`{chord}` does `{action}` in [{inner}] and hides ")?;
        if hidden != chord {
            write!(f, "`{hidden}`, ")?;
        }
        write!(f, "`{hidden_action}` of [{outer}]")
    }
}

/// What the embedded keys hide.
static USUAL: LazyLock<Vec<Shadow>> = LazyLock::new(|| all(&Keymap::defaults()));

/// What is hidden because of the user's file.
pub fn of_user(keymap: &Keymap) -> Vec<Shadow> {
    let mut found = all(keymap);
    found.retain(|shadow| !USUAL.contains(shadow));
    found
}

fn all(keymap: &Keymap) -> Vec<Shadow> {
    let mut found = Vec::new();
    for path in PATHS {
        for (at, inner) in path.iter().enumerate() {
            for outer in path.iter().skip(at + 1) {
                hidden_between(keymap, *inner, *outer, &mut found);
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

fn hidden_between(keymap: &Keymap, inner: Context, outer: Context, found: &mut Vec<Shadow>) {
    for (chord, action) in keymap.of(inner) {
        for (hidden, hidden_action) in keymap.of(outer) {
            // Two chords that only begin alike are both reached: the inner place is asked first, then the outer one.
            if chord.meets(hidden) && action != hidden_action {
                found.push(Shadow {
                    inner,
                    chord: chord.clone(),
                    action,
                    outer,
                    hidden: hidden.clone(),
                    hidden_action,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn told(text: &str) -> Vec<String> {
        let (keymap, warnings) = Keymap::defaults().patched(text, Path::new("keymap.toml"));
        assert_eq!(warnings, [], "{text}");
        of_user(&keymap).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_the_user_hides_is_told() {
        assert_eq!(told(""), [""; 0], "the embedded keys hide only what they mean to");
        assert_eq!(
            told("[composer]\nredo = \"f1\""),
            ["`f1` does `redo` in [composer] and hides `help` of [global]"]
        );
        assert_eq!(
            told("[global]\nrepaint = \"ctrl+q ctrl+l\"\n[composer]\nredo = \"ctrl+q\""),
            ["`ctrl+q` does `redo` in [composer] and hides `ctrl+q ctrl+l`, `repaint` of [global]"]
        );
        assert_eq!(told("[global]\nrepaint = \"ctrl+q l\"\n[composer]\nredo = \"ctrl+q r\""), [""; 0]);
        assert_eq!(told("[global]\nhelp = \"f9\""), [""; 0]);
    }
}
