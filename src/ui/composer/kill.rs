//! The kill ring: what was cut, the newest first to come back.

/// More cuts are not kept.
const MOST_CUTS: usize = 60;

/// On which side of the caret the text stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// To the left.
    Before,
    /// To the right.
    After,
}

/// What was cut.
#[derive(Clone, Debug, Default)]
pub struct KillRing {
    /// The newest last.
    cuts: Vec<String>,
}

impl KillRing {
    /// Keeps a cut. One that follows another directly joins it, on the side where it stood.
    pub fn cut(&mut self, text: String, side: Side, joins: bool) {
        if text.is_empty() {
            return;
        }
        match self.cuts.last_mut().filter(|_| joins) {
            Some(last) => match side {
                Side::Before => last.insert_str(0, &text),
                Side::After => last.push_str(&text),
            },
            None => {
                if self.cuts.len() == MOST_CUTS {
                    self.cuts.remove(0);
                }
                self.cuts.push(text);
            }
        }
    }

    /// A cut by its age: 0 is the newest; past the oldest it begins again.
    pub fn get(&self, age: usize) -> Option<&str> {
        let back = age.checked_rem(self.cuts.len())?;
        self.cuts.iter().rev().nth(back).map(String::as_str)
    }

    /// All cuts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.cuts.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_in_a_row_join_and_old_ones_come_round() {
        let mut ring = KillRing::default();
        assert_eq!(ring.get(0), None);
        ring.cut("old".to_owned(), Side::After, false);
        ring.cut("b".to_owned(), Side::After, false);
        ring.cut("c".to_owned(), Side::After, true);
        ring.cut("a".to_owned(), Side::Before, true);
        ring.cut(String::new(), Side::After, false);
        assert_eq!([ring.get(0), ring.get(1), ring.get(2)], [Some("abc"), Some("old"), Some("abc")]);
    }
}
