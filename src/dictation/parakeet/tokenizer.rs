//! Pieces of words by their numbers, and words made of them.

mod sentencepiece;

use super::tdt::Emission;
use crate::dictation::transcriber::{Transcript, Word};
use crate::dictation::weights::ModelError;
use std::path::Path;

/// Stands for the space before a word, in SentencePiece's vocabularies.
const SPACE: char = '\u{2581}';

/// What a number stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// Text, in which [`SPACE`] is a space.
    Text(String),
    /// A byte of a character that has no piece of its own.
    Byte(u8),
    /// Marks of languages, padding and the like: nothing that is said.
    Hidden,
}

impl Piece {
    /// What a piece is by how it is written.
    fn new(text: &str) -> Self {
        let inner = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
        let byte = inner.and_then(|inner| inner.strip_prefix("0x")).filter(|digits| digits.len() == 2);
        if let Some(byte) = byte.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            return Self::Byte(byte);
        }
        let is_mark = inner.is_some_and(|inner| {
            let is_named = ["unk", "pad", "s", "/s", "blank"].contains(&inner);
            is_named || (inner.len() > 2 && inner.starts_with('|') && inner.ends_with('|'))
        });
        if is_mark { Self::Hidden } else { Self::Text(text.to_owned()) }
    }
}

/// A vocabulary.
pub struct Tokenizer {
    pieces: Vec<Piece>,
}

impl Tokenizer {
    /// From a `tokenizer.json`.
    ///
    /// # Errors
    /// It can't be read.
    pub fn from_json(file: &Path) -> Result<Self, ModelError> {
        let fail = |why: String| ModelError::File { file: file.to_owned(), why };
        let bytes = std::fs::read(file).map_err(|error| fail(error.to_string()))?;
        let tokenizer = tokenizers::Tokenizer::from_bytes(bytes).map_err(|error| fail(error.to_string()))?;
        let added = tokenizer.get_added_tokens_decoder();
        let last = added.keys().max().map_or(0, |last| *last as usize + 1);
        let count = tokenizer.get_vocab_size(true).max(last);
        let pieces = (0..u32::try_from(count).unwrap_or(u32::MAX)).map(|number| {
            let is_special = added.get(&number).is_some_and(|token| token.special);
            let text = tokenizer.id_to_token(number).filter(|_| !is_special);
            text.map_or(Piece::Hidden, |text| Piece::new(&text))
        });
        Ok(Self { pieces: pieces.collect() })
    }

    /// From the bytes of SentencePiece's `tokenizer.model`.
    ///
    /// # Errors
    /// They are damaged.
    pub fn from_sentencepiece(bytes: &[u8]) -> Result<Self, ModelError> {
        let pieces = sentencepiece::pieces(bytes)
            .ok_or_else(|| ModelError::Damaged("the tokenizer is no SentencePiece model".to_owned()))?;
        Ok(Self { pieces })
    }

    /// From NeMo's `vocab.txt`: a piece a line, `##` before those that go on with a word.
    pub fn from_vocabulary(text: &str) -> Self {
        let piece = |line: &str| match (Piece::new(line), line.strip_prefix("##")) {
            (Piece::Text(_), Some(rest)) => Piece::Text(rest.to_owned()),
            (Piece::Text(text), None) => Piece::Text(format!("{SPACE}{text}")),
            (piece, _) => piece,
        };
        Self { pieces: text.lines().map(piece).collect() }
    }

    /// How many pieces there are.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Writes what was heard. A frame lasts `frame` seconds, the whole recording `length`.
    pub fn write(&self, heard: &[Emission], frame: f32, length: f32) -> Transcript {
        let mut words: Vec<Spelling> = Vec::new();
        for emission in heard {
            let start = (emission.frame as f32 * frame).min(length);
            let end = ((emission.frame + emission.duration) as f32 * frame).clamp(start, length.max(start));
            match self.pieces.get(emission.token as usize) {
                None | Some(Piece::Hidden) => {}
                Some(Piece::Byte(byte)) => spell(&mut words, std::slice::from_ref(byte), start, end),
                Some(Piece::Text(text)) => {
                    for (index, part) in text.split(SPACE).enumerate() {
                        if index > 0 {
                            words.push(Spelling { bytes: Vec::new(), start, end });
                        }
                        spell(&mut words, part.as_bytes(), start, end);
                    }
                }
            }
        }
        let words = words.iter().filter_map(|word| {
            let text = String::from_utf8_lossy(&word.bytes);
            let text = text.trim();
            (!text.is_empty()).then(|| Word { text: text.to_owned(), start: word.start, end: word.end })
        });
        let words: Vec<Word> = words.collect();
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        Transcript { text: texts.join(" "), words, language: None }
    }
}

/// A word on its way; its bytes may be in the middle of a character.
struct Spelling {
    bytes: Vec<u8>,
    start: f32,
    end: f32,
}

/// Adds to the last word.
fn spell(words: &mut Vec<Spelling>, bytes: &[u8], start: f32, end: f32) {
    if bytes.is_empty() {
        return;
    }
    match words.last_mut() {
        Some(word) => {
            if word.bytes.is_empty() {
                word.start = start;
            }
            word.bytes.extend_from_slice(bytes);
            word.end = word.end.max(end);
        }
        None => words.push(Spelling { bytes: bytes.to_vec(), start, end }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokenizer() -> Tokenizer {
        let pieces = [
            "<unk>",
            "\u{2581}hel",
            "lo",
            ",",
            "\u{2581}",
            "world",
            "<0xC3>",
            "<0xA4>",
            "<|en|>",
            "a\u{2581}b",
        ];
        Tokenizer { pieces: pieces.iter().map(|piece| Piece::new(piece)).collect() }
    }

    fn heard(tokens: &[(u32, usize, usize)]) -> Vec<Emission> {
        tokens
            .iter()
            .map(|(token, frame, duration)| Emission { token: *token, frame: *frame, duration: *duration })
            .collect()
    }

    fn words(transcript: &Transcript) -> Vec<(&str, f32, f32)> {
        transcript.words.iter().map(|word| (word.text.as_str(), word.start, word.end)).collect()
    }

    #[test]
    fn words_have_their_punctuation_and_times() {
        let heard = heard(&[(8, 0, 1), (1, 1, 1), (2, 2, 2), (3, 4, 0), (4, 5, 1), (5, 7, 2)]);
        let transcript = tokenizer().write(&heard, 0.5, 4.25);
        assert_eq!(transcript.text, "hello, world");
        assert_eq!(words(&transcript), [("hello,", 0.5, 2.0), ("world", 3.5, 4.25)]);
    }

    #[test]
    fn bytes_join_to_characters_and_spaces_part_words_anywhere() {
        let transcript = tokenizer().write(&heard(&[(6, 0, 1), (7, 1, 1), (9, 2, 1), (99, 3, 1)]), 1.0, 9.0);
        assert_eq!(transcript.text, "äa b");
        let lone = tokenizer().write(&heard(&[(6, 0, 1)]), 1.0, 9.0);
        assert_eq!(lone.text, "\u{fffd}");
    }

    #[test]
    fn nothing_that_is_said_gives_no_words() {
        for tokens in [&[][..], &[(0, 0, 1), (8, 1, 1)], &[(4, 0, 1), (4, 1, 1)]] {
            let transcript = tokenizer().write(&heard(tokens), 1.0, 9.0);
            assert!(transcript.text.is_empty() && transcript.words.is_empty());
        }
    }

    #[test]
    fn what_pieces_are() {
        for (text, piece) in [
            ("<0x0A>", Piece::Byte(10)),
            ("<0xZZ>", Piece::Text("<0xZZ>".to_owned())),
            ("<|en-US|>", Piece::Hidden),
            ("<||>", Piece::Text("<||>".to_owned())),
            ("</s>", Piece::Hidden),
            ("<", Piece::Text("<".to_owned())),
            (">", Piece::Text(">".to_owned())),
        ] {
            assert_eq!(Piece::new(text), piece, "{text}");
        }
    }

    #[test]
    fn a_list_of_words_marks_what_goes_on() {
        let tokenizer = Tokenizer::from_vocabulary("<unk>\nhel\n##lo\n##.\n");
        assert_eq!(tokenizer.len(), 4);
        assert_eq!(
            tokenizer.write(&heard(&[(1, 0, 1), (2, 1, 1), (3, 2, 1), (1, 3, 1)]), 1.0, 9.0).text,
            "hello. hel"
        );
    }
}
