//! Taking in what waits, a bounded number at a time.

/// Takes in `first` and what `next` gives after it, until there is no more, `tell` says that something else is more
/// urgent, or `most` were taken in. What is left stays where `next` finds it: nothing is taken out that is not told.
pub fn take_in<S, T>(
    state: &mut S,
    first: T,
    most: usize,
    mut next: impl FnMut(&mut S) -> Option<T>,
    mut tell: impl FnMut(&mut S, T) -> bool,
) {
    let mut taken = 1;
    let mut goes_on = tell(state, first);
    while goes_on && taken < most {
        let Some(more) = next(state) else { return };
        goes_on = tell(state, more);
        taken += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Whatever interrupts, all are told, each once and in order, and never too many at a time.
        #[test]
        fn nothing_is_lost(count in 0_usize..300, most in 1_usize..70, stops in prop::collection::vec(any::<bool>(), 300)) {
            let mut waiting: VecDeque<usize> = (0..count).collect();
            let mut told = Vec::new();
            while let Some(first) = waiting.pop_front() {
                let before = told.len();
                take_in(
                    &mut (&mut waiting, &mut told),
                    first,
                    most,
                    |(waiting, _)| waiting.pop_front(),
                    |(_, told), number| {
                        told.push(number);
                        !stops[number]
                    },
                );
                prop_assert!(told.len() - before <= most);
            }
            prop_assert_eq!(told, (0..count).collect::<Vec<_>>());
        }
    }
}
