//! The last line of defence: a tiny shell that ends our commands when this program dies without a chance to do so.
//!
//! It is told which process groups are ours through a pipe, and does nothing else until the pipe ends: when we are gone,
//! however that came about, the groups last told get TERM and, two seconds later, KILL, and so does every process that
//! carries our mark, where `/proc` and `grep` show such. It is started before the first command, and ended by us when
//! nothing is left to guard. Invariant: only we hold the writing end, since every descriptor of ours is closed on exec.

use super::groups::Groups;
use super::mark::VARIABLE;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

/// `$1` is a pattern for the environment of our processes, `$2` the beginning of one for a single command. A line holds
/// all groups; `~` marks those without a leader, whose number has a new use as soon as there is a process of that number;
/// `-` marks commands that have become background jobs, whose processes are spared. An unfinished line is not used.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
groups=
while read -r line; do groups=$line; done
found=
end() {
  for id in $groups; do
    case $id in
      '-'*) continue ;;
      '~'*) id=${id#'~'}; kill -0 "$id" && continue ;;
    esac
    kill -s "$1" -- "-$id" && kill -s CONT -- "-$id" && found=1
  done
  for file in $(grep -lzs -- "$pattern" /proc/[0-9]*/environ); do
    id=${file#/proc/}
    id=${id%/environ}
    [ -n "$spared" ] && grep -qzsE -- "$2($spared)(:|\$)" "$file" && continue
    kill -s "$1" "$id" && kill -s CONT "$id" && found=1
  done
}
pattern=$1
spared=
for id in $groups; do
  case $id in '-'*) spared=${spared:+$spared|}${id#-} ;; esac
done
end TERM "$2"
[ -n "$found" ] || exit 0
sleep 2
end KILL "$2"
"#;

/// The shell that outlives us, and what it knows.
#[derive(Debug)]
pub struct Guard {
    /// What our marks begin with.
    prefix: String,
    groups: Groups,
    shell: Option<(Child, ChildStdin)>,
}

impl Guard {
    /// A guard that is not yet started.
    pub fn new(prefix: String) -> Self {
        Self { prefix, groups: Groups::default(), shell: None }
    }

    /// Makes sure that the shell has been started.
    pub fn start(&mut self) {
        if self.shell.is_none()
            && let Err(error) = self.start_shell()
        {
            tracing::warn!(%error, "the guard did not start: commands may outlive a crash");
        }
    }

    /// Changes what is known of the groups, and tells the shell.
    pub fn update<T>(&mut self, change: impl FnOnce(&mut Groups) -> T) -> T {
        let outcome = change(&mut self.groups);
        let line = self.groups.line();
        if let Some((_, pipe)) = &mut self.shell
            && pipe.write_all(line.as_bytes()).is_err()
        {
            // It is gone or does not listen: another one takes its place.
            self.end();
            self.start();
        }
        outcome
    }

    /// Nothing is left to guard. A shell that was told an old list must not act on it.
    pub fn end(&mut self) {
        if let Some((mut child, pipe)) = self.shell.take() {
            let ended = child.kill().and_then(|()| child.wait());
            drop(pipe);
            if let Err(error) = ended {
                tracing::warn!(%error, "the guard could not be ended");
            }
        }
    }

    fn start_shell(&mut self) -> io::Result<()> {
        let prefix = self.prefix.replace('.', "[.]");
        let pattern = format!("^{VARIABLE}=.*{prefix}");
        let command = format!("^{VARIABLE}=(.*:)?{prefix}");
        let mut child = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "mynah-guard", &pattern, &command])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let Some(mut pipe) = child.stdin.take() else { return Ok(()) };
        // A guard that someone has stopped must not stop us: a full pipe is an error, and another one is started.
        fcntl_setfl(&pipe, fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
        pipe.write_all(self.groups.line().as_bytes())?;
        self.shell = Some((child, pipe));
        Ok(())
    }
}
