//! The tokens of a Whisper: text, and the special ones, which are found by their names and never by their numbers.

use super::config::{Config, Generation};
use crate::dictation::weights::ModelError;
use candle_core::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use tokenizers::Tokenizer;

/// Languages that are written without spaces: every character is a word there.
const WITHOUT_SPACES: &[&str] = &["zh", "ja", "th", "lo", "my", "yue"];

/// A tokenizer, and what is special in it.
pub struct Vocabulary {
    tokenizer: Tokenizer,
    /// Ends a text.
    pub end: u32,
    /// Begins a prompt.
    pub start: u32,
    /// Its probability right after the start says that nobody speaks.
    pub no_speech: Option<u32>,
    /// Codes as `en`, and their tokens; none in models that only know English.
    languages: Vec<(String, u32)>,
    /// Behind the language.
    task: Vec<u32>,
    forbidden: Vec<u32>,
    forbidden_first: Vec<u32>,
}

impl Vocabulary {
    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    /// It can't be read, or lacks what every Whisper has.
    pub fn read(
        file: &Path,
        config: &Config,
        generation: &Generation,
    ) -> std::result::Result<Self, ModelError> {
        let bytes = std::fs::read(file)
            .map_err(|error| ModelError::File { file: file.to_owned(), why: error.to_string() })?;
        let wrong = |why: String| ModelError::Kind { file: file.to_owned(), why };
        let tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| wrong(error.to_string()))?;
        let special: HashMap<String, u32> = tokenizer
            .get_added_tokens_decoder()
            .into_iter()
            .filter_map(|(id, token)| Some((named(&token.content)?.to_owned(), id)))
            .collect();
        let needed = |name: &str| {
            special
                .get(name)
                .copied()
                .ok_or_else(|| wrong(format!("it has no token `<|{name}|>`, as Whisper has")))
        };
        let (end, start, no_timestamps) =
            (needed("endoftext")?, needed("startoftranscript")?, needed("notimestamps")?);
        let is_multilingual = generation.is_multilingual(config);
        let languages = special.iter().filter(|(name, _)| is_multilingual && is_language(name));
        let mut languages: Vec<_> = languages.map(|(name, id)| (name.clone(), *id)).collect();
        languages.sort_by_key(|(_, id)| *id);
        let mut task = Vec::new();
        if is_multilingual {
            task.push(needed("transcribe")?);
        }
        task.push(no_timestamps);

        // Times have the last numbers, and files of older models do not name them.
        let times = no_timestamps + 1..u32::try_from(config.vocab_size).unwrap_or(u32::MAX);
        let mut forbidden = generation.suppressed(config);
        forbidden.extend(special.values().copied().chain(times).filter(|id| *id != end));
        forbidden.sort_unstable();
        forbidden.dedup();
        let forbidden_first = match generation.suppressed_first(config) {
            Some(ids) => ids,
            // As all published models have it: a text is not empty, and does not begin with a lone space.
            None => tokenizer.token_to_id("Ġ").into_iter().chain([end]).collect(),
        };
        let no_speech = special.get("nospeech").or_else(|| special.get("nocaptions")).copied();
        Ok(Self { tokenizer, end, start, no_speech, languages, task, forbidden, forbidden_first })
    }

    /// The token of a language, as `en` or `en-GB`; `None` if this model has none for it.
    pub fn language(&self, code: &str) -> Option<u32> {
        let code = code.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        self.languages.iter().find(|(name, _)| *name == code).map(|(_, id)| *id)
    }

    /// The language of a token.
    pub fn code(&self, language: u32) -> Option<&str> {
        self.languages.iter().find(|(_, id)| *id == language).map(|(name, _)| name.as_str())
    }

    /// The likeliest language by the logits right after the start; `None` in models that only know English.
    pub fn likeliest_language(&self, logits: &[f32]) -> Option<u32> {
        let logit = |id: u32| logits.get(id as usize).copied().unwrap_or(f32::NEG_INFINITY);
        self.languages.iter().map(|(_, id)| *id).max_by(|a, b| logit(*a).total_cmp(&logit(*b)))
    }

    /// What stands between the start and the text.
    pub fn prompt(&self, language: Option<u32>) -> Vec<u32> {
        language.into_iter().chain(self.task.iter().copied()).collect()
    }

    /// Makes tokens impossible that no text has, or none begins with.
    pub fn forbid(&self, logits: &mut [f32], is_first: bool) {
        let first = if is_first { self.forbidden_first.as_slice() } else { &[] };
        for id in self.forbidden.iter().chain(first) {
            if let Some(logit) = logits.get_mut(*id as usize) {
                *logit = f32::NEG_INFINITY;
            }
        }
    }

    /// Tokens as text.
    ///
    /// # Errors
    /// The tokenizer fails.
    pub fn text(&self, tokens: &[u32]) -> Result<String> {
        self.tokenizer.decode(tokens, true).map_err(Error::wrap)
    }

    /// Words, each with its tokens. A word ends where the next one begins with a space; in languages without spaces it
    /// is a character, with the punctuation behind it.
    ///
    /// # Errors
    /// The tokenizer fails.
    pub fn words(&self, tokens: &[u32], language: Option<u32>) -> Result<Vec<(String, Range<usize>)>> {
        let has_spaces =
            language.and_then(|id| self.code(id)).is_none_or(|code| !WITHOUT_SPACES.contains(&code));
        let mut words: Vec<(String, Range<usize>)> = Vec::new();
        let mut start = 0;
        for end in 1..=tokens.len() {
            let piece = self.text(tokens.get(start..end).unwrap_or_default())?;
            // A character that several tokens make is not whole yet.
            if piece.contains(char::REPLACEMENT_CHARACTER) && end < tokens.len() {
                continue;
            }
            let is_new = if has_spaces {
                piece.starts_with(char::is_whitespace)
            } else {
                piece.chars().any(char::is_alphanumeric)
            };
            match words.last_mut() {
                Some((word, range)) if !is_new => {
                    word.push_str(&piece);
                    range.end = end;
                }
                _ => words.push((piece, start..end)),
            }
            start = end;
        }
        for (word, _) in &mut words {
            *word = word.trim().to_owned();
        }
        words.retain(|(word, _)| !word.is_empty());
        Ok(words)
    }
}

/// The name of a special token: `en` of `<|en|>`.
fn named(token: &str) -> Option<&str> {
    token.strip_prefix("<|")?.strip_suffix("|>")
}

fn is_language(name: &str) -> bool {
    (2..=3).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictation::whisper::fixtures;

    fn vocabulary(is_multilingual: bool) -> Vocabulary {
        let generation = format!(r#"{{"is_multilingual": {is_multilingual}, "suppress_tokens": [5]}}"#);
        let generation: Generation = serde_json::from_str(&generation).unwrap();
        Vocabulary::read(&fixtures::folder().join("tokenizer.json"), &fixtures::config(), &generation)
            .unwrap()
    }

    #[test]
    fn finds_special_tokens_by_name() {
        let many = vocabulary(true);
        assert_eq!((many.start, many.end, many.no_speech), (100, 101, Some(106)));
        assert_eq!(
            (many.language("de"), many.language("DE-at"), many.language("fr")),
            (Some(103), Some(103), None)
        );
        assert_eq!(many.prompt(Some(103)), [103, 105, 107]);
        assert_eq!(many.code(102), Some("en"));
        let mut logits = vec![0.0; 120];
        logits[103] = 1.0;
        assert_eq!(many.likeliest_language(&logits), Some(103));
        let english = vocabulary(false);
        assert_eq!((english.language("de"), english.likeliest_language(&logits)), (None, None));
        assert_eq!(english.prompt(None), [107]);
    }

    #[test]
    fn only_text_and_its_end_are_possible() {
        let mut logits = vec![0.0; 120];
        vocabulary(true).forbid(&mut logits, false);
        let possible: Vec<usize> = (0..120).filter(|id| logits[*id] == 0.0).collect();
        let expected: Vec<usize> = (0..100).filter(|id| *id != 5).chain([101]).collect();
        assert_eq!(possible, expected);
        let plain = Vocabulary { forbidden_first: vec![101, 94], ..vocabulary(true) };
        plain.forbid(&mut logits, true);
        assert!(logits[101] < 0.0 && logits[94] < 0.0);
    }

    #[test]
    fn words_by_spaces_and_by_characters() {
        let many = vocabulary(true);
        let token = |piece: &str| many.tokenizer.token_to_id(piece).unwrap();
        let tokens: Vec<u32> = ["H", "i", ",", "Ġa", "Ã", "©", "Ġb", "."].map(token).to_vec();
        assert_eq!(many.text(&tokens).unwrap(), "Hi, aé b.");
        let words = many.words(&tokens, Some(102)).unwrap();
        let expected = [("Hi,", 0..3), ("aé", 3..6), ("b.", 6..8)];
        assert_eq!(words, expected.map(|(word, range)| (word.to_owned(), range)));
        let chinese = Vocabulary { languages: vec![("zh".to_owned(), 102)], ..vocabulary(true) };
        let words = chinese.words(&tokens, Some(102)).unwrap();
        let words: Vec<&str> = words.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(words, ["H", "i,", "a", "é", "b."]);
        // A character that never becomes whole is not lost, and ends nothing else.
        assert_eq!(many.words(&tokens[..5], None).unwrap().len(), 2);
        assert!(many.words(&[], None).unwrap().is_empty());
    }

    #[test]
    fn a_tokenizer_of_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokenizer.json");
        let text = std::fs::read_to_string(fixtures::folder().join("tokenizer.json")).unwrap();
        std::fs::write(&file, text.replace("notimestamps", "other")).unwrap();
        let read = || Vocabulary::read(&file, &fixtures::config(), &Generation::default());
        assert!(matches!(read(), Err(ModelError::Kind { why, .. }) if why.contains("<|notimestamps|>")));
        std::fs::write(&file, "{}").unwrap();
        assert!(matches!(read(), Err(ModelError::Kind { .. })));
    }
}
