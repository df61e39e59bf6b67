//! curl: a table of twelve columns. Percentages are the 1st, 3rd and 5th, times the 9th to 11th.

use super::super::figures::{Reading, left, percent};

/// A row of the table.
pub fn read(line: &str) -> Option<Reading> {
    let columns: Vec<&str> = line.split_whitespace().take(13).collect();
    let [share, total, down_share, received, up_share, sent, _, _, whole, spent, rest, speed] =
        *columns.as_slice()
    else {
        return None;
    };
    if ![share, down_share, up_share].into_iter().all(is_percentage)
        || ![whole, spent, rest].into_iter().all(is_clock)
    {
        return None;
    }
    if ![total, received, sent, speed].into_iter().all(is_amount) {
        return None;
    }
    let moved = if received == "0" { sent } else { received };
    // Of an unknown size curl says nothing, or that all of what came has come.
    let known = total != "0" && (share != "100" || down_share == "100" || up_share == "100");
    let amount = if known { format!("{moved}/{total}") } else { moved.to_owned() };
    let share = if known { Some(percent(share)?) } else { None };
    // Before the first byte there is nothing to tell.
    let facts = if moved == "0" { Vec::new() } else { vec![amount, format!("{speed}/s")] };
    Some(Reading::trusted(share, left(rest), facts))
}

fn is_percentage(text: &str) -> bool {
    (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_clock(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let is_part = |part: &str| part == "--" || part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(*parts.as_slice(), [hours, minutes, seconds]
        if !hours.is_empty() && minutes.len() == 2 && seconds.len() == 2)
        && parts.into_iter().all(is_part)
}

fn is_amount(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
}
