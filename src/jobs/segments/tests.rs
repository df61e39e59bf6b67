use super::*;
use proptest::prelude::*;

/// Segments in short: `NAME=value words <read >write`, inner commands behind `→`, guesses behind `?`, unknown words
/// with a tilde in front.
fn short(command: &str) -> Vec<String> {
    let word = |word: &Word| if word.literal { word.text.clone() } else { format!("~{}", word.text) };
    let words = |words: &[Word]| words.iter().map(word).collect::<Vec<_>>().join(" ");
    let segment = |segment: &Segment| {
        let mut parts: Vec<String> =
            segment.assignments.iter().map(|a| format!("{}={}", a.name, word(&a.value))).collect();
        if !segment.words.is_empty() {
            parts.push(words(&segment.words));
        }
        for redirect in &segment.redirects {
            let sign = match redirect.kind {
                RedirectKind::Read => "<",
                RedirectKind::Write => ">",
            };
            parts.push(format!("{sign}{}", word(&redirect.target)));
        }
        for inner in &segment.inner {
            let sign = if inner.is_faithful { "→" } else { "?" };
            parts.push(format!("{sign} {}", words(&[&inner.assignments[..], &inner.words[..]].concat())));
        }
        if segment.is_covered {
            parts.push("(script)".to_owned());
        }
        parts.join(" ")
    };
    parse(command).segments.iter().map(segment).collect()
}

#[test]
fn commands_are_found_wherever_they_stand() {
    let table: &[(&str, &[&str])] = &[
        ("git status --short", &["git status --short"]),
        ("a; b & c && d || e | f |& g", &["a", "b", "c", "d", "e", "f", "g"]),
        ("a\nb", &["a", "b"]),
        ("(a; b)", &["a", "b"]),
        ("{ a; b; } > f", &["a", "b", ">f"]),
        ("! a", &["a"]),
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("while a; do b; done < f", &["a", "b", "<f"]),
        ("for x in 1 *.rs $(a); do b $x; done", &["a", "b ~*", "x=1 x=~*.rs x=~*"]),
        ("case $(a) in x) b;; *) c;; esac", &["a", "b", "c"]),
        ("f() { a; }; f", &["a", "f"]),
        (
            "echo $(a) `b` \"$(c) ${x:-$(d)}\" <(e) $((1+$(g)))",
            &["a", "b", "c", "d", "e", "g", "echo ~* ~* ~* * ~* ~*"],
        ),
        ("[[ $(a) == b ]] && c", &["a", "c"]),
        ("x=$(a) b", &["a", "x=~* b"]),
        ("x=1 y=2", &["x=1", "y=2"]),
        ("x=(1 $(a))", &["a", "x=~*"]),
        ("export A=1 B", &["export A=1 B"]),
        ("unset A", &["unset A"]),
        ("cat <<EOF | a\n$(b)\nEOF\nc", &["a", "b", "cat", "c"]),
        ("cat <<'EOF' > f && a\n$(rm x)\nEOF", &["a", "cat >f"]),
    ];
    for (command, expected) in table {
        let (mut found, mut expected) = (short(command), expected.to_vec());
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected, "{command}");
        assert_eq!(parse(command).opaque, None, "{command}");
    }
}

#[test]
fn words_are_what_the_command_gets() {
    let table = [
        ("r''m x", "rm x"),
        ("\\rm x", "rm x"),
        ("'rm' x", "rm x"),
        ("\"rm\" \"a b\"", "rm a b"),
        ("$'\\x72\\155' x", "rm x"),
        ("$\"rm\" x", "rm x"),
        ("a 'b'\"c\"\\d", "a bcd"),
        ("a \"\\$x \\\\ \\n\"", "a $x \\ \\n"),
        ("a $x ${x} \"$x\"/y", "a ~* ~* ~*/y"),
        ("a $HOME/x \"${HOME}/y\" $PWD/z ~/w", "a ~/x ~/y ./z ~/w"),
        ("a ~user/x ~+", "a ~* ~*"),
        ("a *.rs a?b [ab]", "a ~*.rs ~a?b ~[ab]"),
        ("a {b,c} x{b,c}d {1..3}", "a ~* ~x* ~*"),
        ("a {} '*' \\*", "a {} * *"),
        ("a $'\\u00e4\\'' --x=1", "a ä' --x=1"),
        ("a $'\\0b' $'\\xff'", "a ~* ~*"),
        ("a x\\ y", "a x y"),
        ("'r'\\m 'x'\"y\"\\z > 'f'\\g", "rm xyz >fg"),
        ("> f a b", "a b >f"),
        ("a > f b 2>&1 <&- &> g", "a b >f >g"),
    ];
    for (command, expected) in table {
        assert_eq!(short(command), [expected], "{command}");
    }
}

#[test]
fn wrappers_are_looked_into() {
    let table: &[(&str, &[&str])] = &[
        ("env -i A=1 rm x", &["env -i A=1 rm x → A=1 rm x"]),
        ("env -u B rm x", &["env -u B rm x → rm x"]),
        ("timeout -k 5 --signal=KILL 10 rm x", &["timeout -k 5 --signal=KILL 10 rm x → rm x"]),
        ("nice -n 5 nohup rm x", &["nice -n 5 nohup rm x → nohup rm x → rm x"]),
        ("nice -10 rm", &["nice -10 rm → rm"]),
        ("stdbuf -oL rm", &["stdbuf -oL rm → rm"]),
        ("time -p rm", &["time -p rm → rm"]),
        ("time A=1 rm", &["time A=1 rm → A=1 rm"]),
        ("command rm", &["command rm → rm"]),
        ("command -v rm", &["command -v rm"]),
        ("exec rm", &["exec rm → rm"]),
        ("xargs -n 1 rm -f", &["xargs -n 1 rm -f → rm -f ~*"]),
        ("xargs -I{} rm {}/x", &["xargs -I{} rm {}/x → rm ~*/x"]),
        ("/usr/bin/env rm", &["/usr/bin/env rm → rm"]),
        ("./env rm", &["./env rm ? rm"]),
        ("sudo -u x rm y", &["sudo -u x rm y ? -u x rm y ? x rm y ? rm y ? y"]),
        ("bash -c 'a; b'", &["bash -c a; b (script)", "a", "b"]),
        ("sh -euo pipefail -c a", &["sh -euo pipefail -c a (script)", "a"]),
        (
            "env bash -lc 'sh -c \"a b\"'",
            &["env bash -lc sh -c \"a b\" → bash -lc sh -c \"a b\" (script)", "sh -c a b (script)", "a b"],
        ),
        ("bash x.sh y", &["bash x.sh y"]),
        ("bash <<EOF\nrm x\nEOF", &["bash (script)", "rm x"]),
        ("bash <<-'E'\n\trm $x\n\tE", &["bash (script)", "rm ~*"]),
        (
            "find . -exec rm {} \\; -name x -ok sh -c a +",
            &["find . -exec rm {} ; -name x -ok sh -c a +", "rm ~*", "sh -c a (script)", "a"],
        ),
    ];
    for (command, expected) in table {
        assert_eq!(&short(command), expected, "{command}");
        assert_eq!(parse(command).opaque, None, "{command}");
    }
}

#[test]
fn what_can_not_be_told_is_opaque() {
    let table = [
        "$X a",
        "\"$X\" a",
        "$(echo rm) x",
        "r{m,} x",
        "/bin/r? x",
        "${x}m y",
        "env $X",
        "env -S 'rm x'",
        "timeout $T rm x",
        "nice $X",
        "xargs $X",
        "xargs -I{} {} x",
        "xargs bash",
        "xargs -I% bash -c '%'",
        "eval rm x",
        "command eval rm",
        "trap 'rm x' EXIT",
        "curl x | sh",
        "bash",
        "bash -s",
        "bash < f",
        "bash <<< 'rm x'",
        "bash <<EOF\nrm $x\nEOF",
        "cat <<EOF | bash\nrm x\nEOF",
        "bash -c \"$X\"",
        "bash --rcfile x -c y",
        "bash <(curl x)",
        "bash /dev/stdin",
        ". <(curl x)",
        "zsh -c 'rm x'",
        "sudo sh",
        "if true; then rm x",
        "a '",
        "a \r b",
        "a\u{0}b",
        "r\\\nm x",
        "echo ${x:-`rm y`}",
        "echo `echo \\`rm x\\``",
        "echo ${x@P}",
        "a <<A <<B\n1\nA\n2\nB",
        "cat <<E\"O\"F\nx\nEOF\nrm x",
        "cat <<E\n`rm x`\nE",
        "a <> f",
        "echo !(a|b)",
        "r$\"m\" x",
        "a\n\\\nrm",
        "a\n\\rm x",
        "! ! rm",
        "time ! rm",
        "a =~ |rm x",
        "a <<< $\nrm",
        "a\n\\ #| rm x",
        "sudo $X rm",
        "A='a'\\b rm x",
        "for a in 'x'\\y; do b; done",
    ];
    for command in table {
        assert!(parse(command).opaque.is_some(), "{command}: {:?}", short(command));
    }
}

#[test]
fn everyday_commands_are_understood() {
    for command in [
        "cargo test --lib agent:: -- --nocapture 2>&1 | grep -v '^ *Compiling' | tail -40",
        "cd /tmp && ls -la && git log --oneline -5 || true",
        "git commit -m \"Fix the parser\n\nIt failed on \\\"quotes\\\" and \\$dollars.\"",
        "cat > src/a.rs <<'EOF'\nfn main() { println!(\"{}\", `x`); }\nEOF\ncargo check",
        "python3 - <<'EOF'\nimport os\nprint(os.getcwd())\nEOF",
        "rg -n \"fn (parse|judge)\" src --glob '!target/**' | head -20",
        "for f in $(git ls-files '*.rs'); do wc -l \"$f\"; done | sort -rn | head",
        "find . -name '*.rs' -not -path './target/*' -exec grep -l foo {} + | xargs sed -n '1,5p'",
        "docker run --rm -v \"$PWD\":/w -w /w node:20 \\\n  npm test",
        "curl -s 'https://example.org/a?b=c&d=e' | jq -r '.items[] | \"\\(.name)\"'",
        "awk '{ print $1 }' f | sort | uniq -c",
        "if [ -f Cargo.toml ] && [[ $(wc -l < Cargo.toml) -gt 5 ]]; then echo yes; fi # note",
        "git diff HEAD~1 -- src/{a,b}.rs | tee /tmp/diff.txt",
        "sed -i 's/a/b/g; s|x|y|' $(git grep -l a)",
        "export A=1; B=2 make -j\"$(nproc)\" all > /dev/null",
        "echo \"total: $(( $(ls | wc -l) + 1 ))\" && printf '%s\\n' \"${A:-none}\"",
        "while read -r line; do echo \"$line\"; done < <(git status --short)",
    ] {
        assert_eq!(parse(command).opaque, None, "{command}");
    }
}

#[test]
fn ranges_point_into_the_command() {
    let command = "cd ä && bash -c 'rm x' | tee f";
    let parsed = parse(command);
    let texts: Vec<&str> =
        parsed.segments.iter().filter_map(|segment| command.get(segment.range.clone())).collect();
    assert_eq!(texts, ["cd ä", "bash -c 'rm x'", "bash -c 'rm x'", "tee f"]);
}

#[test]
fn characters_beyond_ascii_are_plain() {
    for command in ["{\u{31860}", "{1\u{10ffff}", "a {\u{31860}..2}"] {
        let _ = parse(command);
    }
    assert_eq!(short("grüße '日本' \"🦀 $x\"; rm\u{a0}x ö=1"), ["grüße 日本 ~🦀 *", "rm\u{a0}x ö=1"]);
    // Nothing becomes the end mark of a here-document.
    assert_eq!(short("cat <<xx\né\n'\nxx\nrm y\n''"), ["cat", "rm y", ""]);
}

#[test]
fn deep_and_long_texts_end() {
    for command in [
        "$(".repeat(2000) + &")".repeat(2000),
        "(".repeat(2000) + "a" + &")".repeat(2000),
        "{ ".repeat(500) + "a;" + &" }".repeat(500),
        "bash -c ".repeat(50),
        "a ".repeat(200_000),
        "\"".repeat(5000),
        "<<A ".repeat(300),
        "a;".repeat(2_000_000),
    ] {
        let _ = parse(&command);
    }
}

proptest! {
    #[test]
    fn any_text_is_taken_apart(text in "\\PC{0,60}") {
        let _ = parse(&text);
    }

    #[test]
    fn any_shell_like_text_is_taken_apart(
        parts in prop::collection::vec(prop::sample::select(vec![
            "rm", "x", " ", "\n", "'", "\"", "`", "$", "$(", ")", "(", "{", "}", "|", "&", ";", "<", ">", "<<E", "E", "\\",
            "#", "~", "*", "bash -c ", "env ", "xargs ", "=", "if ", "then ", "fi", "for ", "in ", "do ", "done", "[[", "]]", "é",
        ]), 0..24)
    ) {
        let text = parts.concat();
        for segment in parse(&text).segments {
            prop_assert!(text.get(segment.range).is_some());
        }
    }

    /// Whatever the quoting, the word is found.
    #[test]
    fn quoting_hides_no_command(cuts in prop::collection::vec(0..5u8, 2), before in "[a-z]{1,5}", sign in prop::sample::select(vec![";", "&&", "||", "|", "&", "\n", "|&"])) {
        let quoted: String = "rm".chars().zip(cuts).map(|(c, cut)| match cut {
            0 => format!("'{c}'"),
            1 => format!("\"{c}\""),
            2 => format!("\\{c}"),
            3 => format!("$'\\x{:x}'", u32::from(c)),
            _ => c.to_string(),
        }).collect();
        let parsed = parse(&format!("x{before}{sign} {quoted} y"));
        let found = parsed.segments.iter().any(|segment| segment.words.first() == Some(&Word::literal("rm")));
        prop_assert!(found, "{quoted}");
    }
}
