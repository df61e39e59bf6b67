use super::*;
use tempfile::TempDir;

fn choice(setting: &str) -> Choice<'_> {
    Choice { setting, page: None, depth: Depth::True, contrast: Contrast::Normal }
}

/// The theme `mine` with this text, and its warnings without the folder.
fn mine(text: &str) -> (Theme, Vec<String>) {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("mine.toml"), text).unwrap();
    let (theme, warnings) = load(&choice("mine"), folder.path());
    let prefix = format!("{}/", folder.path().display());
    (theme, warnings.into_iter().map(|warning| warning.text.replace(&prefix, "")).collect())
}

#[test]
fn embedded_themes_are_complete_and_right() {
    for (name, text) in EMBEDDED {
        let mut files = Files { folder: None, warnings: Vec::new() };
        let layers = files.layers(name);
        assert_eq!(files.warnings, [], "{name}");
        let vars: Vec<_> = layers.iter().flat_map(|layer| layer.vars.keys()).collect();
        for role in Role::ALL {
            let value =
                layers.iter().rev().find_map(|layer| layer.colors.iter().find(|(known, _)| known == role));
            let (_, value) = value.unwrap_or_else(|| panic!("{name} has no {}", role.name()));
            if let Value::Variable(variable) = &value.color {
                assert!(vars.contains(&variable), "{name}: {variable}");
            }
        }
        assert!(text.contains("[vars]"));
    }
}

#[test]
fn the_setting_names_a_theme() {
    let (black, white) = (Some(Rgb::BLACK), Some(Rgb::WHITE));
    let table = [
        ("quiet", None, Depth::True, "quiet-dark"),
        ("quiet", black, Depth::Indexed, "quiet-dark"),
        ("quiet", white, Depth::True, "quiet-light"),
        ("quiet", white, Depth::Ansi, "terminal"),
        ("quiet", None, Depth::Mono, "terminal"),
        ("quiet-dark", white, Depth::Ansi, "quiet-dark"),
        ("quiet-dark", black, Depth::Mono, "terminal"),
        ("contrast", None, Depth::True, "contrast-dark"),
        ("contrast", white, Depth::Indexed, "contrast-light"),
        ("contrast", black, Depth::Ansi, "terminal"),
        ("night/day", white, Depth::True, "day"),
        ("night/day", None, Depth::True, "night"),
    ];
    for (setting, page, depth, expected) in table {
        let choice = Choice { setting, page, depth, contrast: Contrast::Normal };
        assert_eq!(choice.name(), expected, "{setting} {page:?} {depth:?}");
    }
}

#[test]
fn a_file_patches_fields() {
    let (theme, warnings) = mine(
        "inherits = \"quiet-light\"\n[vars]\naccent = \"#004400\"\nown = 99\n[colors]\nerror = \"own bold\"\nmuted = \"red\"",
    );
    assert_eq!(warnings, [""; 0]);
    assert_eq!(theme.name(), "mine");
    assert_eq!(theme.color(Role::ToolTitle), Color::Rgb(0, 0x44, 0), "roles follow the changed variable");
    assert!(theme.style(Role::Error).add_modifier.contains(Modifier::BOLD));
    assert_eq!(theme.color(Role::Muted), Color::Red);
    assert_eq!(theme.page(), Rgb(0xf7, 0xf6, 0xf2));
    assert_eq!(theme.color(Role::MdCode), Theme::quiet_light().color(Role::MdCode));
}

#[test]
fn wrong_values_are_told_with_file_and_line() {
    let (theme, warnings) = mine(
        "speed = 3\n[vars]\naccent = \"#12\"\n[colors]\ntext = \"#12345\"\nmd_heading = \"red\"\ndim = \"red loud\"\nmuted = true\n",
    );
    let begins = [
        "mine.toml:1: a theme has no `speed`",
        "mine.toml:3: `vars.accent` must be #rrggbb",
        "mine.toml:5: `text` must be #rrggbb",
        "mine.toml:6: there is no role `md_heading`. Did you mean `mdHeading`?",
        "mine.toml:7: `dim` must be",
        "mine.toml:8: `muted` must be",
    ];
    assert_eq!(warnings.len(), begins.len(), "{warnings:#?}");
    for (warning, begin) in warnings.iter().zip(begins) {
        assert!(warning.starts_with(begin), "{warning}");
    }
    assert_eq!(theme.color(Role::Text), Theme::quiet_dark().color(Role::Text));
}

#[test]
fn a_name_that_no_variable_has_is_told() {
    let (theme, warnings) = mine("[colors]\ntext = \"txet\"\n");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("mine.toml:2: `text` is `txet`"), "{warnings:?}");
    assert_eq!(theme.color(Role::Text), Theme::quiet_dark().color(Role::Text));
}

#[test]
fn files_that_are_no_themes_leave_quiet() {
    let (theme, warnings) = mine("text = = 1");
    assert!(warnings[0].starts_with("mine.toml:1: this is no TOML"), "{warnings:?}");
    assert_eq!(theme.color(Role::Text), Theme::quiet_dark().color(Role::Text));

    let (theme, warnings) = mine("inherits = \"mine\"");
    assert!(warnings[0].contains("in a circle"), "{warnings:?}");
    assert_eq!(theme.color(Role::Text), Theme::quiet_dark().color(Role::Text));

    let (_, warnings) = mine("inherits = \"yours\"");
    assert!(warnings[0].contains("inherits from `yours`, which does not exist"), "{warnings:?}");

    let folder = TempDir::new().unwrap();
    let (theme, warnings) = load(&choice("../secret"), folder.path());
    assert_eq!((theme.name(), warnings.len()), ("quiet-dark", 1));
    assert_eq!(
        names(folder.path()),
        ["quiet", "contrast", "quiet-dark", "quiet-light", "contrast-dark", "contrast-light", "terminal"]
    );
}

#[test]
fn a_file_of_an_embedded_name_patches_that_theme() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("quiet-light.toml"), "[colors]\ntext = \"#000000\"").unwrap();
    let (theme, warnings) = load(&choice("quiet-light"), folder.path());
    assert_eq!(warnings, []);
    assert_eq!(theme.color(Role::Text), Color::Rgb(0, 0, 0));
    assert_eq!(theme.color(Role::Accent), Theme::quiet_light().color(Role::Accent));
}
