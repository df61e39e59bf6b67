//! Every text role on every ground that the program can draw, in every theme whose colours are known.
//!
//! A new ground belongs into [`grounds`]: it is the one list of them.

use super::load::embedded;
use super::*;

/// The themes that come with the program and whose colours are known in numbers.
pub(crate) fn truecolor() -> Vec<Theme> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("themes");
    let files = std::fs::read_dir(folder).expect("the themes").map(|file| file.expect("a file").path());
    let mut names: Vec<_> = files.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    let themes: Vec<Theme> = names.iter().map(|name| embedded(name, None)).collect();
    assert!(themes.iter().zip(&names).all(|(theme, name)| theme.name() == name), "{names:?}");
    let known: Vec<Theme> = themes.into_iter().filter(Theme::is_readable).collect();
    assert!(known.len() >= 4, "{names:?}");
    known
}

/// All that text of this theme may stand on.
pub(crate) fn grounds(theme: &Theme) -> Vec<(String, Color)> {
    let of = |role| theme.color(role);
    let mix = |a, b, share| theme.mix(a, b, share);
    let base = of(Role::ToolPendingBg);
    let accent = of(Role::Accent);
    let muted = of(Role::Muted);
    let purple = mix(of(Role::CustomMessageBg), of(Role::CustomMessageLabel), 0.10);
    let page = theme.page().color();
    let mut all: Vec<(String, Color)> = [
        ("page", Color::Reset),
        ("user's message", of(Role::UserMessageBg)),
        ("mail", of(Role::CustomMessageBg)),
        ("selected row of a list", of(Role::SelectedBg)),
        ("match", of(Role::SearchMatchBg)),
        ("body of a tool", base),
        ("theme's own ok", of(Role::ToolSuccessBg)),
        ("theme's own failed", of(Role::ToolErrorBg)),
        ("code", theme.code_ground()),
        ("quote", theme.quote_ground()),
        ("added", theme.added_ground()),
        ("removed", theme.removed_ground()),
        // What differs within a changed line.
        ("added word", mix(theme.added_ground(), of(Role::ToolDiffAdded), 0.22)),
        ("removed word", mix(theme.removed_ground(), of(Role::ToolDiffRemoved), 0.22)),
        ("window's bars", mix(base, muted, 0.10)),
        ("chip of a step", mix(base, muted, 0.16)),
        ("band queued", mix(base, muted, 0.05)),
        ("band calm", mix(base, accent, 0.06)),
        ("band timed out", mix(base, of(Role::Warning), 0.14)),
        ("band aborted", mix(base, muted, 0.08)),
        ("band purple", mix(of(Role::CustomMessageBg), of(Role::CustomMessageLabel), 0.22)),
        ("band unfilled", mix(base, accent, 0.05)),
        ("band still", mix(base, accent, 0.15)),
        ("sweep of a compaction", purple),
        ("its peak", mix(purple, of(Role::CustomMessageLabel), 0.34)),
    ]
    .into_iter()
    .map(|(name, ground)| (name.to_owned(), ground))
    .collect();
    let done = |own: Role, hue: Role| mix(of(own), of(hue), 0.12);
    let ok = done(Role::ToolSuccessBg, Role::Success);
    let failed = done(Role::ToolErrorBg, Role::Error);
    all.extend([("band ok".to_owned(), ok), ("band failed".to_owned(), failed)]);
    // The flash of a call that ends is strongest at its begin.
    let ends = [
        ("ok", ok, Role::Success),
        ("failed", failed, Role::Error),
        ("timed out", mix(base, of(Role::Warning), 0.14), Role::Warning),
        ("aborted", mix(base, muted, 0.08), Role::Muted),
    ];
    for (name, ground, hue) in ends {
        for share in [0.075, 0.15, 0.225, 0.30] {
            all.push((format!("flash {name} {share}"), mix(ground, of(hue), share)));
        }
    }
    // A band that fills, from cool to hot, its leading cell through its pulse.
    for heat in 0..=8 {
        let hue = mix(accent, of(Role::Warning), f64::from(heat) / 8.0);
        for share in [0.31, 0.33, 0.355, 0.38, 0.405, 0.43] {
            all.push((format!("fill {heat}/8 {share}"), mix(base, hue, share)));
        }
    }
    for step in 0..=7 {
        let share = 0.06 + 0.28 * f64::from(step) / 7.0;
        all.push((format!("sweep {share:.2}"), mix(base, accent, share)));
    }
    for (hue, color) in providers() {
        let ground = mix(page, color, 0.11);
        all.push((format!("agent of hue {hue}"), ground));
        all.push((format!("its bars, hue {hue}"), mix(ground, muted, 0.08)));
    }
    let selected =
        all.iter().map(|(name, ground)| (format!("selected on {name}"), theme.selected_on(*ground)));
    let selected: Vec<_> = selected.collect();
    all.extend(selected);
    all
}

/// The colours of providers: one weight, different hues.
fn providers() -> impl Iterator<Item = (u16, Color)> {
    let hues = [50_u16, 260, 305, 195, 150, 172];
    hues.into_iter().map(|hue| (hue, Rgb::from_oklch(0.72, 0.09, f64::from(hue)).color()))
}

fn rgb(theme: &Theme, ground: Color) -> Rgb {
    if ground == Color::Reset { theme.page() } else { Rgb::of(ground).expect("known in numbers") }
}

#[test]
fn every_text_reaches_its_floor_on_every_ground() {
    for theme in truecolor() {
        for (name, ground) in grounds(&theme) {
            let under = rgb(&theme, ground);
            for role in Role::ALL.iter().filter(|role| is_text(role.weight())) {
                let floor = match role.weight() {
                    Weight::Primary => 4.5,
                    _ => 3.0,
                };
                let text = theme.style_on(*role, ground).fg.and_then(Rgb::of).expect("known in numbers");
                let ratio = contrast::ratio(text, under);
                let floor = theme.contrast.floor(role.weight()).max(floor);
                assert!(ratio >= floor, "{}: {} on {name}: {ratio:.2}", theme.name(), role.name());
            }
            for (hue, color) in providers() {
                let text = Rgb::of(theme.lift(color, ground, Weight::Primary)).expect("known in numbers");
                let ratio = contrast::ratio(text, under);
                assert!(ratio >= 4.5, "{}: hue {hue} on {name}: {ratio:.2}", theme.name());
            }
        }
    }
}

#[test]
fn what_is_selected_is_seen_on_every_ground() {
    for theme in truecolor() {
        for (name, ground) in grounds(&theme) {
            let ratio = contrast::ratio(rgb(&theme, theme.selected_on(ground)), rgb(&theme, ground));
            assert!(ratio >= SELECTED, "{}: selected on {name}: {ratio:.2}", theme.name());
        }
        let own = theme.color(Role::SelectedBg);
        let is_own = contrast::ratio(rgb(&theme, own), theme.page()) >= SELECTED;
        assert_eq!(theme.selected_on(Color::Reset) == own, is_own, "{}", theme.name());
    }
    let terminal = Theme::terminal();
    assert_eq!(terminal.selected_on(Color::Blue), terminal.color(Role::SelectedBg));
}

#[test]
fn grounds_are_those_of_the_specification() {
    let theme = Theme::quiet_dark();
    let grounds = grounds(&theme);
    let table = [
        ("band queued", "#28282b"),
        ("band calm", "#292c30"),
        ("band ok", "#2e382d"),
        ("band failed", "#3e2d2d"),
        ("band timed out", "#3f382c"),
        ("band aborted", "#2b2b2d"),
        ("band purple", "#453d4b"),
        ("band unfilled", "#282a2e"),
        ("fill 0/8 0.31", "#445058"),
        ("fill 8/8 0.31", "#615132"),
        ("fill 0/8 0.38", "#4c5a64"),
        ("fill 0/8 0.43", "#51616c"),
        ("sweep 0.06", "#292c30"),
        ("sweep 0.34", "#48545d"),
        ("flash ok 0.3", "#4b5b44"),
        ("flash failed 0.3", "#684442"),
        ("flash timed out 0.3", "#735e36"),
        ("flash aborted 0.3", "#484747"),
        ("window's bars", "#2d2d2f"),
    ];
    for (name, hex) in table {
        let (_, ground) = grounds.iter().find(|(known, _)| known == name).expect(name);
        let (found, wanted) = (rgb(&theme, *ground), Rgb::parse(hex).expect("a colour"));
        let near = |a: u8, b: u8| a.abs_diff(b) <= 1;
        let is_near = near(found.0, wanted.0) && near(found.1, wanted.1) && near(found.2, wanted.2);
        assert!(is_near, "{name}: {found} is not {wanted}");
    }
}
