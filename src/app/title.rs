//! The window's title.

use super::state::AppState;
use crate::text::clean::for_line;
use unicode_segmentation::UnicodeSegmentation;

/// Longer names say no more in a window's title.
const LONGEST: usize = 120;

/// The program and the session's name, or the folder when it has none.
pub fn of(state: &AppState) -> String {
    let name = state.session.view.as_ref().and_then(|view| view.name.clone());
    let place = name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| {
        let folder = if state.cwd == state.home { Some("~".to_owned()) } else { None };
        let last = || Some(state.cwd.file_name()?.to_string_lossy().into_owned());
        folder.or_else(last).unwrap_or_else(|| state.cwd.to_string_lossy().into_owned())
    });
    // It comes from the model or from whoever named the folder.
    let place: String = for_line(&place).chars().filter(|c| !c.is_control()).collect();
    let short: String = place.trim().graphemes(true).take(LONGEST).collect();
    format!("mynah · {short}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::stage::Stage;

    #[test]
    fn it_names_the_session_or_the_folder() {
        let mut stage = Stage::open();
        stage.state.cwd = "/work/some project".into();
        assert_eq!(of(&stage.state), "mynah · some project");
        stage.state.cwd = "/".into();
        assert_eq!(of(&stage.state), "mynah · /");
        stage.state.cwd = stage.state.home.clone();
        assert_eq!(of(&stage.state), "mynah · ~");
        stage.change(|view, _| view.name = Some("mend the roof".to_owned()));
        assert_eq!(of(&stage.state), "mynah · mend the roof");
        stage.change(|view, _| view.name = Some(format!("a\u{1b}]0;x\u{7}\nb{}", "é".repeat(300))));
        let title = of(&stage.state);
        assert!(!title.chars().any(char::is_control) && title.chars().count() < 140, "{title:?}");
    }
}
