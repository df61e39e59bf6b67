//! Bands of a power spectrum as an ear tells them apart, after Malcolm Slaney's Auditory Toolbox: linear up to 1 kHz,
//! logarithmic above, each triangle of area one.

/// A set of overlapping triangles.
pub struct MelBands {
    bands: Vec<Band>,
}

/// The part of a triangle that is not zero.
struct Band {
    first: usize,
    weights: Vec<f32>,
}

/// Width of a mel below the bend, in Hz.
const LINEAR: f64 = 200.0 / 3.0;
/// Where the scale bends, in Hz.
const BEND: f64 = 1000.0;

/// From there on 27 mels are a factor of 6.4.
fn log_step() -> f64 {
    6.4_f64.ln() / 27.0
}

fn to_mel(hertz: f64) -> f64 {
    if hertz < BEND { hertz / LINEAR } else { BEND / LINEAR + (hertz / BEND).ln() / log_step() }
}

fn to_hertz(mel: f64) -> f64 {
    let bend = BEND / LINEAR;
    if mel < bend { mel * LINEAR } else { BEND * ((mel - bend) * log_step()).exp() }
}

impl MelBands {
    /// `bands` triangles from 0 Hz to half the rate, over spectra of a transform of `size` samples.
    pub fn new(bands: usize, size: usize, rate: usize) -> Self {
        let highest = to_mel(rate as f64 / 2.0);
        let corner = |index: usize| to_hertz(highest * index as f64 / (bands + 1) as f64);
        let bands = (0..bands).map(|band| {
            let (low, middle, high) = (corner(band), corner(band + 1), corner(band + 2));
            let weight = |bin: usize| {
                let hertz = (bin * rate) as f64 / size as f64;
                let slope = ((hertz - low) / (middle - low)).min((high - hertz) / (high - middle));
                (slope.max(0.0) * 2.0 / (high - low)) as f32
            };
            let bins = size / 2 + 1;
            let first = (0..bins).find(|bin| weight(*bin) > 0.0).unwrap_or(0);
            let weights = (first..bins).map(weight).take_while(|weight| *weight > 0.0).collect();
            Band { first, weights }
        });
        Self { bands: bands.collect() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.bands.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.bands.is_empty()
    }

    /// The energy in each band of a spectrum.
    pub fn energies<'a>(&'a self, power: &'a [f32]) -> impl Iterator<Item = f32> + 'a {
        self.bands.iter().map(|band| {
            let spectrum = power.iter().skip(band.first);
            spectrum.zip(&band.weights).map(|(value, weight)| value * weight).sum()
        })
    }

    /// The triangles as a matrix, a row of `bins` values for each.
    #[cfg(test)]
    pub fn rows(&self, bins: usize) -> Vec<Vec<f32>> {
        let row = |band: &Band| {
            let mut row = vec![0.0; bins];
            row[band.first..band.first + band.weights.len()].copy_from_slice(&band.weights);
            row
        };
        self.bands.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_bends_at_a_kilohertz_and_goes_both_ways() {
        assert!((to_mel(1000.0) - 15.0).abs() < 1e-12);
        assert!((to_mel(6400.0) - 42.0).abs() < 1e-9);
        for hertz in [0.0, 333.0, 999.0, 1001.0, 7999.0] {
            assert!((to_hertz(to_mel(hertz)) - hertz).abs() < 1e-6);
        }
    }
}
