//! A percentage on any line. Beside a bar it is a progress display; alone it could be anything.

use super::super::figures::{Reading, percent};
use crate::proto::meter::Meter;

/// As many characters of a bar make one.
const BAR: usize = 5;

/// `######     45.2%`, `Copying 45%`.
pub fn read(line: &str) -> Option<Reading> {
    if tells_coverage(line) {
        return None;
    }
    let share = percent(last_percentage(line)?)?;
    Some(Reading { meter: Meter { share: Some(share), ..Meter::default() }, trusted: has_bar(line) })
}

/// The last one that is no part of a longer number, of a word or of an encoded address.
fn last_percentage(line: &str) -> Option<&str> {
    line.rmatch_indices('%').find_map(|(end, _)| {
        let (before, after) = line.split_at_checked(end)?;
        let begin = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let (ahead, number) = before.split_at_checked(begin)?;
        let joined = |c: char| c.is_alphanumeric() || matches!(c, ',' | '-' | '+' | '_');
        let alone = !ahead.ends_with(joined) && !after.chars().nth(1).is_some_and(char::is_alphanumeric);
        let digits = number.split('.').next().map_or(0, str::len);
        (alone && (1..=3).contains(&digits)).then_some(number)
    })
}

fn has_bar(line: &str) -> bool {
    let mut run = 0;
    line.chars().any(|character| {
        run = if "#=█━■▇▆▉▊▋▌▍▎▏▓".contains(character) { run + 1 } else { 0 };
        run >= BAR
    })
}

/// Packages that are tested one after the other each tell how much of them was covered, and a rise among those would
/// be taken for progress.
fn tells_coverage(line: &str) -> bool {
    const WORD: &[u8] = b"coverage";
    line.as_bytes().windows(WORD.len()).any(|window| window.eq_ignore_ascii_case(WORD))
}
