//! Arguments that are still being written: JSON that breaks off anywhere.
//!
//! Only the outermost object is read, and of long texts only the beginning or the end is decoded: a file that is being
//! written is looked at again with every piece that comes.

use super::newest;
use serde_json::{Map, Value};

/// Bytes of a text that are decoded for a title.
const HEAD: usize = 4 * 1024;

/// One argument, as far as it has come.
#[derive(Debug, PartialEq, Eq)]
struct Field<'a> {
    key: String,
    /// A text without its quotes, still with its escapes; anything else as written.
    raw: &'a str,
    is_text: bool,
}

/// What is known of the arguments.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Draft<'a> {
    fields: Vec<Field<'a>>,
    /// Characters that have come.
    pub chars: usize,
    /// The object is closed: nothing more comes, though the provider has not said so yet. An empty one does not count:
    /// some servers send that first.
    pub is_whole: bool,
}

impl<'a> Draft<'a> {
    /// Reads a draft; never fails.
    pub fn read(json: &'a str) -> Self {
        let is_empty = matches!(json.trim(), "" | "{" | "{}");
        // Bytes that begin a character.
        let chars = json.bytes().filter(|byte| byte & 0xc0 != 0x80).count();
        let chars = if is_empty { 0 } else { chars };
        let mut draft = Self { fields: Vec::new(), chars, is_whole: false };
        let mut rest = json.trim_start();
        rest = rest.strip_prefix('{').unwrap_or("");
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            let Some(after) = rest.strip_prefix('"') else {
                draft.is_whole = !is_empty && rest.starts_with('}');
                return draft;
            };
            let (key, after) = text_end(after);
            let Some(value) = after.trim_start().strip_prefix(':') else { return draft };
            let value = value.trim_start();
            if value.is_empty() {
                return draft;
            }
            let (raw, is_text, after) = match value.strip_prefix('"') {
                Some(text) => {
                    let (raw, after) = text_end(text);
                    (raw, true, after)
                }
                None => {
                    let (raw, after) = value.split_at(value_end(value));
                    (raw, false, after)
                }
            };
            draft.fields.push(Field { key: decode(key), raw, is_text });
            rest = after;
        }
    }

    /// The arguments so far, long texts cut: enough for a title.
    pub fn arguments(&self) -> Map<String, Value> {
        let value = |field: &Field<'_>| match field.is_text {
            true => Some(Value::String(decode(
                field.raw.get(..field.raw.floor_char_boundary(HEAD)).unwrap_or(""),
            ))),
            false => serde_json::from_str(field.raw.trim()).ok(),
        };
        self.fields.iter().filter_map(|field| Some((field.key.clone(), value(field)?))).collect()
    }

    /// A text argument so far, all of it.
    pub fn text(&self, key: &str) -> Option<String> {
        Some(decode(self.field(key).filter(|field| field.is_text)?.raw))
    }

    /// Lines of a text argument so far.
    pub fn lines(&self, key: &str) -> Option<usize> {
        let raw = self.field(key).filter(|field| field.is_text && !field.raw.is_empty())?.raw;
        let mut lines = 1;
        let mut bytes = raw.bytes();
        while let Some(byte) = bytes.next() {
            if byte == b'\\' && bytes.next() == Some(b'n') && bytes.len() > 0 {
                lines += 1;
            }
        }
        Some(lines)
    }

    /// Pieces of a list argument that have begun, told by a key that each of them has.
    pub fn pieces(&self, key: &str, in_each: &str) -> usize {
        self.field(key).map_or(0, |field| field.raw.matches(&format!("\"{in_each}\"")).count())
    }

    fn field(&self, key: &str) -> Option<&Field<'a>> {
        self.fields.iter().find(|field| field.key == key)
    }
}

/// A text among the arguments, at any depth, that the model writes now or has just written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written<'a> {
    /// As it stands in the draft: without its quotes, still with its escapes.
    raw: &'a str,
    /// Where it begins there.
    from: usize,
}

/// A text that is not the last value must be so long to be of interest still.
const LONG: usize = 24;

/// The text that is being written: the last value if that is a text, else the last one that is long.
pub fn written(json: &str) -> Option<Written<'_>> {
    // For each list or object that is open: whether a text there is a key next.
    let mut open: Vec<Option<bool>> = Vec::new();
    let (mut last, mut long) = (None, None);
    let mut at = 0;
    while let Some(byte) = json.as_bytes().get(at) {
        at += 1;
        match byte {
            b'{' => open.push(Some(true)),
            b'[' => open.push(None),
            b'}' | b']' => {
                open.pop();
            }
            b':' => set_key(&mut open, false),
            b',' => set_key(&mut open, true),
            b'"' => {
                let (raw, after) = text_end(json.get(at..).unwrap_or_default());
                let found = Written { raw, from: at };
                let is_key = open.last().copied().flatten() == Some(true);
                at = json.len() - after.len();
                if !is_key {
                    last = Some(found);
                    if raw.len() >= LONG {
                        long = last;
                    }
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            // A number, `true`: the last value is no text.
            _ => last = None,
        }
    }
    last.or(long)
}

fn set_key(open: &mut [Option<bool>], is_key: bool) {
    if let Some(Some(next)) = open.last_mut() {
        *next = is_key;
    }
}

/// The end of a text that is being written, decoded.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// What it says.
    pub text: String,
    /// Where each byte of that stands in the draft.
    places: Vec<usize>,
}

impl Tail {
    /// Where a byte of the text stands in the draft. `len`: of the text that is drawn, if something was left out of it.
    pub fn place(&self, byte: usize, len: usize) -> usize {
        // Counted from the end, where what is new stands.
        let from_end = len.saturating_sub(byte);
        let at = self.places.len().saturating_sub(from_end.max(1));
        self.places.get(at).copied().unwrap_or(0)
    }
}

impl Written<'_> {
    /// Its end, at least `step` bytes of it as written.
    pub fn tail(&self, step: usize) -> Tail {
        let mut from = self.raw.ceil_char_boundary(newest::begin(self.raw.len(), step));
        let before = self.raw.get(..from).unwrap_or_default();
        // Not between a backslash and what it escapes.
        from -= (before.len() - before.trim_end_matches('\\').len()) % 2;
        let (text, places) = decode_placed(self.raw.get(from..).unwrap_or_default(), self.from + from);
        if from == 0 {
            return Tail { text, places };
        }
        let cut = newest::first_word(&text, step);
        Tail {
            text: text.get(cut..).unwrap_or_default().to_owned(),
            places: places.get(cut..).unwrap_or_default().to_vec(),
        }
    }
}

/// Splits behind the text that begins here: without its closing quote, and what follows that.
fn text_end(text: &str) -> (&str, &str) {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default()),
            _ => {}
        }
    }
    (text, "")
}

/// Bytes of a value that is no text.
fn value_end(value: &str) -> usize {
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in value.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => return at,
            _ => {}
        }
    }
    value.len()
}

/// A text without its escapes. One that breaks off is left out.
fn decode(raw: &str) -> String {
    if !raw.contains('\\') {
        return raw.to_owned();
    }
    let mut text = String::with_capacity(raw.len());
    decode_into(raw, |c, _| text.push(c));
    text
}

/// The same, and where each byte of it stands when the raw text begins at `from`.
fn decode_placed(raw: &str, from: usize) -> (String, Vec<usize>) {
    let mut text = String::with_capacity(raw.len());
    let mut places = Vec::with_capacity(raw.len());
    decode_into(raw, |c, at| {
        text.push(c);
        places.extend(std::iter::repeat_n(from + at, c.len_utf8()));
    });
    (text, places)
}

fn decode_into(raw: &str, mut push: impl FnMut(char, usize)) {
    let mut chars = raw.chars();
    let mut high = None;
    loop {
        let at = raw.len() - chars.as_str().len();
        let Some(c) = chars.next() else { return };
        if c != '\\' {
            push(c, at);
            continue;
        }
        match chars.next() {
            Some('n') => push('\n', at),
            Some('t') => push('\t', at),
            Some('r' | 'b' | 'f') | None => {}
            Some('u') => {
                let code = chars.as_str().get(..4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                let Some(code) = code else { continue };
                chars = chars.as_str().get(4..).unwrap_or_default().chars();
                match (high.take(), code) {
                    (_, 0xd800..0xdc00) => high = Some(code),
                    (Some(high), 0xdc00..0xe000) => {
                        let code = 0x1_0000 + ((high - 0xd800) << 10) + (code - 0xdc00);
                        if let Some(c) = char::from_u32(code) {
                            push(c, at);
                        }
                    }
                    (_, code) => {
                        if let Some(c) = char::from_u32(code) {
                            push(c, at);
                        }
                    }
                }
            }
            Some(other) => push(other, at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn what_has_come_is_known() {
        let table = [
            ("", json!({})),
            ("{", json!({})),
            ("{\"pa", json!({})),
            ("{\"path\":", json!({})),
            ("{\"path\": \"src/le", json!({"path": "src/le"})),
            ("{\"path\":\"a\",\"limit\":12", json!({"path": "a", "limit": 12})),
            ("{\"edits\":[{\"oldText\":\"}]\"},{\"ol", json!({})),
            ("{\"a\":[1,{\"b\":\"]\"}],\"c\":\"x\"}", json!({"a": [1, {"b": "]"}], "c": "x"})),
            ("{\"c\":\"a\\n\\\"b\\u00e9\\ud83d\\ude80\\", json!({"c": "a\n\"bé🚀"})),
            ("{\"c\":\"\\u00", json!({"c": "00"})),
            ("not json", json!({})),
        ];
        for (draft, expected) in table {
            assert_eq!(Value::Object(Draft::read(draft).arguments()), expected, "{draft}");
        }
        assert_eq!(Draft::read("{}").chars, 0);
        assert_eq!(Draft::read("{\"é\"").chars, 4);
    }

    #[test]
    fn long_texts_are_looked_at_from_their_end() {
        let content = "line\\n".repeat(1000);
        let draft = format!("{{\"path\":\"a.rs\",\"content\":\"{content}la\\\\st");
        let draft = Draft::read(&draft);
        assert_eq!(draft.lines("content"), Some(1001));
        let edits = Draft::read("{\"edits\":[{\"oldText\":\"a\",\"newText\":\"b\"},{\"oldText\":\"c");
        assert_eq!(edits.pieces("edits", "oldText"), 2);
    }

    proptest! {
        #[test]
        fn a_draft_cut_anywhere_never_fails(cut in 0_usize..200, text in any::<String>()) {
            let whole = json!({"path": text, "n": [1, {"x": null}], "content": "a\n\"\\é"}).to_string();
            let end = whole.floor_char_boundary(cut);
            let draft = Draft::read(whole.get(..end).unwrap());
            draft.arguments();
            draft.lines("path");
        }

        #[test]
        fn a_whole_draft_is_what_it_says(text in "[^\\x00-\\x1f]{0,40}") {
            let whole = json!({"path": text, "n": 4, "l": [1, "]"]});
            prop_assert_eq!(Value::Object(Draft::read(&whole.to_string()).arguments()), whole);
        }
    }
}
