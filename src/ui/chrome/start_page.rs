//! What an empty transcript shows.

use crate::config::action::Action;
use crate::proto::model::ModelRef;
use crate::text::clean;
use crate::theme::role::Role;
use crate::ui::chrome::provider;
use crate::ui::look::Look;
use crate::ui::paint;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

/// The provider of the built-in demo.
const DEMO: &str = "demo";

/// What it tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartPage {
    /// The program's version.
    pub version: String,
    /// The working folder, as it is shown.
    pub folder: String,
    /// Who answers, and how people call it; nothing until that is known.
    pub model: Option<(ModelRef, String)>,
}

/// Draws it at the bottom of the transcript, and tells how many rows that took. On a low screen the hints go first, then
/// the rest from its end.
pub fn draw(page: &StartPage, look: &Look<'_>, area: Rect, buffer: &mut Buffer) -> u16 {
    let area = area.intersection(buffer.area);
    let left = if area.width >= 40 { 2 } else { 0 };
    let text = Rect { x: area.x + left, width: area.width.saturating_sub(left), ..area };
    if text.is_empty() {
        return 0;
    }
    let room = usize::from(area.height);
    let mut lines = head(page, look);
    let is_demo = page.model.as_ref().is_some_and(|(model, _)| model.provider == DEMO);
    let more = [if is_demo { demo(look, usize::from(text.width)) } else { Vec::new() }, hints(look)];
    for block in more.into_iter().filter(|block| !block.is_empty()) {
        if lines.len() + 1 + block.len() < room {
            lines.push(Vec::new());
            lines.extend(block);
        }
    }
    lines.truncate(room);
    // One row stays free above the divider where there is one.
    let free = (room - lines.len()).min(1);
    let first = area.bottom() - u16::try_from(lines.len() + free).unwrap_or(area.height);
    let mark = look.theme.style(Role::Dim);
    for (y, line) in (first..area.bottom()).zip(lines) {
        let line = paint::cut(line, usize::from(text.width), mark);
        paint::spans(buffer, Rect { y, height: 1, ..text }, &line);
    }
    area.bottom() - first
}

type Line = Vec<Span<'static>>;

fn head(page: &StartPage, look: &Look<'_>) -> Vec<Line> {
    let theme = look.theme;
    let muted = theme.style(Role::Muted);
    let name = vec![
        Span::styled("mynah", theme.style(Role::Accent).add_modifier(Modifier::BOLD)),
        Span::styled(format!(" {}", page.version), theme.style(Role::Dim)),
    ];
    let model = match &page.model {
        None => vec![Span::styled("starting…", theme.style(Role::Dim))],
        Some((model, name)) => {
            let color = provider::color(&model.provider, theme, Color::Reset);
            vec![
                Span::styled(clean::for_line(name), Style::new().fg(color)),
                Span::styled(format!(" · {}", clean::for_line(&model.to_string())), muted),
            ]
        }
    };
    vec![name, vec![Span::styled(clean::for_line(&page.folder), muted)], model]
}

fn demo(look: &Look<'_>, width: usize) -> Vec<Line> {
    let texts: &[&str] = if width >= 88 {
        &[
            "This is the built-in demo, a scripted model that works with the real tools on this folder.",
            "For a real one set ANTHROPIC_API_KEY, OPENAI_API_KEY or another key, or start a local server.",
            "mynah --list-models shows what there is.",
        ]
    } else {
        &[
            "This is the built-in demo, not a real model.",
            "To add one set ANTHROPIC_API_KEY or another",
            "key, or start a local server.",
            "mynah --list-models shows what there is.",
        ]
    };
    let style = look.theme.style(Role::Text);
    texts.iter().map(|text| vec![Span::styled(*text, style)]).collect()
}

fn hints(look: &Look<'_>) -> Vec<Line> {
    let fixed = |key: &str, text: &str| Some((key.to_owned(), text.to_owned()));
    let bound = |action, text: &str| look.key(action).map(|key| (key, text.to_owned()));
    let rows = [
        [fixed("/", "commands"), fixed("@", "files"), fixed("!", "shell command")],
        [bound(Action::Submit, "sends"), bound(Action::NewLine, "new line"), bound(Action::Cancel, "stops")],
        [
            bound(Action::Help, "help"),
            bound(Action::Palette, "all commands"),
            bound(Action::NextMode, "what may run"),
        ],
    ];
    let (key, text) = (look.theme.style(Role::Muted), look.theme.style(Role::Dim));
    let row = |hints: [Option<(String, String)>; 3]| {
        let mut spans = Vec::new();
        for (name, what) in hints.into_iter().flatten() {
            if !spans.is_empty() {
                spans.push(Span::styled(" · ", text));
            }
            spans.push(Span::styled(name, key));
            spans.push(Span::styled(format!(" {what}"), text));
        }
        spans
    };
    rows.into_iter().map(row).filter(|row| !row.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::chrome::screen_tests::{Screen, text};
    use proptest::prelude::*;

    fn page(model: Option<ModelRef>) -> StartPage {
        StartPage {
            version: "0.1.0".to_owned(),
            folder: "~/src/tool".to_owned(),
            model: model.map(|model| (model, "Claude Opus 5.5".to_owned())),
        }
    }

    #[test]
    fn it_says_what_answers() {
        let drawn = |page: &StartPage| {
            let mut screen = Screen::new(100, 20);
            screen.draw(|look, area, buffer, _, _| {
                draw(page, look, area, buffer);
            });
            text(&screen.buffer)
        };
        assert!(drawn(&page(None)).contains("starting…"));
        let real = drawn(&page(Some(ModelRef::new("anthropic", "claude-opus-5-5"))));
        assert!(real.contains("Claude Opus 5.5 · anthropic/claude-opus-5-5"), "{real}");
        assert!(!real.contains("demo"));
        assert!(drawn(&page(Some(ModelRef::new("demo", "tour")))).contains("built-in demo"));
    }

    proptest! {
        #[test]
        fn any_size_holds(width in 0_u16..300, height in 0_u16..30) {
            let page = page(Some(ModelRef::new("demo", "tour")));
            let mut screen = Screen::new(width, height);
            screen.draw(|look, area, buffer, _, _| { draw(&page, look, area, buffer); });
        }
    }
}
