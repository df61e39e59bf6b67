//! Private keys that go over many lines: the header, all of its body, the end. And lines that are nothing but encoded
//! bytes: the body of a key whose header was cut off.

use super::random;

/// A line of encoded bytes that is taken without a header is at least this long.
const LEAST_BODY: usize = 40;

/// A key without an end line is followed for so many lines.
const LONGEST: usize = 200;

/// For each line, whether it belongs to a private key.
pub fn find(lines: &[&str]) -> Vec<bool> {
    let mut found = vec![false; lines.len()];
    let mut next = 0;
    while let Some(line) = lines.get(next) {
        let len = if opens(line) {
            block(lines.get(next..).unwrap_or_default())
        } else {
            usize::from(is_body(line))
        };
        found.iter_mut().skip(next).take(len).for_each(|line| *line = true);
        next += len.max(1);
    }
    found
}

/// A line that begins a private key, or tells that its bytes come next.
fn opens(line: &str) -> bool {
    let lower = line.to_lowercase();
    let pem = lower.contains("private key") && (lower.contains("begin") || lower.contains("-----"));
    pem || lower.contains("private-lines:")
        || lower.contains("begin openssh")
        || lower.contains("begin encrypted")
}

/// How many lines the block has that these begin with.
fn block(lines: &[&str]) -> usize {
    let rest = lines.iter().take(LONGEST);
    if closes(lines.first().copied().unwrap_or_default()) {
        // All of it on one line.
        return 1;
    }
    if let Some(end) = rest.clone().skip(1).position(|line| closes(line)) {
        return end + 2;
    }
    // No end: cut off, or another kind of file. What looks like its body belongs to it.
    let body =
        rest.skip(1).take_while(|line| is_header(line) || line.trim().is_empty() || begins_encoded(line));
    body.count() + 1
}

fn closes(line: &str) -> bool {
    let lower = line.to_lowercase();
    lower.contains("end ") && lower.contains("private key")
}

/// `Proc-Type: 4,ENCRYPTED` and its like.
fn is_header(line: &str) -> bool {
    line.trim_start().split_once(':').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    })
}

/// A line of encoded bytes as keys have it: a long one of mixed letters and digits.
fn is_body(line: &str) -> bool {
    let core = core(line);
    is_encoded(core) && random::is_mixed(core)
}

/// A line of a body, whatever stands before and behind it: a long run of mixed letters, or a run and nothing else.
fn begins_encoded(line: &str) -> bool {
    let start = line.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let end = start.find(|c: char| !is_letter(c)).unwrap_or(start.len());
    let (run, rest) = start.split_at(end);
    let is_alone = !rest.chars().any(char::is_alphanumeric);
    !run.is_empty() && (is_alone || (run.len() >= 16 && random::is_mixed(run)))
}

const fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '_' | '-')
}

/// Nothing but one run of base64 or hexadecimal letters, whatever quotes it.
fn is_encoded(core: &str) -> bool {
    core.len() >= LEAST_BODY && core.chars().all(is_letter)
}

/// The line without quotes, marks of a diff and what joins strings in code.
fn core(line: &str) -> &str {
    let core = line.trim_matches(|c: char| c.is_whitespace() || "\"'`>|+*#;,(){}[]".contains(c));
    core.strip_suffix("\\n").or_else(|| core.strip_suffix('\\')).unwrap_or(core)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "MIIEowIBAAKCAQEAx8Qk3v1ZrT0pYqWnLb7dGfHjKmNs";

    fn taken(text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        find(&lines).into_iter().map(|found| if found { 'x' } else { '.' }).collect()
    }

    #[test]
    fn keys_go_with_all_of_their_lines() {
        let table = [
            ("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nAB==\n-----END RSA PRIVATE KEY-----\nb", ".xxxx."),
            ("-----BEGIN PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEabc\nAB==\nand then", "xxxxx."),
            ("-----BEGIN PRIVATE KEY----- MIIE -----END PRIVATE KEY-----\nb", "x."),
            ("Private-Lines: 2\nAAAA\nBBBB\n\nthe end", "xxxx."),
            ("the private key is in the vault\nb", ".."),
            ("-----BEGIN CERTIFICATE-----\nb", ".."),
        ];
        for (text, expected) in table {
            assert_eq!(taken(text), expected, "{text}");
        }
    }

    #[test]
    fn a_body_without_its_header_goes_too() {
        assert_eq!(taken(&format!("{BODY}\nb")), "x.");
        assert_eq!(taken(&format!("    \"{BODY}\\n\" +\nb")), "x.");
        assert_eq!(
            taken("0123456789012345678901234567890123456789\n========================================"),
            ".."
        );
    }
}
