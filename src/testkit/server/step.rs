//! What the scripted server answers to one request: a [`Step`], built by chaining.
//!
//! A step is written once and serves every dialect; the dialect files say how it looks on the wire.

use serde_json::Value;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// The answer to one request.
#[derive(Clone, Debug)]
pub struct Step {
    pub(super) reply: ReplyKind,
    pub(super) blocks: Vec<Block>,
    pub(super) fault: Option<Fault>,
    /// After how many pieces the fault happens.
    pub(super) fault_after: usize,
    pub(super) gate: Option<GateEnd>,
    /// After how many pieces the response waits at the gate.
    pub(super) gate_after: usize,
    /// Characters in a piece.
    pub(super) piece_chars: usize,
    /// Pause before each piece but the first.
    pub(super) drip: Duration,
    pub(super) stop: Option<String>,
    pub(super) usage: Tokens,
    pub(super) interleaved: bool,
    pub(super) message: Option<String>,
    pub(super) code: Option<String>,
    pub(super) headers: Vec<(String, String)>,
}

/// The shape of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyKind {
    /// 200 and an event stream.
    Stream,
    /// An HTTP error with the dialect's error body.
    Status(u16),
    /// 200 and a web page.
    Page,
    /// The connection is reset without a byte.
    Refuse,
}

/// One content block of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block {
    Thinking(String),
    /// Thinking whose text is withheld: opaque data only.
    Redacted(String),
    Text(String),
    Call {
        name: String,
        /// JSON text, sent as it stands.
        arguments: String,
    },
}

/// What goes wrong in the middle of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// An error event of this type, then a clean end.
    Error(String),
    /// The connection is dropped.
    Cut,
    /// The body ends cleanly, without the dialect's closing events.
    EndEarly,
    /// A data frame that is no JSON, then the rest.
    Garbage,
    /// Silence.
    Hang,
    /// A data line of this many bytes, then the rest.
    HugeLine(usize),
}

/// Token counts of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tokens {
    /// The whole prompt, cached part included.
    pub input: u64,
    pub output: u64,
    pub cached: u64,
}

impl Step {
    fn of(reply: ReplyKind) -> Self {
        Self {
            reply,
            blocks: Vec::new(),
            fault: None,
            fault_after: 0,
            gate: None,
            gate_after: 0,
            piece_chars: 8,
            drip: Duration::ZERO,
            stop: None,
            usage: Tokens { input: 100, output: 10, cached: 0 },
            interleaved: false,
            message: None,
            code: None,
            headers: Vec::new(),
        }
    }

    fn faulty(fault: Fault, after_pieces: usize) -> Self {
        Self { fault: Some(fault), fault_after: after_pieces, ..Self::of(ReplyKind::Stream) }
    }

    /// A response with this text; an empty one makes no text block (for a response of calls alone).
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(ReplyKind::Stream).with_text(text)
    }

    /// An HTTP error in the dialect's own shape.
    pub fn status(status: u16) -> Self {
        Self::of(ReplyKind::Status(status))
    }

    /// An error event in a 200 stream, after this many pieces; then the stream ends cleanly.
    ///
    /// Steps with a fault have a filler text unless blocks are added. With fewer pieces than asked for, the fault
    /// happens before the closing events.
    pub fn error_in_stream(kind: impl Into<String>, after_pieces: usize) -> Self {
        Self::faulty(Fault::Error(kind.into()), after_pieces)
    }

    /// The connection drops after this many pieces.
    pub fn cut(after_pieces: usize) -> Self {
        Self::faulty(Fault::Cut, after_pieces)
    }

    /// The response ends cleanly after this many pieces, without the events that close it.
    pub fn end_early(after_pieces: usize) -> Self {
        Self::faulty(Fault::EndEarly, after_pieces)
    }

    /// A malformed data frame after this many pieces; the rest follows.
    pub fn garbage(after_pieces: usize) -> Self {
        Self::faulty(Fault::Garbage, after_pieces)
    }

    /// Says nothing after this many pieces, until the client leaves or the server stops.
    pub fn hang(after_pieces: usize) -> Self {
        Self::faulty(Fault::Hang, after_pieces)
    }

    /// A data line of this many bytes without a line end in it, before the first piece; the rest follows.
    pub fn huge_line(bytes: usize) -> Self {
        Self::faulty(Fault::HugeLine(bytes), 0)
    }

    /// A web page with status 200, as captive portals and wrong base addresses give.
    pub fn not_sse() -> Self {
        Self::of(ReplyKind::Page)
    }

    /// Resets the connection without a byte of response. The request is recorded.
    pub fn refuse() -> Self {
        Self::of(ReplyKind::Refuse)
    }

    /// Adds text at the end.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.blocks.push(Block::Text(text));
        }
        self
    }

    /// Adds thinking in front of text and calls, behind earlier thinking.
    #[must_use]
    pub fn thinking(self, text: impl Into<String>) -> Self {
        self.put_thinking(Block::Thinking(text.into()))
    }

    /// Adds withheld thinking: opaque data. Chat Completions has none and leaves it out.
    #[must_use]
    pub fn redacted_thinking(self, data: impl Into<String>) -> Self {
        self.put_thinking(Block::Redacted(data.into()))
    }

    fn put_thinking(mut self, block: Block) -> Self {
        let place = self.blocks.iter().take_while(|block| block.is_thinking()).count();
        self.blocks.insert(place, block);
        self
    }

    /// Adds a call of a tool.
    #[must_use]
    pub fn call(self, name: impl Into<String>, arguments: Value) -> Self {
        self.raw_arguments(name, arguments.to_string())
    }

    /// Adds a call whose argument text is sent as it stands, broken or not.
    #[must_use]
    pub fn raw_arguments(mut self, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        self.blocks.push(Block::Call { name: name.into(), arguments: arguments.into() });
        self
    }

    /// The calls arrive in turns, a piece of each, where the dialect allows it (Anthropic does not).
    #[must_use]
    pub fn interleaved(mut self) -> Self {
        self.interleaved = true;
        self
    }

    /// Tokens: the whole prompt, the response, and the part of the prompt that came from the cache. The dialects
    /// report them differently; an adapter should find the same. Unset: 100, 10 and 0.
    #[must_use]
    pub fn usage(mut self, input: u64, output: u64, cached: u64) -> Self {
        assert!(cached <= input, "the cached part ({cached}) is larger than the prompt ({input})");
        self.usage = Tokens { input, output, cached };
        self
    }

    /// Content arrives in pieces of this many characters. Unset: 8.
    #[must_use]
    pub fn pieces(mut self, chars: usize) -> Self {
        assert!(chars > 0, "a piece has at least one character");
        self.piece_chars = chars;
        self
    }

    /// Pause before each piece but the first.
    #[must_use]
    pub fn drip(mut self, pause: Duration) -> Self {
        self.drip = pause;
        self
    }

    /// Why the model stops, in Anthropic's words: `max_tokens`, `refusal`, `pause_turn`, … Where another dialect has a
    /// word of its own it is used, else the word goes out as it stands.
    #[must_use]
    pub fn stop(mut self, reason: impl Into<String>) -> Self {
        self.stop = Some(reason.into());
        self
    }

    /// Text of an error.
    #[must_use]
    pub fn message(mut self, text: impl Into<String>) -> Self {
        self.message = Some(text.into());
        self
    }

    /// The provider's code of an HTTP error (`insufficient_quota`), in place of the usual one of the status. Anthropic
    /// has it as the error's type.
    #[must_use]
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// Asks the client to wait, in seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.header("retry-after", seconds.to_string())
    }

    /// A further response header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The response waits after its first piece until the gate is opened.
    #[must_use]
    pub fn gate(self) -> (Self, Gate) {
        self.gate_after(1)
    }

    /// The response waits after this many pieces until the gate is opened; with fewer, before the closing events.
    #[must_use]
    pub fn gate_after(mut self, pieces: usize) -> (Self, Gate) {
        let (open, opened) = watch::channel(false);
        let reached = Arc::new(Latch::default());
        self.gate = Some(GateEnd { opened, reached: Arc::clone(&reached) });
        self.gate_after = pieces;
        (self, Gate { open, reached })
    }
}

impl Block {
    pub(super) fn is_thinking(&self) -> bool {
        match self {
            Self::Thinking(_) | Self::Redacted(_) => true,
            Self::Text(_) | Self::Call { .. } => false,
        }
    }

    pub(super) fn is_call(&self) -> bool {
        match self {
            Self::Call { .. } => true,
            Self::Thinking(_) | Self::Redacted(_) | Self::Text(_) => false,
        }
    }
}

/// Holds a response back. A gate that is dropped unopened stays shut: the response hangs until the client leaves.
#[derive(Debug)]
pub struct Gate {
    open: watch::Sender<bool>,
    reached: Arc<Latch>,
}

impl Gate {
    /// Lets the response go on.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    /// Waits until a response stands at the gate; false when that takes longer than `limit`. Blocks the thread: in an
    /// async test whose client runs on the same thread, use [`Gate::reached`].
    pub fn wait_reached(&self, limit: Duration) -> bool {
        self.reached.wait_blocking(limit)
    }

    /// Waits until a response stands at the gate.
    pub async fn reached(&self) {
        self.reached.wait().await;
    }
}

/// The server's end of a gate.
#[derive(Clone, Debug)]
pub(super) struct GateEnd {
    opened: watch::Receiver<bool>,
    reached: Arc<Latch>,
}

impl GateEnd {
    /// Tells the test that the response stands here, then waits until the gate is open.
    pub async fn pass(mut self) {
        self.reached.set();
        if self.opened.wait_for(|open| *open).await.is_err() {
            // The gate was dropped unopened.
            std::future::pending::<()>().await;
        }
    }
}

/// A flag that is set once, for threads and tasks to wait for.
#[derive(Debug, Default)]
struct Latch {
    set: Mutex<bool>,
    changed: Condvar,
    notify: tokio::sync::Notify,
}

impl Latch {
    fn set(&self) {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
        self.notify.notify_waiters();
    }

    fn wait_blocking(&self, limit: Duration) -> bool {
        let unset = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let (set, _) = self
            .changed
            .wait_timeout_while(unset, limit, |set| !*set)
            .unwrap_or_else(PoisonError::into_inner);
        *set
    }

    async fn wait(&self) {
        // Registered before the flag is read: a `set` in between is not missed.
        let notified = self.notify.notified();
        if !*self.set.lock().unwrap_or_else(PoisonError::into_inner) {
            notified.await;
        }
    }
}
