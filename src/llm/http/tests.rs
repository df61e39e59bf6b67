use super::*;
use crate::llm::endpoint::Secret;
use crate::llm::error::ErrorClass;
use crate::llm::fixtures::{endpoint, model, request, user};
use crate::llm::{Model, Price};
use crate::proto::message::StopReason;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

const SSE_HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const HELLO: &str = "data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":500}}\n\ndata: [DONE]\n\n";

/// What the server does after it sent its answer.
#[derive(Clone, Copy)]
enum Then {
    Close,
    /// Says nothing more and keeps the connection.
    Hang,
    /// Breaks the connection off.
    Reset,
}

/// A server for one request: gives the answer and returns the request.
async fn server(answer: String, then: Then) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let request = read_request(&mut stream).await;
        stream.write_all(answer.as_bytes()).await.unwrap();
        match then {
            Then::Close => stream.shutdown().await.unwrap(),
            // Ends when the client closes.
            Then::Hang => while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {},
            Then::Reset => {
                stream.flush().await.unwrap();
                stream.set_zero_linger().unwrap();
            }
        }
        request
    });
    (address, served)
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let read = stream.read(&mut chunk).await.unwrap();
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .lines()
            .find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
        if length.is_none_or(|length| body.len() >= length.parse::<usize>().unwrap()) || read == 0 {
            return text.into_owned();
        }
    }
}

fn http_error(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}", body.len())
}

async fn ask_with(provider: HttpProvider, model: Model) -> Vec<StreamEvent> {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    provider.stream(Arc::new(request(model, vec![user("hi")])), sender).await;
    let mut events = Vec::new();
    while let Some(event) = receiver.recv().await {
        events.push(event);
    }
    events
}

async fn ask(base_url: &str, idle: Option<Duration>) -> Vec<StreamEvent> {
    let mut endpoint = endpoint(base_url);
    endpoint.key = Some(Secret::new("sk-secret"));
    ask_with(HttpProvider::new(endpoint, idle), model(Dialect::OpenAiCompletions)).await
}

async fn answer(answer: &str, then: Then) -> Vec<StreamEvent> {
    let (address, served) = server(answer.to_owned(), then).await;
    let events = ask(&address, Some(Duration::from_secs(20))).await;
    served.await.unwrap();
    events
}

/// The failure that ends a stream; it never shows the key.
fn failure(events: &[StreamEvent]) -> &LlmError {
    let ends =
        events.iter().filter(|event| matches!(event, StreamEvent::Done { .. } | StreamEvent::Failed(_)));
    assert_eq!(ends.count(), 1);
    match events.last() {
        Some(StreamEvent::Failed(error)) => {
            assert!(!error.message.contains("sk-secret"), "{error}");
            error
        }
        other => panic!("no failure: {other:?}"),
    }
}

fn text(events: &[StreamEvent]) -> String {
    let deltas = events.iter().filter_map(|event| match event {
        StreamEvent::TextDelta { delta, .. } => Some(delta.as_str()),
        _ => None,
    });
    deltas.collect()
}

#[tokio::test]
async fn a_stream_is_decoded_and_priced() {
    let (address, served) = server(format!("{SSE_HEAD}{HELLO}{STOP}"), Then::Close).await;
    let mut endpoint = endpoint(&address);
    endpoint.key = Some(Secret::new("sk-secret"));
    endpoint.headers.insert("x-extra".to_owned(), "ours".to_owned());
    endpoint.headers.insert("user-agent".to_owned(), "custom".to_owned());
    let mut model = model(Dialect::OpenAiCompletions);
    model.price = Price { input: 2.0, output: 4.0, ..Price::default() };
    model.headers.insert("x-extra".to_owned(), "the model's".to_owned());
    let events = ask_with(HttpProvider::new(endpoint, None), model).await;
    assert_eq!(text(&events), "Hello");
    let cost = events.iter().find_map(|event| match event {
        StreamEvent::Usage(usage) => Some(usage.cost.total),
        _ => None,
    });
    assert!((cost.unwrap() - 0.004).abs() < 1e-12);
    assert!(matches!(events.last(), Some(StreamEvent::Done { reason: StopReason::Stop, .. })));
    let sent = served.await.unwrap();
    assert!(sent.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{sent}");
    for header in [
        "authorization: Bearer sk-secret",
        "x-extra: ours",
        "user-agent: custom",
        "accept: text/event-stream",
    ] {
        assert!(sent.contains(header), "{header}: {sent}");
    }
}

#[tokio::test]
async fn the_key_goes_where_the_dialect_wants_it() {
    for (dialect, style, path, header) in [
        (Dialect::AnthropicMessages, KeyStyle::Dialect, "/v1/messages", "x-api-key: k"),
        (Dialect::AnthropicMessages, KeyStyle::Bearer, "/v1/messages", "authorization: Bearer k"),
        (Dialect::OpenAiResponses, KeyStyle::Dialect, "/v1/responses", "authorization: Bearer k"),
    ] {
        let (address, served) = server(http_error("500 Oops", "", ""), Then::Close).await;
        let mut endpoint = endpoint(&address);
        endpoint.key = Some(Secret::new("k"));
        endpoint.key_style = style;
        ask_with(HttpProvider::new(endpoint, None), model(dialect)).await;
        let sent = served.await.unwrap();
        assert!(sent.starts_with(&format!("POST {path} ")), "{sent}");
        assert!(sent.contains(header), "{sent}");
    }
}

#[tokio::test]
async fn the_answer_ends_with_its_last_event_and_not_with_the_connection() {
    let (address, _served) = server(format!("{SSE_HEAD}{HELLO}{STOP}"), Then::Hang).await;
    let events =
        tokio::time::timeout(Duration::from_secs(15), ask(&address, None)).await.expect("the stream ended");
    assert!(matches!(events.last(), Some(StreamEvent::Done { .. })));
}

#[tokio::test]
async fn failed_responses_become_classes() {
    let limited = http_error("429 Too Many", "retry-after: 7\r\n", r#"{"error":{"message":"slow down"}}"#);
    let events = answer(&limited, Then::Close).await;
    let error = failure(&events);
    assert_eq!((error.class, error.status), (ErrorClass::RateLimit, Some(429)));
    assert_eq!(error.retry_after, Some(Duration::from_secs(7)));
    assert!(error.message.contains("slow down"));

    let events = answer(&http_error("500 Oops", "", "{\"x\":1}"), Then::Close).await;
    let error = failure(&events);
    assert_eq!((error.class, error.status), (ErrorClass::Server, Some(500)));
    assert!(!error.message.contains('{'), "{error}");

    let refused = r#"{"error":{"message":"Incorrect API key provided: sk-secret"}}"#;
    let events = answer(&http_error("401 No", "", refused), Then::Close).await;
    assert_eq!(failure(&events).class, ErrorClass::Auth);
    assert!(failure(&events).message.contains("auth.toml"));

    // A body that is announced but never comes whole.
    let short = "HTTP/1.1 503 Busy\r\ncontent-length: 999\r\n\r\nbusy now";
    let events = answer(short, Then::Close).await;
    assert_eq!(failure(&events).class, ErrorClass::Server);
}

#[tokio::test]
async fn cut_streams_keep_what_came() {
    let events = answer(&format!("{SSE_HEAD}{HELLO}"), Then::Close).await;
    assert_eq!(failure(&events).class, ErrorClass::Stream);
    assert_eq!(text(&events), "Hello");

    let chunked = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let events = answer(&format!("{chunked}{:x}\r\n{HELLO}\r\n", HELLO.len()), Then::Close).await;
    assert_eq!(failure(&events).class, ErrorClass::Network);

    let events = answer(&format!("{chunked}ff\r\n"), Then::Reset).await;
    assert_eq!(failure(&events).class, ErrorClass::Network);

    let events = answer(&format!("{SSE_HEAD}{HELLO}data: }}{{not json\n\n"), Then::Close).await;
    assert_eq!(failure(&events).class, ErrorClass::Stream);
    assert_eq!(text(&events), "Hello");
}

#[tokio::test]
async fn silence_ends_a_stream() {
    let (address, served) = server(format!("{SSE_HEAD}{HELLO}"), Then::Hang).await;
    let events = ask(&address, Some(Duration::from_millis(60))).await;
    assert_eq!(failure(&events).class, ErrorClass::Network);
    assert!(failure(&events).message.contains("said nothing for 1 s"), "{}", failure(&events));
    served.await.unwrap();
}

#[tokio::test]
async fn successes_that_are_no_stream() {
    let ok = |kind: &str, body: &str| http_error("200 OK", &format!("content-type: {kind}\r\n"), body);
    let events = answer(&ok("text/html", "<!doctype html><p>Welcome"), Then::Close).await;
    assert_eq!(failure(&events).class, ErrorClass::Invalid);
    assert!(failure(&events).message.contains("web page"));
    let body = r#"{"error":{"code":"insufficient_quota","message":"empty"}}"#;
    let events = answer(&ok("application/json", body), Then::Close).await;
    assert_eq!(failure(&events).class, ErrorClass::Quota);
    let events = answer(&ok("application/json", r#"{"choices":[]}"#), Then::Close).await;
    assert!(failure(&events).message.contains("without streaming"));
    let events = answer(&ok("text/plain", ""), Then::Close).await;
    assert_eq!(failure(&events).class, ErrorClass::Stream);
    // The type does not matter where events come.
    let events = answer(&ok("application/json", &format!("{HELLO}{STOP}")), Then::Close).await;
    assert!(matches!(events.last(), Some(StreamEvent::Done { .. })));
}

#[tokio::test]
async fn a_redirect_never_takes_the_key_to_another_host() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = format!("http://{}/v1/chat/completions", elsewhere.local_addr().unwrap());
    for status in ["307 Temporary", "302 Found"] {
        let events = answer(&http_error(status, &format!("location: {target}\r\n"), ""), Then::Close).await;
        assert_eq!(failure(&events).class, ErrorClass::Invalid);
        assert!(failure(&events).message.contains("another address"));
    }
    let untouched = tokio::time::timeout(Duration::ZERO, elsewhere.accept()).await;
    assert!(untouched.is_err(), "the other host was asked");
}

#[tokio::test]
async fn nobody_at_home() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let events = ask(&address, None).await;
    let error = failure(&events);
    assert_eq!((error.class, error.status), (ErrorClass::Network, None));
    assert!(error.message.contains("127.0.0.1"), "{error}");
}

#[tokio::test]
async fn requests_that_cannot_be_sent() {
    let events = ask("not a url", None).await;
    assert_eq!(failure(&events).class, ErrorClass::Invalid);
    let mut endpoint = endpoint("http://127.0.0.1:9/v1");
    endpoint.key = Some(Secret::new("sk-secret\n"));
    let events = ask_with(HttpProvider::new(endpoint, None), model(Dialect::OpenAiCompletions)).await;
    assert!(failure(&events).message.contains("characters that no key has"));
}

#[tokio::test]
async fn dropping_the_request_closes_the_connection() {
    let (address, served) = server(format!("{SSE_HEAD}{HELLO}"), Then::Hang).await;
    let provider = HttpProvider::new(endpoint(&address), None);
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let streaming = tokio::spawn(
        provider.stream(Arc::new(request(model(Dialect::OpenAiCompletions), vec![user("hi")])), sender),
    );
    while !matches!(receiver.recv().await, Some(StreamEvent::TextDelta { .. })) {}
    streaming.abort();
    tokio::time::timeout(Duration::from_secs(10), served).await.expect("the server saw the end").unwrap();
}
