//! Text within a block.

use super::blocks::{Events, Painter};
use crate::text::wrap::Run;
use crate::text::{clean, links};
use crate::theme::role::Role;
use pulldown_cmark::{Event, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use std::borrow::Cow;
use std::sync::Arc;

/// Lines of runs. There is always at least one.
pub type Lines = Vec<Vec<Run>>;

/// Reads events up to the end of their block, or to a block within a tight list item.
pub fn read(events: &mut Events<'_>, painter: &Painter<'_>, base: Style) -> Lines {
    let mut reader = Reader { painter, lines: vec![Vec::new()], styles: vec![base], link: None, pictures: 0 };
    while let Some((event, range)) = events.peek() {
        let source = painter.base + range.start;
        match event {
            Event::Start(tag) => match tag {
                Tag::Emphasis => reader.begin(Modifier::ITALIC),
                Tag::Strong => reader.begin(Modifier::BOLD),
                Tag::Strikethrough => reader.begin(Modifier::CROSSED_OUT),
                Tag::Superscript | Tag::Subscript => reader.begin(Modifier::empty()),
                Tag::Link { dest_url, .. } => reader.begin_link(dest_url),
                Tag::Image { dest_url, .. } => reader.begin_picture(dest_url, source),
                // A block: the text of a tight list item ends here.
                _ => break,
            },
            Event::End(end) => match end {
                TagEnd::Emphasis
                | TagEnd::Strong
                | TagEnd::Strikethrough
                | TagEnd::Superscript
                | TagEnd::Subscript => reader.end(),
                TagEnd::Link => reader.end_link(source),
                TagEnd::Image => reader.end_picture(source),
                _ => break,
            },
            Event::Text(text) => reader.plain(text, source),
            Event::Code(text) => reader.styled(text, Role::MdCode, source),
            Event::InlineMath(text) => reader.plain(&format!("${text}$"), source),
            Event::DisplayMath(text) => reader.plain(&format!("$${text}$$"), source),
            Event::InlineHtml(html) | Event::Html(html) => {
                let tag: String = html.chars().filter(|c| !c.is_whitespace()).collect();
                if matches!(tag.to_ascii_lowercase().as_str(), "<br>" | "<br/>") {
                    reader.lines.push(Vec::new());
                } else {
                    reader.styled(html, Role::Muted, source);
                }
            }
            Event::FootnoteReference(label) => reader.styled(&format!("[^{label}]"), Role::MdLink, source),
            Event::TaskListMarker(done) => {
                let (mark, role) = if *done { ("[x] ", Role::Success) } else { ("[ ] ", Role::MdListBullet) };
                reader.styled(mark, role, source);
            }
            // Models break lines where they mean it.
            Event::SoftBreak | Event::HardBreak => reader.lines.push(Vec::new()),
            Event::Rule => break,
        }
        events.advance();
    }
    let (link, code) = (painter.style(Role::MdLink), painter.style(Role::MdCode).fg);
    let lines = reader.lines.into_iter();
    lines
        .map(|line| {
            links::linked(line, |style| {
                // In code it stays code.
                let style = if style.fg == code { style } else { link.add_modifier(style.add_modifier) };
                style.add_modifier(Modifier::UNDERLINED)
            })
        })
        .collect()
}

struct Reader<'a> {
    painter: &'a Painter<'a>,
    lines: Lines,
    styles: Vec<Style>,
    link: Option<Link>,
    /// Pictures within pictures: only the outermost is named.
    pictures: usize,
}

struct Link {
    url: Arc<str>,
    /// What it is drawn as, so far.
    text: String,
    is_picture: bool,
}

impl Reader<'_> {
    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn begin(&mut self, modifier: Modifier) {
        self.styles.push(self.style().add_modifier(modifier));
    }

    fn end(&mut self) {
        if self.styles.len() > 1 {
            self.styles.pop();
        }
    }

    fn begin_link(&mut self, url: &str) {
        let style = self.painter.style(Role::MdLink).add_modifier(self.style().add_modifier);
        self.styles.push(style.add_modifier(Modifier::UNDERLINED));
        if self.link.is_none() {
            self.link = Some(Link { url: target(url), text: String::new(), is_picture: false });
        }
    }

    fn end_link(&mut self, source: usize) {
        self.end();
        if self.link.as_ref().is_some_and(|link| !link.is_picture)
            && let Some(link) = self.link.take()
        {
            let shown = shown(&link.url);
            if !shown.is_empty() && shown.trim_end_matches('/') != link.text.trim_end_matches('/') {
                self.address(&format!(" ({shown})"), &link.url, source);
            }
        }
    }

    fn begin_picture(&mut self, url: &str, source: usize) {
        self.pictures += 1;
        self.styles.push(self.painter.style(Role::Muted));
        if self.pictures == 1 {
            self.plain("[picture] ", source);
            if self.link.is_none() {
                self.link = Some(Link { url: target(url), text: String::new(), is_picture: true });
            }
        }
    }

    fn end_picture(&mut self, source: usize) {
        self.end();
        self.pictures = self.pictures.saturating_sub(1);
        if self.pictures == 0
            && self.link.as_ref().is_some_and(|link| link.is_picture)
            && let Some(link) = self.link.take()
        {
            let space = if link.text.is_empty() { "" } else { " " };
            self.address(&format!("{space}({})", shown(&link.url)), &link.url, source);
        }
    }

    fn address(&mut self, text: &str, url: &Arc<str>, source: usize) {
        let style = self.painter.style(Role::MdLinkUrl);
        self.push(Run { text: text.to_owned(), style, link: Some(Arc::clone(url)), source });
    }

    fn styled(&mut self, text: &str, role: Role, source: usize) {
        let style = self.painter.style(role).add_modifier(self.style().add_modifier);
        self.add(text, style, source);
    }

    fn plain(&mut self, text: &str, source: usize) {
        self.add(text, self.style(), source);
    }

    /// Text of any number of lines.
    fn add(&mut self, text: &str, style: Style, source: usize) {
        let mut at = source;
        for (index, part) in text.split('\n').enumerate() {
            if index > 0 {
                self.lines.push(Vec::new());
            }
            if let Some(link) = &mut self.link {
                link.text.push_str(part);
            }
            let link = self.link.as_ref().map(|link| Arc::clone(&link.url));
            self.push(Run { text: part.to_owned(), style, link, source: at });
            at += part.len() + 1;
        }
    }

    fn push(&mut self, run: Run) {
        if run.text.is_empty() {
            return;
        }
        if let Some(line) = self.lines.last_mut() {
            // Neighbours of one style are one run, else a grapheme could be torn.
            match line.last_mut() {
                Some(last) if last.style == run.style && last.link == run.link => {
                    last.text.push_str(&run.text);
                }
                _ => line.push(run),
            }
        }
    }
}

/// What a click opens: nothing in it may steer the terminal that is told of it.
fn target(url: &str) -> Arc<str> {
    url.chars().filter(|c| !clean::is_unsafe(*c) && !matches!(c, '\n' | '\t')).collect::<String>().into()
}

/// An address as it is shown. A picture that is written into the text itself is thousands of digits.
fn shown(url: &str) -> Cow<'_, str> {
    let is_data = url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
    match url.split_once([',', ';']) {
        Some((kind, _)) if is_data && kind.len() <= 60 => Cow::Owned(format!("{kind},…")),
        Some(_) | None if is_data => Cow::Borrowed("data:…"),
        Some(_) | None => Cow::Borrowed(url.strip_prefix("mailto:").unwrap_or(url)),
    }
}
