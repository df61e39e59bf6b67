//! What stays on the user's own screen after the program has ended: the last reply, and how to go on.

use super::state::AppState;
use crate::text::clean;
use std::io::{self, IsTerminal, Write};

/// Rows of the last reply that are shown; the session has the rest.
const MOST_LINES: usize = 40;
/// Characters of an id that name a session: the time at which it began, to the millisecond. Fewer would name all that began
/// within the same minute.
const SHORT_ID: usize = 13;

/// All of it.
pub fn text(state: &AppState) -> String {
    let mut text = state.conversation.last_reply().map(last_lines).unwrap_or_default();
    if let Some(resume) = resume_line(state) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&resume);
    }
    text
}

/// Says what could not be saved. `is_heard`: the terminal takes what is written.
pub fn complain(unsaved: &str, is_heard: bool) {
    let mut err = io::stderr().lock();
    // Written to a terminal that takes nothing, it would keep the program from ending.
    if is_heard || !err.is_terminal() {
        // It may be closed; nobody is left to tell then.
        let _gone = writeln!(err, "mynah: {}", clean::for_terminal(unsaved));
    }
}

fn last_lines(reply: &str) -> String {
    let reply = clean::for_terminal(reply.trim());
    let lines: Vec<&str> = reply.lines().collect();
    let hidden = lines.len().saturating_sub(MOST_LINES);
    let mut text = String::new();
    if hidden > 0 {
        text.push_str(&format!("… {hidden} earlier lines\n"));
    }
    for line in lines.iter().skip(hidden) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Only a session in which something was said is kept.
fn resume_line(state: &AppState) -> Option<String> {
    let view = state.session.view.as_ref()?;
    let is_kept = view.file.as_ref().is_some_and(|file| file.exists());
    if !is_kept || state.conversation.prompts().is_empty() {
        return None;
    }
    let id: String = view.id.as_str().chars().take(SHORT_ID).collect();
    Some(format!("Go on with this session: mynah --resume {id}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reply_shows_its_end_and_nothing_that_steers_the_terminal() {
        let reply: String = (0..MOST_LINES + 2).map(|line| format!("line {line}\u{1b}[2J\n")).collect();
        let shown = last_lines(&reply);
        assert!(shown.starts_with("… 2 earlier lines\nline 2\n"), "{shown}");
        assert!(shown.ends_with("line 41\n") && !shown.contains('\u{1b}'));
        assert_eq!(last_lines("  short \n"), "short\n");
    }
}
