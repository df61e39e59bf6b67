//! The last line of defence: a tiny shell that ends our commands when this program dies without a chance to do so.
//!
//! It reads which process groups run from a pipe, and does nothing else until the pipe ends: when we are gone, however
//! that came about, the groups still listed get TERM and, two seconds later, KILL. It is started with the first
//! command. Invariant: only we hold the writing end, since every descriptor of ours is closed on exec.

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::Pid;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
groups=' '
while read -r line; do
  id=${line#?}
  case $line in
    +*) groups="$groups$id " ;;
    -*) case $groups in *" $id "*) groups="${groups%%" $id "*} ${groups#*" $id "}" ;; esac ;;
  esac
done
alive=
for id in $groups; do kill -s TERM -- "-$id" && alive=1; done
[ -z "$alive" ] && exit
sleep 2
for id in $groups; do kill -s KILL -- "-$id"; done
"#;

/// Knows which groups run, and the shell that outlives us.
#[derive(Debug, Default)]
pub struct Guard {
    groups: BTreeSet<i32>,
    shell: Option<(Child, ChildStdin)>,
}

impl Guard {
    /// This group dies with us from now on.
    pub fn watch(&mut self, group: Pid) {
        self.groups.insert(group.as_raw_pid());
        self.tell('+', group);
    }

    /// This group has ended, or may outlive us.
    pub fn forget(&mut self, group: Pid) {
        self.groups.remove(&group.as_raw_pid());
        self.tell('-', group);
    }

    /// Tells the shell; starts it, or another one when it is gone.
    fn tell(&mut self, sign: char, group: Pid) {
        let line = format!("{sign}{}\n", group.as_raw_pid());
        if let Some((_, pipe)) = &mut self.shell {
            if pipe.write_all(line.as_bytes()).is_ok() {
                return;
            }
            self.end_shell();
        }
        if let Err(error) = self.start_shell() {
            tracing::warn!(%error, "the guard did not start: commands may outlive a crash");
        }
    }

    /// Starts the shell and tells it all groups.
    fn start_shell(&mut self) -> io::Result<()> {
        if self.groups.is_empty() {
            return Ok(());
        }
        let mut child = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let Some(mut pipe) = child.stdin.take() else { return Ok(()) };
        // A guard that someone has stopped must not stop us: a full pipe is an error, and another one is started.
        fcntl_setfl(&pipe, fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
        let lines: String = self.groups.iter().map(|group| format!("+{group}\n")).collect();
        pipe.write_all(lines.as_bytes())?;
        self.shell = Some((child, pipe));
        Ok(())
    }

    /// Gives up a shell that does not listen. It must not act on its old list.
    fn end_shell(&mut self) {
        if let Some((mut child, pipe)) = self.shell.take() {
            let ended = child.kill().and_then(|()| child.wait());
            drop(pipe);
            if let Err(error) = ended {
                tracing::warn!(%error, "the old guard could not be ended");
            }
        }
    }
}

impl Drop for Guard {
    /// With nothing left to guard the shell ends at once; it is reaped here so that no zombie stays.
    fn drop(&mut self) {
        if self.groups.is_empty() {
            self.end_shell();
        }
    }
}
