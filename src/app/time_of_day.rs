//! The time of day where the user is.

/// Hours and minutes now. Where the zone is unknown, of UTC.
pub fn now() -> (u8, u8) {
    let time = jiff::ZonedDateTime::now();
    (u8::try_from(time.hour()).unwrap_or_default(), u8::try_from(time.minute()).unwrap_or_default())
}
