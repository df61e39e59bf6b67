//! Fetching against a host on this machine that does what each case says.

#![allow(clippy::type_complexity, reason = "tables of cases")]

use super::super::shelf::beside;
use super::super::table::Part;
use super::*;
use crate::config::places::Places;
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What was asked: the path, and the first byte.
type Asked = (String, Option<u64>);

/// A host of models. Each connection is one request; what `answer` gives is written as it is, then it is closed.
struct Host {
    url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Host {
    fn start(answer: impl Fn(usize, &str, Option<u64>) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let log = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some((path, from)) = read_request(&stream) else { continue };
                let number = log.lock().unwrap().len();
                log.lock().unwrap().push((path.clone(), from));
                // A client that went away is what some cases are about.
                let _ = stream.write_all(&answer(number, &path, from));
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn read_request(stream: &TcpStream) -> Option<Asked> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    let path = first.split(' ').nth(1)?.to_owned();
    let mut from = None;
    for line in lines {
        let line = line.ok()?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(range) = line.strip_prefix("range: bytes=") {
            from = range.trim_end_matches('-').parse().ok();
        }
    }
    Some((path, from))
}

fn answer(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status}\r\nconnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !headers.iter().any(|(name, _)| *name == "content-length") {
        text.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    text.push_str("\r\n");
    [text.as_bytes(), body].concat()
}

/// A file as a good host gives it, from `from` on, and only `give` bytes of it.
fn file(body: &[u8], tag: &str, from: Option<u64>, give: usize) -> Vec<u8> {
    let tag = format!("\"{tag}\"");
    let start = from.map_or(0, |from| usize::try_from(from).unwrap());
    if start > 0 && start >= body.len() {
        let range = format!("bytes */{}", body.len());
        let size = body.len().to_string();
        return answer(
            "416 Range Not Satisfiable",
            &[("etag", &tag), ("content-range", &range), ("x-linked-size", &size)],
            b"",
        );
    }
    let rest = &body[start..];
    let length = rest.len().to_string();
    let range = format!("bytes {start}-{}/{}", body.len() - 1, body.len());
    let mut headers = vec![("etag", tag.as_str()), ("content-length", length.as_str())];
    if from.is_some() {
        headers.push(("content-range", &range));
    }
    let status = if from.is_some() { "206 Partial Content" } else { "200 OK" };
    answer(status, &headers, &rest[..give.min(rest.len())])
}

fn sum(body: &[u8]) -> String {
    super::super::shelf::hexadecimal(&Sha256::digest(body))
}

fn body() -> Vec<u8> {
    (0..200_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

struct Case {
    _home: tempfile::TempDir,
    fetcher: Fetcher,
    entry: Entry,
    path: PathBuf,
}

fn case(host: &str) -> Case {
    let home = tempfile::tempdir().unwrap();
    let places = Places {
        home: home.path().to_owned(),
        config: home.path().join("config"),
        state: home.path().join("state"),
        cache: home.path().join("cache"),
        run: home.path().join("run"),
    };
    let entry = Entry {
        name: "tiny".into(),
        title: "Tiny".into(),
        kind: "whisper".into(),
        repository: "me/tiny".into(),
        revision: "main".into(),
        files: vec![Part { name: "model.bin".into(), size: 200_000, sha256: None }],
        opens: None,
        licence: "MIT".into(),
        understands: "English".into(),
        languages: Vec::new(),
        memory_mb: 1,
        default_from_mb: None,
    };
    let shelf = Shelf::of(&places);
    let path = shelf.folder_of(&entry).join("model.bin");
    let fetcher = Fetcher { host: host.to_owned(), shelf, offline: false, free: None };
    Case { _home: home, fetcher, entry, path }
}

impl Case {
    fn fetch(&self) -> Result<Vec<(u64, u64)>, FetchError> {
        let mut progress = Vec::new();
        self.fetcher
            .fetch(&self.entry, &Cancel::default(), &mut |done, total| progress.push((done, total)))?;
        Ok(progress)
    }

    fn half(&self) -> u64 {
        fs::metadata(beside(&self.path, "part")).map_or(0, |facts| facts.len())
    }
}

#[test]
fn a_file_comes_with_its_checksum_and_once() {
    let host = Host::start(|_, _, from| file(&body(), &sum(&body()), from, usize::MAX));
    let case = case(&host.url);
    let progress = case.fetch().unwrap();
    assert_eq!(progress.last(), Some(&(200_000, 200_000)));
    assert!(progress.is_sorted());
    assert_eq!(fs::read(&case.path).unwrap(), body());
    let seal = fs::read_to_string(beside(&case.path, "sha256")).unwrap();
    assert_eq!(seal, format!("{} 200000\n", sum(&body())));
    assert!(case.fetcher.shelf.check_whole(&case.entry, &Cancel::default()).is_ok());
    case.fetch().unwrap();
    assert_eq!(host.asked(), [("/me/tiny/resolve/main/model.bin".to_owned(), None)]);
}

#[test]
fn a_cut_connection_is_gone_on_with() {
    let host = Host::start(|number, _, from| {
        file(&body(), &sum(&body()), from, if number < 2 { 70_000 } else { usize::MAX })
    });
    let case = case(&host.url);
    case.fetch().unwrap();
    let starts: Vec<_> = host.asked().into_iter().map(|(_, from)| from).collect();
    assert_eq!(starts.len(), 3);
    assert_eq!(starts[0], None);
    assert!(starts[1] > Some(0) && starts[2] > starts[1], "{starts:?}");
    assert_eq!(fs::read(&case.path).unwrap(), body());
}

#[test]
fn what_came_is_kept_for_the_next_try() {
    let host = Host::start(|number, _, from| match number {
        0 => file(&body(), &sum(&body()), from, 50_000),
        1 => answer("503 Busy", &[], b""),
        _ => file(&body(), &sum(&body()), from, usize::MAX),
    });
    let case = case(&host.url);
    let error = case.fetch().unwrap_err();
    assert!(error.to_string().contains("503"), "{error}");
    assert_eq!(error.failure(), VoiceFailure::Network);
    assert!(case.half() > 0 && !case.path.exists());
    assert!(case.fetcher.shelf.bytes_so_far(&case.entry) > 0);
    let progress = case.fetch().unwrap();
    assert!(progress[0].0 > 0, "bytes of the first try count: {:?}", progress[0]);
    assert_eq!(fs::read(&case.path).unwrap(), body());
    assert_eq!(case.half(), 0);
}

#[test]
fn a_file_that_changed_on_the_host_is_begun_anew() {
    let new: Vec<u8> = body().iter().map(|byte| byte ^ 1).collect();
    let (old_sum, new_sum) = (sum(&body()), sum(&new));
    let expected = new.clone();
    let host = Host::start(move |number, _, from| match number {
        0 => file(&body(), &old_sum, from, 50_000),
        1 => answer("500 Broken", &[], b""),
        _ => file(&new, &new_sum, from, usize::MAX),
    });
    let case = case(&host.url);
    case.fetch().unwrap_err();
    case.fetch().unwrap();
    assert_eq!(fs::read(&case.path).unwrap(), expected);
    assert_eq!(host.asked().last().unwrap().1, None, "from the beginning");
}

#[test]
fn a_damaged_file_is_thrown_away() {
    let host = Host::start(|_, _, from| file(&body(), &sum(b"other"), from, usize::MAX));
    let case = case(&host.url);
    let error = case.fetch().unwrap_err();
    assert!(matches!(&error, FetchError::Checksum { expected, .. } if *expected == sum(b"other")), "{error}");
    assert!(!case.path.exists() && case.half() == 0);
}

#[test]
fn a_given_checksum_counts_too() {
    let host = Host::start(|_, _, from| file(&body(), "no-checksum", from, usize::MAX));
    let mut case = case(&host.url);
    case.entry.files[0].sha256 = Some(sum(b"other"));
    assert!(matches!(case.fetch(), Err(FetchError::Checksum { .. })));
    case.entry.files[0].sha256 = Some(sum(&body()).to_uppercase());
    case.fetch().unwrap();
}

#[test]
fn a_file_that_had_come_whole_is_only_checked() {
    let host = Host::start(|_, _, from| file(&body(), &sum(&body()), from, usize::MAX));
    let case = case(&host.url);
    fs::create_dir_all(case.path.parent().unwrap()).unwrap();
    fs::write(beside(&case.path, "part"), body()).unwrap();
    fs::write(beside(&case.path, "part-of"), sum(&body())).unwrap();
    case.fetch().unwrap();
    assert_eq!(fs::read(&case.path).unwrap(), body());
    assert_eq!(host.asked().len(), 1);
}

#[test]
fn answers_that_are_no_model_are_told_apart() {
    type Is = fn(&FetchError) -> bool;
    let cases: [(&str, &[(&str, &str)], Is); 6] = [
        ("404 Not Found", &[], |error| matches!(error, FetchError::NotFound { .. })),
        ("401 Unauthorized", &[], |error| matches!(error, FetchError::Denied { status: 401, .. })),
        ("403 Forbidden", &[], |error| matches!(error, FetchError::Denied { status: 403, .. })),
        ("429 Too Many", &[], |error| matches!(error, FetchError::Status { status: 429, .. })),
        ("200 OK", &[("content-type", "text/html; charset=utf-8")], |error| {
            matches!(error, FetchError::Page { .. })
        }),
        ("302 Found", &[("location", "http://example.org/x")], |error| {
            matches!(error, FetchError::Redirect { .. })
        }),
    ];
    for (status, headers, is) in cases {
        let host = Host::start(move |_, _, _| answer(status, headers, b"<html>"));
        let case = case(&host.url);
        let error = case.fetch().unwrap_err();
        assert!(is(&error), "{status}: {error}");
        assert!(!case.path.exists() && case.half() == 0, "{status}");
    }
}

#[test]
fn the_hosts_words_hold_for_the_store_that_it_sends_us_to() {
    let host = Host::start(|_, path, from| {
        if path.starts_with("/store") {
            return file(&body(), "of-the-store", from, usize::MAX);
        }
        let tag = format!("\"{}\"", sum(b"another"));
        answer(
            "302 Found",
            &[("location", "/store/1"), ("x-linked-etag", &tag), ("x-linked-size", "200000")],
            b"",
        )
    });
    let error = case(&host.url).fetch().unwrap_err();
    assert!(
        matches!(&error, FetchError::Checksum { expected, .. } if *expected == sum(b"another")),
        "{error}"
    );
    assert_eq!(host.asked().len(), 2);
}

#[test]
fn no_answer_at_all_is_a_clear_text() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = case(&url).fetch().unwrap_err();
    assert!(error.to_string().contains("Connection refused"), "{error}");
    assert!(matches!(case("http://example.org").fetch(), Err(FetchError::Host(_))));
    assert!(matches!(case("nothing").fetch(), Err(FetchError::Host(_))));
}

#[test]
fn too_little_room_and_offline_ask_nobody() {
    let host = Host::start(|_, _, from| file(&body(), "x", from, usize::MAX));
    let mut case = case(&host.url);
    case.fetcher.free = Some(399_999);
    let error = case.fetch().unwrap_err();
    assert!(matches!(error, FetchError::Room { need: 400_000, free: 399_999, .. }), "{error}");
    assert_eq!(error.failure(), VoiceFailure::Disk);
    case.fetcher.offline = true;
    assert!(matches!(case.fetch(), Err(FetchError::Offline)));
    assert_eq!(host.asked(), []);
}

#[test]
fn a_larger_file_than_the_table_says_needs_its_room_too() {
    let host = Host::start(|_, _, from| file(&body(), "x", from, usize::MAX));
    let mut case = case(&host.url);
    case.entry.files[0].size = 10;
    case.fetcher.free = Some(100_000);
    assert!(matches!(case.fetch(), Err(FetchError::Room { need: 400_000, .. })));
}

#[test]
fn a_stop_ends_it_and_keeps_what_came() {
    let cancel = Cancel::default();
    let stop = cancel.clone();
    // Half of it has come when the rest is asked for.
    let host = Host::start(move |_, _, from| {
        if from.is_some() {
            stop.cancel();
        }
        file(&body(), &sum(&body()), from, 100_000)
    });
    let case = case(&host.url);
    let error = case.fetcher.fetch(&case.entry, &cancel, &mut |_, _| ()).unwrap_err();
    assert!(matches!(error, FetchError::Cancelled), "{error}");
    assert!(case.half() > 0);
}

#[test]
fn two_processes_fetch_it_once() {
    let host = Host::start(|_, _, from| file(&body(), &sum(&body()), from, usize::MAX));
    let case = case(&host.url);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| case.fetch().unwrap());
        }
    });
    assert_eq!(host.asked().len(), 1);
}

#[test]
fn a_folder_that_can_not_be_written_is_named() {
    let case = case("http://127.0.0.1:1");
    let folder = case.fetcher.shelf.folder().to_owned();
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    fs::write(&folder, "a file").unwrap();
    let error = case.fetch().unwrap_err();
    assert!(matches!(error, FetchError::Disk { .. }), "{error}");
    assert!(!error.to_string().contains("os error"), "{error}");
}
