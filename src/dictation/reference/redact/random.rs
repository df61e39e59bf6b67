//! Whether a text looks as if dice had made it. Names in code are words: their letters change between small, capital and
//! digit seldom. Keys change all the time.

/// Has small letters, capitals and digits.
pub fn is_mixed(text: &str) -> bool {
    let has = |test: fn(char) -> bool| text.chars().any(test);
    has(|c| c.is_ascii_lowercase()) && has(|c| c.is_ascii_uppercase()) && has(|c| c.is_ascii_digit())
}

/// A long text of mixed letters, anywhere: at least 24 characters of letters, digits and `+/=_-`.
pub fn is_key(text: &str) -> bool {
    if text.len() < 24 || !is_mixed(text) {
        return false;
    }
    // Paths have slashes too, and their parts are words.
    let groups = if text.contains('/') { 3 } else { 2 };
    digit_groups(text) >= groups && changes(text) * 100 >= text.len() * 38
}

/// The value of an assignment to whatever name: at least 16 characters, mixed, or at least 20 small letters and digits.
pub fn is_value(text: &str) -> bool {
    let is_small = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_small = text.len() >= 20 && text.chars().all(is_small) && !is_hex(text) && digit_groups(text) >= 3;
    let is_short_key = text.len() >= 16
        && is_mixed(text)
        && digit_groups(text) >= 2
        && changes(text) * 100 >= text.len() * 45;
    is_small || is_short_key || is_key(text)
}

/// The value of something called a key: at least 12 characters with letters and digits, hexadecimal ones included.
pub fn is_value_of_key(text: &str) -> bool {
    let letters = text.chars().filter(char::is_ascii_alphabetic).count();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    text.len() >= 12 && letters > 0 && digits >= 2 && (digit_groups(text) >= 2 || digits * 4 >= text.len())
}

fn is_hex(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_hexdigit())
}

/// How many runs of digits there are.
fn digit_groups(text: &str) -> usize {
    let mut was_digit = false;
    let starts = text.chars().filter(|c| {
        let is_digit = c.is_ascii_digit();
        let starts = is_digit && !was_digit;
        was_digit = is_digit;
        starts
    });
    starts.count()
}

/// How often the kind of character changes.
fn changes(text: &str) -> usize {
    let kind = |c: char| match c {
        'a'..='z' => 0,
        'A'..='Z' => 1,
        '0'..='9' => 2,
        _ => 3,
    };
    text.chars().zip(text.chars().skip(1)).filter(|(a, b)| kind(*a) != kind(*b)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_names() {
        for key in
            ["Zk3vQ9xT1bLm8RwYp2NdH5sJ", "q83vD1k0Pz7Wm2Xc9Lr4Tt6Yb1Nn5Hh", "aB3/dE5+gH7iJ9kL1mN3oP5q=="]
        {
            assert!(is_key(key), "{key}");
        }
        for name in [
            "SomeVeryLongTypeName2BuilderForTests",
            "claude-3-7-sonnet-20250219-Preview",
            "the_quick_brown_fox_jumps_2_Times_over",
            "src/dictation/reference/Case3/v2",
            "0123456789abcdef0123456789abcdef01234567",
            "DESERIALIZE_WITH_TEXT_OR_BLOCKS_v3",
        ] {
            assert!(!is_key(name), "{name}");
        }
    }

    #[test]
    fn values() {
        assert!(is_value("k3jf83jf83jf8s0dk3mf"));
        assert!(!is_value("0123456789abcdef0123456789abcdef"));
        assert!(is_value_of_key("0123456789abcdef0123456789abcdef"));
        assert!(!is_value_of_key("voice.cleanup_model"));
    }
}
