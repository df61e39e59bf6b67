//! The server seen through a plain socket, read by hand: no code of the server or the adapters helps the reader.

use super::{ModelServer, Recorded, Step};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

const MESSAGES: &str = "/v1/messages";
const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";
const ALL: [&str; 3] = [MESSAGES, CHAT, RESPONSES];

/// Longer than anything here takes; only a broken test waits for it.
const LIMIT: Duration = Duration::from_secs(20);

/// One connection.
struct Client(BufReader<TcpStream>);

/// A whole response. `chunks` holds what came before the body's end, or before the connection broke.
struct Response {
    status: u16,
    headers: BTreeMap<String, String>,
    text: String,
    /// The body ended as HTTP wants it.
    whole: bool,
}

impl Client {
    fn of(server: &ModelServer) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        Self(BufReader::new(stream))
    }

    fn send(&mut self, path: &str, body: &Value) {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Api-Key: k\r\n\
             Anthropic-Version: 2023-06-01\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.0.get_mut().write_all((head + &body).as_bytes()).unwrap();
    }

    fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    fn head(&mut self) -> (u16, BTreeMap<String, String>) {
        let status = self.line().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = BTreeMap::new();
        loop {
            let line = self.line().unwrap();
            let Some((name, value)) = line.split_once(": ") else { return (status, headers) };
            headers.insert(name.to_owned(), value.to_owned());
        }
    }

    /// The next chunk; `Ok("")` is the last one, an error a broken connection.
    fn chunk(&mut self) -> std::io::Result<String> {
        let size = self.line()?;
        let size = usize::from_str_radix(&size, 16).map_err(std::io::Error::other)?;
        let mut chunk = vec![0; size + 2];
        self.0.read_exact(&mut chunk)?;
        chunk.truncate(size);
        Ok(String::from_utf8(chunk).unwrap())
    }

    fn response(&mut self) -> Response {
        let (status, headers) = self.head();
        let mut response = Response { status, headers, text: String::new(), whole: true };
        if let Some(length) = response.headers.get("content-length") {
            let mut body = vec![0; length.parse().unwrap()];
            self.0.read_exact(&mut body).unwrap();
            response.text = String::from_utf8(body).unwrap();
            return response;
        }
        loop {
            match self.chunk() {
                Ok(chunk) if chunk.is_empty() => return response,
                Ok(chunk) => response.text += &chunk,
                Err(_) => {
                    response.whole = false;
                    return response;
                }
            }
        }
    }
}

impl Response {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    /// The data of all events that are JSON.
    fn events(&self) -> Vec<Value> {
        let data = self.text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter_map(|data| serde_json::from_str(data).ok()).collect()
    }

    /// Its last event is the one that closes a response of its dialect.
    fn is_closed(&self) -> bool {
        let last = self.text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
        last.is_some_and(|data| {
            data == "[DONE]" || data.contains("\"message_stop\"") || data.contains("\"response.completed\"")
        })
    }
}

/// A plain request with this history, in the dialect of the path.
fn request(path: &str, history: Value) -> Value {
    match path {
        MESSAGES => json!({"model": "m", "max_tokens": 64, "stream": true, "messages": history}),
        CHAT => {
            json!({"model": "m", "stream": true, "stream_options": {"include_usage": true}, "messages": history})
        }
        _ => json!({"model": "m", "stream": true, "store": false, "input": history}),
    }
}

/// Asks with one prompt.
fn ask(server: &ModelServer, path: &str) -> Response {
    let mut client = Client::of(server);
    client.send(path, &request(path, json!([{"role": "user", "content": "Hi"}])));
    client.response()
}

/// What a reader finds in a response.
#[derive(Debug, Default, PartialEq)]
struct Read {
    thinking: String,
    text: String,
    calls: Vec<(String, String)>,
    stop: String,
    /// Prompt, response, cached.
    usage: (u64, u64, u64),
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn read(path: &str, events: &[Value]) -> Read {
    match path {
        MESSAGES => read_messages(events),
        CHAT => read_chat(events),
        _ => read_responses(events),
    }
}

fn read_messages(events: &[Value]) -> Read {
    let mut read = Read::default();
    for event in events {
        let delta = &event["delta"];
        match event["type"].as_str().unwrap() {
            "message_start" => {
                let usage = &event["message"]["usage"];
                read.usage.2 = number(&usage["cache_read_input_tokens"]);
                read.usage.0 = number(&usage["input_tokens"]) + read.usage.2;
            }
            "content_block_start" if event["content_block"]["type"] == "tool_use" => {
                read.calls.push((event["content_block"]["name"].as_str().unwrap().to_owned(), String::new()));
            }
            "content_block_delta" => {
                read.thinking += delta["thinking"].as_str().unwrap_or_default();
                read.text += delta["text"].as_str().unwrap_or_default();
                if let Some(json) = delta["partial_json"].as_str() {
                    read.calls.last_mut().unwrap().1 += json;
                }
            }
            "message_delta" => {
                delta["stop_reason"].as_str().unwrap().clone_into(&mut read.stop);
                read.usage.1 = number(&event["usage"]["output_tokens"]);
            }
            _ => {}
        }
    }
    read
}

fn read_chat(events: &[Value]) -> Read {
    let mut read = Read::default();
    for event in events {
        let choice = &event["choices"][0];
        read.thinking += choice["delta"]["reasoning_content"].as_str().unwrap_or_default();
        read.text += choice["delta"]["content"].as_str().unwrap_or_default();
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let at = usize::try_from(number(&call["index"])).unwrap();
            if let Some(name) = call["function"]["name"].as_str() {
                read.calls.push((name.to_owned(), String::new()));
            }
            read.calls[at].1 += call["function"]["arguments"].as_str().unwrap();
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            reason.clone_into(&mut read.stop);
        }
        if let Some(usage) = event["usage"].as_object() {
            let cached = number(&usage["prompt_tokens_details"]["cached_tokens"]);
            read.usage = (number(&usage["prompt_tokens"]), number(&usage["completion_tokens"]), cached);
        }
    }
    read
}

fn read_responses(events: &[Value]) -> Read {
    let mut read = Read::default();
    let mut place_of_call = BTreeMap::new();
    let mut last_number = 0;
    for event in events {
        let number_of_event = number(&event["sequence_number"]);
        assert!(number_of_event > last_number, "event numbers rise");
        last_number = number_of_event;
        let delta = event["delta"].as_str().unwrap_or_default();
        match event["type"].as_str().unwrap() {
            "response.reasoning_summary_text.delta" => read.thinking += delta,
            "response.output_text.delta" => read.text += delta,
            "response.output_item.added" if event["item"]["type"] == "function_call" => {
                place_of_call.insert(number(&event["output_index"]), read.calls.len());
                read.calls.push((event["item"]["name"].as_str().unwrap().to_owned(), String::new()));
            }
            "response.function_call_arguments.delta" => {
                let place = place_of_call[&number(&event["output_index"])];
                read.calls[place].1 += delta;
            }
            "response.completed" | "response.incomplete" => {
                let response = &event["response"];
                response["status"].as_str().unwrap().clone_into(&mut read.stop);
                let usage = &response["usage"];
                let cached = number(&usage["input_tokens_details"]["cached_tokens"]);
                read.usage = (number(&usage["input_tokens"]), number(&usage["output_tokens"]), cached);
            }
            _ => {}
        }
    }
    read
}

#[test]
fn every_dialect_tells_the_same_step() {
    let step = Step::text("Grüße, 🦜 world")
        .thinking("Let me see.")
        .call("read", json!({"path": "a.txt"}))
        .raw_arguments("bash", "{broken")
        .usage(500, 40, 300)
        .pieces(3);
    for (path, stop) in [(MESSAGES, "tool_use"), (CHAT, "tool_calls"), (RESPONSES, "completed")] {
        let server = ModelServer::start(vec![step.clone(), step.clone().interleaved()]);
        for _ in 0..2 {
            let response = ask(&server, path);
            assert_eq!(response.status, 200);
            assert_eq!(response.headers["content-type"], "text/event-stream");
            assert!(response.whole && response.is_closed());
            let expected = Read {
                thinking: "Let me see.".to_owned(),
                text: "Grüße, 🦜 world".to_owned(),
                calls: vec![
                    ("read".to_owned(), "{\"path\":\"a.txt\"}".to_owned()),
                    ("bash".to_owned(), "{broken".to_owned()),
                ],
                stop: stop.to_owned(),
                usage: (500, 40, 300),
            };
            assert_eq!(read(path, &response.events()), expected, "{path}");
        }
        assert_eq!(server.violations(), Vec::<String>::new());
        assert_eq!(server.steps_left(), 0);
    }
}

#[test]
fn interleaved_calls_take_turns_where_the_dialect_allows_it() {
    let step = Step::text("").call("a", json!({"k": "long enough"})).call("b", json!({"k": "long enough"}));
    for path in [CHAT, RESPONSES] {
        let server = ModelServer::start(vec![step.clone().interleaved()]);
        let events = ask(&server, path).events();
        let owners: Vec<u64> = events
            .iter()
            .filter_map(|event| match event["type"].as_str() {
                Some("response.function_call_arguments.delta") => event["output_index"].as_u64(),
                Some(_) => None,
                None => event["choices"][0]["delta"]["tool_calls"][0]["index"].as_u64(),
            })
            .collect();
        let changes = owners.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes > 2, "{path}: {owners:?}");
    }
}

#[test]
fn a_stop_reason_is_said_in_the_words_of_the_dialect() {
    for (path, word) in [(MESSAGES, "max_tokens"), (CHAT, "length"), (RESPONSES, "incomplete")] {
        let server = ModelServer::start(vec![Step::text("cut off").stop("max_tokens")]);
        assert_eq!(read(path, &ask(&server, path).events()).stop, word);
    }
}

#[test]
fn chat_usage_comes_only_on_request() {
    let server = ModelServer::start(vec![Step::text("a")]);
    let mut client = Client::of(&server);
    let body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
    client.send(CHAT, &body);
    assert!(!client.response().text.contains("usage"));
}

#[test]
fn a_status_has_the_shape_of_the_dialect() {
    let step = Step::status(429).retry_after(2).message("Slow down.");
    for path in ALL {
        let server = ModelServer::start(vec![step.clone(), Step::status(404)]);
        let response = ask(&server, path);
        assert_eq!((response.status, response.headers["retry-after"].as_str()), (429, "2"));
        let error = &response.json()["error"];
        assert_eq!(error["message"], "Slow down.");
        let code = if path == MESSAGES { &error["type"] } else { &error["code"] };
        assert!(code.as_str().unwrap().starts_with("rate_limit"), "{code}");
        let unknown = ask(&server, path);
        assert_eq!(unknown.status, 404);
        assert!(unknown.json()["error"]["message"].as_str().unwrap().contains('m'));
    }
    let server = ModelServer::start(vec![Step::status(429).code("insufficient_quota")]);
    assert_eq!(ask(&server, CHAT).json()["error"]["code"], "insufficient_quota");
}

#[test]
fn faults_break_the_stream_where_they_should() {
    for path in ALL {
        let words = Step::text("onetwothreefour").pieces(3);
        let server = ModelServer::start(vec![
            Step::cut(2).with_text("onetwosix").pieces(3),
            Step::end_early(2).with_text("onetwosix").pieces(3),
            Step::error_in_stream("overloaded_error", 1).with_text("onetwo").pieces(3).message("Too busy."),
            Step::garbage(1).with_text("onetwo").pieces(3),
            Step::cut(usize::MAX),
            Step::huge_line(300_000).with_text("one"),
            words,
        ]);
        let cut = ask(&server, path);
        assert!(!cut.whole && !cut.is_closed());
        assert_eq!(read(path, &cut.events()).text, "onetwo");

        let early = ask(&server, path);
        assert!(early.whole && !early.is_closed());
        assert_eq!(read(path, &early.events()).text, "onetwo");

        let error = ask(&server, path);
        assert!(error.whole && !error.is_closed());
        assert!(error.text.contains("\"one\"") && !error.text.contains("\"two\""));
        let told = error.events().into_iter().any(|event| {
            event["error"]["message"] == "Too busy." || event["response"]["error"]["message"] == "Too busy."
        });
        assert!(told && error.text.contains("overloaded_error"));

        let garbage = ask(&server, path);
        assert!(garbage.whole && garbage.is_closed());
        assert_eq!(read(path, &garbage.events()).text, "onetwo");
        let data = garbage.text.lines().filter_map(|line| line.strip_prefix("data: "));
        let broken = data.filter(|data| serde_json::from_str::<Value>(data).is_err() && *data != "[DONE]");
        assert_eq!(broken.count(), 1);

        let late_cut = ask(&server, path);
        assert!(!late_cut.whole && !late_cut.is_closed());
        assert!(read(path, &late_cut.events()).text.starts_with("scripted word"));

        let huge = ask(&server, path);
        assert!(huge.is_closed());
        assert_eq!(huge.text.lines().map(str::len).max(), Some(300_000 + "data: ".len()));

        assert_eq!(read(path, &ask(&server, path).events()).text, "onetwothreefour");
    }
}

#[test]
fn a_page_is_no_stream_and_a_refusal_is_nothing() {
    let server = ModelServer::start(vec![Step::not_sse(), Step::refuse()]);
    let page = ask(&server, CHAT);
    assert_eq!((page.status, page.headers["content-type"].as_str()), (200, "text/html; charset=utf-8"));
    assert!(page.text.starts_with("<!doctype html>"));

    let mut client = Client::of(&server);
    client.send(CHAT, &request(CHAT, json!([{"role": "user", "content": "Hi"}])));
    let mut rest = Vec::new();
    let outcome = client.0.read_to_end(&mut rest);
    assert!(outcome.is_err() || rest.is_empty());
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_gate_holds_the_response_until_it_opens() {
    let (step, gate) = Step::text("onetwo").pieces(3).gate();
    let server = ModelServer::start(vec![step]);
    let mut client = Client::of(&server);
    assert!(!gate.wait_reached(Duration::ZERO));
    client.send(CHAT, &request(CHAT, json!([{"role": "user", "content": "Hi"}])));
    assert!(gate.wait_reached(LIMIT));
    client.head();
    assert!(client.chunk().unwrap().contains("\"role\":\"assistant\""));
    assert!(client.chunk().unwrap().contains("\"one\""));
    client.0.get_ref().set_nonblocking(true).unwrap();
    assert_eq!(client.line().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    client.0.get_ref().set_nonblocking(false).unwrap();
    gate.open();
    assert!(client.chunk().unwrap().contains("\"two\""));
}

#[test]
fn a_stopping_server_ends_hanging_responses() {
    let server = ModelServer::start(vec![Step::hang(0)]);
    let mut client = Client::of(&server);
    client.send(MESSAGES, &request(MESSAGES, json!([{"role": "user", "content": "Hi"}])));
    assert!(server.wait_for_requests(1, LIMIT));
    assert!(!server.wait_for_requests(2, Duration::ZERO));
    drop(server);
    assert!(!client.response().whole);
}

#[test]
fn one_connection_serves_many_requests_and_the_script_has_an_end() {
    let server = ModelServer::start(vec![Step::text("a")]);
    server.push(Step::text("b"));
    let mut client = Client::of(&server);
    let body = request(CHAT, json!([{"role": "user", "content": "Hi"}]));
    for expected in ["a", "b"] {
        client.send(CHAT, &body);
        assert_eq!(read(CHAT, &client.response().events()).text, expected);
    }
    assert_eq!(server.violations(), Vec::<String>::new());
    client.send(CHAT, &body);
    let over = client.response();
    assert_eq!(over.status, 500);
    assert!(over.json()["error"]["message"].as_str().unwrap().contains("at its end"));
    assert_eq!(server.violations().len(), 1);
}

#[test]
fn requests_are_recorded_and_models_listed() {
    let server = ModelServer::start(vec![Step::text("a")]);
    server.offer_models(&["big", "small"]);
    let mut client = Client::of(&server);
    client.0.get_mut().write_all(b"GET /v1/models?limit=2 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let list = client.response().json();
    assert_eq!((&list["data"][0]["id"], &list["data"][1]["id"]), (&json!("big"), &json!("small")));
    assert_eq!(server.steps_left(), 1);

    let body = request(CHAT, json!([{"role": "user", "content": "Hi"}])).to_string();
    let (first, second) = body.split_at(10);
    let chunked = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\
         X-Thing: Some Value\r\nConnection: close\r\n\r\n{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n",
        first.len(),
        second.len()
    );
    client.0.get_mut().write_all(chunked.as_bytes()).unwrap();
    assert_eq!(client.response().status, 200);
    let requests = server.requests();
    let [Recorded { method, .. }, asked] = requests.as_slice() else { panic!("two requests: {requests:?}") };
    assert_eq!(method, "GET");
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", CHAT));
    assert_eq!(asked.headers["x-thing"], "Some Value");
    assert_eq!(asked.body_bytes, body.as_bytes());
    assert_eq!(asked.body["messages"][0]["content"], "Hi");
    assert_eq!(server.violations(), Vec::<String>::new());
    client.0.get_mut().set_read_timeout(Some(LIMIT)).unwrap();
    assert_eq!(client.0.read(&mut [0]).unwrap(), 0, "the server closes when asked to");
}
