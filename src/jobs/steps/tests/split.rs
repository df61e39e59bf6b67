//! Which steps a command has, without a shell.

use crate::jobs::steps::{Whole, plan};
use crate::proto::chain::StepJoint::{self, And, Or, Then};
use proptest::prelude::*;

fn steps(command: &str) -> Vec<(StepJoint, String)> {
    let plan = plan(command).unwrap_or_else(|why| panic!("{command}: {why:?}"));
    plan.elements.into_iter().map(|step| (step.joint, step.text)).collect()
}

/// A command and its steps.
type Case = (&'static str, &'static [(StepJoint, &'static str)]);

#[test]
fn lists_become_steps() {
    let table: &[Case] = &[
        ("a && b", &[(Then, "a"), (And, "b")]),
        ("a; b || c && d", &[(Then, "a"), (Then, "b"), (Or, "c"), (And, "d")]),
        ("a\nb # why\n# nothing\n\nc;", &[(Then, "a"), (Then, "b"), (Then, "c")]),
        ("a &&\n\n # why\n b || # why\n c", &[(Then, "a"), (And, "b"), (Or, "c")]),
        ("# first\na;b", &[(Then, "a"), (Then, "b")]),
        ("a | b |& c && d", &[(Then, "a | b |& c"), (And, "d")]),
        ("x=1 y=2 && [[ $x == 1 ]]; ! z", &[(Then, "x=1 y=2"), (And, "[[ $x == 1 ]]"), (Then, "! z")]),
        ("echo \"a && b; c\" 'd || e' && f", &[(Then, "echo \"a && b; c\" 'd || e'"), (And, "f")]),
        ("a $(b; c) `d && e` && f <<< x", &[(Then, "a $(b; c) `d && e`"), (And, "f <<< x")]),
        ("a \\\n  --flag && b", &[(Then, "a \\\n  --flag"), (And, "b")]),
        // Redirects and pipes belong to the last command, not to the list before them.
        (
            "a && b 2>&1 | tail -5 > f && c > g 2>&1; d",
            &[(Then, "a"), (And, "b 2>&1 | tail -5 > f"), (And, "c > g 2>&1"), (Then, "d")],
        ),
        ("a || b &> f; > g; 2>&1 c < h", &[(Then, "a"), (Or, "b &> f"), (Then, "> g"), (Then, "2>&1 c < h")]),
        ("{ a; b; } 2>&1 | c && d", &[(Then, "{ a; b; } 2>&1 | c"), (And, "d")]),
        ("a; { b && c; } > f || d", &[(Then, "a"), (Then, "{ b && c; } > f"), (Or, "d")]),
        (
            "(a; b) && c | (d) | while read x; do e; done",
            &[(Then, "(a; b)"), (And, "c | (d) | while read x; do e; done")],
        ),
        ("(exit 3); x=$(exit 2)", &[(Then, "(exit 3)"), (Then, "x=$(exit 2)")]),
        ("set -euo pipefail; set +e", &[(Then, "set -euo pipefail"), (Then, "set +e")]),
        (
            ". venv/bin/activate && \"$HOME/bin/a\" b",
            &[(Then, ". venv/bin/activate"), (And, "\"$HOME/bin/a\" b")],
        ),
        (
            "git commit -m 'Set up; exit on trip' && a",
            &[(Then, "git commit -m 'Set up; exit on trip'"), (And, "a")],
        ),
        (
            "command -v cc && env A=1 make; export B=2",
            &[(Then, "command -v cc"), (And, "env A=1 make"), (Then, "export B=2")],
        ),
        ("echo é && echo 日本 | cat; ls ü", &[(Then, "echo é"), (And, "echo 日本 | cat"), (Then, "ls ü")]),
        ("cat /proc/cpuinfo; df /proc/sys", &[(Then, "cat /proc/cpuinfo"), (Then, "df /proc/sys")]),
    ];
    for (command, expected) in table {
        let expected: Vec<_> = expected.iter().map(|(joint, text)| (*joint, (*text).to_owned())).collect();
        assert_eq!(steps(command), expected, "{command}");
    }
}

#[test]
fn a_leading_cd_is_the_location() {
    for (command, folder) in [
        ("cd web && npm test && npm run lint", Some("web")),
        ("cd '/a b/c'; make; make install", Some("/a b/c")),
        ("cd \"../x\"\na\nb", Some("../x")),
        ("cd ~/src/ü && a && b", Some("~/src/ü")),
        ("cd \"$x\" && a && b", None),
        ("cd a b && a && b", None),
        ("cd - && a && b", None),
        ("cd 'a\" && a && b'; c", None),
        ("cd && a && b", None),
        ("cd web | a; b && c", None),
        ("cd web > f; b && c", None),
        ("a && cd web && b", None),
    ] {
        assert_eq!(plan(command).map(|plan| plan.location), Ok(folder.map(str::to_owned)), "{command}");
    }
    assert_eq!(plan("cd web && npm test"), Err(Whole::Single));
    // The location is no step, so there may be twelve besides.
    assert_eq!(plan(&format!("cd web{}", "; a".repeat(12))).map(|plan| plan.elements.len()), Ok(13));
    assert_eq!(plan(&format!("a{}", "; a".repeat(12))), Err(Whole::TooMany));
}

#[test]
fn what_is_one_step() {
    let long = format!("a; b {}", "x".repeat(64 * 1024));
    let deep = format!("a; {} b {}", "{ ".repeat(20), "; }".repeat(20));
    let pipes = format!("a; b{}", " | b".repeat(130));
    let table = [
        ("", Whole::Single),
        ("# only words", Whole::Single),
        ("a", Whole::Single),
        ("a | b", Whole::Single),
        (long.as_str(), Whole::TooLong),
        (deep.as_str(), Whole::Unclear),
        (pipes.as_str(), Whole::TooMany),
        ("a &", Whole::Background),
        ("a & b", Whole::Background),
        ("a && b &", Whole::Background),
        ("a; (b); c", Whole::Compound),
        ("a; { (b); c; }", Whole::Compound),
        ("! { a; b; } && c", Whole::Compound),
        ("a; [[ b ]] | c", Whole::Compound),
        ("if a; then b; fi; c", Whole::Compound),
        ("for i in 1 2; do a; done && b", Whole::Compound),
        ("while a; do b; done; c", Whole::Compound),
        ("case a in a) b;; esac; c", Whole::Compound),
        ("f() { a; }; f", Whole::Compound),
        ("a; b |\nc", Whole::ContinuedPipeline),
        ("cat <<X\na && b\nX\nc", Whole::HereDocument),
        ("set -x; a; b", Whole::ChangesShell),
        ("set -eT; a; b", Whole::ChangesShell),
        ("set -o xtrace; a", Whole::ChangesShell),
        ("set -o; a", Whole::ChangesShell),
        ("set; a", Whole::ChangesShell),
        ("set -- a; b", Whole::ChangesShell),
        ("a || exit 1; b", Whole::ChangesShell),
        ("X=1 exit 2; a", Whole::ChangesShell),
        (">f exec b; a", Whole::ChangesShell),
        ("e'x'ec a; b", Whole::ChangesShell),
        ("\\exec a; b", Whole::ChangesShell),
        ("command -p exec a; b", Whole::ChangesShell),
        ("builtin a; b", Whole::ChangesShell),
        ("{ return 1; }; a", Whole::ChangesShell),
        ("a; enable -n printf", Whole::ChangesShell),
        ("a; ulimit -n 5", Whole::ChangesShell),
        ("a; . ./b.sh", Whole::ChangesShell),
        ("source a/b && c", Whole::ChangesShell),
        ("a && . \"$b\"", Whole::ChangesShell),
        ("$x a; b", Whole::Unclear),
        ("a; \"${x}\" b", Whole::Unclear),
        ("a; $'ex\\x65c' b", Whole::Unclear),
        ("a; e\\\nxec b", Whole::Unclear),
        // Our grammar takes these two lines for one command.
        ("a; x=1 y=2\nb; c", Whole::Unclear),
        ("trap 'a' EXIT; b", Whole::Notices),
        ("a; (trap)", Whole::Notices),
        ("eval a; b", Whole::Notices),
        ("echo alias; b", Whole::Notices),
        ("a; echo $_", Whole::Notices),
        ("a; echo ${_}", Whole::Notices),
        ("a; echo \"${_:-x}\"", Whole::Notices),
        ("a; echo $((_))", Whole::Notices),
        ("a; echo ${!x}", Whole::Notices),
        ("a; ls /proc/self/fd", Whole::Notices),
        ("a; cat /proc/$$/environ", Whole::Notices),
        ("a; cat /proc/[0-9]*/environ", Whole::Notices),
        ("cd /proc; a; b", Whole::Notices),
        ("a; ls /dev/fd", Whole::Notices),
        ("a; echo $LINENO", Whole::Notices),
        ("a; echo ${PIPESTATUS[0]}", Whole::Notices),
        ("a; echo $BASH_ENV", Whole::Notices),
        ("a; env", Whole::Notices),
        ("a; env | sort", Whole::Notices),
        ("a; env -0", Whole::Notices),
        ("a; x=$(printenv)", Whole::Notices),
        ("a; export", Whole::Notices),
        ("a; export -p", Whole::Notices),
        ("a; declare -p", Whole::Notices),
        ("a; time b", Whole::Notices),
        ("a && 'b", Whole::Unclear),
        ("a && && b", Whole::Unclear),
        ("&& a; b", Whole::Unclear),
        ("a; b)", Whole::Unclear),
        ("a;; b", Whole::Unclear),
        ("a\r\nb", Whole::Unclear),
        ("a; b\u{1b}", Whole::Unclear),
        ("a\0; b", Whole::Unclear),
    ];
    for (command, why) in table {
        assert_eq!(plan(command).map(|plan| plan.elements), Err(why), "{command:.80}");
    }
}

proptest! {
    #[test]
    fn any_text_is_split_or_not(
        parts in prop::collection::vec(
            prop_oneof![
                prop::sample::select(vec![
                    "a", "b c", "&&", "||", ";", "\n", "|", "!", "(", ")", "{", "}", "[[", "]]", "((", "))", "> f", "<",
                    "2>&1", "<<X", "'", "\"", "\\\n", "$", "`", "#", "é", "\u{2003}", "&", "if", "do", "x=1", "cd d", "\\",
                ]).prop_map(str::to_owned),
                "\\PC{0,4}",
            ],
            0..16,
        ),
    ) {
        let command = parts.join(" ");
        if let Ok(plan) = plan(&command) {
            let mut end = 0;
            for element in &plan.elements {
                prop_assert!(element.range.start >= end);
                prop_assert_eq!(command.get(element.range.clone()), Some(element.text.as_str()));
                let trimmed = element.text.trim_matches([' ', '\t', '\n']);
                // A blank behind a backslash is a part of the last word.
                prop_assert!(trimmed == element.text || trimmed.ends_with('\\'), "{:?}", element.text);
                end = element.range.end;
            }
            prop_assert!((2..=13).contains(&plan.elements.len()));
        }
    }
}
