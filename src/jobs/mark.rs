//! The mark that every process of ours carries in its environment, by which it is found again when it has left its
//! group, its session and its parent.
//!
//! A value is a list of marks, outermost first: a Mynah that runs as a command of another one adds its own, so that
//! either finds what it has started. Limits: what a program starts with an emptied environment carries no mark.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};

/// Name of the variable.
pub const VARIABLE: &str = "MYNAH_COMMAND";

/// The mark of one [`super::Jobs`], from which those of its commands are made.
#[derive(Debug)]
pub struct Mark {
    token: String,
    outer: OsString,
}

/// Which of the marked processes are meant, by token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked(BTreeMap<String, Vec<Commands>>);

/// Commands by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Commands {
    /// One.
    Only(u64),
    /// All others.
    AllBut(BTreeSet<u64>),
}

impl Mark {
    /// A new one. `outer` is the value that we were started with ourselves.
    pub fn new(outer: Option<OsString>) -> Self {
        Self { token: format!("{:016x}", fastrand::u64(..)), outer: outer.unwrap_or_default() }
    }

    /// The part of all marks of ours that no other has.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// What all marks of ours begin with. Letters and digits, and a dot at its end.
    pub fn prefix(&self) -> String {
        format!("{}.", self.token)
    }

    /// The variable's value for a command.
    pub fn value(&self, command: u64) -> OsString {
        let mut value = self.outer.clone();
        if !value.is_empty() {
            value.push(":");
        }
        value.push(format!("{}.{command}", self.token));
        value
    }

    /// The processes of these commands.
    pub fn of(&self, commands: Commands) -> Marked {
        Marked::new(self.token.clone(), commands)
    }
}

impl Marked {
    /// Those of a mark that is known by its token.
    pub fn new(token: String, commands: Commands) -> Self {
        Self(BTreeMap::from([(token, vec![commands])]))
    }

    /// All that are meant by one of these.
    pub fn any_of(all: impl IntoIterator<Item = Self>) -> Self {
        let mut joined = Self::default();
        for (token, commands) in all.into_iter().flat_map(|marked| marked.0) {
            joined.0.entry(token).or_default().extend(commands);
        }
        joined
    }

    /// Whether a process with this environment, as `/proc` shows it, is meant.
    pub fn matches(&self, environment: &[u8]) -> bool {
        environment.split(|byte| *byte == 0).any(|variable| {
            variable
                .strip_prefix(VARIABLE.as_bytes())
                .and_then(|rest| rest.strip_prefix(b"="))
                .is_some_and(|value| value.split(|byte| *byte == b':').any(|mark| self.is_meant(mark)))
        })
    }

    fn is_meant(&self, mark: &[u8]) -> bool {
        let Some((token, number)) = std::str::from_utf8(mark).ok().and_then(|mark| mark.rsplit_once('.'))
        else {
            return false;
        };
        let (Some(meant), Ok(number)) = (self.0.get(token), number.parse()) else { return false };
        meant.iter().any(|commands| match commands {
            Commands::Only(only) => number == *only,
            Commands::AllBut(others) => !others.contains(&number),
        })
    }
}

/// The value that we were started with.
pub fn inherited() -> Option<OsString> {
    std::env::var_os(OsStr::new(VARIABLE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    fn environment(value: &OsStr) -> Vec<u8> {
        [b"A=b\0MYNAH_COMMAND=", value.as_bytes(), b"\0Z=\0"].concat()
    }

    #[test]
    fn a_command_is_found_by_its_number_and_by_all_others_left_out() {
        let mark = Mark::new(None);
        let twelve = environment(&mark.value(12));
        for (commands, want) in [
            (Commands::Only(12), true),
            (Commands::Only(1), false),
            (Commands::Only(2), false),
            (Commands::AllBut(BTreeSet::new()), true),
            (Commands::AllBut(BTreeSet::from([1, 2])), true),
            (Commands::AllBut(BTreeSet::from([12])), false),
        ] {
            assert_eq!(mark.of(commands.clone()).matches(&twelve), want, "{commands:?}");
        }
        assert!(!Mark::new(None).of(Commands::Only(12)).matches(&twelve), "another Mynah's");
    }

    #[test]
    fn a_mynah_inside_another_is_found_by_both() {
        let outer = Mark::new(None);
        let inner = Mark::new(Some(outer.value(3)));
        let value = environment(&inner.value(5));
        assert!(outer.of(Commands::Only(3)).matches(&value));
        assert!(inner.of(Commands::Only(5)).matches(&value));
        assert!(!outer.of(Commands::Only(5)).matches(&value));
        assert!(!inner.of(Commands::Only(3)).matches(&value));
    }

    #[test]
    fn commands_of_several_marks_are_found_at_once() {
        let (one, two) = (Mark::new(None), Mark::new(None));
        let any =
            Marked::any_of([one.of(Commands::Only(1)), two.of(Commands::Only(2)), one.of(Commands::Only(3))]);
        for (mark, number, want) in
            [(&one, 1, true), (&one, 3, true), (&one, 2, false), (&two, 2, true), (&two, 1, false)]
        {
            assert_eq!(any.matches(&environment(&mark.value(number))), want, "{number}");
        }
    }

    #[test]
    fn only_the_variable_counts() {
        let mark = Mark::new(None);
        let value = mark.value(1).into_string().unwrap();
        for text in [format!("OTHER={value}\0"), format!("XMYNAH_COMMAND={value}\0"), value, String::new()] {
            assert!(!mark.of(Commands::Only(1)).matches(text.as_bytes()), "{text:?}");
        }
    }
}
