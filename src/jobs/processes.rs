//! The processes of this machine, as `/proc` shows them.

use std::sync::LazyLock;

/// When we were started. Nothing older is of our making, so its environment need not be read.
static OUR_START: LazyLock<u64> = LazyLock::new(|| {
    i32::try_from(std::process::id()).ok().and_then(read).map_or(0, |process| process.started)
});

/// A process that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub id: i32,
    /// Number of its parent.
    pub parent: i32,
    /// Number of its group.
    pub group: i32,
    /// When it was started, in clock ticks since the machine was.
    pub started: u64,
}

/// When we were started, as [`Process::started`] counts.
pub fn our_start() -> u64 {
    *OUR_START
}

/// All processes that were started at this time or later and run; those that end meanwhile may be left out.
pub fn alive(since: u64) -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(read)
        .filter(|process| process.started >= since)
        .collect()
}

/// A process that has not ended.
pub fn read(id: i32) -> Option<Process> {
    parse(id, &std::fs::read(format!("/proc/{id}/stat")).ok()?)
}

/// The environment that a process was started with; `None` where we may not see it.
pub fn environment(id: i32) -> Option<Vec<u8>> {
    std::fs::read(format!("/proc/{id}/environ")).ok()
}

/// Reads a `stat` line. The program's name stands in brackets and may hold anything. A process that has ended and
/// waits for its parent to look (`Z`, `X`) is none.
fn parse(id: i32, stat: &[u8]) -> Option<Process> {
    let stat = String::from_utf8_lossy(stat);
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    // The start is the 22nd field of the line, the group the fifth.
    let started = fields.nth(16)?.parse().ok()?;
    Some(Process { id, parent, group, started })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_does_not_confuse() {
        let line = b"7 (a ) 1 2 (b) S 42 43 44 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2";
        assert_eq!(parse(7, line), Some(Process { id: 7, parent: 42, group: 43, started: 98765 }));
        assert_eq!(parse(7, b""), None);
        assert_eq!(parse(7, b"7 (sh) Z 42 43 44 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2"), None);
    }

    #[test]
    fn we_are_among_those_that_run() {
        let us = i32::try_from(std::process::id()).unwrap();
        let found = alive(our_start()).into_iter().find(|process| process.id == us).unwrap();
        assert_eq!(Some(found), read(us));
        assert!(environment(us).is_some());
    }
}
