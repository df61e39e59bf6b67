//! The composer against a model that is too simple to be wrong: graphemes in a list.

use super::*;
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;
use view::ComposerStyles;

#[derive(Clone, Debug)]
enum Op {
    Type(String),
    Act(Action),
    Jump(Action, char),
}

/// Graphemes, and how many of them stand before the caret.
#[derive(Default)]
struct Model {
    units: Vec<String>,
    caret: usize,
}

impl Model {
    /// An edit may join graphemes: the text is read anew, and the caret stands at the first boundary from there.
    fn read(&mut self, text: &str, caret: usize) {
        self.units = text
            .split_inclusive('\n')
            .flat_map(|line| line.graphemes(true).map(str::to_owned).collect::<Vec<_>>())
            .collect();
        let mut at = 0;
        self.caret = 0;
        while at < caret {
            at += self.units[self.caret].len();
            self.caret += 1;
        }
    }

    fn apply(&mut self, op: &Op) {
        let (before, after) = (self.units[..self.caret].concat(), self.units[self.caret..].concat());
        match op {
            Op::Type(text) => self.read(&format!("{before}{text}{after}"), before.len() + text.len()),
            Op::Act(Action::Left) => self.caret = self.caret.saturating_sub(1),
            Op::Act(Action::Right) => self.caret = (self.caret + 1).min(self.units.len()),
            Op::Act(Action::DeleteBack) if self.caret > 0 => {
                let before = self.units[..self.caret - 1].concat();
                self.read(&format!("{before}{after}"), before.len());
            }
            Op::Act(Action::DeleteForward) if self.caret < self.units.len() => {
                let after = self.units[self.caret + 1..].concat();
                self.read(&format!("{before}{after}"), before.len());
            }
            Op::Act(Action::TextStart) => self.caret = 0,
            Op::Act(Action::TextEnd) => self.caret = self.units.len(),
            Op::Act(Action::LineStart) => {
                while self.caret > 0 && self.units[self.caret - 1] != "\n" {
                    self.caret -= 1;
                }
            }
            Op::Act(Action::LineEnd) => {
                while self.units.get(self.caret).is_some_and(|unit| unit != "\n") {
                    self.caret += 1;
                }
            }
            Op::Jump(Action::JumpForward, target) => {
                let found = self
                    .units
                    .iter()
                    .enumerate()
                    .skip(self.caret + 1)
                    .find(|(_, unit)| unit.starts_with(*target));
                self.caret = found.map_or(self.caret, |(at, _)| at);
            }
            Op::Jump(_, target) => {
                let found = self.units[..self.caret].iter().rposition(|unit| unit.starts_with(*target));
                self.caret = found.unwrap_or(self.caret);
            }
            Op::Act(_) => {}
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z .]{1,6}",
        Just("\n".to_owned()),
        Just("日本".to_owned()),
        Just("👩".to_owned()),
        Just("\u{200d}🚀".to_owned()),
        Just("\u{301}".to_owned()),
        Just("🇩🇪".to_owned()),
        Just("🇫".to_owned()),
    ]
}

fn modelled() -> impl Strategy<Value = Op> {
    let actions = prop::sample::select(vec![
        Action::Left,
        Action::Right,
        Action::DeleteBack,
        Action::DeleteForward,
        Action::TextStart,
        Action::TextEnd,
        Action::LineStart,
        Action::LineEnd,
    ]);
    prop_oneof![3 => text().prop_map(Op::Type), 2 => actions.prop_map(Op::Act), 1 => jump()]
}

fn jump() -> impl Strategy<Value = Op> {
    let directions = prop::sample::select(vec![Action::JumpForward, Action::JumpBackward]);
    let targets = prop::sample::select(vec!['a', 'k', ' ', '本', '👩', '🇩', 'é']);
    (directions, targets).prop_map(|(action, target)| Op::Jump(action, target))
}

fn any_edit() -> impl Strategy<Value = Op> {
    let actions = prop::sample::select(vec![
        Action::Left,
        Action::Right,
        Action::Up,
        Action::Down,
        Action::WordLeft,
        Action::WordRight,
        Action::SelectLeft,
        Action::SelectUp,
        Action::SelectWordRight,
        Action::SelectAll,
        Action::DeleteBack,
        Action::DeleteForward,
        Action::KillWordBack,
        Action::KillWordForward,
        Action::KillToStart,
        Action::KillToEnd,
        Action::Yank,
        Action::YankPop,
        Action::NewLine,
        Action::Interrupt,
        Action::ExpandChip,
        Action::JumpForward,
    ]);
    let large = Just("p\n".repeat(12));
    prop_oneof![4 => text().prop_map(Op::Type), 1 => large.prop_map(Op::Type), 5 => actions.prop_map(Op::Act), 1 => jump()]
}

fn run(composer: &mut Composer, op: &Op, now: Instant) {
    match op {
        Op::Type(text) if text.len() > 20 => composer.handle(Input::Paste(text), now),
        Op::Type(text) => composer.handle(Input::Type(text), now),
        Op::Act(action) => composer.handle(Input::Act(*action), now),
        Op::Jump(action, target) => {
            composer.handle(Input::Act(*action), now);
            // With nothing written there is nowhere to go, and the key types.
            if composer.jumping().is_none() {
                return;
            }
            composer.handle(Input::Type(target.encode_utf8(&mut [0; 4])), now)
        }
    };
}

/// Places stand on boundaries, and what is shown fits.
fn check(composer: &Composer, width: u16) -> Result<(), TestCaseError> {
    for pos in [Some(composer.caret.pos), composer.caret.anchor].into_iter().flatten() {
        let line = composer.buffer.line(pos.line);
        let is_boundary = pos.at == line.len() || wrap::units(line, 0).any(|unit| unit.at == pos.at);
        prop_assert!(is_boundary, "{pos:?} splits a unit of {line:?}");
    }
    let view = composer.view(&ComposerStyles::default());
    for row in &view.rows {
        prop_assert!(wrap::cells(&row.to_string()) <= usize::from(width), "{row:?}");
    }
    prop_assert_eq!(view.rows.len(), usize::from(composer.height()));
    prop_assert!(usize::from(view.caret.0) < view.rows.len() && view.caret.1 < width, "{:?}", view.caret);
    Ok(())
}

proptest! {
    #[test]
    fn it_agrees_with_the_model(ops in prop::collection::vec(modelled(), 0..40)) {
        let now = Instant::now();
        let (mut composer, mut model) = (Composer::new("/".into()), Model::default());
        for op in &ops {
            run(&mut composer, op, now);
            model.apply(op);
            prop_assert_eq!(composer.buffer.text(), model.units.concat(), "after {:?}", op);
            let before = composer.buffer.slice(Pos::default(), composer.caret.pos);
            prop_assert_eq!(before, model.units[..model.caret].concat(), "caret after {:?}", op);
        }
    }

    #[test]
    fn undo_of_everything_gives_the_start_and_redo_the_end(
        ops in prop::collection::vec(any_edit(), 0..40),
        pauses in prop::collection::vec(0u64..900, 40),
        width in 1u16..30,
    ) {
        let mut now = Instant::now();
        let mut composer = Composer::new("/".into());
        composer.set_size(width, 4);
        composer.handle(Input::Insert("the start"), now);
        composer.undo.clear();
        for (op, pause) in ops.iter().zip(pauses) {
            now += std::time::Duration::from_millis(pause);
            run(&mut composer, op, now);
            check(&composer, width)?;
        }
        let end = composer.buffer.text();
        while composer.handle(Input::Act(Action::Undo), now) == Outcome::Changed {
            check(&composer, width)?;
        }
        prop_assert_eq!(composer.buffer.text(), "the start");
        while composer.handle(Input::Act(Action::Redo), now) == Outcome::Changed {}
        prop_assert_eq!(composer.buffer.text(), end);
    }

    #[test]
    fn a_draft_brings_back_what_was_written(ops in prop::collection::vec(any_edit(), 0..40)) {
        let now = Instant::now();
        let mut composer = Composer::new("/".into());
        for op in &ops {
            run(&mut composer, op, now);
        }
        let mut other = Composer::new("/".into());
        let draft = composer.draft();
        // By way of the disk.
        let draft: Option<crate::proto::prompt::Draft> =
            serde_json::from_str(&serde_json::to_string(&draft).unwrap()).unwrap();
        other.begin_with(draft.as_ref());
        let labelled = |composer: &Composer, text: &str| composer.buffer.chips.labelled(text);
        prop_assert_eq!(other.expanded(), composer.expanded());
        prop_assert_eq!(
            labelled(&other, &other.buffer.slice(Pos::default(), other.caret.pos)),
            labelled(&composer, &composer.buffer.slice(Pos::default(), composer.caret.pos))
        );
        check(&other, 80)?;
    }

    #[test]
    fn cells_and_places_are_inverse(pieces in prop::collection::vec(text(), 0..20), width in 2u16..30) {
        let mut composer = Composer::new("/".into());
        composer.set_size(width, 4);
        composer.handle(Input::Insert(&pieces.concat()), Instant::now());
        for (row, span) in composer.buffer.row_spans(0).enumerate() {
            let (found, column) = composer.buffer.cell_of(Pos { line: span.line, at: span.start });
            prop_assert_eq!((found, column), (row, 0));
        }
        prop_assert_eq!(composer.buffer.row_spans(0).count(), composer.buffer.rows());
    }
}
