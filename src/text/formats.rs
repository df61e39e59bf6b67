//! Durations, tokens, money and counts as the program writes them. The forms of durations differ on purpose: a row tells
//! what something took, a limit what is left, a clock runs.

use std::time::Duration;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// What something took: `340ms`, `8.6s`, `24m23s`, `1h50m`. Floored, but never nothing.
pub fn took(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 => {
            let millis = duration.as_micros().saturating_add(500) / 1000;
            // 999.6 ms would round to a second.
            format!("{}ms", millis.clamp(1, 999))
        }
        1..MINUTE => format!("{seconds}.{}s", duration.subsec_millis() / 100),
        MINUTE.. => long(seconds),
    }
}

/// The same for something that runs: tenths also below a second, so that it never flickers through milliseconds.
pub fn running(duration: Duration) -> String {
    if duration.as_secs() == 0 {
        return format!("0.{}s", duration.subsec_millis() / 100);
    }
    took(duration)
}

/// From here on a finished time is drawn in a warm colour.
pub const SLOW: Duration = Duration::from_secs(10);

/// A limit, or what is left of it: whole seconds, rounded up, at least one: `30s`, `30m00s`, `1h30m`.
pub fn limit(duration: Duration) -> String {
    let seconds = (duration.as_secs() + u64::from(duration.subsec_nanos() > 0)).max(1);
    if seconds < MINUTE { format!("{seconds}s") } else { long(seconds) }
}

fn long(seconds: u64) -> String {
    if seconds < HOUR {
        format!("{}m{:02}s", seconds / MINUTE, seconds % MINUTE)
    } else {
        format!("{}h{:02}m", seconds / HOUR, seconds % HOUR / MINUTE)
    }
}

/// A stopwatch: `00:08.1`, `1:02:03.4`, `2d 01:02:03.4`.
pub fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let tenths = duration.subsec_millis() / 100;
    let (days, hours) = (seconds / DAY, seconds % DAY / HOUR);
    let (minutes, rest) = (seconds % HOUR / MINUTE, seconds % MINUTE);
    match (days, hours) {
        (0, 0) => format!("{minutes:02}:{rest:02}.{tenths}"),
        (0, _) => format!("{hours}:{minutes:02}:{rest:02}.{tenths}"),
        (_, _) => format!("{days}d {hours:02}:{minutes:02}:{rest:02}.{tenths}"),
    }
}

/// For the footer, minutes and more: `0m`, `19m`, `3h5m`, `3h`, `2d4h`, `2d`.
pub fn coarse(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let pair = |whole: u64, unit: char, part: u64, smaller: char| {
        if part == 0 { format!("{whole}{unit}") } else { format!("{whole}{unit}{part}{smaller}") }
    };
    match seconds {
        0..HOUR => format!("{}m", seconds / MINUTE),
        HOUR..DAY => pair(seconds / HOUR, 'h', seconds % HOUR / MINUTE, 'm'),
        DAY.. => pair(seconds / DAY, 'd', seconds % DAY / HOUR, 'h'),
    }
}

/// For the footer where seconds matter: `4.2s`, `42s`, `12m05s`, then as [`coarse`].
pub fn coarse_with_seconds(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..10 => format!("{seconds}.{}s", duration.subsec_millis() / 100),
        10..MINUTE => format!("{seconds}s"),
        MINUTE..HOUR => long(seconds),
        HOUR.. => coarse(duration),
    }
}

/// Tokens: `999`, `9.4k`, `310k`, `1.2M`, `12M`.
pub fn tokens(count: u64) -> String {
    // Rounded to the unit first: 9,960 is 10k, not 10.0k.
    let rounded = |unit: u64| count.saturating_add(unit / 2) / unit;
    match count {
        0..1000 => count.to_string(),
        1000..9950 => format!("{}.{}k", rounded(100) / 10, rounded(100) % 10),
        9950..999_500 => format!("{}k", rounded(1000)),
        999_500..9_950_000 => format!("{}.{}M", rounded(100_000) / 10, rounded(100_000) % 10),
        9_950_000.. => format!("{}M", rounded(1_000_000)),
    }
}

/// Characters that stand for one token in every live estimate.
pub const CHARS_PER_TOKEN: usize = 4;

/// Dollars: `$104`, `$0.94`, `$0.0030`.
pub fn money(dollars: f64) -> String {
    money_with(dollars, money_decimals(dollars))
}

/// The decimals of a settled figure. One that is on its way to it borrows them, so that its width does not change.
pub fn money_decimals(dollars: f64) -> usize {
    // What is shown decides: 0.0999 is written as 0.10.
    const STEPS: [(f64, usize); 3] = [(99.995, 0), (0.0995, 2), (0.00995, 3)];
    if dollars <= 0.0 || !dollars.is_finite() {
        return 2;
    }
    if let Some((_, decimals)) = STEPS.iter().find(|(least, _)| dollars >= *least) {
        return *decimals;
    }
    let mut decimals = 4;
    let mut least = 0.000_995;
    while dollars < least && decimals < 8 {
        decimals += 1;
        least /= 10.0;
    }
    decimals
}

/// Dollars with so many decimals.
pub fn money_with(dollars: f64, decimals: usize) -> String {
    // No minus before a zero.
    let dollars = if dollars == 0.0 { 0.0 } else { dollars };
    format!("${dollars:.decimals$}")
}

/// With separators: `1,204`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// With one decimal: `1,450.8`.
pub fn rate(rate: f64) -> String {
    let text = format!("{rate:.1}");
    let parts = text.split_once('.').and_then(|(whole, tenth)| Some((whole.parse().ok()?, tenth)));
    parts.map_or_else(|| text.clone(), |(whole, tenth)| format!("{}.{tenth}", count(whole)))
}

/// With a noun: `1 line`, `5,321 lines`.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(form: impl Fn(Duration) -> String, rows: &[(u64, &str)]) {
        for (millis, expected) in rows {
            assert_eq!(form(Duration::from_millis(*millis)), *expected, "{millis} ms");
        }
    }

    #[test]
    fn rates_have_one_decimal_and_separators() {
        let table = [(0.0, "0.0"), (71.44, "71.4"), (999.96, "1,000.0"), (1450.8, "1,450.8")];
        for (rate, expected) in table {
            assert_eq!(super::rate(rate), expected);
        }
    }

    #[test]
    fn what_something_took() {
        table(
            took,
            &[
                (0, "1ms"),
                (12, "12ms"),
                (999, "999ms"),
                (1000, "1.0s"),
                (8690, "8.6s"),
                (59_999, "59.9s"),
                (60_000, "1m00s"),
                (1_463_000, "24m23s"),
                (3_599_999, "59m59s"),
                (6_600_000, "1h50m"),
                (7_200_000, "2h00m"),
                (100 * 3_600_000, "100h00m"),
            ],
        );
        assert_eq!(took(Duration::from_micros(999_900)), "999ms");
        assert_eq!(took(Duration::from_micros(1600)), "2ms");
        table(running, &[(0, "0.0s"), (449, "0.4s"), (8690, "8.6s")]);
    }

    #[test]
    fn limits_are_rounded_up() {
        table(
            limit,
            &[
                (0, "1s"),
                (29_001, "30s"),
                (30_000, "30s"),
                (59_500, "1m00s"),
                (1_800_000, "30m00s"),
                (5_400_000, "1h30m"),
            ],
        );
    }

    #[test]
    fn clocks_run() {
        table(
            clock,
            &[
                (8_190, "00:08.1"),
                (80_500, "01:20.5"),
                (3_723_400, "1:02:03.4"),
                (86_400_000 + 3_723_400, "1d 01:02:03.4"),
            ],
        );
    }

    #[test]
    fn the_footer_is_coarse() {
        table(
            coarse,
            &[
                (59_000, "0m"),
                (19 * 60_000, "19m"),
                (185 * 60_000, "3h5m"),
                (180 * 60_000, "3h"),
                (52 * 3_600_000, "2d4h"),
                (48 * 3_600_000, "2d"),
            ],
        );
        table(
            coarse_with_seconds,
            &[(4_290, "4.2s"), (42_900, "42s"), (725_000, "12m05s"), (185 * 60_000, "3h5m")],
        );
    }

    #[test]
    fn tokens_are_short() {
        let table = [
            (0, "0"),
            (999, "999"),
            (1000, "1.0k"),
            (9_400, "9.4k"),
            (9_960, "10k"),
            (310_200, "310k"),
            (999_700, "1.0M"),
            (1_240_000, "1.2M"),
            (12_000_000, "12M"),
        ];
        for (count, expected) in table {
            assert_eq!(tokens(count), expected);
        }
    }

    #[test]
    fn money_shows_two_figures() {
        let table = [
            (0.0, "$0.00"),
            (-0.0, "$0.00"),
            (0.94, "$0.94"),
            (0.1, "$0.10"),
            (0.0999, "$0.10"),
            (0.054, "$0.054"),
            (0.003, "$0.0030"),
            (0.000_012_3, "$0.000012"),
            (0.000_000_001, "$0.00000000"),
            (99.994, "$99.99"),
            (99.999, "$100"),
            (104.4, "$104"),
        ];
        for (dollars, expected) in table {
            assert_eq!(money(dollars), expected, "{dollars}");
        }
        assert_eq!(money_with(0.001, money_decimals(0.94)), "$0.00");
    }

    #[test]
    fn counts_have_separators() {
        let table = [(0, "0 lines"), (1, "1 line"), (1204, "1,204 lines"), (5_321_000, "5,321,000 lines")];
        for (number, expected) in table {
            assert_eq!(counted(number, "line"), expected);
        }
    }
}
