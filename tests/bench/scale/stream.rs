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

const TEXT: &str = "## What the lexer does\n\nThe guard must let an *empty* buffer pass, and `tokens` too. It is called \
                    for every line of a file, so what it costs shows.\n\n- one thing\n- another, with `code` and a \
                    **word** that stands out\n\n| file | line |\n|---|--:|\n| src/lexer.rs | 12 |\n| src/parser.rs | 88 \
                    |\n\n```rust\nfn tokens(&self) -> Vec<Token> {\n    // Nothing is copied here.\n    \
                    self.buffer.clone()\n}\n```\n\n> A quote of somebody who knows.\n\n";

pub fn run() {
    let mut world = World::of(0);
    let id = EntryId::new("e");
    let entry = |world: &mut World, patch: EntryPatch| {
        world.tell(Msg::Agent(Box::new(AgentEvent::Entry { id: id.clone(), patch })));
    };
    entry(&mut world, EntryPatch::Start(Arc::new(said(Vec::new()))));
    entry(&mut world, EntryPatch::Open { index: 0, block: Block::text("") });
    let pieces: Vec<&str> = TEXT.split_inclusive(' ').collect();
    let (mut tenths, mut told, mut text, mut bytes) = (Vec::new(), 0_usize, 0_usize, 0_usize);
    for _ in 0..10 {
        let begun = Instant::now();
        for _ in 0..TOKENS / 10 {
            let piece = pieces.get(told % pieces.len()).copied().unwrap_or_default();
            text += piece.len();
            let delta = piece.to_owned();
            entry(&mut world, EntryPatch::Append { index: 0, delta, usage: Usage::default() });
            told += 1;
            if told.is_multiple_of(A_FRAME) {
                bytes += world.frame();
            }
        }
        tenths.push(millis(begun.elapsed()));
    }
    let (first, last) =
        (tenths.first().copied().unwrap_or_default(), tenths.last().copied().unwrap_or_default());
    tell(&format!("stream of {TOKENS} tokens, a frame every {A_FRAME}"), tenths.iter().sum(), "ms");
    judge("stream, last tenth / first tenth", last / first, 1.3, "");
    let ratio = |bytes: usize, text: usize| {
        let float = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
        float(bytes) / float(text)
    };
    judge("stream, bytes to the terminal / bytes of text", ratio(bytes, text), 3.0, "");
}
