//! Looks for model servers on this machine: one `GET /v1/models` each, all at once, 300 ms at most.
//!
//! The ports are also those of many other programs, so an answer counts only if it has the shape of a model list, and
//! nothing but this one question is ever sent to find out. Only loopback addresses are asked.
//!
//! The request is HTTP/1.0, written by hand: an HTTP client would load certificates first, which takes longer than
//! all the answers.

use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// How long a server may take to answer.
pub const PROBE_LIMIT: Duration = Duration::from_millis(300);

/// A model list is far smaller; other programs may send pages without end.
const ANSWER_LIMIT: u64 = 1 << 20;

/// A server that may be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Provider id.
    pub provider: String,
    /// Base URL with `/v1`, on a loopback host.
    pub base_url: String,
}

/// A server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Who.
    pub candidate: Candidate,
    /// Its models that can hold a conversation, in its order; never empty.
    pub models: Vec<LocalModel>,
}

/// A model of a local server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalModel {
    /// Its id.
    pub id: String,
    /// Tokens that fit, where the server says so.
    pub context_window: Option<u64>,
}

/// Asks all candidates; those that answered in time come back in the order of the candidates.
pub async fn look(candidates: Vec<Candidate>, limit: Duration) -> Vec<Found> {
    let mut asking = JoinSet::new();
    for (place, candidate) in candidates.into_iter().enumerate() {
        asking.spawn(async move {
            let answer = tokio::time::timeout(limit, ask(&candidate.base_url)).await.ok()??;
            let models = parse_models(&answer).filter(|models| !models.is_empty())?;
            Some((place, Found { candidate, models }))
        });
    }
    let mut found: Vec<(usize, Found)> = asking.join_all().await.into_iter().flatten().collect();
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, found)| found).collect()
}

/// The body of the answer. No server, no success, no text: nothing is found, and why does not matter.
async fn ask(base_url: &str) -> Option<String> {
    let url = reqwest::Url::parse(&format!("{base_url}/models")).ok().filter(super::url::is_loopback)?;
    let host = url.host_str()?;
    let port = url.port_or_known_default()?;
    if url.scheme() != "http" {
        return None;
    }
    let mut stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await.ok()?;
    let request = format!(
        "GET {} HTTP/1.0\r\nHost: {host}:{port}\r\nAccept: application/json\r\nConnection: close\r\n\r\n",
        url.path()
    );
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    stream.take(ANSWER_LIMIT).read_to_end(&mut answer).await.ok()?;
    let answer = String::from_utf8(answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?;
    (status == "200").then(|| body.to_owned())
}

/// The models of a list, or nothing if this is no model list.
fn parse_models(body: &str) -> Option<Vec<LocalModel>> {
    let list: Value = serde_json::from_str(body).ok()?;
    if list.get("object")? != "list" {
        return None;
    }
    let models = list.get("data")?.as_array()?.iter().map(|entry| {
        let is_model = entry.get("object")? == "model";
        let id = entry.get("id")?.as_str().filter(|id| is_model && !id.is_empty())?;
        // vLLM, then llama.cpp, then LM Studio.
        let window = ["/max_model_len", "/meta/n_ctx", "/max_context_length"];
        let window =
            window.iter().find_map(|place| entry.pointer(place)?.as_u64()).filter(|window| *window > 0);
        Some(LocalModel { id: id.to_owned(), context_window: window })
    });
    let models: Option<Vec<LocalModel>> = models.collect();
    Some(models?.into_iter().filter(|model| !is_for_embeddings(&model.id)).collect())
}

fn is_for_embeddings(id: &str) -> bool {
    let id = id.to_ascii_lowercase();
    ["embed", "rerank"].iter().any(|word| id.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;
    use tokio::net::TcpListener;

    const LIST: &str = r#"{"object":"list","data":[
        {"id":"nomic-embed-text","object":"model"},
        {"id":"qwen3:8b","object":"model","owned_by":"library"},
        {"id":"big","object":"model","max_model_len":32768}]}"#;

    /// A server that answers every connection with the same bytes, or never.
    async fn server(answer: Option<String>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let mut waiting = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let Some(answer) = &answer else {
                    waiting.push(stream);
                    continue;
                };
                let mut request = [0; 1024];
                let read = stream.read(&mut request).await.unwrap();
                assert!(request[..read].starts_with(b"GET /v1/models HTTP/1.0\r\n"));
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        address
    }

    fn ok(body: &str) -> Option<String> {
        Some(format!("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{body}"))
    }

    fn candidate(provider: &str, address: SocketAddr) -> Candidate {
        Candidate { provider: provider.to_owned(), base_url: format!("http://{address}/v1") }
    }

    #[tokio::test]
    async fn servers_are_found_in_order_and_others_are_left_alone() {
        let not_there = {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            listener.local_addr().unwrap()
        };
        let candidates = vec![
            candidate("gone", not_there),
            candidate("page", server(ok("<html>hello</html>")).await),
            candidate("first", server(ok(LIST)).await),
            candidate("error", server(Some("HTTP/1.1 404 Not Found\r\n\r\n{}".to_owned())).await),
            candidate("empty", server(ok(r#"{"object":"list","data":[]}"#)).await),
            candidate("second", server(ok(LIST)).await),
        ];
        let found = look(candidates, Duration::from_secs(10)).await;
        assert_eq!(
            found.iter().map(|found| found.candidate.provider.as_str()).collect::<Vec<_>>(),
            ["first", "second"]
        );
        let models: Vec<_> =
            found[0].models.iter().map(|model| (model.id.as_str(), model.context_window)).collect();
        assert_eq!(models, [("qwen3:8b", None), ("big", Some(32_768))]);
    }

    #[tokio::test]
    async fn a_silent_server_costs_no_more_than_the_limit() {
        let silent = server(None).await;
        let found = look(vec![candidate("silent", silent)], Duration::from_millis(20)).await;
        assert_eq!(found, []);
    }

    #[tokio::test]
    async fn only_loopback_addresses_are_asked() {
        for base_url in ["http://example.org/v1", "https://127.0.0.1:1/v1", "nonsense"] {
            assert_eq!(ask(base_url).await, None, "{base_url}");
        }
    }

    #[test]
    fn only_a_model_list_is_a_model_list() {
        for body in [
            "",
            "[]",
            "{}",
            r#"{"object":"list"}"#,
            r#"{"object":"list","data":{}}"#,
            r#"{"data":[{"id":"a","object":"model"}]}"#,
            r#"{"object":"list","data":[{"id":"a","object":"user"}]}"#,
            r#"{"object":"list","data":[{"id":7,"object":"model"}]}"#,
            r#"{"object":"list","data":["a"]}"#,
        ] {
            assert_eq!(parse_models(body), None, "{body}");
        }
        let llama = r#"{"object":"list","data":[{"id":"m.gguf","object":"model","meta":{"n_ctx":8192,"n_ctx_train":131072}}]}"#;
        assert_eq!(parse_models(llama).unwrap()[0].context_window, Some(8192));
    }
}
