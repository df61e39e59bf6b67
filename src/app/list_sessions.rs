//! `--resume` without an id: the sessions of a folder, as a table.

use crate::store::find::SessionInfo;
use crate::text::clean;
use jiff::tz::TimeZone;

/// How much of a name or a first message is shown, in characters.
const TITLE_CHARS: usize = 60;

/// The table, one session a line, as they come. Times are told in this zone.
pub fn table(sessions: &[SessionInfo], zone: &TimeZone) -> String {
    let mut text = String::new();
    for session in sessions {
        let time = jiff::Timestamp::from_millisecond(session.last_activity).unwrap_or_default();
        let time = zone.to_datetime(time).strftime("%Y-%m-%d %H:%M");
        let line = format!("{}  {time}  {}", session.id, title(session));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The name, else the beginning of what was said first.
fn title(session: &SessionInfo) -> String {
    let said = session.name.as_deref().or(session.first_message.as_deref()).unwrap_or_default();
    let line = clean::for_line(said);
    if line.chars().count() <= TITLE_CHARS {
        return line;
    }
    line.chars().take(TITLE_CHARS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::ids::SessionId;

    fn session(name: Option<&str>, said: Option<&str>) -> SessionInfo {
        SessionInfo {
            path: "/s.jsonl".into(),
            id: SessionId::new("0192"),
            cwd: "/p".into(),
            name: name.map(str::to_owned),
            first_message: said.map(str::to_owned),
            created: String::new(),
            last_activity: 1_796_045_278_328,
            parent_session: None,
            bytes: 0,
            messages: None,
        }
    }

    #[test]
    fn a_line_names_the_session_by_its_name_or_its_first_words() {
        let long = "ä".repeat(TITLE_CHARS + 1);
        for (session, title) in [
            (session(Some("named"), Some("said")), "  named".to_owned()),
            (session(None, Some("fix\n\u{1b}[31mthis")), "  fix this".to_owned()),
            (session(None, Some(&long)), format!("  {}…", "ä".repeat(TITLE_CHARS - 1))),
            (session(None, None), String::new()),
        ] {
            let expected = format!("0192  2026-11-30 13:27{title}\n");
            assert_eq!(table(&[session], &TimeZone::UTC), expected);
        }
    }
}
