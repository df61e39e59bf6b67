//! Items as people read them: Markdown without its marks, calls with their title and all they gave. What is searched.
//!
//! It is near to what is drawn when an item is open, but no layout: made in one pass, at no width, for a hundred thousand
//! items. Where the two differ a match is counted here and found there as well as it can be.

use super::item::{Body, Call, CallPhase, Item, Shell, Thinking, TurnEnd, TurnEndKind};
use crate::proto::job::JobReport;
use crate::proto::message::{ToolResultMessage, text_of};
use crate::text::{clean, markdown};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Asks for the coloured form of a character; it is never drawn.
const EMOJI_FORM: char = '\u{fe0f}';

/// The text of an item; empty where there is nothing to find.
pub fn text(item: &Item) -> String {
    let text = match &item.body {
        Body::User(user) => clean::for_terminal(user.text.trim_end()).into_owned(),
        Body::Reply(text) | Body::Thinking(Thinking { text, .. }) => of_markdown(text.text()),
        Body::Call(call) => of_call(call),
        Body::Shell(shell) => of_shell(shell),
        Body::Compaction(compaction) => of_markdown(&compaction.summary),
        Body::Custom { text, .. } => of_markdown(text),
        Body::Jobs(jobs) => jobs.reports.iter().map(of_job).collect::<Vec<_>>().join("\n"),
        Body::Notice { text, .. } => clean::for_terminal(text.trim_end()).replace('`', ""),
        Body::TurnEnd(TurnEnd { how: TurnEndKind::Failed(why), .. }) => {
            clean::for_terminal(why.trim_end()).into_owned()
        }
        Body::TurnEnd(_) => String::new(),
    };
    match as_drawn(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(drawn) => drawn,
    }
}

/// What the rows of a job that has ended show.
fn of_job(report: &JobReport) -> String {
    let parts = [&report.title, &report.command, &report.last_lines];
    parts.map(|part| clean::for_terminal(part.trim_end()).into_owned()).join("\n")
}

/// A text without what is never drawn: whoever searches has it on screen, or copied it from somewhere.
pub fn as_drawn(text: &str) -> Cow<'_, str> {
    if text.contains(EMOJI_FORM) { Cow::Owned(text.replace(EMOJI_FORM, "")) } else { Cow::Borrowed(text) }
}

/// The words of a Markdown text, a line for each of its lines.
pub fn of_markdown(source: &str) -> String {
    let source = clean::for_terminal(source);
    let mut words = Words::default();
    for event in Parser::new_ext(&source, markdown::options()) {
        words.event(event);
    }
    words.text
}

#[derive(Default)]
struct Words {
    text: String,
    /// Next numbers of the lists that are open; none of those with bullets.
    lists: Vec<Option<u64>>,
    /// The address of a link or picture that is open, and where its words begin.
    link: Option<(String, usize)>,
    /// Pictures within pictures.
    pictures: usize,
    cells: usize,
}

impl Words {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Code(text) => self.text.push_str(&text),
            Event::InlineMath(text) => self.text.push_str(&format!("${text}$")),
            Event::DisplayMath(text) => self.text.push_str(&format!("$${text}$$")),
            Event::Html(html) | Event::InlineHtml(html) => {
                let tag: String = html.chars().filter(|c| !c.is_whitespace()).collect();
                let is_break = matches!(tag.to_ascii_lowercase().as_str(), "<br>" | "<br/>");
                self.text.push_str(if is_break { "\n" } else { &html });
            }
            Event::FootnoteReference(label) => self.text.push_str(&format!("[^{label}]")),
            Event::TaskListMarker(done) => self.text.push_str(if done { "[x] " } else { "[ ] " }),
            Event::SoftBreak | Event::HardBreak => self.text.push('\n'),
            Event::Rule => self.line(),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::List(number) => {
                self.line();
                self.lists.push(number);
            }
            Tag::Item => {
                self.line();
                match self.lists.last_mut() {
                    Some(Some(number)) => {
                        self.text.push_str(&format!("{number}. "));
                        *number = number.saturating_add(1);
                    }
                    Some(None) | None => self.text.push_str("• "),
                }
            }
            Tag::Link { dest_url, .. } if self.link.is_none() => {
                self.link = Some((dest_url.into_string(), self.text.len()));
            }
            Tag::Image { dest_url, .. } => {
                self.pictures += 1;
                if self.pictures == 1 {
                    self.text.push_str("[picture] ");
                    if self.link.is_none() {
                        self.link = Some((dest_url.into_string(), self.text.len()));
                    }
                }
            }
            Tag::TableHead | Tag::TableRow => self.cells = 0,
            Tag::TableCell => {
                if self.cells > 0 {
                    self.text.push_str(" │ ");
                }
                self.cells += 1;
            }
            Tag::CodeBlock(_) | Tag::BlockQuote(_) | Tag::HtmlBlock => self.line(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Link => {
                if let (0, Some((url, from))) = (self.pictures, self.link.take()) {
                    let words = self.text.get(from..).unwrap_or_default();
                    let shown = url.strip_prefix("mailto:").unwrap_or(&url);
                    if !shown.is_empty() && shown.trim_end_matches('/') != words.trim_end_matches('/') {
                        self.text.push_str(&format!(" ({shown})"));
                    }
                }
            }
            TagEnd::Image => {
                self.pictures = self.pictures.saturating_sub(1);
                if self.pictures == 0
                    && let Some((url, _)) = self.link.take()
                {
                    self.text.push_str(&format!(" ({url})"));
                }
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.line();
            }
            TagEnd::Paragraph
            | TagEnd::Heading(_)
            | TagEnd::Item
            | TagEnd::CodeBlock
            | TagEnd::HtmlBlock
            | TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::BlockQuote(_)
            | TagEnd::FootnoteDefinition => self.line(),
            _ => {}
        }
    }

    /// Ends the line that is begun.
    fn line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}

fn of_call(call: &Call) -> String {
    let mut text = title(&call.tool, &call.arguments);
    let gave = match &call.phase {
        CallPhase::Done { result, .. } => match call.tool.as_str() {
            "edit" => changed(result),
            "write" if !result.is_error => String::new(),
            _ => printed(&text_of(&result.content)),
        },
        _ => printed(&call.output),
    };
    let written = argument(&call.arguments, "content").filter(|_| call.tool == "write");
    for part in [written.map(|written| clean::for_terminal(written).into_owned()), Some(gave)] {
        if let Some(part) = part.filter(|part| !part.is_empty()) {
            text.push('\n');
            text.push_str(&part);
        }
    }
    text
}

fn argument<'a>(arguments: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    arguments.get(key).and_then(Value::as_str)
}

/// What a call is about.
fn title(tool: &str, arguments: &Map<String, Value>) -> String {
    let text = |key: &str| argument(arguments, key).unwrap_or_default().trim();
    let title = match tool {
        "bash" => text("command").to_owned(),
        "read" | "edit" | "write" | "ls" => format!("{tool} {}", text("path")),
        "grep" => format!("grep /{}/ {} {}", text("pattern"), text("path"), text("glob")),
        "find" => format!("find {} {}", text("pattern"), text("path")),
        _ => {
            let words = arguments.values().filter_map(Value::as_str).map(str::trim);
            std::iter::once(tool).chain(words).collect::<Vec<_>>().join(" ")
        }
    };
    clean::for_terminal(title.trim_end()).into_owned()
}

/// The lines of a difference, without its marks.
fn changed(result: &ToolResultMessage) -> String {
    let patch = result.details.as_ref().and_then(|details| details.get("patch")?.as_str());
    let Some(patch) = patch.filter(|_| !result.is_error) else { return printed(&text_of(&result.content)) };
    let is_line = |line: &&str| {
        line.starts_with(['+', '-', ' ']) && !line.starts_with("+++ ") && !line.starts_with("--- ")
    };
    let lines = patch.lines().filter(is_line).filter_map(|line| line.get(1..));
    clean::for_terminal(&lines.collect::<Vec<_>>().join("\n")).into_owned()
}

/// What a program printed, as a terminal would leave it: of a line that begins anew and anew only the last state counts.
fn printed(text: &str) -> String {
    let text = text.trim_end_matches(['\n', '\r']);
    if !text.contains('\r') {
        return clean::for_terminal(text).into_owned();
    }
    let last = |line: &str| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        clean::for_terminal(line.rsplit('\r').next().unwrap_or(line)).into_owned()
    };
    text.split('\n').map(last).collect::<Vec<_>>().join("\n")
}

fn of_shell(shell: &Shell) -> String {
    let (command, output) = match (shell, shell.done()) {
        (_, Some(done)) => (&done.command, &done.output),
        (Shell::Running { command, output, .. }, None) => (command, output),
        (Shell::Done(_), None) => return String::new(),
    };
    format!("{}\n{}", clean::for_terminal(command.trim()), printed(output))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_read_without_its_marks() {
        let table = [
            ("one **two** `three`\nfour", "one two three\nfour\n"),
            ("# Head\n\ntext", "Head\ntext\n"),
            ("- a\n- b\n\n3. c\n4. d", "• a\n• b\n3. c\n4. d\n"),
            (
                "[words](https://a.example) <https://b.example/>",
                "words (https://a.example) https://b.example/\n",
            ),
            ("![alt](p.png)", "[picture] alt (p.png)\n"),
            ("```rust\nlet **a**;\n```\n> said", "let **a**;\nsaid\n"),
            ("| a | b |\n|---|---|\n| c | d |", "a │ b\nc │ d\n"),
            ("- [x] done\n- [ ] not", "• [x] done\n• [ ] not\n"),
            ("a\u{1b}[31mred<br>b", "ared\nb\n"),
            ("", ""),
        ];
        for (source, expected) in table {
            assert_eq!(of_markdown(source), expected, "{source:?}");
        }
    }

    #[test]
    fn what_was_printed_is_read_as_it_was_left() {
        assert_eq!(printed("10%\r50%\r100%\r\ndone\u{1b}[0m\n"), "100%\ndone");
        assert_eq!(as_drawn("a\u{fe0f}b"), "ab");
    }

    #[test]
    fn calls_have_their_title() {
        let arguments =
            serde_json::json!({"path": "src/a.rs", "pattern": "x", "glob": "*.rs", "command": " make\nrun "});
        let Value::Object(arguments) = arguments else { panic!("an object") };
        assert_eq!(title("bash", &arguments), "make\nrun");
        assert_eq!(title("read", &arguments), "read src/a.rs");
        assert_eq!(title("grep", &arguments), "grep /x/ src/a.rs *.rs");
        assert_eq!(title("mail", &arguments), "mail src/a.rs x *.rs make\nrun");
    }
}
