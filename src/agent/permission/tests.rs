use super::*;
use proptest::prelude::*;
use std::path::{Component, Path, PathBuf};

const PROJECT: &str = "/home/u/p";

/// Symbolic links of a made-up disk.
const LINKS: [(&str, &str); 4] = [
    ("/home/u/p/etc", "/etc"),
    ("/home/u/p/keys", "/home/u/.ssh"),
    ("/home/u/p/lib", "/home/u/p/src"),
    ("/home/u/p/up", "/home"),
];

fn resolve(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
        if let Some((_, target)) = LINKS.iter().find(|(link, _)| out == Path::new(link)) {
            out = PathBuf::from(target);
        }
    }
    out
}

fn context() -> PathContext<'static> {
    PathContext {
        cwd: Path::new(PROJECT),
        project_root: Path::new(PROJECT),
        home: Path::new("/home/u"),
        config_dir: Path::new("/home/u/.config/mynah"),
        resolve: &resolve,
    }
}

/// Rules in short: `+allow`, `?ask`, `-deny`, divided by two blanks.
fn rules(text: &str) -> Rules {
    let list = |sign: char| -> Vec<String> {
        text.split("  ").filter_map(|rule| rule.strip_prefix(sign)).map(str::to_owned).collect()
    };
    let (rules, errors) = Rules::parse(&list('+'), &list('?'), &list('-'));
    assert_eq!(errors, []);
    rules
}

fn shell(command: &str) -> Vec<Subject> {
    vec![Subject::Shell { command: command.to_owned(), cwd: PROJECT.into() }]
}

fn run(rules: &Rules, mode: PermissionMode, command: &str) -> Verdict {
    judge(rules, mode, "bash", &shell(command), &context())
}

fn path(text: &str) -> PathBuf {
    Path::new(PROJECT).join(text)
}

fn sign(verdict: &Verdict) -> char {
    match verdict {
        Verdict::Allow => '+',
        Verdict::Ask { .. } => '?',
        Verdict::Deny { .. } => '-',
    }
}

use PermissionMode::{Ask, Edits, Yolo};

#[test]
fn modes_without_rules() {
    let table = [
        ("read", Subject::Read(path("src/a.rs")), "+++"),
        ("read", Subject::Read("/usr/include/stdio.h".into()), "+++"),
        ("read", Subject::Read(path("../other/a.rs")), "+++"),
        ("ls", Subject::Read("/home/u".into()), "+++"),
        ("grep", Subject::Read(path("src")), "+++"),
        ("grep", Subject::Read("/home/u".into()), "??+"),
        ("grep", Subject::Read("/".into()), "??+"),
        ("grep", Subject::Read(path("up")), "??+"),
        ("write", Subject::Write(path("src/a.rs")), "?++"),
        ("edit", Subject::Write(path("lib/a.rs")), "?++"),
        ("edit", Subject::Write(path("a/../b")), "?++"),
        ("edit", Subject::Write(path("../q/a.rs")), "??+"),
        ("edit", Subject::Write("/etc/passwd".into()), "??+"),
        ("edit", Subject::Write(path("etc/passwd")), "??+"),
        ("edit", Subject::Write(path("lib/../../q")), "??+"),
        ("edit", Subject::Write(path("up/../etc/x")), "??+"),
        ("edit", Subject::Write("/home/u/pp/a".into()), "??+"),
        ("edit", Subject::Write(path(".git/hooks/pre-commit")), "??+"),
        ("edit", Subject::Write(path("sub/.GIT/config")), "??+"),
        ("edit", Subject::Write(path(".mynah/config.toml")), "??+"),
        ("edit", Subject::Write(path(".gitignore")), "?++"),
        ("edit", Subject::Write(path(".env")), "??+"),
        ("bash", shell("git status").remove(0), "??+"),
        ("bash", shell("$X").remove(0), "??+"),
        ("task", Subject::Other, "??+"),
        // Keys.
        ("read", Subject::Read("/home/u/.ssh/id_ed25519".into()), "??+"),
        ("read", Subject::Read(path("keys/config")), "??+"),
        ("ls", Subject::Read(path("../.ssh")), "??+"),
        ("read", Subject::Read(path(".env")), "??+"),
        ("read", Subject::Read(path("a/.env.production")), "??+"),
        ("read", Subject::Read(path(".envrc")), "??+"),
        ("read", Subject::Read(path(".ENV")), "??+"),
        ("read", Subject::Read(path(".env.example")), "+++"),
        ("read", Subject::Read(path(".env/bin/python")), "+++"),
        ("read", Subject::Read(path("src/environment.rs")), "+++"),
        ("read", Subject::Read("/home/u/.aws/credentials".into()), "??+"),
        ("read", Subject::Read("/home/u/.config/gcloud/x.json".into()), "??+"),
        ("read", Subject::Read("/home/u/.azure/x".into()), "??+"),
        ("read", Subject::Read("/home/u/.kube/config".into()), "??+"),
        ("read", Subject::Read("/home/u/.gnupg/x".into()), "??+"),
        ("read", Subject::Read("/home/u/.netrc".into()), "??+"),
        ("read", Subject::Read("/home/u/.local/share/keyrings/login".into()), "??+"),
        ("read", Subject::Read("/home/u/.config/mynah/auth.toml".into()), "??+"),
        ("read", Subject::Read("/home/u/.config/mynah/config.toml".into()), "+++"),
        ("read", Subject::Read("/proc/self/environ".into()), "??+"),
        ("read", Subject::Read("/proc/12/task/12/environ".into()), "??+"),
    ];
    for (tool, subject, expected) in table {
        let verdicts = [Ask, Edits, Yolo].map(|mode| {
            sign(&judge(&Rules::default(), mode, tool, std::slice::from_ref(&subject), &context()))
        });
        assert_eq!(verdicts.iter().collect::<String>(), expected, "{tool} {subject:?}");
    }
}

#[test]
fn calls_that_touch_nothing_run_unless_a_rule_names_the_tool() {
    for (text, expected) in [("", '+'), ("-usage", '-'), ("?usage", '?'), ("-bash", '+')] {
        assert_eq!(sign(&judge(&rules(text), Ask, "usage", &[], &context())), expected, "{text}");
    }
}

#[test]
fn the_strictest_subject_counts() {
    let both = [Subject::Read(path("a")), Subject::Write("/etc/x".into())];
    assert_eq!(sign(&judge(&Rules::default(), Edits, "edit", &both, &context())), '?');
    assert_eq!(sign(&judge(&rules("-edit(/etc/**)"), Edits, "edit", &both, &context())), '-');
}

#[test]
fn path_rules() {
    let (edit, read) =
        (|text: &str| ("edit", Subject::Write(path(text))), |text: &str| ("read", Subject::Read(path(text))));
    let table = [
        ("+edit(src/**)", edit("src/a/b.rs"), '+'),
        ("+edit(src/**)", edit("srcs/b.rs"), '?'),
        ("+edit(src/**)", edit("src/../b.rs"), '?'),
        ("+edit(src/)", edit("src/b.rs"), '+'),
        ("+edit(./src/*.rs)", edit("src/b.rs"), '+'),
        ("+edit(src/*.rs)", edit("src/a/b.rs"), '?'),
        ("+edit(**/*.rs)", edit("src/a/b.rs"), '+'),
        ("+edit(src)", edit("src/b.rs"), '?'),
        ("+edit(etc/**)", edit("etc/passwd"), '?'),
        ("+edit(/etc/**)", edit("etc/passwd"), '?'),
        ("+edit(/etc/**)", ("write", Subject::Write("/etc/passwd".into())), '+'),
        ("+edit(lib/**)", edit("lib/a"), '?'),
        ("+edit(src/**)", edit("lib/a"), '?'),
        ("+edit(**)", edit("lib/a"), '+'),
        ("+edit(~/q/**)", edit("../q/a"), '+'),
        ("+edit(~)", edit("../q/a"), '?'),
        ("+edit", edit("/etc/passwd"), '+'),
        ("+write", edit("a"), '?'),
        ("+write(a)", ("write", Subject::Write(path("a"))), '+'),
        ("+edit  ?edit(src/**)", edit("src/a"), '?'),
        ("+edit  ?edit(src/**)  -edit(src/x)", edit("src/x"), '-'),
        ("-edit(src)", edit("src/b.rs"), '-'),
        ("-edit(src/**)", edit("src"), '-'),
        ("-edit(src/**)", edit("lib/b.rs"), '-'),
        ("-edit(SRC/*.RS)", edit("src/b.rs"), '-'),
        ("-edit(/etc/**)", edit("etc/passwd"), '-'),
        ("-edit(**)", edit("a"), '-'),
        ("-write", edit("a"), '?'),
        ("-read(~/.ssh/**)", read("keys/id"), '-'),
        ("-read(~/.ssh/**)", read("../.ssh/id"), '-'),
        ("-read(~/.ssh/**)", ("grep", Subject::Read("/home/u/.ssh".into())), '-'),
        ("-read(~/.ssh/**)", edit("keys/id"), '?'),
        ("-grep", read("a"), '+'),
        ("-read", read("a"), '-'),
        // Keys and guarded files need to be spelled out.
        ("+read", read(".env"), '?'),
        ("+read(**)", read(".env"), '?'),
        ("+read(.env)", read(".env"), '+'),
        ("+read(~/.ssh/id)", read("../.ssh/id"), '+'),
        ("+read(keys/id)", read("keys/id"), '?'),
        ("+edit(**)", edit(".git/config"), '?'),
        ("+edit(.git/config)", edit(".git/config"), '+'),
        ("+edit(app/\\[id\\]/*.ts)", edit("app/[id]/x.ts"), '+'),
    ];
    for (text, (tool, subject), expected) in table {
        let verdict = judge(&rules(text), Ask, tool, std::slice::from_ref(&subject), &context());
        assert_eq!(sign(&verdict), expected, "{text} for {tool} {subject:?}: {verdict:?}");
    }
}

#[test]
fn shell_rules_that_allow() {
    let table = [
        ("git status", '+'),
        ("git status --short src", '+'),
        ("git   status", '+'),
        ("git 'status'", '+'),
        ("git statusx", '?'),
        ("git", '?'),
        ("git push", '?'),
        ("./git status", '?'),
        ("/tmp/git status", '?'),
        ("GIT status", '?'),
        ("git status && rm x", '?'),
        ("git status;rm x", '?'),
        ("git status\nrm x", '?'),
        ("git status & rm x", '?'),
        ("git status | rm", '?'),
        ("git status |& rm", '?'),
        ("git status || rm x", '?'),
        ("git status $(rm x)", '?'),
        ("git status `rm x`", '?'),
        ("git status \"$(rm x)\"", '?'),
        ("git status <(rm x)", '?'),
        ("git status ${x:-$(rm y)}", '?'),
        ("git status && git status --short", '+'),
        ("git status | head -5", '+'),
        ("git status 2>&1 | head", '+'),
        ("git status > /dev/null 2>&1", '+'),
        ("git status > out.txt", '?'),
        ("git status >> /etc/x", '?'),
        ("git status > ~/.ssh/authorized_keys", '?'),
        ("git status > $X", '?'),
        ("git status < in.txt", '+'),
        ("git status < .env", '?'),
        ("git $X", '?'),
        ("git $X status", '?'),
        ("git status $X", '+'),
        ("$X status", '?'),
        ("g'i't \\status", '+'),
        ("timeout 5 git status", '+'),
        ("timeout $X git status", '?'),
        ("env git status", '+'),
        ("env RUST_LOG=x git status", '+'),
        ("RUST_LOG=debug git status", '+'),
        ("PATH=/tmp git status", '?'),
        ("LD_PRELOAD=x git status", '?'),
        ("env PATH=/tmp git status", '?'),
        ("GIT_PAGER=rm git status", '?'),
        ("PATH=/tmp; git status", '?'),
        ("for PATH in /tmp; do git status; done", '?'),
        ("export PATH=/tmp; git status", '?'),
        ("out=$(git status); head $out", '+'),
        ("for f in a b; do head $f; done", '+'),
        ("for f in a b; do rm $f; done", '?'),
        ("if git status; then head x; else true; fi", '+'),
        ("true", '?'),
        ("cd src", '?'),
        ("cd src && git status", '+'),
        ("cd /tmp && git status", '?'),
        ("cd etc && git status", '?'),
        ("cd $X && git status", '?'),
        ("cd - && git status", '?'),
        ("cd ~/.ssh && head id_ed25519", '?'),
        ("sudo git status", '?'),
        ("bash -c 'git status'", '+'),
        ("bash -c 'git status; rm x'", '?'),
        ("bash -c \"$X\"", '?'),
        ("bash <<EOF\ngit status\nEOF", '+'),
        ("sudo bash -c 'git status'", '?'),
        ("echo x | xargs head", '?'),
        ("git status | xargs head", '+'),
        ("git status | xargs rm", '?'),
        ("git status | xargs", '?'),
        ("git status | sh", '?'),
        ("eval git status", '?'),
        ("git() { rm x; }; git status", '?'),
        ("find . -name x", '+'),
        ("find . -exec head {} \\;", '+'),
        ("find . -exec rm {} \\;", '?'),
        ("npm test", '+'),
        ("npm test --watch", '?'),
        ("npm test $X", '?'),
        ("echo x | npm test", '?'),
        ("xargs npm test", '?'),
        ("git status # rm x", '+'),
        ("git status '", '?'),
        ("FOO=1 make all", '+'),
        ("FOO=2 make all", '?'),
        ("make all", '?'),
        // Keys, by name or through a link or a change of folder.
        ("head .env", '?'),
        ("head ./a/../.env", '?'),
        ("head ~/.ssh/id_rsa", '?'),
        ("head $HOME/.ssh/id", '?'),
        ("head \"$X/.ssh/id\"", '?'),
        ("head ~/.s*/id", '?'),
        ("head ~/.s{s,x}h/id", '?'),
        ("head keys/id", '?'),
        ("head --file=.env -n1", '?'),
        ("head -f.env", '?'),
        ("head @.env", '?'),
        ("head HEAD:.env", '?'),
        ("head /proc/self/environ", '?'),
        ("head -r x ~", '?'),
        ("head -r x /", '?'),
        ("head .env.example", '+'),
        ("head src/*.rs", '+'),
        ("head *", '+'),
        ("f=.env; head $f", '?'),
        ("for f in ~/.ssh/*; do head $f; done", '?'),
        ("tee .git/hooks/x", '?'),
        ("tee src/x", '+'),
    ];
    let text = "+bash(git status:*)  +bash(head:*)  +bash(find *)  +bash(npm test)  +bash(tee:*)  +bash(FOO=1 make all)";
    let rules = rules(text);
    for (command, expected) in table {
        let verdict = run(&rules, Ask, command);
        assert_eq!(sign(&verdict), expected, "{command}: {verdict:?}");
        assert_eq!(sign(&run(&rules, Yolo, command)), '+', "{command}");
    }
}

#[test]
fn redirects_are_edits() {
    let table = [
        ("+bash(a:*)", Edits, "a > out.txt", '+'),
        ("+bash(a:*)", Edits, "a > etc/x", '?'),
        ("+bash(a:*)", Edits, "a > ../x", '?'),
        ("+bash(a:*)", Edits, "cd src && a > x", '+'),
        ("+bash(a:*)  +bash(cd:*)", Edits, "cd /tmp && a > x", '?'),
        ("+bash(a:*)  +bash(cd:*)", Edits, "cd $X && a > x", '?'),
        ("+bash(a:*)", Edits, "a > .git/config", '?'),
        ("+bash(a:*)  +edit(out/**)", Ask, "a &> out/x", '+'),
        ("+bash(a:*)  +edit", Ask, "a > $X", '?'),
        ("+bash(a:*)  ?edit(out/**)", Edits, "a > out/x", '?'),
        ("+bash", Ask, "a > out.txt; $X", '+'),
        ("+bash", Ask, "a > .env", '?'),
        ("+bash", Ask, "a > .git/x", '?'),
        ("+bash  -edit(out/**)", Ask, "a > out/x", '-'),
        ("-edit(out/**)", Yolo, "a >> ./out/x", '-'),
        ("-edit(out/**)", Yolo, "cd out && a > x", '-'),
        ("-edit(/etc/**)", Yolo, "echo x > etc/passwd", '-'),
        ("-edit", Yolo, "echo x > y", '-'),
        ("-edit", Yolo, "echo x > /dev/null", '+'),
        ("-edit(out/**)", Yolo, "tee out/x", '-'),
        ("-edit(out/**)", Yolo, "cat out/x", '+'),
        ("-edit(out/**)", Yolo, "sudo rm out/x", '-'),
        ("-read(~/.ssh/**)", Yolo, "cat ~/.ssh/id_rsa", '-'),
        ("-read(~/.ssh/**)", Yolo, "cat < ../.ssh/id_rsa", '-'),
        ("-read(~/.ssh/**)", Yolo, "cat keys/id", '-'),
        ("-read(~/.ssh/**)", Yolo, "cd ~/.ssh; cat id", '-'),
        ("-read(~/.ssh/**)", Yolo, "cd && cat .ssh/id", '-'),
        ("-read(~/.ssh/**)", Yolo, "cp --from=$HOME/.ssh/id x", '-'),
        ("-read(~/.ssh/**)", Yolo, "eval 'cat ~/.ssh/id'", '-'),
        ("-read(~/.ssh/**)", Yolo, "cat .env", '+'),
        ("-read", Yolo, "cat x", '+'),
        ("-read", Yolo, "cat < x", '-'),
        ("?read(~/.ssh/**)  +bash(cat:*)", Ask, "cat ~/.ssh/x", '?'),
    ];
    for (text, mode, command, expected) in table {
        let verdict = run(&rules(text), mode, command);
        assert_eq!(sign(&verdict), expected, "{text} for {command} in {mode}: {verdict:?}");
    }
}

/// Ways to run `rm x` that a rule against `rm` must see in every mode.
const RM: [&str; 62] = [
    "rm x",
    "\\rm x",
    "\"rm\" x",
    "'rm' x",
    "r''m x",
    "r\"\"m x",
    "'r'\\m x",
    "$'rm' x",
    "$'\\x72m' x",
    "$\"rm\" x",
    "/bin/rm x",
    "../bin/rm x",
    "RM x",
    "rm",
    "FOO=1 rm x",
    "PATH=/x rm x",
    "env -i rm x",
    "env A=1 B=2 rm x",
    "/usr/bin/env rm x",
    "./env rm x",
    "env -S 'rm x'",
    "timeout 5 rm x",
    "timeout --weird 5 rm x",
    "nice -n 5 nohup rm x",
    "stdbuf -oL rm x",
    "time rm x",
    "command rm x",
    "builtin command rm x",
    "exec rm x",
    "sudo rm x",
    "sudo -u root env rm x",
    "sudo bash -c 'rm x'",
    "doas rm x",
    "busybox rm x",
    "echo x | xargs rm",
    "xargs -I{} rm {}",
    "find . -exec rm {} +",
    "find . -exec sh -c 'rm x' \\;",
    "bash -c 'rm x'",
    "sh -ec \"rm x\"",
    "bash -c \"bash -c 'rm x'\"",
    "bash <<EOF\nrm x\nEOF",
    "bash <<EOF\nrm $x\nEOF",
    "cat <<EOF | sh\nrm x\nEOF",
    "bash <<< 'rm x'",
    "eval 'rm x'",
    "eval \"r\"m x",
    "trap 'rm x' EXIT",
    "git status;rm x",
    "git status\nrm x",
    "git status & rm x",
    "git status |& rm x",
    "echo $(rm x)",
    "echo `rm x`",
    "echo \"${x:-`rm y`}\"",
    "cat <(rm x)",
    "if true; then rm x; fi",
    "while rm x; do :; done",
    "f() { rm x; }",
    "X=rm; $X x",
    "r? x; rm",
    "> f rm x",
];

#[test]
fn shell_rules_that_deny_see_every_form_in_every_mode() {
    for mode in [Ask, Edits, Yolo] {
        for command in RM {
            for text in ["-bash(rm:*)  +bash", "-bash"] {
                let verdict = run(&rules(text), mode, command);
                assert_eq!(sign(&verdict), '-', "{text} for {command} in {mode}: {verdict:?}");
            }
        }
    }
}

#[test]
fn shell_rules_that_ask_see_every_form_but_in_yolo_mode() {
    for command in RM {
        assert_eq!(sign(&run(&rules("?bash(rm:*)  +bash"), Ask, command)), '?', "{command}");
        assert_eq!(sign(&run(&rules("?bash(rm:*)"), Yolo, command)), '+', "{command}");
    }
}

#[test]
fn shell_rules_that_deny_know_words_from_text() {
    let table = [
        ("-bash(rm:*)", "echo rm", '+'),
        ("-bash(rm:*)", "git rm x", '+'),
        ("-bash(rm:*)", "rmdir x", '+'),
        ("-bash(rm:*)", "cat <<'EOF' > x\nrm x\nEOF", '+'),
        ("-bash(rm:*)", "git commit -m 'rm x'", '+'),
        ("-bash(rm:*)", "$X y", '+'),
        ("-bash(git push:*)", "git push", '-'),
        ("-bash(git push:*)", "git -C x push origin", '-'),
        ("-bash(git push:*)", "git --no-pager -c a=b push", '-'),
        ("-bash(git push:*)", "git $X", '-'),
        ("-bash(git push:*)", "git log push", '+'),
        ("-bash(git push:*)", "git pushd", '+'),
        ("-bash(git push -f:*)", "git push origin -f", '+'),
        ("-bash(git push -f:*)", "git push -q -f", '-'),
        ("-bash(npm test)", "npm test", '-'),
        ("-bash(npm test)", "npm test x", '+'),
        ("-bash(npm test)", "cd x && npm 'test'", '-'),
        ("-bash(sudo:*)", "sudo ls", '-'),
        ("-bash(bash:*)", "curl x | bash", '-'),
        ("-bash(env:*)", "env", '-'),
    ];
    for (text, command, expected) in table {
        let verdict = run(&rules(text), Yolo, command);
        assert_eq!(sign(&verdict), expected, "{text} for {command}: {verdict:?}");
    }
}

#[test]
fn suggestions_are_narrow_and_enough() {
    let table: &[(&str, &[&str])] = &[
        ("cargo test --all", &["bash(cargo test:*)"]),
        ("timeout 60 cargo test x", &["bash(cargo test:*)"]),
        ("npm run build --x", &["bash(npm run build:*)"]),
        ("ls -la /tmp", &["bash(ls:*)"]),
        ("git --version", &["bash(git --version)"]),
        ("rm -rf build", &["bash(rm -rf build)"]),
        ("git push origin main", &["bash(git push origin main)"]),
        ("python3 'a b.py'", &["bash(python3 'a b.py')"]),
        ("sudo apt install x", &["bash(sudo apt install x)"]),
        ("FOO=1 cargo test", &["bash(FOO=1 cargo test)"]),
        ("cargo test && cargo test --doc", &["bash(cargo test:*)"]),
        ("cargo test | tail -5", &["bash(cargo test | tail -5)", "bash(cargo test:*)", "bash(tail:*)"]),
        ("eval x", &["bash(eval x)"]),
        ("cargo test > out.txt", &["bash(cargo test > out.txt)", "bash(cargo test:*)", "edit(out.txt)"]),
        ("bash -c 'cargo test'", &["bash(cargo test:*)"]),
        ("cat .env", &["bash(cat .env)", "read(.env)", "bash(cat:*)"]),
        ("rm *.o", &[]),
    ];
    for (command, expected) in table {
        let mut rules = Rules::default();
        let Verdict::Ask { suggestions, .. } = run(&rules, Ask, command) else { panic!("{command}") };
        assert_eq!(&suggestions, expected, "{command}");
        if let Some(first) = suggestions.first() {
            rules.add_session_allow(first).unwrap();
            assert_eq!(run(&rules, Ask, command), Verdict::Allow, "{command} with {first}");
        }
    }
    let table = [
        ("src/a.rs", vec!["edit(src/a.rs)", "edit(src/**)"]),
        ("/home/u/p/app/[id]/x.ts", vec!["edit(app/\\[id\\]/x.ts)", "edit(app/\\[id\\]/**)"]),
        ("a.rs", vec!["edit(a.rs)"]),
        ("/home/u/q/x", vec!["edit(~/q/x)"]),
        ("/etc/x", vec!["edit(/etc/x)"]),
        (".env", vec!["edit(.env)"]),
    ];
    for (text, expected) in table {
        for rule in &expected {
            let subject = [Subject::Write(path(text))];
            let mut rules = Rules::default();
            let Verdict::Ask { suggestions, .. } = judge(&rules, Ask, "edit", &subject, &context()) else {
                panic!("{text}")
            };
            assert_eq!(suggestions, expected);
            rules.add_session_allow(rule).unwrap();
            assert_eq!(
                judge(&rules, Ask, "edit", &subject, &context()),
                Verdict::Allow,
                "{text} with {rule}"
            );
        }
    }
}

#[test]
fn a_rule_that_asks_offers_no_way_around_it() {
    let verdict = run(&rules("?bash(rm:*)"), Ask, "rm x");
    let reason = "The rule `bash(rm:*)` asks about `rm x`.".to_owned();
    assert_eq!(verdict, Verdict::Ask { reason, suggestions: vec![] });
}

#[test]
fn rules_with_mistakes_are_reported() {
    let table = [
        ("", "a rule is `tool` or `tool(pattern)`"),
        ("Bash(rm:*)", "lower case"),
        ("bash(rm:*", "a rule is"),
        ("(rm)", "a rule is"),
        ("bash()", "the pattern is empty"),
        ("bash(:*)", "the pattern is empty"),
        ("edit( )", "the pattern is empty"),
        ("bash(git * --force)", "only at the end"),
        ("bash(git*)", "only at the end"),
        ("bash(a && b:*)", "one plain command"),
        ("bash($X:*)", "one plain command"),
        ("edit(../x)", "no path pattern"),
        ("edit(a{b)", "no path pattern"),
        ("subagent(x)", "take a pattern"),
    ];
    for (rule, expected) in table {
        let (_, errors) = Rules::parse(&[rule.to_owned()], &[], &[]);
        let text = errors.iter().map(ToString::to_string).collect::<String>();
        assert!(text.contains(expected) && text.contains("It allows nothing"), "{rule}: {text}");
    }
}

#[test]
fn a_deny_rule_with_a_mistake_denies_its_tool() {
    let deny = |rule: &str| Rules::parse(&["bash".to_owned(), "edit".to_owned()], &[], &[rule.to_owned()]);
    for rule in ["Bash(rm:*)", "bash(rm:*", "bash()", "bash(git * -f)", "bash(a; b)"] {
        let (rules, errors) = deny(rule);
        assert!(errors[0].to_string().ends_with("every `bash` call is denied."), "{}", errors[0]);
        let Verdict::Deny { reason } = run(&rules, Yolo, "git status") else { panic!("{rule}") };
        assert_eq!(reason, errors[0].to_string());
        assert_eq!(sign(&judge(&rules, Yolo, "edit", &[Subject::Write(path("a"))], &context())), '+');
    }
    for rule in ["", "(rm)", "b@sh(rm)"] {
        let (rules, errors) = deny(rule);
        assert!(errors[0].to_string().ends_with("every call is denied."), "{}", errors[0]);
        assert_eq!(sign(&run(&rules, Yolo, "git status")), '-');
        assert_eq!(sign(&judge(&rules, Yolo, "read", &[Subject::Read(path("a"))], &context())), '-');
        assert_eq!(sign(&judge(&rules, Yolo, "usage", &[], &context())), '-');
    }
    let (rules, _) = Rules::parse(&["bash".to_owned()], &["bash(".to_owned()], &[]);
    assert_eq!(sign(&run(&rules, Ask, "git status")), '?');
    assert_eq!(sign(&run(&rules, Yolo, "git status")), '+');
}

#[test]
fn a_wrong_session_rule_changes_nothing() {
    let mut rules = Rules::default();
    assert!(rules.add_session_allow("bash(").is_err());
    assert_eq!(sign(&run(&rules, Ask, "ls")), '?');
}

#[test]
fn startup_files_are_guarded_if_the_home_folder_is_the_project() {
    let context = PathContext { project_root: Path::new("/home/u"), ..context() };
    for (file, expected) in [("/home/u/.bashrc", '?'), ("/home/u/.config/x", '?'), ("/home/u/notes.md", '+')]
    {
        let verdict = judge(&Rules::default(), Edits, "edit", &[Subject::Write(file.into())], &context);
        assert_eq!(sign(&verdict), expected, "{file}");
    }
}

#[test]
fn links_on_the_disk_are_followed() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (project, outside) = (root.join("p"), root.join("out"));
    for folder in [&project.join("src"), &outside] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let link = |target: &Path, name: &str| std::os::unix::fs::symlink(target, project.join(name)).unwrap();
    link(&outside, "link");
    link(&outside.join("new"), "dangling");
    link(Path::new("dangling"), "twice");
    link(Path::new("src"), "inside");
    let context = PathContext {
        cwd: &project,
        project_root: &project,
        home: &root,
        config_dir: &root.join("config"),
        resolve: &resolve_on_disk,
    };
    let table = [
        ("src/a/b", '+'),
        ("inside/a", '+'),
        ("link/a/b", '?'),
        ("dangling", '?'),
        ("twice", '?'),
        ("link/../p/x", '+'),
        ("src/../../out/x", '?'),
        ("none/../../out/x", '?'),
    ];
    for (file, expected) in table {
        let verdict =
            judge(&Rules::default(), Edits, "edit", &[Subject::Write(project.join(file))], &context);
        assert_eq!(sign(&verdict), expected, "{file}: {verdict:?}");
    }
}

#[test]
fn a_refusal_says_what_to_do() {
    let text = refusal("bash", "echo 'x'", "Shell commands ask in ask mode.", &["bash(echo 'x')".to_owned()]);
    assert!(
        text.contains(
            "This bash call was refused and did not run: echo 'x'\nShell commands ask in ask mode."
        ),
        "{text}"
    );
    assert!(text.contains("`--allow 'bash(echo '\\''x'\\'')'` or `--yolo`"), "{text}");
    assert!(refusal("x", "y", "z", &[]).contains("starting Mynah with `--yolo`."));
    let notice = refusal_notice("edit", &"ä".repeat(200), "Edits ask.", &["edit(x)".to_owned()]);
    assert_eq!(
        notice,
        format!(
            "edit did not run: {}…. Edits ask. Allow it with `--allow 'edit(x)'` or `--yolo`.",
            "ä".repeat(120)
        )
    );
}

fn any_command() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "rm", "git", "status", "x", " ", " ", "\n", "'", "\"", "`", "$(", ")", "(", "{", "}", "|", "&&", ";",
        "<", ">", "<<E\n", "E", "\\", "#", "~/", ".ssh", "/", "..", "*", "bash -c ", "env ", "xargs ", "=",
        "cd ", "$X", "é",
    ]);
    prop_oneof![prop::collection::vec(parts, 0..16).prop_map(|parts| parts.concat()), "\\PC{0,40}"]
}

proptest! {
    #[test]
    fn any_call_gets_a_verdict(command in any_command(), text in "\\PC{0,20}") {
        let (mut rules, _) = Rules::parse(std::slice::from_ref(&text), std::slice::from_ref(&text), &[format!("bash({text})"), format!("edit({text})")]);
        let _ = rules.add_session_allow(&text);
        for mode in [Ask, Edits, Yolo] {
            let _ = judge(&rules, mode, "bash", &shell(&command), &context());
            let _ = judge(&rules, mode, "edit", &[Subject::Write(path(&command)), Subject::Read(path(&text))], &context());
        }
    }

    /// No rule that allows single commands lets a command through in which a forbidden one stands by itself.
    #[test]
    fn what_follows_an_allowed_command_is_judged(before in any_command(), sign_between in prop::sample::select(vec![";", "\n", "&&", "|", "&"])) {
        let rules = rules("+bash(git:*)  +bash(x:*)  +bash(env:*)  +bash(xargs:*)  -bash(rm:*)");
        let command = format!("{before}{sign_between} rm y");
        let parsed = crate::jobs::segments::parse(&command);
        let verdict = run(&rules, Ask, &command);
        // In quotes or behind a comment sign it may be text; then it is not a command of its own.
        let runs_rm = parsed.segments.iter().any(|s| s.words.first().is_some_and(|w| w.known() == Some("rm")));
        if runs_rm || parsed.opaque.is_some() {
            prop_assert_ne!(verdict, Verdict::Allow);
        }
    }

    /// What asks and is then allowed by its own first suggestion runs.
    #[test]
    fn suggestions_allow_what_they_were_made_for(words in prop::collection::vec("[a-z'\" $.=-]{1,6}", 1..4)) {
        let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        let command = format!("cargo {}", quoted.join(" "));
        let mut rules = Rules::default();
        if let Verdict::Ask { suggestions, .. } = run(&rules, Ask, &command)
            && let [first, ..] = suggestions.as_slice()
        {
            prop_assert!(rules.add_session_allow(first).is_ok(), "{}", first);
            prop_assert_eq!(run(&rules, Ask, &command), Verdict::Allow, "{} for {}", first, command);
        }
    }
}
