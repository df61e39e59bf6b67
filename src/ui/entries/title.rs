//! What a call is about, by tool: its name, what it works on, and how much of that.

use super::jobs;
use super::seg::{self, Seg};
use crate::theme::role::Role;
use crate::ui::look::Look;
use serde_json::{Map, Value};
use std::path::Path;

/// Arguments that tell most about a call of a tool that is not known here, the most telling first.
const TELLING: [&str; 16] = [
    "command",
    "path",
    "file_path",
    "file",
    "url",
    "query",
    "pattern",
    "name",
    "title",
    "task",
    "prompt",
    "message",
    "question",
    "text",
    "id",
    "action",
];

/// The tools whose rows have a form of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A shell command.
    Bash,
    /// A file is read.
    Read,
    /// Parts of a file are replaced.
    Edit,
    /// A file is written.
    Write,
    /// Contents are searched.
    Grep,
    /// Names are searched.
    Find,
    /// A folder is listed.
    Ls,
    /// Any other.
    Other,
}

impl Kind {
    /// The kind of the tool of this name.
    pub fn of(tool: &str) -> Self {
        match tool {
            "bash" => Self::Bash,
            "read" => Self::Read,
            "edit" => Self::Edit,
            "write" => Self::Write,
            "grep" => Self::Grep,
            "find" => Self::Find,
            "ls" => Self::Ls,
            _ => Self::Other,
        }
    }
}

/// A text among the arguments.
pub fn text<'a>(arguments: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    arguments.get(key).and_then(Value::as_str)
}

/// A whole number among the arguments.
fn number(arguments: &Map<String, Value>, key: &str) -> Option<u64> {
    arguments.get(key).and_then(Value::as_u64)
}

/// A command's first line, and how many more there are.
pub fn command(sign: &str, role: Role, command: &str) -> Vec<Seg> {
    let command = command.trim();
    let (first, rest) = command.split_once('\n').unwrap_or((command, ""));
    let mut segs = vec![Seg::bold(role, format!("{sign} ")), Seg::foreign(Role::Text, first)];
    let more = rest.bytes().filter(|byte| *byte == b'\n').count() + usize::from(!rest.is_empty());
    if more > 0 {
        let plural = if more == 1 { "" } else { "s" };
        segs.push(Seg::new(Role::Muted, format!("  +{more} line{plural}")));
    }
    segs
}

/// The title of a call. `shown`: lines that a read gave, once that is known.
pub fn title(tool: &str, arguments: &Map<String, Value>, shown: Option<u64>, look: &Look<'_>) -> Vec<Seg> {
    let path = |key: &str| text(arguments, key).map(|path| look.path(Path::new(path.trim())));
    let place = || path("path").filter(|path| !path.is_empty() && path != ".");
    let name = |name: &str| Seg::bold(Role::ToolTitle, name);
    let target = |text: &str| Seg::foreign(Role::Accent, text);
    match Kind::of(tool) {
        Kind::Bash => match text(arguments, "command").filter(|command| !command.trim().is_empty()) {
            Some(text) => command("$", Role::ToolTitle, text),
            // A sign before nothing would tell nothing.
            None => vec![name("bash")],
        },
        Kind::Read => {
            let path = path("path").unwrap_or_default();
            let file = Path::new(&path).file_name().and_then(|file| file.to_str());
            let folder =
                Path::new(&path).parent().and_then(Path::file_name).and_then(|folder| folder.to_str());
            let mut segs = match (file, folder) {
                (Some("SKILL.md"), Some(folder)) => vec![name("skill "), target(folder)],
                (Some(guide @ ("AGENTS.md" | "CLAUDE.md")), _) => vec![name("read "), target(guide)],
                _ => vec![name("read "), target(&path)],
            };
            segs.extend(range(arguments, shown).map(|range| Seg::new(Role::Warning, range)));
            segs
        }
        Kind::Edit => vec![name("edit "), target(&path("path").unwrap_or_default())],
        Kind::Write => vec![name("write "), target(&path("path").unwrap_or_default())],
        Kind::Grep => {
            let pattern = seg::line(text(arguments, "pattern").unwrap_or_default());
            let flags = if arguments.get("ignoreCase") == Some(&Value::Bool(true)) { "i" } else { "" };
            let mut segs = vec![name("grep "), Seg::new(Role::Accent, format!("/{pattern}/{flags}"))];
            if let Some(place) = place() {
                segs.push(Seg::foreign(Role::Muted, &place));
                within(&mut segs);
            }
            if let Some(glob) = text(arguments, "glob").filter(|glob| !glob.is_empty()) {
                segs.push(Seg::new(Role::Muted, format!(" ({})", seg::line(glob))));
            }
            segs
        }
        Kind::Find => {
            let mut segs = vec![name("find "), target(text(arguments, "pattern").unwrap_or_default())];
            if let Some(place) = place() {
                segs.push(Seg::foreign(Role::Muted, &place));
                within(&mut segs);
            }
            segs
        }
        Kind::Ls => {
            vec![name("ls "), target(&path("path").filter(|path| !path.is_empty()).unwrap_or(".".into()))]
        }
        Kind::Other if tool == jobs::START => {
            let of = |key| text(arguments, key).unwrap_or_default();
            jobs::title(of("title"), of("command"))
        }
        Kind::Other if tool == "shell_job" => {
            let of = |key| text(arguments, key).unwrap_or_default();
            let mut segs = vec![name("job "), Seg::foreign(Role::Muted, of("action"))];
            if !of("job").is_empty() {
                segs.extend([Seg::new(Role::Muted, " "), target(of("job"))]);
            }
            segs
        }
        Kind::Other => other(tool, arguments, look),
    }
}

/// Puts ` in ` before the last part.
fn within(segs: &mut Vec<Seg>) {
    let at = segs.len().saturating_sub(1);
    segs.insert(at, Seg::new(Role::Muted, " in "));
}

/// `:120-180`; open at its end while nobody knows where that is.
fn range(arguments: &Map<String, Value>, shown: Option<u64>) -> Option<String> {
    let (offset, limit) = (number(arguments, "offset"), number(arguments, "limit"));
    if offset.is_none() && limit.is_none() {
        return None;
    }
    let first = offset.unwrap_or(1).max(1);
    let lines = shown.or(limit).filter(|lines| *lines > 0);
    Some(match lines {
        Some(1) => format!(":{first}"),
        Some(lines) => format!(":{first}-{}", first.saturating_add(lines - 1)),
        None => format!(":{first}-"),
    })
}

fn other(tool: &str, arguments: &Map<String, Value>, look: &Look<'_>) -> Vec<Seg> {
    let mut segs = vec![Seg::bold(Role::ToolTitle, name_of(tool))];
    let filled = |key: &&str| text(arguments, key).is_some_and(|text| !text.trim().is_empty());
    let key = TELLING.iter().copied().find(|key| filled(key));
    let key = key.or_else(|| arguments.keys().map(String::as_str).find(|key| filled(key)));
    let told = match key.and_then(|key| Some((key, text(arguments, key)?))) {
        Some(("path" | "file_path" | "file", path)) => Some(look.path(Path::new(path.trim()))),
        Some(("url", url)) => {
            let bare = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or(url);
            Some(bare.to_owned())
        }
        Some((_, text)) => Some(text.trim().to_owned()),
        None => {
            arguments.values().find(|value| value.is_number() || value.is_boolean()).map(Value::to_string)
        }
    };
    if let Some(told) = told {
        segs.push(Seg::new(Role::Accent, " "));
        segs.push(Seg::foreign(Role::Accent, &told));
    }
    // A search that is kept to one place.
    let site =
        ["site", "domain"].iter().find_map(|key| text(arguments, key)).filter(|_| key == Some("query"));
    if let Some(site) = site.filter(|site| !site.trim().is_empty()) {
        segs.push(Seg::new(Role::Muted, format!(" site:{}", seg::line(site))));
    }
    segs
}

/// A tool's name as people read it; of a tool of another server `server · tool`.
pub fn name_of(tool: &str) -> String {
    let bare = tool.strip_prefix("mcp__").unwrap_or(tool);
    let name = match bare.split_once("__") {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
            seg::line(&format!("{server} · {tool}"))
        }
        _ => seg::line(tool),
    };
    if name.is_empty() { "call".to_owned() } else { name }
}
