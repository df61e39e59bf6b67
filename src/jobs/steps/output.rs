//! The end of what a step printed. Pure.

/// Characters that are kept while the command runs.
const LIVE: usize = 64 * 1024;
/// Characters that are kept for later.
const SAVED: usize = 2048;

/// Plain text, the end of it, and how many lines were before that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepOutput {
    /// Never more than twice [`LIVE`] and one addition.
    text: String,
    chars: usize,
    /// Line ends that are no longer in it.
    lines_before: u64,
}

impl StepOutput {
    /// Adds text at the end.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.chars += text.chars().count();
        if self.chars > 2 * LIVE {
            let (before, kept) = end(&self.text, LIVE);
            self.lines_before += before;
            self.text = kept.to_owned();
            self.chars = LIVE;
        }
    }

    /// Takes the unfinished last line back.
    pub fn erase_line(&mut self) {
        let line = self.text.rfind('\n').map_or(0, |at| at + 1);
        self.chars -= self.text.get(line..).unwrap_or_default().chars().count();
        self.text.truncate(line);
    }

    /// The end that is shown while it runs, and how many lines were before.
    pub fn live(&self) -> (&str, u64) {
        let (before, kept) = end(&self.text, LIVE);
        (kept, self.lines_before + before)
    }

    /// The end that is kept for later, and how many lines were before.
    pub fn saved(&self) -> (&str, u64) {
        let (before, kept) = end(&self.text, SAVED);
        (kept, self.lines_before + before)
    }
}

/// The last characters of a text, and the line ends before them.
fn end(text: &str, chars: usize) -> (u64, &str) {
    let at = text.char_indices().rev().nth(chars.saturating_sub(1)).map_or(0, |(at, _)| at);
    let (before, kept) = text.split_at_checked(at).unwrap_or_default();
    (before.bytes().filter(|byte| *byte == b'\n').count() as u64, kept)
}
