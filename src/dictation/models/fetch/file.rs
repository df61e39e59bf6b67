//! One file of a model, gone on with where an earlier try ended.

use super::super::shelf::{Seal, beside, hexadecimal, read_into};
use super::super::table::Part;
use super::{FetchError, disk, is_loopback, is_safe};
use crate::dictation::transcriber::Cancel;
use crate::llm::http_client;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, LOCATION, RANGE};
use reqwest::{Response, StatusCode, Url};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A connection that gives nothing for this long is given up.
const SILENCE: Duration = Duration::from_secs(30);
/// How soon a stop is noticed while nothing comes.
const STOP_WITHIN: Duration = Duration::from_millis(100);
/// A connection that ended early is made again this often, as long as something came each time.
const TRIES: usize = 4;
const REDIRECTS: usize = 6;

/// What is asked for, and where it goes.
pub(super) struct Asked<'a> {
    /// The host of models.
    pub host: &'a Url,
    /// Owner and name.
    pub repository: &'a str,
    /// Branch, tag or commit.
    pub revision: &'a str,
    /// The file.
    pub part: &'a Part,
    /// Where it goes.
    pub path: PathBuf,
}

/// What the host says about a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Facts {
    /// Changes when the file does.
    tag: Option<String>,
    /// Bytes of the whole.
    size: Option<u64>,
}

impl Facts {
    /// Large files are tagged with their checksum.
    fn sha256(&self) -> Option<&str> {
        self.tag.as_deref().filter(|tag| tag.len() == 64 && tag.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }

    fn add(&mut self, headers: &HeaderMap) {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        // The host's own words win over those of the store that it sends us to.
        let tag = text("x-linked-etag").or_else(|| self.tag.is_none().then(|| text(ETAG.as_str())).flatten());
        if let Some(tag) = tag {
            self.tag = Some(tag.trim_start_matches("W/").trim_matches('"').to_owned());
        }
        if let Some(size) = text("x-linked-size").and_then(|size| size.parse().ok()) {
            self.size = Some(size);
        }
    }
}

/// How far a file has come.
struct Half {
    path: PathBuf,
    note: PathBuf,
}

impl Half {
    fn of(path: &Path) -> Self {
        Self { path: beside(path, "part"), note: beside(path, "part-of") }
    }

    /// Bytes that came of the file with this tag; none where it is not known which file they were of.
    fn read(&self) -> (u64, Option<String>) {
        let length = fs::metadata(&self.path).map_or(0, |facts| facts.len());
        match fs::read_to_string(&self.note) {
            Ok(tag) if length > 0 => (length, Some(tag)),
            _ => (0, None),
        }
    }

    fn forget(&self) -> io::Result<()> {
        for file in [&self.note, &self.path] {
            match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Fetches a file unless it is here, and tells its size. `room` refuses what has no room; `progress` gets bytes so far
/// and in all.
pub(super) async fn fetch(
    asked: &Asked<'_>,
    room: &dyn Fn(u64) -> Result<(), FetchError>,
    cancel: &Cancel,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<u64, FetchError> {
    if let Some(size) = whole(&asked.path) {
        return Ok(size);
    }
    if let Some(folder) = asked.path.parent() {
        fs::create_dir_all(folder).map_err(|error| disk(&folder.display().to_string(), &error))?;
    }
    let half = Half::of(&asked.path);
    let mut tries = 0;
    loop {
        let before = half.read().0;
        tries += 1;
        match attempt(asked, &half, room, cancel, progress).await {
            Ok(Some(size)) => return Ok(size),
            // What we had was of another file, and is forgotten.
            Ok(None) if tries < TRIES => {}
            Ok(None) => return Err(cut(asked, "it keeps changing on the host", 0)),
            Err(FetchError::Cut { kept, .. }) if tries < TRIES && kept > before => {}
            Err(error) => return Err(error),
        }
    }
}

fn whole(path: &Path) -> Option<u64> {
    let seal = Seal::read(path)?;
    fs::metadata(path).ok().map(|facts| facts.len()).filter(|length| *length == seal.size)
}

/// One connection. `None`: what we had is no part of what the host has now.
async fn attempt(
    asked: &Asked<'_>,
    half: &Half,
    room: &dyn Fn(u64) -> Result<(), FetchError>,
    cancel: &Cancel,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Option<u64>, FetchError> {
    let name = half.path.display().to_string();
    let failed = |error: io::Error| disk(&name, &error);
    let (mut done, tag) = half.read();
    let (response, mut facts) = ask(asked, done, cancel).await?;
    let is_same = tag.is_some() && tag == facts.tag;
    match response.status() {
        StatusCode::PARTIAL_CONTENT => {
            let (start, size) = content_range(response.headers());
            facts.size = facts.size.or(size);
            if !is_same || start != Some(done) || facts.size.is_some_and(|size| size < done) {
                half.forget().map_err(failed)?;
                return Ok(None);
            }
        }
        StatusCode::RANGE_NOT_SATISFIABLE => {
            // All of it had come, and only its check was left.
            if is_same && facts.size == Some(done) {
                return finish(asked, half, &facts, hash_so_far(half, done, cancel)?, done).map(Some);
            }
            half.forget().map_err(failed)?;
            return Ok(None);
        }
        _ => {
            // From the beginning: the host does not do parts, or we had none.
            half.forget().map_err(failed)?;
            done = 0;
            facts.size = facts.size.or_else(|| response.content_length());
        }
    }
    let expected = facts.size.unwrap_or(asked.part.size);
    room(expected.saturating_sub(done))?;
    if let Some(tag) = &facts.tag {
        fs::write(&half.note, tag).map_err(failed)?;
    }
    let mut hash = hash_so_far(half, done, cancel)?;
    let mut file = File::options().create(true).append(true).open(&half.path).map_err(failed)?;
    progress(done, expected);
    let ended = receive(response, cancel, |bytes| {
        file.write_all(bytes)?;
        hash.update(bytes);
        done += bytes.len() as u64;
        progress(done, expected);
        Ok(())
    })
    .await;
    match ended {
        Ok(()) => {}
        Err(Stopped::Cancelled) => return Err(FetchError::Cancelled),
        Err(Stopped::Disk(error)) => return Err(failed(error)),
        Err(Stopped::Network(why)) => return Err(cut(asked, &why, done)),
    }
    if facts.size.is_some_and(|size| size != done) {
        return Err(cut(asked, "the connection ended early", done));
    }
    file.sync_all().map_err(failed)?;
    finish(asked, half, &facts, hash, done).map(Some)
}

/// Checks what came and gives it its name.
fn finish(asked: &Asked<'_>, half: &Half, facts: &Facts, hash: Sha256, size: u64) -> Result<u64, FetchError> {
    let name = asked.path.display().to_string();
    let failed = |error: io::Error| disk(&name, &error);
    let found = hexadecimal(&hash.finalize());
    for expected in asked.part.sha256.as_deref().into_iter().chain(facts.sha256()) {
        if !expected.eq_ignore_ascii_case(&found) {
            half.forget().map_err(failed)?;
            let (what, expected) = (asked.part.name.clone(), expected.to_owned());
            return Err(FetchError::Checksum { what, found, expected });
        }
    }
    // The seal goes first: without its file it says nothing, while a file without its seal would have to be fetched
    // anew.
    Seal { sha256: found, size }.write(&asked.path).map_err(failed)?;
    fs::rename(&half.path, &asked.path).map_err(failed)?;
    half.forget().map_err(failed)?;
    Ok(size)
}

fn hash_so_far(half: &Half, done: u64, cancel: &Cancel) -> Result<Sha256, FetchError> {
    let mut hash = Sha256::new();
    if done > 0 {
        let failed = |error: io::Error| disk(&half.path.display().to_string(), &error);
        let mut file = File::open(&half.path).map_err(failed)?;
        if !read_into(&mut file, &mut hash, cancel).map_err(failed)? {
            return Err(FetchError::Cancelled);
        }
    }
    Ok(hash)
}

enum Stopped {
    Cancelled,
    Disk(io::Error),
    Network(String),
}

async fn receive(
    mut response: Response,
    cancel: &Cancel,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), Stopped> {
    loop {
        let next = or_cancelled(response.chunk(), cancel).await?;
        match next.map_err(|error| Stopped::Network(http_client::cause(&error)))? {
            Some(bytes) => take(&bytes).map_err(Stopped::Disk)?,
            None => return Ok(()),
        }
    }
}

/// Waits for it, but not for ever, and not longer than it is wanted.
async fn or_cancelled<T>(work: impl Future<Output = T>, cancel: &Cancel) -> Result<T, Stopped> {
    let mut work = std::pin::pin!(work);
    let since = Instant::now();
    loop {
        if cancel.is_cancelled() {
            return Err(Stopped::Cancelled);
        }
        match tokio::time::timeout(STOP_WITHIN, &mut work).await {
            Ok(done) => return Ok(done),
            Err(_not_yet) if since.elapsed() > SILENCE => {
                return Err(Stopped::Network(format!("nothing came for {} s", SILENCE.as_secs())));
            }
            Err(_not_yet) => {}
        }
    }
}

/// Asks for what is missing and follows to where the host sends us.
async fn ask(asked: &Asked<'_>, from: u64, cancel: &Cancel) -> Result<(Response, Facts), FetchError> {
    let what = || asked.part.name.clone();
    let mut url = url(asked)?;
    let mut facts = Facts::default();
    for _ in 0..REDIRECTS {
        let host = url.host_str().unwrap_or_default().to_owned();
        let lost = |why: String| cut(asked, &why, from);
        let client = http_client::for_url(&url).map_err(|error| lost(http_client::cause(&error)))?;
        let mut request = client.get(url.clone()).header(ACCEPT_ENCODING, "identity");
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
        }
        let response = match or_cancelled(request.send(), cancel).await {
            Ok(sent) => sent.map_err(|error| lost(http_client::cause(&error)))?,
            Err(Stopped::Network(why)) => return Err(lost(why)),
            Err(_) => return Err(FetchError::Cancelled),
        };
        facts.add(response.headers());
        let status = response.status();
        if status.is_redirection() {
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let next = location.and_then(|location| url.join(location).ok());
            let next =
                next.ok_or_else(|| FetchError::Status { host, what: what(), status: status.as_u16() })?;
            let stays_here = is_loopback(&url) && url.scheme() == "http";
            if !is_safe(&next) || (next.scheme() == "http" && !stays_here) {
                let host = url.host_str().unwrap_or_default().to_owned();
                return Err(FetchError::Redirect { host, what: what() });
            }
            url = next;
            continue;
        }
        return check(response, &host, asked).map(|response| (response, facts));
    }
    Err(cut(asked, "the host sends us round in circles", from))
}

fn check(response: Response, host: &str, asked: &Asked<'_>) -> Result<Response, FetchError> {
    let (host, what) = (host.to_owned(), asked.part.name.clone());
    let status = response.status();
    match status {
        StatusCode::NOT_FOUND | StatusCode::GONE => {
            Err(FetchError::NotFound { host, what: format!("{} of {}", what, asked.repository) })
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Err(FetchError::Denied { host, what, status: status.as_u16() })
        }
        StatusCode::RANGE_NOT_SATISFIABLE => Ok(response),
        StatusCode::OK | StatusCode::PARTIAL_CONTENT => {
            let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
            if kind.is_some_and(|kind| kind.trim_start().starts_with("text/html")) {
                return Err(FetchError::Page { host, what });
            }
            Ok(response)
        }
        _ => Err(FetchError::Status { host, what, status: status.as_u16() }),
    }
}

fn url(asked: &Asked<'_>) -> Result<Url, FetchError> {
    let host = asked.host.as_str().trim_end_matches('/');
    let text = format!("{host}/{}/resolve/{}/{}", asked.repository, asked.revision, asked.part.name);
    Url::parse(&text).map_err(|_no_url| FetchError::Host(text))
}

/// Where the part begins, and the size of the whole: `bytes 5-9/10`.
fn content_range(headers: &HeaderMap) -> (Option<u64>, Option<u64>) {
    let text = headers.get(CONTENT_RANGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let range = text.trim_start_matches("bytes ");
    let start = range.split('-').next().and_then(|start| start.parse().ok());
    (start, range.rsplit('/').next().and_then(|size| size.parse().ok()))
}

fn cut(asked: &Asked<'_>, why: &str, kept: u64) -> FetchError {
    FetchError::Cut { what: asked.part.name.clone(), why: why.to_owned(), kept }
}
