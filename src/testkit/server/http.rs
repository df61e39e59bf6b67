//! As much of HTTP/1.1 as a test server needs: requests with either kind of body, whole and chunked responses.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Error, ErrorKind, Result};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// A request as it came.
#[derive(Debug)]
pub(super) struct Request {
    pub method: String,
    /// Without the query.
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    /// The client will not use the connection again.
    pub fn closes(&self) -> bool {
        self.headers.get("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// Reads the next request; `None` when the client has left.
pub(super) async fn read_request(
    reader: &mut (impl AsyncBufRead + Unpin),
    writer: &mut (impl AsyncWrite + Unpin),
) -> Result<Option<Request>> {
    let first = read_line(reader).await?;
    if first.is_empty() {
        return Ok(None);
    }
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(Error::new(ErrorKind::InvalidData, "no request line"));
    };
    let mut headers = BTreeMap::new();
    loop {
        let line = read_line(reader).await?;
        if line.is_empty() {
            break;
        }
        let (name, value) =
            line.split_once(':').ok_or_else(|| Error::new(ErrorKind::InvalidData, "no header line"))?;
        headers.insert(name.trim().to_lowercase(), value.trim().to_owned());
    }
    if headers.get("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    let body = if headers.get("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
        read_chunks(reader).await?
    } else {
        let length = headers.get("content-length").map_or(Ok(0), |value| value.parse());
        let length = length.map_err(|source| Error::new(ErrorKind::InvalidData, source))?;
        let mut body = vec![0; length];
        reader.read_exact(&mut body).await?;
        body
    };
    let path = target.split('?').next().unwrap_or_default().to_owned();
    Ok(Some(Request { method: method.to_owned(), path, headers, body }))
}

async fn read_chunks(reader: &mut (impl AsyncBufRead + Unpin)) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(reader).await?;
        let size = line.split(';').next().unwrap_or_default();
        let size = usize::from_str_radix(size.trim(), 16)
            .map_err(|source| Error::new(ErrorKind::InvalidData, source))?;
        let start = body.len();
        body.resize(start + size, 0);
        if let Some(chunk) = body.get_mut(start..) {
            reader.read_exact(chunk).await?;
        }
        read_line(reader).await?;
        if size == 0 {
            return Ok(body);
        }
    }
}

/// A line without its end; empty at the end of the stream.
async fn read_line(reader: &mut (impl AsyncBufRead + Unpin)) -> Result<String> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).await?;
    let line = String::from_utf8(line).map_err(|source| Error::new(ErrorKind::InvalidData, source))?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// Writes a response with a body of known length.
pub(super) async fn write_whole(
    writer: &mut (impl AsyncWrite + Unpin),
    status: u16,
    headers: &[(String, String)],
    body: &str,
) -> Result<()> {
    let mut text = head(status, headers);
    // Writing to a string cannot fail.
    let _ = write!(text, "content-length: {}\r\n\r\n{body}", body.len());
    writer.write_all(text.as_bytes()).await
}

/// Writes the head of a chunked response.
pub(super) async fn write_chunked_head(
    writer: &mut (impl AsyncWrite + Unpin),
    headers: &[(String, String)],
) -> Result<()> {
    let text = head(200, headers) + "transfer-encoding: chunked\r\n\r\n";
    writer.write_all(text.as_bytes()).await
}

/// Writes one chunk.
pub(super) async fn write_chunk(writer: &mut (impl AsyncWrite + Unpin), text: &str) -> Result<()> {
    writer.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes()).await
}

/// Writes the chunk that ends a response.
pub(super) async fn write_last_chunk(writer: &mut (impl AsyncWrite + Unpin)) -> Result<()> {
    writer.write_all(b"0\r\n\r\n").await
}

fn head(status: u16, headers: &[(String, String)]) -> String {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        413 => "Payload Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Scripted",
    };
    let mut text = format!("HTTP/1.1 {status} {reason}\r\n");
    for (name, value) in headers {
        // Writing to a string cannot fail.
        let _ = write!(text, "{name}: {value}\r\n");
    }
    text
}
