use super::*;

const GROUNDS: [Role; 8] = [
    Role::SelectedBg,
    Role::SearchMatchBg,
    Role::UserMessageBg,
    Role::CustomMessageBg,
    Role::ToolPendingBg,
    Role::ToolSuccessBg,
    Role::ToolErrorBg,
    Role::MdCodeBlockBorder,
];

/// All that text of this theme may stand on.
fn grounds(theme: &Theme) -> Vec<(String, Color)> {
    let mut grounds: Vec<(String, Color)> =
        GROUNDS.iter().map(|role| (role.name().to_owned(), theme.color(*role))).collect();
    grounds.push(("page".to_owned(), Color::Reset));
    grounds.push(("code".to_owned(), theme.code_ground()));
    grounds.push(("quote".to_owned(), theme.quote_ground()));
    grounds.push(("added".to_owned(), theme.added_ground()));
    grounds.push(("removed".to_owned(), theme.removed_ground()));
    for hue in
        [Role::Accent, Role::Warning, Role::Success, Role::Error, Role::Muted, Role::CustomMessageLabel]
    {
        for share in [0.05, 0.12, 0.22, 0.31, 0.43, 0.6] {
            let ground = theme.mix(theme.color(Role::ToolPendingBg), theme.color(hue), share);
            grounds.push((format!("{} {share}", hue.name()), ground));
        }
    }
    grounds
}

#[test]
fn every_text_reaches_its_floor_on_every_ground() {
    for theme in [Theme::quiet_dark(), Theme::quiet_light()] {
        for (name, ground) in grounds(&theme) {
            let rgb = if ground == Color::Reset { theme.page() } else { Rgb::of(ground).unwrap() };
            for role in Role::ALL {
                let floor = Contrast::Normal.floor(role.weight());
                let text = Rgb::of(theme.color_on(*role, ground)).unwrap();
                let ratio = contrast::ratio(text, rgb);
                assert!(ratio >= floor, "{} {} on {name}: {ratio:.2}", theme.name(), role.name());
            }
        }
    }
}

#[test]
fn a_style_on_the_page_is_already_lifted() {
    let theme = Theme::quiet_dark();
    for role in Role::ALL {
        assert_eq!(theme.color(*role), theme.color_on(*role, Color::Reset), "{}", role.name());
    }
    assert_eq!(theme.rgb(Role::Text), Rgb::parse("#cfcdc6"), "what reaches the floor stays");
}

#[test]
fn revisions_tell_themes_apart() {
    assert_eq!(Theme::quiet_dark().revision(), Theme::quiet_dark().revision());
    assert_ne!(Theme::quiet_dark().revision(), Theme::quiet_light().revision());
    let brighter = load::embedded("quiet-dark", Some(Rgb(0x30, 0x30, 0x30)));
    assert_ne!(Theme::quiet_dark().revision(), brighter.revision(), "the page changes what is drawn");
}

#[test]
fn what_nobody_knows_is_not_mixed() {
    let theme = Theme::terminal();
    assert_eq!(theme.mix(Color::Red, Color::Rgb(1, 2, 3), 0.5), Color::Red);
    assert_eq!(theme.color_on(Role::Success, Color::Blue), Color::Green);
    assert!(!theme.is_readable() && Theme::quiet_dark().is_readable());
    assert!(theme.style(Role::SelectedBg).add_modifier.contains(Modifier::REVERSED));
}

#[test]
fn card_grounds_are_those_of_the_specification() {
    let theme = Theme::quiet_dark();
    assert_eq!(theme.code_ground(), Rgb::parse("#2c2c2e").unwrap().color());
    assert_eq!(theme.quote_ground(), Rgb::parse("#2b2b2d").unwrap().color());
}

#[test]
fn the_contrast_themes_reach_seven_and_four_and_a_half() {
    for theme in [Theme::contrast_dark(), Theme::contrast_light()] {
        for (name, ground) in grounds(&theme) {
            let rgb = if ground == Color::Reset { theme.page() } else { Rgb::of(ground).unwrap() };
            for role in Role::ALL {
                let floor = Contrast::High.floor(role.weight());
                let ratio = contrast::ratio(Rgb::of(theme.color_on(*role, ground)).unwrap(), rgb);
                assert!(ratio >= floor, "{} {} on {name}: {ratio:.2}", theme.name(), role.name());
            }
        }
        // Lines are seen, where they are drawn.
        for role in [Role::Border, Role::BorderAccent, Role::BorderMuted, Role::MdHr, Role::MdQuoteBorder] {
            for ground in [theme.page(), theme.rgb(Role::ToolPendingBg).unwrap()] {
                let ratio = contrast::ratio(theme.rgb(role).unwrap(), ground);
                assert!(ratio >= 3.0, "{} {} on {ground}: {ratio:.2}", theme.name(), role.name());
            }
        }
    }
}

/// All grounds of a theme, those that nobody can know included.
fn any_grounds(theme: &Theme) -> Vec<Color> {
    let mut all = vec![Color::Reset, theme.code_ground(), theme.quote_ground()];
    all.extend([theme.added_ground(), theme.removed_ground()]);
    all.extend(
        Role::ALL.iter().filter(|role| role.weight() == Weight::Ground).map(|role| theme.color(*role)),
    );
    for role in Role::ALL {
        all.push(theme.mix(theme.color(Role::ToolPendingBg), theme.color(*role), 0.3));
    }
    all
}

/// As far as anybody can know, text is seen on every ground.
fn is_seen(theme: &Theme) -> Result<(), String> {
    let texts = || Role::ALL.iter().filter(|role| is_text(role.weight()));
    for ground in any_grounds(theme) {
        for role in texts() {
            let text = theme.color_on(*role, ground);
            let own = if theme.page().is_dark() { Rgb::WHITE } else { Rgb::BLACK };
            let rgb = Rgb::estimated(text).unwrap_or(own);
            let around = Rgb::estimated(ground).unwrap_or(theme.page());
            let ratio = contrast::ratio(rgb, around);
            if (text == ground && ground != Color::Reset) || ratio < UNSEEN {
                return Err(format!(
                    "{} {text:?} on {ground:?} in {}: {ratio:.2}",
                    role.name(),
                    theme.name()
                ));
            }
        }
        for depth in [depth::Depth::Indexed, depth::Depth::Ansi, depth::Depth::Mono] {
            let mut buffer = ratatui::buffer::Buffer::empty(ratatui::layout::Rect::new(
                0,
                0,
                u16::try_from(Role::COUNT).unwrap(),
                1,
            ));
            for (cell, role) in buffer.content.iter_mut().zip(texts()) {
                cell.set_fg(theme.color_on(*role, ground)).set_bg(ground);
            }
            depth.cells(&mut buffer);
            if let Some(cell) =
                buffer.content.iter().find(|cell| cell.fg == cell.bg && cell.bg != Color::Reset)
            {
                return Err(format!("{:?} meets itself with {depth:?} on {ground:?}", cell.fg));
            }
        }
    }
    Ok(())
}

#[test]
fn text_is_never_the_colour_of_its_ground() {
    let names = ["quiet-dark", "quiet-light", "contrast-dark", "contrast-light", "terminal"];
    for name in names {
        for page in [None, Some(Rgb::BLACK), Some(Rgb::WHITE), Some(Rgb(0x80, 0x80, 0x80))] {
            assert_eq!(is_seen(&load::embedded(name, page)), Ok(()));
        }
    }
}

fn silly() -> impl proptest::strategy::Strategy<Value = Color> {
    use proptest::prelude::*;
    let named = [
        Color::Reset,
        Color::Black,
        Color::Red,
        Color::Yellow,
        Color::Blue,
        Color::Gray,
        Color::DarkGray,
        Color::LightGreen,
        Color::White,
    ];
    prop_oneof![
        prop::sample::select(named.to_vec()),
        any::<u8>().prop_map(Color::Indexed),
        any::<(u8, u8, u8)>().prop_map(|(r, g, b)| Color::Rgb(r, g, b)),
    ]
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// Whatever a user's theme says, even one colour for everything.
    #[test]
    fn a_silly_theme_still_shows_its_text(
        colors in proptest::collection::vec(silly(), 1..6),
        page in proptest::prelude::any::<(u8, u8, u8)>(),
        high: bool,
    ) {
        let contrast = if high { Contrast::High } else { Contrast::Normal };
        let paint = |index: usize| Paint { color: colors[index % colors.len()], modifier: Modifier::empty() };
        let written = std::array::from_fn(paint);
        let theme = Theme::new("silly", written, Rgb(page.0, page.1, page.2), contrast);
        proptest::prop_assert_eq!(is_seen(&theme), Ok(()));
    }
}
