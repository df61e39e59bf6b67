//! Fonts of the system, in the order in which they are asked for a letter.

use ab_glyph::{Font, FontVec, PxScale, ScaleFont};
use anyhow::Context;
use std::path::{Path, PathBuf};

/// Where fonts are looked for, folders within included.
const FOLDERS: [&str; 3] = ["/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts"];

/// A font by the beginnings of its files' names. Only the first has to be there.
struct Family {
    regular: &'static str,
    bold: &'static str,
    italic: &'static str,
    both: &'static str,
}

const FAMILIES: [Family; 2] = [
    Family {
        regular: "JetBrainsMono-Regular.",
        bold: "JetBrainsMono-Bold.",
        italic: "JetBrainsMono-Italic.",
        both: "JetBrainsMono-BoldItalic.",
    },
    Family {
        regular: "DejaVuSansMono.",
        bold: "DejaVuSansMono-Bold.",
        italic: "DejaVuSansMono-Oblique.",
        both: "DejaVuSansMono-BoldOblique.",
    },
];

/// For what no monospace font has: wide letters, symbols.
const FALLBACKS: [&str; 4] = ["NotoSansMonoCJK", "NotoSansCJK-Regular.", "wqy-zenhei.", "DejaVuSans."];

/// The fonts, and the size of a cell.
pub struct Fonts {
    regular: Vec<FontVec>,
    bold: Vec<FontVec>,
    italic: Vec<FontVec>,
    both: Vec<FontVec>,
    fallbacks: Vec<FontVec>,
    /// Height of letters in pixels.
    pub height: f32,
    /// Pixels of a cell.
    pub cell: (u32, u32),
    /// From the top of a cell to the line on which letters stand, in pixels.
    pub baseline: f32,
}

impl Fonts {
    /// Finds and reads them.
    ///
    /// # Errors
    /// When the system has no monospace font that is known here.
    pub fn find(height: f32) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        for folder in FOLDERS {
            list(Path::new(folder), &mut files);
        }
        files.sort();
        let read = |name: &str| open(&files, name);
        let regular: Vec<_> = FAMILIES.iter().filter_map(|family| read(family.regular)).collect();
        let bold = FAMILIES.iter().filter_map(|family| read(family.bold)).collect();
        let italic = FAMILIES.iter().filter_map(|family| read(family.italic)).collect();
        let both = FAMILIES.iter().filter_map(|family| read(family.both)).collect();
        let fallbacks = FALLBACKS.iter().filter_map(|name| open(&files, name)).collect();
        let first = regular.first().context(
            "there is no monospace font: install JetBrains Mono or DejaVu Sans Mono (on Debian: apt install \
             fonts-jetbrains-mono fonts-dejavu-core)",
        )?;
        let scaled = first.as_scaled(PxScale::from(height));
        let width = scaled.h_advance(first.glyph_id('0')).round().max(1.0);
        let tall = (scaled.ascent() - scaled.descent()).ceil();
        let baseline = scaled.ascent().round();
        Ok(Self {
            height,
            cell: (width as u32, tall as u32),
            baseline,
            regular,
            bold,
            italic,
            both,
            fallbacks,
        })
    }

    /// The font that has a letter, the wanted style first; whether it is in that style is the second.
    pub fn with(&self, letter: char, bold: bool, italic: bool) -> Option<(&FontVec, bool)> {
        let has = |font: &&FontVec| font.glyph_id(letter).0 != 0;
        let styled = match (bold, italic) {
            (true, true) => &self.both,
            (true, false) => &self.bold,
            (false, true) => &self.italic,
            (false, false) => &self.regular,
        };
        let found = styled.iter().find(has).map(|font| (font, true));
        found.or_else(|| self.regular.iter().chain(&self.fallbacks).find(has).map(|font| (font, false)))
    }
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    // A system without this folder has its fonts in another.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { list(&path, files) } else { files.push(path) }
    }
}

fn open(files: &[PathBuf], name: &str) -> Option<FontVec> {
    let is_named = |path: &&PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.starts_with(name) && ["ttf", "otf", "ttc"].iter().any(|end| file.ends_with(end))
    };
    let path = files.iter().find(is_named)?;
    FontVec::try_from_vec_and_index(std::fs::read(path).ok()?, 0).ok()
}
