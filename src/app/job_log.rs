//! Reads the log of a job for the screen.

use crate::jobs::table::JobTable;
use crate::jobs::table::read::Wanted;
use crate::proto::ids::JobId;
use crate::ui::jobs::log::LogPart;

/// Bytes and lines of one part.
const MOST_BYTES: usize = 512 * 1024;
const MOST_LINES: usize = 20_000;

/// Reads from a byte on; without one the end. The error is for people.
pub async fn read(table: &JobTable, id: &JobId, from: Option<u64>) -> Result<LogPart, String> {
    let wanted =
        |offset| Wanted { offset: Some(offset), pattern: None, lines: MOST_LINES, bytes: MOST_BYTES };
    let from = match from {
        Some(from) => from,
        None => {
            let extent = table.extent(id).map_err(|error| error.to_string())?;
            extent.1.saturating_sub(MOST_BYTES as u64 / 2).max(extent.0)
        }
    };
    let page = table.read(id, wanted(from)).await.map_err(|error| error.to_string())?;
    Ok(LogPart { from, text: page.text, is_open: page.is_open, next: page.next })
}
