//! One rule: `tool` or `tool(pattern)`.

use super::paths::{Access, PathPattern};
use crate::jobs::segments::{self, Word, base_name};
use std::fmt;

/// One rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// As the user wrote it.
    pub(super) text: String,
    tool: RuleTool,
    pub(super) pattern: Pattern,
    mistake: Option<RuleError>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum RuleTool {
    Named(String),
    /// The rule's tool can't be read.
    Every,
}

/// What a rule covers of its tool.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    /// Everything.
    Any,
    /// Shell commands.
    Command(CommandPattern),
    /// Files.
    Path(PathPattern),
}

/// Which list a rule stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleList {
    /// Runs without asking.
    Allow,
    /// Asks.
    Ask,
    /// Never runs.
    Deny,
}

impl fmt::Display for RuleList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// A rule with a mistake, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The {list} rule `{rule}` is not understood: {problem}. {}", consequence(*.list, .tool.as_deref()))]
pub struct RuleError {
    /// Where it stands.
    pub list: RuleList,
    /// As it was written.
    pub rule: String,
    /// The tool it is for, if that can be read.
    pub tool: Option<String>,
    /// What is wrong.
    pub problem: RuleProblem,
}

fn consequence(list: RuleList, tool: Option<&str>) -> String {
    let calls = tool.map_or_else(|| "every call".to_owned(), |tool| format!("every `{tool}` call"));
    match list {
        RuleList::Allow => "It allows nothing; correct or remove it.".to_owned(),
        RuleList::Ask => format!("Until it is corrected or removed, {calls} asks."),
        RuleList::Deny => format!("Until it is corrected or removed, {calls} is denied."),
    }
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    /// No `tool` or `tool(pattern)`.
    #[error("a rule is `tool` or `tool(pattern)`, the tool's name in lower case")]
    Form,
    /// `tool()`.
    #[error("the pattern is empty")]
    Empty,
    /// A pattern for a tool that has none.
    #[error("only bash, edit, write, read, grep, find and ls take a pattern")]
    NoPattern,
    /// A command pattern with a `*` in it.
    #[error("in a command `*` may stand only at the end, as `git status:*`")]
    Star,
    /// A command pattern that is no single, plain command.
    #[error("it must be one plain command")]
    Command,
    /// A path pattern that is no glob.
    #[error("it is no path pattern ({0})")]
    Glob(String),
}

/// Which shell commands a rule covers.
#[derive(Clone, Debug)]
pub(super) struct CommandPattern {
    /// The whole text.
    text: String,
    /// Name and arguments; empty for a text of several commands.
    words: Vec<String>,
    /// More arguments may follow.
    is_prefix: bool,
}

impl Rule {
    pub(super) fn parse(list: RuleList, text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        let (tool, pattern) = match text.split_once('(') {
            Some((tool, rest)) => (tool.trim(), rest.strip_suffix(')').map(str::trim)),
            None => (text, Some("")),
        };
        let is_name = |tool: &str| {
            !tool.is_empty()
                && tool.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-')
        };
        let error = |problem| {
            let tool = Some(tool.to_ascii_lowercase()).filter(|tool| is_name(tool));
            RuleError { list, rule: text.to_owned(), tool, problem }
        };
        let pattern = match pattern {
            Some(pattern) if is_name(tool) => pattern,
            Some(_) | None => return Err(error(RuleProblem::Form)),
        };
        let pattern = match tool {
            _ if !text.contains('(') => Pattern::Any,
            _ if pattern.is_empty() => return Err(error(RuleProblem::Empty)),
            "bash" if pattern == "*" => Pattern::Any,
            "bash" => Pattern::Command(CommandPattern::parse(list, pattern).map_err(error)?),
            "edit" | "write" | "read" | "grep" | "find" | "ls" => {
                Pattern::Path(PathPattern::parse(list, pattern).map_err(error)?)
            }
            _ => return Err(error(RuleProblem::NoPattern)),
        };
        Ok(Self { text: text.to_owned(), tool: RuleTool::Named(tool.to_owned()), pattern, mistake: None })
    }

    /// What stands for a rule with a mistake: it covers all that it could have meant, unless it would allow.
    pub(super) fn in_place_of(error: &RuleError) -> Option<Self> {
        let tool = error.tool.clone().map_or(RuleTool::Every, RuleTool::Named);
        (error.list != RuleList::Allow).then(|| Self {
            text: error.rule.clone(),
            tool,
            pattern: Pattern::Any,
            mistake: Some(error.clone()),
        })
    }

    pub(super) const fn mistake(&self) -> Option<&RuleError> {
        self.mistake.as_ref()
    }

    /// It covers all calls of a tool.
    pub(super) fn is_for(&self, tool: &str) -> bool {
        matches!(self.pattern, Pattern::Any) && self.names(tool)
    }

    pub(super) fn names(&self, tool: &str) -> bool {
        match &self.tool {
            RuleTool::Named(name) => name == tool,
            RuleTool::Every => true,
        }
    }

    /// It speaks of files that a tool accesses so: `edit` covers all that change files, `read` all that read them.
    pub(super) fn concerns(&self, tool: &str, access: Access) -> bool {
        self.names(access.rule_name()) || self.names(tool)
    }
}

impl CommandPattern {
    fn parse(list: RuleList, pattern: &str) -> Result<Self, RuleProblem> {
        let (text, is_prefix) = match pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *")) {
            Some(prefix) => (prefix.trim_end(), true),
            None => (pattern, false),
        };
        if text.is_empty() {
            return Err(RuleProblem::Empty);
        }
        let parsed = segments::parse(text);
        let first = parsed.segments.first();
        let words: Option<Vec<&Word>> = first
            .filter(|segment| {
                segment.range == (0..text.len()) && segment.assignments.iter().all(|a| a.value.literal)
            })
            .map(|segment| segment.words.iter().collect());
        let words: Option<Vec<String>> = match (words, first) {
            (Some(words), Some(segment)) if words.iter().all(|word| word.literal) && !words.is_empty() => {
                Some(
                    (segment.assignments.iter().map(|a| format!("{}={}", a.name, a.value.text)))
                        .chain(words.into_iter().map(|word| word.text.clone()))
                        .collect(),
                )
            }
            _ => None,
        };
        match words {
            Some(words) => Ok(Self { text: text.to_owned(), words, is_prefix }),
            None if text.contains('*') => Err(RuleProblem::Star),
            // The exact text of several commands can be allowed; to deny or ask, rules look at single commands.
            None if list == RuleList::Allow && !is_prefix => {
                Ok(Self { text: text.to_owned(), words: Vec::new(), is_prefix })
            }
            None => Err(RuleProblem::Command),
        }
    }

    /// The command text is exactly this one.
    pub(super) fn is_text(&self, command: &str) -> bool {
        !self.is_prefix && self.text == command.trim()
    }

    /// It allows this command: word by word, with nothing unknown in what the rule names.
    pub(super) fn allows(&self, words: &[Word]) -> bool {
        let fits = self.words.iter().zip(words).all(|(pattern, word)| word.known() == Some(pattern));
        let length =
            if self.is_prefix { words.len() >= self.words.len() } else { words.len() == self.words.len() };
        !self.words.is_empty() && length && fits
    }

    /// It allows this command and no other.
    pub(super) fn is_exactly(&self, words: &[Word]) -> bool {
        !self.is_prefix && self.allows(words)
    }

    /// It denies or asks about this command: a program by any path, options before the words that it names, and words
    /// that are known only when the command runs count as a match.
    pub(super) fn catches(&self, words: &[Word]) -> bool {
        let Some(((name, pattern), (first, arguments))) = self.words.split_first().zip(words.split_first())
        else {
            return false;
        };
        let same_name = if first.literal {
            base_name(&first.text).eq_ignore_ascii_case(base_name(name))
        } else {
            // Of a name that is all unknown the words of the text tell: see `is_within`.
            first.text != "*" && could_be(base_name(&first.text), base_name(name))
        };
        same_name && self.catches_arguments(pattern, arguments)
    }

    fn catches_arguments(&self, pattern: &[String], arguments: &[Word]) -> bool {
        let Some((wanted, further)) = pattern.split_first() else {
            return self.is_prefix || arguments.is_empty();
        };
        let Some((word, rest)) = arguments.split_first() else { return false };
        let is_it = if word.literal { word.text == *wanted } else { could_be(&word.text, wanted) };
        if is_it && self.catches_arguments(further, rest) {
            return true;
        }
        // `git -C folder push`: an option, perhaps with a value.
        let skips = self.is_prefix && word.text.starts_with('-');
        skips
            && (self.catches_arguments(pattern, rest)
                || rest.get(1..).is_some_and(|rest| self.catches_arguments(pattern, rest)))
    }

    /// Its words stand somewhere in a text that can't be taken apart.
    pub(super) fn is_within(&self, words: &[String]) -> bool {
        !self.words.is_empty()
            && words.windows(self.words.len()).any(|window| {
                window.iter().zip(&self.words).enumerate().all(|(place, (word, pattern))| match place {
                    0 => base_name(word).eq_ignore_ascii_case(base_name(pattern)),
                    _ => word == pattern,
                })
            })
    }
}

/// A word in which `*` stands for anything unknown may turn out as this text.
pub(super) fn could_be(pattern: &str, text: &str) -> bool {
    // Brackets and question marks are taken for anything, too.
    let mut parts = pattern.split(['*', '?', '[', '`', '$']);
    let Some(mut rest) = parts.next().and_then(|start| text.strip_prefix(start)) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            match rest.find(before).and_then(|at| rest.get(at + before.len()..)) {
                Some(behind) => rest = behind,
                None => return false,
            }
        }
    }
    last.map_or(rest.is_empty(), |end| end.contains(']') || rest.ends_with(end))
}
