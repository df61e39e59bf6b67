use super::Reader;
use crate::proto::meter::Meter;
use std::time::{Duration, Instant};

/// A reader on a clock of its own.
struct Watch {
    reader: Reader,
    now: Instant,
}

impl Watch {
    fn new() -> Self {
        Self { reader: Reader::default(), now: Instant::now() }
    }

    /// The text comes, and a fifth of a second later somebody looks.
    fn see(&mut self, text: &str) -> Option<Meter> {
        self.reader.feed(text.as_bytes(), self.now);
        self.after(200)
    }

    fn after(&mut self, millis: u64) -> Option<Meter> {
        self.now += Duration::from_millis(millis);
        self.reader.look(self.now)
    }
}

fn worded(meter: Option<Meter>) -> String {
    let Some(meter) = meter else { return "nothing".to_owned() };
    let share = meter.share.map(|share| format!("{:.1}%", share * 100.0));
    let left = meter.left.map(|left| format!("{}s left", left.as_secs()));
    share.into_iter().chain(left).chain(meter.facts).collect::<Vec<_>>().join(" · ")
}

mod belief;
mod captured;
mod figures;
mod flood;
mod random;
mod screen;
