//! Theme files to themes: the embedded ones, and the user's own as patches over them. Nothing here can fail: what is
//! wrong is left out and told.

use super::contrast::Contrast;
use super::depth::Depth;
use super::mix::Rgb;
use super::role::Role;
use super::{Paint, Theme};
use crate::config::load::Warning;
use crate::proto::event::NoticeLevel;
use ratatui::style::{Color, Modifier};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml_edit::{Document, Item, TableLike};

/// Names and texts of the embedded themes.
const EMBEDDED: [(&str, &str); 5] = [
    ("quiet-dark", include_str!("../../themes/quiet-dark.toml")),
    ("quiet-light", include_str!("../../themes/quiet-light.toml")),
    ("contrast-dark", include_str!("../../themes/contrast-dark.toml")),
    ("contrast-light", include_str!("../../themes/contrast-light.toml")),
    ("terminal", include_str!("../../themes/terminal.toml")),
];

/// The settings that mean the variant that fits the terminal.
pub const FOLLOWS: [&str; 2] = ["quiet", "contrast"];

/// What stands in for a page that no terminal told and no theme names.
const PAGE: Rgb = Rgb(0x1a, 0x1a, 0x1d);

/// What a theme is chosen by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice<'a> {
    /// The setting: a name, `quiet` or `contrast` for the variant that fits the terminal, or two names as `dark/light`.
    pub setting: &'a str,
    /// The terminal's ground, if it told.
    pub page: Option<Rgb>,
    /// What the terminal shows. With 16 colours or none `quiet` is `terminal`: rounded, its grounds would all be black.
    pub depth: Depth,
    /// The setting `contrast`.
    pub contrast: Contrast,
}

impl<'a> Choice<'a> {
    /// The name of the theme that is meant.
    pub fn name(&self) -> &'a str {
        match self.setting {
            // Without colours only what a theme makes bold or reversed is left: this one is made for that.
            _ if self.depth == Depth::Mono => "terminal",
            "quiet" => self.fitting("quiet-dark", "quiet-light"),
            "contrast" => self.fitting("contrast-dark", "contrast-light"),
            setting => {
                let (dark, light) = setting.split_once('/').unwrap_or((setting, setting));
                if self.is_dark() { dark } else { light }
            }
        }
    }

    fn fitting<'b>(&self, dark: &'b str, light: &'b str) -> &'b str {
        match (self.depth, self.is_dark()) {
            (Depth::Ansi | Depth::Mono, _) => "terminal",
            (Depth::True | Depth::Indexed, true) => dark,
            (Depth::True | Depth::Indexed, false) => light,
        }
    }

    fn is_dark(&self) -> bool {
        self.page.is_none_or(Rgb::is_dark)
    }
}

/// The theme that is meant, from the user's folder `themes` or the embedded ones, and what is wrong with it. An unknown
/// one becomes `quiet`.
pub fn load(choice: &Choice<'_>, folder: &Path) -> (Theme, Vec<Warning>) {
    let mut files = Files { folder: Some(folder), warnings: Vec::new() };
    let mut name = choice.name();
    let mut layers = files.layers(name);
    if layers.is_empty() {
        files.warn(format!(
            "There is no theme `{name}`: neither is it one of {}, nor is there a file {}. `quiet` is used.",
            names(folder).join(", "),
            folder.join(format!("{name}.toml")).display()
        ));
        name = choice.fitting("quiet-dark", "quiet-light");
        layers = files.layers(name);
    }
    let theme = files.build(name, &layers, choice.page, choice.contrast);
    (theme, files.warnings)
}

/// The names that can be chosen: the one that follows the terminal's ground, the other embedded ones, then those of the
/// user's files, by name.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        FOLLOWS.into_iter().chain(EMBEDDED.iter().map(|(name, _)| *name)).map(str::to_owned).collect();
    let mut own: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|file| file.strip_suffix(".toml").map(str::to_owned))
        .filter(|name| !names.contains(name))
        .collect();
    own.sort();
    names.append(&mut own);
    names
}

/// An embedded theme by name, else `quiet-dark`.
pub fn embedded(name: &str, page: Option<Rgb>) -> Theme {
    let mut files = Files { folder: None, warnings: Vec::new() };
    let layers = files.layers(name);
    files.build(name, &layers, page, Contrast::Normal)
}

/// One file's fields.
#[derive(Debug, Default)]
struct Layer {
    contrast: Option<Contrast>,
    vars: BTreeMap<String, Color>,
    colors: Vec<(Role, Written)>,
}

/// A value as it stands in a file. Names of variables are looked up last: a patch may change a variable only.
#[derive(Debug, Clone)]
struct Written {
    /// File and line.
    place: String,
    color: Value,
    modifier: Modifier,
}

#[derive(Debug, Clone)]
enum Value {
    Color(Color),
    Variable(String),
}

struct Files<'a> {
    folder: Option<&'a Path>,
    warnings: Vec<Warning>,
}

/// A file's text and what to call it in messages.
type Source = (String, PathBuf);

impl Files<'_> {
    fn warn(&mut self, text: String) {
        self.warnings.push(Warning { level: NoticeLevel::Warning, text });
    }

    fn build(&mut self, name: &str, layers: &[Layer], page: Option<Rgb>, contrast: Contrast) -> Theme {
        let mut vars: BTreeMap<&str, Color> = BTreeMap::new();
        for layer in layers {
            vars.extend(layer.vars.iter().map(|(name, color)| (name.as_str(), *color)));
        }
        let mut written = [Paint { color: Color::Reset, modifier: Modifier::empty() }; Role::COUNT];
        for (role, value) in layers.iter().flat_map(|layer| &layer.colors) {
            let color = match &value.color {
                Value::Color(color) => Some(*color),
                Value::Variable(variable) => vars.get(variable.as_str()).copied(),
            };
            match (color, &value.color, written.get_mut(role.index())) {
                (Some(color), _, Some(paint)) => *paint = Paint { color, modifier: value.modifier },
                (None, Value::Variable(variable), _) => self.warn(format!(
                    "{}: `{}` is `{variable}`, which is neither a colour nor a name under [vars]. It is ignored.",
                    value.place,
                    role.name()
                )),
                (Some(_), _, None) | (None, Value::Color(_), _) => {}
            }
        }
        // A theme that asks for more contrast than the settings gets it.
        let asked = layers.iter().rev().find_map(|layer| layer.contrast);
        let contrast = if asked == Some(Contrast::High) { Contrast::High } else { contrast };
        let own = || vars.get("page").and_then(|color| Rgb::of(*color));
        Theme::new(name, written, page.or_else(own).unwrap_or(PAGE), contrast)
    }

    /// The files of a theme, what is inherited first. Empty when there is none of this name.
    fn layers(&mut self, name: &str) -> Vec<Layer> {
        let mut found = Vec::new();
        let mut seen = Vec::new();
        let mut next = Some(name.to_owned());
        while let Some(name) = next.take() {
            if seen.contains(&name) {
                self.warn(format!(
                    "The themes {} inherit from each other in a circle. The circle is cut at `{name}`.",
                    seen.join(", ")
                ));
                next = Some("quiet-dark".to_owned()).filter(|base| !seen.contains(base));
                continue;
            }
            let own = self.own(&name);
            let embedded = EMBEDDED.iter().find(|(known, _)| *known == name);
            if own.is_none() && embedded.is_none() {
                if let Some(heir) = seen.last() {
                    self.warn(format!(
                        "The theme `{heir}` inherits from `{name}`, which does not exist. It inherits from \
                         `quiet-dark` instead."
                    ));
                    next = Some("quiet-dark".to_owned());
                }
                continue;
            }
            if let Some((text, path)) = own {
                let (layer, inherits) = self.read(&text, &path);
                found.push(layer);
                // A file of an embedded theme's name patches that one.
                next = inherits.or_else(|| embedded.is_none().then(|| "quiet-dark".to_owned()));
                next = next.filter(|_| embedded.is_none());
            }
            if let Some((name, text)) = embedded {
                let path = PathBuf::from(format!("themes/{name}.toml"));
                let (layer, inherits) = self.read(text, &path);
                found.push(layer);
                next = inherits;
            }
            seen.push(name);
        }
        found.reverse();
        found
    }

    fn own(&mut self, name: &str) -> Option<Source> {
        // A name is a name, not a way to another folder.
        if name.contains(['/', '\\']) || name.starts_with('.') {
            return None;
        }
        let path = self.folder?.join(format!("{name}.toml"));
        match fs::read_to_string(&path) {
            Ok(text) => Some((text, path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                self.warn(format!("{} can't be read: {error}. Nothing in it is used.", path.display()));
                None
            }
        }
    }

    /// A file's fields and the theme it inherits from.
    fn read(&mut self, text: &str, path: &Path) -> (Layer, Option<String>) {
        let mut layer = Layer::default();
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let place = place(text, path, error.span());
                let message = error.message().trim().replace('\n', ", ");
                self.warn(format!("{place}: this is no TOML: {message}. Nothing in the file is used."));
                return (layer, None);
            }
        };
        let mut inherits = None;
        for (key, item) in document.as_table().iter() {
            match (key, item.as_str(), item.as_table_like()) {
                ("inherits", Some(name), _) => inherits = Some(name.to_owned()),
                ("contrast", Some(word), _) if Contrast::named(word).is_some() => {
                    layer.contrast = Contrast::named(word);
                }
                ("vars", _, Some(table)) => self.vars(&mut layer, table, text, path),
                ("colors", _, Some(table)) => self.colors(&mut layer, table, text, path),
                _ => {
                    let place = place(text, path, item.span());
                    self.warn(format!(
                        "{place}: a theme has no `{key}` like this, only `inherits`, `contrast`, `[vars]` and `[colors]`. It is ignored."
                    ));
                }
            }
        }
        (layer, inherits)
    }

    fn vars(&mut self, layer: &mut Layer, table: &dyn TableLike, text: &str, path: &Path) {
        for (name, item) in table.iter() {
            match item_text(item).as_deref().and_then(color) {
                Some(color) => {
                    layer.vars.insert(name.to_owned(), color);
                }
                None => {
                    let place = place(text, path, item.span());
                    self.warn(format!(
                        "{place}: `vars.{name}` must be #rrggbb, a colour of the terminal, 0 to 255 or default. It is \
                         ignored."
                    ));
                }
            }
        }
    }

    fn colors(&mut self, layer: &mut Layer, table: &dyn TableLike, text: &str, path: &Path) {
        for (name, item) in table.iter() {
            let Some(role) = Role::named(name) else {
                let place = place(text, path, item.span());
                let hint = nearest(name).map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default();
                self.warn(format!("{place}: there is no role `{name}`.{hint} It is ignored."));
                continue;
            };
            let place = place(text, path, item.span());
            match item_text(item).as_deref().and_then(value) {
                Some((color, modifier)) => layer.colors.push((role, Written { place, color, modifier })),
                None => {
                    self.warn(format!(
                        "{place}: `{name}` must be #rrggbb, a name under [vars], a colour of the terminal, 0 to 255 or \
                         default, and then bold, dim, italic, underline or reverse. It is ignored."
                    ));
                }
            }
        }
    }
}

/// Where something stands: file and line.
fn place(text: &str, path: &Path, span: Option<Range<usize>>) -> String {
    span.map_or_else(
        || path.display().to_string(),
        |span| {
            let line = 1 + text.bytes().take(span.start).filter(|byte| *byte == b'\n').count();
            format!("{}:{line}", path.display())
        },
    )
}

fn item_text(item: &Item) -> Option<String> {
    item.as_str().map(str::to_owned).or_else(|| item.as_integer().map(|number| number.to_string()))
}

fn value(text: &str) -> Option<(Value, Modifier)> {
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let color = match color(first) {
        Some(color) => Value::Color(color),
        None if is_name(first) => Value::Variable(first.to_owned()),
        None => return None,
    };
    let mut modifier = Modifier::empty();
    for word in words {
        modifier |= match word {
            "bold" => Modifier::BOLD,
            "dim" => Modifier::DIM,
            "italic" => Modifier::ITALIC,
            "underline" => Modifier::UNDERLINED,
            "reverse" => Modifier::REVERSED,
            _ => return None,
        };
    }
    Some((color, modifier))
}

/// Whether it can be the name of a variable. Whether there is one is known when all files are read.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn color(word: &str) -> Option<Color> {
    if let Some(rgb) = Rgb::parse(word) {
        return Some(rgb.color());
    }
    if let Ok(index) = word.parse::<u8>() {
        return Some(Color::Indexed(index));
    }
    let color = match word {
        "default" | "" => Color::Reset,
        "black" => Color::Black,
        "red" => Color::Red,
        "green" => Color::Green,
        "yellow" => Color::Yellow,
        "blue" => Color::Blue,
        "magenta" => Color::Magenta,
        "cyan" => Color::Cyan,
        "white" => Color::Gray,
        "bright-black" => Color::DarkGray,
        "bright-red" => Color::LightRed,
        "bright-green" => Color::LightGreen,
        "bright-yellow" => Color::LightYellow,
        "bright-blue" => Color::LightBlue,
        "bright-magenta" => Color::LightMagenta,
        "bright-cyan" => Color::LightCyan,
        "bright-white" => Color::White,
        _ => return None,
    };
    Some(color)
}

/// The role whose name differs in upper and lower case only, or in what `_` and `-` part.
fn nearest(name: &str) -> Option<&'static str> {
    let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    Role::ALL.iter().map(|role| role.name()).find(|known| plain(known) == plain(name))
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
