//! How many colours reach the terminal, byte by byte.

use super::stage::Stage;
use crate::term::screen::{Frame, Screen};
use crate::theme::Theme;
use crate::theme::contrast::Contrast;
use crate::theme::depth::Depth;
use crate::theme::load::{Choice, load};
use std::path::Path;

/// All parameters of all "select graphic rendition" of a screen with a list over it.
fn renditions(setting: &str, depth: Depth) -> Vec<Vec<u16>> {
    let choice = Choice { setting, page: None, depth, contrast: Contrast::Normal };
    let (theme, warnings) = load(&choice, Path::new("/nowhere"));
    assert_eq!(warnings, []);
    let bytes = bytes_of(theme, depth);
    let text = String::from_utf8(bytes).expect("text");
    let sequences = text.split("\u{1b}[").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let (numbers, end) = rest.split_at_checked(end)?;
        end.starts_with('m').then(|| numbers.to_owned())
    });
    sequences.map(|one| one.split([';', ':']).map(|number| number.parse().unwrap_or(0)).collect()).collect()
}

fn bytes_of(theme: Theme, depth: Depth) -> Vec<u8> {
    let mut stage = Stage::open();
    stage.state.theme = theme;
    stage.type_text("!make");
    stage.key("alt+m");
    let (mut cells, caret) = stage.draw();
    depth.cells(&mut cells);
    let mut out = Vec::new();
    Screen::new(false, true).paint(Frame { cells, caret, ..Frame::default() }, &mut out);
    out
}

/// What sets colours, without their numbers: 30 to 37 as 30, and so on.
fn kinds(renditions: &[Vec<u16>]) -> Vec<(u16, u16)> {
    let mut kinds = Vec::new();
    for rendition in renditions {
        let mut numbers = rendition.iter().copied();
        while let Some(number) = numbers.next() {
            match number {
                38 | 48 | 58 => {
                    let how = numbers.next().unwrap_or(0);
                    let skipped = if how == 2 { 3 } else { 1 };
                    numbers.by_ref().take(skipped).for_each(drop);
                    kinds.push((number, how));
                }
                30..=37 | 90..=97 => kinds.push((30, 0)),
                40..=47 | 100..=107 => kinds.push((40, 0)),
                _ => {}
            }
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

#[test]
fn only_colours_that_can_be_shown_are_written() {
    for setting in ["quiet", "quiet-dark", "contrast", "terminal"] {
        let truecolor = kinds(&renditions(setting, Depth::True));
        let is_named = setting == "terminal";
        assert_eq!(truecolor.contains(&(38, 2)), !is_named, "{setting}: {truecolor:?}");
        assert!(!truecolor.contains(&(38, 5)), "{setting}: {truecolor:?}");

        let indexed = kinds(&renditions(setting, Depth::Indexed));
        assert!(indexed.iter().all(|(_, how)| *how != 2), "{setting}: {indexed:?}");
        assert_eq!(indexed.contains(&(38, 5)), !is_named, "{setting}: {indexed:?}");

        let ansi = kinds(&renditions(setting, Depth::Ansi));
        assert!(
            ansi.iter().all(|kind| [(30, 0), (40, 0)].contains(kind)) && !ansi.is_empty(),
            "{setting}: {ansi:?}"
        );

        let none = renditions(setting, Depth::Mono);
        assert_eq!(kinds(&none), [], "{setting}");
        let has = |wanted| none.iter().flatten().any(|number| *number == wanted);
        assert!(has(7) && has(1), "{setting}: reversed and bold tell what is selected and what is a title");
    }
}
