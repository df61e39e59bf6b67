//! The `sleep` processes of a command, as the system shows them.

use super::duration;
use std::time::Duration;

/// A process that sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sleeping {
    /// Its number and when it started, in the system's own count: another one never has both.
    pub id: (i32, u64),
    /// How long it has run.
    pub age: Duration,
    /// How long it will have run at its end; nothing if that is not known.
    pub lasts: Option<Duration>,
}

/// Processes that are looked at: a command that starts thousands does not tell what it waits for.
const MOST: usize = 200;

/// The processes that sleep among this one and those it has started. Takes some microseconds for each.
#[cfg(target_os = "linux")]
pub fn sleeping(leader: i32) -> Vec<Sleeping> {
    let mut left = vec![leader];
    let mut seen = 0;
    let mut found = Vec::new();
    while let Some(id) = left.pop()
        && seen < MOST
    {
        seen += 1;
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        left.extend(children.split_whitespace().filter_map(|child| child.parse::<i32>().ok()));
        found.extend(sleep_of(id));
    }
    found
}

/// Ticks of the clock in which start times are told: fixed by the interface of the kernel.
#[cfg(target_os = "linux")]
const TICKS_PER_SECOND: f64 = 100.0;

/// The process, if it is a `sleep`. One that has ended meanwhile is none.
#[cfg(target_os = "linux")]
fn sleep_of(id: i32) -> Option<Sleeping> {
    let name = std::fs::read_to_string(format!("/proc/{id}/comm")).ok()?;
    if name.trim_end() != "sleep" {
        return None;
    }
    let line = std::fs::read(format!("/proc/{id}/cmdline")).ok()?;
    let line = String::from_utf8_lossy(&line).into_owned();
    if line.is_empty() {
        // It is about to begin: its arguments are not there yet.
        return None;
    }
    let arguments = line.split('\0').skip(1).filter(|argument| !argument.is_empty());
    let started = crate::jobs::processes::read(id)?.started;
    let up = std::fs::read_to_string("/proc/uptime").ok()?;
    let up: f64 = up.split_whitespace().next()?.parse().ok()?;
    #[expect(clippy::cast_precision_loss, reason = "ticks of decades are exact")]
    let age = (up - started as f64 / TICKS_PER_SECOND).max(0.0);
    Some(Sleeping {
        id: (id, started),
        age: Duration::try_from_secs_f64(age).ok()?,
        lasts: duration::of_arguments(arguments),
    })
}

/// The same by `ps`. Untested.
#[cfg(target_os = "macos")]
pub fn sleeping(leader: i32) -> Vec<Sleeping> {
    let listed = std::process::Command::new("/bin/ps").args(["-axo", "pid=,ppid=,etime=,args="]).output();
    let listed =
        listed.map(|listed| String::from_utf8_lossy(&listed.stdout).into_owned()).unwrap_or_default();
    let rows: Vec<(i32, i32, &str, Vec<&str>)> = listed
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?, words.collect()))
        })
        .collect();
    let (mut left, mut seen, mut found) = (vec![leader], 0, Vec::new());
    while let Some(id) = left.pop()
        && seen < MOST
    {
        seen += 1;
        left.extend(rows.iter().filter(|row| row.1 == id).map(|row| row.0));
        for (_, _, elapsed, words) in rows.iter().filter(|row| row.0 == id) {
            let is_sleep = words.first().is_some_and(|name| name.rsplit('/').next() == Some("sleep"));
            if let (true, Some(age)) = (is_sleep, age_of(elapsed)) {
                let lasts = duration::of_arguments(words.iter().skip(1).copied());
                // It tells no start time that stays the same: the number has to do.
                found.push(Sleeping { id: (id, 0), age, lasts });
            }
        }
    }
    found
}

/// `[[days-]hours:]minutes:seconds`.
#[cfg(target_os = "macos")]
fn age_of(elapsed: &str) -> Option<Duration> {
    let (days, clock) = elapsed.split_once('-').unwrap_or(("0", elapsed));
    let mut seconds = 0_u64;
    for part in clock.split(':') {
        seconds = seconds.checked_mul(60)?.checked_add(part.parse().ok()?)?;
    }
    Some(Duration::from_secs(seconds.checked_add(days.parse::<u64>().ok()?.checked_mul(86_400)?)?))
}

/// Elsewhere nobody tells.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn sleeping(_leader: i32) -> Vec<Sleeping> {
    Vec::new()
}
