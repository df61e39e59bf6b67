//! The script format: what a scripted model says and calls. The head of `assets/demo/tour.toml` describes it.

use crate::llm::models::file_error::FileProblem;
use crate::proto::usage::Usage;
use regex::Regex;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::str::FromStr;

/// What is known by now: facts by name.
pub type Facts = BTreeMap<String, String>;

/// The fact that is always there: the text of the prompt that is answered.
pub const PROMPT: &str = "prompt";

/// A whole script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// What the model is called, before "(not a real model)".
    pub name: String,
    /// Characters that come at once.
    #[serde(default = "usual_piece")]
    pub piece: usize,
    /// Milliseconds between two pieces.
    #[serde(default)]
    pub delay_ms: u64,
    /// How facts are learned.
    #[serde(default, rename = "fact")]
    pub facts: Vec<FactRule>,
    /// Answers.
    #[serde(rename = "turn")]
    pub turns: Vec<Turn>,
}

/// How a fact is learned from the result of a call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactRule {
    /// The fact.
    pub name: String,
    /// The call.
    pub call: String,
    /// What the result's text must match.
    #[serde(rename = "match", deserialize_with = "pattern")]
    pub pattern: Regex,
    /// The fact's value, with `$1` and so on.
    #[serde(default)]
    pub value: Option<String>,
    /// Looks at failed results.
    #[serde(default)]
    pub failed: bool,
}

/// The answer to one prompt.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// What the prompt must match.
    #[serde(default, deserialize_with = "some_pattern")]
    pub prompt: Option<Regex>,
    /// May be used again.
    #[serde(default)]
    pub repeat: bool,
    /// Responses.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
}

/// One response.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Facts that must be known, or with `!` must not be.
    #[serde(default)]
    pub when: Vec<String>,
    /// Shown as thinking.
    #[serde(default)]
    pub thinking: Text,
    /// Shown as text.
    #[serde(default)]
    pub text: Text,
    /// Reported tokens.
    #[serde(default)]
    pub usage: Usage,
    /// Calls.
    #[serde(default, rename = "call")]
    pub calls: Vec<Call>,
}

/// A call of a step.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// How facts refer to it.
    pub name: String,
    /// The tool.
    pub tool: String,
    /// Its arguments; texts in them may hold placeholders.
    pub arguments: Map<String, Value>,
}

/// A text, or pieces of it under conditions.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a text, or a list of texts and of tables with `when` and `text`")]
pub enum Text {
    /// As it is.
    Whole(String),
    /// Put together.
    Parts(Vec<TextPart>),
}

impl Default for Text {
    fn default() -> Self {
        Self::Parts(Vec::new())
    }
}

/// A piece of a text.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a text, or a table with `when` and `text`")]
pub enum TextPart {
    /// Always there.
    Always(String),
    /// There when the facts are.
    When {
        /// The facts.
        when: Vec<String>,
        /// The text.
        text: String,
    },
}

/// A script that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// It does not have the form of a script.
    #[error("line {line}: {reason}")]
    Form {
        /// Counts from 1; 0 where it is not known.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// It has the form, but would go wrong later.
    #[error("{0}")]
    Meaning(String),
}

impl FromStr for Script {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let script: Self = toml_edit::de::from_str(text).map_err(|error| {
            let FileProblem { line, reason } = FileProblem::of_toml(&error, text);
            ScriptError::Form { line: line.unwrap_or(0), reason }
        })?;
        script.check().map_err(ScriptError::Meaning)?;
        Ok(script)
    }
}

impl Script {
    /// The same script without pauses.
    #[must_use]
    pub const fn without_delay(mut self) -> Self {
        self.delay_ms = 0;
        self
    }

    /// Finds what would only show when the script runs: facts and calls that nobody declares, turns without an end.
    fn check(&self) -> Result<(), String> {
        let steps = || self.turns.iter().flat_map(|turn| &turn.steps);
        let calls = || steps().flat_map(|step| &step.calls);
        if self.turns.is_empty() || self.piece == 0 {
            return Err("it needs at least one turn, and pieces of at least one character".to_owned());
        }
        for turn in &self.turns {
            if !turn.steps.last().is_some_and(|last| last.when.is_empty() && last.calls.is_empty()) {
                return Err("the last step of a turn must have neither `when` nor calls".to_owned());
            }
        }
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if let Some(call) = calls().find(|call| call.name.is_empty() || !call.name.chars().all(is_name)) {
            return Err(format!("`{}` is no name for a call: small letters, digits and `_`", call.name));
        }
        if let Some(rule) = self.facts.iter().find(|rule| !calls().any(|call| call.name == rule.call)) {
            return Err(format!(
                "the fact `{}` looks at the call `{}`, which there is not",
                rule.name, rule.call
            ));
        }
        let mut used = Vec::new();
        for step in steps() {
            used.extend(step.when.iter().map(|condition| bare(condition).to_owned()));
            step.thinking.facts_into(&mut used);
            step.text.facts_into(&mut used);
            for call in &step.calls {
                let whole = Value::Object(call.arguments.clone()).to_string();
                used.extend(placeholders(&whole).map(str::to_owned));
            }
        }
        match used.iter().find(|name| *name != PROMPT && !self.facts.iter().any(|rule| rule.name == **name)) {
            Some(name) => Err(format!("the fact `{name}` is used, but no rule makes it")),
            None => Ok(()),
        }
    }
}

impl FactRule {
    /// The fact's value, if the result of its call gives one.
    pub fn learn(&self, result: &str) -> Option<String> {
        let found = self.pattern.captures(result)?;
        let usual = if found.len() > 1 { "$1" } else { "$0" };
        let mut value = String::new();
        found.expand(self.value.as_deref().unwrap_or(usual), &mut value);
        Some(value)
    }
}

impl Text {
    /// The text with what is known.
    pub fn fill(&self, facts: &Facts) -> String {
        match self {
            Self::Whole(text) => fill(text, facts),
            Self::Parts(parts) => parts
                .iter()
                .filter_map(|part| match part {
                    TextPart::Always(text) => Some(fill(text, facts)),
                    TextPart::When { when, text } => holds(when, facts).then(|| fill(text, facts)),
                })
                .collect(),
        }
    }

    fn facts_into(&self, used: &mut Vec<String>) {
        match self {
            Self::Whole(text) => used.extend(placeholders(text).map(str::to_owned)),
            Self::Parts(parts) => {
                for part in parts {
                    match part {
                        TextPart::Always(text) => used.extend(placeholders(text).map(str::to_owned)),
                        TextPart::When { when, text } => {
                            used.extend(placeholders(text).map(str::to_owned));
                            used.extend(when.iter().map(|condition| bare(condition).to_owned()));
                        }
                    }
                }
            }
        }
    }
}

/// All conditions hold.
pub fn holds(when: &[String], facts: &Facts) -> bool {
    when.iter().all(|condition| facts.contains_key(bare(condition)) != condition.starts_with('!'))
}

/// Arguments with what is known.
pub fn fill_arguments(arguments: &Map<String, Value>, facts: &Facts) -> Map<String, Value> {
    arguments.iter().map(|(name, value)| (name.clone(), fill_value(value, facts))).collect()
}

fn fill_value(value: &Value, facts: &Facts) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text, facts)),
        Value::Array(values) => values.iter().map(|value| fill_value(value, facts)).collect(),
        Value::Object(fields) => Value::Object(fill_arguments(fields, facts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn fill(text: &str, facts: &Facts) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, name, behind)) = next_placeholder(rest) {
        whole.push_str(before);
        whole.push_str(facts.get(name).map_or("", String::as_str));
        rest = behind;
    }
    whole.push_str(rest);
    whole
}

fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, name, behind) = next_placeholder(rest)?;
        rest = behind;
        Some(name)
    })
}

/// The text before a placeholder, its name, the text behind it.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (before, after) = text.split_once("{{")?;
    let (name, behind) = after.split_once("}}")?;
    Some((before, name.trim(), behind))
}

fn bare(condition: &str) -> &str {
    condition.trim_start_matches('!')
}

const fn usual_piece() -> usize {
    24
}

fn pattern<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Regex, D::Error> {
    let text = String::deserialize(deserializer)?;
    Regex::new(&text)
        .map_err(|error| serde::de::Error::custom(format!("`{text}` is no regular expression: {error}")))
}

fn some_pattern<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Regex>, D::Error> {
    pattern(deserializer).map(Some)
}
