//! Names of calls as each provider takes them. A history may come from several providers; a call and its result must
//! keep the same name, and no two calls may share one.

use std::collections::HashSet;

/// What a dialect takes as the id of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdRule {
    /// Letters, digits, `_` and `-`, at most this many.
    AtMost(usize),
    /// Exactly nine letters and digits (Mistral).
    Nine,
}

/// Gives each call of a history an id that the dialect takes. The same history always gets the same ids, also when it
/// goes on: ids depend only on what came before.
#[derive(Debug)]
pub struct CallIds {
    rule: IdRule,
    used: HashSet<String>,
}

impl CallIds {
    /// No call has been named yet.
    pub fn new(rule: IdRule) -> Self {
        Self { rule, used: HashSet::new() }
    }

    /// The id for the next call of the history. `original` may carry an item id of OpenAI Responses after a bar, which
    /// is left out.
    pub fn assign(&mut self, original: &str) -> String {
        let call = original.split('|').next().unwrap_or(original);
        let mut id = self.fitting(call);
        let mut copy = 1_u32;
        // Some servers name all calls alike.
        while !self.used.insert(id.clone()) {
            copy += 1;
            id = self.hashed(&format!("{call}#{copy}"));
        }
        id
    }

    fn fitting(&self, call: &str) -> String {
        match self.rule {
            IdRule::AtMost(limit) => {
                let clean: String = call.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
                if clean.is_empty() || clean.len() > limit { self.hashed(call) } else { clean }
            }
            IdRule::Nine if call.len() == 9 && call.chars().all(|c| c.is_ascii_alphanumeric()) => {
                call.to_owned()
            }
            IdRule::Nine => self.hashed(call),
        }
    }

    fn hashed(&self, text: &str) -> String {
        match self.rule {
            IdRule::AtMost(_) => format!("call_{:016x}", hash(text)),
            IdRule::Nine => {
                let digits = format!("{:016x}", hash(text));
                digits.chars().take(9).collect()
            }
        }
    }
}

const fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// FNV-1a: the same in every version of the program, so that a resumed session keeps its prompt cache.
pub fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_that_fit_stay() {
        let mut ids = CallIds::new(IdRule::AtMost(64));
        assert_eq!(ids.assign("toolu_01-a"), "toolu_01-a");
        assert_eq!(ids.assign("call_1|fc_9"), "call_1");
        assert_eq!(ids.assign("functions.read:0"), "functions_read_0");
        assert_eq!(CallIds::new(IdRule::Nine).assign("abcDEF123"), "abcDEF123");
    }

    #[test]
    fn the_same_name_twice_becomes_two_names() {
        let mut ids = CallIds::new(IdRule::AtMost(40));
        let first = ids.assign("call_0");
        let second = ids.assign("call_0");
        assert_eq!(first, "call_0");
        assert_ne!(second, first);
    }

    proptest! {
        #[test]
        fn every_id_fits_and_is_unique(names in prop::collection::vec(".{0,80}", 0..12), nine: bool) {
            let rule = if nine { IdRule::Nine } else { IdRule::AtMost(40) };
            let name_all = || {
                let mut ids = CallIds::new(rule);
                names.iter().map(|name| ids.assign(name)).collect::<Vec<_>>()
            };
            let ids = name_all();
            prop_assert_eq!(&ids, &name_all());
            prop_assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
            for id in ids {
                prop_assert!(id.chars().all(is_plain));
                let fits = if nine { id.len() == 9 } else { (1..=40).contains(&id.len()) };
                prop_assert!(fits, "{}", id);
            }
        }
    }
}
