//! What an item holds as a whole: the sheet over the screen shows it, and copies it.

use super::body::change;
use super::draft::Draft;
use super::outcome::Outcome;
use super::seg;
use super::steps::Steps;
use super::title::{self, Kind};
use super::{EntryCx, Layout, facts, shell};
use crate::proto::chain::Chain;
use crate::proto::job::JobView;
use crate::proto::message::{Block, ToolResultMessage};
use crate::text::diff::{self, Line};
use crate::text::row::Row;
use crate::text::{clean, formats, width};
use crate::theme::role::Role;
use crate::transcript::item::{Body, Call, CallPhase, CompactionPhase, Item, Shell};
use crate::ui::band::{Band, Edge};
use crate::ui::jobs::{self, ShownJob};
use crate::ui::look::Look;
use crate::ui::scene::NextDeadline;
use ratatui::text::Span;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use super::facts::found;

/// All of an item.
#[derive(Debug)]
pub struct Whole<'a> {
    /// What it is, in a word: the name of a tool.
    pub label: String,
    /// What it was asked for, and how that is called.
    pub asked: Option<(&'static str, Cow<'a, str>)>,
    /// The command, where the head shows it whole.
    pub command: Option<&'a str>,
    /// Arguments that the head shows: those of a tool that has no form of its own.
    pub arguments: Option<&'a Map<String, Value>>,
    /// What the head says beside place and time.
    pub facts: Vec<String>,
    /// When it began.
    pub begun: Begun,
    /// Its steps, more than one, where the user wants to see them.
    pub chain: Option<Arc<Chain>>,
    /// What each of them has printed, and how many bytes before that are not kept.
    pub step_outputs: Vec<(&'a str, u64)>,
    /// When the first of them began, if this process saw that.
    pub steps_since: Option<Instant>,
    /// What is shown below.
    pub shown: Shown<'a>,
    /// What a copy of the result is called.
    pub gave: &'static str,
    /// A copy of the result, where it is not what is shown.
    pub result: Option<Cow<'a, str>>,
    /// A file with all of the output.
    pub whole_in: Option<&'a str>,
    /// More may come.
    pub is_live: bool,
}

/// When something began, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// Nobody knows, or it has not begun.
    Unknown,
    /// It goes on.
    Since(Instant),
    /// It is over, and began then.
    Then(Instant),
    /// Milliseconds since the Unix epoch.
    At(i64),
}

/// What is shown of a result.
#[derive(Debug)]
pub enum Shown<'a> {
    /// What a program printed; so many bytes before it are not kept.
    Output(Cow<'a, str>, u64),
    /// The text of a file, from this line on.
    Code {
        /// The text.
        text: Cow<'a, str>,
        /// Tells the language.
        path: String,
        /// The number of its first line.
        first: u64,
    },
    /// What was found; of a search each line names a file and a line.
    Listing(Cow<'a, str>, bool),
    /// Sentences of ours.
    Words(String, Role),
    /// What changed in the file of this name.
    Change(Vec<Line>, String),
    /// Markdown.
    Markdown(Cow<'a, str>),
}

/// The log of a background job, as far as it was read.
pub fn of_job(job: &JobView, text: String, dropped: u64, since: Instant) -> Whole<'_> {
    let facts =
        vec![format!("job {}", job.id), format!("in {}", clean::for_line(&job.cwd.display().to_string()))];
    Whole {
        label: "job".to_owned(),
        asked: Some(("copy command", Cow::Borrowed(&job.command))),
        command: Some(&job.command),
        arguments: None,
        facts,
        begun: if job.state.is_live() { Begun::Since(since) } else { Begun::At(job.started) },
        chain: None,
        step_outputs: Vec::new(),
        steps_since: None,
        shown: Shown::Output(Cow::Owned(text), dropped),
        gave: "copy log",
        result: None,
        whole_in: job.folder.to_str(),
        is_live: job.state.is_live(),
    }
}

/// Whether there is more of an item than its rows show.
pub const fn has_whole(item: &Item) -> bool {
    matches!(
        item.body,
        Body::Call(_)
            | Body::Shell(_)
            | Body::Compaction(_)
            | Body::Thinking(_)
            | Body::Custom { .. }
            | Body::Jobs(_)
    )
}

/// What stands at the top of an item.
#[derive(Debug)]
pub enum Head {
    /// Its band.
    Band(Box<Band>),
    /// The row that stands for one, as the transcript has it.
    Row(Layout),
    /// The row of a background job.
    Job(Box<ShownJob>),
}

/// Columns before what a band says in the sheet: it stands above the numbers of the steps.
const EDGE: Edge = Edge::Blank(2);

impl Head {
    /// The row at this moment; tells `next` when it is another one.
    pub fn row(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
        match self {
            Self::Band(band) => band.row(cx, EDGE, next),
            Self::Job(job) => jobs::band::row(job, cx, next),
            Self::Row(layout) => {
                next.merge(layout.next);
                let row = match (layout.moving.first(), layout.rows.first()) {
                    (Some((_, moving)), _) => moving.row(cx, next),
                    (None, row) => row.cloned().unwrap_or_default(),
                };
                if layout.indent == 0 {
                    return row;
                }
                let mark = layout.mark.clone().unwrap_or_default();
                let blank = usize::from(layout.indent).saturating_sub(width::of(&mark.content));
                let mut spans = vec![mark, Span::raw(" ".repeat(blank))];
                spans.extend(row.spans.iter().cloned());
                Row { spans, ..row }
            }
        }
    }

    /// It has to be made anew to be true.
    pub fn is_stale(&self) -> bool {
        matches!(self, Self::Row(layout) if layout.next != NextDeadline::default())
    }
}

/// What stands above everything else of an item: its band or its label. `open` is not looked at.
pub fn head(item: &Item, cx: &EntryCx<'_>) -> Head {
    match &item.body {
        Body::Call(call) => Head::Band(Box::new(super::call_band(call, cx))),
        Body::Shell(shell) => Head::Band(Box::new(shell::band_of(shell, cx))),
        _ => {
            let mut layout = super::lay_out(item, &EntryCx { open: false, ..*cx });
            layout.rows.truncate(1);
            layout.moving.retain(|(row, _)| *row == 0);
            Head::Row(layout)
        }
    }
}

/// All of an item; nothing of one that has no more than its rows show.
pub fn whole<'a>(item: &'a Item, look: &Look<'_>) -> Option<Whole<'a>> {
    Some(match &item.body {
        Body::Call(call) => of_call(call, look),
        Body::Shell(shell) => of_shell(shell),
        Body::Thinking(thinking) => {
            let begun = thinking.since.map_or(Begun::Unknown, Begun::Since);
            let is_live = thinking.since.is_some();
            Whole { begun, is_live, ..markdown("thinking", "copy text", thinking.text.text()) }
        }
        Body::Compaction(compaction) => {
            let is_live = matches!(compaction.phase, CompactionPhase::Running { .. });
            let begun = match compaction.phase {
                CompactionPhase::Running { since } => Begun::Since(since),
                CompactionPhase::Done { .. }
                | CompactionPhase::Cancelled { .. }
                | CompactionPhase::Failed
                | CompactionPhase::Gone => Begun::Unknown,
            };
            let reason = compaction.reason.map(|reason| reason.as_str().to_owned());
            let before = (compaction.tokens_before > 0)
                .then(|| format!("{} tokens before", formats::tokens(compaction.tokens_before)));
            Whole {
                begun,
                is_live,
                facts: reason.into_iter().chain(before).collect(),
                ..markdown("compaction", "copy summary", &compaction.summary)
            }
        }
        Body::Jobs(jobs) => Whole {
            whole_in: jobs.reports.first().and_then(|report| report.log.to_str()),
            shown: Shown::Output(Cow::Borrowed(&jobs.text), 0),
            ..markdown("jobs", "copy text", "")
        },
        Body::Custom { label, text } => markdown(&seg::line(label), "copy text", text),
        Body::User(_) | Body::Reply(_) | Body::Notice { .. } | Body::TurnEnd(_) => return None,
    })
}

fn markdown<'a>(label: &str, gave: &'static str, text: &'a str) -> Whole<'a> {
    Whole {
        label: label.to_owned(),
        asked: None,
        command: None,
        arguments: None,
        facts: Vec::new(),
        begun: Begun::Unknown,
        chain: None,
        step_outputs: Vec::new(),
        steps_since: None,
        shown: Shown::Markdown(Cow::Borrowed(text)),
        gave,
        result: Some(Cow::Borrowed(text)),
        whole_in: None,
        is_live: false,
    }
}

fn of_shell(shell: &Shell) -> Whole<'_> {
    let place = |shown_only: bool| shown_only.then(|| "not sent to the model".to_owned());
    let (command, output, facts, begun, whole_in, is_live) = match (shell, shell.done()) {
        (_, Some(done)) => (
            done.command.as_str(),
            done.output.as_str(),
            place(done.exclude_from_context == Some(true)),
            Begun::Unknown,
            done.full_output_path.as_deref(),
            false,
        ),
        (Shell::Running { command, output, shown_only, since }, None) => {
            (command.as_str(), output.as_str(), place(*shown_only), Begun::Since(*since), None, true)
        }
        (Shell::Done(_), None) => ("", "", None, Begun::Unknown, None, false),
    };
    Whole {
        asked: Some(("copy command", Cow::Borrowed(command))),
        command: Some(command),
        facts: facts.into_iter().collect(),
        begun,
        shown: Shown::Output(Cow::Borrowed(output), 0),
        result: None,
        whole_in,
        is_live,
        ..markdown("shell", "copy output", "")
    }
}

fn of_call<'a>(call: &'a Call, look: &Look<'_>) -> Whole<'a> {
    let kind = Kind::of(&call.tool);
    let path = title::text(&call.arguments, "path").unwrap_or_default().trim();
    let tool = seg::line(&call.tool);
    let mut whole = markdown(if tool.is_empty() { "call" } else { &tool }, "copy output", "");
    whole.result = None;
    whole.is_live = !matches!(call.phase, CallPhase::Done { .. } | CallPhase::Dropped);
    let outcome = match &call.phase {
        CallPhase::Done { result, .. } => Some(Outcome::of(result, kind == Kind::Bash)),
        _ => None,
    };
    // As the row shows them: what ran when the call ended runs no more.
    if let Some(steps) = Steps::of(call, outcome.as_ref(), &EntryCx { look, width: 1, open: false }) {
        whole.step_outputs = steps.all_printed(call);
        whole.chain = Some(Arc::new(steps.chain().clone()));
        whole.steps_since = call.begun();
    }
    let command = title::text(&call.arguments, "command").unwrap_or_default().trim();
    whole.asked = match kind {
        Kind::Bash => {
            whole.command = Some(command);
            Some(("copy command", Cow::Borrowed(command)))
        }
        Kind::Read | Kind::Edit | Kind::Write => Some(("copy path", Cow::Borrowed(path))),
        Kind::Grep | Kind::Find => {
            let pattern = title::text(&call.arguments, "pattern").unwrap_or_default();
            Some(("copy pattern", Cow::Borrowed(pattern)))
        }
        Kind::Ls => Some(("copy path", Cow::Borrowed(if path.is_empty() { "." } else { path }))),
        Kind::Other => {
            whole.arguments = Some(&*call.arguments);
            match title::text(&call.arguments, "code").or_else(|| title::text(&call.arguments, "script")) {
                Some(script) => Some(("copy script", Cow::Borrowed(script))),
                None if call.arguments.is_empty() => None,
                None => {
                    let json = serde_json::to_string_pretty(&*call.arguments).unwrap_or_default();
                    Some(("copy arguments", Cow::Owned(json)))
                }
            }
        }
    };
    whole.asked = whole.asked.filter(|(_, text)| !text.is_empty());
    match kind {
        Kind::Bash => {
            let folder = call.chain.as_ref().and_then(|chain| chain.location.as_deref());
            let folder = folder.map_or_else(|| look.cwd.to_owned(), |folder| look.cwd.join(folder));
            whole.facts.push(format!("in {}", seg::line(&look.path_from_home(&folder))));
        }
        Kind::Read | Kind::Edit | Kind::Write if !path.is_empty() => {
            let file = look.path_from_home(&look.cwd.join(Path::new(path)));
            whole.facts.push(seg::line(&file));
        }
        Kind::Read | Kind::Edit | Kind::Write | Kind::Grep | Kind::Find | Kind::Ls | Kind::Other => {}
    }
    let limit = match &call.phase {
        CallPhase::Running { since, limit } => {
            whole.begun = Begun::Since(*since);
            *limit
        }
        CallPhase::Done { result, limit, ended: ended_at } => {
            ended(&mut whole, call, result, kind, path);
            if let (Begun::Unknown, Some(ended), Some(took)) = (whole.begun, ended_at, result.duration_ms) {
                // Its message, which tells the time of day, has not come yet.
                let begun = ended.checked_sub(Duration::from_millis(took));
                whole.begun = begun.map_or(Begun::Unknown, Begun::Then);
            }
            *limit
        }
        CallPhase::Writing { .. } | CallPhase::Queued | CallPhase::Asking | CallPhase::Dropped => None,
    };
    whole.facts.extend(limit.map(|limit| format!("timeout {}", timeout(limit))));
    if !matches!(call.phase, CallPhase::Done { .. }) {
        before_end(&mut whole, call, kind, path);
    }
    whole
}

/// A limit as it is set: in seconds, as long as nobody has to count them.
fn timeout(limit: Duration) -> String {
    if limit < Duration::from_secs(600) && limit.subsec_nanos() == 0 {
        format!("{}s", limit.as_secs())
    } else {
        formats::limit(limit)
    }
}

fn before_end<'a>(whole: &mut Whole<'a>, call: &'a Call, kind: Kind, path: &str) {
    let content = title::text(&call.arguments, "content");
    let is_draft = call.arguments.is_empty() && !call.draft.is_empty();
    whole.shown = match kind {
        Kind::Write if is_draft => {
            let text = Draft::read(&call.draft).text("content").unwrap_or_default();
            whole.gave = "copy content";
            Shown::Output(Cow::Owned(text), 0)
        }
        _ if is_draft => Shown::Output(Cow::Borrowed(&call.draft), 0),
        Kind::Write => {
            whole.gave = "copy content";
            code(content.unwrap_or_default(), path, 1)
        }
        Kind::Edit => {
            whole.gave = "copy change";
            wanted(&call.arguments, path)
        }
        _ => Shown::Output(Cow::Borrowed(&call.output), call.output_dropped),
    };
}

fn code<'a>(text: &'a str, path: &str, first: u64) -> Shown<'a> {
    Shown::Code { text: Cow::Borrowed(text), path: path.to_owned(), first }
}

/// What an edit wants to change, before it is known where that stands.
fn wanted<'a>(arguments: &Map<String, Value>, path: &str) -> Shown<'a> {
    let edits = arguments.get("edits").and_then(Value::as_array);
    let edits = edits.into_iter().flatten().filter_map(Value::as_object);
    let mut lines = Vec::new();
    for edit in edits {
        let text = |key: &str| title::text(edit, key).unwrap_or_default();
        let mut changed = diff::between(text("oldText"), text("newText"), diff::CONTEXT);
        // The numbers would be those of the part.
        changed.iter_mut().for_each(|line| line.number = None);
        lines.extend(changed);
    }
    Shown::Change(lines, path.to_owned())
}

fn ended<'a>(whole: &mut Whole<'a>, call: &'a Call, result: &'a ToolResultMessage, kind: Kind, path: &str) {
    let outcome = Outcome::of(result, kind == Kind::Bash);
    if let (Some(took), true) = (outcome.took, result.timestamp > 0) {
        let took = i64::try_from(took.as_millis()).unwrap_or(i64::MAX);
        whole.begun = Begun::At(result.timestamp.saturating_sub(took));
    }
    let details = result.details.as_ref();
    whole.whole_in = details.and_then(|details| details.get("fullOutputPath")).and_then(Value::as_str);
    let body = outcome.body().to_owned();
    let says = outcome.says.as_ref();
    whole.facts.extend(pictures(result));
    whole.shown = match kind {
        _ if body.trim().is_empty() && says.is_some() && !matches!(kind, Kind::Write | Kind::Edit) => {
            let (role, says) = says.map_or((Role::Muted, ""), |(role, says)| (*role, says.as_str()));
            Shown::Words(says.to_owned(), role)
        }
        Kind::Bash | Kind::Other => {
            let text = match says {
                Some((_, says)) => format!("{}\n\n{says}", body.trim_end()),
                None => body,
            };
            Shown::Output(Cow::Owned(text), 0)
        }
        Kind::Edit | Kind::Write if !outcome.is_ok() => {
            let (role, text) = says.cloned().unwrap_or((Role::Error, outcome.body().to_owned()));
            Shown::Words(text, role)
        }
        Kind::Edit => {
            whole.gave = "copy change";
            whole.result = outcome.fact("patch").or(outcome.fact("diff")).map(|text| text.to_owned().into());
            Shown::Change(change::lines(&outcome), path.to_owned())
        }
        Kind::Write => {
            whole.gave = "copy content";
            let content = title::text(&call.arguments, "content").unwrap_or_default();
            whole.result = Some(Cow::Borrowed(content));
            code(content, path, 1)
        }
        Kind::Read => {
            let text = facts::file_text(&body);
            let first = call.arguments.get("offset").and_then(Value::as_u64).unwrap_or(1).max(1);
            // A sentence about a file is no line of it.
            match facts::read_lines(&outcome) {
                Some(_) => Shown::Code { text: Cow::Owned(text.to_owned()), path: path.to_owned(), first },
                None => Shown::Words(clean::for_terminal(text).into_owned(), Role::ToolOutput),
            }
        }
        Kind::Grep | Kind::Find | Kind::Ls => Shown::Listing(Cow::Owned(body), kind == Kind::Grep),
    };
}

/// What is known of the pictures of a result: their data is not held.
fn pictures(result: &ToolResultMessage) -> Vec<String> {
    let detail = |key: &str| result.details.as_ref().and_then(|details| details.get(key));
    let number = |key: &str| detail(key).and_then(Value::as_u64);
    let text = super::outcome::text(&result.content);
    let original = || {
        let (size, _) = text.split_once("[Image: original ")?.1.split_once([',', ']', '.'])?;
        Some(seg::line(&size.replace('x', "×")))
    };
    let told = number("width").zip(number("height"));
    let told = told.map(|(width, height)| format!("{}×{}", formats::count(width), formats::count(height)));
    let kilobytes = |bytes: u64| format!("{} KB", formats::count(bytes.div_ceil(1024)));
    let mut facts = Vec::new();
    if let Some(mime) = detail("mimeType").and_then(Value::as_str) {
        // Of the file: what the model got may be smaller, or nothing.
        facts.push(seg::line(mime));
        facts.extend(number("bytes").map(kilobytes));
        facts.extend(told.or_else(original));
        return facts;
    }
    for block in &result.content {
        if let Block::Image { data, mime_type } = block {
            facts.push(seg::line(mime_type));
            let bytes = data.len() as u64 / 4 * 3;
            facts.extend((bytes > 0).then(|| kilobytes(bytes)));
        }
    }
    if !facts.is_empty() {
        facts.extend(told.or_else(original));
    }
    facts
}
