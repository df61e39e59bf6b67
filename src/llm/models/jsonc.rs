//! JSON with comments, as Pi allows it: comments and trailing commas become blanks, so that lines and columns of
//! errors stay those of the file.

/// Plain JSON with the same line breaks.
pub fn to_json(text: &str) -> String {
    blank_trailing_commas(&blank_comments(text))
}

fn blank_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('"', _) => {
                out.push(c);
                copy_string(&mut chars, &mut out);
            }
            ('/', Some('/')) => {
                while let Some(skipped) = chars.next_if(|next| *next != '\n') {
                    out.push(blank(skipped));
                }
                out.push(' ');
            }
            ('/', Some('*')) => {
                out.push(' ');
                let mut before = ' ';
                chars.next();
                for skipped in chars.by_ref() {
                    out.push(blank(skipped));
                    if before == '*' && skipped == '/' {
                        break;
                    }
                    before = skipped;
                }
            }
            _ => out.push(c),
        }
    }
    out
}

fn blank_trailing_commas(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                out.push(c);
                copy_string(&mut chars, &mut out);
            }
            ',' if chars
                .clone()
                .find(|next| !next.is_whitespace())
                .is_some_and(|c| matches!(c, '}' | ']')) =>
            {
                out.push(' ');
            }
            _ => out.push(c),
        }
    }
    out
}

/// Copies the rest of a string, its closing quote included.
fn copy_string(chars: &mut impl Iterator<Item = char>, out: &mut String) {
    while let Some(c) = chars.next() {
        out.push(c);
        match c {
            '\\' => out.extend(chars.next()),
            '"' => return,
            _ => {}
        }
    }
}

const fn blank(c: char) -> char {
    if c == '\n' { '\n' } else { ' ' }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn comments_and_trailing_commas_go_and_strings_stay() {
        let text = r#"{
            // a line, with a "quote
            "url": "http://x//y", /* a block, // and
            more **/ "list": [1, 2, ],
            "tricky": "a\"//b, }", // last
        }"#;
        let value: Value = serde_json::from_str(&to_json(text)).unwrap();
        assert_eq!(value, json!({"url": "http://x//y", "list": [1, 2], "tricky": "a\"//b, }"}));
    }

    #[test]
    fn errors_keep_their_line() {
        let error = serde_json::from_str::<Value>(&to_json("{\n// one\n/* two\nthree */ \"a\": nope\n}"))
            .unwrap_err();
        assert_eq!(error.line(), 4);
    }

    proptest! {
        #[test]
        fn plain_json_means_the_same(text in "[\\\\\"/*, \\n{}a]{0,40}") {
            let value = json!({ "k": text, "list": [1, [text]] });
            let plain = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(to_json(&plain), plain);
        }

        #[test]
        fn any_text_keeps_its_lines(text in "[\\\\\"/*, \\n{}a]{0,60}") {
            prop_assert_eq!(to_json(&text).matches('\n').count(), text.matches('\n').count());
        }
    }
}
