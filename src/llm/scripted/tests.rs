use super::*;
use crate::llm::CacheRetention;
use crate::llm::assemble::Assembler;
use crate::proto::message::{Block, ToolCall, UserMessage};
use crate::proto::tool::ToolSpec;
use tokio::sync::mpsc;

/// A conversation with a script, in which the test plays the user and the tools.
struct Talk {
    script: Script,
    messages: Vec<Arc<Message>>,
    tools: Vec<&'static str>,
    thinking: ThinkingLevel,
}

impl Talk {
    fn with(script: Script) -> Self {
        let tools = vec!["read", "bash", "edit", "write", "grep", "find", "ls"];
        Self { script: script.without_delay(), messages: Vec::new(), tools, thinking: ThinkingLevel::Off }
    }

    fn tour() -> Self {
        Self::with(load(TOUR).unwrap())
    }

    fn say(&mut self, text: &str) {
        let user = UserMessage { content: vec![Block::text(text)], timestamp: 0 };
        self.messages.push(Arc::new(Message::User(user)));
    }

    fn request(&self) -> Request {
        let tools = self.tools.iter().map(|name| ToolSpec {
            name: (*name).to_owned(),
            description: String::new(),
            parameters: Value::Null,
        });
        Request {
            model: Arc::new(model(TOUR)),
            system: "".into(),
            messages: self.messages.clone(),
            tools: tools.collect(),
            thinking: self.thinking,
            max_tokens: None,
            session_id: String::new(),
            cache: CacheRetention::None,
            temperature: None,
        }
    }

    fn peek(&self) -> AssistantMessage {
        let request = self.request();
        let mut whole = Assembler::new(&request.model, request.thinking, 0);
        for event in events_of(&self.script, &request) {
            whole.push(event);
        }
        whole.finish()
    }

    fn answer(&mut self) -> AssistantMessage {
        let answer = self.peek();
        self.messages.push(Arc::new(Message::Assistant(answer.clone())));
        answer
    }

    /// The call that the next answer makes, and its text.
    fn call(&mut self) -> (ToolCall, String) {
        let answer = self.answer();
        assert_eq!(answer.stop_reason, StopReason::ToolUse, "{}", answer.text());
        (answer.tool_calls().next().unwrap().clone(), answer.text())
    }

    fn result(&mut self, call: &ToolCall, text: &str, is_error: bool) {
        self.messages.push(Arc::new(Message::ToolResult(ToolResultMessage {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            content: vec![Block::text(text)],
            details: None,
            usage: None,
            is_error,
            duration_ms: None,
            timestamp: 0,
        })));
    }

    /// Answers all calls with what `tool` gives, until the turn is over. The calls as `tool argument`, and the last text.
    fn run(&mut self, tool: impl Fn(&ToolCall) -> (&'static str, bool)) -> (Vec<String>, String) {
        let mut calls = Vec::new();
        loop {
            let answer = self.answer();
            if answer.stop_reason == StopReason::Stop {
                return (calls, answer.text());
            }
            for call in answer.tool_calls() {
                let argument =
                    ["path", "command", "pattern"].iter().find_map(|name| call.arguments.get(*name));
                calls.push(format!("{} {}", call.name, argument.unwrap().as_str().unwrap()));
                let (text, is_error) = tool(call);
                self.result(call, text, is_error);
            }
        }
    }
}

fn rust_project(call: &ToolCall) -> (&'static str, bool) {
    match call.name.as_str() {
        "ls" => (".git/\nCargo.toml\nREADME.md\nsrc/", false),
        "read" => ("# Parrot\n\nSays things.", false),
        "grep" => ("src/main.rs:12: // TODO: feed it", false),
        "write" | "edit" => ("done", false),
        "bash" => ("test result: ok", false),
        other => panic!("the tour calls {other}"),
    }
}

#[test]
fn the_tour_works_on_what_it_finds() {
    let mut talk = Talk::tour();
    talk.say("hello");
    let (calls, text) = talk.run(rust_project);
    assert_eq!(
        calls,
        [
            "ls .",
            "read README.md",
            "grep TODO|FIXME",
            "write mynah-tour.md",
            "edit mynah-tour.md",
            "bash cargo test"
        ]
    );
    for part in ["`README.md`", "src/main.rs, line 12", "`cargo test` passed", "is new"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().last().unwrap().contains("export ANTHROPIC_API_KEY=… && mynah --model "), "{text}");
    assert!(!text.contains("{{") && !text.contains("refused"), "{text}");
}

#[test]
fn the_tour_takes_a_no() {
    let mut talk = Talk::tour();
    talk.say("hello");
    let (calls, text) = talk.run(|call| match call.name.as_str() {
        "write" | "bash" => ("The user refused this call.", true),
        _ => rust_project(call),
    });
    assert_eq!(calls.last().unwrap(), "bash cargo test");
    assert!(!calls.contains(&"edit mynah-tour.md".to_owned()));
    assert!(text.contains("refused, so nothing changed"), "{text}");
    assert!(text.contains("did not run") && !text.contains("passed"), "{text}");
}

#[test]
fn the_tour_tells_failing_tests_from_passing_ones() {
    let mut talk = Talk::tour();
    talk.say("hello");
    let (_, text) = talk.run(|call| match call.name.as_str() {
        "bash" => ("boom\n\nCommand exited with code 101", true),
        "edit" => ("oldText was not found", true),
        _ => rust_project(call),
    });
    assert!(text.contains("`cargo test` exited with code 101"), "{text}");
    assert!(text.contains("the change of it was not made"), "{text}");
}

#[test]
fn the_tour_fits_any_folder() {
    for (listing, expected) in [
        ("(empty directory)", "ls . | write mynah-tour.md | edit mynah-tour.md"),
        (
            "main.go\ngo.mod",
            "ls . | read main.go | grep TODO|FIXME | write mynah-tour.md | edit mynah-tour.md | bash go test ./...",
        ),
        (
            "package.json\nreadme",
            "ls . | read readme | grep TODO|FIXME | write mynah-tour.md | edit mynah-tour.md | bash npm test",
        ),
        (
            "pyproject.toml\nmynah-tour.md",
            "ls . | read pyproject.toml | grep TODO|FIXME | bash python3 -m pytest -q",
        ),
        (
            "Makefile\nx.bin",
            "ls . | read Makefile | grep TODO|FIXME | write mynah-tour.md | edit mynah-tour.md | bash make test",
        ),
        ("photos/", "ls . | grep TODO|FIXME | write mynah-tour.md | edit mynah-tour.md"),
    ] {
        let mut talk = Talk::tour();
        talk.say("what is this?");
        let (calls, text) = talk.run(|call| if call.name == "ls" { (listing, false) } else { ("", false) });
        assert_eq!(calls.join(" | "), expected, "{listing}");
        assert!(text.contains("export ANTHROPIC_API_KEY"), "{text}");
    }
}

#[test]
fn tools_that_are_not_offered_are_not_called() {
    let mut talk = Talk::tour();
    talk.tools = vec!["read", "ls"];
    talk.say("hello");
    assert_eq!(talk.run(rust_project).0, ["ls .", "read README.md"]);
    let mut talk = Talk::tour();
    talk.tools = Vec::new();
    talk.say("summarise");
    assert_eq!(talk.run(rust_project).0, Vec::<String>::new());
}

#[test]
fn after_the_tour_it_says_that_it_is_over() {
    let mut talk = Talk::tour();
    for _ in 0..3 {
        talk.say("hello");
        talk.run(rust_project);
    }
    assert!(talk.messages.len() > 12);
    let Message::Assistant(last) = &**talk.messages.last().unwrap() else {
        panic!("the last word is the script's")
    };
    assert!(last.text().contains("The tour is over") && last.text().contains("export ANTHROPIC_API_KEY"));
}

#[test]
fn the_same_conversation_gets_the_same_answer_also_after_a_restart() {
    let mut talk = Talk::tour();
    talk.say("hello");
    let (call, _) = talk.call();
    talk.result(&call, rust_project(&call).0, false);
    assert_eq!(talk.peek(), talk.peek());
    let stored =
        serde_json::to_string(&talk.messages.iter().map(|message| &**message).collect::<Vec<_>>()).unwrap();
    let mut again = Talk::tour();
    again.messages =
        serde_json::from_str::<Vec<Message>>(&stored).unwrap().into_iter().map(Arc::new).collect();
    assert_eq!(again.peek(), talk.peek());
    again.say("go on");
    assert_eq!(again.call().0.name, "read", "a turn that is not over goes on");
}

#[test]
fn an_answer_that_was_stopped_comes_again() {
    let mut talk = Talk::tour();
    talk.say("hello");
    let mut stopped = talk.peek();
    stopped.stop_reason = StopReason::Aborted;
    talk.messages.push(Arc::new(Message::Assistant(stopped)));
    talk.say("go on");
    assert_eq!(talk.call().0.name, "ls");
}

#[test]
fn thinking_is_shown_only_when_it_is_asked_for() {
    let mut talk = Talk::tour();
    talk.say("hello");
    let thinks =
        |talk: &Talk| talk.peek().content.iter().any(|block| matches!(block, Block::Thinking { .. }));
    assert!(!thinks(&talk));
    talk.thinking = ThinkingLevel::Low;
    assert!(thinks(&talk));
}

const OWN: &str = r#"
name = "Own"
piece = 3
[[fact]]
name = "word"
call = "look"
match = 'is (\w+)'
[[turn]]
prompt = "^first"
[[turn.step]]
usage = { input = 10, output = 5 }
text = "a"
[[turn.step.call]]
name = "look"
tool = "bash"
arguments = { command = "echo {{prompt}}", nested = { list = ["{{prompt}}", 7] } }
[[turn.step]]
text = ["it is {{word}}", { when = ["!word"], text = "nothing" }]
[[turn]]
prompt = "^second"
[[turn.step]]
text = "two: {{prompt}}"
"#;

#[test]
fn a_script_answers_prompts_by_what_they_say() {
    let mut talk = Talk::with(OWN.parse().unwrap());
    talk.say("second thing");
    assert_eq!(talk.answer().text(), "two: second thing");
    talk.say("first thing");
    let (call, text) = talk.call();
    assert_eq!(text, "a");
    assert_eq!(call.arguments["command"], "echo first thing");
    assert_eq!(call.arguments["nested"]["list"], serde_json::json!(["first thing", 7]));
    talk.result(&call, "it is blue", false);
    let answer = talk.answer();
    assert_eq!((answer.text().as_str(), answer.usage.total_tokens), ("it is blue", 0));
    talk.say("third");
    assert_eq!(talk.answer().text(), "The script has no answer to this prompt.");
}

#[test]
fn a_prompt_for_another_turn_ends_the_one_that_was_left() {
    let mut talk = Talk::with(OWN.parse().unwrap());
    talk.say("first");
    let (call, _) = talk.call();
    talk.result(&call, "Command aborted", true);
    talk.say("second");
    assert_eq!(talk.answer().text(), "two: second");
}

#[test]
fn usage_is_as_the_script_says_and_free() {
    let mut talk = Talk::with(OWN.parse().unwrap());
    talk.say("first");
    let usage = talk.answer().usage;
    assert_eq!((usage.input, usage.output, usage.total_tokens, usage.cost.total), (10, 5, 15, 0.0));
}

#[test]
fn scripts_that_would_go_wrong_later_are_refused() {
    let plain = "name = 'x'\n[[turn]]\n[[turn.step]]\ntext = 'end'\n";
    plain.parse::<Script>().unwrap();
    for (text, problem) in [
        ("name = 'x'\n".to_owned(), "`turn` is missing"),
        (format!("{plain}[[turn]]\n[[turn.step]]\nwhen = ['a']\n"), "last step"),
        (format!("{plain}[[turn]]\nstep = []\n"), "last step"),
        (plain.replace("'end'", "'{{nope}}'"), "`nope`"),
        (plain.replace("'end'", "[{ when = ['!nope'], text = '' }]"), "`nope`"),
        (format!("{plain}[[fact]]\nname = 'a'\ncall = 'b'\nmatch = ''\n"), "`b`"),
        (format!("{plain}[[fact]]\nname = 'a'\ncall = 'b'\nmatch = '('\n"), "line 8"),
        (plain.replace("text", "txt"), "line 4"),
        (format!("piece = 0\n{plain}"), "at least one character"),
        (OWN.replace("\"look\"", "\"lo-ok\""), "`lo-ok`"),
    ] {
        let error = text.parse::<Script>().unwrap_err().to_string();
        assert!(error.contains(problem), "{problem}: {error}");
    }
}

#[test]
fn script_files_are_loaded_by_their_path() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("own.toml");
    assert!(load(path.to_str().unwrap()).unwrap_err().to_string().contains("could not be read"));
    std::fs::write(&path, OWN).unwrap();
    assert_eq!(model(path.to_str().unwrap()).name, "Own (not a real model)");
    assert_eq!(model("nowhere.toml").name, "nowhere.toml (not a real model)");
    assert_eq!(TOUR_NAME, format!("{} (not a real model)", load(TOUR).unwrap().name));
}

#[tokio::test]
async fn the_provider_streams_the_same_events_in_small_pieces() {
    let mut talk = Talk::with(OWN.parse().unwrap());
    talk.say("second ünit");
    let request = talk.request();
    let (sender, mut events) = mpsc::unbounded_channel();
    ScriptedProvider::new(talk.script.clone()).stream(Arc::new(request.clone()), sender).await;
    let mut streamed = Vec::new();
    while let Some(event) = events.recv().await {
        streamed.push(event);
    }
    assert_eq!(streamed, events_of(&talk.script, &request));
    let deltas: Vec<&str> = streamed
        .iter()
        .filter_map(|event| match event {
            StreamEvent::TextDelta { delta, .. } => Some(delta.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(deltas, ["two", ": s", "eco", "nd ", "üni", "t"]);
    assert!(matches!(streamed.last(), Some(StreamEvent::Done { reason: StopReason::Stop, .. })));
}

#[tokio::test]
async fn pauses_come_between_pieces() {
    let mut talk = Talk::with(OWN.parse().unwrap());
    talk.say("second");
    let script = Script { delay_ms: 2, ..talk.script.clone() };
    let (sender, events) = mpsc::unbounded_channel();
    let before = tokio::time::Instant::now();
    ScriptedProvider::new(script).stream(Arc::new(talk.request()), sender).await;
    // "two: second" in pieces of three.
    assert!(before.elapsed() >= Duration::from_millis(4 * 2));
    drop(events);
}
