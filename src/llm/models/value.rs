//! Values of a models file that may come from elsewhere: `$NAME` and `${NAME}` from the environment, `!command` from
//! a command's output. `$$` and `$!` are a plain `$` and `!`. A bare upper-case word is just text.

use crate::config::env::Env;
use crate::llm::endpoint::Secret;
use serde::{Deserialize, Deserializer};

/// A value as the file has it. It can be a key, so it is never printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigValue {
    /// The output of this command.
    Command(Secret),
    /// Text and variables, put together.
    Text(Vec<Part>),
}

/// A piece of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// As it is.
    Literal(Secret),
    /// The value of an environment variable.
    Variable(String),
}

/// A variable that a value needs is not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("${0} is not set")]
pub struct VariableNotSet(pub String);

impl ConfigValue {
    /// Reads the value's text.
    pub fn parse(text: &str) -> Self {
        if let Some(command) = text.strip_prefix('!') {
            return Self::Command(Secret::new(command.trim()));
        }
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            literal.push_str(before);
            if let Some(escaped) = after.chars().next().filter(|c| matches!(c, '$' | '!')) {
                literal.push(escaped);
                rest = after.get(1..).unwrap_or_default();
            } else if let Some((name, behind)) = variable(after) {
                parts.push(Part::Literal(Secret::new(std::mem::take(&mut literal))));
                parts.push(Part::Variable(name.to_owned()));
                rest = behind;
            } else {
                literal.push('$');
                rest = after;
            }
        }
        literal.push_str(rest);
        parts.push(Part::Literal(Secret::new(literal)));
        parts.retain(|part| !matches!(part, Part::Literal(text) if text.reveal().is_empty()));
        Self::Text(parts)
    }

    /// The environment variables it uses.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let parts = match self {
            Self::Command(_) => &[],
            Self::Text(parts) => parts.as_slice(),
        };
        parts.iter().filter_map(|part| match part {
            Part::Literal(_) => None,
            Part::Variable(name) => Some(name.as_str()),
        })
    }
}

/// Puts text and variables together.
pub fn expand(parts: &[Part], env: &Env) -> Result<String, VariableNotSet> {
    let mut whole = String::new();
    for part in parts {
        match part {
            Part::Literal(text) => whole.push_str(text.reveal()),
            Part::Variable(name) => {
                whole.push_str(env.get(name).ok_or_else(|| VariableNotSet(name.clone()))?);
            }
        }
    }
    Ok(whole)
}

/// The variable name after a `$`, and what follows it.
fn variable(after: &str) -> Option<(&str, &str)> {
    if let Some(braced) = after.strip_prefix('{') {
        return braced.split_once('}').filter(|(name, _)| is_name(name));
    }
    let end = after.find(|c: char| !is_name_char(c)).unwrap_or(after.len());
    after.split_at_checked(end).filter(|(name, _)| is_name(name))
}

fn is_name(text: &str) -> bool {
    text.chars().all(is_name_char) && text.chars().next().is_some_and(|c| !c.is_ascii_digit())
}

const fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

impl<'de> Deserialize<'de> for ConfigValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::parse(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(value: &str, env: &Env) -> Result<String, VariableNotSet> {
        match ConfigValue::parse(value) {
            ConfigValue::Text(parts) => expand(&parts, env),
            ConfigValue::Command(command) => Ok(format!("command: {}", command.reveal())),
        }
    }

    #[test]
    fn only_an_explicit_dollar_names_a_variable() {
        let env = Env::of([("KEY", "k"), ("MY_KEY2", "k2")]);
        for (value, expected) in [
            ("sk-literal", "sk-literal"),
            ("KEY", "KEY"),
            ("$KEY", "k"),
            ("${KEY}", "k"),
            ("Bearer $KEY, twice ${KEY}!", "Bearer k, twice k!"),
            ("$MY_KEY2-x", "k2-x"),
            ("$$KEY", "$KEY"),
            ("$!not a command", "!not a command"),
            ("costs 5$", "costs 5$"),
            ("$1 ${} ${a b} ${KEY", "$1 ${} ${a b} ${KEY"),
            ("!pass show x", "command: pass show x"),
            ("", ""),
            ("ü$KEYü", "ükü"),
        ] {
            assert_eq!(text(value, &env).as_deref(), Ok(expected), "{value}");
        }
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        assert_eq!(text("x${NOPE}", &Env::default()), Err(VariableNotSet("NOPE".to_owned())));
    }

    #[test]
    fn nothing_of_a_value_is_printed_but_names_of_variables() {
        let shown = format!("{:?} {:?}", ConfigValue::parse("sk-1$KEY"), ConfigValue::parse("!echo sk-2"));
        assert!(!shown.contains("sk-") && shown.contains("KEY"), "{shown}");
    }

    proptest! {
        #[test]
        fn text_without_dollars_stays_as_it_is(value in "[^$!][^$]*") {
            prop_assert_eq!(text(&value, &Env::default()), Ok(value));
        }

        #[test]
        fn doubled_dollars_give_any_text_back(value in "[^!].*") {
            prop_assert_eq!(text(&value.replace('$', "$$"), &Env::default()), Ok(value));
        }
    }
}
