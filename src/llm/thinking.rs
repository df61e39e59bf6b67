//! Thinking levels: which ones a model offers, and what is sent for one.

use super::Model;
use crate::proto::model::ThinkingLevel;

/// The levels that the model offers, lowest first. A model that does not think offers `Off` only. Without a word in the
/// model's table a level is offered up to `High`; the two above it must be listed.
pub fn offered(model: &Model) -> Vec<ThinkingLevel> {
    ThinkingLevel::ALL.into_iter().filter(|level| is_offered(model, *level)).collect()
}

/// The nearest level that the model offers: the wanted one, else the next higher, else the next lower.
pub fn clamp(model: &Model, wanted: ThinkingLevel) -> ThinkingLevel {
    let levels = offered(model);
    let higher = levels.iter().copied().find(|level| *level >= wanted);
    higher.or_else(|| levels.last().copied()).unwrap_or(ThinkingLevel::Off)
}

/// The word that the model wants for a level: its own, else the level's. `None`: not offered.
pub fn word(model: &Model, level: ThinkingLevel) -> Option<&str> {
    match model.thinking_levels.get(&level) {
        Some(own) => own.as_deref(),
        None => Some(level.as_str()),
    }
}

/// The model's own word for a level, if its table has one.
pub fn own_word(model: &Model, level: ThinkingLevel) -> Option<&str> {
    model.thinking_levels.get(&level)?.as_deref()
}

/// Tokens of thinking for providers that want a number; `None` for `Off`.
pub const fn budget(level: ThinkingLevel) -> Option<u64> {
    match level {
        ThinkingLevel::Off => None,
        ThinkingLevel::Minimal => Some(1024),
        ThinkingLevel::Low => Some(2048),
        ThinkingLevel::Medium => Some(8192),
        ThinkingLevel::High | ThinkingLevel::Xhigh | ThinkingLevel::Max => Some(16384),
    }
}

fn is_offered(model: &Model, level: ThinkingLevel) -> bool {
    if !model.reasoning {
        return level == ThinkingLevel::Off;
    }
    match model.thinking_levels.get(&level) {
        Some(own) => own.is_some(),
        None => level <= ThinkingLevel::High,
    }
}

#[cfg(test)]
mod tests {
    use super::ThinkingLevel::{High, Low, Max, Medium, Minimal, Off, Xhigh};
    use super::*;
    use crate::llm::Dialect;
    use crate::llm::fixtures::model;

    fn thinker(levels: &[(ThinkingLevel, Option<&str>)]) -> Model {
        let mut model = model(Dialect::OpenAiCompletions);
        model.reasoning = true;
        model.thinking_levels = levels.iter().map(|(level, own)| (*level, own.map(str::to_owned))).collect();
        model
    }

    #[test]
    fn offered_levels() {
        let mut plain = thinker(&[]);
        assert_eq!(offered(&plain), [Off, Minimal, Low, Medium, High]);
        plain.reasoning = false;
        assert_eq!(offered(&plain), [Off]);
        let listed = thinker(&[(Off, None), (Minimal, None), (Xhigh, Some("xhigh")), (Max, None)]);
        assert_eq!(offered(&listed), [Low, Medium, High, Xhigh]);
    }

    #[test]
    fn clamps_up_first_and_then_down() {
        let model = thinker(&[(Off, None), (Minimal, None), (Medium, None)]);
        for (wanted, expected) in
            [(Off, Low), (Minimal, Low), (Low, Low), (Medium, High), (High, High), (Xhigh, High), (Max, High)]
        {
            assert_eq!(clamp(&model, wanted), expected, "{wanted}");
        }
        let mut plain = thinker(&[]);
        plain.reasoning = false;
        assert_eq!(clamp(&plain, High), Off);
    }

    #[test]
    fn words() {
        let model = thinker(&[(Off, Some("none")), (Minimal, None), (High, Some("deep"))]);
        assert_eq!(word(&model, High), Some("deep"));
        assert_eq!(word(&model, Low), Some("low"));
        assert_eq!(word(&model, Minimal), None);
        assert_eq!(own_word(&model, Low), None);
        assert_eq!(own_word(&model, Off), Some("none"));
    }
}
