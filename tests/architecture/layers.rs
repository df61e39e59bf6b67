//! Who may import whom, as a table, and the check of it.
//!
//! Layers point downwards: a change above never breaks what is below, and what is below can be tested alone. A new folder
//! brings its row.

use super::source;
use std::collections::BTreeSet;
use std::fmt;

/// What one folder of `src` may use. `std`, `serde`, `serde_json`, `thiserror` and `tracing` are free everywhere.
struct Row {
    folder: &'static str,
    /// Folders of ours.
    ours: &'static [&'static str],
    /// Crates of others: the only ones, or all.
    others: Others,
    /// Paths of others that are never used, whole crates or parts of them.
    never: &'static [&'static str],
    /// Parts of the paths above that are allowed all the same.
    but: &'static [&'static str],
}

enum Others {
    Any,
    Only(&'static [&'static str]),
}

const FREE: [&str; 5] = ["serde", "serde_json", "thiserror", "tracing", "mynah"];

/// Files right under `src` that may use everything: they put the program together.
const ROOT_FILES: [&str; 3] = ["lib.rs", "main.rs", "cli.rs"];

const SCREEN: &[&str] = &["ratatui", "crossterm"];

/// The table, from the bottom up.
const ROWS: &[Row] = &[
    Row {
        folder: "proto",
        ours: &[],
        // Both make ids.
        others: Others::Only(&["uuid", "fastrand"]),
        never: &["std::fs", "std::process", "std::net", "std::thread", "std::env"],
        but: &[],
    },
    Row {
        folder: "config",
        ours: &["proto"],
        others: Others::Any,
        never: &["tokio", "tokio_util", "ratatui", "crossterm", "reqwest"],
        but: &[],
    },
    Row {
        folder: "theme",
        ours: &["proto", "config"],
        others: Others::Any,
        never: NO_SCREEN_BUT_STYLES,
        but: &[],
    },
    Row {
        folder: "text",
        ours: &["proto", "config", "theme"],
        others: Others::Any,
        never: NO_SCREEN_BUT_STYLES,
        but: &[],
    },
    // These share a layer and do not know each other: only commands run inside a sandbox.
    Row { folder: "llm", ours: &["proto", "config"], others: Others::Any, never: SCREEN, but: &[] },
    Row { folder: "store", ours: &["proto", "config"], others: Others::Any, never: SCREEN, but: &[] },
    Row { folder: "usage", ours: &["proto", "config"], others: Others::Any, never: SCREEN, but: &[] },
    Row { folder: "sandbox", ours: &["proto", "config"], others: Others::Any, never: SCREEN, but: &[] },
    Row {
        folder: "jobs",
        ours: &["proto", "config", "sandbox"],
        others: Others::Any,
        never: SCREEN,
        but: &[],
    },
    Row {
        folder: "dictation",
        ours: &["proto", "config", "llm"],
        others: Others::Any,
        never: SCREEN,
        but: &[],
    },
    Row {
        folder: "vault",
        ours: &["proto", "config", "store", "jobs"],
        others: Others::Any,
        never: SCREEN,
        but: &[],
    },
    Row {
        folder: "web",
        ours: &["proto", "config", "store", "jobs"],
        others: Others::Any,
        never: SCREEN,
        but: &[],
    },
    Row {
        folder: "mcp",
        ours: &["proto", "config", "store", "jobs"],
        others: Others::Any,
        never: SCREEN,
        but: &[],
    },
    Row {
        folder: "tools",
        ours: &["proto", "config", "llm", "store", "usage", "sandbox", "jobs", "vault", "web", "mcp"],
        others: Others::Any,
        never: SCREEN,
        but: &[],
    },
    Row {
        folder: "agent",
        ours: &[
            "proto", "config", "llm", "store", "usage", "sandbox", "jobs", "vault", "web", "mcp", "tools",
        ],
        others: Others::Any,
        never: SCREEN,
        but: &[],
    },
    Row {
        folder: "team",
        ours: &[
            "proto", "config", "llm", "store", "usage", "sandbox", "jobs", "vault", "web", "mcp", "tools",
            "agent",
        ],
        others: Others::Any,
        never: SCREEN,
        but: &[],
    },
    Row {
        folder: "term",
        ours: &["proto", "config", "theme"],
        others: Others::Any,
        // It has threads of its own: a task could be starved by a busy runtime while somebody types.
        never: &["tokio::spawn", "tokio::task", "tokio_util::task"],
        but: &[],
    },
    Row {
        folder: "transcript",
        ours: &["proto", "config", "text", "theme", "usage"],
        others: Others::Any,
        never: PURE_SCREEN,
        but: CROSSTERM_EVENTS,
    },
    Row {
        folder: "ui",
        ours: &["proto", "config", "text", "theme", "usage", "transcript"],
        others: Others::Any,
        never: PURE_SCREEN,
        but: CROSSTERM_EVENTS,
    },
];

/// Folders that may use everything.
const TOP: [&str; 2] = ["app", "testkit"];

/// Text and style types are plain data, the rest of ratatui draws.
const NO_SCREEN_BUT_STYLES: &[&str] = &[
    "tokio",
    "tokio_util",
    "crossterm",
    "reqwest",
    "ratatui::crossterm",
    "ratatui::backend",
    "ratatui::widgets",
    "ratatui::Frame",
    "ratatui::Terminal",
];

/// Drawing is a function of the state: it touches nothing.
const PURE_SCREEN: &[&str] = &[
    "tokio",
    "tokio_util",
    "reqwest",
    "rusqlite",
    "std::process",
    "std::fs",
    "arboard",
    "cpal",
    "candle_core",
    "candle_nn",
    "candle_transformers",
    "crossterm",
    "ratatui::crossterm",
];

const CROSSTERM_EVENTS: &[&str] = &["crossterm::event", "ratatui::crossterm::event"];

/// Rights that hold for a part of a folder, or of its target.
struct Narrow {
    folder: &'static str,
    target: &'static str,
    allows: fn(file: &str, path: &[String]) -> bool,
    rule: &'static str,
}

const NARROW: &[Narrow] = &[
    Narrow {
        folder: "dictation",
        target: "llm",
        allows: |file, path| {
            file == "dictation/refine.rs"
                || file.starts_with("dictation/refine/")
                || (file.starts_with("dictation/models/fetch/")
                    && path.get(2).is_some_and(|part| part == "http_client"))
        },
        rule: "only `dictation/refine` may use `llm`, and what fetches models its HTTP client: dictation works without \
               any language model",
    },
    Narrow {
        folder: "team",
        target: "agent",
        allows: |_, path| path.get(2).is_some_and(|item| item == "handle" || item == "AgentHandle"),
        rule: "`team` knows an agent only by its `AgentHandle`: one door each way",
    },
];

/// Something that breaks a rule.
#[derive(Debug)]
pub struct Finding {
    /// File and line, or the file alone.
    pub place: String,
    pub what: String,
    pub why: String,
    pub help: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, what, why, help } = self;
        write!(f, "{place}: {what}\n  why:  {why}\n  help: {help}")
    }
}

/// The names under which the dependencies of a manifest are written in code.
pub fn dependencies(manifest: &str) -> BTreeSet<String> {
    let manifest: toml_edit::DocumentMut = manifest.parse().unwrap();
    let table = manifest["dependencies"].as_table_like().unwrap();
    table.iter().map(|(name, _)| name.replace('-', "_")).collect()
}

/// Checks all sources: (path below `src`, text).
pub fn check(sources: &[(String, String)], dependencies: &BTreeSet<String>) -> Vec<Finding> {
    let read: Vec<_> = sources.iter().map(|(file, text)| (file.as_str(), source::read(file, text))).collect();
    let test_modules: BTreeSet<&str> =
        read.iter().flat_map(|(_, source)| &source.test_modules).map(String::as_str).collect();
    let mut findings = Vec::new();
    let mut without_row = BTreeSet::new();
    for (file, source) in &read {
        let of_tests = is_of_tests(file, &test_modules);
        let folder = file.split_once('/').map_or("", |(folder, _)| folder);
        let row = ROWS.iter().find(|row| row.folder == folder);
        let is_known = row.is_some() || TOP.contains(&folder) || ROOT_FILES.contains(file);
        if !is_known && without_row.insert(if folder.is_empty() { *file } else { folder }) {
            findings.push(no_row(file, folder));
        }
        for named in &source.named {
            let import = Import {
                file,
                place: format!("src/{file}:{}", named.line),
                path: &named.path,
                in_test: named.in_test || of_tests,
            };
            let is_testkit = import.path.starts_with(&["crate".to_owned(), "testkit".to_owned()]);
            if is_testkit && !import.in_test && folder != "testkit" {
                findings.push(testkit_outside_tests(import));
            } else if let Some(row) = row {
                findings.extend(check_import(row, import, dependencies));
            }
        }
    }
    findings
}

pub fn is_of_tests(file: &str, test_modules: &BTreeSet<&str>) -> bool {
    let stem = file.trim_end_matches(".rs");
    test_modules
        .iter()
        .any(|module| stem.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// A path that a file names.
struct Import<'a> {
    file: &'a str,
    place: String,
    path: &'a [String],
    in_test: bool,
}

fn check_import(row: &Row, import: Import<'_>, dependencies: &BTreeSet<String>) -> Option<Finding> {
    let first = import.path.first()?.as_str();
    if first == "crate" {
        return check_ours(row, import);
    }
    // Tests may use any crate: what they prove holds for the code around them.
    if import.in_test {
        return None;
    }
    let text = import.path.join("::");
    let forbidden = row.never.iter().find(|never| is_within(&text, never));
    let allowed = row.but.iter().any(|but| is_within(&text, but));
    let unlisted = match row.others {
        Others::Any => false,
        Others::Only(only) => {
            dependencies.contains(first) && !FREE.contains(&first) && !only.contains(&first)
        }
    };
    if (forbidden.is_none() || allowed) && !unlisted {
        return None;
    }
    let folder = row.folder;
    let what = format!("uses `{text}`, which `{folder}` never may");
    let why = match forbidden {
        Some(never) => {
            format!("the row of `{folder}` rules out `{never}`: it must work and be tested without it")
        }
        None => {
            format!("`{folder}` is plain data that every layer shares: a crate used there is used everywhere")
        }
    };
    let help = "Do this work in a layer that may, and hand over plain data. If the rule itself is wrong, change \
                the row in tests/architecture/layers.rs and say why in the commit.";
    Some(Finding { place: import.place, what, why, help: help.to_owned() })
}

fn check_ours(row: &Row, import: Import<'_>) -> Option<Finding> {
    let Import { file, place, path, in_test } = import;
    let target = path.get(1).map_or("", String::as_str);
    let is_folder =
        |name: &str| ROWS.iter().any(|row| row.folder == name) || TOP.contains(&name) || name == "cli";
    let text = path.join("::");
    let folder = row.folder;
    let narrow = NARROW.iter().find(|narrow| narrow.folder == folder && narrow.target == target);
    let why = match narrow {
        Some(narrow) if !(narrow.allows)(file, path) => narrow.rule.to_owned(),
        // `use crate::*` and its like hide what is used.
        _ if target.is_empty() => "whoever uses everything can't be checked for using too much".to_owned(),
        _ if target == folder || row.ours.contains(&target) || !is_folder(target) => return None,
        _ if target == "testkit" && in_test => return None,
        _ => match row.ours {
            [] => format!("`{folder}` uses no other folder of ours: everything else stands on it"),
            ours => format!("of ours, `{folder}` may use only {}: layers point downwards", ours.join(", ")),
        },
    };
    let (what, help) = if target.is_empty() {
        (format!("uses the whole of `{text}`"), "Name what is used.".to_owned())
    } else {
        let help = format!(
            "Move what both need down (plain data belongs into `proto`), or let the caller pass it in as a value, a \
             closure or a trait object. If `{folder}` really stands above `{target}`, change its row in \
             tests/architecture/layers.rs and say why in the commit."
        );
        (format!("uses `{text}`, and `{folder}` may not use `{target}`"), help)
    };
    Some(Finding { place, what, why, help })
}

fn is_within(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn no_row(file: &str, folder: &str) -> Finding {
    let subject = if folder.is_empty() { file } else { folder };
    Finding {
        place: format!("src/{file}"),
        what: format!("`{subject}` has no row in the table of layers"),
        why: "who may import whom is decided when a folder is made, not when it has grown".to_owned(),
        help: "Add a row for it in tests/architecture/layers.rs, or move the file into the folder it belongs to."
            .to_owned(),
    }
}

fn testkit_outside_tests(import: Import<'_>) -> Finding {
    Finding {
        place: import.place,
        what: format!("uses `{}` outside test code", import.path.join("::")),
        why: "the test kit is not part of the shipped binary, which would not build".to_owned(),
        help: "Move the use into a `#[cfg(test)]` module, or the thing itself out of src/testkit.".to_owned(),
    }
}

fn findings(file: &str, text: &str) -> Vec<String> {
    let dependencies = ["tokio", "uuid", "regex"].map(str::to_owned).into();
    let findings = check(&[(file.to_owned(), text.to_owned())], &dependencies);
    findings.into_iter().map(|finding| format!("{}: {}", finding.place, finding.what)).collect()
}

#[test]
fn wrong_directions_are_found() {
    let cases = [
        ("llm/a.rs", "\nuse crate::agent::fsm;", "src/llm/a.rs:2: uses `crate::agent::fsm`"),
        ("llm/a.rs", "use crate::store::log;", "`llm` may not use `store`"),
        ("llm/mod.rs", "fn f() { super::app::run() }", "`llm` may not use `app`"),
        ("tools/bash.rs", "use crate::{jobs::Jobs, ui::hit};", "`tools` may not use `ui`"),
        ("agent/a.rs", "use crate::team::mail;", "`agent` may not use `team`"),
        ("team/a.rs", "use crate::agent::fsm::TurnFsm;", "`team` may not use `agent`"),
        ("dictation/vad.rs", "use crate::llm::Request;", "`dictation` may not use `llm`"),
        ("transcript/a.rs", "use crate::ui::scene;", "`transcript` may not use `ui`"),
        ("jobs/a.rs", "#[cfg(test)]\nmod tests { use crate::agent::x; }", "`jobs` may not use `agent`"),
        ("proto/a.rs", "fn f() { tokio::spawn(x) }", "uses `tokio::spawn`, which `proto` never may"),
        ("proto/a.rs", "use regex::Regex;", "uses `regex::Regex`"),
        ("proto/a.rs", "use std::{fmt, fs};", "uses `std::fs`"),
        ("config/a.rs", "use reqwest::Client;", "`config` never may"),
        ("store/a.rs", "use ratatui::text::Line;", "`store` never may"),
        ("ui/a.rs", "use crossterm::{event::KeyCode, terminal};", "uses `crossterm::terminal`"),
        ("ui/a.rs", "use std::process::Command;", "`ui` never may"),
        ("term/a.rs", "fn f() { tokio::spawn(x) }", "`term` never may"),
        ("text/a.rs", "use ratatui::widgets::Paragraph;", "`text` never may"),
        ("app/a.rs", "use crate::testkit::server;", "outside test code"),
        ("main.rs", "use mynah::testkit::server;", "outside test code"),
        ("llm/mod.rs", "use super::*;", "uses the whole of `crate`"),
        ("hats/a.rs", "", "`hats` has no row"),
        ("hat.rs", "", "`hat.rs` has no row"),
    ];
    for (file, text, expected) in cases {
        let found = findings(file, text);
        assert!(found.len() == 1 && found[0].contains(expected), "{file} {text}: {found:?}");
    }
}

#[test]
fn right_directions_pass() {
    let cases = [
        (
            "llm/a.rs",
            "use crate::{config::env::Env, llm::sse, proto::ids};\nuse reqwest::Client;\nuse tokio::sync::mpsc;",
        ),
        ("llm/a.rs", "// crate::agent\nconst A: &str = \"crate::agent\";"),
        ("llm/a.rs", "#[cfg(test)]\nmod tests { use crate::testkit::server; use ratatui::text; }"),
        ("jobs/a.rs", "use crate::sandbox::Policy;"),
        ("tools/mod.rs", "use crate::{jobs::Jobs, llm::BoxFuture, store::x, config::y, proto::z};"),
        ("agent/a.rs", "use crate::{tools, llm, store, jobs, usage, config, proto};"),
        ("team/a.rs", "use crate::agent::handle::AgentHandle;\nuse crate::agent::AgentHandle;"),
        ("dictation/refine.rs", "use crate::llm::Request;"),
        ("ui/a.rs", "use crossterm::event::KeyCode;\nuse crate::transcript::fold;\nuse std::time::Duration;"),
        ("proto/a.rs", "use serde::Serialize;\nfn f() { uuid::Uuid::now_v7() }\nuse std::sync::Arc;"),
        ("theme/a.rs", "use ratatui::style::Color;"),
        ("app/a.rs", "use crate::{agent, ui, term, llm};\nuse std::process;"),
        ("testkit/server.rs", "use crate::testkit::clock;"),
        ("cli.rs", "use crate::app;"),
    ];
    for (file, text) in cases {
        assert_eq!(findings(file, text), Vec::<String>::new(), "{file} {text}");
    }
}

#[test]
fn a_file_of_the_tests_may_use_the_test_kit() {
    let sources = [
        ("llm/sse.rs", "#[cfg(test)]\nmod tests;"),
        ("llm/sse/tests.rs", "use crate::testkit::server;\nuse crate::agent;"),
        ("llm/sse/testsuite.rs", "use crate::testkit::server;"),
    ];
    let sources = sources.map(|(file, text)| (file.to_owned(), text.to_owned()));
    let found = check(&sources, &BTreeSet::new());
    let places: Vec<_> = found.iter().map(|finding| finding.place.as_str()).collect();
    assert_eq!(places, ["src/llm/sse/tests.rs:2", "src/llm/sse/testsuite.rs:1"]);
}

#[test]
fn dependencies_are_named_as_in_code() {
    let names = dependencies("[dependencies]\ntokio-util = { version = \"1\" }\nregex = \"1\"\n");
    assert_eq!(Vec::from_iter(names), ["regex", "tokio_util"]);
}
