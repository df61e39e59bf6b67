//! What goes wrong between Mynah and a model.

use super::{
    CHAT, DIALECTS, Dialect, Ended, KEY, assert_clean, mynah, run, said, session_files, session_lines,
};
use mynah::testkit::home::Home;
use mynah::testkit::server::{ModelServer, Step};
use serde_json::json;
use std::time::Duration;

const PROMPT: &str = "mend the roof";

/// One run against a script: checks what always holds, and that the prompt is in the session.
fn run_script(dialect: Dialect, steps: Vec<Step>, more: &[&str]) -> (Ended, ModelServer) {
    let (home, server) = (Home::new(), ModelServer::start(steps));
    let ended = run(dialect.command(&home, &server).args(more).arg(PROMPT));
    assert_clean(&home, &ended);
    assert_eq!(said(&home), [PROMPT], "{}", dialect.name);
    assert_eq!(server.violations(), Vec::<String>::new(), "{}", dialect.name);
    assert_eq!(server.steps_left(), 0, "{}: {ended:?}", dialect.name);
    (ended, server)
}

#[track_caller]
fn assert_says(ended: &Ended, words: &[&str]) {
    for word in words {
        assert!(ended.stderr.contains(word), "`{word}` is missing in:\n{}", ended.stderr);
    }
}

/// It failed: nothing on standard output, these words on standard error.
#[track_caller]
fn assert_failed(ended: &Ended, words: &[&str]) {
    assert_eq!((ended.stdout.as_str(), ended.code), ("", 1), "{ended:?}");
    assert_says(ended, words);
}

#[test]
fn no_key() {
    for (model, variable) in [("anthropic/any", "ANTHROPIC_API_KEY"), ("openai/any", "OPENAI_API_KEY")] {
        let home = Home::new();
        let ended = run(mynah(&home).args(["-p", "--model", model, PROMPT]));
        assert_failed(&ended, &["There is no key for", variable, "auth.toml"]);
        assert_clean(&home, &ended);
    }
}

#[test]
fn a_key_that_is_refused() {
    for dialect in DIALECTS {
        // Providers quote the key that they refuse.
        let refusal = Step::status(401).message(format!("Incorrect API key provided: {KEY}."));
        let (ended, _) = run_script(dialect, vec![refusal], &[]);
        assert_failed(
            &ended,
            &["refuses the key (401): Incorrect API key provided", "_API_KEY", "auth.toml"],
        );
    }
}

#[test]
fn a_model_that_the_server_does_not_know() {
    for dialect in DIALECTS {
        let (ended, _) = run_script(dialect, vec![Step::status(404)], &[]);
        assert_failed(&ended, &["does not know any at this address (404)", "Choose another model"]);
    }
}

#[test]
fn a_wrong_name_is_answered_with_near_ones() {
    for (model, near) in [
        ("clade-opus", "anthropic/claude-opus-5"),
        ("gtp-6.2-sol", "openai/gpt-6.2-sol"),
        ("antropic/claude-opus-5-5", "anthropic/claude-opus-5-5"),
    ] {
        let home = Home::new();
        let ended = run(mynah(&home).env("ANTHROPIC_API_KEY", KEY).args(["-p", "--model", model, PROMPT]));
        assert_failed(&ended, &[&format!("No model matches `{model}`. Similar: "), near]);
        assert_clean(&home, &ended);
    }
    // Under a known provider the id is sent as it stands, with a warning.
    let server = ModelServer::start(vec![Step::status(404)]);
    let home = Home::new();
    let misspelt = Dialect { model: "anthropic/claude-opos-5-5", ..DIALECTS[2] };
    let ended = run(misspelt.command(&home, &server).arg(PROMPT));
    assert_clean(&home, &ended);
    assert_failed(&ended, &["not in the catalogue", "Similar: anthropic/claude-opus-5-5"]);
}

#[test]
fn a_refused_connection() {
    // A port that was free a moment ago.
    let port = {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.local_addr().unwrap().port()
    };
    for dialect in DIALECTS {
        let home = Home::new();
        let mut command = dialect.command_to(&home, &format!("http://127.0.0.1:{port}/v1"));
        let ended = run(command.args(["--set", "retry.base_seconds=0", PROMPT]));
        assert_failed(&ended, &["127.0.0.1", "onnection refused", "base URL", "attempt 3 of 3", "4 times"]);
        assert_clean(&home, &ended);
        assert_eq!(said(&home), [PROMPT]);
    }
}

#[test]
fn an_address_that_is_none() {
    let home = Home::new();
    let ended = run(CHAT.command_to(&home, "not an address").arg(PROMPT));
    assert_failed(&ended, &["base URL"]);
    assert_clean(&home, &ended);
}

/// Everything that breaks a response and passes by itself: the next try is answered, and of the broken one nothing is
/// printed or sent back.
#[test]
fn broken_responses_are_asked_for_again() {
    let broken = "Half of a sentence that never";
    let faults: [(&str, Step); 10] = [
        ("cut at once", Step::cut(0).with_text(broken)),
        ("cut in the middle", Step::cut(2).with_text(broken)),
        ("cut in a call", Step::cut(2).call("bash", json!({"command": "touch made-by-half-a-call"}))),
        ("no last event", Step::end_early(2).with_text(broken)),
        ("no JSON", Step::garbage(2).with_text(broken)),
        ("error in the stream", Step::error_in_stream("overloaded_error", 2).with_text(broken)),
        ("connection reset", Step::refuse()),
        ("a bad gateway", Step::status(502)),
        ("overload", Step::status(529)),
        ("silence", Step::hang(2).with_text(broken)),
    ];
    for dialect in DIALECTS {
        for (name, fault) in faults.clone() {
            let idle = ["--set", "http.idle_timeout_seconds=1", "--yolo"];
            let (ended, server) = run_script(dialect, vec![fault, Step::text("The whole answer.")], &idle);
            let case = format!("{}, {name}: {ended:?}", dialect.name);
            assert_eq!((ended.stdout.as_str(), ended.code), ("The whole answer.\n", 0), "{case}");
            assert!(ended.stderr.contains("Trying again in"), "{case}");
            let requests = server.requests();
            assert_eq!(requests.len(), 2, "{case}");
            assert_eq!(requests[0].body, requests[1].body, "{case}");
        }
    }
}

#[test]
fn a_web_page_instead_of_a_model() {
    for dialect in DIALECTS {
        let (ended, _) = run_script(dialect, vec![Step::not_sse()], &[]);
        assert_failed(&ended, &["127.0.0.1", "web page", "base URL"]);
    }
}

#[test]
fn a_rate_limit_is_waited_for_as_long_as_the_provider_asks() {
    for dialect in DIALECTS {
        let steps = vec![Step::status(429).retry_after(1), Step::text("Now.")];
        let (ended, server) = run_script(dialect, steps, &[]);
        assert_eq!((ended.stdout.as_str(), ended.code), ("Now.\n", 0));
        assert_says(&ended, &["too many requests (429)", "Trying again in 1.0 s"]);
        let requests = server.requests();
        assert!(requests[1].time - requests[0].time >= Duration::from_secs(1));
    }
}

#[test]
fn a_wait_that_is_too_long_is_said_at_once() {
    let (ended, _) = run_script(CHAT, vec![Step::status(429).retry_after(3600)], &[]);
    assert_failed(&ended, &["too many requests (429)", "asks to wait 1 h", "longer than the 60 s"]);
}

#[test]
fn a_server_that_recovers_and_one_that_does_not() {
    for dialect in DIALECTS {
        let failures = vec![Step::status(500); 3];
        let (ended, _) = run_script(dialect, [failures, vec![Step::text("Back.")]].concat(), &[]);
        assert_eq!((ended.stdout.as_str(), ended.code), ("Back.\n", 0));
        let (ended, _) = run_script(dialect, vec![Step::status(500); 4], &[]);
        assert_failed(&ended, &["has a problem (500)", "gave up: it failed 4 times"]);
    }
}

/// The model is told what was wrong with its call, and the turn goes on.
#[test]
fn calls_that_make_no_sense() {
    let calls: [(&str, Step, &[&str]); 5] = [
        (
            "no JSON",
            Step::text("").raw_arguments("read", "{\"path\": \"a"),
            &["read call could not be read", "was not run", "They came as"],
        ),
        ("no object", Step::text("").raw_arguments("read", "[1, 2]"), &["was not run"]),
        ("a wrong type", Step::text("").call("read", json!({"path": {"a": 1}})), &["was not run"]),
        ("nothing", Step::text("").call("read", json!({})), &["path", "was not run"]),
        (
            "an unknown tool",
            Step::text("").call("teleport", json!({"to": "Mars"})),
            &["teleport", "read, bash"],
        ),
    ];
    for dialect in DIALECTS {
        for (name, step, told) in calls.clone() {
            let (ended, server) = run_script(dialect, vec![step, Step::text("I see.")], &[]);
            let case = format!("{}, {name}", dialect.name);
            assert_eq!((ended.stdout.as_str(), ended.code), ("I see.\n", 0), "{case}: {ended:?}");
            let second = server.requests()[1].body.to_string();
            let (_, answer) = second.split_once(PROMPT).unwrap();
            for words in told {
                assert!(answer.contains(words), "{case}: {answer}");
            }
        }
    }
}

#[test]
fn a_failed_turn_can_be_gone_on_with() {
    for dialect in DIALECTS {
        let (home, server) = (Home::new(), ModelServer::start(vec![Step::status(401)]));
        let failed = run(dialect.command(&home, &server).arg(PROMPT));
        assert_eq!(failed.code, 1);
        for step in [Step::cut(3).with_text("A part of an answer"), Step::text("Done now.")] {
            server.push(step);
        }
        let ended = run(dialect.command(&home, &server).args(["-c", "once more"]));
        assert_eq!((ended.stdout.as_str(), ended.code), ("Done now.\n", 0), "{ended:?}");
        assert_eq!(said(&home), [PROMPT, "once more"]);
        assert_eq!(server.violations(), Vec::<String>::new(), "{}", dialect.name);
        assert_eq!(session_files(&home).len(), 1);
        let lines = session_lines(&session_files(&home)[0]);
        let answers = lines.iter().filter(|line| line.to_string().contains("Done now."));
        assert_eq!(answers.count(), 1);
        assert_clean(&home, &ended);
    }
}
