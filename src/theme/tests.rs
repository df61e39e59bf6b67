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
