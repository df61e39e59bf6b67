//! Roles to colours. A theme is a value that is passed by reference; there is no global one.
//!
//! | file | what it is |
//! |---|---|
//! | [`role`] | what a colour is for |
//! | [`load`] | theme files, embedded and the user's own |
//! | [`mix`] | a colour in numbers, and between two of them |
//! | [`oklch`] | a colour by lightness, chroma and hue |
//! | [`contrast`] | the floor that text reaches on its ground |
//! | [`depth`] | terminals with fewer colours |
//! | [`syntax`] | roles for the scopes of source code |

pub mod contrast;
pub mod depth;
pub mod load;
pub mod mix;
pub mod oklch;
pub mod role;
pub mod syntax;

use contrast::Contrast;
use mix::Rgb;
use ratatui::style::{Color, Modifier, Style};
use role::{Role, Weight};
use std::hash::{DefaultHasher, Hash, Hasher};

/// One role's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Paint {
    /// `Reset` is the terminal's own.
    pub color: Color,
    /// Bold, italic, underlined, reversed.
    pub modifier: Modifier,
}

/// Roles to colours, for one page and one level of contrast.
///
/// Invariants: text roles reach their floor on [`Theme::page`]; equal themes have equal revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    name: String,
    page: Rgb,
    contrast: Contrast,
    /// As written, one a role.
    written: [Paint; Role::COUNT],
    /// Lifted to the floor on the page.
    lifted: [Paint; Role::COUNT],
    revision: u64,
}

impl Theme {
    /// Puts a theme together. `page` is the terminal's own ground.
    pub fn new(name: &str, written: [Paint; Role::COUNT], page: Rgb, contrast: Contrast) -> Self {
        let mut lifted = written;
        for (role, paint) in Role::ALL.iter().zip(&mut lifted) {
            paint.color = match Rgb::of(paint.color) {
                Some(_) => lift(paint.color, page, contrast, role.weight()),
                // It has a ground of its own, and is not seen on the page.
                None if *role == Role::SearchMatchText => paint.color,
                None if is_text(role.weight()) => seen(paint.color, page),
                None => paint.color,
            };
        }
        let mut hasher = DefaultHasher::new();
        (name, page, contrast, written).hash(&mut hasher);
        Self { name: name.to_owned(), page, contrast, written, lifted, revision: hasher.finish() }
    }

    /// The embedded dark theme on its own page, for tests and for whoever has no terminal to ask.
    pub fn quiet_dark() -> Self {
        load::embedded("quiet-dark", None)
    }

    /// The embedded light theme on its own page.
    pub fn quiet_light() -> Self {
        load::embedded("quiet-light", None)
    }

    /// The embedded dark theme of high contrast on its own page.
    pub fn contrast_dark() -> Self {
        load::embedded("contrast-dark", None)
    }

    /// The embedded light theme of high contrast on its own page.
    pub fn contrast_light() -> Self {
        load::embedded("contrast-light", None)
    }

    /// The embedded theme of the terminal's own 16 colours.
    pub fn terminal() -> Self {
        load::embedded("terminal", None)
    }

    /// As in the settings and in the picker.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Changes with everything that can change a drawn cell.
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// The ground that the terminal itself gives.
    pub const fn page(&self) -> Rgb {
        self.page
    }

    /// Text on the page should be light.
    pub fn is_dark(&self) -> bool {
        self.page.is_dark()
    }

    /// The role's colour; text roles lifted to their floor on the page.
    #[expect(clippy::indexing_slicing, reason = "one entry a role, and the index is the role's own")]
    pub const fn color(&self, role: Role) -> Color {
        self.lifted[role.index()].color
    }

    /// The role's colour in numbers. `None` where the terminal decides.
    pub fn rgb(&self, role: Role) -> Option<Rgb> {
        Rgb::of(self.color(role))
    }

    /// The role as a style: the foreground of text roles, the background of grounds, and what else the theme gives it.
    #[expect(clippy::indexing_slicing, reason = "one entry a role, and the index is the role's own")]
    pub fn style(&self, role: Role) -> Style {
        let Paint { color, modifier } = self.lifted[role.index()];
        let style = Style::new().add_modifier(modifier);
        match role.weight() {
            Weight::Ground => style.bg(color),
            Weight::Primary | Weight::Secondary | Weight::Exempt => style.fg(color),
        }
    }

    /// A text role's colour where it stands on `ground`: lifted to the floor there.
    #[expect(clippy::indexing_slicing, reason = "one entry a role, and the index is the role's own")]
    pub fn color_on(&self, role: Role, ground: Color) -> Color {
        self.lift(self.written[role.index()].color, ground, role.weight())
    }

    /// A text role's style where it stands on `ground`. The background is left to whoever fills it.
    pub fn style_on(&self, role: Role, ground: Color) -> Style {
        self.style(role).fg(self.color_on(role, ground))
    }

    /// Any colour, lifted to the floor of `weight` on `ground`. `Reset` is the page.
    pub fn lift(&self, color: Color, ground: Color, weight: Weight) -> Color {
        if !is_text(weight) {
            return color;
        }
        if ground == Color::Reset {
            return match Rgb::of(color) {
                Some(_) => lift(color, self.page, self.contrast, weight),
                None => seen(color, self.page),
            };
        }
        match (Rgb::of(color), Rgb::of(ground), Rgb::estimated(ground)) {
            (Some(_), Some(ground), _) => lift(color, ground, self.contrast, weight),
            // The terminal's own text fits its own page; on other grounds it is what the page says.
            (None, Some(ground), _) if color == Color::Reset => {
                let own = if self.page.is_dark() { Rgb::WHITE } else { Rgb::BLACK };
                let floor = self.contrast.floor(weight);
                if contrast::ratio(own, ground) >= floor {
                    color
                } else {
                    contrast::lift(own, ground, floor).color()
                }
            }
            (_, _, Some(_)) if color == ground => depth::apart(ground),
            (_, _, Some(around)) if color == Color::Reset => {
                let own = if self.page.is_dark() { Color::White } else { Color::Black };
                if seen(own, around) == own { color } else { depth::apart(ground) }
            }
            (_, _, Some(ground)) => seen(color, ground),
            (_, _, None) => color,
        }
    }

    /// Between two colours. Where one of them is the terminal's business the first holds: nobody can mix what nobody
    /// knows. `Reset` as the first is the page.
    pub fn mix(&self, a: Color, b: Color, share: f64) -> Color {
        let from = if a == Color::Reset { Some(self.page) } else { Rgb::of(a) };
        match (from, Rgb::of(b)) {
            (Some(from), Some(to)) => self.held(from, to, share).color(),
            (None, _) | (_, None) => a,
        }
    }

    /// Mixed, but in high contrast only as far as text can still reach its floor there: in between lie the greys on which
    /// neither black nor white is told well enough.
    fn held(&self, from: Rgb, to: Rgb, share: f64) -> Rgb {
        let mixed = from.mix(to, share);
        let floor = self.contrast.floor(Weight::Primary);
        let reaches =
            |ground| contrast::ratio(Rgb::WHITE, ground).max(contrast::ratio(Rgb::BLACK, ground)) >= floor;
        if self.contrast == Contrast::Normal || reaches(mixed) || !reaches(from) {
            return mixed;
        }
        let (mut good, mut bad) = (0.0, share);
        for _ in 0..8 {
            let middle = f64::midpoint(good, bad);
            if reaches(from.mix(to, middle)) { good = middle } else { bad = middle }
        }
        from.mix(to, good)
    }

    /// The ground of what is selected where `ground` lay: the theme's own if it is told from that, else as far away from it
    /// as it takes. `Reset` is the page. Where colours are the terminal's business it is the theme's own.
    pub fn selected_on(&self, ground: Color) -> Color {
        let own = self.color(Role::SelectedBg);
        let under = if ground == Color::Reset { Some(self.page) } else { Rgb::of(ground) };
        match (Rgb::of(own), under) {
            (Some(selected), Some(under)) if contrast::ratio(selected, under) < SELECTED => {
                // Lighter in the dark and darker in the light, as the theme's own is on the page.
                let pole = if self.page.is_dark() { Rgb::WHITE } else { Rgb::BLACK };
                let reaches = |share: f64| contrast::ratio(under.mix(pole, share), under) >= SELECTED;
                let share = (1..100).map(|percent| f64::from(percent) / 100.0).find(|share| reaches(*share));
                match share {
                    Some(share) => under.mix(pole, share).color(),
                    // The ground is the pole.
                    None => contrast::lift(under, under, SELECTED).color(),
                }
            }
            _ => own,
        }
    }

    /// The ground of a card of code.
    pub fn code_ground(&self) -> Color {
        self.mix(self.color(Role::ToolPendingBg), self.color(Role::MdCodeBlock), 0.05)
    }

    /// The ground of a card with a quote.
    pub fn quote_ground(&self) -> Color {
        self.mix(self.color(Role::ToolPendingBg), self.color(Role::MdQuote), 0.08)
    }

    /// The ground of an added line.
    pub fn added_ground(&self) -> Color {
        self.mix(self.color(Role::ToolSuccessBg), self.color(Role::ToolDiffAdded), 0.06)
    }

    /// The ground of a removed line.
    pub fn removed_ground(&self) -> Color {
        self.mix(self.color(Role::ToolErrorBg), self.color(Role::ToolDiffRemoved), 0.06)
    }

    /// Its colours are known in numbers, so that they can be mixed and lifted. Where they are not, whoever draws tells
    /// by text colours and bold what it else tells by grounds.
    pub fn is_readable(&self) -> bool {
        self.rgb(Role::Text).is_some() && self.rgb(Role::ToolPendingBg).is_some()
    }
}

const fn is_text(weight: Weight) -> bool {
    matches!(weight, Weight::Primary | Weight::Secondary)
}

/// What is selected is told from what is not, at least this well. Less is seen on large areas, but not on a few letters.
const SELECTED: f64 = 1.25;

/// Below this ratio nobody would see that something is written there.
const UNSEEN: f64 = 1.25;

/// A colour of the terminal's sixteen where it stands on `ground`. Nobody knows what they are; where most terminals would
/// show text that can't be seen, it is black or white.
fn seen(color: Color, ground: Rgb) -> Color {
    match Rgb::estimated(color) {
        Some(estimated) if contrast::ratio(estimated, ground) < UNSEEN => depth::apart(ground.color()),
        Some(_) | None => color,
    }
}

fn lift(color: Color, ground: Rgb, contrast: Contrast, weight: Weight) -> Color {
    match (weight, Rgb::of(color)) {
        (Weight::Primary | Weight::Secondary, Some(rgb)) => {
            contrast::lift(rgb, ground, contrast.floor(weight)).color()
        }
        (Weight::Primary | Weight::Secondary, None) | (Weight::Exempt | Weight::Ground, _) => color,
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod walk_tests;
