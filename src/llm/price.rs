//! What a response costs.

use super::{Price, PriceTier};
use crate::proto::usage::{Cost, Usage};

impl Price {
    /// The price of these tokens in US dollars. A tier holds for the whole request once its prompt exceeds the tier's
    /// size; the highest such tier counts.
    pub fn cost(&self, usage: &Usage) -> Cost {
        let base = PriceTier {
            above: 0,
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
        };
        let prompt = usage.prompt_tokens();
        let rate = self
            .tiers
            .iter()
            .filter(|tier| prompt > tier.above)
            .max_by_key(|tier| tier.above)
            .unwrap_or(&base);
        let dollars = |tokens: u64, per_million: f64| tokens as f64 * per_million / 1e6;
        let mut cost = Cost {
            input: dollars(usage.input, rate.input),
            output: dollars(usage.output, rate.output),
            cache_read: dollars(usage.cache_read, rate.cache_read),
            cache_write: dollars(usage.cache_write, rate.cache_write),
            total: 0.0,
        };
        cost.total = cost.input + cost.output + cost.cache_read + cost.cache_write;
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price() -> Price {
        let tier = |above, input| PriceTier { above, input, output: 20.0, cache_read: 0.5, cache_write: 8.0 };
        Price {
            input: 2.0,
            output: 10.0,
            cache_read: 0.25,
            cache_write: 4.0,
            tiers: vec![tier(1_000, 4.0), tier(9_000, 6.0)],
        }
    }

    fn usage(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Usage {
        Usage { input, output, cache_read, cache_write, ..Usage::default() }
    }

    #[test]
    fn four_kinds_have_four_rates() {
        let cost = price().cost(&usage(100, 200, 300, 400));
        assert!((cost.input - 0.0002).abs() < 1e-12);
        assert!((cost.output - 0.002).abs() < 1e-12);
        assert!((cost.cache_read - 0.000_075).abs() < 1e-12);
        assert!((cost.cache_write - 0.0016).abs() < 1e-12);
        assert!((cost.total - 0.003_875).abs() < 1e-12);
    }

    #[test]
    fn the_highest_tier_that_is_exceeded_holds_for_everything() {
        let input_rate = |input, cached| price().cost(&usage(input, 0, cached, 0)).input / input as f64 * 1e6;
        for (input, cached, expected) in
            [(1_000, 0, 2.0), (1_001, 0, 4.0), (600, 401, 4.0), (9_000, 0, 4.0), (9_001, 0, 6.0)]
        {
            assert!((input_rate(input, cached) - expected).abs() < 1e-9, "{input} + {cached}");
        }
    }
}
