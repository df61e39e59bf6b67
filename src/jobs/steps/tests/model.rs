//! Any chain against a small model of the shell's rules.

use super::runner::{Pipes, Place};
use crate::jobs::steps::plan;
use crate::proto::chain::StepState::{Failed, Handled, Ok as Went, Skipped};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Part {
    True,
    False,
    Out,
    Err,
    Exit(u8),
    Cd(bool),
    Not(bool),
    Status,
    Group(u8),
    Pipe(u8),
}

impl Part {
    fn text(self, at: usize) -> String {
        match self {
            Self::True => "true".to_owned(),
            Self::False => "false".to_owned(),
            Self::Out => format!("echo o{at}"),
            Self::Err => format!("echo e{at} >&2"),
            Self::Exit(code) => format!("sh -c 'echo x{at}; exit {code}'"),
            Self::Cd(true) => "cd .".to_owned(),
            Self::Cd(false) => "cd nowhere 2>/dev/null".to_owned(),
            Self::Not(inner) => format!("! {inner}"),
            Self::Status => "echo \"$?\"".to_owned(),
            Self::Group(code) => format!("{{ sh -c 'exit {code}' && echo g{at} || false; }}"),
            Self::Pipe(code) => format!("echo p{at} | sh -c 'cat >&2; exit {code}'"),
        }
    }

    /// Its status and output.
    fn run(self, at: usize, before: i32) -> (i32, String) {
        match self {
            Self::True | Self::Cd(true) | Self::Not(false) => (0, String::new()),
            Self::False | Self::Cd(false) | Self::Not(true) => (1, String::new()),
            Self::Out => (0, format!("o{at}\n")),
            Self::Err => (0, format!("e{at}\n")),
            Self::Exit(code) => (code.into(), format!("x{at}\n")),
            Self::Status => (0, format!("{before}\n")),
            Self::Group(0) => (0, format!("g{at}\n")),
            Self::Group(_) => (1, String::new()),
            Self::Pipe(code) => (code.into(), format!("p{at}\n")),
        }
    }
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        Just(Part::True),
        Just(Part::False),
        Just(Part::Out),
        Just(Part::Err),
        (0..4_u8).prop_map(Part::Exit),
        any::<bool>().prop_map(Part::Cd),
        any::<bool>().prop_map(Part::Not),
        Just(Part::Status),
        (0..3_u8).prop_map(Part::Group),
        (0..3_u8).prop_map(Part::Pipe),
    ]
}

const JOINTS: [&str; 5] = ["; ", " && ", " || ", "\n", " &&\n"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_chain_is_followed(parts in prop::collection::vec((part(), 0..JOINTS.len()), 2..=12), gives_up: bool) {
        let mut command = if gives_up { "set -e; ".to_owned() } else { String::new() };
        for (at, (part, joint)) in parts.iter().enumerate() {
            command.push_str(if at == 0 { "" } else { JOINTS[*joint] });
            command.push_str(&part.text(at));
        }
        let Ok(plan) = plan(&command) else {
            // A `cd` that is the location leaves too few, `set -e` makes too many.
            prop_assert!(parts.len() <= 2 || parts.len() == 12, "{command}");
            return Ok(());
        };
        let (mut status, mut expected, mut is_over) = (0, Vec::new(), false);
        for (at, (part, joint)) in parts.iter().enumerate() {
            let runs = !is_over && (at == 0 || match joint { 0 | 3 => true, 2 => status != 0, _ => status == 0 });
            if !runs {
                expected.push((None, String::new()));
                continue;
            }
            let (exit, output) = part.run(at, status);
            status = exit;
            expected.push((Some(exit), output));
            // What `&&` or `||` follows, or `!` turns round, does not make the shell give up.
            let ends_list = parts.get(at + 1).is_none_or(|(_, joint)| matches!(joint, 0 | 3));
            is_over = gives_up && exit != 0 && ends_list && !matches!(part, Part::Not(_));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (did, seen) = runtime.block_on(async {
            let place = Place::new();
            place.timed(&command, Pipes::One, plan).await
        });
        prop_assert_eq!(did.code, Some(status));
        let Some(chain) = seen.chain else { return Err(TestCaseError::fail(format!("lost: {:?}", seen.marks))) };
        let hidden = usize::from(chain.location.is_some());
        let mut steps = chain.steps.iter();
        if gives_up {
            prop_assert_eq!(steps.next().unwrap().state, Went);
        }
        let found: Vec<_> = steps.clone().map(|step| (step.exit, step.output.clone())).collect();
        prop_assert_eq!(&found, &expected[hidden..]);
        let ran: Vec<usize> = (0..parts.len()).filter(|at| expected[*at].0.is_some()).collect();
        for (at, step) in (hidden..).zip(&mut steps) {
            let next = ran.iter().find(|ran| **ran > at);
            let is_handled = next.is_some_and(|next| parts[*next].1 == 2);
            let state = match expected[at].0 {
                None => Skipped,
                Some(0) => Went,
                Some(_) if is_handled => Handled,
                Some(_) => Failed,
            };
            prop_assert_eq!(step.state, state);
        }
    }
}
