//! Background jobs with their styles: the rows above the prompt, what the transcript tells, the list, and a log. The screens
//! are looked at when they change.

use crate::app::msg::Done;
use crate::app::stage::Stage;
use crate::assert_screen;
use crate::proto::entry::EntryPatch;
use crate::proto::event::AgentEvent;
use crate::proto::ids::{EntryId, JobId};
use crate::proto::job::{self, JOB_MESSAGE, JobEnd, JobEnding, JobReport, JobState, JobView};
use crate::proto::message::{Block, CustomMessage, Message};
use crate::proto::meter::Meter;
use crate::ui::jobs::log::LogPart;
use crate::ui::target::Target;
use std::sync::Arc;
use std::time::Duration;

const SIZES: [(u16, u16); 3] = [(60, 20), (100, 30), (160, 40)];

fn view(stage: &Stage, name: &str, title: &str, command: &str, seconds: i64) -> JobView {
    let now = (stage.state.wall_now)();
    JobView {
        title: title.to_owned(),
        command: command.to_owned(),
        cwd: "/home/u/project".into(),
        started: now - seconds * 1_000,
        folder: format!("/home/u/.local/state/mynah/jobs/s/{name}").into(),
        printed: 400,
        printed_at: now,
        ..JobView::sample(name)
    }
}

/// A download, a server and tests that have ended, each as the user sees it.
fn with_jobs(columns: u16, rows: u16) -> Stage {
    let mut stage = Stage::open();
    stage.state.size = (columns, rows);
    let mut fetch =
        view(&stage, "fetch-dataset", "Fetch dataset", "curl -LO https://example.org/data.tar", 18);
    fetch.meter = Some(Meter {
        share: Some(0.62),
        left: Some(Duration::from_secs(11)),
        facts: vec!["118M/190M".to_owned(), "6.5M/s".to_owned()],
    });
    let mut serve = view(&stage, "serve-pages", "Serve pages", "npm run dev", 95);
    serve.latest = "listening on port 3000".to_owned();
    let mut tests = view(&stage, "unit-tests", "Unit tests", "cargo test --workspace", 40);
    let end = JobEnd { how: JobEnding::Exited(101), took_ms: 29_900, lost_bytes: 0 };
    tests.state = JobState::Ended(end.clone());
    let report = JobReport {
        id: tests.id.clone(),
        title: tests.title.clone(),
        command: tests.command.clone(),
        end,
        last_lines: "test a ... ok\ntest b ... FAILED\n\nfailures:\n    b\n\ntest result: FAILED. 1 passed; 1 failed\n".to_owned(),
        log: tests.folder.join("log.0"),
    };
    let jobs = vec![Arc::new(fetch), Arc::new(serve), Arc::new(tests)];
    stage.change(|session, _| session.jobs = jobs);
    let message = Message::Custom(CustomMessage {
        custom_type: JOB_MESSAGE.to_owned(),
        content: vec![Block::text("The background job has failed.")],
        display: true,
        details: Some(job::details_of(&[report])),
        timestamp: 0,
    });
    let patch = EntryPatch::Finish(Arc::new(message));
    stage.event(AgentEvent::Entry { id: EntryId::new("e1"), patch });
    stage.wait(5_000);
    stage
}

fn log_part(stage: &mut Stage) {
    let text =
        "VITE v6.0.3  ready in 212 ms\n\n  ➜  Local:   http://localhost:3000/\nGET / 200\nGET /app.js 200\n";
    let part = LogPart { from: 0, text: text.to_owned(), is_open: false, next: 400, has_more: false };
    stage.done(Done::JobLog { id: JobId::new("serve-pages"), part: Ok(part) });
}

#[test]
fn rows_above_the_prompt_and_an_end_in_the_transcript() {
    for (columns, rows) in SIZES {
        let mut stage = with_jobs(columns, rows);
        assert_screen!("jobs", "rows", &stage.draw().0);
    }
}

#[test]
fn a_log_that_grows() {
    for (columns, rows) in SIZES {
        let mut stage = with_jobs(columns, rows);
        stage.draw();
        stage.click(&Target::Job(JobId::new("serve-pages")));
        log_part(&mut stage);
        assert_screen!("jobs", "log", &stage.draw().0);
    }
}

#[test]
fn the_list_of_all() {
    for (columns, rows) in SIZES {
        let mut stage = with_jobs(columns, rows);
        stage.line("/jobs");
        assert_screen!("jobs", "list", &stage.draw().0);
    }
}

#[test]
fn what_becomes_of_them_at_the_end() {
    for (columns, rows) in SIZES {
        let mut stage = with_jobs(columns, rows);
        stage.key("ctrl+d");
        assert_screen!("jobs", "quit", &stage.draw().0);
    }
}
