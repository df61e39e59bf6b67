//! What an agent said last, made safe to send: the correcting model spells names and commands by it.
//!
//! ```text
//!  accepted stop ─▶ own::Captured, or external::Search (threads, in parallel with decoding)
//!                        │  just before the request
//!                        ▼
//!                 message ─▶ redact ─▶ clamp ─▶ Excerpt
//! ```
//!
//! | folder or file | what it is |
//! |---|---|
//! | [`source`] | which message of a branch is meant |
//! | [`own`] | what is kept of this session at an accepted stop |
//! | [`external`] | a Pi or Codex session in the focused terminal window |
//! | [`redact`] | lines and words that look like secrets go |
//! | [`clamp`] | a long text keeps its begin and its end |
//!
//! Invariants: redaction comes before clamping, for every source; a wrong message is worse than none, so whatever is in
//! doubt gives none; what was said never reaches a log, and the types that hold it have no `Debug`.

pub mod clamp;
pub mod external;
pub mod own;
pub mod redact;
pub mod source;

/// Who said it. The name is ours to tell: it never comes from what a session says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// This session's.
    Mynah,
    /// A Pi session.
    Pi,
    /// A Codex session.
    Codex,
}

impl Agent {
    /// As the correcting model is told.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mynah => "Mynah",
            Self::Pi => "Pi",
            Self::Codex => "Codex",
        }
    }
}

/// What may be sent of an agent's last message.
// No `Debug`: what was said must reach no log.
#[derive(Clone, PartialEq, Eq)]
pub struct Excerpt {
    agent: Agent,
    text: String,
}

impl Excerpt {
    /// Makes a message safe to send: secrets out first, then at most `limit` characters (see [`clamp::clamp`]). `None`
    /// when nothing is left that says something.
    pub fn of(agent: Agent, message: &str, limit: usize) -> Option<Self> {
        let redacted = redact::redact(message);
        if redact::says_nothing(&redacted) {
            return None;
        }
        let text = clamp::clamp(&redacted, limit);
        (!redact::says_nothing(&text)).then_some(Self { agent, text })
    }

    /// Who said it.
    pub const fn agent(&self) -> Agent {
        self.agent
    }

    /// What is sent.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Notes whether a session was captured at an accepted stop. All that a log may learn of it.
pub fn note_capture(captured: bool) {
    tracing::info!(captured, "dictation: reference at the stop");
}

/// Notes whether a completed message was usable, whose it is and how long. All that a log may learn of it.
pub fn note_use(excerpt: Option<&Excerpt>) {
    match excerpt {
        Some(excerpt) => {
            let characters = excerpt.text.chars().count();
            tracing::info!(
                usable = true,
                agent = excerpt.agent.name(),
                characters,
                "dictation: reference for the clean-up"
            );
        }
        None => tracing::info!(usable = false, "dictation: reference for the clean-up"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_before_the_text_is_cut() {
        // The secret stands across the place where the head ends: cutting first would leave a part of it.
        let message = format!("{}sk-abcdefghij0123456789{}", "a ".repeat(162), " b".repeat(400));
        let excerpt = Excerpt::of(Agent::Pi, &message, 500).unwrap();
        assert!(!excerpt.text().contains("sk-"), "{}", excerpt.text());
        assert!(excerpt.text().chars().count() <= 500);
        assert_eq!(excerpt.agent().name(), "Pi");
    }

    #[test]
    fn what_says_nothing_is_no_reference() {
        for message in ["", " \n\t", "password: hunter22", "ghp_0123456789abcdefghijABCD\n\n"] {
            assert!(Excerpt::of(Agent::Mynah, message, 6_000).is_none(), "{message}");
        }
        assert!(Excerpt::of(Agent::Mynah, "Done.", 6_000).is_some());
    }
}
