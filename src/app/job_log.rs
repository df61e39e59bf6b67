//! Reads the log of a job for the screen.

use crate::jobs::table::{JobTable, ReadFrom, ReadSpec};
use crate::proto::ids::JobId;
use crate::ui::jobs::log::LogPart;

/// Bytes and lines of one part.
const MOST_BYTES: usize = 256 * 1024;
const MOST_LINES: usize = 2_000;

/// Reads from a byte on; without one the end. The error is for people.
pub async fn read(table: &JobTable, id: &JobId, from: Option<u64>) -> Result<LogPart, String> {
    let spec = ReadSpec {
        from: from.map_or(ReadFrom::Tail, ReadFrom::Offset),
        grep: None,
        max_lines: MOST_LINES,
        max_bytes: MOST_BYTES,
    };
    let page = table.read(id, spec).await.map_err(|error| error.to_string())?;
    let first = page.lines.first().map_or(page.next, |line| line.offset);
    let mut text = String::new();
    for line in &page.lines {
        text.push_str(&line.text);
        text.push('\n');
    }
    Ok(LogPart {
        from: first.max(page.first_kept),
        text,
        // It comes once more.
        is_open: page.lines.last().is_some_and(|line| line.offset >= page.next),
        next: page.next,
        has_more: page.has_more,
    })
}
