//! One request to the model: when it began, what came of it and how fast.

use super::super::flow::{Counter, Flow};
use crate::proto::ids::EntryId;
use crate::proto::message::{AssistantMessage, Block};
use crate::text::formats::CHARS_PER_TOKEN;
use std::time::Instant;

/// Models of which the measure is kept.
const KEPT: usize = 16;
/// Fewer tokens than this tell nothing about a measure.
const LEAST_TOKENS: u64 = 20;
/// Characters per token that a text can have. Outside of this the provider kept back what it counted.
const POSSIBLE: std::ops::RangeInclusive<f64> = 1.5..=10.0;

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request {
    pub since: Instant,
    pub entry: Option<EntryId>,
    pub has_content: bool,
    chars: usize,
    measure: Measure,
    pub tokens: Counter,
    pub flow: Flow,
}

/// How many characters of a model make a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measure {
    chars_per_token: f64,
    /// The model's own, not the rule of thumb.
    pub is_known: bool,
}

impl Measure {
    #[expect(clippy::cast_precision_loss, reason = "a small constant")]
    pub const RULE: Self = Self { chars_per_token: CHARS_PER_TOKEN as f64, is_known: false };
}

impl Request {
    /// One that is sent now.
    pub const fn sent(now: Instant) -> Self {
        Self::answered(now, now, None, Measure::RULE)
    }

    /// One that was sent at `since` and is answered from now on.
    pub const fn answered(since: Instant, now: Instant, entry: Option<EntryId>, measure: Measure) -> Self {
        Self {
            since,
            entry,
            has_content: false,
            chars: 0,
            measure,
            tokens: Counter::new(now),
            flow: Flow::new(now, measure.chars_per_token),
        }
    }

    /// More text came.
    pub fn append(&mut self, delta: &str, now: Instant) {
        let chars = delta.chars().count();
        self.chars += chars;
        self.flow.push(chars, now);
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an estimate"
        )]
        let tokens = (self.chars as f64 / self.measure.chars_per_token).ceil() as u64;
        self.tokens.aim(tokens, now);
    }

    /// The estimates are by the model's own measure.
    pub const fn is_measured(&self) -> bool {
        self.measure.is_known
    }
}

/// Characters per token of each model, from what its provider last counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Measures(Vec<(String, Measure)>);

impl Measures {
    pub fn of(&self, message: &AssistantMessage) -> Measure {
        let key = key(message);
        self.0.iter().find(|(model, _)| *model == key).map_or(Measure::RULE, |(_, measure)| *measure)
    }

    /// The request is over and its provider has counted.
    pub fn learn(&mut self, request: &Request, message: &AssistantMessage) {
        let tokens = message.usage.output;
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let chars_per_token = request.chars as f64 / tokens.max(1) as f64;
        let is_kept_back =
            |block: &Block| matches!(block, Block::Thinking { thinking, .. } if thinking.is_empty());
        let is_whole = !message.content.iter().any(is_kept_back);
        if tokens < LEAST_TOKENS || !POSSIBLE.contains(&chars_per_token) || !is_whole {
            return;
        }
        let key = key(message);
        self.0.retain(|(model, _)| *model != key);
        if self.0.len() >= KEPT {
            self.0.remove(0);
        }
        self.0.push((key, Measure { chars_per_token, is_known: true }));
    }
}

fn key(message: &AssistantMessage) -> String {
    format!("{}/{}", message.provider, message.model)
}
