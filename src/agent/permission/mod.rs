//! Whether a call may run: rules and the mode decide, over what the call touches.
//!
//! Pure: paths are resolved by a function that the caller passes in. What holds:
//! - Deny beats ask beats allow, whatever the order of the rules. The strictest verdict over all subjects counts.
//! - A shell command is allowed only if every command in it is; it is denied or asked about if any is. What it runs
//!   through `env`, `xargs`, `sh -c` and the like counts, too. A command that can't be taken apart asks; rules that deny
//!   are then tried on every word of its text.
//! - Paths are judged as written and as resolved through symbolic links: both must be allowed, one is enough to deny.
//! - Files that hold keys, and files that decide what runs without asking (`.git`, `.mynah`, our settings), ask whatever
//!   is allowed, unless a rule spells out the path or the whole command.
//! - In yolo mode nothing asks, but every deny rule holds. Deny rules for shell commands catch what is written in the
//!   command, not what a program computes: they are a fence, a sandbox is a wall.
//! - A deny rule with a mistake denies every call of its tool until it is corrected; if not even the tool can be read,
//!   every call. An ask rule with a mistake asks in the same way. An allow rule with a mistake allows nothing.

mod paths;
mod rule;
mod shell;
mod suggest;

pub use paths::{PathContext, is_key_file, resolve_on_disk};
pub use rule::{RuleError, RuleList, RuleProblem};
pub use suggest::{refusal, refusal_notice};

use crate::proto::ask::{PermissionMode, Subject};
use paths::{Access, Located, Places};
use rule::{Pattern, Rule};

/// The rules in force.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    allow: Vec<Rule>,
    ask: Vec<Rule>,
    deny: Vec<Rule>,
}

/// What is to happen with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// The user is asked.
    Ask {
        /// Why, in a sentence.
        reason: String,
        /// Rules that would allow it from now on, narrowest first; none if a rule wants it to be asked.
        suggestions: Vec<String>,
    },
    /// It does not run.
    Deny {
        /// Why, in a sentence.
        reason: String,
    },
}

impl Rules {
    /// Reads rules as the settings and flags write them. Mistakes are reported and act as the module says.
    pub fn parse(allow: &[String], ask: &[String], deny: &[String]) -> (Self, Vec<RuleError>) {
        let mut errors = Vec::new();
        let mut read = |list, texts: &[String]| -> Vec<Rule> {
            let mut rules = Vec::new();
            for text in texts {
                match Rule::parse(list, text) {
                    Ok(rule) => rules.push(rule),
                    Err(error) => {
                        rules.extend(Rule::in_place_of(&error));
                        errors.push(error);
                    }
                }
            }
            rules
        };
        let rules = Self {
            allow: read(RuleList::Allow, allow),
            ask: read(RuleList::Ask, ask),
            deny: read(RuleList::Deny, deny),
        };
        (rules, errors)
    }

    /// Allows what the rule covers from now on.
    ///
    /// # Errors
    /// The rule has a mistake; nothing changes.
    pub fn add_session_allow(&mut self, rule: &str) -> Result<(), RuleError> {
        self.allow.push(Rule::parse(RuleList::Allow, rule)?);
        Ok(())
    }
}

/// Judges one call. `subjects` are what the tool says it touches; none means that it touches nothing outside the
/// conversation, so that only rules that name the tool speak.
pub fn judge(
    rules: &Rules,
    mode: PermissionMode,
    tool: &str,
    subjects: &[Subject],
    paths: &PathContext<'_>,
) -> Verdict {
    let judge = Judge { rules, mode, tool, places: Places::of(paths) };
    if subjects.is_empty() {
        return judge.by_name(Verdict::Allow);
    }
    subjects.iter().fold(Verdict::Allow, |verdict, subject| {
        verdict.and(match subject {
            Subject::Read(path) => judge.path(Access::Read, &judge.places.locate(path)),
            Subject::Write(path) => judge.path(Access::Write, &judge.places.locate(path)),
            Subject::Shell { command, cwd } => judge.shell(command, cwd),
            Subject::Other => judge.by_name(Verdict::Ask {
                reason: format!("Calls of `{tool}` ask in {mode} mode."),
                suggestions: vec![tool.to_owned()],
            }),
        })
    })
}

impl Verdict {
    /// The stricter of two verdicts; of two questions one with both reasons.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (deny @ Self::Deny { .. }, _) | (_, deny @ Self::Deny { .. }) => deny,
            (Self::Allow, other) => other,
            (ask @ Self::Ask { .. }, Self::Allow) => ask,
            (
                Self::Ask { mut reason, mut suggestions },
                Self::Ask { reason: other_reason, suggestions: others },
            ) => {
                let known = suggestions.clone();
                if !reason.contains(&other_reason) {
                    reason = format!("{reason} {other_reason}");
                }
                suggestions.extend(others.into_iter().filter(|rule| !known.contains(rule)));
                Self::Ask { reason, suggestions }
            }
        }
    }

    fn is_allow(&self) -> bool {
        matches!(self, Self::Allow)
    }
}

struct Judge<'a> {
    rules: &'a Rules,
    mode: PermissionMode,
    tool: &'a str,
    places: Places<'a>,
}

impl Judge<'_> {
    fn is_yolo(&self) -> bool {
        self.mode == PermissionMode::Yolo
    }

    /// For what is judged by the tool's name alone.
    fn by_name(&self, otherwise: Verdict) -> Verdict {
        let named = |rules: &[Rule]| rules.iter().find(|rule| rule.is_for(self.tool)).cloned();
        if let Some(rule) = named(&self.rules.deny) {
            return denied(&rule, self.tool);
        }
        if self.is_yolo() {
            return Verdict::Allow;
        }
        if let Some(rule) = named(&self.rules.ask) {
            return asked(&rule, self.tool);
        }
        if named(&self.rules.allow).is_some() { Verdict::Allow } else { otherwise }
    }

    fn path(&self, access: Access, located: &Located) -> Verdict {
        let shown = self.places.shown(&located.lexical);
        if let Some(rule) = self.path_rule(&self.rules.deny, access, located) {
            return denied(rule, &shown);
        }
        if self.is_yolo() {
            return Verdict::Allow;
        }
        if let Some(rule) = self.path_rule(&self.rules.ask, access, located) {
            return asked(rule, &shown);
        }
        if let Some(verdict) = self.protected(access, located) {
            return verdict;
        }
        let inside = self.mode == PermissionMode::Edits && self.places.is_in_project(located);
        if access == Access::Read || inside || self.is_path_allowed(access, located) {
            return Verdict::Allow;
        }
        let reason = match self.mode {
            PermissionMode::Edits => format!("`{shown}` is outside the project."),
            PermissionMode::Ask | PermissionMode::Yolo => {
                format!("Changing files asks in {} mode.", self.mode)
            }
        };
        Verdict::Ask { reason, suggestions: suggest::for_path(access, located, &self.places) }
    }

    /// The verdict on files that hold keys or decide what runs without asking. A rule that allows them must spell the
    /// path out: `edit(**)` is not meant for them.
    fn protected(&self, access: Access, located: &Located) -> Option<Verdict> {
        let shown = self.places.shown(&located.lexical);
        let searches_home =
            access == Access::Read && self.tool == "grep" && self.places.is_above_home(located);
        let reason = if self.places.is_key(located) {
            format!("`{shown}` may hold keys.")
        } else if searches_home {
            format!("Searching `{shown}` would read files that may hold keys.")
        } else if access == Access::Write && self.places.is_guarded(located) {
            format!("`{shown}` can decide what runs without asking.")
        } else {
            return None;
        };
        let spelled_out = self.rules.allow.iter().any(|rule| {
            rule.concerns(self.tool, access)
                && matches!(&rule.pattern, Pattern::Path(pattern) if pattern.is_exact() && located.all(|path| pattern.allows(path, &self.places)))
        });
        if spelled_out {
            return Some(Verdict::Allow);
        }
        let suggestions = suggest::for_exact_path(access, located, &self.places).into_iter().collect();
        Some(Verdict::Ask { reason, suggestions: if searches_home { Vec::new() } else { suggestions } })
    }

    fn path_rule<'r>(&self, rules: &'r [Rule], access: Access, located: &Located) -> Option<&'r Rule> {
        rules.iter().find(|rule| {
            rule.concerns(self.tool, access)
                && match &rule.pattern {
                    Pattern::Any => true,
                    Pattern::Path(pattern) => located.any(|path| pattern.catches(path, &self.places)),
                    Pattern::Command(_) => false,
                }
        })
    }

    fn is_path_allowed(&self, access: Access, located: &Located) -> bool {
        self.rules.allow.iter().any(|rule| {
            rule.concerns(self.tool, access)
                && match &rule.pattern {
                    Pattern::Any => true,
                    Pattern::Path(pattern) => located.all(|path| pattern.allows(path, &self.places)),
                    Pattern::Command(_) => false,
                }
        })
    }
}

fn denied(rule: &Rule, what: &str) -> Verdict {
    let reason = match rule.mistake() {
        Some(mistake) => mistake.to_string(),
        None => format!("The rule `{}` denies `{what}`.", rule.text),
    };
    Verdict::Deny { reason }
}

fn asked(rule: &Rule, what: &str) -> Verdict {
    let reason = match rule.mistake() {
        Some(mistake) => mistake.to_string(),
        None => format!("The rule `{}` asks about `{what}`.", rule.text),
    };
    Verdict::Ask { reason, suggestions: Vec::new() }
}

#[cfg(test)]
mod tests;
