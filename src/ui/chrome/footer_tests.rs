use super::super::screen_tests::{Screen, row, text};
use super::cells::short_id;
use super::*;
use proptest::prelude::*;

pub(in crate::ui::chrome) fn sample() -> Footer {
    Footer {
        clock: Some("16:42".to_owned()),
        place: "~/src/tool".to_owned(),
        branch: Some("dev".to_owned()),
        session: Some("parser".to_owned()),
        model: Some(ModelRef::new("anthropic", "opus-5.5")),
        thinking: ThinkingLevel::High,
        mode: PermissionMode::Ask,
        context: Context { tokens: Some(61_000), window: 166_000 },
        cost: 0.94,
        airtime: Duration::from_secs(432),
        prompts: 5,
        turns: 22,
        tools: 63,
        tokens: Tokens { input: 402_000, write: 88_000, read: 3_100_000, output: 19_000 },
        cache: Some(Cache { percent: Some(88), age: Duration::from_secs(65), warmth: Warmth::Warm }),
        is_closed: false,
        is_mouse_off: false,
        notice: None,
    }
}

fn drawn(footer: &Footer, width: u16, height: u16) -> Screen {
    let mut screen = Screen::new(width, height);
    screen.draw(|look, area, buffer, hits, next| draw(footer, look, area, buffer, hits, next));
    screen
}

fn lines(footer: &Footer, width: u16) -> Vec<String> {
    let screen = drawn(footer, width, height(footer, &Theme::quiet_dark(), width));
    text(&screen.buffer).lines().map(str::to_owned).collect()
}

#[test]
fn what_is_shown_at_which_width() {
    let table: [(u16, &[&str]); 6] = [
        (
            140,
            &[
                "16:42 ███████▍░░░░░░░░░░░░ 61k / 166k │ opus-5.5 high · ask │ $0.94 · 7m          │ ~/src/tool (dev) · parser",
                "      5 prompts · 22 turns · 63 tools │ 402k in · 88k write · 3.1M read · 19k out │ cache 88% · 1m warm",
            ],
        ),
        (60, &["16:42 ███████▍░░░░░░░░░░░░ 61k/166k opus-5.5 high ask $0.94"]),
        (44, &["16:42 ███▋░░░░░░ 61k/166k opus-5.5 high ask"]),
        (30, &["61k/166k opus-5.5 high ask"]),
        (20, &["opus-5.5 ask"]),
        (4, &["ask"]),
    ];
    for (width, expected) in table {
        let found = lines(&sample(), width);
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found, expected, "{width}");
        }
    }
}

#[test]
fn what_is_not_known_is_left_out() {
    let footer = Footer { place: "~".to_owned(), ..Footer::default() };
    let found = lines(&footer, 100);
    assert_eq!(found, ["--:-- │ starting… · ask │ ~"]);
}

#[test]
fn ids_are_cut_in_their_middle() {
    let table = [
        ("opus-5.5", 26, "opus-5.5"),
        ("meta-llama/llama-4-maverick", 26, "llama-4-maverick"),
        ("vendor/a-model-with-a-rather-long-name-20261130", 16, "a-model-…0261130"),
        ("abcdef", 4, "ab…f"),
    ];
    for (id, room, expected) in table {
        assert_eq!(short_id(id, room), expected);
    }
}

#[test]
fn parts_can_be_clicked() {
    let screen = drawn(&sample(), 140, 2);
    let at = |part: &str| {
        let text = row(&screen.buffer, 0);
        let x = text.find(part).map(|byte| text.get(..byte).unwrap().chars().count()).unwrap();
        screen.hits.at((u16::try_from(x).unwrap(), 0).into()).cloned()
    };
    assert_eq!(at("opus"), Some(Target::Footer(FooterPart::Model)));
    assert_eq!(at("high"), Some(Target::Footer(FooterPart::Thinking)));
    assert_eq!(at("ask"), Some(Target::Footer(FooterPart::Mode)));
    assert_eq!(at("~/src"), None);
}

#[test]
fn a_full_window_stands_out() {
    let color = |tokens| {
        let footer = Footer { context: Context { tokens: Some(tokens), window: 100_000 }, ..sample() };
        let screen = drawn(&footer, 140, 2);
        let text = row(&screen.buffer, 0);
        let x = text.find(" / ").map(|byte| text.get(..byte).unwrap().chars().count()).unwrap();
        screen.buffer[(u16::try_from(x).unwrap(), 0)].fg
    };
    let theme = Theme::quiet_dark();
    assert_eq!(
        [70_000, 71_000, 91_000, 140_000].map(color),
        [Role::Dim, Role::Warning, Role::Error, Role::Error].map(|role| theme.color(role))
    );
}

#[test]
fn a_notice_takes_the_last_row_and_leaves_the_mode() {
    let footer = Footer { notice: Some((NoticeLevel::Warning, "The file\nchanged".to_owned())), ..sample() };
    let two = drawn(&footer, 140, 2);
    assert!(row(&two.buffer, 0).contains("ask"));
    assert_eq!(row(&two.buffer, 1), "The file changed");
    let one = drawn(&footer, 30, 1);
    assert_eq!(row(&one.buffer, 0), "The file changed           ask");
}

#[test]
fn the_mouse_is_told_when_it_is_off() {
    let footer = Footer { is_mouse_off: true, ..sample() };
    assert!(lines(&footer, 140)[0].contains("high · ask · mouse off │"));
}

proptest! {
    #[test]
    fn the_mode_is_told_at_every_width(
        width in 1_u16..=300,
        height in 1_u16..4,
        mode in prop::sample::select(PermissionMode::ALL.to_vec()),
        id in "[a-z/日-]{0,60}",
        known in any::<[bool; 8]>(),
        notice: bool,
        tokens in 0_u64..4_000_000,
    ) {
        let mut footer = Footer { mode, model: Some(ModelRef::new("anthropic", id)), ..sample() };
        footer.context.tokens = Some(tokens);
        let [model, cache, session, counts, spend, clock, mouse, kinds] = known;
        if model { footer.model = None; }
        if cache { footer.cache = None; }
        if session { footer.session = Some("日本語 ".repeat(20)); }
        if counts { (footer.prompts, footer.turns, footer.tools) = (0, 0, 0); }
        if spend { (footer.cost, footer.airtime) = (0.0, Duration::ZERO); }
        if clock { footer.clock = None; }
        if kinds { footer.tokens = Tokens::default(); }
        footer.is_mouse_off = mouse;
        if notice { footer.notice = Some((NoticeLevel::Info, "something ".repeat(40))); }
        let screen = drawn(&footer, width, height);
        if width >= 8 {
            let shown = text(&screen.buffer);
            prop_assert!(
                shown.lines().any(|line| line.split([' ', '·']).any(|word| word == mode.as_str())),
                "{width}x{height}\n{shown}"
            );
        }
    }
}
