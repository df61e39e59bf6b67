//! Files that were dropped on the terminal come as a paste of their paths, escaped for a shell. In a prompt they stand as
//! paths.

/// What a paste reads when it is dropped files, each in a form that a prompt should not show: with escaped blanks, or as
/// a `file:` address. `None`: it is something else, and stays as it is. Quoted paths are fine as they are.
pub fn paths(text: &str) -> Option<String> {
    let words = words(text.trim_end_matches(' '))?;
    let mut is_odd = false;
    let mut out = Vec::new();
    for word in words {
        is_odd |= word.is_escaped || word.text.starts_with(FILE);
        let path = match word.text.strip_prefix(FILE) {
            Some(rest) => decoded(rest.strip_prefix("localhost").unwrap_or(rest))?,
            None => word.text,
        };
        if !path.starts_with('/') {
            return None;
        }
        out.push(if path.contains(' ') { format!("\"{path}\"") } else { path });
    }
    is_odd.then(|| out.join(" "))
}

/// It begins like the path of a file.
pub fn looks_like_path(text: &str) -> bool {
    let text = text.strip_prefix(['\'', '"']).unwrap_or(text);
    !text.contains('\n') && ["/", "~/", "./", "../", FILE].iter().any(|start| text.starts_with(start))
}

const FILE: &str = "file://";

struct Word {
    text: String,
    /// A blank of it was escaped: that is a shell's way to write a path, and nobody's way to write anything else.
    is_escaped: bool,
}

/// The words of a line as a shell reads escapes. `None` if there is anything in it that no terminal writes for a file.
fn words(line: &str) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    let mut word = Word { text: String::new(), is_escaped: false };
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let escaped = chars.next()?;
                // What needs no escape was not escaped by a terminal: it is a pattern, or code.
                if escaped.is_alphanumeric() || matches!(escaped, '.' | '/' | '-' | '_' | '\n') {
                    return None;
                }
                word.is_escaped |= escaped == ' ';
                word.text.push(escaped);
            }
            ' ' => {
                words.push(std::mem::replace(&mut word, Word { text: String::new(), is_escaped: false }));
            }
            '\n' | '\'' | '"' => return None,
            c => word.text.push(c),
        }
    }
    words.push(word);
    Some(words)
}

/// An address with its `%20` as what they stand for.
fn decoded(address: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(address.len());
    let mut rest = address.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let (high, low) = (digit()?, digit()?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok().filter(|path| !path.chars().any(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_files_are_read_and_other_pastes_are_not() {
        let table = [
            ("/home/ada/a\\ b.png", Some("\"/home/ada/a b.png\"")),
            ("/tmp/a\\ \\(1\\).txt ", Some("\"/tmp/a (1).txt\"")),
            ("/a\\ b /c", Some("\"/a b\" /c")),
            ("file:///home/ada/a%20b.txt", Some("\"/home/ada/a b.txt\"")),
            ("file://localhost/etc/hosts", Some("/etc/hosts")),
            ("file:///bad%0aname", None),
            ("file:///%zz", None),
            // As they are.
            ("/etc/hosts", None),
            ("'/home/ada/a b.png'", None),
            ("\"/home/ada/a b.png\"", None),
            // No files.
            ("/^a\\.b\\ c/", None),
            ("/foo\\(bar\\)/", None),
            ("cp /a\\ b here", None),
            ("a\\ b", None),
            ("/a\\", None),
            ("/a\\ b\n/c", None),
            ("https://example.org/a%20b", None),
            ("", None),
        ];
        for (pasted, expected) in table {
            assert_eq!(paths(pasted).as_deref(), expected, "{pasted:?}");
        }
        let table =
            [("/a", true), ("'/a b'", true), ("~/x", true), ("a/b", false), ("/a\nb", false), ("", false)];
        for (text, expected) in table {
            assert_eq!(looks_like_path(text), expected, "{text:?}");
        }
    }
}
