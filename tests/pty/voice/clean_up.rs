//! A text that a model corrects before it stands in the prompt.

use super::{canary, is_dictating, is_over, model, spoken};
use crate::flows::all_files;
use crate::pty::{answer, ask, leave, mynah, open, serve};
use mynah::testkit::home::Home;
use mynah::testkit::pty::{Program, Pty};
use mynah::testkit::server::{ModelServer, Recorded, Step};
use serde_json::Value;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// The program with a model, a microphone that says its sentence at once, and corrections.
fn correcting(home: &Home, server: &ModelServer, settings: &[&str]) -> Program {
    let source = format!("voice.source=cat {}", spoken(home).display());
    let model = format!("voice.model={}", model().0.display());
    let mut program =
        mynah(home, server).args(["--set", &source, "--set", &model, "--set", "voice.cleanup=true"]);
    for setting in settings {
        program = program.args(["--set", setting]);
    }
    program
}

/// Whoever corrects is agreed to already.
const AGREED: &str = "voice.cleanup_providers=openai";

fn dictate(pty: &mut Pty) {
    pty.press("ctrl+space");
    pty.wait_until("dictation", is_dictating);
}

/// The one user message of a correction: what was said, and the excerpt that came with it.
fn sent(request: &Recorded) -> (String, Option<String>) {
    let messages = request.body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "no history goes along: {}", request.body);
    assert!(request.body.get("tools").is_none(), "{}", request.body);
    let content = &messages[1]["content"];
    let user = content.as_str().unwrap_or_else(|| content[0]["text"].as_str().unwrap());
    match serde_json::from_str::<Value>(user) {
        Ok(json) => {
            let excerpt = &json["reference_context"]["latest_completed_assistant_message"];
            (json["transcript"].as_str().unwrap().to_owned(), excerpt.as_str().map(str::to_owned))
        }
        Err(_no_json) => (user.to_owned(), None),
    }
}

/// The first text waits for nobody's consent; the second is corrected with the agent's last answer beside it, and is two
/// steps of undo.
#[test]
fn asked_once_then_corrected_over_what_was_heard() {
    let home = Home::new();
    let (_, heard) = model();
    let server = serve(vec![
        Step::text("I renamed `parse_line` to `read_line`."),
        Step::text("Please open `read_line`."),
    ]);
    let mut pty = open(correcting(&home, &server, &["voice.reference=own"]));
    ask(&mut pty, "rename it");
    pty.wait_for("I renamed");
    pty.wait_for("∎ ");

    dictate(&mut pty);
    answer(&mut pty, "correct what you dictate?", "up");
    assert!(pty.text().contains("can miss secrets"), "{}", pty.text());
    pty.press("enter");
    pty.wait_gone("correct what you dictate?");
    pty.wait_for(heard);
    is_over(&pty);
    assert_eq!(server.requests().len(), 1, "nothing went out before the answer");
    pty.press("ctrl+_");
    pty.wait_gone(heard);

    dictate(&mut pty);
    pty.wait_for("Please open `read_line`.");
    is_over(&pty);
    let (said, excerpt) = sent(&server.requests()[1]);
    assert!(said.starts_with(heard), "{said}");
    assert_eq!(excerpt.as_deref(), Some("I renamed `parse_line` to `read_line`."));
    pty.press("ctrl+_");
    pty.wait_for(heard);
    assert!(!pty.text().contains("Please open `read_line`."), "{}", pty.text());
    pty.press("ctrl+_");
    pty.wait_gone(heard);
    assert_eq!((server.violations(), server.requests().len()), (Vec::new(), 2));
    leave(&mut pty);
}

#[test]
fn a_no_sends_nothing_and_what_was_heard_stays() {
    let home = Home::new();
    let (_, heard) = model();
    let server = serve(Vec::new());
    let mut pty = open(correcting(&home, &server, &[]));
    dictate(&mut pty);
    answer(&mut pty, "correct what you dictate?", "enter");
    pty.wait_gone("correct what you dictate?");
    pty.wait_for(heard);
    is_over(&pty);
    assert!(server.requests().is_empty());
    pty.press("ctrl+_");
    pty.wait_gone(heard);
    leave(&mut pty);
}

/// Whatever the model does, the words are there, with one line that says why they are not corrected.
#[test]
fn what_fails_leaves_what_was_heard() {
    for (step, settings, why) in [
        (Step::status(500), None, "has a problem"),
        (Step::status(401), None, "another key"),
        (Step::cut(0), None, "connection failed"),
        (Step::hang(0), Some("voice.cleanup_seconds=1"), "took too long"),
    ] {
        let home = Home::new();
        let (_, heard) = model();
        let server = serve(vec![step]);
        let mut settings: Vec<&str> = settings.into_iter().collect();
        settings.push(AGREED);
        let mut pty = open(correcting(&home, &server, &settings));
        dictate(&mut pty);
        pty.wait_for(heard);
        pty.wait_for(why);
        is_over(&pty);
        pty.press("ctrl+_");
        pty.wait_gone(heard);
        assert_eq!(server.requests().len(), 1, "{why}: asked once");
        leave(&mut pty);
    }
}

/// Esc while it is corrected throws it away, and the request with it.
#[test]
fn esc_ends_a_correction() {
    let home = Home::new();
    let (_, heard) = model();
    let server = serve(vec![Step::hang(0)]);
    let mut pty = open(correcting(&home, &server, &[AGREED]));
    dictate(&mut pty);
    assert!(server.wait_for_requests(1, LIMIT));
    pty.wait_for("cleaning up");
    pty.press("esc");
    is_over(&pty);
    assert!(!pty.text().contains(heard), "{}", pty.text());
    pty.type_text("written by hand");
    pty.wait_for("written by hand");
    pty.press("ctrl+c");
    leave(&mut pty);
}

/// What goes to the model that corrects, and what that says about it, is in the prompt and nowhere else: not even where a
/// provider quotes it.
#[test]
fn nothing_of_it_is_kept() {
    let home = Home::new();
    let excerpt = "the quagga canary";
    let quoted = "your text with the zorilla canary is refused";
    let corrected = "The numbat canary stands here.";
    let server = serve(vec![
        Step::text(format!("I know {excerpt}.")),
        Step::status(400).message(quoted),
        Step::text(corrected),
    ]);
    let settings = [AGREED, "voice.reference=own", "log.level=trace"];
    let mut pty = open(correcting(&home, &server, &settings));
    ask(&mut pty, "what do you know");
    pty.wait_for(excerpt);
    pty.wait_for("∎ ");
    dictate(&mut pty);
    pty.wait_for("refused");
    is_over(&pty);
    pty.press("ctrl+_");
    dictate(&mut pty);
    pty.wait_for(corrected);
    is_over(&pty);
    pty.press("ctrl+_");
    pty.press("ctrl+_");
    pty.wait_gone(model().1);
    assert_eq!(sent(&server.requests()[2]).1.as_deref(), Some("I know the quagga canary."));
    leave(&mut pty);

    let mut log = String::new();
    for file in all_files(home.mynah()).into_iter().chain(all_files(home.user())) {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        let is_session = file.extension().is_some_and(|kind| kind == "jsonl");
        for secret in [canary(model().1), "quagga", "zorilla", "numbat"] {
            // The session holds what its own agent said.
            let is_its_own = is_session && secret == "quagga";
            assert!(is_its_own || !text.contains(secret), "{secret} is in {}", file.display());
        }
        log += &text;
    }
    assert!(log.contains("dictation corrected"), "{log}");
}
