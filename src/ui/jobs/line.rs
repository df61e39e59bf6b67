//! What a job's row says, fitted to its room: title, command, status, facts, newest output. Pure.

use crate::text::width;
use crate::theme::role::Role;
use crate::ui::band::line::{columns, cut};
use crate::ui::band::seg::{self, Seg};

/// Blank columns between two groups.
const GAP: usize = 2;
/// Before the command.
const SIGN: &str = "$ ";
/// Before the newest output.
const POINTER: &str = "▸ ";
/// Between facts.
const DOT: &str = " · ";
/// Bytes of a command that are looked at.
const MOST_COMMAND: usize = 200;

/// What a row of a job says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobLine {
    title: String,
    command: String,
    status: Vec<Seg>,
    facts: Vec<String>,
    latest: String,
}

impl JobLine {
    /// A row of this title and command, which come from others.
    pub fn new(title: &str, command: &str) -> Self {
        let command = command.get(..command.floor_char_boundary(MOST_COMMAND)).unwrap_or_default();
        let (title, command) = (seg::line(title), seg::line(command.trim()));
        // One that nobody has given a title is called after its command, which is said once.
        let title = if command.starts_with(&title) { String::new() } else { title };
        Self { title, command, ..Self::default() }
    }

    /// How it goes: never cut as long as there is any room.
    #[must_use]
    pub fn status(self, status: Vec<Seg>) -> Self {
        Self { status, ..self }
    }

    /// What is known about it, the time left first.
    #[must_use]
    pub fn facts(self, facts: impl IntoIterator<Item = String>) -> Self {
        Self { facts: facts.into_iter().map(|fact| seg::line(&fact)).collect(), ..self }
    }

    /// Its newest output, a text of others.
    #[must_use]
    pub fn latest(self, latest: &str) -> Self {
        Self { latest: seg::line(latest), ..self }
    }

    /// The words for so many columns. Gives way, in this order: the newest output, the command, the output altogether,
    /// the facts but for the first, the title, the first fact, the command altogether.
    pub fn fitted(&self, room: usize) -> Vec<Seg> {
        let mut kept = Kept {
            title: width::of(&self.title),
            command: width::of(&self.command),
            facts: self.facts.len(),
            latest: width::of(&self.latest),
        };
        let missing = |kept: &Kept| columns(&self.words(kept)).saturating_sub(room);
        kept.latest = down_to(kept.latest, 24, missing(&kept));
        kept.command = down_to(kept.command, 16, missing(&kept));
        kept.latest = down_or_gone(kept.latest, 10, missing(&kept));
        while kept.facts > 1 && missing(&kept) > 0 {
            kept.facts -= 1;
        }
        kept.title = down_or_gone(kept.title, 6, missing(&kept));
        if missing(&kept) > 0 {
            kept.facts = 0;
        }
        // A wide character that does not fit whole leaves a column free, so one step may not be enough.
        while kept.command > 0 && missing(&kept) > 0 {
            kept.command = down_or_gone(kept.command, 4, missing(&kept));
        }
        cut(self.words(&kept), room)
    }

    fn words(&self, kept: &Kept) -> Vec<Seg> {
        let mut groups: Vec<Vec<Seg>> = Vec::with_capacity(4);
        if kept.title > 0 {
            groups.push(cut(vec![Seg::bold(Role::Text, self.title.clone())], kept.title));
        }
        if kept.command > 0 {
            let mut command = vec![Seg::bold(Role::Accent, SIGN)];
            command.extend(cut(vec![Seg::new(Role::Text, self.command.clone())], kept.command));
            groups.push(command);
        }
        let mut status = self.status.clone();
        for (at, fact) in self.facts.iter().take(kept.facts).enumerate() {
            if at > 0 || !status.is_empty() {
                status.push(Seg::new(Role::Dim, DOT));
            }
            status.push(Seg::new(Role::Muted, fact.clone()));
        }
        if !status.is_empty() {
            groups.push(status);
        }
        if kept.latest > 0 {
            let latest = format!("{POINTER}{}", self.latest);
            groups.push(cut(vec![Seg::new(Role::Dim, latest)], kept.latest + width::of(POINTER)));
        }
        let mut words = Vec::new();
        for group in groups {
            if !words.is_empty() {
                words.push(Seg::new(Role::Muted, " ".repeat(GAP)));
            }
            words.extend(group);
        }
        words
    }
}

/// Columns that each part keeps, and how many facts.
struct Kept {
    title: usize,
    command: usize,
    facts: usize,
    latest: usize,
}

/// As many columns less as are missing, but no fewer than `least`.
fn down_to(columns: usize, least: usize, missing: usize) -> usize {
    columns.saturating_sub(missing).max(least.min(columns))
}

/// The same, and none at all where even the least is too much.
fn down_or_gone(columns: usize, least: usize, missing: usize) -> usize {
    let fewer = columns.saturating_sub(missing);
    if missing == 0 || fewer >= least { fewer } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line() -> JobLine {
        let percent = vec![Seg::new(Role::Text, "18.4s  "), Seg::bold(Role::Accent, "62%")];
        let facts = ["11s left", "118M/190M", "6.5M/s"].map(str::to_owned);
        JobLine::new("Fetch dataset", "curl -LO https://example.org/a/long/path.tar")
            .status(percent)
            .facts(facts)
    }

    fn text(segs: &[Seg]) -> String {
        segs.iter().map(|seg| seg.text.as_str()).collect()
    }

    #[test]
    fn what_gives_way_when_it_gets_narrow() {
        let table = [
            (
                120,
                "Fetch dataset  $ curl -LO https://example.org/a/long/path.tar  18.4s  62% · 11s left · 118M/190M · 6.5M/s",
            ),
            (80, "Fetch dataset  $ curl -LO https://e…  18.4s  62% · 11s left · 118M/190M · 6.5M/s"),
            (75, "Fetch dataset  $ curl -LO https:…  18.4s  62% · 11s left · 118M/190M"),
            (60, "Fetch dataset  $ curl -LO https:…  18.4s  62% · 11s left"),
            (50, "Fetch …  $ curl -LO https:…  18.4s  62% · 11s left"),
            (45, "$ curl -LO https:…  18.4s  62% · 11s left"),
            (40, "$ curl -LO https:…  18.4s  62%"),
            (28, "$ curl -LO http…  18.4s  62%"),
            (16, "18.4s  62%"),
            (5, "18.4…"),
            (0, ""),
        ];
        assert_eq!(table.map(|(room, _)| text(&line().fitted(room))), table.map(|(_, expected)| expected));
    }

    #[test]
    fn the_newest_output_goes_first() {
        let line = JobLine::new("Tests", "cargo test --workspace --all-targets")
            .status(vec![Seg::new(Role::Text, "3.1s")])
            .latest("212 passing and some more words behind that");
        let table = [
            (
                100,
                "Tests  $ cargo test --workspace --all-targets  3.1s  ▸ 212 passing and some more words behind that",
            ),
            (
                90,
                "Tests  $ cargo test --workspace --all-targets  3.1s  ▸ 212 passing and some more words be…",
            ),
            (70, "Tests  $ cargo test --workspace --a…  3.1s  ▸ 212 passing and some mo…"),
            (50, "Tests  $ cargo test --wo…  3.1s  ▸ 212 passing an…"),
            (40, "Tests  $ cargo test --wo…  3.1s"),
        ];
        assert_eq!(table.map(|(room, _)| text(&line.fitted(room))), table.map(|(_, expected)| expected));
    }

    #[test]
    fn wide_characters_take_no_room_from_the_status() {
        let status = "✓ exit 0 · 29.9s";
        for command in ["𛅰🕨🕨᪀🂠අA𞠀0𞸀A𐠀0🈐Σ", "編集する道具を作る"] {
            let line = JobLine::new("", command).status(vec![Seg::new(Role::Text, status)]);
            for room in 17..60 {
                let fitted = line.fitted(room);
                assert!(text(&fitted).contains(status) && columns(&fitted) <= room, "{room}: {fitted:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_room_holds(
            title in "\\PC{0,30}", command in "\\PC{0,300}", facts in prop::collection::vec("[a-z0-9/]{1,9}", 0..5),
            latest in "\\PC{0,60}", room in 0_usize..200,
        ) {
            let status = vec![Seg::new(Role::Text, "✓ exit 0 · 29.9s")];
            let line = JobLine::new(&title, &command).status(status).facts(facts).latest(&latest);
            let fitted = line.fitted(room);
            prop_assert!(columns(&fitted) <= room);
            prop_assert!(room < 17 || text(&fitted).contains("✓ exit 0 · 29.9s"), "{:?}", fitted);
        }
    }
}
