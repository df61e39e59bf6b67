//! `--mode json`: the events as lines, under Pi's names and in Pi's shapes.

use super::{CHAT, DIALECTS, KEY, run};
use mynah::testkit::home::Home;
use mynah::testkit::server::{ModelServer, Step};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const PI_STREAM: &str = include_str!("../fixtures/pi/rpc-events-pi-1.6.0.jsonl");

fn parsed(stream: &str) -> Vec<Value> {
    stream
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

/// The work that the recorded stream shows, done by Mynah.
fn worked() -> Vec<Value> {
    let home = Home::new();
    home.write("a.txt", "alpha\nbeta\ngamma\n");
    let edits = json!([{"oldText": "beta", "newText": "BETA"}]);
    let server = ModelServer::start(vec![
        Step::text("I'll read it first. ").call("read", json!({"path": "a.txt"})),
        Step::text("")
            .call("edit", json!({"path": "a.txt", "edits": edits}))
            .call("bash", json!({"command": "wc -l a.txt; sleep 0.2"}))
            .interleaved(),
        Step::text("Changed one line; the file has three."),
    ]);
    let ended = run(CHAT.command(&home, &server).args(["--mode", "json", "--yolo", "Change beta."]));
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(server.violations(), Vec::<String>::new());
    parsed(&ended.stdout)
}

/// Keys by event, by the kind of its part, and by the role of its message.
fn shapes(lines: &[Value]) -> BTreeMap<String, BTreeSet<String>> {
    let mut shapes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut add = |name: String, value: &Value| {
        shapes.entry(name).or_default().extend(value.as_object().unwrap().keys().cloned());
    };
    for line in lines {
        let kind = line["type"].as_str().unwrap();
        add(kind.to_owned(), line);
        let event = &line["assistantMessageEvent"];
        if let Some(part) = event["type"].as_str() {
            add(format!("{kind} {part}"), event);
        }
        if let Some(role) = line["message"]["role"].as_str() {
            add(format!("{kind} {role}"), &line["message"]);
        }
        for message in line["messages"].as_array().into_iter().flatten() {
            add(format!("{kind} {}", message["role"].as_str().unwrap()), message);
        }
        for block in line["message"]["content"].as_array().into_iter().flatten() {
            add(format!("block {}", block["type"].as_str().unwrap()), block);
        }
        for part in ["usage", "result"] {
            if line[part].is_object() {
                add(format!("{kind} {part}"), &line[part]);
            }
        }
    }
    shapes
}

/// Keys that one side has and the other has not, on purpose.
fn may_differ(name: &str, key: &str) -> bool {
    let role = name.rsplit(' ').next().unwrap();
    match role {
        // Our responses say how long they took and how hard the model thought; Pi's name the provider's answer.
        "assistant" => {
            ["durationMs", "thinkingLevel", "responseId", "responseModel", "rawStopReason", "errorMessage"]
                .contains(&key)
        }
        "system" => key == "toolsRemoved",
        "toolResult" => ["details", "durationMs", "usage"].contains(&key),
        // Pi gives the text a second time for its extensions.
        "result" => ["structuredContent", "details", "isError"].contains(&key),
        "usage" => key == "reasoning",
        _ => false,
    }
}

#[test]
fn events_have_the_names_and_shapes_of_pi() {
    let recorded: Vec<Value> =
        parsed(PI_STREAM).into_iter().filter(|line| line["type"] != "response").collect();
    let (pi, ours) = (shapes(&recorded), shapes(&worked()));
    for (name, keys) in &ours {
        // The header of the session, which RPC mode does not have; an event of Pi that the recording lacks; and what Pi
        // does not know.
        if ["session", "queue_update"].contains(&name.as_str()) || name.starts_with("mynah_") {
            continue;
        }
        let Some(known) = pi.get(name) else { panic!("Pi has no `{name}`") };
        let different: Vec<_> =
            keys.symmetric_difference(known).filter(|key| !may_differ(name, key)).collect();
        assert!(different.is_empty(), "{name}: {different:?}\nours {keys:?}\nPi's {known:?}");
    }
    for name in [
        "tool_execution_start",
        "tool_execution_update",
        "tool_execution_end",
        "message_update toolcall_delta",
    ] {
        assert!(ours.contains_key(name), "no {name}");
    }
}

/// The first turn of the recorded stream and ours tell the same story; deltas and progress may come in other pieces.
#[test]
fn events_come_in_the_order_of_pi() {
    let story = |lines: &[Value]| -> Vec<String> {
        let mut story: Vec<String> = Vec::new();
        for line in lines {
            let kind = line["type"].as_str().unwrap();
            let event = line["assistantMessageEvent"]["type"].as_str().unwrap_or_default();
            if ["response", "session", "tool_execution_update", "queue_update"].contains(&kind)
                || event.contains("delta")
            {
                continue;
            }
            let part = line["message"]["role"].as_str().or(line["toolName"].as_str()).unwrap_or(event);
            // Pi knows no steps.
            if kind != "mynah_tool_steps" {
                story.push(format!("{kind} {part}").trim().to_owned());
            }
            if kind == "agent_settled" {
                break;
            }
        }
        // Blocks of one response may close as each is complete, or at its end. Pi runs a change and a command beside each
        // other and tells of both results then; we run them one after the other.
        for beside in ["message_update", "tool_execution toolResult"] {
            let is_beside = |step: &String| beside.split(' ').any(|word| step.contains(word));
            for batch in story.split_mut(|step| !is_beside(step)) {
                batch.sort();
            }
        }
        story
    };
    let mut pi = story(&parsed(PI_STREAM));
    // Pi opens the first round before the prompt, we open it with the request.
    assert_eq!(pi.remove(1), "turn_start");
    pi.insert(5, "turn_start".to_owned());
    assert_eq!(story(&worked()), pi);
}

#[test]
fn the_stream_is_whole_in_every_dialect() {
    for dialect in DIALECTS {
        let home = Home::new();
        let text = "Grüße, 世界! 👋🏽 And an end.";
        let server = ModelServer::start(vec![
            Step::text("").call("bash", json!({"command": "seq 3; sleep 0.2"})),
            Step::text(text).thinking("Hm.").pieces(1),
        ]);
        let ended = run(dialect.command(&home, &server).args(["--mode", "json", "--yolo", "hi"]));
        let name = dialect.name;
        assert_eq!(ended.code, 0, "{name}: {ended:?}");
        let lines = parsed(&ended.stdout);
        assert_eq!((&lines[0]["type"], &lines[0]["version"]), (&json!("session"), &json!(3)), "{name}");
        assert_eq!(lines[0]["cwd"], home.project().to_str().unwrap(), "{name}");
        assert_eq!(lines.last().unwrap(), &json!({"type": "agent_settled", "aborted": false}), "{name}");

        let deltas: String = of_kind(&lines, "message_update")
            .into_iter()
            .map(|line| &line["assistantMessageEvent"])
            .filter(|event| event["type"] == "text_delta")
            .map(|event| event["delta"].as_str().unwrap())
            .collect();
        assert_eq!(deltas, text, "{name}");
        let progress: String = of_kind(&lines, "tool_execution_update")
            .into_iter()
            .inspect(|line| assert_eq!(line["partialResult"]["delta"], true, "{name}"))
            .map(|line| line["partialResult"]["content"][0]["text"].as_str().unwrap())
            .collect();
        // The end of the output need not come this way: the result has it.
        assert!(!progress.is_empty() && "1\n2\n3\n".starts_with(&progress), "{name}: {progress}");
        let ends = of_kind(&lines, "agent_end");
        let last = ends[0]["messages"].as_array().unwrap().last().unwrap();
        assert_eq!(last["stopReason"], "stop", "{name}");
        assert!(
            last["content"].as_array().unwrap().iter().any(|block| block["text"] == text),
            "{name}: {last}"
        );
        assert!(!ended.stdout.contains(KEY), "{name}");
    }
}

#[test]
fn several_prompts_are_one_stream() {
    let (home, server) = (Home::new(), ModelServer::start(vec![Step::text("One."), Step::text("Two.")]));
    let ended = run(CHAT.command(&home, &server).args(["--mode", "json", "first", "second"]));
    let lines = parsed(&ended.stdout);
    for kind in ["agent_start", "agent_end", "agent_settled"] {
        assert_eq!(of_kind(&lines, kind).len(), 2, "{kind}");
    }
    assert_eq!(of_kind(&lines, "session").len(), 1);
}

#[test]
fn a_retry_is_told() {
    let (home, server) =
        (Home::new(), ModelServer::start(vec![Step::status(500).message("Busy."), Step::text("Fine.")]));
    let ended = run(CHAT.command(&home, &server).args(["--mode", "json", "hi"]));
    assert_eq!(ended.code, 0, "{ended:?}");
    let lines = parsed(&ended.stdout);
    let start = of_kind(&lines, "auto_retry_start")[0];
    assert_eq!((&start["attempt"], &start["maxAttempts"]), (&json!(1), &json!(3)));
    assert!(
        start["delayMs"].is_u64() && start["errorMessage"].as_str().unwrap().contains("Busy."),
        "{start}"
    );
    assert_eq!(
        of_kind(&lines, "auto_retry_end"),
        [&json!({"type": "auto_retry_end", "success": true, "attempt": 1})]
    );
}

#[test]
fn a_failed_run_ends_its_stream_all_the_same() {
    for dialect in DIALECTS {
        let home = Home::new();
        let server = ModelServer::start(vec![Step::status(401).message("The key is wrong.")]);
        let ended = run(dialect.command(&home, &server).args(["--mode", "json", "hi"]));
        let name = dialect.name;
        assert_eq!(ended.code, 1, "{name}: {ended:?}");
        assert!(ended.stderr.contains("The key is wrong."), "{name}: {ended:?}");
        let lines = parsed(&ended.stdout);
        assert_eq!(lines.last().unwrap()["type"], "agent_settled", "{name}");
    }
}

#[test]
fn a_refused_call_is_told() {
    let home = Home::new();
    let server = ModelServer::start(vec![
        Step::text("").call("bash", json!({"command": "make"})),
        Step::text("Then not."),
    ]);
    let ended = run(CHAT.command(&home, &server).args(["--mode", "json", "hi"]));
    let lines = parsed(&ended.stdout);
    let notice = of_kind(&lines, "mynah_notice")[0];
    assert!(
        notice["level"] == "warning"
            && notice["text"].as_str().unwrap().starts_with("bash did not run: make"),
        "{notice}"
    );
    let end = of_kind(&lines, "tool_execution_end")[0];
    assert_eq!((&end["isError"], &end["toolName"]), (&json!(true), &json!("bash")));
    assert!(of_kind(&lines, "tool_execution_start").is_empty() || end["toolCallId"].is_string());
}
