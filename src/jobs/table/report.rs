//! What an agent reads of jobs that have ended.

use crate::proto::job::{JobEnd, JobEnding, JobReport};
use std::time::Duration;

/// The text for the ends of some jobs.
pub fn text(reports: &[JobReport]) -> String {
    reports.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

fn one(report: &JobReport) -> String {
    let JobReport { id, title, end, last_lines, log, .. } = report;
    let mut text = format!("The background job \"{title}\" ({id}) has ended: {}.", words(end));
    if end.lost_bytes > 0 {
        text.push_str(&format!(
            " {} bytes of its output could not be written to the disk and are lost.",
            end.lost_bytes
        ));
    }
    if last_lines.trim().is_empty() {
        text.push_str("\nIt printed nothing.");
    } else {
        text.push_str(&format!("\nLast lines:\n{}", last_lines.trim_end_matches('\n')));
    }
    text.push_str(&format!("\nLog: {}", log.display()));
    text
}

/// How a job ended and how long it took, in words.
pub fn words(end: &JobEnd) -> String {
    let took = seconds(Duration::from_millis(end.took_ms));
    match &end.how {
        JobEnding::Exited(code) => format!("exit code {code} after {took}"),
        JobEnding::Signalled(signal) => format!("killed by signal {signal} after {took}"),
        JobEnding::TimedOut(limit) => format!("stopped at its time limit of {limit} s, after {took}"),
        JobEnding::Stopped => format!("stopped on request after {took}"),
        JobEnding::Unknown => format!("ended, exit code unknown, after about {took}"),
    }
}

/// A time as a model reads it.
pub fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::ids::JobId;

    fn report(how: JobEnding, last_lines: &str, lost_bytes: u64) -> JobReport {
        JobReport {
            id: JobId::new("run-tests"),
            title: "Run tests".to_owned(),
            command: "npm test".to_owned(),
            end: JobEnd { how, took_ms: 3_140, lost_bytes },
            last_lines: last_lines.to_owned(),
            log: "/state/log.0".into(),
        }
    }

    #[test]
    fn every_end_says_how_and_how_long() {
        for (how, words) in [
            (JobEnding::Exited(0), "exit code 0 after 3.1 s"),
            (JobEnding::Exited(127), "exit code 127 after 3.1 s"),
            (JobEnding::Signalled("SIGSEGV".to_owned()), "killed by signal SIGSEGV after 3.1 s"),
            (JobEnding::TimedOut(3), "stopped at its time limit of 3 s, after 3.1 s"),
            (JobEnding::Stopped, "stopped on request after 3.1 s"),
            (JobEnding::Unknown, "ended, exit code unknown, after about 3.1 s"),
        ] {
            assert_eq!(super::words(&report(how, "", 0).end), words);
        }
    }

    #[test]
    fn several_are_one_text() {
        let reports =
            [report(JobEnding::Exited(2), "a\n2 failed\n", 0), report(JobEnding::Exited(0), "\n", 12)];
        assert_eq!(
            text(&reports),
            "The background job \"Run tests\" (run-tests) has ended: exit code 2 after 3.1 s.\nLast lines:\na\n2 \
             failed\nLog: /state/log.0\n\nThe background job \"Run tests\" (run-tests) has ended: exit code 0 after \
             3.1 s. 12 bytes of its output could not be written to the disk and are lost.\nIt printed \
             nothing.\nLog: /state/log.0"
        );
    }
}
