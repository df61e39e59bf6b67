//! A command line as its words, by the quoting rules of a POSIX shell. Nothing is expanded, and no shell runs.

/// The words, or `None` if a quote is left open.
pub fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        match sign {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match signs.next()? {
                        '\'' => break,
                        sign => word.push(sign),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match signs.next()? {
                        '"' => break,
                        '\\' => match signs.next()? {
                            '\n' => {}
                            sign @ ('"' | '\\' | '$' | '`') => word.push(sign),
                            sign => word.extend(['\\', sign]),
                        },
                        sign => word.push(sign),
                    }
                }
            }
            '\\' => match signs.next()? {
                '\n' => {}
                sign => word.get_or_insert_default().push(sign),
            },
            sign => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn lines() {
        let cases: [(&str, Option<&[&str]>); 12] = [
            ("", Some(&[])),
            ("  \t ", Some(&[])),
            ("parec", Some(&["parec"])),
            ("ssh desk  arecord -D 'my mic'", Some(&["ssh", "desk", "arecord", "-D", "my mic"])),
            (r#"a"b c"'d e'f"#, Some(&["ab cd ef"])),
            (r"a\ b \'", Some(&["a b", "'"])),
            (r#""\"\\\n$HOME""#, Some(&[r#""\\n$HOME"#])),
            ("'' \"\"", Some(&["", ""])),
            ("a 'b", None),
            ("a \"b", None),
            ("a\\", None),
            ("ü 'ö;|&'", Some(&["ü", "ö;|&"])),
        ];
        for (line, expected) in cases {
            let expected: Option<Vec<String>> =
                expected.map(|words| words.iter().map(|word| (*word).to_owned()).collect());
            assert_eq!(split(line), expected, "{line}");
        }
    }
}
