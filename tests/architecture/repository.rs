//! What may lie where in the repository, and what its files may not speak of.

use super::layers::Finding;
use regex::Regex;

/// What the top level holds, beside files and folders that begin with a dot.
const TOP_LEVEL: [&str; 9] =
    ["Cargo.toml", "Cargo.lock", "src", "assets", "themes", "config", "tests", "snapshots", "README.md"];

/// Checks the names in the root folder; `ignored` is the text of `.gitignore`.
pub fn check_top_level(names: &[String], ignored: &str) -> Vec<Finding> {
    let belongs =
        |name: &str| name.starts_with('.') || TOP_LEVEL.contains(&name) || is_ignored(name, ignored);
    let strangers = names.iter().filter(|name| !belongs(name));
    let finding = |name: &String| Finding {
        place: name.clone(),
        what: "does not belong at the top level".to_owned(),
        why: "whoever opens the repository should see the whole of it at a glance".to_owned(),
        help:
            "Put it into assets/, tests/, README.md or the folder it serves; build products into .gitignore."
                .to_owned(),
    };
    strangers.map(finding).collect()
}

/// `.gitignore` names it, at the root.
pub fn is_ignored(name: &str, ignored: &str) -> bool {
    ignored.lines().any(|line| line.trim_end_matches('/').strip_prefix('/') == Some(name))
}

/// Checks paths below `snapshots`: `<area>__<case>__<cols>x<rows>.snap`. A snapshot of text that no screen size changes is
/// `<area>__<case>.snap`. Areas and cases are lower-case words joined by single `_` or `-`.
pub fn check_snapshot_names(names: &[String]) -> Vec<Finding> {
    let words = "[a-z0-9]+(?:[_-][a-z0-9]+)*";
    let shape = Regex::new(&format!(r"^{words}__{words}(?:__[1-9]\d*x[1-9]\d*)?\.snap$")).unwrap();
    let finding = |name: &String| {
        let (what, help) = if name.ends_with(".snap.new") {
            let help = "Look at the difference, then rename it over the old one or delete it.";
            ("is a snapshot that nobody has accepted", help)
        } else {
            let help =
                "Name it <area>__<case>__<cols>x<rows>.snap; text without a screen: <area>__<case>.snap.";
            ("has not the name of a snapshot", help)
        };
        Finding {
            place: format!("snapshots/{name}"),
            what: what.to_owned(),
            why: "the name tells a reviewer what is shown and at which size".to_owned(),
            help: help.to_owned(),
        }
    };
    names.iter().filter(|name| !shape.is_match(name)).map(finding).collect()
}

/// What tells a developer's machine.
pub struct Machine {
    homes: Regex,
    checkout: Option<String>,
}

/// Names of home folders that are plainly made up, beside single letters.
const EXAMPLES: [&str; 8] = ["user", "me", "you", "name", "someone", "ada", "example", "linuxbrew"];

impl Machine {
    /// `checkout` is where the repository lies on this machine. At the top of the file system its name says too little
    /// to look for.
    pub fn new(checkout: &str) -> Self {
        // `[/]` keeps the pattern from finding itself.
        let homes =
            Regex::new(r"(?:^|[^\w./~-])([/]root/|(?:/home/|/Users/|[A-Z]:\\+Users\\+)([\w.-]+))").unwrap();
        let is_telling = checkout.split('/').filter(|part| !part.is_empty()).count() > 1;
        Self { homes, checkout: is_telling.then(|| checkout.to_owned()) }
    }

    /// Checks one file.
    pub fn check(&self, file: &str, text: &str) -> Vec<Finding> {
        let lines = text.lines().enumerate();
        let found = lines.filter_map(|(at, line)| Some((at + 1, self.find(line)?)));
        let finding = |(line, path): (usize, String)| Finding {
            place: format!("{file}:{line}"),
            what: format!("speaks of `{path}`, a place on somebody's machine"),
            why: "it means nothing to others, and tells of who worked where".to_owned(),
            help: "Use a path made up for the purpose (/home/u/project), or a relative one.".to_owned(),
        };
        found.map(finding).collect()
    }

    fn find(&self, line: &str) -> Option<String> {
        if let Some(checkout) = self.checkout.as_ref().filter(|checkout| line.contains(checkout.as_str())) {
            return Some(checkout.clone());
        }
        self.homes.captures_iter(line).find_map(|captures| {
            let name = captures.get(2).map_or("", |name| name.as_str());
            let made_up = name.chars().count() == 1 || EXAMPLES.contains(&name);
            (!made_up).then(|| captures[1].to_owned())
        })
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn strangers_at_the_top_are_found() {
    let names = owned(&["src", "Cargo.toml", ".ci", "target", "docs", "CHANGELOG.md"]);
    let found = check_top_level(&names, "/target\n*.snap.new\n");
    let places: Vec<_> = found.iter().map(|finding| finding.place.as_str()).collect();
    assert_eq!(places, ["docs", "CHANGELOG.md"]);
}

#[test]
fn snapshot_names_are_checked() {
    let good = owned(&["footer__over_limit__80x24.snap", "help__all-flags.snap", "a__b__1x1.snap"]);
    assert!(check_snapshot_names(&good).is_empty());
    let bad = owned(&[
        "footer.snap",
        "footer__Case__80x24.snap",
        "footer__case__80.snap",
        "footer__case__80x0.snap",
        "footer__a__b__80x24.snap",
        "footer__case__80x24.snap.new",
        "sub/footer__case__80x24.snap",
        "notes.txt",
    ]);
    assert_eq!(check_snapshot_names(&bad).len(), bad.len());
}

#[test]
fn places_on_a_machine_are_found() {
    let machine = Machine::new("/srv/checkouts/bird");
    let speaks = |text: &str| !machine.check("a.rs", text).is_empty();
    let home = "/home";
    let root = "root";
    assert!(speaks(&format!("see {home}/carol/notes")));
    assert!(speaks(&format!("\"/Users{}\"", "/carol")));
    assert!(speaks(&format!("C:\\Users\\{}", "carol")));
    assert!(speaks(&format!("in /{root}/x")));
    assert!(speaks("cd /srv/checkouts/bird/src"));
    for fine in
        ["/home/u/p", "/home/user/project", "/Users/me", "/srv/other", "a/root/b", "/home/{name}", "~/x"]
    {
        assert!(!speaks(fine), "{fine}");
    }
    assert!(Machine::new("/app").check("a.rs", "/app/main.py").is_empty());
    let placed = machine.check("a.rs", &format!("ok\n{home}/carol"));
    assert_eq!(placed[0].place, "a.rs:2");
}
