//! What a setting may be: values as they stand in a file, in the environment or on the command line, checked against
//! their kind.

use super::verbs::Verbs;
use std::fmt;
use toml_edit::{Item, Value as TomlValue};

/// What a setting may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// True or false.
    Bool,
    /// A whole number in this range, bounds included.
    Integer {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// Texts.
    List,
    /// Permission rules: a tool, or a tool with a pattern.
    Rules,
    /// What prompts are called while they run.
    Verbs,
}

/// What is allowed, in words.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("a text"),
            Self::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Self::Bool => f.write_str("true or false"),
            Self::Integer { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::List => f.write_str("a list of texts"),
            Self::Rules => f.write_str("a list of rules like \"bash\" or \"bash(git status:*)\""),
            Self::Verbs => f.write_str(
                "default, playful, or up to 100 pairs like \"Whistling|Whistled\" with commas between them",
            ),
        }
    }
}

/// A value that fits its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A text or a word.
    Text(String),
    /// A switch.
    Bool(bool),
    /// A number.
    Integer(i64),
    /// Texts or rules.
    List(Vec<String>),
}

/// As TOML writes it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_toml())
    }
}

impl Value {
    /// The value for a TOML document.
    pub fn to_toml(&self) -> TomlValue {
        match self {
            Self::Text(text) => text.into(),
            Self::Bool(switch) => (*switch).into(),
            Self::Integer(number) => (*number).into(),
            Self::List(texts) => TomlValue::Array(texts.iter().collect()),
        }
    }
}

/// A checked value, and the entries of a list that did not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What fits.
    pub value: Value,
    /// Entries that were left out, as they were written.
    pub refused: Vec<String>,
}

impl Checked {
    const fn whole(value: Value) -> Self {
        Self { value, refused: Vec::new() }
    }
}

impl Kind {
    /// Checks a value of a TOML document. `None` when nothing of it fits.
    pub fn check(self, item: &Item) -> Option<Checked> {
        match self {
            Self::Text => Some(Checked::whole(Value::Text(item.as_str()?.to_owned()))),
            // `on` and `off` are easily written as a switch, and some such settings once were one.
            Self::Choice(_) => self.word(item.as_str().or_else(|| item.as_bool().map(on_or_off))?),
            Self::Bool => Some(Checked::whole(Value::Bool(item.as_bool()?))),
            Self::Verbs => verbs(item.as_str()?),
            Self::Integer { .. } => self.number(item.as_integer()?),
            Self::List | Self::Rules => {
                let entries = item.as_array()?.iter();
                Some(self.list(entries.map(|entry| match entry.as_str() {
                    Some(text) => Ok(text.to_owned()),
                    None => Err(entry.to_string().trim().to_owned()),
                })))
            }
        }
    }

    /// Checks a text of the environment or the command line. Lists are TOML lists, or texts with commas between them;
    /// commas inside brackets do not count. `None` when nothing of it fits.
    pub fn parse(self, text: &str) -> Option<Checked> {
        match self {
            Self::Text => Some(Checked::whole(Value::Text(text.to_owned()))),
            Self::Choice(_) => self.word(text).or_else(|| self.word(on_or_off(text.parse().ok()?))),
            Self::Bool => match text {
                "true" | "1" | "yes" | "on" => Some(Checked::whole(Value::Bool(true))),
                "false" | "0" | "no" | "off" => Some(Checked::whole(Value::Bool(false))),
                _ => None,
            },
            Self::Verbs => verbs(text),
            Self::Integer { .. } => self.number(text.parse().ok()?),
            Self::List | Self::Rules if text.trim_start().starts_with('[') => {
                self.check(&Item::Value(text.trim().parse().ok()?))
            }
            Self::List | Self::Rules => {
                let entries = split_at_commas(text);
                Some(self.list(entries.into_iter().filter(|entry| !entry.is_empty()).map(Ok)))
            }
        }
    }

    fn word(self, text: &str) -> Option<Checked> {
        let Self::Choice(words) = self else { return None };
        words.contains(&text).then(|| Checked::whole(Value::Text(text.to_owned())))
    }

    fn number(self, number: i64) -> Option<Checked> {
        let Self::Integer { min, max } = self else { return None };
        (min..=max).contains(&number).then_some(Checked::whole(Value::Integer(number)))
    }

    /// Entries that are texts, and texts for those that are none.
    fn list(self, entries: impl Iterator<Item = Result<String, String>>) -> Checked {
        let mut texts = Vec::new();
        let mut refused = Vec::new();
        for entry in entries {
            match entry {
                Ok(text) if self != Self::Rules || is_rule(&text) => texts.push(text),
                Ok(text) | Err(text) => refused.push(text),
            }
        }
        Checked { value: Value::List(texts), refused }
    }
}

fn verbs(text: &str) -> Option<Checked> {
    Verbs::parse(text).map(|_| Checked::whole(Value::Text(text.to_owned())))
}

/// A switch as a word.
const fn on_or_off(switch: bool) -> &'static str {
    if switch { "on" } else { "off" }
}

/// The text has the shape of a rule. Whether the tool exists and what the pattern means is for the permission policy.
fn is_rule(text: &str) -> bool {
    let (tool, pattern) = match text.split_once('(') {
        None => (text, None),
        Some((tool, rest)) => (tool, Some(rest)),
    };
    let is_name =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-' | '.' | '*');
    !tool.is_empty()
        && tool.chars().all(is_name)
        && pattern.is_none_or(|rest| rest.strip_suffix(')').is_some_and(|pattern| !pattern.trim().is_empty()))
}

fn split_at_commas(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_command_line() {
        let number = Kind::Integer { min: 0, max: 9 };
        let words = Kind::Choice(&["a", "b"]);
        let table = [
            (Kind::Text, "x y", Some(Value::Text("x y".to_owned()))),
            (words, "a", Some(Value::Text("a".to_owned()))),
            (words, "c", None),
            (words, "true", None),
            (Kind::Choice(&["on", "off"]), "true", Some(Value::Text("on".to_owned()))),
            (Kind::Choice(&["on", "off"]), "false", Some(Value::Text("off".to_owned()))),
            (Kind::Bool, "on", Some(Value::Bool(true))),
            (Kind::Bool, "0", Some(Value::Bool(false))),
            (Kind::Bool, "maybe", None),
            (number, "9", Some(Value::Integer(9))),
            (number, "10", None),
            (number, "-1", None),
            (number, "1.5", None),
            (Kind::List, "", Some(Value::List(vec![]))),
            (Kind::List, "a, b", Some(Value::List(vec!["a".to_owned(), "b".to_owned()]))),
            (Kind::List, "[\"a,b\"]", Some(Value::List(vec!["a,b".to_owned()]))),
            (Kind::List, "[\"a", None),
            (
                Kind::Rules,
                "edit(src/{a,b}/**), read",
                Some(Value::List(vec!["edit(src/{a,b}/**)".to_owned(), "read".to_owned()])),
            ),
        ];
        for (kind, text, expected) in table {
            assert_eq!(kind.parse(text).map(|checked| checked.value), expected, "{kind} {text}");
        }
    }

    #[test]
    fn the_shape_of_rules() {
        for rule in ["bash", "bash(git status:*)", "edit(src/**)", "read(~/.ssh/**)", "bash(echo (x))", "*"] {
            assert!(is_rule(rule), "{rule}");
        }
        for rule in ["", "Bash", "bash(", "bash()", "bash( )", "bash(x) ", "rm -rf", "(x)"] {
            assert!(!is_rule(rule), "{rule}");
        }
    }

    #[test]
    fn a_wrong_entry_leaves_the_others() {
        let item: TomlValue = r#"["bash", 3, "Rm"]"#.parse().expect("TOML");
        let checked = Kind::Rules.check(&Item::Value(item)).expect("a list");
        assert_eq!(checked.value, Value::List(vec!["bash".to_owned()]));
        assert_eq!(checked.refused, ["3", "Rm"]);
    }
}
