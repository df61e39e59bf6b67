//! The process's HTTP clients: one for this machine, one for everything else. Both are made on first use, because reading
//! the system's certificates takes time that a local model need not pay.

use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{Client, ClientBuilder, StatusCode, Url};
use std::error::Error;
use std::sync::OnceLock;
use std::time::Duration;

const CONNECT_TIME: Duration = Duration::from_secs(15);

static LOCAL: OnceLock<Client> = OnceLock::new();
static REMOTE: OnceLock<Client> = OnceLock::new();

/// The client for this address.
pub fn for_url(url: &Url) -> Result<Client, reqwest::Error> {
    let (cell, builder): (_, fn() -> ClientBuilder) =
        if is_local(url) { (&LOCAL, local) } else { (&REMOTE, common) };
    if let Some(client) = cell.get() {
        return Ok(client.clone());
    }
    // Fails only if another thread was first; then that provider serves as well as ours.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = builder().build()?;
    Ok(cell.get_or_init(|| client).clone())
}

/// Plain HTTP on this machine: needs no certificates, and no proxy could reach it.
fn local() -> ClientBuilder {
    common().tls_certs_only([]).no_proxy()
}

fn common() -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("mynah/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIME)
        .redirect(Policy::custom(redirect))
        .referer(false)
        .retry(reqwest::retry::never())
}

fn is_local(url: &Url) -> bool {
    let is_loopback = match url.host_str() {
        Some("localhost") => true,
        Some(host) => host
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback()),
        None => false,
    };
    url.scheme() == "http" && is_loopback
}

/// Follows only within the same origin, so that no other host gets the key (`x-api-key` and a user's own headers are not
/// taken off by the HTTP library), and only where the request stays a POST with its body.
fn redirect(attempt: Attempt<'_>) -> Action {
    let keeps_body =
        matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let same_origin = attempt.previous().last().is_some_and(|from| from.origin() == attempt.url().origin());
    if keeps_body && same_origin && attempt.previous().len() <= 5 { attempt.follow() } else { attempt.stop() }
}

/// What is behind an error of the HTTP library: its innermost cause, without the address.
pub fn cause(error: &reqwest::Error) -> String {
    if error.is_timeout() && error.is_connect() {
        return format!("no connection within {} s", CONNECT_TIME.as_secs());
    }
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    if let Some(error) = innermost.downcast_ref::<std::io::Error>()
        && error.kind() == std::io::ErrorKind::UnexpectedEof
    {
        return "the other side closed it early".to_owned();
    }
    without_number(&innermost.to_string()).to_owned()
}

/// The number that Rust puts behind an error of the operating system says nothing to people.
fn without_number(text: &str) -> &str {
    text.split_once(" (os error ").map_or(text, |(words, _)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_are_words() {
        let refused = std::io::Error::from_raw_os_error(rustix::io::Errno::CONNREFUSED.raw_os_error());
        assert!(refused.to_string().contains("os error"));
        assert_eq!(without_number(&refused.to_string()), "Connection refused");
        assert_eq!(without_number("no route"), "no route");
    }

    #[test]
    fn only_plain_http_on_this_machine_is_local() {
        for (url, local) in [
            ("http://127.0.0.1:8080/v1", true),
            ("http://localhost/v1", true),
            ("http://[::1]:1/v1", true),
            ("https://localhost/v1", false),
            ("http://192.168.1.4/v1", false),
            ("http://localhost.example.org/v1", false),
        ] {
            assert_eq!(is_local(&Url::parse(url).unwrap()), local, "{url}");
        }
    }
}
