//! A long answer while it streams: time must grow with what is new, and so must the bytes for the terminal.

use super::figures::{millis, tell};
use super::judge;
use super::world::{World, said};
use mynah::app::msg::Msg;
use mynah::proto::entry::EntryPatch;
use mynah::proto::event::AgentEvent;
use mynah::proto::ids::EntryId;
use mynah::proto::message::Block;
use mynah::proto::usage::Usage;
use std::sync::Arc;
use std::time::Instant;

const TOKENS: usize = 100_000;
/// As many as come within a frame at 500 tokens a second.
const A_FRAME: usize = 16;
/// Of these the bytes for the terminal are held against the text.
const COMPARED: usize = 10_000;

/// A part of the answer, mixed as answers about code are. No line of it is like one before.
fn part(n: usize) -> String {
    let mut part = format!(
        "## What part {n} does\n\nGuard {n} must let an *empty* buffer pass, and `tokens_{n}` too. It is called for \
         every line of file {n}, so what it costs shows in the profile, and most of that goes into a copy that nobody \
         reads. With the copy gone the parser of part {n} takes half as long, and its memory no longer grows with the \
         input.\n\n- {n} reads the configuration first, and says which line of which file is wrong\n- {n} then opens \
         the lexer with `code_{n}`, which keeps a **borrowed** text instead of its own\n- {n} leaves the tests as they \
         are, because they describe what users rely on\n\n```rust\nfn tokens_{n}(&self) -> Vec<Token> {{\n    // \
         Nothing is copied in {n}.\n    self.buffer_{n}.clone()\n}}\n```\n\nWhat is left of {n} is a question for \
         you: should an empty file count as an error there, or as a file without tokens?\n\n"
    );
    if n.is_multiple_of(4) {
        part.push_str(&format!(
            "| file | line |\n|---|--:|\n| src/lexer_{n}.rs | {n} |\n| src/parser_{n}.rs | 88 |\n\n> A quote of somebody \
             who knows {n}.\n\n"
        ));
    }
    part
}

/// An answer on its way.
struct Answer {
    world: World,
    id: EntryId,
    pieces: Vec<String>,
    told: usize,
}

impl Answer {
    fn begun() -> Self {
        let text: String = (0..TOKENS / 50).map(part).collect();
        let pieces = text.split_inclusive(' ').map(str::to_owned).collect();
        let mut answer = Self { world: World::of(0), id: EntryId::new("e"), pieces, told: 0 };
        answer.entry(EntryPatch::Start(Arc::new(said(Vec::new()))));
        answer.entry(EntryPatch::Open { index: 0, block: Block::text("") });
        answer
    }

    fn entry(&mut self, patch: EntryPatch) {
        self.world.tell(Msg::Agent(Box::new(AgentEvent::Entry { id: self.id.clone(), patch })));
    }

    /// The tokens of one frame.
    fn goes_on(&mut self) {
        for _ in 0..A_FRAME {
            let delta = self.pieces.get(self.told).cloned().expect("enough pieces");
            self.entry(EntryPatch::Append { index: 0, delta, usage: Usage::default() });
            self.told += 1;
        }
    }
}

pub fn run() {
    let mut answer = Answer::begun();
    let mut tenths = Vec::new();
    for tenth in 1..=10 {
        let begun = Instant::now();
        while answer.told < TOKENS / 10 * tenth {
            answer.goes_on();
            answer.world.frame();
        }
        tenths.push(millis(begun.elapsed()));
    }
    let (first, last) =
        (tenths.first().copied().unwrap_or_default(), tenths.last().copied().unwrap_or_default());
    tell(&format!("stream of {TOKENS} tokens, a frame every {A_FRAME}"), tenths.iter().sum(), "ms");
    judge("stream, last tenth / first tenth", last / first, 1.3, "");
    bytes();
}

/// Bytes for the terminal against the text that changed or came into view.
fn bytes() {
    let mut answer = Answer::begun();
    let (mut bytes, mut text) = (0, 0);
    while answer.told < COMPARED {
        let before = answer.world.rows();
        answer.goes_on();
        bytes += answer.world.frame();
        text += answer.world.rows().iter().map(|row| new_text(row, &before)).sum::<usize>();
    }
    let float = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    judge(
        "stream, bytes to the terminal / bytes of text that is new on screen",
        float(bytes) / float(text),
        3.0,
        "",
    );
}

/// Bytes of a row's text that were not on the screen before, in whatever row: all of one that came into view, the new end
/// of one that grew. Wide gaps are no text.
fn new_text(row: &str, before: &[String]) -> usize {
    if before.iter().any(|old| old == row) {
        return 0;
    }
    let grown = before.iter().filter(|old| row.starts_with(old.as_str())).map(String::len).max();
    let gaps: usize = row.split(|c| c != ' ').map(str::len).filter(|gap| *gap > 2).sum();
    row.len().saturating_sub(grown.unwrap_or_default() + gaps)
}
