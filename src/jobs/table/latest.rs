//! The newest line of a job's output, from its newest bytes. Pure.

use super::lines::Lines;

/// Bytes of that line.
const MOST: usize = 300;

/// Finds the newest line that is not blank.
#[derive(Debug)]
pub struct Latest {
    lines: Lines,
    last: String,
}

impl Latest {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { lines: Lines::new(0, MOST), last: String::new() }
    }

    /// Takes the bytes from this offset on.
    pub fn push(&mut self, from: u64, bytes: &[u8]) {
        let Self { lines, last } = self;
        lines.push(from, bytes, |line| {
            if !line.text.trim().is_empty() {
                *last = line.text;
            }
        });
    }

    /// The newest line.
    pub fn line(&self) -> String {
        let unfinished = self.lines.unfinished().map(|line| line.text);
        let line = unfinished.filter(|text| !text.trim().is_empty());
        line.as_deref().unwrap_or(&self.last).replace('\t', " ").trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_line_that_is_not_blank() {
        let mut latest = Latest::new();
        let mut at = 0;
        for (bytes, want) in [
            (&b""[..], ""),
            (b"one\ntw", "tw"),
            (b"o\n\n  \n", "two"),
            (b"10%\r", "10%"),
            (b"20%", "20%"),
            (b"\r\x1b[K", "20%"),
            (b"\tdone\n", "done"),
        ] {
            latest.push(at, bytes);
            at += bytes.len() as u64;
            assert_eq!(latest.line(), want, "{bytes:?}");
        }
        latest.push(at + 1_000, b"after a flood");
        assert_eq!(latest.line(), "after a flood");
    }
}
