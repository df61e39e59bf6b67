//! Functions of a single value, between layers.

/// A function that is applied to every value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activation {
    /// The value itself.
    #[default]
    None,
    /// Nothing below zero.
    Relu,
    /// `x · sigmoid(x)`, also called swish.
    Silu,
    /// `x · Φ(x)` with the error function, not its tanh approximation.
    Gelu,
}

impl Activation {
    /// Applies it in place.
    #[inline(always)]
    pub fn apply(self, values: &mut [f32]) {
        match self {
            Self::None => {}
            Self::Relu => values.iter_mut().for_each(|value| *value = value.max(0.0)),
            Self::Silu => values.iter_mut().for_each(|value| *value *= sigmoid(*value)),
            Self::Gelu => values.iter_mut().for_each(|value| *value *= normal(*value)),
        }
    }
}

/// `1 / (1 + e^-x)`, to about 2e-7.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// `e^x` to a relative error of about 2e-7, in a form that compilers turn into vectors: `2^n · 2^f`, the second by a
/// polynomial on -1/2 to 1/2. Below -87 it is as for -87, above 88 as for 88: never zero, never infinite.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // Added to a number below 2^22, this leaves the nearest whole number in the lowest bits of the mantissa.
    const SHIFT: f32 = 12_582_912.0;
    let x = if x > -87.0 { x } else { -87.0 };
    let x = if x < 88.0 { x } else { 88.0 };
    let shifted = x * std::f32::consts::LOG2_E + SHIFT;
    let whole = shifted - SHIFT;
    // ln 2 in two parts, so that the difference keeps its digits.
    let rest = (x - whole * 0.693_359_4) + whole * 2.121_944_4e-4;
    let mut sum = 1.987_569_1e-4_f32;
    for factor in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        sum = sum * rest + factor;
    }
    let mantissa = sum * rest * rest + rest + 1.0;
    let power = (shifted.to_bits().wrapping_sub(SHIFT.to_bits()).wrapping_add(127)) << 23;
    mantissa * f32::from_bits(power)
}

/// The share of a normal distribution below `x`, to about 1e-7: `(1 + erf(x / √2)) / 2`.
///
/// The error function by formula 7.1.26 of Abramowitz and Stegun, whose error of 1.5e-7 is that of F32.
#[inline(always)]
pub fn normal(x: f32) -> f32 {
    let size = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * size);
    let mut sum = 1.061_405_4_f32;
    for factor in [-1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6] {
        sum = sum * t + factor;
    }
    let tail = 0.5 * sum * t * exp(-size * size);
    if x > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_close_everywhere() {
        for n in -8700..8800 {
            let x = n as f32 / 100.0 + 0.003;
            let exact = f64::from(x.clamp(-87.0, 88.0)).exp();
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 4e-7, "{x}");
        }
        assert!(exp(f32::NEG_INFINITY) < 2e-38 && exp(f32::INFINITY).is_finite());
    }

    #[test]
    fn gelu_is_the_exact_one() {
        for (x, exact) in [
            (0.0, 0.0),
            (1.0, 0.841_344_8),
            (-1.0, -0.158_655_25),
            (2.5, 2.484_475_8),
            (-2.5, -0.015_524_165),
            (9.0, 9.0),
        ] {
            let mut values = [x];
            Activation::Gelu.apply(&mut values);
            assert!((values[0] - exact).abs() < 4e-7, "{x}: {values:?}");
        }
    }
}
