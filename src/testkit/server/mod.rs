//! A scripted model server on loopback, for adapters, flows and the program as a child process.
//!
//! Responsibilities: answers each request with the next [`Step`] of a script, in the dialect of the path
//! (`…/v1/messages`, `…/chat/completions`, `…/responses`; `GET …/models` lists models and takes no step); records every
//! request; checks it as strictly as the real services do, and where they differ, as the strictest of them. It is
//! written from the protocols and shares no code with the adapters.
//!
//! Invariants: steps are handed out in the order in which requests have arrived whole. A finding never changes the
//! answer: a test asserts that [`ModelServer::violations`] is empty. The server has a thread and a runtime of its own,
//! so that it serves while a test blocks; dropping it ends both, and every response that still hangs.

mod answer;
mod anthropic;
mod chat;
mod check;
#[cfg(test)]
mod check_tests;
mod http;
mod responses;
mod step;
#[cfg(test)]
mod tests;

pub use step::{Gate, Step};

use answer::{Action, Asked, Dialect, Reply};
use check::Seen;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// A scripted model server. Stops when it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    port: u16,
    shared: Arc<Shared>,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// HTTP method.
    pub method: String,
    /// Path without the query.
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body; null when there was none, or it was no JSON.
    pub body: Value,
    /// The body as it came.
    pub body_bytes: Vec<u8>,
    /// When it had arrived whole.
    pub time: Instant,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Debug)]
struct State {
    steps: VecDeque<Step>,
    models: Vec<String>,
    requests: Vec<Recorded>,
    violations: Vec<String>,
    /// Ids given out that may only come back together with the thinking of the same response.
    ties: HashMap<String, String>,
}

impl ModelServer {
    /// Starts a server with this script. A request after the last step gets status 500 and is a violation.
    ///
    /// # Panics
    /// When loopback offers no port or no thread can be started.
    pub fn start(steps: Vec<Step>) -> Self {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port on loopback");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        listener.set_nonblocking(true).expect("sockets can be non-blocking");
        let state = State {
            steps: steps.into(),
            models: vec!["test-model".to_owned()],
            requests: Vec::new(),
            violations: Vec::new(),
            ties: HashMap::new(),
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), arrived: Condvar::new() });
        let stop = CancellationToken::new();
        let thread = std::thread::Builder::new().name("model-server".to_owned()).spawn({
            let (shared, stop) = (Arc::clone(&shared), stop.clone());
            move || run(listener, &shared, &stop)
        });
        Self { port, shared, stop, thread: Some(thread.expect("threads can be started")) }
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Base URL as OpenAI's documents write it, with `/v1`.
    pub fn openai_base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Base URL as Anthropic's documents write it, without `/v1`.
    pub fn anthropic_base_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Adds a step at the end of the script.
    pub fn push(&self, step: Step) {
        self.shared.state().steps.push_back(step);
    }

    /// Sets the ids that `GET …/models` lists; `test-model` unless set.
    pub fn offer_models(&self, ids: &[&str]) {
        self.shared.state().models = ids.iter().map(|id| (*id).to_owned()).collect();
    }

    /// All requests so far, in the order of arrival, listings of models included.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.state().requests.clone()
    }

    /// What was wrong with the requests so far; empty when all was well.
    pub fn violations(&self) -> Vec<String> {
        self.shared.state().violations.clone()
    }

    /// Steps that no request has taken yet.
    pub fn steps_left(&self) -> usize {
        self.shared.state().steps.len()
    }

    /// Waits until `n` requests have arrived; false when that takes longer than `limit`. Blocks the thread: in an async
    /// test the client must run on another one.
    pub fn wait_for_requests(&self, n: usize, limit: Duration) -> bool {
        let enough = |state: &mut State| state.requests.len() < n;
        let waited = self.shared.arrived.wait_timeout_while(self.shared.state(), limit, enough);
        waited.unwrap_or_else(PoisonError::into_inner).0.requests.len() >= n
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stop.cancel();
        // A panic of the server thread has been printed; a second one here would end the test run.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn run(listener: std::net::TcpListener, shared: &Arc<Shared>, stop: &CancellationToken) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener).expect("a non-blocking listener");
        let accept = async {
            loop {
                if let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, Arc::clone(shared)));
                }
            }
        };
        // Connections end with the runtime.
        tokio::select! {
            () = stop.cancelled() => {}
            () = accept => {}
        }
    });
}

/// Serves one connection to its end. Clients leave at any time, so an error of the socket just ends it.
async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // Without it small pieces wait for each other.
    let _ = stream.set_nodelay(true);
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    while let Ok(Some(request)) = http::read_request(&mut reader, &mut writer).await {
        let closes = request.closes();
        let reply = shared.reply(request);
        match send(reply, &mut reader, &mut writer).await {
            Ok(Connection::Kept) if !closes => {}
            Ok(Connection::Kept | Connection::Done) | Err(_) => return,
        }
    }
}

/// What becomes of a connection after a reply.
enum Connection {
    Kept,
    Done,
}

async fn send(
    reply: Reply,
    reader: &mut BufReader<OwnedReadHalf>,
    writer: &mut OwnedWriteHalf,
) -> io::Result<Connection> {
    match reply {
        Reply::Refuse => {
            writer.as_ref().set_zero_linger()?;
            Ok(Connection::Done)
        }
        Reply::Whole { status, headers, body } => {
            http::write_whole(writer, status, &headers, &body).await?;
            Ok(Connection::Kept)
        }
        Reply::Stream { headers, actions } => {
            http::write_chunked_head(writer, &headers).await?;
            for action in actions {
                let wait = match action {
                    Action::Send(text) => {
                        http::write_chunk(writer, &text).await?;
                        continue;
                    }
                    Action::Cut => return Ok(Connection::Done),
                    Action::Pause(pause) => Wait::Pause(pause),
                    Action::Pass(gate) => Wait::Gate(gate),
                    Action::Hang => Wait::Forever,
                };
                tokio::select! {
                    () = wait.over() => {}
                    () = client_left(reader) => return Ok(Connection::Done),
                }
            }
            http::write_last_chunk(writer).await?;
            Ok(Connection::Kept)
        }
    }
}

enum Wait {
    Pause(Duration),
    Gate(step::GateEnd),
    Forever,
}

impl Wait {
    async fn over(self) {
        match self {
            Self::Pause(pause) => tokio::time::sleep(pause).await,
            Self::Gate(gate) => gate.pass().await,
            Self::Forever => std::future::pending().await,
        }
    }
}

/// Ends when the client closes the connection. Bytes of a further request are left where they are.
async fn client_left(reader: &mut BufReader<OwnedReadHalf>) {
    if reader.fill_buf().await.is_ok_and(|bytes| !bytes.is_empty()) {
        std::future::pending::<()>().await;
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reply(&self, request: http::Request) -> Reply {
        let reply = self.state().reply(request);
        self.arrived.notify_all();
        reply
    }
}

impl State {
    /// Records and checks a request, and takes the next step for it.
    fn reply(&mut self, request: http::Request) -> Reply {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        let recorded = Recorded {
            method: request.method,
            path: request.path,
            headers: request.headers,
            body,
            body_bytes: request.body,
            time: Instant::now(),
        };
        let number = self.requests.len() + 1;
        let reply = match (recorded.method.as_str(), Dialect::of_path(&recorded.path)) {
            ("POST", Some(dialect)) => self.answer(dialect, &recorded, number),
            ("GET", None) if recorded.path.ends_with("/models") => self.list_models(),
            (method, _) => {
                let path = &recorded.path;
                self.violations.push(format!("request {number}: {method} {path} is not served"));
                let error =
                    json!({"type": "not_found_error", "message": "The test server has no such path."});
                Reply::json(404, Vec::new(), &json!({"type": "error", "error": error}))
            }
        };
        self.requests.push(recorded);
        reply
    }

    fn answer(&mut self, dialect: Dialect, recorded: &Recorded, number: usize) -> Reply {
        let seen = Seen { headers: &recorded.headers, body: &recorded.body, ties: &self.ties };
        let findings = match dialect {
            Dialect::Messages => anthropic::check(seen),
            Dialect::Chat => chat::check(seen),
            Dialect::Responses => responses::check(seen),
        };
        let place = format!("request {number} ({})", recorded.path);
        self.violations.extend(findings.into_iter().map(|finding| format!("{place}: {finding}")));
        let step = self.steps.pop_front().unwrap_or_else(|| {
            let text = "the script of the test server is at its end, no further request was expected";
            self.violations.push(format!("{place}: {text}"));
            Step::status(500).message(text).header("x-should-retry", "false")
        });
        let asked = Asked {
            number,
            model: check::text(&recorded.body["model"]),
            include_usage: recorded.body["stream_options"]["include_usage"] == true,
        };
        let (reply, ties) = answer::reply(dialect, &step, asked);
        self.ties.extend(ties);
        reply
    }

    fn list_models(&self) -> Reply {
        // Both shapes in one: OpenAI's clients look at `object`, Anthropic's at `type`.
        let entry = |id: &String| {
            let mut entry = json!({"id": id, "object": "model", "created": 0, "owned_by": "test"});
            entry["type"] = "model".into();
            entry["display_name"] = id.as_str().into();
            entry
        };
        let data: Vec<Value> = self.models.iter().map(entry).collect();
        Reply::json(200, Vec::new(), &json!({"object": "list", "data": data, "has_more": false}))
    }
}
