//! When the next frame is drawn.
//!
//! Invariants
//! - A key is shown at once; only a frame that was drawn for another one less than [`INPUT_GAP`] ago holds it back.
//! - Streamed text waits for [`STREAM_GAP`] after any frame: a frame drawn for a key shows the text, too. The first of it
//!   does not wait.
//! - Animated cells step only while they are in view and the terminal has focus.
//! - Nothing requested and nothing that changes by itself: no deadline, hence no timer, no wake-up, no bytes.

use crate::ui::scene::NextDeadline;
use std::time::{Duration, Instant};

/// The least time between frames that show what somebody did. Held keys and wheels come faster than screens can show.
pub const INPUT_GAP: Duration = Duration::from_millis(8);

/// The least time between frames that show streamed text: often enough to be read as it comes, and on a large screen a
/// third less work than at thirty a second.
pub const STREAM_GAP: Duration = Duration::from_millis(50);

/// After so long without streamed text, what comes is the begin of something that was waited for: it is shown at once.
pub const STREAM_SILENCE: Duration = Duration::from_millis(250);

/// The least time before a frame that nothing but time has caused.
pub const ANIMATION_GAP: Duration = Duration::from_millis(40);

/// Why something on the screen is no longer true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Somebody typed, clicked, scrolled or resized, or an answer to that has come.
    Input,
    /// The agent told something.
    Stream,
}

/// Says when to draw. It is told what happens and when; it never looks at a clock itself.
#[derive(Debug, Clone)]
pub struct FrameClock {
    last_frame: Option<Instant>,
    /// The last one that somebody's doing has caused.
    last_input_frame: Option<Instant>,
    /// The last one that showed what the agent told.
    last_stream_frame: Option<Instant>,
    /// Since when a frame is asked for.
    input: Option<Instant>,
    stream: Option<Instant>,
    next: NextDeadline,
    has_focus: bool,
}

impl FrameClock {
    /// Nothing drawn, nothing asked for. A terminal that does not tell its focus has it.
    pub fn new() -> Self {
        Self {
            last_frame: None,
            last_input_frame: None,
            last_stream_frame: None,
            input: None,
            stream: None,
            next: NextDeadline::default(),
            has_focus: true,
        }
    }

    /// The screen is no longer true. However often this is said, one frame settles it.
    pub fn request(&mut self, cause: Cause, now: Instant) {
        let since = match cause {
            Cause::Input => &mut self.input,
            Cause::Stream => &mut self.stream,
        };
        since.get_or_insert(now);
    }

    /// The terminal got or lost the focus. Steps missed meanwhile are due at once when it comes back.
    pub fn set_focus(&mut self, has_focus: bool) {
        self.has_focus = has_focus;
    }

    /// A frame was drawn that shows everything there was; `next` is when it becomes untrue by itself.
    pub fn drawn(&mut self, now: Instant, next: NextDeadline) {
        self.last_frame = Some(now);
        if self.input.take().is_some() {
            self.last_input_frame = Some(now);
        }
        if self.stream.take().is_some() {
            self.last_stream_frame = Some(now);
        }
        self.next = next;
    }

    /// When to draw; a time that has passed means now. `None`: there is nothing to wait for.
    pub fn deadline(&self) -> Option<Instant> {
        let after = |last: Option<Instant>, wanted: Option<Instant>, gap: Duration| {
            let wanted = wanted?;
            Some(last.map_or(wanted, |last| wanted.max(last + gap)))
        };
        let spaced = |wanted, gap| after(self.last_frame, wanted, gap);
        let animation = self.next.animation.filter(|_| self.has_focus);
        let deadlines = [
            // Streams draw all the time: whoever types does not wait for their frames.
            after(self.last_input_frame, self.input, INPUT_GAP),
            spaced(self.stream, self.stream_gap()),
            spaced(animation, ANIMATION_GAP),
            spaced(self.next.figure, ANIMATION_GAP),
        ];
        deadlines.into_iter().flatten().min()
    }

    fn stream_gap(&self) -> Duration {
        let is_first = |last: Instant| self.stream.is_some_and(|at| at >= last + STREAM_SILENCE);
        if self.last_stream_frame.is_none_or(is_first) { INPUT_GAP } else { STREAM_GAP }
    }

    /// Until then no frame would show what the agent tells: its pieces may gather where they are, and wake nobody. A time
    /// that has passed, or nothing, means that it is listened to.
    pub fn deaf_until(&self) -> Option<Instant> {
        let on_its_way = self.stream.and_then(|_| self.deadline());
        on_its_way.or_else(|| Some(self.last_stream_frame? + STREAM_GAP))
    }

    /// Whether to draw now.
    pub fn is_due(&self, now: Instant) -> bool {
        self.deadline().is_some_and(|deadline| deadline <= now)
    }
}

impl Default for FrameClock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
