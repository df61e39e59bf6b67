//! The main job: a task is done with real tools in a real folder, in every dialect, and can be gone on with.

use super::wire::{self, Said};
use super::{DIALECTS, Dialect, Ended, KEY, mynah, run, session_files, session_lines};
use mynah::testkit::home::Home;
use mynah::testkit::server::{ModelServer, Recorded, Step};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

const FIRST_REQUEST_LIMIT: usize = 9 * 1024;
/// The dialects with models of the catalogue, which think and see.
const LISTED: [Dialect; 3] = {
    let [chat, responses, messages] = DIALECTS;
    [
        Dialect { model: "openai/gpt-5", ..chat },
        Dialect { model: "openai-responses/gpt-5", ..responses },
        Dialect { model: "anthropic/claude-sonnet-4-5", ..messages },
    ]
};

const TOOLS: [&str; 9] =
    ["read", "bash", "shell_job_start", "shell_job", "edit", "write", "grep", "find", "ls"];

/// Read, edit and bash on `a.txt`.
fn calls() -> [(&'static str, Value); 3] {
    [
        ("read", json!({"path": "a.txt"})),
        ("edit", json!({"path": "a.txt", "edits": [{"oldText": "beta", "newText": "BETA"}]})),
        ("bash", json!({"command": "cat a.txt; wc -l < a.txt > count.txt"})),
    ]
}

fn call_step((name, arguments): (&str, Value)) -> Step {
    Step::text("").call(name, arguments)
}

fn home_with_file() -> Home {
    let home = Home::new();
    home.write("a.txt", "alpha\nbeta\ngamma\n");
    home
}

fn assert_work_is_done(home: &Home, ended: &Ended, dialect: Dialect) {
    let name = dialect.name;
    assert_eq!(
        (ended.stdout.as_str(), ended.code),
        ("Changed one line.\nThree in all.\n", 0),
        "{name}: {ended:?}"
    );
    assert_eq!(
        ended.stderr.lines().filter(|line| !line.contains("not in the catalogue")).count(),
        0,
        "{name}: {ended:?}"
    );
    assert_eq!(fs::read_to_string(home.project().join("a.txt")).unwrap(), "alpha\nBETA\ngamma\n", "{name}");
    assert_eq!(fs::read_to_string(home.project().join("count.txt")).unwrap().trim(), "3", "{name}");
}

fn assert_valid(server: &ModelServer, name: &str) {
    assert_eq!(server.violations(), Vec::<String>::new(), "{name}");
    assert_eq!(server.steps_left(), 0, "{name}");
}

fn said(text: &str) -> Said {
    Said::Assistant(text.to_owned())
}

#[test]
fn three_rounds_of_work_and_then_another_prompt() {
    for dialect in DIALECTS {
        let name = dialect.name;
        let [read, edit, bash] = calls();
        let home = home_with_file();
        let server = ModelServer::start(vec![
            call_step(read.clone()).with_text("").thinking("I should look first."),
            call_step(edit.clone()).thinking("Now the change."),
            Step::text("Counting.").call(bash.0, bash.1.clone()),
            Step::text("Changed one line.\nThree in all."),
            Step::text("As I said."),
        ]);
        let ended = run(dialect.command(&home, &server).args(["--yolo", "Change beta, count the lines."]));
        assert_work_is_done(&home, &ended, dialect);

        let again = run(dialect.command(&home, &server).args(["--continue", "Sure?"]));
        assert_eq!((again.stdout.as_str(), again.code), ("As I said.\n", 0), "{name}: {again:?}");
        assert_valid(&server, name);

        let requests = server.requests();
        let whole = wire::history(&requests[4]);
        let called = |(tool, arguments): (&str, Value)| Said::Call(tool.to_owned(), arguments);
        assert!(
            matches!(
                whole.as_slice(),
                [Said::User(task), first, Said::Result(file), second, Said::Result(_), counting, third, Said::Result(text), last, Said::User(sure)]
                    if task == "Change beta, count the lines." && *first == called(read) && file == "alpha\nbeta\ngamma\n"
                        && *second == called(edit) && *counting == said("Counting.") && *third == called(bash)
                        && text == "alpha\nBETA\ngamma\n" && *last == said("Changed one line.\nThree in all.")
                        && sure == "Sure?"
            ),
            "{name}: {whole:?}"
        );
        // So that providers find it in their cache.
        assert_same_beginning(&requests, name);
    }
}

/// What comes before the conversation is the same in all requests, and each goes on from the one before it, apart from
/// the marks that say how far to cache.
fn assert_same_beginning(requests: &[Recorded], name: &str) {
    let without_marks = |request: &Recorded| {
        let mut body = request.body.clone();
        remove_marks(&mut body);
        body
    };
    let bodies: Vec<Value> = requests.iter().map(without_marks).collect();
    for (before, body) in bodies.iter().zip(&bodies[1..]) {
        for field in ["system", "tools", "model", "instructions", "prompt_cache_key"] {
            assert_eq!(before[field].to_string(), body[field].to_string(), "{name}: {field}");
        }
        let field = if body["input"].is_array() { "input" } else { "messages" };
        let (Some(before), Some(now)) = (before[field].as_array(), body[field].as_array()) else {
            panic!("{name}: no {field}")
        };
        assert_eq!(json!(before).to_string(), json!(now[..before.len()]).to_string(), "{name}");
    }
}

fn remove_marks(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("cache_control");
            fields.values_mut().for_each(remove_marks);
        }
        Value::Array(elements) => elements.iter_mut().for_each(remove_marks),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn calls_of_one_response_answer_in_order_and_each_sees_what_the_one_before_did() {
    for dialect in DIALECTS {
        let home = home_with_file();
        let step = calls()
            .into_iter()
            .fold(Step::text("All at once."), |step, (name, arguments)| step.call(name, arguments));
        let server = ModelServer::start(vec![
            step.interleaved().pieces(3),
            Step::text("Changed one line.\nThree in all."),
        ]);
        let ended = run(dialect.command(&home, &server).args(["--yolo", "Do it."]));
        assert_work_is_done(&home, &ended, dialect);
        assert_valid(&server, dialect.name);
        let results = wire::results(&server.requests()[1]);
        assert_eq!(results[0], "alpha\nbeta\ngamma\n", "{}", dialect.name);
        assert_eq!(results[2], "alpha\nBETA\ngamma\n", "{}", dialect.name);
    }
}

#[test]
fn thinking_goes_back_to_who_thought_it() {
    for dialect in LISTED {
        let home = home_with_file();
        let server = ModelServer::start(vec![
            call_step(calls()[0].clone()).thinking("Look first.").redacted_thinking("b3BhcXVl"),
            Step::text("Seen.").thinking("It has three lines."),
            Step::text("Yes."),
        ]);
        let ended = run(dialect.command(&home, &server).arg("Look."));
        assert_eq!(ended.stdout, "Seen.\n", "{ended:?}");
        let again = run(dialect.command(&home, &server).args(["-c", "Sure?"]));
        assert_eq!(again.stdout, "Yes.\n", "{again:?}");
        assert_valid(&server, dialect.name);
        let body = server.requests()[2].body.to_string();
        let kept: &[&str] = match dialect.name {
            "messages" => &["Look first.", "It has three lines.", "signature", "b3BhcXVl"],
            "responses" => &["Look first.", "It has three lines.", "encrypted_content"],
            _ => &[],
        };
        for part in kept {
            assert!(body.contains(part), "{}: no {part} in {body}", dialect.name);
        }
    }
}

#[test]
fn a_session_goes_on_with_models_of_other_dialects() {
    let [chat, responses, messages] = DIALECTS;
    for order in [
        [messages, chat, responses, messages],
        [responses, messages, chat, responses],
        [chat, responses, messages, chat],
    ] {
        let home = home_with_file();
        let work = |number: usize| {
            let [read, edit, _] = calls();
            let step = Step::text("Looking.").thinking(format!("Thought {number}."));
            vec![
                step.call(read.0, read.1).call(edit.0, edit.1).call("nonsense", json!({})),
                Step::text(format!("Answer {number}.")).thinking("Done."),
            ]
        };
        let server = ModelServer::start((0..4).flat_map(work).collect());
        for (number, dialect) in order.into_iter().enumerate() {
            let ended =
                run(dialect.command(&home, &server).args(["-c", "--yolo", &format!("Prompt {number}.")]));
            assert_eq!(ended.stdout, format!("Answer {number}.\n"), "{ended:?}");
        }
        let names = order.map(|dialect| dialect.name);
        assert_valid(&server, &format!("{names:?}"));
        let prompts = wire::user_texts(server.requests().last().unwrap());
        assert_eq!(prompts, ["Prompt 0.", "Prompt 1.", "Prompt 2.", "Prompt 3."], "{names:?}");
        assert_eq!(session_files(&home).len(), 1);
    }
}

#[test]
fn the_first_request_is_small_and_holds_the_tools() {
    for dialect in DIALECTS.into_iter().chain(LISTED) {
        let (home, server) = (Home::new(), ModelServer::start(vec![Step::text("Hello.")]));
        run(dialect.command(&home, &server).arg("hi"));
        let request = &server.requests()[0];
        assert_eq!(wire::tool_names(request), TOOLS, "{}", dialect.name);
        let size = request.body_bytes.len();
        assert!(size < FIRST_REQUEST_LIMIT, "{}: {size} bytes", dialect.name);
    }
}

#[test]
fn context_files_and_flags_shape_the_system_prompt() {
    let home = Home::new();
    home.write(".git/HEAD", "ref: refs/heads/main\n");
    home.write("AGENTS.md", "Root rule.");
    home.write("CLAUDE.md", "Not read beside AGENTS.md.");
    home.write("sub/CLAUDE.md", "Sub rule.");
    home.write("append.md", "From a file.");
    fs::write(home.project().parent().unwrap().join("AGENTS.md"), "Above the project.").unwrap();
    let prompt_of = |arguments: &[&str]| {
        let server = ModelServer::start(vec![Step::text("Hello.")]);
        let ended = run(LISTED[0].command(&home, &server).arg("hi").args(arguments));
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("Hello.\n", ""));
        wire::system(&server.requests()[0])
    };
    let root = prompt_of(&[]);
    assert!(root.starts_with("You are Mynah") && root.contains("Root rule."), "{root}");
    for absent in ["Not read", "Sub rule", "Above the project"] {
        assert!(!root.contains(absent), "{absent} in {root}");
    }
    let sub = prompt_of(&["--cwd", "sub"]);
    assert!(sub.find("Root rule.").unwrap() < sub.find("Sub rule.").unwrap(), "{sub}");
    assert!(sub.ends_with(&format!("Working directory: {}", home.project().join("sub").display())), "{sub}");
    let without = prompt_of(&["--no-context-files"]);
    assert!(!without.contains("Root rule."), "{without}");
    let own = prompt_of(&["--system-prompt", "Be a pirate.", "--append-system-prompt", "append.md"]);
    assert!(own.starts_with("Be a pirate.\n\nFrom a file.") && own.contains("Root rule."), "{own}");
    let appended = prompt_of(&["--append-system-prompt", "One.", "--append-system-prompt", "Two."]);
    assert!(appended.starts_with("You are Mynah") && appended.contains("One.\n\nTwo."), "{appended}");
}

#[test]
fn with_nothing_set_up_the_demo_works_with_the_real_tools() {
    let home = Home::new();
    home.write("README.md", "# A small project\n\nTODO: everything\n");
    home.write("Makefile", "test:\n\techo ran >> tests-ran\n");
    let demo = |arguments: &[&str]| run(mynah(&home).env("MYNAH_OFFLINE", "1").arg("-p").args(arguments));
    let refused = demo(&["show me around"]);
    assert_eq!(refused.code, 0, "{refused:?}");
    assert!(refused.stderr.contains("demo") && refused.stderr.contains("not a real model"), "{refused:?}");
    assert!(
        refused.stdout.contains("refused") && refused.stdout.contains("ANTHROPIC_API_KEY"),
        "{refused:?}"
    );
    assert!(!home.project().join("mynah-tour.md").exists() && !home.project().join("tests-ran").exists());

    let allowed = demo(&["--yolo", "show me around"]);
    assert!(
        allowed.stdout.contains("`mynah-tour.md` is new") && allowed.stdout.contains("`make test` passed"),
        "{allowed:?}"
    );
    assert!(allowed.stdout.trim_end().ends_with("--model anthropic/claude-opus-5-5"), "{allowed:?}");
    let note = fs::read_to_string(home.project().join("mynah-tour.md")).unwrap();
    assert!(note.contains("Delete it whenever you like."), "{note}");
    assert_eq!(fs::read_to_string(home.project().join("tests-ran")).unwrap(), "ran\n");

    // What a person sees of the model's name says what it is, in the log and in the events too.
    let session = session_files(&home).pop().unwrap();
    let models: Vec<Value> =
        session_lines(&session).into_iter().filter(|line| line["type"] == "model_change").collect();
    assert_eq!((models[0]["provider"].as_str(), models[0]["modelId"].as_str()), (Some("demo"), Some("tour")));

    let set = demo(&["--model", "demo/tour", "show me around"]);
    assert!(set.stdout.contains("`mynah-tour.md` was there already"), "{set:?}");
}

#[test]
fn files_pictures_and_piped_text_join_the_prompt() {
    for dialect in LISTED {
        let home = Home::new();
        home.write("notes.txt", "Remember the milk.\n");
        image::RgbImage::new(2, 2).save(home.project().join("p.png")).unwrap();
        let server = ModelServer::start(vec![Step::text("One."), Step::text("Two.")]);
        let mut command = dialect.command(&home, &server);
        command.args(["@notes.txt", "What is this?", "@p.png", "And now?"]);
        let ended = piped(&mut command, "piped text\n");
        assert_eq!((ended.stdout.as_str(), ended.code), ("Two.\n", 0), "{}: {ended:?}", dialect.name);
        assert_valid(&server, dialect.name);
        let requests = server.requests();
        let first = wire::history(&requests[0]);
        let text = "piped text\n\n<file path=\"notes.txt\">\nRemember the milk.\n</file>\n\nWhat is this?";
        assert_eq!(first, [Said::User(text.to_owned()), Said::Picture], "{}", dialect.name);
        let second = wire::history(&requests[1]);
        assert_eq!(second[2..], [said("One."), Said::User("And now?".to_owned())], "{}", dialect.name);
    }
}

/// Runs a command with this text on its standard input.
fn piped(command: &mut Command, text: &str) -> Ended {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(text.as_bytes()).unwrap();
    drop(writer);
    run(command.stdin(Stdio::from(reader)))
}

#[test]
fn a_picture_for_a_model_that_takes_none_is_told() {
    let home = Home::new();
    image::RgbImage::new(2, 2).save(home.project().join("p.png")).unwrap();
    let server = ModelServer::start(vec![Step::text("I see nothing.")]);
    let ended = run(super::CHAT.command(&home, &server).args(["look", "@p.png"]));
    assert_eq!(ended.stdout, "I see nothing.\n", "{ended:?}");
    assert!(
        ended.stderr.contains("openai/any takes no pictures: it gets the prompt without them."),
        "{ended:?}"
    );
    assert_valid(&server, "a picture left out");
}

#[test]
fn piped_text_alone_is_a_prompt() {
    let (home, server) = (Home::new(), ModelServer::start(vec![Step::text("Fine.")]));
    let ended = piped(&mut super::CHAT.command(&home, &server), "Review this.\n");
    assert_eq!(ended.stdout, "Fine.\n", "{ended:?}");
    assert_eq!(wire::user_texts(&server.requests()[0]), ["Review this."]);
}

#[test]
fn another_folder_is_worked_in() {
    let home = Home::new();
    home.write("sub/inner.txt", "inner\n");
    let server = ModelServer::start(vec![Step::text("").call("ls", json!({})), Step::text("Listed.")]);
    let ended = run(super::CHAT.command(&home, &server).args(["--cwd", "sub", "list"]));
    assert_eq!(ended.stdout, "Listed.\n", "{ended:?}");
    assert_eq!(wire::results(&server.requests()[1]), ["inner.txt"]);
    let missing = run(super::CHAT.command(&home, &server).args(["--cwd", "missing", "list"]));
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.starts_with("mynah: The folder missing can't be used: "), "{missing:?}");
}

#[test]
fn models_are_listed_and_keys_are_not() {
    let home = Home::new();
    let list =
        |search: &[&str]| run(mynah(&home).env("ANTHROPIC_API_KEY", KEY).arg("--list-models").args(search));
    let all = list(&[]);
    assert_eq!((all.code, all.stderr.as_str()), (0, ""), "{}", all.stderr);
    assert!(all.stdout.lines().count() > 100 && !all.stdout.contains(KEY));
    let opus = list(&["opus"]);
    let rows: Vec<&str> = opus.stdout.lines().skip(1).collect();
    assert!(rows.iter().any(|row| row.starts_with("anthropic/") && row.ends_with("yes")), "{}", opus.stdout);
    assert!(rows.iter().all(|row| row.contains("opus")), "{}", opus.stdout);
    let none = list(&["no-such-model"]);
    assert_eq!((none.code, none.stdout.as_str()), (1, ""));
    assert!(none.stderr.contains("No model matches `no-such-model`"), "{none:?}");
}

#[test]
fn the_thinking_level_reaches_the_model() {
    let [_, responses, messages] = DIALECTS;
    let requested = |dialect: Dialect, model, arguments: &[&str]| {
        let (home, server) = (Home::new(), ModelServer::start(vec![Step::text("Hello.")]));
        let ended = run(Dialect { model, ..dialect }.command(&home, &server).arg("hi").args(arguments));
        assert_eq!(ended.stdout, "Hello.\n", "{ended:?}");
        assert_valid(&server, dialect.name);
        server.requests()[0].body.clone()
    };
    let effort =
        |model, arguments: &[&str]| requested(responses, model, arguments)["reasoning"]["effort"].clone();
    assert_eq!(effort("openai-responses/gpt-5:high", &[]), "high");
    assert_eq!(effort("openai-responses/gpt-5", &["--thinking", "low"]), "low");
    // The flag is said more plainly than the end of a name.
    assert_eq!(effort("openai-responses/gpt-5:high", &["--thinking", "low"]), "low");
    let thinks = |model| requested(messages, model, &[])["thinking"]["type"].clone();
    assert_eq!(thinks("anthropic/claude-sonnet-4-5:high"), "enabled");
    assert_ne!(thinks("anthropic/claude-sonnet-4-5:off"), "enabled");
}
