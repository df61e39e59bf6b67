//! `read`: a slice of a text file, or a picture.
//!
//! A file is streamed: only what is shown is held, the rest is passed over to count its lines.

use super::arguments::{self, Arguments};
use super::image::{self, Picture};
use super::registry::embedded_spec;
use super::truncate::{Limit, MAX_BYTES, MAX_LINES, Totals, Truncation, size};
use super::{Tool, ToolCx, blocking, paths};
use crate::llm::BoxFuture;
use crate::proto::ask::Subject;
use crate::proto::message::Block;
use crate::proto::tool::{ToolOutput, ToolSpec};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek};
use std::path::Path;
use std::sync::LazyLock;
use tokio_util::sync::CancellationToken;

static SPEC: LazyLock<ToolSpec> =
    LazyLock::new(|| embedded_spec(include_str!("../../assets/tools/read.json")));

/// Bytes at the beginning that tell text from pictures and binary data.
const SNIFFED: u64 = 8192;

/// Bytes that are read at once.
const BUFFER: usize = 256 * 1024;

/// The tool `read`.
pub struct Read;

impl Tool for Read {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn summary(&self) -> &'static str {
        "Read files and look at images"
    }

    fn is_mutating(&self, _: &Arguments) -> bool {
        false
    }

    fn subjects(&self, arguments: &Arguments, cwd: &Path) -> Vec<Subject> {
        vec![Subject::Read(paths::resolve(path(arguments), cwd))]
    }

    fn headline(&self, arguments: &Arguments) -> String {
        paths::shown(path(arguments)).into_owned()
    }

    fn run(&self, arguments: Arguments, cx: ToolCx) -> BoxFuture<'static, ToolOutput> {
        let ToolCx { cwd, cancel, limits, images, .. } = cx;
        Box::pin(blocking::reading(cancel, move |cancel| {
            let given = path(&arguments);
            let target = paths::resolve(given, &cwd);
            let wanted = image::Wanted { resize: limits.resize_images, attach: images };
            read(given, &target, &arguments, wanted, cancel).unwrap_or_else(ToolOutput::error)
        }))
    }
}

fn path(arguments: &Arguments) -> &str {
    arguments::text(arguments, "path").unwrap_or_default()
}

fn read(
    given: &str,
    target: &Path,
    arguments: &Arguments,
    wanted: image::Wanted,
    cancel: &CancellationToken,
) -> Result<ToolOutput, String> {
    let failed = |error: io::Error| paths::failed(given, target, &error);
    let name = paths::shown(given);
    let metadata = target.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(format!("{name} is a folder. Use ls to see what is in it."));
    }
    // Opening a pipe would wait for a writer, and a device may never end.
    if !metadata.is_file() {
        return Err(format!(
            "{name} is not a regular file (a pipe, a socket or a device) and can't be read."
        ));
    }
    let mut file = File::open(target).map_err(failed)?;
    let mut start = Vec::new();
    file.by_ref().take(SNIFFED).read_to_end(&mut start).map_err(failed)?;
    if let Some(picture) = Picture::sniff(&start) {
        return picture.read(&name, target, metadata.len(), wanted);
    }
    if start.contains(&0) {
        let bytes = size(metadata.len());
        return Ok(ToolOutput::text(format!(
            "[{name} is a binary file of {bytes}. Use bash with file, xxd or strings to look into it.]"
        )));
    }
    file.rewind().map_err(failed)?;
    let first = arguments::count(arguments, "offset").unwrap_or(1);
    let limit = arguments::count(arguments, "limit");
    let slice = Slice::read(BufReader::with_capacity(BUFFER, file), first, limit, cancel).map_err(failed)?;
    if cancel.is_cancelled() {
        return Ok(blocking::stopped());
    }
    slice.output(given, first, limit)
}

/// The lines that are shown, and what there is beside them.
#[derive(Debug, Default)]
struct Slice {
    text: Vec<u8>,
    lines: usize,
    /// Bytes of the first line, when it alone is too long.
    too_long: Option<u64>,
    stopped_by: Option<Limit>,
    total_lines: usize,
    total_bytes: u64,
}

impl Slice {
    /// Reads lines from `first` (counted from 1) until a limit, and counts the rest.
    fn read(
        mut input: impl BufRead,
        first: usize,
        limit: Option<usize>,
        cancel: &CancellationToken,
    ) -> io::Result<Self> {
        let mut slice = Self::default();
        let mut line = Line::default();
        loop {
            let buffer = input.fill_buf()?;
            if buffer.is_empty() || cancel.is_cancelled() {
                break;
            }
            let length = buffer.len();
            if slice.wants_more(first, limit) {
                for piece in buffer.split_inclusive(|byte| *byte == b'\n') {
                    if slice.total_lines + 1 >= first && slice.wants_more(first, limit) {
                        line.push(piece);
                    }
                    line.bytes += piece.len() as u64;
                    if piece.ends_with(b"\n") {
                        slice.end_line(std::mem::take(&mut line), first, limit);
                    }
                }
            } else {
                slice.total_lines += buffer.iter().filter(|byte| **byte == b'\n').count();
                line.bytes = if buffer.ends_with(b"\n") { 0 } else { 1 };
            }
            slice.total_bytes += length as u64;
            input.consume(length);
        }
        if line.bytes > 0 {
            slice.end_line(line, first, limit);
        }
        Ok(slice)
    }

    fn wants_more(&self, first: usize, limit: Option<usize>) -> bool {
        self.stopped_by.is_none()
            && limit.is_none_or(|limit| self.total_lines < first.saturating_add(limit) - 1)
    }

    fn end_line(&mut self, line: Line, first: usize, limit: Option<usize>) {
        let wanted = self.total_lines + 1 >= first && self.wants_more(first, limit);
        self.total_lines += 1;
        if !wanted {
            return;
        }
        let content = line.bytes - u64::from(line.kept.ends_with(b"\n"));
        if self.lines == MAX_LINES {
            self.stopped_by = Some(Limit::Lines);
        } else if self.text.len() as u64 + content > MAX_BYTES as u64 {
            self.stopped_by = Some(Limit::Bytes);
            self.too_long = (self.lines == 0).then_some(content);
        } else {
            self.text.extend_from_slice(&line.kept);
            self.lines += 1;
        }
    }

    fn output(self, given: &str, first: usize, limit: Option<usize>) -> Result<ToolOutput, String> {
        let total = self.total_lines;
        if first > total.max(1) {
            let lines = if total == 1 { "1 line".to_owned() } else { format!("{total} lines") };
            return Err(format!("Offset {first} is beyond end of file ({lines} total)."));
        }
        let text = self.text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&self.text);
        let bad_bytes: usize = text.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
        let mut shown = String::from_utf8_lossy(text).into_owned();
        let totals = Totals { lines: total as u64, bytes: self.total_bytes };
        let record = Truncation::new(totals, &shown, self.stopped_by);
        let (next, last) = (first + self.lines, first + self.lines - 1);
        let maximum = size(MAX_BYTES as u64);
        let mut notices = Vec::new();
        match (self.too_long, self.stopped_by) {
            (Some(bytes), _) => {
                let (line, name) = (size(bytes), quoted(given));
                notices.push(format!(
                    "Line {first} is {line}, exceeds {maximum} limit. Use bash: sed -n '{first}p' {name} | head -c {MAX_BYTES}"
                ));
            }
            (None, Some(Limit::Lines)) => {
                notices
                    .push(format!("Showing lines {first}-{last} of {total}. Use offset={next} to continue."));
            }
            (None, Some(Limit::Bytes)) => notices.push(format!(
                "Showing lines {first}-{last} of {total} ({maximum} limit). Use offset={next} to continue."
            )),
            (None, None) if limit.is_some() && last < total => {
                let more = total - last;
                notices.push(format!("{more} more lines in file. Use offset={next} to continue."));
            }
            (None, None) => {}
        }
        if bad_bytes > 0 {
            notices.push(format!("{bad_bytes} bytes are not valid UTF-8 and are shown as \u{fffd}."));
        }
        if total == 0 {
            return Ok(ToolOutput::text("(empty file)"));
        }
        for notice in notices {
            shown.truncate(shown.trim_end_matches('\n').len());
            let gap = if shown.is_empty() { "" } else { "\n\n" };
            shown.push_str(&format!("{gap}[{notice}]"));
        }
        let record = Truncation { first_line_exceeds_limit: self.too_long.is_some(), ..record };
        let output = ToolOutput::text(shown);
        Ok(if record.truncated { output.with_details(json!({ "truncation": record })) } else { output })
    }
}

/// A line while it is read. Of a line that is too long to be shown only the length is of interest.
#[derive(Debug, Default)]
struct Line {
    kept: Vec<u8>,
    bytes: u64,
}

impl Line {
    fn push(&mut self, piece: &[u8]) {
        if self.kept.len() <= MAX_BYTES {
            self.kept.extend_from_slice(piece);
        } else if piece.ends_with(b"\n") {
            self.kept.push(b'\n');
        }
    }
}

/// A path as one word for a shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@,".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// A picture as a result: a line of text, then the picture where the model takes any.
pub(super) fn with_picture(text: String, picture: Option<(String, &str)>, details: Value) -> ToolOutput {
    let mut output = ToolOutput::text(text).with_details(details);
    output.content.extend(picture.map(|(data, mime)| Block::Image { data, mime_type: mime.to_owned() }));
    output
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
