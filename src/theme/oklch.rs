//! Colours by lightness, chroma and hue, for scales whose steps must look alike.

use super::mix::Rgb;

impl Rgb {
    /// The colour of this lightness (0..=1), chroma (0 is grey) and hue (degrees). What no screen shows is held to what
    /// it shows, channel by channel.
    pub fn from_oklch(lightness: f64, chroma: f64, hue: f64) -> Self {
        let (sin, cos) = hue.to_radians().sin_cos();
        let (a, b) = (chroma * cos, chroma * sin);
        let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
        let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
        let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548 * b).powi(3);
        Self(
            channel(4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s),
            channel(-1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s),
            channel(-0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s),
        )
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held to 0..=255")]
fn channel(light: f64) -> u8 {
    let light = light.clamp(0.0, 1.0);
    let value = if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
    (value * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_the_specification() {
        let table = [
            (0.72, 0.09, 50.0, "#d39471"),
            (0.72, 0.09, 260.0, "#84a6dd"),
            (0.72, 0.09, 305.0, "#b296d2"),
            (0.76, 0.15, 142.0, "#76c96d"),
            (0.40, 0.10, 142.0, "#23551e"),
            (0.40, 0.10, 29.0, "#742f26"),
        ];
        for (lightness, chroma, hue, expected) in table {
            let (found, expected) = (Rgb::from_oklch(lightness, chroma, hue), Rgb::parse(expected).unwrap());
            let near = |a: u8, b: u8| a.abs_diff(b) <= 2;
            assert!(
                near(found.0, expected.0) && near(found.1, expected.1) && near(found.2, expected.2),
                "{found} is not {expected}"
            );
        }
    }
}
