//! Commands of all kinds run the same whether their steps are timed or not.

use super::plan;
use crate::jobs::{Finished, Jobs, LiveNews, SaveAbove, ShellCommand};
use crate::proto::chain::Chain;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const CORPUS: &str = include_str!("../../../tests/fixtures/chains.txt");

/// The commands, and whether they are to be timed.
fn corpus() -> Vec<(&'static str, bool)> {
    let begin = CORPUS.find("timed echo").expect("commands");
    let blocks = CORPUS[begin..].trim_end().split("\n\n");
    blocks.map(|block| block.strip_prefix("timed ").map_or((block, false), |rest| (rest, true))).collect()
}

/// What a command did.
#[derive(Debug, PartialEq, Eq)]
struct Did {
    end: String,
    output: String,
    raw_bytes: u64,
    files: BTreeMap<String, (u32, Vec<u8>)>,
}

fn files(folder: &Path, prefix: &str, into: &mut BTreeMap<String, (u32, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let Ok(data) = std::fs::symlink_metadata(entry.path()) else { continue };
        let content =
            if data.is_file() { std::fs::read(entry.path()).unwrap_or_default() } else { Vec::new() };
        if data.is_dir() {
            files(&entry.path(), &format!("{name}/"), into);
        }
        into.insert(name, (data.permissions().mode(), content));
    }
}

async fn run(jobs: &Arc<Jobs>, command: &str, is_timed: bool) -> (Did, Finished, Vec<LiveNews>) {
    // Both runs see the same path, which some commands print.
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("here");
    std::fs::create_dir(&folder).unwrap();
    let told: Arc<Mutex<Vec<LiveNews>>> = Arc::default();
    let sink = Arc::clone(&told);
    let command = ShellCommand {
        text: command.to_owned(),
        shell: "/bin/bash".into(),
        cwd: folder.clone(),
        timeout: Some(Duration::from_secs(20)),
        secret_env: Vec::new(),
        env: Vec::new(),
        output_dir: root.path().join("output"),
        save: SaveAbove { lines: u64::MAX, bytes: u64::MAX },
        steps: plan(command).ok().filter(|_| is_timed),
    };
    let cancel = CancellationToken::new();
    let running = jobs.run(command, &cancel, move |news| sink.lock().unwrap().push(news));
    let finished = running.await.unwrap();
    let mut all = BTreeMap::new();
    files(&folder, "", &mut all);
    // Random names of files, numbers of processes and the like differ between any two runs.
    let neutral = |text: &str| {
        let text = text.replace(&root.path().display().to_string(), "ROOT");
        regex::Regex::new(r"\b\d{4,}\b|tmp\.\w+").unwrap().replace_all(&text, "N").into_owned()
    };
    let did = Did {
        end: format!("{:?}", finished.end),
        output: neutral(&finished.tail),
        raw_bytes: if finished.tail.contains(char::is_numeric) { 0 } else { finished.raw_bytes },
        files: all.into_iter().map(|(name, file)| (neutral(&name), file)).collect(),
    };
    let told = told.lock().unwrap().clone();
    (did, finished, told)
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_do_the_same_with_and_without() {
    let corpus = corpus();
    assert!(corpus.len() >= 150, "{}", corpus.len());
    let jobs = Jobs::new();
    let mut wrong = Vec::new();
    for (command, is_timed) in corpus {
        if plan(command).is_ok() != is_timed {
            wrong.push(format!("{command}\n  is split: {:?}", plan(command)));
            continue;
        }
        let (plain, ..) = run(&jobs, command, false).await;
        let (timed, finished, told) = run(&jobs, command, true).await;
        if plain != timed {
            wrong.push(format!("{command}\n  {plain:?}\n  {timed:?}"));
        }
        if is_timed && finished.chain.is_none() {
            let last = told.iter().rev().find(|news| matches!(news, LiveNews::Steps(_)));
            wrong.push(format!("{command}\n  it was lost which step runs: {last:?}"));
        }
    }
    jobs.shutdown().await;
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

async fn chain(command: &str) -> (Chain, Vec<LiveNews>) {
    let jobs = Jobs::new();
    let (_, finished, told) = run(&jobs, command, true).await;
    jobs.shutdown().await;
    (finished.chain.unwrap(), told)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_line_belongs_to_the_step_that_printed_it() {
    let command = "echo a; echo b >&2; sh -c 'echo c; echo d >&2; exit 3' || printf e; seq 1 2000";
    for _ in 0..20 {
        let (chain, told) = chain(command).await;
        let outputs: Vec<&str> = chain.steps.iter().map(|step| step.output.as_str()).collect();
        assert_eq!(outputs[..4], ["a\n", "b\n", "c\nd\n", "e"]);
        assert!(outputs[4].len() <= 2048 && outputs[4].ends_with("1999\n2000\n"));
        let kept = outputs[4].lines().count() as u64;
        assert_eq!(chain.steps[4].lines_before + kept, 2000);
        let exits: Vec<_> = chain.steps.iter().map(|step| step.exit.unwrap()).collect();
        assert_eq!(exits, [0, 0, 3, 0, 0]);
        // Live, text comes after the news of its step and before that of the next.
        let mut running = None;
        let mut live = vec![String::new(); 5];
        for news in told {
            match news {
                LiveNews::Steps(chain) => running = chain.focus(),
                LiveNews::Output(text) => live[running.expect("a step runs")].push_str(&text),
            }
        }
        assert_eq!(live[..4], ["a\n", "b\n", "c\nd\n", "e"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_is_of_the_step_that_ran() {
    let jobs = Jobs::new();
    let command = "echo a; sleep 30; echo b";
    let folder = tempfile::tempdir().unwrap();
    let shell = ShellCommand {
        text: command.to_owned(),
        shell: "/bin/bash".into(),
        cwd: folder.path().to_owned(),
        timeout: Some(Duration::from_millis(300)),
        secret_env: Vec::new(),
        env: Vec::new(),
        output_dir: folder.path().to_owned(),
        save: SaveAbove { lines: u64::MAX, bytes: u64::MAX },
        steps: plan(command).ok(),
    };
    let finished = jobs.run(shell, &CancellationToken::new(), |_| {}).await.unwrap();
    let states: Vec<_> = finished.chain.unwrap().steps.iter().map(|step| step.state).collect();
    use crate::proto::chain::StepState::{Ok as Went, Skipped, TimedOut};
    assert_eq!(states, [Went, TimedOut, Skipped]);
    jobs.shutdown().await;
}

/// Nothing of the timing is left behind.
#[tokio::test(flavor = "multi_thread")]
async fn no_files_are_left() {
    let ours = format!("mynah-steps-{}-", std::process::id());
    chain("true; false").await;
    let left = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    // Other tests of this process may be at work.
    let mut left: Vec<_> = left
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&ours))
        .map(|e| e.path())
        .collect();
    left.retain(|folder| {
        folder.metadata().is_ok_and(|data| {
            data.created().is_ok_and(|at| at.elapsed().unwrap_or_default() > Duration::from_secs(60))
        })
    });
    assert!(left.is_empty(), "{left:?}");
}
