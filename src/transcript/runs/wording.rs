//! What was done, in words. They tell what was begun, in the past tense, so that they never change when a run ends.

use super::facts::{Facts, failed_step};
use crate::text::{clean, width};
use crate::transcript::item::Call;
use serde_json::Value;

/// Columns of the name of a call that failed.
const NAME: usize = 32;

/// Tools that wait until another agent has answered.
const OF_AGENTS: [&str; 4] = ["subagent", "message", "agent_request", "agent_send"];

/// A tool with a longer name is counted and not named.
const NAMED: usize = 20;

/// Bytes of a foreign text that are looked at: what is beyond is cut anyway.
const MOST: usize = 512;

/// Tools that are told alike.
struct Verb {
    tools: &'static [&'static str],
    before: &'static str,
    one: &'static str,
    many: &'static str,
    /// The same in a word.
    short: &'static str,
    /// The path is told when it is always the same one.
    named: bool,
}

const fn verb(
    tools: &'static [&'static str],
    before: &'static str,
    one: &'static str,
    many: &'static str,
    short: &'static str,
) -> Verb {
    Verb { tools, before, one, many, short, named: false }
}

const VERBS: &[Verb] = &[
    verb(&["read"], "read", " file", " files", "read"),
    Verb { named: true, ..verb(&["edit"], "edited", " file", " files", "edited") },
    Verb { named: true, ..verb(&["write"], "wrote", " file", " files", "written") },
    verb(&["bash"], "ran", " command", " commands", "run"),
    verb(&["grep", "find"], "searched for", " pattern", " patterns", "searched"),
    verb(&["ls"], "listed", " folder", " folders", "listed"),
    verb(&["shell_job_start"], "started", " background job", " background jobs", "started"),
    verb(&["shell_job"], "checked", " background job", " background jobs", "checked"),
    verb(&["subagent"], "started", " subagent", " subagents", "subagents"),
    verb(&["message"], "messaged", " subagent", " subagents", "messaged"),
    verb(&["agent_send"], "sent", " message", " messages", "sent"),
    verb(&["web_search"], "searched the web", " time", " times", "web"),
    verb(&["fetch_content"], "fetched", " page", " pages", "fetched"),
    verb(&["codemode"], "ran", " script", " scripts", "scripts"),
    verb(&["artifact_publish"], "published", " page", " pages", "published"),
    verb(&["artifact_ask"], "asked", " form", " forms", "asked"),
    verb(&["artifact_check"], "checked", " page", " pages", "checked"),
    verb(&["artifact_find"], "searched artifacts", " time", " times", "artifacts"),
    verb(&["artifact_feedback"], "read the inbox", " time", " times", "inbox"),
];

/// Calls of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    /// Index into [`VERBS`]; none of tools without words of their own.
    verb: Option<usize>,
    count: u64,
    /// The tool, or the path, as long as it is always the same one.
    name: Option<String>,
}

/// What failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// This one.
    One(String),
    /// So many.
    Several(u64),
}

impl Failure {
    /// In words.
    pub fn words(&self) -> String {
        match self {
            Self::One(name) => format!("{name} failed"),
            Self::Several(count) => format!("{count} failed"),
        }
    }

    /// In the fewest words.
    pub fn short(&self) -> String {
        match self {
            Self::One(_) => "1 failed".to_owned(),
            Self::Several(count) => format!("{count} failed"),
        }
    }
}

/// The name of a tool without the server that it comes from.
fn plain_name(tool: &str) -> &str {
    let server = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    server.map_or(tool, |(_, name)| name)
}

fn line(text: &str) -> String {
    let text = text.trim().lines().next().unwrap_or_default();
    width::drawn(&clean::for_line(text.get(..text.floor_char_boundary(MOST)).unwrap_or_default()))
        .into_owned()
}

fn argument<'a>(call: &'a Call, key: &str) -> Option<&'a str> {
    call.arguments.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

fn file(call: &Call) -> Option<&str> {
    let path = argument(call, "path").or_else(|| argument(call, "file_path"))?.trim_end_matches('/');
    Some(path.rsplit('/').next().unwrap_or(path))
}

/// The tool's work is done by another agent.
pub fn waits_for_agent(tool: &str) -> bool {
    is_one_of(tool, &OF_AGENTS)
}

/// The tool has one of these names, also behind that of a server: `web.search`, `mcp__web__fetch`.
pub fn is_one_of(tool: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        let before = tool.strip_suffix(name);
        before.is_some_and(|before| before.is_empty() || before.ends_with('.') || before.ends_with("__"))
    })
}

/// Adds a call to what is counted. One whose name is not written yet is told with the others.
pub(super) fn count(kinds: &mut Vec<Counted>, call: &Call, count: u64) {
    let tool = plain_name(&call.tool);
    let verb = VERBS.iter().position(|verb| verb.tools.contains(&tool));
    let is_named = verb.and_then(|verb| VERBS.get(verb)).is_none_or(|verb| verb.named);
    let name = match verb {
        // By the whole path: two files may have the same name.
        Some(_) if is_named => {
            argument(call, "path").or_else(|| argument(call, "file_path")).map(str::to_owned)
        }
        Some(_) => None,
        None => Some(tool.to_owned()),
    };
    match kinds.iter_mut().find(|kind| kind.verb == verb) {
        Some(kind) => {
            kind.count += count;
            if kind.name != name {
                kind.name = None;
            }
        }
        None => kinds.push(Counted { verb, count, name }),
    }
}

/// A call that failed, by name: the command or its step, else the tool and the file.
pub(super) fn failed(call: &Call) -> String {
    let tool = plain_name(&call.tool);
    let name = match (failed_step(call).or_else(|| argument(call, "command")), file(call)) {
        (Some(command), _) => line(command),
        (None, Some(file)) => format!("{tool} {}", line(file)),
        (None, None) => line(tool),
    };
    width::cut(&name, NAME).into_owned()
}

impl Counted {
    fn words(&self, is_alone: bool) -> String {
        let Some(verb) = self.verb.and_then(|verb| VERBS.get(verb)) else {
            let name = self.name.as_deref().map(line);
            return match (name.filter(|name| !name.is_empty() && width::of(name) <= NAMED), self.count) {
                (Some(name), 1) => format!("called {name}"),
                (Some(name), count) => format!("called {name} {count} times"),
                (None, count) => {
                    let plural = if count == 1 { "" } else { "s" };
                    let other = if is_alone { "" } else { "other " };
                    format!("used {count} {other}tool{plural}")
                }
            };
        };
        let path = self.name.as_deref().filter(|_| verb.named);
        if let Some(path) = path {
            let file = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
            return format!("{} {}", verb.before, line(file));
        }
        let noun = if self.count == 1 { verb.one } else { verb.many };
        format!("{} {}{noun}", verb.before, self.count)
    }

    fn short(&self) -> String {
        let short = self.verb.and_then(|verb| VERBS.get(verb)).map_or("other", |verb| verb.short);
        format!("{} {short}", self.count)
    }
}

impl Facts {
    /// What was done, kind by kind; without calls, for how long was thought is told by [`super::Facts::thought`].
    pub fn words(&self) -> String {
        let is_alone = self.kinds.len() == 1;
        let words: Vec<String> = self.kinds.iter().map(|kind| kind.words(is_alone)).collect();
        capital(&words.join(", "))
    }

    /// The same for narrow windows.
    pub fn short(&self) -> String {
        let words: Vec<String> = self.kinds.iter().map(Counted::short).collect();
        words.join(", ")
    }

    /// How much was done.
    pub fn total(&self) -> String {
        let plural = if self.calls == 1 { "" } else { "s" };
        format!("Used {} tool{plural}", self.calls)
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}
