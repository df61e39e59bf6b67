//! The trap and its pipes: what does not go as it should, and what it costs.

use super::runner::{Pipes, Place};
use crate::jobs::steps::clock::Answer;
use crate::jobs::steps::launch::{Launch, can_time};
use crate::jobs::steps::plan;
use crate::proto::chain::StepState::{Failed, Ok as Went};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

#[test]
fn which_shells_can_be_timed() {
    let names = |names: &'static [&'static str]| names.iter().copied();
    for (shell, variables, can) in [
        ("/bin/bash", &["PATH", "HOME", "BASH"][..], true),
        ("bash", &[], true),
        ("/usr/local/bin/bash", &["BASHRC"], true),
        ("/bin/sh", &["PATH"], false),
        ("/bin/dash", &[], false),
        ("/bin/zsh", &[], false),
        ("/bin/bash", &["PATH", "BASH_ENV"], false),
        ("/bin/bash", &["SHELLOPTS"], false),
        ("/bin/bash", &["BASHOPTS"], false),
        ("/bin/bash", &["POSIXLY_CORRECT"], false),
        ("/bin/bash", &["BASH_FUNC_printf%%"], false),
    ] {
        assert_eq!(can_time(Path::new(shell), names(variables)), can, "{shell} {variables:?}");
    }
}

#[tokio::test]
async fn nothing_is_left_behind() {
    let place = Place::new();
    let launch = place.launch();
    let file = std::path::PathBuf::from(launch.variable().1);
    let folder = file.parent().unwrap().to_owned();
    assert!(file.exists() && launch.is_intact());
    let mode = std::os::unix::fs::PermissionsExt::mode(&folder.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o700);
    std::fs::remove_file(folder.join("marks")).unwrap();
    assert!(!launch.is_intact());
    drop(launch);
    assert!(!folder.exists());
}

/// Runs a command to which nobody answers.
fn unanswered(launch: &Launch, command: &str) -> String {
    let (name, value) = launch.variable();
    let mut shell = Command::new("/bin/bash");
    shell.arg("-c").arg(command).env(name, value).stdin(Stdio::null());
    String::from_utf8(shell.output().unwrap().stdout).unwrap()
}

#[tokio::test]
async fn without_an_answer_the_command_goes_on_and_the_timing_ends() {
    let place = Place::new();
    let mut launch = Launch::with_patience(place.path(), 1).unwrap();
    let started = Instant::now();
    assert_eq!(unanswered(&launch, "echo a; echo b; trap -p; echo $_"), "a\nb\n-p\n");
    let waited = started.elapsed().as_secs_f64();
    assert!((0.9..1.9).contains(&waited), "once, and no more: {waited}");
    assert_eq!((launch.mark().await.status, launch.mark().await.status), (0, i32::MIN));
}

#[tokio::test]
async fn without_the_pipes_the_command_does_not_wait() {
    let place = Place::new();
    let mut launch = Launch::with_patience(place.path(), 30).unwrap();
    let folder = Path::new(&launch.variable().1).parent().unwrap().to_owned();
    let started = Instant::now();
    let command = format!("rm -r {}; echo a; trap -p; echo b", folder.display());
    // The first mark is answered ahead.
    launch.answer(Answer::GoOn);
    let printed = unanswered(&launch, &command);
    assert_eq!(printed, "a\nb\n");
    assert!(started.elapsed().as_secs() < 10);
}

/// A command that removes the files is not shown with steps that can't be told apart.
#[tokio::test]
async fn a_command_that_removes_the_files_has_no_steps() {
    let mut place = Place::new();
    // Only the folder of this very command, which the shell was started with.
    let launch = place.launch();
    let folder = Path::new(&launch.variable().1).parent().unwrap().to_owned();
    place.env.push(("GONE".to_owned(), folder.clone().into_os_string()));
    let command = "true; rm -r \"$GONE\"; echo a; false";
    let (did, seen) = place.timed_by(launch, command, Pipes::One, plan(command).unwrap()).await;
    assert_eq!((did.code, did.stdout.as_slice()), (Some(1), b"a\n".as_slice()));
    assert!(seen.chain.is_none() && !folder.exists());
}

#[tokio::test]
async fn the_users_variables_are_as_without() {
    let mut place = Place::new();
    place.env.push(("LAST".to_owned(), "x y".into()));
    let command =
        "python3 -c 'import os; print(sorted(os.environ.items()))'; sh -c 'export -p'; echo \"$LAST\"";
    let plain = place.plain(command, Pipes::Two).await;
    let (timed, seen) = place.timed(command, Pipes::Two, plan(command).unwrap()).await;
    assert_eq!(plain, timed);
    assert_eq!(seen.chain.unwrap().steps.len(), 3);
}

/// No process of the command has a descriptor more.
#[tokio::test]
async fn nothing_is_inherited() {
    let place = Place::new();
    let list = "python3 -c 'import os; print([n for n in range(256) if os.path.exists(\"/pr\" + f\"oc/self/fd/{n}\")])'";
    let command = format!("true; {list} | {{ cat; {list}; }}; {list}; true");
    let plain = place.plain(&command, Pipes::Two).await;
    let (timed, seen) = place.timed(&command, Pipes::Two, plan(&command).unwrap()).await;
    assert_eq!(plain, timed);
    assert!(plain.stdout.starts_with(b"[0, 1, 2"));
    assert!(seen.chain.is_some());
}

#[tokio::test]
async fn long_commands_and_their_marks() {
    let place = Place::new();
    let command =
        format!("echo {} | wc -c; printf '%s' '{}'; false", "x ".repeat(12_000), "ü;".repeat(6_000));
    let plain = place.plain(&command, Pipes::One).await;
    let (timed, seen) = place.timed(&command, Pipes::One, plan(&command).unwrap()).await;
    assert_eq!(plain, timed);
    let states: Vec<_> = seen.chain.unwrap().steps.iter().map(|step| step.state).collect();
    assert_eq!(states, [Went, Went, Failed]);
}

/// Each line belongs to the step that printed it, whichever output it went to and whoever printed it.
#[tokio::test]
async fn outputs_do_not_mix() {
    let place = Place::new();
    let command =
        "echo a; echo b >&2; sh -c 'echo c; echo d >&2; exit 3' || printf e; seq 1 20000 >&2; echo f";
    for pipes in [Pipes::One, Pipes::Two].into_iter().cycle().take(30) {
        let (_, seen) = place.timed(command, pipes, plan(command).unwrap()).await;
        assert_eq!(seen.outputs[..4], ["a\n", "b\n", "c\nd\n", "e"]);
        assert!(seen.outputs[4].ends_with("19999\n20000\n"));
        assert_eq!(seen.outputs[5], "f\n");
    }
}

/// Not a test of speed, but of a mistake that costs much more than it should.
#[tokio::test]
async fn a_step_costs_little() {
    let place = Place::new();
    let command = [":"; 12].join("; ");
    let (mut plain, mut timed) = (Vec::new(), Vec::new());
    for _ in 0..30 {
        let started = Instant::now();
        place.plain(&command, Pipes::One).await;
        plain.push(started.elapsed());
        timed.push(place.timed(&command, Pipes::One, plan(&command).unwrap()).await.1.took);
    }
    plain.sort();
    timed.sort();
    let per_step = timed[15].saturating_sub(plain[15]) / 12;
    eprintln!("plain {:?}, timed {:?}, per step {per_step:?}", plain[15], timed[15]);
    assert!(per_step.as_millis() < 10, "{per_step:?}");
}
