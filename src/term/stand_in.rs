//! Plain characters in place of the symbols that the program draws, for terminals that draw those two columns wide.
//!
//! Pure: a frame's cells are changed just before they are painted, so that nobody who draws has to know. Only symbols are
//! changed, never letters: what somebody wrote stays as it is, and the painter finds its place again behind it.

use ratatui::buffer::Buffer;

/// Stand-ins that no range gives.
const SINGLE: &[(&str, &str)] = &[
    ("●◉⏺•◆▪■◼★⬤", "*"),
    ("○◯◌◦·◇□▫◻☆∙⋅・", "."),
    ("✓✔☑", "+"),
    ("✗✘×☒✕✖", "x"),
    ("…⋯⋮", "~"),
    ("–—‒―−‐‑¯", "-"),
    ("∎", "#"),
    ("⧗⌛⏳◷◔◑◕◐◓◒◴◵◶◈", "o"),
    ("←⇐◀◁◂◃‹«⟵⏴↩↵⏎⤶", "<"),
    ("→⇒▶▷▸▹›»⟶⏵↪⤷❯❱➜", ">"),
    ("↑⇑▲△▴▵⏶↥⇧⬆", "^"),
    ("↓⇓▼▽▾▿⏷↧⬇", "v"),
    ("↔↕⇔⇕⇅⇄↻↺⟳⟲", "="),
    ("‖¦", "|"),
    ("‘’′´", "'"),
    ("“”″", "\""),
    ("§¶†‡※", "*"),
    ("¤°º¨", "o"),
    ("¡", "!"),
    ("¿", "?"),
    ("±", "+"),
    ("÷∕", "/"),
    ("≈≃∼", "~"),
    ("≠", "="),
    ("≤", "<"),
    ("≥", ">"),
    ("∞", "8"),
    ("√", "v"),
    ("∑", "E"),
    ("∈∋", "e"),
    ("∴∵", ":"),
    ("⚠", "!"),
    ("ℹ", "i"),
    ("⌘⎇⌥⌃", "^"),
    ("®©™", "r"),
    ("♪♫", "o"),
];

/// The plain character for a symbol; nothing for what stays.
pub fn of(symbol: char) -> Option<&'static str> {
    match symbol {
        '\0'..='\x7f' => None,
        '\u{2500}'..='\u{257f}' => Some(line(symbol)),
        '\u{2580}'..='\u{259f}' => Some(block(symbol)),
        // No dot at all.
        '\u{2800}' => Some(" "),
        '\u{2801}'..='\u{28ff}' => Some(if (symbol as u32 & 0xff).count_ones() < 4 { "." } else { ":" }),
        _ => SINGLE.iter().find(|(symbols, _)| symbols.contains(symbol)).map(|(_, plain)| *plain),
    }
}

/// Box drawing: what lies is a dash, what stands a bar, and where lines meet there is a cross.
const fn line(symbol: char) -> &'static str {
    match symbol {
        '─' | '━' | '┄' | '┅' | '┈' | '┉' | '╌' | '╍' | '╴' | '╶' | '╸' | '╺' | '╼' | '╾' => {
            "-"
        }
        '│' | '┃' | '┆' | '┇' | '┊' | '┋' | '╎' | '╏' | '║' | '╵' | '╷' | '╹' | '╻' | '╽' | '╿' => {
            "|"
        }
        '═' => "=",
        '╱' => "/",
        '╲' => "\\",
        '╳' => "x",
        _ => "+",
    }
}

/// Block elements. What is filled must differ from what is empty: bars are made of them.
const fn block(symbol: char) -> &'static str {
    match symbol {
        '░' => ".",
        '▒' => ":",
        '▓' => "%",
        '▁' | '▂' | '▔' => "_",
        '▃' | '▄' | '▖' | '▗' => "=",
        '▏' | '▎' | '▍' | '▕' => "|",
        _ => "#",
    }
}

/// Changes all symbols of a frame.
pub fn apply(cells: &mut Buffer) {
    for cell in &mut cells.content {
        // A symbol may come with a mark that chooses between a letter and a picture.
        let plain = cell.symbol().chars().next().filter(|first| !first.is_ascii()).and_then(of);
        if let Some(plain) = plain {
            cell.set_symbol(plain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::painter::is_ambiguous;
    use super::*;
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    fn files_below(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files_below(&path, ending, found);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }

    /// The characters of a source that may be drawn: without comments and its tests, with what is written as `\u{…}`.
    fn drawn_by(source: &str) -> Vec<char> {
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code: Vec<&str> = lines.map(|line| line.split(" // ").next().unwrap_or_default()).collect();
        let code = code.join("\n");
        let mut found: Vec<char> = code.chars().collect();
        for escaped in code.split("\\u{").skip(1) {
            let number = escaped.split('}').next().and_then(|hex| u32::from_str_radix(hex, 16).ok());
            found.extend(number.and_then(char::from_u32));
        }
        found
    }

    /// Symbols whose width is uncertain, of these characters, and that have no stand-in. Tables of what is recognised in
    /// foreign text name invisible characters and private ones; nobody draws those.
    fn missed(characters: impl IntoIterator<Item = char>) -> Vec<char> {
        let is_drawn = |c: &char| {
            !c.is_alphanumeric()
                && unicode_width::UnicodeWidthChar::width(*c) == Some(1)
                && !matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{fffd}' | '\u{ad}' | '\u{f0000}'..)
        };
        characters.into_iter().filter(is_drawn).filter(|c| is_ambiguous(*c) && of(*c).is_none()).collect()
    }

    #[test]
    fn every_symbol_that_the_program_draws_has_a_stand_in() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = Vec::new();
        for folder in ["src/ui", "src/text", "src/transcript", "src/app"] {
            files_below(&root.join(folder), ".rs", &mut files);
        }
        files.retain(|path| {
            let name = path.to_string_lossy();
            !name.ends_with("tests.rs") && !name.contains("/tests/") && !name.ends_with("screens.rs")
        });
        assert!(files.len() > 40, "the sources that draw are below these folders");
        let mut found = BTreeMap::new();
        for file in files {
            let source = std::fs::read_to_string(&file).unwrap();
            for symbol in missed(drawn_by(&source)) {
                found.insert(symbol, file.clone());
            }
        }
        assert!(found.is_empty(), "no stand-in for these symbols: {found:?}");
    }

    /// What is really drawn, with what the sources put together from numbers.
    #[test]
    fn every_symbol_of_a_recorded_screen_has_a_stand_in() {
        let mut files = Vec::new();
        files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots"), ".snap", &mut files);
        assert!(files.len() > 20, "the recorded screens are there");
        let mut found = BTreeMap::new();
        for file in files {
            for symbol in missed(std::fs::read_to_string(&file).unwrap().chars()) {
                found.insert(symbol, file.clone());
            }
        }
        assert!(found.is_empty(), "no stand-in for these symbols: {found:?}");
    }

    #[test]
    fn symbols_change_and_letters_stay() {
        let mut cells = Buffer::with_lines(["●─│┌…✓✗█░⠋∎→é日Ω я✔\u{fe0f}"]);
        apply(&mut cells);
        let text: String = cells.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(text.trim_end(), "*-|+~+x#..#>é日 Ω я+");
        assert!(cells.content.iter().all(|cell| cell.symbol() != "✔\u{fe0f}"));
    }

    #[test]
    fn a_stand_in_is_one_plain_column() {
        for symbol in ('\u{80}'..='\u{2fff}').chain('\u{3000}'..='\u{30ff}') {
            if let Some(plain) = of(symbol) {
                assert!(plain.len() == 1 && plain.is_ascii(), "{symbol}");
            }
        }
        let symbols: Vec<char> = SINGLE.iter().flat_map(|(symbols, _)| symbols.chars()).collect();
        let mut unique = symbols.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), symbols.len(), "one stand-in for each");
    }
}
