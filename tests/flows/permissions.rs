//! What may run without a screen: modes, rules and the tools that the model gets.

use super::wire;
use super::{CHAT, Ended, run};
use mynah::testkit::home::Home;
use mynah::testkit::server::{ModelServer, Step};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

/// A run in which the model makes one call; what the model reads of it, and the run.
struct OneCall {
    result: String,
    ended: Ended,
}

impl OneCall {
    fn was_refused(&self) -> bool {
        self.result.contains("was refused and did not run")
    }
}

fn one_call(home: &Home, call: (&str, Value), arguments: &[&str]) -> OneCall {
    let server = ModelServer::start(vec![Step::text("").call(call.0, call.1), Step::text("Done.")]);
    let ended = run(CHAT.command(home, &server).arg("do it").args(arguments));
    assert_eq!((ended.stdout.as_str(), ended.code), ("Done.\n", 0), "{ended:?}");
    assert_eq!(server.violations(), Vec::<String>::new());
    let result = wire::results(&server.requests()[1]).remove(0);
    OneCall { result, ended }
}

fn bash(command: &str) -> (&'static str, Value) {
    ("bash", json!({"command": command}))
}

fn write(path: &str) -> (&'static str, Value) {
    ("write", json!({"path": path, "content": "written\n"}))
}

#[test]
fn what_would_ask_is_refused_and_the_flag_that_is_named_allows_it() {
    for (call, reads) in [
        (bash("git --version"), "git version"),
        (bash("echo \"it's one\""), "it's one"),
        (bash("echo a && echo b"), "a\nb"),
        (write("new file.txt"), "new file.txt"),
        (("edit", json!({"path": "a.txt", "edits": [{"oldText": "alpha", "newText": "ALPHA"}]})), "a.txt"),
        (("read", json!({"path": ".env"})), "SECRET=1"),
    ] {
        let home = Home::new();
        home.write("a.txt", "alpha\n");
        home.write(".env", "SECRET=1\n");
        let refused = one_call(&home, call.clone(), &[]);
        assert!(refused.was_refused(), "{}", refused.result);
        // A person copies the flag out of the message into a shell.
        let said = &refused.ended.stderr;
        let flag = said.split("Allow it with `").nth(1).and_then(|rest| rest.split("` or `--yolo`").next());
        let Some(flag) = flag else { panic!("no flag in {said}") };
        let words = home.command("sh").arg("-c").arg(format!("printf '%s\\n' {flag}")).output().unwrap();
        let words = String::from_utf8(words.stdout).unwrap();
        let allowed = one_call(&home, call, &words.lines().collect::<Vec<_>>());
        assert!(allowed.result.contains(reads) && !allowed.was_refused(), "{flag}: {}", allowed.result);
    }
}

#[test]
fn reading_runs_in_ask_mode_but_key_files_do_not() {
    let home = Home::new();
    home.write("a.txt", "alpha\n");
    for path in [".env", "sub/.env.local", "id_rsa"] {
        home.write(path, "SECRET=1\n");
    }
    fs::create_dir(home.user().join(".ssh")).unwrap();
    fs::write(home.user().join(".ssh/config"), "SECRET=1\n").unwrap();
    fs::create_dir_all(home.mynah().join("config")).unwrap();
    fs::write(home.mynah().join("config/auth.toml"), "# SECRET=1\n").unwrap();
    symlink(home.user().join(".ssh/config"), home.project().join("innocent.txt")).unwrap();
    let auth = home.mynah().join("config/auth.toml").display().to_string();
    let read = |path: &str, arguments: &[&str]| one_call(&home, ("read", json!({"path": path})), arguments);
    assert_eq!(read("a.txt", &[]).result, "alpha\n");
    for path in [".env", "sub/.env.local", "id_rsa", "~/.ssh/config", "innocent.txt", &auth] {
        for mode in ["ask", "edits"] {
            let refused = read(path, &["--permission-mode", mode]);
            assert!(
                refused.was_refused() && !refused.result.contains("SECRET"),
                "{path}: {}",
                refused.result
            );
        }
        assert!(read(path, &["--yolo"]).result.contains("SECRET=1"), "{path}");
    }
}

#[test]
fn a_search_of_a_folder_tells_nothing_of_files_that_may_not_be_read() {
    let home = Home::new();
    home.write("a.txt", "TOKEN=free\n");
    home.write(".env", "TOKEN=key\n");
    home.write("b/c.txt", "TOKEN=denied\n");
    symlink(".", home.project().join("again")).unwrap();
    let search = |path: &str, arguments: &[&str]| {
        let found = one_call(&home, ("grep", json!({"pattern": "TOKEN", "path": path})), arguments);
        let words = found.result.split(['=', '\n']).filter(|word| ["free", "key", "denied"].contains(word));
        let mut words: Vec<String> = words.map(str::to_owned).collect();
        words.sort();
        words.join(" ")
    };
    for path in [".", "again", home.project().to_str().unwrap()] {
        assert_eq!(search(path, &[]), "denied free", "{path}");
        assert_eq!(search(path, &["--yolo"]), "denied free key", "{path}");
        assert_eq!(search(path, &["--deny", "read(b/**)"]), "free", "{path}");
        assert_eq!(search(path, &["--yolo", "--deny", "read(b/**)"]), "free key", "{path}");
    }
    assert_eq!(search(".", &["--allow", "read(.env)"]), "denied free key");
    assert_eq!(search(".env", &[]), "");
}

#[test]
fn edits_mode_ends_at_the_border_of_the_project() {
    let home = Home::new();
    let outside = home.user().join("outside.txt");
    symlink(home.user(), home.project().join("link")).unwrap();
    let edits = &["--permission-mode", "edits"];
    let inside = one_call(&home, write("deep/inside.txt"), edits);
    assert!(!inside.was_refused(), "{}", inside.result);
    assert_eq!(fs::read_to_string(home.project().join("deep/inside.txt")).unwrap(), "written\n");
    for path in [
        outside.to_str().unwrap(),
        "../user/outside.txt",
        "link/outside.txt",
        "~/outside.txt",
        ".mynah/config.toml",
        ".git/hooks/pre-commit",
    ] {
        let refused = one_call(&home, write(path), edits);
        assert!(refused.was_refused(), "{path}: {}", refused.result);
    }
    assert!(!outside.exists());
    assert!(one_call(&home, bash("ls"), edits).was_refused());
}

#[test]
fn rules_judge_each_part_of_a_command() {
    let home = Home::new();
    home.write("a.txt", "alpha\n");
    let allow = &["--allow", "bash(echo:*)", "--allow", "bash(cat a.txt)"];
    for (command, runs) in [
        ("echo one", true),
        ("cat a.txt", true),
        ("echo one; cat a.txt | cat a.txt", true),
        ("cat a.txt b.txt", false),
        ("echoes", false),
        ("echo one && touch made", false),
        ("echo $(touch made)", false),
        ("echo one > made", false),
        ("echo one | sh -c 'touch made'", false),
        ("echo one & touch made", false),
        ("env X=1 touch made", false),
        ("echo 'unfinished", false),
    ] {
        let call = one_call(&home, bash(command), allow);
        assert_eq!(call.was_refused(), !runs, "{command}: {}", call.result);
        assert!(!home.project().join("made").exists(), "{command}");
    }
}

#[test]
fn deny_holds_in_yolo_mode() {
    let home = Home::new();
    home.write("a.txt", "alpha\n");
    let deny = &["--yolo", "--deny", "bash(touch:*)", "--deny", "edit(a.txt)", "--deny", "read(b/**)"];
    for (call, why) in [
        (bash("touch made"), "bash(touch:*)"),
        (bash("true && timeout 5 touch made"), "bash(touch:*)"),
        (bash("sh -c 'touch made'"), "bash(touch:*)"),
        (write("a.txt"), "edit(a.txt)"),
        (("read", json!({"path": "b/c.txt"})), "read(b/**)"),
    ] {
        let denied = one_call(&home, call, deny);
        assert!(denied.was_refused() && denied.result.contains(why), "{}", denied.result);
    }
    assert!(!home.project().join("made").exists());
    assert_eq!(fs::read_to_string(home.project().join("a.txt")).unwrap(), "alpha\n");
    assert!(!one_call(&home, bash("touch other; ls"), &["--yolo"]).was_refused());
}

#[test]
fn a_rule_with_a_mistake_is_told_and_never_allows_more() {
    let home = Home::new();
    let allowed = one_call(&home, bash("ls"), &["--allow", "bash(ls"]);
    assert!(
        allowed.was_refused() && allowed.ended.stderr.contains("bash(ls"),
        "{allowed:?}",
        allowed = allowed.ended
    );
    let denied = one_call(&home, bash("ls"), &["--yolo", "--deny", "bash(ls"]);
    assert!(denied.was_refused() && denied.ended.stderr.contains("bash(ls"), "{:?}", denied.ended);
}

#[test]
fn the_model_gets_the_tools_that_were_chosen() {
    let home = Home::new();
    let tools = |arguments: &[&str]| {
        let server = ModelServer::start(vec![Step::text("Hello.")]);
        let ended = run(CHAT.command(&home, &server).arg("hi").args(arguments));
        assert_eq!(ended.stdout, "Hello.\n", "{ended:?}");
        assert_eq!(server.violations(), Vec::<String>::new());
        let request = server.requests().remove(0);
        (wire::tool_names(&request), wire::system(&request))
    };
    assert_eq!(tools(&["--tools", "grep,read"]).0, ["read", "grep"]);
    assert_eq!(tools(&["--set", "tools.enabled=ls"]).0, ["ls"]);
    let (none, system) = tools(&["--no-tools"]);
    assert_eq!(none, Vec::<String>::new());
    assert!(system.contains("You have no tools."), "{system}");

    let server = ModelServer::start(Vec::new());
    let unknown = run(CHAT.command(&home, &server).args(["hi", "--tools", "read,grepp"]));
    assert_eq!((unknown.code, unknown.stdout.as_str()), (1, ""));
    assert!(unknown.stderr.contains("grepp") && unknown.stderr.contains("`grep`"), "{unknown:?}");
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn a_tool_that_was_not_given_is_not_run() {
    let home = Home::new();
    let call = one_call(&home, bash("touch made"), &["--yolo", "--tools", "read"]);
    assert!(call.result.contains("bash") && call.result.contains("read"), "{}", call.result);
    assert!(!home.project().join("made").exists());
}
