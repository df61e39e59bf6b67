//! What a running command prints, on its three ways: plain text for the result, new text for a front end, all bytes
//! for the file.

use super::command::SaveAbove;
use super::live::Live;
use super::plain_text::{PlainText, TextSink};
use super::spill::{Saved, Spill};
use super::steps::clock::StepClock;
use super::tail::Tail;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::Instant;

/// Bytes of plain text that are kept for the result at least.
const KEPT: usize = 128 * 1024;

/// Takes the output of one command.
#[derive(Debug)]
pub struct Collector {
    plain: PlainText,
    pages: Pages,
    spill: Spill,
    raw_bytes: u64,
}

/// What a command printed.
#[derive(Debug)]
pub struct Collected {
    pub tail: Tail,
    pub saved: Saved,
    pub raw_bytes: u64,
    pub not_text: u64,
}

#[derive(Debug)]
struct Pages {
    tail: Tail,
    live: Live,
    now: Instant,
}

impl TextSink for Pages {
    fn text(&mut self, text: &str) {
        self.tail.push(text);
        self.live.push(text, self.now);
    }

    fn erase_line(&mut self) {
        self.tail.erase_line();
        self.live.erase_line(self.now);
    }
}

struct PagesAndSteps<'run> {
    pages: &'run mut Pages,
    steps: Option<&'run mut StepClock>,
}

impl TextSink for PagesAndSteps<'_> {
    fn text(&mut self, text: &str) {
        self.pages.text(text);
        if let Some(steps) = &mut self.steps {
            steps.text(text);
        }
    }

    fn erase_line(&mut self) {
        self.pages.erase_line();
        if let Some(steps) = &mut self.steps {
            steps.erase_line();
        }
    }
}

impl Collector {
    pub fn new(output_dir: PathBuf) -> Self {
        Self {
            plain: PlainText::default(),
            pages: Pages { tail: Tail::new(KEPT), live: Live::default(), now: Instant::now() },
            spill: Spill::new(output_dir),
            raw_bytes: 0,
        }
    }

    /// Waits until [`Self::push`] can take bytes.
    pub async fn ready(&self) {
        self.spill.ready().await;
    }

    /// Takes the next bytes, printed by the step that runs.
    pub fn push(&mut self, bytes: &[u8], steps: Option<&mut StepClock>) {
        self.raw_bytes += bytes.len() as u64;
        self.spill.push(bytes);
        self.pages.now = Instant::now();
        self.plain.push(bytes, &mut PagesAndSteps { pages: &mut self.pages, steps });
    }

    /// When [`Self::take_live`] should be called.
    pub const fn live_due(&self) -> Option<Instant> {
        self.pages.live.due()
    }

    /// New text for a front end.
    pub fn take_live(&mut self) -> String {
        self.pages.live.take()
    }

    /// No more bytes will come. Waits for the disk for `patience` at most.
    pub async fn finish(self, save: SaveAbove, patience: Duration) -> Collected {
        self.end(Some(save), patience).await
    }

    /// The same, with all of it in the file.
    pub async fn finish_whole(self, patience: Duration) -> Collected {
        self.end(None, patience).await
    }

    async fn end(mut self, save: Option<SaveAbove>, patience: Duration) -> Collected {
        self.plain.finish(&mut self.pages);
        let tail = self.pages.tail;
        let wanted = save.is_none_or(|save| tail.lines() > save.lines || tail.content_bytes() > save.bytes);
        Collected {
            saved: self.spill.finish(wanted && self.raw_bytes > 0, patience).await,
            tail,
            raw_bytes: self.raw_bytes,
            not_text: self.plain.not_text(),
        }
    }
}
