//! When a failed request is repeated. Pure: the caller counts, waits and rolls the dice.

use super::error::{ErrorClass, LlmError};
use std::time::Duration;

/// How often and how patiently a request is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Repetitions after the first failure.
    pub max_attempts: u32,
    /// The first wait; each further one is twice as long.
    pub base: Duration,
    /// A provider that asks for more than this is not waited for.
    pub longest_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_attempts: 3, base: Duration::from_secs(2), longest_wait: Duration::from_secs(60) }
    }
}

/// What to do after a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retry {
    /// Wait this long, then send the same request again.
    After(Duration),
    /// Stop.
    GiveUp {
        /// Why, for people: ends the sentence that the error's message begins.
        reason: String,
    },
}

impl RetryPolicy {
    /// What to do after failure number `attempt` (the first is 1). `jitter` between 0 and 1 spreads the wait by 20 %
    /// either way, so that clients that failed together do not come back together. A wait that the provider asks for is
    /// kept as it is.
    pub fn next(&self, attempt: u32, error: &LlmError, jitter: f64) -> Retry {
        if let Some(reason) = hopeless(error.class) {
            return Retry::GiveUp { reason: reason.to_owned() };
        }
        if attempt > self.max_attempts {
            let times = if attempt == 1 { "once".to_owned() } else { format!("{attempt} times") };
            return Retry::GiveUp { reason: format!("it failed {times}") };
        }
        match error.retry_after {
            Some(asked) if asked > self.longest_wait => Retry::GiveUp {
                reason: format!(
                    "the provider asks to wait {}, longer than the {} that are waited for",
                    in_words(asked),
                    in_words(self.longest_wait)
                ),
            },
            Some(asked) if !asked.is_zero() => Retry::After(asked),
            Some(_) | None => {
                let doubled = self
                    .base
                    .saturating_mul(1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX));
                let spread = 0.8 + 0.4 * jitter.clamp(0.0, 1.0);
                Retry::After(doubled.min(self.longest_wait).mul_f64(spread))
            }
        }
    }
}

/// Why the same request cannot succeed; `None` when it can.
const fn hopeless(class: ErrorClass) -> Option<&'static str> {
    Some(match class {
        ErrorClass::Auth => "the key must be set first",
        ErrorClass::UnknownModel => "another model must be chosen first",
        ErrorClass::Quota => "a used-up quota does not come back by itself",
        ErrorClass::Overflow => "the conversation must become shorter first",
        ErrorClass::Refusal => "the same request would be declined again",
        ErrorClass::Invalid => "the same request would be rejected again",
        ErrorClass::RateLimit | ErrorClass::Server | ErrorClass::Network | ErrorClass::Stream => return None,
    })
}

/// A wait for people: `45 s`, `2 min`, `1 h 30 min`. Rounded up, so that nobody comes back too early.
fn in_words(wait: Duration) -> String {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    if seconds < 120 {
        return format!("{seconds} s");
    }
    let minutes = seconds.div_ceil(60);
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn error(class: ErrorClass, retry_after: Option<u64>) -> LlmError {
        LlmError {
            class,
            message: String::new(),
            retry_after: retry_after.map(Duration::from_secs),
            status: None,
            complains_of_input: false,
        }
    }

    fn reason(retry: Retry) -> String {
        match retry {
            Retry::GiveUp { reason } => reason,
            Retry::After(wait) => panic!("waits {wait:?}"),
        }
    }

    #[test]
    fn waits_double_and_end() {
        let policy = RetryPolicy::default();
        let failed = error(ErrorClass::Server, None);
        for (attempt, seconds) in [(1, 2), (2, 4), (3, 8)] {
            assert_eq!(policy.next(attempt, &failed, 0.5), Retry::After(Duration::from_secs(seconds)));
        }
        assert_eq!(reason(policy.next(4, &failed, 0.5)), "it failed 4 times");
        assert_eq!(policy.next(1, &failed, 0.0), Retry::After(Duration::from_millis(1600)));
        assert_eq!(policy.next(1, &failed, 1.0), Retry::After(Duration::from_millis(2400)));
    }

    #[test]
    fn the_provider_may_ask_for_a_wait_but_not_for_any() {
        let policy = RetryPolicy::default();
        let asked = |seconds| policy.next(1, &error(ErrorClass::RateLimit, Some(seconds)), 0.9);
        assert_eq!(asked(60), Retry::After(Duration::from_secs(60)));
        assert_eq!(asked(1), Retry::After(Duration::from_secs(1)));
        assert!(matches!(asked(0), Retry::After(wait) if wait > Duration::from_secs(1)));
        assert!(reason(asked(61)).contains("wait 61 s"));
        assert!(reason(asked(5400)).contains("wait 1 h 30 min"));
    }

    #[test]
    fn what_does_not_pass_is_not_repeated() {
        let policy = RetryPolicy::default();
        for class in [
            ErrorClass::Auth,
            ErrorClass::UnknownModel,
            ErrorClass::Quota,
            ErrorClass::Overflow,
            ErrorClass::Refusal,
            ErrorClass::Invalid,
        ] {
            assert!(!class.is_retryable());
            assert!(!reason(policy.next(1, &error(class, Some(1)), 0.5)).is_empty());
        }
        for class in [ErrorClass::RateLimit, ErrorClass::Server, ErrorClass::Network, ErrorClass::Stream] {
            assert!(class.is_retryable());
            assert!(matches!(policy.next(1, &error(class, None), 0.5), Retry::After(_)));
        }
    }

    proptest! {
        #[test]
        fn no_wait_exceeds_the_longest_by_more_than_the_spread(attempt in 1_u32..200, jitter in 0.0_f64..=1.0) {
            let policy = RetryPolicy { max_attempts: u32::MAX, ..RetryPolicy::default() };
            let next = policy.next(attempt, &error(ErrorClass::Network, None), jitter);
            let Retry::After(wait) = next else { panic!("gives up") };
            prop_assert!(wait <= policy.longest_wait.mul_f64(1.2));
        }
    }
}
