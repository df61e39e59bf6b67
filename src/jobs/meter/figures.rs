//! What a display says, and the numbers in it.

use crate::proto::meter::Meter;
use std::time::Duration;

/// What one line says. The share may be 1 here.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// What it says.
    pub meter: Meter,
    /// It can be nothing but a progress display.
    pub trusted: bool,
}

impl Reading {
    /// Of a display that can be nothing else.
    pub fn trusted(share: Option<f64>, left: Option<Duration>, facts: Vec<String>) -> Self {
        Self { meter: Meter { share, left, facts }, trusted: true }
    }
}

/// `45`, `45.2`: a percentage as a share; more than everything is none.
pub fn percent(text: &str) -> Option<f64> {
    let share = text.parse::<f64>().ok()? / 100.0;
    (0.0..=1.0).contains(&share).then_some(share)
}

/// The share that one amount is of another; both may be written with a unit's prefix (`1.2k`).
pub fn ratio(done: &str, all: &str) -> Option<f64> {
    let (done, all) = (amount(done)?, amount(all)?);
    let share = done / all;
    (share.is_finite() && (0.0..=1.0).contains(&share)).then_some(share)
}

/// A number with at most a prefix and a unit behind it: `1,204`, `1.2k`, `12.5MB`, `3MiB`. Binary prefixes are taken as
/// decimal ones: both amounts of a display have the same.
fn amount(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    let power = match unit.trim_start().chars().next() {
        Some('k' | 'K') => 1,
        Some('M') => 2,
        Some('G') => 3,
        Some('T') => 4,
        _ => 0,
    };
    Some(number.replace(',', "").parse::<f64>().ok()? * 1000_f64.powi(power))
}

/// Time left: `1:02:03`, `02:03`, `1d 2h 3m 4s`, each part optional. Unknown and nothing left are the same: no fact.
pub fn left(text: &str) -> Option<Duration> {
    let text = text.trim();
    let seconds = if text.contains(':') { clock(text)? } else { units(text)? };
    (seconds > 0).then_some(Duration::from_secs(seconds))
}

fn clock(text: &str) -> Option<u64> {
    let parts = text.split(':').map(whole).collect::<Option<Vec<_>>>()?;
    let (hours, minutes, seconds) = match *parts.as_slice() {
        [minutes, seconds] => (0, minutes, seconds),
        [hours, minutes, seconds] => (hours, minutes, seconds),
        _ => return None,
    };
    hours.checked_mul(60)?.checked_add(minutes)?.checked_mul(60)?.checked_add(seconds)
}

fn units(text: &str) -> Option<u64> {
    let mut sum = 0_u64;
    let mut rest = text;
    while !rest.is_empty() {
        let (number, after) = rest.split_at_checked(rest.find(|c: char| !c.is_ascii_digit())?)?;
        let mut characters = after.trim_start().chars();
        let unit = match characters.next()? {
            'd' => 86_400,
            'h' => 3_600,
            'm' => 60,
            's' => 1,
            _ => return None,
        };
        sum = sum.checked_add(whole(number)?.checked_mul(unit)?)?;
        rest = characters.as_str().trim_start();
    }
    Some(sum)
}

/// Digits only: parsing would take a sign too.
fn whole(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}
