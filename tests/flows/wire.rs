//! What a recorded request says, whatever its dialect.

use mynah::testkit::server::Recorded;
use serde_json::Value;

/// One thing that was said, without the dialect's shape and without thinking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    User(String),
    Picture,
    Assistant(String),
    /// Name and arguments.
    Call(String, Value),
    Result(String),
}

/// The conversation that a request carries.
pub fn history(request: &Recorded) -> Vec<Said> {
    let messages = list(&request.body["messages"]);
    if request.path.ends_with("/messages") {
        return messages.iter().flat_map(anthropic).collect();
    }
    if request.path.ends_with("/responses") {
        return list(&request.body["input"]).iter().flat_map(responses).collect();
    }
    messages.iter().flat_map(chat).collect()
}

/// What the user said, one text a message.
pub fn user_texts(request: &Recorded) -> Vec<String> {
    history(request)
        .into_iter()
        .filter_map(|said| if let Said::User(text) = said { Some(text) } else { None })
        .collect()
}

/// The texts of results.
pub fn results(request: &Recorded) -> Vec<String> {
    history(request)
        .into_iter()
        .filter_map(|said| if let Said::Result(text) = said { Some(text) } else { None })
        .collect()
}

/// The system prompt.
pub fn system(request: &Recorded) -> String {
    let body = &request.body;
    if request.path.ends_with("/messages") {
        return joined(&body["system"]);
    }
    let own = if request.path.ends_with("/responses") { &body["input"] } else { &body["messages"] };
    let first = list(own).iter().find(|message| is_system(message)).unwrap_or(&body["instructions"]);
    joined(if first.is_object() { &first["content"] } else { first })
}

/// Names of the tools that the model gets.
pub fn tool_names(request: &Recorded) -> Vec<String> {
    let name = |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).unwrap().to_owned();
    list(&request.body["tools"]).iter().map(name).collect()
}

fn is_system(message: &Value) -> bool {
    message["role"] == "system" || message["role"] == "developer"
}

fn anthropic(message: &Value) -> Vec<Said> {
    let by_user = message["role"] == "user";
    parts(&message["content"])
        .iter()
        .filter_map(|part| match part["type"].as_str().unwrap() {
            "text" if by_user => Some(Said::User(text(&part["text"]))),
            "text" => Some(Said::Assistant(text(&part["text"]))),
            "image" => Some(Said::Picture),
            "tool_use" => Some(Said::Call(text(&part["name"]), part["input"].clone())),
            "tool_result" => Some(Said::Result(joined(&part["content"]))),
            "thinking" | "redacted_thinking" => None,
            other => panic!("a part of the type {other}"),
        })
        .collect()
}

fn chat(message: &Value) -> Vec<Said> {
    let content = &message["content"];
    match message["role"].as_str().unwrap() {
        "system" | "developer" => Vec::new(),
        "user" => of_user(content),
        "tool" => vec![Said::Result(joined(content))],
        "assistant" => {
            let said = Some(joined(content)).filter(|text| !text.is_empty()).map(Said::Assistant);
            let calls = list(&message["tool_calls"]).iter().map(|call| call_of(&call["function"]));
            said.into_iter().chain(calls).collect()
        }
        other => panic!("a message of {other}"),
    }
}

fn responses(item: &Value) -> Vec<Said> {
    match item["type"].as_str().unwrap_or("message") {
        "reasoning" => Vec::new(),
        "function_call" => vec![call_of(item)],
        "function_call_output" => vec![Said::Result(joined(&item["output"]))],
        "message" if is_system(item) => Vec::new(),
        "message" if item["role"] == "user" => of_user(&item["content"]),
        "message" => vec![Said::Assistant(joined(&item["content"]))],
        other => panic!("an item of the type {other}"),
    }
}

fn of_user(content: &Value) -> Vec<Said> {
    parts(content)
        .iter()
        .map(|part| match part["type"].as_str().unwrap() {
            "text" | "input_text" => Said::User(text(&part["text"])),
            "image_url" | "input_image" => Said::Picture,
            other => panic!("a part of the type {other}"),
        })
        .collect()
}

fn call_of(function: &Value) -> Said {
    Said::Call(
        text(&function["name"]),
        serde_json::from_str(function["arguments"].as_str().unwrap()).unwrap(),
    )
}

/// Content as a list of parts: a bare text is one.
fn parts(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
        _ => list(content).to_vec(),
    }
}

fn joined(content: &Value) -> String {
    parts(content).iter().map(|part| text(&part["text"])).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
