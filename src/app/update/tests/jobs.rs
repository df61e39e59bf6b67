use crate::app::effect::Effect;
use crate::app::headless::Exit;
use crate::app::msg::Done;
use crate::app::stage::{Stage, opened, sent, view};
use crate::config::jobs::AtQuit;
use crate::proto::command::Command;
use crate::proto::event::AgentEvent;
use crate::proto::ids::{CallId, JobId};
use crate::proto::job::{JobEnd, JobEnding, JobState, JobView, StoppedBy};
use crate::ui::jobs::log::LogPart;
use crate::ui::target::Target;
use std::sync::Arc;

fn job(name: &str, printed: u64) -> JobView {
    JobView { printed, ..JobView::sample(name) }
}

fn with(jobs: Vec<JobView>) -> Stage {
    let mut stage = Stage::open();
    stage.change(|view, _| {
        view.jobs = jobs.into_iter().map(Arc::new).collect();
        view.file = Some("/state/sessions/s.jsonl".into());
    });
    stage
}

fn reads(name: &str, from: Option<u64>) -> Vec<Effect> {
    vec![Effect::ReadJobLog { id: JobId::new(name), from }]
}

fn leaves(keeps: Option<bool>) -> Vec<Effect> {
    let told = keeps.map(|keeps| Effect::Send(Command::KeepJobs(keeps)));
    told.into_iter().chain([Effect::Quit(Exit::Success)]).collect()
}

fn part(next: u64, has_more: bool) -> Done {
    let part = LogPart { from: 0, text: "line\n".to_owned(), is_open: false, next, has_more };
    Done::JobLog { id: JobId::new("build"), part: Ok(part) }
}

#[test]
fn a_click_opens_the_log_which_is_read_as_far_as_it_goes_and_on_as_it_grows() {
    let mut stage = with(vec![job("build", 10)]);
    stage.draw();
    assert_eq!(stage.click(&Target::Job(JobId::new("build"))), reads("build", None));
    assert_eq!(stage.done(part(5, true)), reads("build", Some(5)), "there is more");
    assert_eq!(stage.done(part(10, false)), []);
    let grown = stage.change(|view, _| view.jobs = vec![Arc::new(job("build", 20))]);
    assert_eq!(grown, reads("build", Some(10)));
    // What was read meanwhile is read once more at the end.
    let grown = stage.change(|view, _| view.jobs = vec![Arc::new(job("build", 30))]);
    assert_eq!(grown, []);
    assert_eq!(stage.done(part(20, false)), reads("build", Some(20)));
    assert_eq!(stage.keys(&["x"]), sent(Command::StopJob(JobId::new("build"))));
    assert_eq!(stage.keys(&["esc"]), []);
    let closed = stage.change(|view, _| view.jobs = vec![Arc::new(job("build", 40))]);
    assert_eq!(closed, [], "nobody looks at it");
}

#[test]
fn a_log_that_can_not_be_read_is_told() {
    let mut stage = with(vec![job("build", 10)]);
    stage.draw();
    stage.click(&Target::Job(JobId::new("build")));
    stage.done(Done::JobLog { id: JobId::new("build"), part: Err("It is gone.".to_owned()) });
    assert_eq!(stage.toast(), "It is gone.");
}

#[test]
fn the_list_opens_logs_and_stops_jobs() {
    let mut none = with(Vec::new());
    none.keys(&["alt+j"]);
    assert_eq!(none.toast(), "There are no background jobs.");
    let mut ended = job("test", 10);
    ended.state = JobState::Ended(JobEnd { how: JobEnding::Exited(0), took_ms: 5, lost_bytes: 0 });
    let mut stage = with(vec![ended, job("build", 10)]);
    stage.keys(&["alt+j"]);
    assert_eq!(stage.keys(&["ctrl+d"]), sent(Command::StopJob(JobId::new("build"))));
    assert_eq!(stage.keys(&["down", "ctrl+d"]), []);
    assert_eq!(stage.toast(), "The job has ended.");
    assert_eq!(stage.keys(&["enter"]), reads("test", None));
}

#[test]
fn only_jobs_that_run_are_asked_about_at_the_end() {
    let mut ended = job("test", 10);
    ended.state = JobState::Ended(JobEnd { how: JobEnding::Exited(0), took_ms: 5, lost_bytes: 0 });
    assert_eq!(with(vec![ended]).keys(&["ctrl+d"]), leaves(None));
    for (keys, expected) in [
        (vec!["enter"], Vec::new()),
        (vec!["esc"], Vec::new()),
        (vec!["up", "enter"], leaves(Some(false))),
        (vec!["up", "up", "enter"], leaves(Some(true))),
    ] {
        let mut stage = with(vec![job("build", 10)]);
        assert_eq!(stage.keys(&["ctrl+d"]), [], "it asks");
        assert_eq!(stage.keys(&keys), expected, "{keys:?}");
    }
    for (at_quit, keeps) in [(AtQuit::Keep, true), (AtQuit::Stop, false)] {
        let mut stage = with(vec![job("build", 10)]);
        stage.state.jobs_at_quit = at_quit;
        assert_eq!(stage.keys(&["ctrl+d"]), leaves(Some(keeps)));
    }
    // A session that is kept nowhere has no next run.
    let mut unkept = with(vec![job("build", 10)]);
    unkept.change(|view, _| view.file = None);
    assert_eq!(unkept.keys(&["ctrl+d"]), leaves(None));
}

#[test]
fn only_a_command_that_runs_is_sent_to_the_background() {
    let mut stage = Stage::running();
    let started = |tool: &str| AgentEvent::ToolStarted {
        call: CallId::new(tool),
        tool: tool.to_owned(),
        arguments: serde_json::Map::new(),
        limit_ms: None,
    };
    stage.event(started("read"));
    assert_eq!(stage.keys(&["ctrl+b"]), []);
    assert_eq!(stage.toast(), "No command runs that could go on in the background.");
    stage.event(started("bash"));
    assert_eq!(stage.keys(&["ctrl+b"]), sent(Command::SendToBackground));
    // With something written it moves the caret.
    stage.type_text("ab");
    assert_eq!(stage.keys(&["ctrl+b"]), []);
}

#[test]
fn another_session_tells_what_was_stopped_with_the_one_before() {
    let ended = |how| {
        let mut ended = job("test", 10);
        ended.state = JobState::Ended(JobEnd { how, took_ms: 5, lost_bytes: 0 });
        ended
    };
    for (jobs, told) in [
        (vec![job("build", 10)], Some("1 background job of the session before was stopped with it.")),
        (
            vec![job("build", 10), ended(JobEnding::Stopped(StoppedBy::End))],
            Some("2 background jobs of the session before were stopped with it."),
        ),
        (vec![ended(JobEnding::Exited(0)), ended(JobEnding::Stopped(StoppedBy::User))], None),
        (Vec::new(), None),
    ] {
        let mut stage = with(jobs);
        stage.line("/new");
        stage.opened(opened(view()));
        let screen = stage.screen();
        assert_eq!(screen.contains("of the session before"), told.is_some(), "{screen}");
        assert!(told.is_none_or(|told| screen.contains(told)), "{screen}");
    }
}
