//! A continued session: the model must not be able to tell it from one that was never interrupted, or prompt caches miss.

use super::{DIALECTS, Dialect, KEY, mynah, run, session_files};
use mynah::testkit::home::Home;
use mynah::testkit::server::{ModelServer, Step};
use serde_json::{Value, json};
use std::path::Path;

/// Two prompts; the first makes calls whose arguments and results are easily written differently.
fn script() -> Vec<Step> {
    let odd =
        json!({"path": "b.txt", "content": "1.0 \u{1} \u{2028} é \"quoted\" \\ \n", "z": 1.50, "a": 1e3});
    vec![
        Step::text("First I look.")
            .thinking("Where is it?")
            .call("read", json!({"path": "a.txt"}))
            .call("write", odd),
        Step::text("").raw_arguments("read", "{\"path\": "),
        Step::text("Done with one."),
        Step::text("Done with two."),
    ]
}

/// Bodies of all requests, without what names the session.
fn bodies(dialect: &Dialect, home: &Home, runs: &[&[&str]]) -> Vec<String> {
    let server = ModelServer::start(script());
    home.write("a.txt", "alpha \u{7f} beta\tgamma\n");
    for arguments in runs {
        let mut command = mynah(home);
        command.env(dialect.url_variable, (dialect.url)(&server)).env(dialect.key_variable, KEY);
        let ended = run(command.args(["-p", "--yolo"]).args(*arguments));
        assert_eq!(ended.code, 0, "{}: {}", dialect.name, ended.stderr);
    }
    assert_eq!(server.violations(), [""; 0], "{}", dialect.name);
    let files = session_files(home);
    assert_eq!(files.len(), 1, "one session");
    let id = session_id(&files[0]);
    let project = home.project().display().to_string();
    server
        .requests()
        .iter()
        .map(|request| {
            let body = String::from_utf8(request.body_bytes.clone()).unwrap();
            body.replace(&id, "SESSION").replace(&project, "PROJECT")
        })
        .collect()
}

fn session_id(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    header["id"].as_str().unwrap().to_owned()
}

#[test]
fn requests_of_a_continued_session_are_those_of_an_uninterrupted_one() {
    for dialect in DIALECTS {
        let (one, two) = (Home::new(), Home::new());
        let model = format!("{}:high", dialect.model);
        let uninterrupted = bodies(&dialect, &one, &[&["--model", &model, "one", "two"]]);
        // The second run finds model and level in the session.
        let continued = bodies(&dialect, &two, &[&["--model", &model, "one"], &["-c", "two"]]);
        assert_eq!(uninterrupted.len(), 4, "{}", dialect.name);
        assert!(uninterrupted[3].contains("high") || uninterrupted[3].contains("thinking"), "it thinks");
        for (number, (a, b)) in uninterrupted.iter().zip(&continued).enumerate() {
            assert_eq!(a, b, "{}, request {}", dialect.name, number + 1);
        }
    }
}

#[test]
fn sessions_can_be_listed_and_a_first_one_is_told() {
    let home = Home::new();
    let none = run(mynah(&home).arg("--resume"));
    assert_eq!((none.code, none.stdout.as_str()), (1, ""), "{none:?}");
    assert!(none.stderr.contains("There is no session of "), "{}", none.stderr);
    let server = ModelServer::start(vec![Step::text("hello")]);
    let ended = run(DIALECTS[0].command(&home, &server).args(["-c", "--name", "tidy", "say hello"]));
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "hello\n"), "{ended:?}");
    assert!(ended.stderr.contains("no session of this folder to go on with"), "{}", ended.stderr);
    let list = run(mynah(&home).arg("--resume"));
    assert!(list.stdout.starts_with(&session_id(&session_files(&home)[0])), "{list:?}");
    assert!(list.stdout.trim_end().ends_with("tidy"), "{list:?}");
}
