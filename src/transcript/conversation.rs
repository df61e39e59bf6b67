//! Items out of what an agent tells, and out of a log that is resumed.
//!
//! Responsibility: which items there are and what they hold. Not: how they look, where they stand.
//!
//! Invariants: a log that is loaded gives the items that playing it gave, less what only a running agent knows (times,
//! end lines, notices); the pieces in which text comes make no difference; an event about something unknown (a listener
//! that came late) is never an error; every change of an item raises its revision to a number no item had before.
//!
//! | file | what it is |
//! |---|---|
//! | `apply` | events and messages to items |
//! | `calls` | how far each tool call is |
//! | `compaction` | summaries that take the place of what was said |

mod apply;
mod calls;
mod compaction;

use super::item::{Body, Fold, Item, Prose, Shell, Thinking};
use crate::proto::event::NoticeLevel;
use crate::proto::ids::{AskId, CallId, EntryId, JobId};
use crate::proto::message::Message;
use crate::text::markdown::stream::MarkdownStream;
use crate::text::markdown::{self, Card, CardKind};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Instant;

/// All items, in order.
#[derive(Debug, Default)]
pub struct Conversation {
    items: Vec<Item>,
    /// The highest revision given so far.
    revision: u64,
    generation: u64,
    /// Entries that have begun and are not whole.
    entries: HashMap<EntryId, Begun>,
    /// The newest item of each call. Some servers use an id again in a later message.
    calls: HashMap<CallId, usize>,
    /// The call that started a background job, by index.
    jobs: HashMap<JobId, usize>,
    /// Calls without an answer, by index.
    unanswered: Vec<usize>,
    /// Steps of chained commands beyond one a call.
    further_steps: usize,
    asks: HashMap<AskId, CallId>,
    prompts: Vec<usize>,
    /// Commands of the user that run, by index.
    shells: Vec<usize>,
    turn: Option<Turn>,
    /// Streams of the replies of the message that became whole last, by index.
    finished: HashMap<usize, Box<MarkdownStream>>,
    /// Items that were changed since somebody last asked.
    touched: BTreeSet<usize>,
    /// When the event came that is taken in; nothing of a log.
    now: Option<Instant>,
}

/// An entry that has begun.
#[derive(Debug)]
enum Begun {
    /// It streams: the item of each of its blocks.
    Streaming(Vec<Option<usize>>),
    /// It came whole; its end says nothing new.
    Whole,
}

/// The turn that runs.
#[derive(Debug)]
struct Turn {
    since: Instant,
    /// Tokens that its responses generated.
    tokens: u64,
    /// How long its responses took.
    millis: u64,
    /// What it is called once it is over.
    verb: Option<Arc<str>>,
}

impl Conversation {
    /// Without items.
    pub fn new() -> Self {
        Self::default()
    }

    /// All items.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// How many items there are.
    pub const fn len(&self) -> usize {
        self.items.len()
    }

    /// There are no items.
    pub const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Nothing was said yet: there are notices at most.
    pub fn is_unused(&self) -> bool {
        self.items.iter().all(|item| matches!(item.body, Body::Notice { .. }))
    }

    /// An item, to be changed: its revision rises.
    pub fn item_mut(&mut self, index: usize) -> Option<&mut Item> {
        let item = self.items.get_mut(index)?;
        self.revision += 1;
        item.revision = self.revision;
        self.touched.insert(index);
        Some(item)
    }

    /// The items that were changed since this was last asked, rising; new ones are not among them. Whoever keeps something
    /// about items brings it up to date with this, without looking at all of them.
    pub fn take_touched(&mut self) -> BTreeSet<usize> {
        std::mem::take(&mut self.touched)
    }

    /// Whether a turn runs.
    pub const fn is_turn_running(&self) -> bool {
        self.turn.is_some()
    }

    /// Rises with every change of an item.
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// Opens an item, closes it, or leaves it as its kind is drawn.
    pub fn set_fold(&mut self, index: usize, fold: Fold) {
        if self.items.get(index).is_some_and(|item| item.fold != fold)
            && let Some(item) = self.item_mut(index)
        {
            item.fold = fold;
        }
    }

    /// What was wished for single items of a kind holds no more.
    pub fn forget_folds(&mut self, is_of_kind: impl Fn(&Body) -> bool) {
        for index in 0..self.items.len() {
            if self.items.get(index).is_some_and(|item| is_of_kind(&item.body)) {
                self.set_fold(index, Fold::Usual);
            }
        }
    }

    /// What the turn that runs is called once it is over; nothing for the plain word.
    pub fn set_verb(&mut self, past: Option<Arc<str>>) {
        if let Some(turn) = &mut self.turn {
            turn.verb = past;
        }
    }

    /// Rises when the items are replaced by others: whoever remembers an index must forget it then.
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// A text that streams, to be laid out. Laying out changes no text, so the revision stays.
    pub fn stream_mut(&mut self, index: usize) -> Option<&mut MarkdownStream> {
        match &mut self.items.get_mut(index)?.body {
            Body::Reply(Prose::Live(stream)) | Body::Thinking(Thinking { text: Prose::Live(stream), .. }) => {
                Some(stream)
            }
            _ => None,
        }
    }

    /// The stream of a reply that just became whole, once: who drew it need not lay all of the text out again. It is kept
    /// until the next message is whole.
    pub fn take_finished(&mut self, index: usize) -> Option<Box<MarkdownStream>> {
        self.finished.remove(&index)
    }

    /// Whether there is a stream to take with [`Self::take_finished`].
    pub fn is_finished_kept(&self, index: usize) -> bool {
        self.finished.contains_key(&index)
    }

    /// Takes all items away. Revisions go on rising, so that no layout of before is taken for one of after.
    pub fn clear(&mut self) {
        *self = Self { revision: self.revision, generation: self.generation + 1, ..Self::default() };
    }

    /// Adds the items of a history: of the log of a session that is resumed.
    pub fn load(&mut self, history: impl IntoIterator<Item = Arc<Message>>) {
        self.now = None;
        for message in history {
            if matches!(*message, Message::User(_) | Message::Assistant(_)) {
                self.drop_unanswered();
            }
            self.whole(None, &message);
        }
        self.drop_unanswered();
    }

    /// Adds something the user should know.
    pub fn notice(&mut self, level: NoticeLevel, text: impl Into<String>) {
        self.push(None, Body::Notice { level, text: text.into() });
    }

    /// Adds a command that the user runs from the prompt; gives its index. The entry of its result ends it, or
    /// [`Conversation::end_shell`].
    fn begin_shell(&mut self, command: impl Into<String>, shown_only: bool, now: Instant) -> usize {
        let running =
            Shell::Running { command: command.into(), output: String::new(), shown_only, since: now };
        let index = self.push(None, Body::Shell(Box::new(running)));
        self.shells.push(index);
        index
    }

    /// The user's command printed more.
    fn shell_output(&mut self, index: usize, delta: &str) {
        if let Some(Item { body: Body::Shell(shell), .. }) = self.item_mut(index)
            && let Shell::Running { output, .. } = &mut **shell
        {
            calls::append_bounded(output, delta);
        }
    }

    /// The user's command is over. `message` is a [`Message::BashExecution`].
    fn end_shell(&mut self, index: usize, message: Arc<Message>) {
        self.shells.retain(|running| *running != index);
        if let Some(Item { body: Body::Shell(shell), .. }) = self.item_mut(index) {
            **shell = Shell::Done(message);
        }
    }

    /// Opens an item, or closes it if it is drawn open now.
    pub fn toggle(&mut self, index: usize, is_open: bool) {
        if let Some(item) = self.item_mut(index) {
            item.fold = if is_open { Fold::Closed } else { Fold::Open };
        }
    }

    /// Indexes of what the user said, rising.
    pub fn prompts(&self) -> &[usize] {
        &self.prompts
    }

    /// How many more there are when each step of a chained command is counted, and not each call.
    pub const fn further_steps(&self) -> usize {
        self.further_steps
    }

    /// The newest text of the model.
    pub fn last_reply(&self) -> Option<&str> {
        self.replies_from_the_last().next().map(|(_, text)| text)
    }

    /// The last closed block of code of the newest reply: item, card, text.
    pub fn last_code(&self) -> Option<(usize, usize, String)> {
        let (item, reply) = self.replies_from_the_last().next()?;
        let is_code = |card: &Card| card.is_closed && matches!(card.kind, CardKind::Code { .. });
        let mut cards = markdown::cards(reply).into_iter().enumerate();
        let (card, code) = cards.rfind(|(_, card)| is_code(card))?;
        Some((item, card, code.text))
    }

    /// The blocks of the newest reply that has any: code and quotes. Its index first.
    pub fn last_blocks(&self) -> Option<(usize, Vec<Card>)> {
        // Most replies need not be read to know that they have none.
        let may_have = |text: &str| ["```", "~~~", ">", "    ", "\t"].iter().any(|mark| text.contains(mark));
        let replies = self.replies_from_the_last().filter(|(_, text)| may_have(text));
        let mut blocks = replies.map(|(item, text)| (item, markdown::cards(text)));
        blocks.find(|(_, cards)| !cards.is_empty())
    }

    fn replies_from_the_last(&self) -> impl Iterator<Item = (usize, &str)> {
        self.items.iter().enumerate().rev().filter_map(|(index, item)| match &item.body {
            Body::Reply(prose) if !is_blank(prose.text()) => Some((index, prose.text())),
            _ => None,
        })
    }

    fn push(&mut self, entry: Option<EntryId>, body: Body) -> usize {
        self.revision += 1;
        let index = self.items.len();
        if matches!(body, Body::User(_)) {
            self.prompts.push(index);
        }
        self.items.push(Item { entry, revision: self.revision, fold: Fold::Usual, at: self.now, body });
        index
    }
}

/// Nothing of it is visible. Models often send a lone line end between calls.
pub fn is_blank(text: &str) -> bool {
    // Stops at the first character that is visible.
    text.trim_start().is_empty()
}

#[cfg(test)]
#[path = "conversation/tests.rs"]
mod tests;
