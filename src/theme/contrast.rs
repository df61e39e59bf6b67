//! Text that can be read on its ground: the floor, and how a colour is lifted to it.

use super::mix::Rgb;
use super::role::Weight;

/// The setting `contrast`: how well text must be told from its ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Contrast {
    /// 4.5 for what is read, 3.0 for the rest.
    #[default]
    Normal,
    /// 7.0 and 4.5.
    High,
}

impl Contrast {
    /// The level of this name in the settings.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "normal" => Some(Self::Normal),
            "high" => Some(Self::High),
            _ => None,
        }
    }

    /// The ratio that a weight must reach.
    pub const fn floor(self, weight: Weight) -> f64 {
        match (self, weight) {
            (Self::Normal, Weight::Primary) | (Self::High, Weight::Secondary) => 4.5,
            (Self::Normal, Weight::Secondary) => 3.0,
            (Self::High, Weight::Primary) => 7.0,
            (Self::Normal | Self::High, Weight::Exempt | Weight::Ground) => 1.0,
        }
    }
}

/// The contrast ratio of WCAG 2: 1 for the same colour, 21 for black on white.
pub fn ratio(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (a.luminance(), b.luminance());
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// `fg`, moved towards white or black by as little as makes it reach `floor` on `bg`. Where no colour can, the pole that
/// comes closest.
pub fn lift(fg: Rgb, bg: Rgb, floor: f64) -> Rgb {
    if ratio(fg, bg) >= floor {
        return fg;
    }
    let ground = bg.luminance();
    let (light_can, dark_can) = (ratio(Rgb::WHITE, bg) >= floor, ratio(Rgb::BLACK, bg) >= floor);
    let lighter = match (light_can, dark_can) {
        (true, true) => fg.luminance() >= ground,
        (true, false) => true,
        (false, true) => false,
        (false, false) => return if bg.is_dark() { Rgb::WHITE } else { Rgb::BLACK },
    };
    let pole = if lighter { Rgb::WHITE } else { Rgb::BLACK };
    let reaches = |color: Rgb| {
        let light = color.luminance();
        if lighter {
            (light + 0.05) / (ground + 0.05) >= floor
        } else {
            (ground + 0.05) / (light + 0.05) >= floor
        }
    };
    // In steps of 1/256, more than 8 bits can show.
    let (mut below, mut above) = (0_u16, 256_u16);
    while above - below > 1 {
        let middle = u16::midpoint(below, above);
        if reaches(fg.mix(pole, f64::from(middle) / 256.0)) {
            above = middle;
        } else {
            below = middle;
        }
    }
    fg.mix(pole, f64::from(above) / 256.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn color() -> impl Strategy<Value = Rgb> {
        any::<(u8, u8, u8)>().prop_map(|(r, g, b)| Rgb(r, g, b))
    }

    proptest! {
        #[test]
        fn four_and_a_half_can_always_be_reached(fg in color(), bg in color()) {
            let lifted = lift(fg, bg, 4.5);
            prop_assert!(ratio(lifted, bg) >= 4.5, "{} on {}: {}", fg, bg, ratio(lifted, bg));
            if ratio(fg, bg) >= 4.5 {
                prop_assert_eq!(lifted, fg);
            }
        }
    }

    #[test]
    fn known_ratios() {
        let rgb = |text| Rgb::parse(text).unwrap();
        assert!((ratio(Rgb::BLACK, Rgb::WHITE) - 21.0).abs() < 1e-9);
        assert!((ratio(rgb("#5f5d58"), rgb("#232326")) - 2.38).abs() < 0.01);
        assert!((ratio(rgb("#cfcdc6"), rgb("#3e2d2d")) - 8.16).abs() < 0.02);
    }
}
