//! Names of jobs, made of their titles.

/// Characters of a name, at most.
const MOST: usize = 40;
/// The name of a title without any letter or digit.
const NAMELESS: &str = "job";

/// `Run unit tests` is `run-unit-tests`, and `run-unit-tests-2` if that is taken.
pub fn of(title: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut name = String::new();
    for character in title.to_lowercase().chars() {
        // Names are those of folders, and a model has to be able to write them.
        if character.is_ascii_alphanumeric() {
            name.push(character);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.len() >= MOST {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    let name = if name.is_empty() { NAMELESS } else { name };
    if !is_taken(name) {
        return name.to_owned();
    }
    let mut number = 2_u64;
    loop {
        let numbered = format!("{name}-{number}");
        if !is_taken(&numbered) {
            return numbered;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_made_of_titles() {
        for (title, name) in [
            ("Run unit tests", "run-unit-tests"),
            ("  Build: web/app (release)!  ", "build-web-app-release"),
            ("../../etc", "etc"),
            ("", "job"),
            ("日本語", "job"),
            ("Über Größe 2", "ber-gr-e-2"),
            ("npm", "npm"),
            (
                "A title that is far longer than anybody would want to write again",
                "a-title-that-is-far-longer-than-anybody",
            ),
        ] {
            assert_eq!(of(title, |_| false), name, "{title}");
        }
        let taken = BTreeSet::from(["npm", "npm-2"]);
        assert_eq!(of("NPM", |name| taken.contains(name)), "npm-3");
    }

    proptest! {
        #[test]
        fn a_name_is_a_plain_folder_and_new(titles in prop::collection::vec("\\PC{0,60}", 1..12)) {
            let mut taken = BTreeSet::new();
            for title in titles {
                let name = of(&title, |name| taken.contains(name));
                prop_assert!(!name.is_empty() && name.len() <= MOST + 4);
                prop_assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
                prop_assert!(taken.insert(name));
            }
        }
    }
}
