//! The time of day where the user is.

/// Hours and minutes now. Where the zone is unknown, of UTC.
pub fn now() -> (u8, u8) {
    let time = jiff::ZonedDateTime::now();
    (u8::try_from(time.hour()).unwrap_or_default(), u8::try_from(time.minute()).unwrap_or_default())
}

/// Milliseconds since the Unix epoch.
pub fn wall() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Hours, minutes and seconds of such a time. Where the zone is unknown, of UTC.
pub fn at(millis: i64) -> (u8, u8, u8) {
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or_default();
    let time = jiff::tz::TimeZone::system().to_datetime(time);
    let part = |part: i8| u8::try_from(part).unwrap_or_default();
    (part(time.hour()), part(time.minute()), part(time.second()))
}
