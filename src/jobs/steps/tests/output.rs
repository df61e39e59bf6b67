//! What is kept of what a step prints.

use crate::jobs::steps::output::StepOutput;
use proptest::prelude::*;

#[test]
fn a_line_taken_back_leaves_no_trace() {
    let mut output = StepOutput::default();
    output.push("a\n10 %");
    output.erase_line();
    output.push("20 %");
    assert_eq!(output.live(), ("a\n20 %", 0));
    output.push("\n");
    output.erase_line();
    assert_eq!(output.saved(), ("a\n20 %\n", 0));
}

#[test]
fn long_output_keeps_its_end_and_counts_lines() {
    let mut output = StepOutput::default();
    let mut whole = String::new();
    for number in 0..60_000 {
        let line = format!("zeile {number} ü\n");
        output.push(&line);
        whole.push_str(&line);
    }
    for ((kept, before), chars) in [(output.live(), 64 * 1024), (output.saved(), 2048)] {
        assert!(whole.ends_with(kept));
        assert_eq!(kept.chars().count(), chars);
        let ends = |text: &str| text.matches('\n').count() as u64;
        assert_eq!(before, ends(&whole) - ends(kept));
    }
}

proptest! {
    #[test]
    fn short_output_is_kept_whole(parts in prop::collection::vec("[a-zä€\n]{0,12}", 0..40)) {
        let mut output = StepOutput::default();
        for part in &parts {
            output.push(part);
        }
        let whole = parts.concat();
        prop_assert_eq!(output.live(), (whole.as_str(), 0));
    }
}
