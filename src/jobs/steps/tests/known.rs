//! Steps of which it is known how they end and what they print, where no second way finds it out.

use super::runner::{Pipes, Place};
use crate::jobs::steps::plan;
use crate::proto::chain::StepState::{self, Failed, Handled, Ok as Went, Skipped};

/// A command, its code, and each step's state, status and output.
type Case = (&'static str, i32, &'static [(StepState, Option<i32>, &'static str)]);

const NEVER: (StepState, Option<i32>, &str) = (Skipped, None, "");
const QUIET: (StepState, Option<i32>, &str) = (Went, Some(0), "");

const CASES: &[Case] = &[
    ("set -e; echo a; false; echo never", 1, &[QUIET, (Went, Some(0), "a\n"), (Failed, Some(1), ""), NEVER]),
    (
        "set -e; false || echo b; echo c",
        0,
        &[QUIET, (Handled, Some(1), ""), (Went, Some(0), "b\n"), (Went, Some(0), "c\n")],
    ),
    ("set -euo pipefail\nfalse | cat\necho never", 1, &[QUIET, (Failed, Some(1), ""), NEVER]),
    (
        "set -u; echo $nothing; echo never",
        127,
        &[QUIET, (Failed, Some(127), "/bin/bash: line 1: nothing: unbound variable\n"), NEVER],
    ),
    ("set -e; set +e; false; echo on", 0, &[QUIET, QUIET, (Failed, Some(1), ""), (Went, Some(0), "on\n")]),
    (
        "true; set -o pipefail; false | true && echo no || echo yes",
        0,
        &[QUIET, QUIET, (Handled, Some(1), ""), NEVER, (Went, Some(0), "yes\n")],
    ),
    (
        "echo $((1/0)); echo never\necho b; echo $?",
        0,
        &[
            (Failed, Some(1), "/bin/bash: line 1: 1/0: division by 0 (error token is \"0\")\n"),
            NEVER,
            (Went, Some(0), "b\n"),
            (Went, Some(0), "0\n"),
        ],
    ),
    (
        "readonly R=1; R=2; echo never\necho b",
        0,
        &[
            QUIET,
            (Failed, Some(1), "/bin/bash: line 1: R: readonly variable\n"),
            NEVER,
            (Went, Some(0), "b\n"),
        ],
    ),
    (
        "echo a\nnosuch\n  nosuch2 && echo never",
        127,
        &[
            (Went, Some(0), "a\n"),
            (Failed, Some(127), "/bin/bash: line 2: nosuch: command not found\n"),
            (Failed, Some(127), "/bin/bash: line 3: nosuch2: command not found\n"),
            NEVER,
        ],
    ),
    (
        "PATH=; ls; echo $?",
        0,
        &[
            QUIET,
            (Failed, Some(127), "/bin/bash: line 1: ls: No such file or directory\n"),
            (Went, Some(0), "127\n"),
        ],
    ),
    (
        "cd nowhere && echo a && echo b",
        1,
        &[(Failed, Some(1), "/bin/bash: line 1: cd: nowhere: No such file or directory\n"), NEVER, NEVER],
    ),
    (
        "mkdir d; cd d; pwd | sed 's|.*/||'; rmdir ../d; ls",
        0,
        &[QUIET, QUIET, (Went, Some(0), "d\n"), QUIET, QUIET],
    ),
    (
        "cd .; sh -c 'kill -9 $$' 2>/dev/null; echo $?",
        0,
        &[
            (
                Failed,
                Some(137),
                "/bin/bash: line 1: N Killed                  sh -c 'kill -9 $$' 2> /dev/null\n",
            ),
            (Went, Some(0), "137\n"),
        ],
    ),
];

#[tokio::test]
async fn known_steps() {
    let digits = regex::Regex::new(r" *\b\d{4,7} ").unwrap();
    let place = Place::new();
    for (command, code, expected) in CASES {
        let (did, seen) = place.timed(command, Pipes::One, plan(command).unwrap()).await;
        assert_eq!(did.code, Some(*code), "{command}");
        let steps = seen.chain.unwrap_or_else(|| panic!("{command}: lost, {:?}", seen.marks)).steps;
        let found: Vec<_> = steps
            .iter()
            .map(|step| (step.state, step.exit, digits.replace_all(&step.output, " N ").into_owned()))
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|(state, exit, output)| (*state, *exit, (*output).to_owned())).collect();
        assert_eq!(found, expected, "{command}");
    }
}
