use super::super::source::{Note, Tap, start};
use super::*;
use rustix::process::test_kill_process;
use std::sync::mpsc::{self, Receiver};

fn run(line: &str) -> (Tap, Receiver<Note>) {
    let (sender, notes) = mpsc::channel();
    let source = CommandSource::new(line, "").unwrap();
    // A test that has seen enough does not listen any more.
    let tap = start(Box::new(source), move |note| drop(sender.send(note))).unwrap();
    (tap, notes)
}

/// What it gives until it ends, and the error it ends with.
fn whole(line: &str) -> (Vec<f32>, String) {
    let (_tap, notes) = run(line);
    let mut reader = None;
    loop {
        match notes.recv().unwrap() {
            Note::Opened { samples, rate, .. } => {
                assert_eq!(rate, 16_000);
                reader = Some(samples);
            }
            Note::Notice(text) => panic!("{text}"),
            Note::Ended(result) => {
                let mut all = Vec::new();
                if let Some(mut reader) = reader {
                    reader.read(&mut all);
                }
                return (all, result.map_or_else(|error| error.to_string(), |()| String::new()));
            }
        }
    }
}

#[test]
fn samples_of_a_program() {
    let (samples, error) = whole(r"printf '\000\100\000\200\377\177\001'");
    assert_eq!(samples, [0.5, -1.0, 32_767.0 / 32_768.0], "half a sample at the end does not count");
    assert_eq!(error, "", "it gave all it had");
    let (samples, error) = whole("true");
    assert!(samples.is_empty() && error.contains("“true” has ended by itself"), "{error}");
}

#[test]
fn samples_that_come_in_pieces() {
    let (samples, _error) = whole(r"sh -c 'for byte in 000 100 000 200; do printf \\$byte; done'");
    assert_eq!(samples, [0.5, -1.0]);
}

#[test]
fn why_a_program_has_ended() {
    let (_none, error) =
        whole(r"sh -c 'printf \\n >&2; printf \\033[1mno.such.device. >&2; echo more >&2; exit 3'");
    assert_eq!(
        error,
        "The recording program “sh” has ended: [1mno.such.device.more. Check the setting voice.source."
    );
    let (_none, error) = whole("sh -c 'exit 3'");
    assert!(error.contains("has ended with code 3"), "{error}");
    let (_none, error) = whole("no-such-recorder --fast");
    assert!(error.contains("“no-such-recorder” is not installed"), "{error}");
}

/// The queue holds 8 s; its reader sleeps meanwhile.
#[test]
fn what_comes_faster_than_it_is_read_waits() {
    let (_tap, notes) = run("head -c 640000 /dev/zero");
    let Note::Opened { mut samples, .. } = notes.recv().unwrap() else { panic!() };
    let mut all = Vec::new();
    while all.len() < 320_000 {
        let before = all.len();
        samples.read(&mut all);
        if all.len() == before {
            std::thread::yield_now();
        }
    }
    assert_eq!((all.len(), samples.lost()), (320_000, 0));
    assert!(matches!(notes.recv().unwrap(), Note::Ended(Ok(()))));
}

#[test]
fn a_flood_of_prints_is_bounded() {
    let (_none, error) = whole("sh -c 'head -c 1000000 /dev/zero | tr \"\\0\" x >&2'");
    assert!(error.len() < 300, "{error}");
}

#[test]
fn one_that_is_not_wanted_any_more_is_killed_and_waited_for() {
    // The shell's child is of its group, and ignores what can be ignored.
    let (tap, notes) =
        run("sh -c 'trap \"\" TERM HUP PIPE; echo $$; sleep 600 & echo $!; cat /dev/zero; wait'");
    let Note::Opened { mut samples, .. } = notes.recv().unwrap() else { panic!() };
    let mut bytes = Vec::new();
    let mut read = Vec::new();
    let numbers = loop {
        samples.read(&mut read);
        bytes.clear();
        bytes.extend(read.iter().flat_map(|sample| ((sample * 32_768.0) as i16).to_le_bytes()));
        let text: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        if let [shell, child, _more, ..] = text.as_slice() {
            break [*shell, *child]
                .map(|number| String::from_utf8(number.to_vec()).unwrap().parse::<i32>().unwrap());
        }
        std::thread::yield_now();
    };
    let [shell, child] = numbers.map(|number| Pid::from_raw(number).unwrap());
    assert!(test_kill_process(shell).is_ok() && test_kill_process(child).is_ok());
    drop(tap);
    assert!(test_kill_process(shell).is_err(), "the shell is neither running nor a zombie");
    // Its child is reaped by whoever inherits it; until then it is dead, but has a number.
    let is_dead = || {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", child.as_raw_nonzero()));
        status.map_or(true, |status| status.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z")))
    };
    while test_kill_process(child).is_ok() && cfg!(target_os = "linux") && !is_dead() {
        std::thread::yield_now();
    }
    assert!(notes.recv().is_err(), "nothing more is told");
}

#[test]
fn command_lines() {
    let words = |line: &str, microphone: &str| CommandSource::new(line, microphone).unwrap().words.join(" ");
    assert_eq!(words("arecord", ""), "arecord -q -t raw -f S16_LE -r 16000 -c 1");
    assert_eq!(
        words("/usr/bin/arecord", "hw:1"),
        "/usr/bin/arecord -q -t raw -f S16_LE -r 16000 -c 1 --device=hw:1"
    );
    let parec = "parec --raw --format=s16le --rate=16000 --channels=1 --latency-msec=30";
    assert_eq!(words("parec", ""), parec);
    assert_eq!(words("parec", "usb"), format!("{parec} --device=usb"));
    let pipewire = "pw-record --format=s16 --rate=16000 --channels=1 --latency=30ms --target=7 -";
    assert_eq!(words("pw-record", "7"), pipewire);
    assert_eq!(words("ssh desk arecord", "usb"), "ssh desk arecord", "a whole line is taken as it is");
    assert_eq!(words("arecord -c 1", "usb"), "arecord -c 1");
    for bad in ["", "  ", "a 'b"] {
        assert!(CommandSource::new(bad, "").unwrap_err().to_string().contains("no command line"), "{bad}");
    }
}
