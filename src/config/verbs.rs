//! What the phase line calls a prompt, if not by what is done for it: one verb for each prompt, in the present while it
//! runs and in the past at its end.

use crate::proto::ids::TurnId;
use std::sync::Arc;

/// So many pairs at most.
const MOST: usize = 100;
/// So many characters in each word.
const MOST_CHARS: usize = 100;

/// Mynahs mimic what they hear; their relatives do the rest.
const PLAYFUL: &[(&str, &str)] = &[
    ("Brooding", "Brooded"),
    ("Cawing", "Cawed"),
    ("Chirping", "Chirped"),
    ("Cocking an ear", "Cocked an ear"),
    ("Echoing", "Echoed"),
    ("Feathering the nest", "Feathered the nest"),
    ("Fledging", "Fledged"),
    ("Flocking", "Flocked"),
    ("Fluttering", "Fluttered"),
    ("Foraging", "Foraged"),
    ("Gliding", "Glided"),
    ("Hatching", "Hatched"),
    ("Hovering", "Hovered"),
    ("Mimicking", "Mimicked"),
    ("Murmuring", "Murmured"),
    ("Nesting", "Nested"),
    ("Parroting", "Parroted"),
    ("Pecking", "Pecked"),
    ("Perching", "Perched"),
    ("Preening", "Preened"),
    ("Roosting", "Roosted"),
    ("Soaring", "Soared"),
    ("Swooping", "Swooped"),
    ("Trilling", "Trilled"),
    ("Warbling", "Warbled"),
    ("Whistling", "Whistled"),
];

/// A verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verb {
    /// While it goes on: `Whistling`.
    pub present: Arc<str>,
    /// Once it is over: `Whistled`.
    pub past: Arc<str>,
}

/// The verbs to choose from; none by default, then steps are called what they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verbs(Arc<[Verb]>);

impl Verbs {
    /// Reads the setting; nothing if it is wrong.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "default" => return Some(Self::default()),
            "playful" => {
                let verb =
                    |&(present, past): &(&str, &str)| Verb { present: present.into(), past: past.into() };
                return Some(Self(PLAYFUL.iter().map(verb).collect()));
            }
            _ => {}
        }
        let pairs: Option<Vec<Verb>> = text.split(',').map(pair).collect();
        pairs.filter(|pairs| pairs.len() <= MOST).map(|pairs| Self(pairs.into()))
    }

    /// The verb of a turn. The same for the same turn, however often it is asked for.
    pub fn of(&self, turn: TurnId) -> Option<&Verb> {
        let count = u64::try_from(self.0.len()).ok().filter(|count| *count > 0)?;
        self.0.get(usize::try_from(scattered(turn.0) % count).ok()?)
    }
}

fn pair(text: &str) -> Option<Verb> {
    let (present, past) = text.split_once('|')?;
    Some(Verb { present: word(present)?, past: word(past)? })
}

fn word(text: &str) -> Option<Arc<str>> {
    let text = text.trim();
    let is_fit = !text.is_empty() && text.chars().count() <= MOST_CHARS;
    (is_fit && !text.chars().any(|c| c == '|' || is_control(c))).then(|| text.into())
}

/// Moves the terminal's cursor or turns its text around.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Turns count up by one; their verbs should not follow each other as in the list.
const fn scattered(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_setting_may_be() {
        let long = "x".repeat(100);
        let many = |count| vec!["Doing|Done"; count].join(",");
        for good in ["default", " playful ", "Doing|Done", "Doing|Done, Baking a pie|Baked a pie", &many(100)]
        {
            assert!(Verbs::parse(good).is_some(), "{good}");
        }
        assert!(Verbs::parse(&format!("{long}|{long}")).is_some());
        for bad in
            ["", "Doing", "|", "Doing|", "|Done", "A|B|C", "A|B,", "A|\u{1b}[31mB", "A|\u{202e}B", &many(101)]
        {
            assert_eq!(Verbs::parse(bad), None, "{bad}");
        }
        assert_eq!(Verbs::parse(&format!("{long}x|a")), None);
    }

    #[test]
    fn a_turn_keeps_its_verb_and_turns_differ() {
        assert_eq!(Verbs::default().of(TurnId(3)), None);
        let verbs = Verbs::parse("playful").unwrap();
        assert_eq!(verbs.of(TurnId(3)), verbs.of(TurnId(3)));
        let mut seen: Vec<_> =
            (1..200).filter_map(|turn| verbs.of(TurnId(turn))).map(|verb| &verb.past).collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), PLAYFUL.len());
        let own = Verbs::parse("Doing | Done").unwrap();
        let verb = own.of(TurnId(9)).unwrap();
        assert_eq!((&*verb.present, &*verb.past), ("Doing", "Done"));
    }
}
