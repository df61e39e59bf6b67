//! What an agent reads of jobs that have ended. Pure.

use crate::proto::job::{JobEnd, JobEnding, JobReport, StoppedBy};
use std::fmt::Write;
use std::time::Duration;

/// Lines and bytes of the end of its output that are told with the end of a job.
pub const LAST_LINES: usize = 20;
/// See [`LAST_LINES`].
pub const LAST_BYTES: usize = 2_000;

/// The text that tells of the ends of some jobs.
pub fn completion(reports: &[JobReport]) -> String {
    reports.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

fn one(report: &JobReport) -> String {
    let JobReport { id, title, end, last_lines, log, .. } = report;
    let mut text = format!("The background job \"{}\" ({id}) {}.", line(title), words(end));
    if end.lost_bytes > 0 {
        // Writing into a string can't fail.
        let _infallible = write!(text, " {} bytes of its output could not be kept.", end.lost_bytes);
    }
    let last_lines = last_lines.trim_end_matches('\n');
    if last_lines.trim().is_empty() {
        text.push_str("\nIt printed nothing.");
    } else {
        let _infallible = write!(text, "\nThe last lines of its output:\n{}", bounded(last_lines));
    }
    let _infallible = write!(text, "\nLog: {}", log.display());
    text
}

/// How a job ended, and how long it ran.
pub fn words(end: &JobEnd) -> String {
    let took = duration(Duration::from_millis(end.took_ms));
    match &end.how {
        JobEnding::Exited(0) => format!("has ended: exit code 0 after {took}"),
        JobEnding::Exited(code) => format!("has failed: exit code {code} after {took}"),
        JobEnding::Signalled(signal) => format!("was ended by {signal} after {took}; that came from outside"),
        JobEnding::TimedOut(limit) => {
            format!("was stopped at its time limit of {} after {took}", duration(Duration::from_secs(*limit)))
        }
        JobEnding::Stopped(StoppedBy::Agent) => format!("was stopped by you after {took}"),
        JobEnding::Stopped(StoppedBy::User) => format!("was stopped by the user after {took}"),
        JobEnding::Stopped(StoppedBy::End) => format!("was stopped with the session after {took}"),
        JobEnding::Stopped(StoppedBy::Terminal) => {
            format!("was stopped after {took}: it waited for input from a terminal, and it has none")
        }
        JobEnding::Unknown => {
            format!("has ended after about {took}, exit code unknown: what watched over it was killed")
        }
    }
}

/// A time as a model reads it.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// The end of it.
fn bounded(lines: &str) -> &str {
    let from = lines.ceil_char_boundary(lines.len().saturating_sub(LAST_BYTES));
    let lines = lines.get(from..).unwrap_or(lines);
    let mut before = lines.rmatch_indices('\n').map(|(at, _)| at + 1);
    before.nth(LAST_LINES - 1).and_then(|at| lines.get(at..)).unwrap_or(lines)
}

/// A title must not look like more than one line.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::ids::JobId;

    fn report(how: JobEnding, took_ms: u64, last_lines: &str) -> JobReport {
        JobReport {
            id: JobId::new("run-tests"),
            title: "Run\ntests".to_owned(),
            command: "npm test".to_owned(),
            end: JobEnd { how, took_ms, lost_bytes: 0 },
            last_lines: last_lines.to_owned(),
            log: "/state/log.0".into(),
        }
    }

    #[test]
    fn every_end_says_how_and_after_what_time() {
        for (how, took, want) in [
            (JobEnding::Exited(0), 900, "has ended: exit code 0 after 0.9 s."),
            (JobEnding::Exited(2), 3_140, "has failed: exit code 2 after 3.1 s."),
            (
                JobEnding::Signalled("SIGSEGV".into()),
                61_000,
                "was ended by SIGSEGV after 1 min 1 s; that came from outside.",
            ),
            (
                JobEnding::TimedOut(90),
                90_500,
                "was stopped at its time limit of 1 min 30 s after 1 min 30 s.",
            ),
            (JobEnding::Stopped(StoppedBy::Agent), 7_384_000, "was stopped by you after 2 h 3 min."),
            (JobEnding::Stopped(StoppedBy::User), 1_000, "was stopped by the user after 1.0 s."),
            (JobEnding::Stopped(StoppedBy::End), 1_000, "was stopped with the session after 1.0 s."),
        ] {
            let text = completion(&[report(how, took, "")]);
            let want = format!(
                "The background job \"Run tests\" (run-tests) {want}\nIt printed nothing.\nLog: /state/log.0"
            );
            assert_eq!(text, want);
        }
        assert!(completion(&[report(JobEnding::Unknown, 1_000, "")]).contains("exit code unknown"));
        assert!(
            completion(&[report(JobEnding::Stopped(StoppedBy::Terminal), 1_000, "")]).contains("terminal")
        );
    }

    #[test]
    fn last_lines_and_losses_are_told_within_bounds() {
        let mut long = report(JobEnding::Exited(1), 1_000, &"line\n".repeat(100));
        long.end.lost_bytes = 77;
        let text = completion(&[long.clone(), report(JobEnding::Exited(0), 1_000, "one")]);
        assert_eq!(text.matches("line\n").count(), LAST_LINES);
        assert!(text.contains(" 77 bytes of its output could not be kept."));
        assert_eq!(text.matches("The background job").count(), 2);
        long.last_lines = "é".repeat(5_000);
        assert_eq!(completion(&[long]).matches('é').count(), LAST_BYTES / 2);
    }
}
