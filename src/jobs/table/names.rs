//! Names of jobs, made of their titles. Pure.

use crate::proto::ids::JobId;

/// Characters of a name, without its number.
const MOST: usize = 40;

/// The name of a title without any letter or digit.
const NAMELESS: &str = "job";

/// `Run unit tests` is `run-unit-tests`, and `run-unit-tests-2` if that is taken. A name is also that of a folder: it
/// holds letters, digits and hyphens, and begins with one of the former.
pub fn name(title: &str, is_taken: impl Fn(&str) -> bool) -> JobId {
    let mut name = String::new();
    for character in title.to_lowercase().chars() {
        if name.chars().count() >= MOST {
            break;
        }
        if character.is_alphanumeric() {
            name.push(character);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    let name = Some(name.trim_end_matches('-')).filter(|name| !name.is_empty()).unwrap_or(NAMELESS);
    if !is_taken(name) {
        return JobId::new(name);
    }
    let mut number = 2_u64;
    loop {
        let numbered = format!("{name}-{number}");
        if !is_taken(&numbered) {
            return JobId::new(numbered);
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_made_of_titles() {
        for (title, want) in [
            ("Run unit tests", "run-unit-tests"),
            ("  Build: web/app (release)!  ", "build-web-app-release"),
            ("../../etc", "etc"),
            (".hidden", "hidden"),
            ("", "job"),
            ("--\u{202e}--", "job"),
            ("日本語 テスト", "日本語-テスト"),
            ("Über Größe 2", "über-größe-2"),
            ("npm", "npm-3"),
            (
                "A title that is far longer than anybody would write",
                "a-title-that-is-far-longer-than-anybody",
            ),
        ] {
            assert_eq!(name(title, |name| ["npm", "npm-2"].contains(&name)).as_str(), want, "{title}");
        }
    }

    proptest! {
        #[test]
        fn a_name_is_always_a_folder(title in any::<String>(), taken in 0_usize..3) {
            let count = std::cell::Cell::new(0);
            let name = name(&title, |_| count.replace(count.get() + 1) < taken);
            let name = name.as_str();
            prop_assert!(!name.is_empty() && name.len() <= 200);
            prop_assert!(!name.starts_with(['-', '.']));
            prop_assert!(name.chars().all(|character| character.is_alphanumeric() || character == '-'));
        }
    }
}
