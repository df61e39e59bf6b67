//! Numbers and times.

use super::super::figures::{left, percent, ratio};

#[test]
fn every_form_of_time_left() {
    let cases = [
        ("0:00:02", Some(2)),
        ("01:30", Some(90)),
        ("1:02:03", Some(3_723)),
        ("123:00:00", Some(442_800)),
        ("3s", Some(3)),
        ("2m 5s", Some(125)),
        ("2m5s", Some(125)),
        ("1h 2m", Some(3_720)),
        ("1h2m3s", Some(3_723)),
        ("1d 2h", Some(93_600)),
        ("1d 1h 1m 1s", Some(90_061)),
        (" 4s ", Some(4)),
        ("4 s", Some(4)),
        ("--:--:--", None),
        ("?", None),
        ("", None),
        ("0s", None),
        ("0:00:00", None),
        ("soon", None),
        ("12", None),
        ("5x", None),
        ("1:2:3:4", None),
        ("-1:00", None),
        ("+1:00", None),
        ("99999999999999999999s", None),
        ("99999999999999999d", None),
        ("99999999999999999999:00:00", None),
        ("s", None),
    ];
    for (text, seconds) in cases {
        assert_eq!(left(text).map(|left| left.as_secs()), seconds, "{text:?}");
    }
}

#[test]
fn shares() {
    assert_eq!(percent("45.5"), Some(0.455));
    assert_eq!(percent("100"), Some(1.0));
    assert_eq!(percent("101"), None);
    assert_eq!(percent(""), None);
    let cases = [
        ("3", "12", Some(0.25)),
        ("500", "1k", Some(0.5)),
        ("1.5M", "3M", Some(0.5)),
        ("2MB", "4MB", Some(0.5)),
        ("512kB", "1.024MB", Some(0.5)),
        ("1,000", "4,000", Some(0.25)),
        ("3", "0", None),
        ("0", "0", None),
        ("5", "3", None),
        ("x", "3", None),
    ];
    for (done, all, share) in cases {
        assert_eq!(ratio(done, all), share, "{done}/{all}");
    }
}
