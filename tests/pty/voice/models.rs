//! A model that is fetched from a host on this machine, with the user's consent.

use super::{bare, is_over, leave, open, random_model, spoken};
use crate::flows::wait_until;
use crate::pty::answer;
use mynah::testkit::home::Home;
use mynah::testkit::pty::Pty;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

/// A host of one model. The second half of its weights comes when it is let go.
struct Host {
    url: String,
    go: Sender<()>,
}

impl Host {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (go, held) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                serve(&stream.unwrap(), &held);
            }
        });
        Self { url, go }
    }
}

fn serve(mut stream: &TcpStream, held: &Receiver<()>) {
    let mut lines = BufReader::new(stream).lines();
    let Some(Ok(first)) = lines.next() else { return };
    let mut from = 0;
    for line in lines.by_ref() {
        let line = line.unwrap_or_default().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(range) = line.strip_prefix("range: bytes=") {
            from = range.trim_end_matches('-').parse().unwrap();
        }
    }
    let name =
        first.split(' ').nth(1).unwrap_or_default().trim_start_matches("/me/tiny/resolve/main/").to_owned();
    let Ok(body) = std::fs::read(random_model().join(&name)) else {
        let _gone =
            stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        return;
    };
    let (status, rest) =
        if from == 0 { ("200 OK", &body[..]) } else { ("206 Partial Content", &body[from..]) };
    let head = format!(
        "HTTP/1.1 {status}\r\netag: \"{name}-1\"\r\ncontent-length: {}\r\ncontent-range: bytes {from}-{}/{}\r\nconnection: close\r\n\r\n",
        rest.len(),
        body.len() - 1,
        body.len()
    );
    let (now, later) = rest.split_at(if name == "model.safetensors" { rest.len() / 2 } else { rest.len() });
    let _gone = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(now));
    if !later.is_empty() {
        // The test that is over lets nothing go any more.
        let _over = held.recv();
        let _gone = stream.write_all(later);
    }
}

/// The program with a table of speech models that names one at that host, and a source that says the sentence.
fn opened(home: &Home, host: &Host) -> Pty {
    let size = |name| std::fs::metadata(random_model().join(name)).unwrap().len();
    let files: Vec<String> =
        FILES.iter().map(|name| format!("{{ name = \"{name}\", size = {} }}", size(name))).collect();
    let table = format!(
        "[[model]]\nname = \"my-tiny\"\ntitle = \"My tiny\"\nkind = \"whisper\"\nrepository = \"me/tiny\"\n\
         files = [{}]\nlicence = \"MIT\"\nunderstands = \"noise\"\nlanguages = []\nmemory_mb = 10\n",
        files.join(", ")
    );
    std::fs::create_dir_all(home.mynah().join("config")).unwrap();
    std::fs::write(home.mynah().join("config/speech-models.toml"), table).unwrap();
    let source = format!("voice.source=cat {}", spoken(home).display());
    let program = bare(home)
        .args(["--set", source.as_str(), "--set", "voice.model=my-tiny"])
        .envs([("HF_ENDPOINT", host.url.as_str())]);
    open(program)
}

#[test]
fn it_is_offered_fetched_loaded_and_used() {
    let (home, host) = (Home::new(), Host::start());
    let mut pty = opened(&home, &host);
    pty.press("ctrl+space");
    pty.wait_for("Download My tiny?");
    let text = pty.text();
    for part in ["me/tiny", "licence MIT", "noise"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!home.mynah().join("cache/speech/my-tiny").exists(), "nothing comes unasked");
    answer(&mut pty, "Download My tiny?", "y");
    pty.wait_for("downloading");
    host.go.send(()).unwrap();
    pty.wait_for("uOO");
    is_over(&pty);
    pty.press("ctrl+c");
    leave(&mut pty);
}

#[test]
fn nothing_is_fetched_that_is_not_wanted() {
    let (home, host) = (Home::new(), Host::start());
    let mut pty = opened(&home, &host);
    pty.press("ctrl+space");
    answer(&mut pty, "Download My tiny?", "esc");
    pty.wait_for("no speech model");
    is_over(&pty);
    assert!(!home.mynah().join("cache/speech/my-tiny").exists());
    leave(&mut pty);
}

/// What came is kept, and the next time goes on with it.
#[test]
fn leaving_while_it_comes_keeps_what_came() {
    let (home, host) = (Home::new(), Host::start());
    let mut pty = opened(&home, &host);
    pty.press("ctrl+space");
    answer(&mut pty, "Download My tiny?", "y");
    pty.wait_for("downloading");
    let folder = home.mynah().join("cache/speech/my-tiny");
    let part = folder.join("model.safetensors.part");
    wait_until("the first half of the weights", || {
        std::fs::metadata(&part).is_ok_and(|facts| facts.len() > 0)
    });
    pty.press("ctrl+d");
    assert_eq!(pty.wait_exit().code, 0);
    assert_eq!(pty.leftovers(), Vec::<String>::new());
    assert!(part.exists() && !folder.join("model.safetensors").exists());
    host.go.send(()).unwrap();

    let mut pty = opened(&home, &host);
    pty.press("ctrl+space");
    answer(&mut pty, "Download My tiny?", "y");
    host.go.send(()).unwrap();
    pty.wait_for("uOO");
    pty.press("ctrl+c");
    leave(&mut pty);
}
