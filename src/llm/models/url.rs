//! What a base URL tells: whose host it is, whether it is this machine.

use reqwest::Url;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The host is this machine.
pub fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let host = host.trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The first URL's host is the second's, or a part of it (`eu.api.example.org` of `api.example.org`).
pub fn is_same_house(url: &str, own: &str) -> bool {
    let host = |text: &str| Url::parse(text).ok().and_then(|url| Some(url.host_str()?.to_owned()));
    match (host(url), host(own)) {
        (Some(host), Some(own)) => {
            host == own || host.strip_suffix(&own).is_some_and(|rest| rest.ends_with('.'))
        }
        _ => false,
    }
}

/// The base URL of a local server from what people write into a variable: `host`, `:port`, `host:port`, `0.0.0.0`, or
/// a URL with or without a path. What is missing comes from `usual`. `None` if it is no address.
pub fn of_server(text: &str, usual: &str) -> Option<String> {
    let usual = Url::parse(usual).ok()?;
    let text = text.trim();
    let has_scheme = text.contains("://");
    let text = match text.strip_prefix(':') {
        Some(port) => format!("http://127.0.0.1:{port}"),
        None if has_scheme => text.to_owned(),
        None => format!("http://{text}"),
    };
    let mut url = Url::parse(&text).ok()?;
    if !has_scheme && url.port().is_none() {
        url.set_port(usual.port()).ok()?;
    }
    // "All addresses" is where a server listens, not where it can be reached.
    match url.host_str()?.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(IpAddr::V4(Ipv4Addr::UNSPECIFIED)) => url.set_host(Some("127.0.0.1")).ok()?,
        Ok(IpAddr::V6(Ipv6Addr::UNSPECIFIED)) => url.set_host(Some("[::1]")).ok()?,
        Ok(_) | Err(_) => {}
    }
    if url.path() == "/" {
        url.set_path(usual.path());
    }
    Some(url.as_str().trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_told_from_others() {
        for (url, expected) in [
            ("http://127.0.0.1:1/v1", true),
            ("http://localhost/v1", true),
            ("http://[::1]:8080", true),
            ("http://127.8.8.8", true),
            ("http://192.168.0.2", false),
            ("https://localhost.example.org", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn regions_belong_to_the_house_and_lookalikes_do_not() {
        let own = "https://api.openai.com/v1";
        for (url, expected) in [
            ("https://api.openai.com", true),
            ("https://eu.api.openai.com/v1", true),
            ("https://evilapi.openai.com.example/v1", false),
            ("https://notapi.openai.com/v1", false),
            ("http://127.0.0.1:1/v1", false),
            ("nonsense", false),
        ] {
            assert_eq!(is_same_house(url, own), expected, "{url}");
        }
    }

    #[test]
    fn addresses_of_servers_are_completed() {
        for (text, expected) in [
            ("127.0.0.1", Some("http://127.0.0.1:11434/v1")),
            ("0.0.0.0:1234", Some("http://127.0.0.1:1234/v1")),
            ("[::]", Some("http://[::1]:11434/v1")),
            (":9", Some("http://127.0.0.1:9/v1")),
            ("box", Some("http://box:11434/v1")),
            ("http://box", Some("http://box/v1")),
            ("https://box/ollama/", Some("https://box/ollama")),
            ("http://box:8080/v1/", Some("http://box:8080/v1")),
            ("", None),
            ("a b", None),
        ] {
            assert_eq!(of_server(text, "http://127.0.0.1:11434/v1").as_deref(), expected, "{text}");
        }
    }
}
