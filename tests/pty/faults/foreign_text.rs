//! Text of others: whatever a model, a tool, a file's name or a server says, nothing of it steers the terminal, and
//! nothing turns around what is read.

use super::super::{answer, ask, bare, leave, mynah, open, serve};
use crate::flows::CHAT;
use mynah::testkit::home::Home;
use mynah::testkit::pty::Pty;
use mynah::testkit::server::Step;
use serde_json::{Value, json};
use std::fs;

/// Each steers a terminal: its clipboard, its title, the screen, the cursor, the bell, the character set, a reset, a
/// link, a question that it would answer by typing; in seven bits and in eight; then reading order.
const EVIL: [&str; 14] = [
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]0;evil title\x07",
    "\x1b]2;evil title\x1b\\",
    "\x1b[3J\x1b[H",
    "\x1b[3;3H",
    "\x1b[?1049l",
    "\x1b[6n",
    "\x1bP+q544e\x1b\\",
    "\x1bc",
    "\x07",
    "\u{9b}3J",
    "\u{9d}0;evil title\u{9c}",
    "\u{202e}\u{2066}",
    "\x1b]8;;http://evil.example\x1b\\",
];

/// All of it behind this word, with words in between.
fn evil(word: &str) -> String {
    let mut text = word.to_owned();
    for piece in EVIL {
        text.push_str(piece);
        text.push('.');
    }
    text + "end"
}

/// Nothing of it has reached the terminal so far.
fn assert_harmless(pty: &Pty) {
    let output = pty.output();
    let found = |bytes: &[u8]| output.windows(bytes.len()).any(|window| window == bytes);
    // What we write ourselves is none of these. What is left of a sequence without its first byte is plain text.
    for sequence in [
        "\x1b]52;",
        "\x1b]0;",
        "\x1b]2;evil",
        "\x1b]8;;http",
        "\x1b[3J",
        "\x1b[3;3H.",
        ".\x1b[6n",
        "\x1bP+q",
        "\x1bc",
        "\x07",
        "\u{9b}",
        "\u{9d}",
        "\u{202e}",
        "\u{2066}",
    ] {
        assert!(
            !found(sequence.as_bytes()),
            "{sequence:?} reached the terminal; the screen:\n{}",
            pty.text()
        );
    }
    pty.look(|terminal| {
        let modes = terminal.modes();
        assert!(modes.title.as_ref().is_none_or(|title| title.starts_with("mynah · ")), "{:?}", modes.title);
        assert_eq!((modes.clipboard.len(), modes.bells), (0, 0));
    });
    // What we ask for ourselves, and the titles that we set.
    let output = String::from_utf8_lossy(&output);
    let own = ["●─\x1b[6n", "\x1b]2;mynah · "];
    for (sequence, ours) in ["\x1b[6n", "\x1b]2;"].into_iter().zip(own) {
        assert_eq!(output.matches(sequence).count(), output.matches(ours).count(), "{sequence:?}");
    }
}

/// Shows everything there is to show: rows open, thinking too.
fn open_all(pty: &mut Pty) {
    pty.press("ctrl+o");
    pty.press("ctrl+t");
    super::and_drawn(pty, |pty| pty.press("ctrl+l"));
}

#[test]
fn of_a_model_in_its_answer() {
    let home = Home::new();
    let markdown = format!(
        "{}\n\n# {}\n\n- {}\n\n```sh\n{}\n```\n\n| a | {} |\n|---|---|\n| 1 | {} |\n\n`{}` [{}](http://x/{})\n",
        evil("words"),
        evil("heading"),
        evil("item"),
        evil("code"),
        evil("head"),
        evil("cell"),
        evil("span"),
        evil("link"),
        evil("address"),
    );
    let server = serve(vec![Step::text(markdown).thinking(evil("thought")).pieces(3)]);
    let mut pty = open(mynah(&home, &server).size(120, 60));
    ask(&mut pty, "speak");
    pty.wait_for("∎ ");
    pty.wait_for("heading");
    pty.wait_for("cell");
    open_all(&mut pty);
    assert_harmless(&pty);
    leave(&mut pty);
    // Its last words on the user's own screen neither.
    assert_harmless(&pty);
}

#[test]
fn of_a_tool_its_arguments_and_its_output() {
    let home = Home::new();
    home.write("evil.txt", &evil("in a file"));
    let call = |command: &str| Step::text("").call("bash", json!({"command": command}));
    let path = evil("name");
    let server = serve(vec![
        call(&format!("printf '%s' '{}'; cat evil.txt", evil("argument").replace('\'', ""))),
        Step::text("").call("read", json!({"path": path.replace('/', "")})),
        Step::text("").call(
            "write",
            json!({"path": format!("{}.txt", path.replace('/', "")), "content": evil("content")}),
        ),
        Step::text("").call(evil("tool"), json!({evil("key"): evil("value")})),
        Step::text("").raw_arguments("read", evil("no json")),
        Step::text("That was all."),
    ]);
    let mut pty = open(mynah(&home, &server).size(120, 60));
    ask(&mut pty, "use everything");
    pty.wait_for("Run this command?");
    assert_harmless(&pty);
    answer(&mut pty, "Run this command?", "y");
    pty.wait_for("Create ");
    assert_harmless(&pty);
    answer(&mut pty, "Create ", "y");
    pty.wait_for("That was all.");
    open_all(&mut pty);
    assert_harmless(&pty);
    leave(&mut pty);
}

#[test]
fn of_an_edit_before_and_after() {
    let home = Home::new();
    home.write("a.txt", &format!("one\n{}\nthree\n", evil("old")));
    let edit = json!({"path": "a.txt", "edits": [{"oldText": "three", "newText": evil("new")}]});
    let server = serve(vec![
        Step::text("").call("read", json!({"path": "a.txt"})),
        Step::text("").call("edit", edit),
        Step::text("Changed."),
    ]);
    let mut pty = open(mynah(&home, &server).size(120, 60));
    ask(&mut pty, "change it");
    pty.wait_for("Change a.txt?");
    assert_harmless(&pty);
    answer(&mut pty, "Change a.txt?", "1");
    pty.wait_for("Changed.");
    open_all(&mut pty);
    assert_harmless(&pty);
    leave(&mut pty);
}

#[test]
fn of_a_shell_line() {
    let home = Home::new();
    home.write("evil.txt", &evil("printed"));
    let server = serve(vec![]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "!cat evil.txt; cat evil.txt >&2; false");
    pty.wait_for("printed");
    pty.wait_for("Ask anything");
    open_all(&mut pty);
    assert_harmless(&pty);
    leave(&mut pty);
}

#[test]
fn of_a_server_that_fails() {
    let home = Home::new();
    let server = serve(vec![
        Step::status(400).message(evil("refused")),
        Step::status(503).message(evil("busy")),
        Step::error_in_stream("server_error", 1).message(evil("broken")),
        Step::status(401).message(evil("no entry")),
    ]);
    let mut pty = open(mynah(&home, &server).size(120, 60));
    ask(&mut pty, "first");
    pty.wait_for("refused");
    pty.wait_for("Ask anything");
    assert_harmless(&pty);
    ask(&mut pty, "second");
    pty.wait_for("no entry");
    open_all(&mut pty);
    assert_harmless(&pty);
    leave(&mut pty);
}

#[test]
fn of_names_of_files_folders_and_branches() {
    let home = Home::new();
    let name = evil("file").replace('/', "");
    fs::write(home.project().join(&name), "x").unwrap();
    let folder = home.project().join(evil("folder").replace('/', ""));
    fs::create_dir_all(folder.join(".git")).unwrap();
    fs::write(folder.join(".git/HEAD"), format!("ref: refs/heads/{}\n", evil("branch"))).unwrap();
    fs::write(folder.join(&name), "x").unwrap();
    fs::write(folder.join("AGENTS.md"), evil("rules")).unwrap();
    let server = serve(vec![Step::text("Read.")]);
    let mut pty = open(mynah(&home, &server).folder(&folder).size(200, 60));
    pty.wait_for("branch");
    pty.type_text("look at @fi");
    pty.wait_for("file.");
    pty.press("tab");
    super::and_drawn(&mut pty, |pty| pty.type_text(" now"));
    assert_harmless(&pty);
    pty.press("enter");
    pty.wait_for("Read.");
    assert_harmless(&pty);
    leave(&mut pty);
    assert_harmless(&pty);
}

#[test]
fn of_a_session_somebody_else_wrote() {
    let home = Home::new();
    let server = serve(vec![Step::text("An answer.")]);
    let mut pty = open(mynah(&home, &server).args(["--name", &evil("called")]));
    pty.paste(&evil("prompt"));
    pty.wait_for("prompt");
    pty.press("enter");
    pty.wait_for("An answer.");
    pty.wait_for("∎ ");
    assert_harmless(&pty);
    leave(&mut pty);
    assert_harmless(&pty);
    drop(pty);
    // What a person can't type, a file can hold.
    for file in crate::flows::session_files(&home) {
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().map(|line| {
            let mut entry: Value = serde_json::from_str(line).unwrap();
            poison(&mut entry);
            entry.to_string() + "\n"
        });
        fs::write(&file, lines.collect::<String>()).unwrap();
    }
    let mut pty = open(mynah(&home, &server).size(160, 50));
    pty.type_text("/resume");
    pty.press("enter");
    pty.wait_for("called");
    assert_harmless(&pty);
    pty.press("enter");
    pty.wait_for("An answer.");
    pty.wait_for("poison");
    open_all(&mut pty);
    ask(&mut pty, "/session");
    pty.wait_for("tokens");
    assert_harmless(&pty);
    pty.press("up");
    super::and_drawn(&mut pty, |pty| pty.press("up"));
    assert_harmless(&pty);
    pty.press("ctrl+c");
    leave(&mut pty);
    assert_harmless(&pty);
}

/// Puts foreign text behind every text and name in an entry.
fn poison(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(poison),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text)
                        if ["text", "name", "thinking", "display"].contains(&key.as_str()) =>
                    {
                        *text += &evil("poison");
                    }
                    _ => poison(value),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn of_settings_flags_and_prompts_kept() {
    let home = Home::new();
    let config = home.mynah().join("config");
    fs::create_dir_all(&config).unwrap();
    for file in ["config.toml", "keymap.toml"] {
        fs::write(
            config.join(file),
            "[screen]\n\"wrong\\u001b]0;evil title\\u0007\\u202e\" = \"\\u001b[3J\"\n",
        )
        .unwrap();
    }
    let server = serve(vec![]);
    let url = server.openai_base_url();
    let program = bare(&home).envs([("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "k")]);
    let mut pty = open(program.size(160, 40).args(["--model", CHAT.model, "--allow", &evil("rule(")]));
    pty.wait_for("wrong");
    assert_harmless(&pty);
    for line in ["/model ", "/theme ", "/name ", "/set screen.theme ", "/thinking ", "/nothing"] {
        // As one piece: brackets would hold the text back as a chip.
        pty.paste(&format!("{line}{}", evil("value").replace('\n', "")));
        super::and_drawn(&mut pty, |pty| pty.press("enter"));
        assert_harmless(&pty);
        pty.press("ctrl+c");
    }
    pty.signal(rustix::process::Signal::TERM);
    pty.wait_exit();
    assert_harmless(&pty);
}
