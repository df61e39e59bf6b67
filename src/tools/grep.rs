//! `grep`: file contents by pattern, with ripgrep's libraries.

use super::arguments::{self, Arguments};
use super::ls::with_notices;
use super::registry::embedded_spec;
use super::truncate;
use super::walk::{self, Pattern};
use super::{KeyFiles, Tool, ToolCx, blocking, paths};
use crate::llm::BoxFuture;
use crate::proto::ask::Subject;
use crate::proto::tool::{ToolOutput, ToolSpec};
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};
use serde_json::{Map, json};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tokio_util::sync::CancellationToken;

static SPEC: LazyLock<ToolSpec> =
    LazyLock::new(|| embedded_spec(include_str!("../../assets/tools/grep.json")));

/// Matches without a limit of the call.
const LIMIT: usize = 100;

/// Lines around a match at most.
const MOST_CONTEXT: usize = 100;

/// Bytes of one line that a search may hold; a file with a longer one counts as unreadable.
const LONGEST_LINE: usize = 64 << 20;

/// Collected text beyond which a search can end: the model gets less.
const ENOUGH_BYTES: usize = 4 * truncate::MAX_BYTES;

/// The tool `grep`.
pub struct Grep;

impl Tool for Grep {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn summary(&self) -> &'static str {
        "Search file contents (leaves out ignored files)"
    }

    fn is_mutating(&self, _: &Arguments) -> bool {
        false
    }

    fn subjects(&self, arguments: &Arguments, cwd: &Path) -> Vec<Subject> {
        vec![Subject::Read(paths::resolve(place(arguments), cwd))]
    }

    fn headline(&self, arguments: &Arguments) -> String {
        let pattern = arguments::text(arguments, "pattern").unwrap_or_default();
        format!("{} in {}", paths::shown(pattern), paths::shown(place(arguments)))
    }

    fn run(&self, arguments: Arguments, cx: ToolCx) -> BoxFuture<'static, ToolOutput> {
        let ToolCx { cwd, cancel, key_files, .. } = cx;
        Box::pin(blocking::reading(cancel, move |cancel| {
            match Search::new(&arguments, &cwd, &key_files, cancel) {
                Ok(search) => search.run(),
                Err(problem) => ToolOutput::error(problem),
            }
        }))
    }
}

fn place(arguments: &Arguments) -> &str {
    arguments::text(arguments, "path").filter(|path| !path.trim().is_empty()).unwrap_or(".")
}

/// One search and what it has found so far.
struct Search<'a> {
    root: PathBuf,
    is_folder: bool,
    matcher: RegexMatcher,
    searcher: Searcher,
    glob: Option<Pattern>,
    with_context: bool,
    limit: usize,
    /// Passed over; none when the search was allowed for such a place by name.
    key_files: Option<&'a KeyFiles>,
    cancel: &'a CancellationToken,
    found: Found,
}

#[derive(Default)]
struct Found {
    text: String,
    matches: usize,
    /// There is at least one match more than the limit.
    more: bool,
    cut_lines: bool,
    unreadable: usize,
    /// Files with matches that may hold keys.
    key_files: usize,
}

impl<'a> Search<'a> {
    fn new(
        arguments: &Arguments,
        cwd: &Path,
        key_files: &'a KeyFiles,
        cancel: &'a CancellationToken,
    ) -> Result<Self, String> {
        let given = place(arguments);
        let root = paths::resolve(given, cwd);
        let metadata = root.metadata().map_err(|error| paths::failed(given, &root, &error))?;
        if !metadata.is_dir() && !metadata.is_file() {
            return Err(format!("{} is neither a file nor a folder.", paths::shown(given)));
        }
        let context = arguments.get("context").and_then(serde_json::Value::as_u64).unwrap_or(0);
        let context = usize::try_from(context).unwrap_or(MOST_CONTEXT).min(MOST_CONTEXT);
        Ok(Self {
            key_files: Some(key_files).filter(|key_files| !key_files.contains(&root)),
            is_folder: metadata.is_dir(),
            root,
            matcher: matcher(arguments)?,
            searcher: SearcherBuilder::new()
                .line_number(true)
                // As the matcher: `$` matches before a carriage return too.
                .line_terminator(LineTerminator::crlf())
                .before_context(context)
                .after_context(context)
                .binary_detection(BinaryDetection::quit(0))
                .heap_limit(Some(LONGEST_LINE))
                .build(),
            glob: arguments::text(arguments, "glob")
                .filter(|glob| !glob.is_empty())
                .map(Pattern::new)
                .transpose()?,
            with_context: context > 0,
            limit: arguments::count(arguments, "limit").unwrap_or(LIMIT),
            cancel,
            found: Found::default(),
        })
    }

    fn run(mut self) -> ToolOutput {
        for entry in walk::below(&self.root.clone()) {
            if self.cancel.is_cancelled() || self.found.more || self.found.text.len() > ENOUGH_BYTES {
                break;
            }
            let Ok(entry) = entry else {
                self.found.unreadable += 1;
                continue;
            };
            // Only regular files: a pipe or a device would never end. A named link is followed, a found one is not.
            let is_file = !self.is_folder || entry.file_type().is_some_and(|kind| kind.is_file());
            if is_file && self.glob.as_ref().is_none_or(|glob| glob.matches(entry.path(), &self.root)) {
                self.search_file(entry.path());
            }
        }
        self.finish()
    }

    /// Searches one file. What a binary file gave before it showed to be one is dropped.
    fn search_file(&mut self, path: &Path) {
        let name = if self.is_folder {
            paths::relative(path, &self.root)
        } else {
            paths::shown(&path.file_name().unwrap_or_default().to_string_lossy()).into_owned()
        };
        let mut lines = FileLines {
            name: &name,
            room: self.limit - self.found.matches,
            text: String::new(),
            matches: 0,
            more: false,
            cut_lines: false,
            is_binary: false,
        };
        let searched = File::open(path).and_then(|file| {
            let reader = Interruptible { file, cancel: self.cancel };
            self.searcher.search_reader(&self.matcher, reader, &mut lines)
        });
        if searched.is_err() && !self.cancel.is_cancelled() {
            self.found.unreadable += 1;
        }
        if lines.is_binary {
            return;
        }
        // Asked only about files that would be shown: there are few of them.
        if lines.matches > 0 && self.key_files.is_some_and(|key_files| key_files.contains(path)) {
            self.found.key_files += 1;
            return;
        }
        let FileLines { text, matches, more, cut_lines, .. } = lines;
        if self.with_context && matches > 0 && !self.found.text.is_empty() {
            self.found.text.push_str("--\n");
        }
        self.found.text.push_str(&text);
        self.found.matches += matches;
        self.found.more |= more;
        self.found.cut_lines |= cut_lines;
    }

    fn finish(self) -> ToolOutput {
        let Self { found, limit, .. } = self;
        let (mut notices, mut details) = (Vec::new(), Map::new());
        if found.more {
            let double = limit.saturating_mul(2);
            notices.push(format!(
                "{limit} matches limit reached. Use limit={double} for more, or refine pattern"
            ));
            details.insert("matchLimitReached".to_owned(), json!(limit));
        }
        let (shown, truncation) = truncate::head(found.text.strip_suffix('\n').unwrap_or(&found.text));
        if truncation.truncated {
            notices.push(truncate::head_notice());
            details.insert("truncation".to_owned(), json!(truncation));
        }
        if found.cut_lines {
            notices.push("Some lines truncated to 500 chars. Use read tool to see full lines".to_owned());
            details.insert("linesTruncated".to_owned(), json!(true));
        }
        if found.key_files > 0 {
            let files = if found.key_files == 1 { "1 file" } else { &format!("{} files", found.key_files) };
            notices.push(format!("{files} that may hold keys left out. Give its path to search such a file"));
        }
        if found.unreadable > 0 {
            notices.push(format!("{} files or folders could not be read", found.unreadable));
        }
        if self.cancel.is_cancelled() {
            notices.push("Search aborted before it was done".to_owned());
        }
        with_notices(if found.matches == 0 { "No matches found" } else { shown }, &notices, details)
    }
}

fn matcher(arguments: &Arguments) -> Result<RegexMatcher, String> {
    let pattern = arguments::text(arguments, "pattern").unwrap_or_default();
    let literal = arguments::flag(arguments, "literal");
    RegexMatcherBuilder::new()
        .case_insensitive(arguments::flag(arguments, "ignoreCase"))
        .fixed_strings(literal)
        // Anchors hold at lines, whatever their ends.
        .multi_line(true)
        .crlf(true)
        .build(pattern)
        .map_err(|error| {
            let advice = if literal {
                "A pattern can't span lines."
            } else {
                "Set literal to true to search for the text as it is; a pattern can't span lines."
            };
            format!("The pattern is no valid regular expression: {error}\n{advice}")
        })
}

/// The lines of one file.
struct FileLines<'a> {
    name: &'a str,
    /// Matches that are still wanted.
    room: usize,
    text: String,
    matches: usize,
    more: bool,
    cut_lines: bool,
    is_binary: bool,
}

impl FileLines<'_> {
    fn push(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) {
        let line = String::from_utf8_lossy(bytes);
        let (line, cut) = truncate::line(line.trim_end_matches(['\n', '\r']));
        self.cut_lines |= cut;
        let (name, number) = (self.name, number.unwrap_or_default());
        self.text.push_str(&format!("{name}{mark}{number}{mark} {line}\n"));
    }
}

impl Sink for &mut FileLines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.matches == self.room {
            self.more = true;
            return Ok(false);
        }
        self.matches += 1;
        self.push(found.line_number(), ':', found.bytes());
        Ok(self.text.len() <= ENOUGH_BYTES)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        // Lines before a match that is not shown belong to nothing.
        if self.matches < self.room || *context.kind() == grep_searcher::SinkContextKind::After {
            self.push(context.line_number(), '-', context.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if self.matches < self.room {
            self.text.push_str("--\n");
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> io::Result<()> {
        self.is_binary |= end.binary_byte_offset().is_some();
        Ok(())
    }
}

/// A file whose reading ends with a cancel, however large it is.
struct Interruptible<'a> {
    file: File,
    cancel: &'a CancellationToken,
}

impl Read for Interruptible<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.file.read(buffer)
    }
}

#[cfg(test)]
#[path = "grep_tests.rs"]
mod tests;
