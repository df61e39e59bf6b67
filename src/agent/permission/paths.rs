//! Where a path is: lexically, through symbolic links, in the project, among keys.

use super::rule::{RuleList, RuleProblem, could_be};
use globset::{GlobBuilder, GlobMatcher};
use std::path::{Component, Path, PathBuf};

/// What paths in rules and calls are relative to.
#[derive(Clone, Copy)]
pub struct PathContext<'a> {
    /// Working directory of the session.
    pub cwd: &'a Path,
    /// The work tree that is worked on.
    pub project_root: &'a Path,
    /// The user's home folder.
    pub home: &'a Path,
    /// Where Mynah's own settings and keys are.
    pub config_dir: &'a Path,
    /// Resolves symbolic links in the part of an absolute path that exists. See [`resolve_on_disk`].
    pub resolve: &'a dyn Fn(&Path) -> PathBuf,
}

/// Links that lead to links; the kernel gives up after as many.
const MAX_LINKS: usize = 40;

/// Resolves symbolic links in the part of an absolute path that exists; the rest stays as it is. The one function here
/// that touches the disk: for [`PathContext::resolve`].
pub fn resolve_on_disk(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let resolved = path.ancestors().find_map(|existing| {
            let resolved = existing.canonicalize().ok()?;
            let rest = path.strip_prefix(existing).ok()?;
            Some(if rest.as_os_str().is_empty() { resolved } else { resolved.join(rest) })
        });
        let Some(resolved) = resolved else { break };
        // A link to nothing: whoever writes to it creates what it leads to.
        match std::fs::read_link(&resolved) {
            Ok(target) => path = resolved.parent().unwrap_or(&resolved).join(target),
            Err(_) => return resolved,
        }
    }
    path
}

/// The file may hold keys or passwords: reading it asks in every mode but yolo.
pub fn is_key_file(path: &Path, paths: &PathContext<'_>) -> bool {
    let places = Places::of(paths);
    places.is_key(&places.locate(path))
}

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

impl Access {
    /// The tool name that stands for all tools with this access in rules.
    pub(super) const fn rule_name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "edit",
        }
    }
}

/// A path as written and as resolved; both absolute and without `.` and `..`.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub(super) lexical: PathBuf,
    pub(super) resolved: PathBuf,
}

impl Located {
    pub(super) fn any(&self, holds: impl Fn(&Path) -> bool) -> bool {
        holds(&self.lexical) || holds(&self.resolved)
    }

    pub(super) fn all(&self, holds: impl Fn(&Path) -> bool) -> bool {
        holds(&self.lexical) && holds(&self.resolved)
    }
}

/// Folders that hold keys, wherever they stand.
const KEY_FOLDERS: [&str; 8] =
    [".ssh", ".aws", ".azure", ".kube", ".gnupg", ".password-store", "keyrings", "Keychains"];

/// Files that hold keys, wherever they stand. `.env*` is a rule of its own.
const KEY_FILES: [&str; 6] = [".netrc", "_netrc", ".pgpass", ".git-credentials", ".pypirc", "id_rsa"];

/// Files and folders that hold keys below a certain folder.
const KEY_PAIRS: [(&str, &str); 7] = [
    (".config", "gcloud"),
    ("gh", "hosts.yml"),
    (".docker", "config.json"),
    (".cargo", "credentials"),
    (".cargo", "credentials.toml"),
    ("mynah", "auth.toml"),
    ("share", "kwalletd"),
];

/// Ends of `.env` names that are templates, made to be shared.
const ENV_TEMPLATES: [&str; 5] = [".example", ".sample", ".template", ".dist", ".defaults"];

/// Folders whose files can run code or change rules without a further question.
const GUARDED_FOLDERS: [&str; 2] = [".git", ".mynah"];

/// The context with its folders resolved once.
pub(super) struct Places<'a> {
    context: &'a PathContext<'a>,
    project: Located,
    home: Located,
    config: Located,
}

impl<'a> Places<'a> {
    pub(super) fn of(context: &'a PathContext<'a>) -> Self {
        let locate =
            |path: &Path| Located { lexical: normal(path), resolved: normal(&(context.resolve)(path)) };
        Self {
            context,
            project: locate(context.project_root),
            home: locate(context.home),
            config: locate(context.config_dir),
        }
    }

    /// Finds a path; a relative one is relative to the working directory.
    pub(super) fn locate(&self, path: &Path) -> Located {
        self.locate_in(self.context.cwd, path)
    }

    pub(super) fn locate_in(&self, folder: &Path, path: &Path) -> Located {
        let path = folder.join(self.expand_home(path));
        // Resolved before `..` is taken away: `link/..` is where the link leads.
        Located { lexical: normal(&path), resolved: normal(&(self.context.resolve)(&path)) }
    }

    fn expand_home(&self, path: &Path) -> PathBuf {
        path.strip_prefix("~").map_or_else(|_| path.to_owned(), |rest| self.context.home.join(rest))
    }

    pub(super) fn is_project_root(&self, path: &Path) -> bool {
        self.project.any(|root| path == root)
    }

    pub(super) fn is_in_project(&self, located: &Located) -> bool {
        located.all(|path| self.project.any(|root| path.starts_with(root)))
    }

    /// The file may hold keys.
    pub(super) fn is_key(&self, located: &Located) -> bool {
        located.any(|path| {
            is_key_name(&path.to_string_lossy()) || self.config.any(|config| path == config.join("auth.toml"))
        })
    }

    /// The home folder or one above it: whoever reads all of it reads keys.
    pub(super) fn is_above_home(&self, located: &Located) -> bool {
        located.any(|path| self.home.any(|home| home.starts_with(path)))
    }

    /// A file that decides what runs without a further question: hooks, our own settings, start-up files.
    pub(super) fn is_guarded(&self, located: &Located) -> bool {
        let project_holds_home = self.is_above_home(&self.project);
        located.any(|path| {
            let is_startup_file = self.home.any(|home| {
                let first = path.strip_prefix(home).ok().and_then(|rest| rest.components().next());
                first.is_some_and(|first| first.as_os_str().to_string_lossy().starts_with('.'))
            });
            path.components()
                .any(|part| GUARDED_FOLDERS.iter().any(|name| part.as_os_str().eq_ignore_ascii_case(name)))
                || self.config.any(|config| path.starts_with(config))
                || (project_holds_home && is_startup_file)
        })
    }

    /// A path as people and rules write it.
    pub(super) fn shown(&self, path: &Path) -> String {
        if let Ok(rest) = path.strip_prefix(&self.project.lexical)
            && !rest.as_os_str().is_empty()
        {
            return rest.display().to_string();
        }
        match path.strip_prefix(&self.home.lexical) {
            Ok(rest) if !rest.as_os_str().is_empty() => format!("~/{}", rest.display()),
            _ => path.display().to_string(),
        }
    }
}

/// A path names a file that may hold keys. In its parts `*` may stand for something unknown.
pub(super) fn is_key_name(path: &str) -> bool {
    let parts: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(str::to_lowercase).collect();
    let is = |part: &str, name: &str| {
        let name = name.to_lowercase();
        // As in the shell, a pattern finds a hidden file only if it begins with a dot.
        part == name || (part.contains(['*', '?', '[']) && part.starts_with('.') && could_be(part, &name))
    };
    let is_environ = parts.first().is_some_and(|first| first == "proc")
        && parts.last().is_some_and(|last| last == "environ");
    let is_env = parts.last().is_some_and(|last| {
        (last.starts_with(".env") && !ENV_TEMPLATES.iter().any(|end| last.ends_with(end)))
            || (last.contains(['*', '?', '[']) && is(last, ".env"))
    });
    is_environ
        || is_env
        || parts.iter().any(|part| KEY_FOLDERS.iter().any(|name| is(part, name)))
        || parts.last().is_some_and(|last| KEY_FILES.iter().any(|name| is(last, name)))
        || parts.iter().zip(parts.iter().skip(1)).any(|(folder, part)| {
            KEY_PAIRS.iter().any(|(in_folder, name)| is(folder, in_folder) && is(part, name))
        })
}

/// An absolute path without `.` and `..`; `..` at the root stays there.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

/// Which files a rule covers.
#[derive(Clone, Debug)]
pub(super) struct PathPattern {
    anchor: Anchor,
    /// The parts before the first with a wildcard.
    fixed: PathBuf,
    /// The rest; none if the pattern has no wildcard.
    globs: Vec<GlobMatcher>,
}

/// What a pattern is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Anchor {
    Project,
    Home,
    Root,
}

impl PathPattern {
    pub(super) fn parse(list: RuleList, pattern: &str) -> Result<Self, RuleProblem> {
        let (anchor, text) = match (pattern.strip_prefix('/'), pattern.strip_prefix('~')) {
            (Some(rest), _) => (Anchor::Root, rest),
            (_, Some("")) => (Anchor::Home, ""),
            (_, Some(rest)) if rest.starts_with('/') => (Anchor::Home, rest),
            _ => (Anchor::Project, pattern),
        };
        let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        if parts.contains(&"..") {
            return Err(RuleProblem::Glob("`..` leads out of where it stands".to_owned()));
        }
        let count = parts.iter().take_while(|part| !has_wildcard(part)).count();
        let (fixed, rest) = parts.split_at(count);
        let mut globs = Vec::new();
        // `src/` is all of it, and `src/**` is `src`, too.
        let mut rest = rest.join("/");
        if rest.is_empty() && text.ends_with('/') {
            rest = "**".to_owned();
        }
        let without = rest.strip_suffix("/**");
        for glob in [Some(rest.as_str()), without].into_iter().flatten().filter(|glob| !glob.is_empty()) {
            let glob = GlobBuilder::new(glob)
                .literal_separator(true)
                .backslash_escape(true)
                // Some file systems do not tell the cases apart; a rule that forbids must hold there.
                .case_insensitive(list != RuleList::Allow)
                .build()
                .map_err(|error| RuleProblem::Glob(error.kind().to_string()))?;
            globs.push(glob.compile_matcher());
        }
        Ok(Self { anchor, fixed: fixed.iter().map(|part| unescaped(part)).collect(), globs })
    }

    /// It names one path, without wildcards.
    pub(super) const fn is_exact(&self) -> bool {
        self.globs.is_empty()
    }

    /// It allows this path.
    pub(super) fn allows(&self, path: &Path, places: &Places<'_>) -> bool {
        self.rest_of(path, places, false).any(|rest| self.fits(&rest))
    }

    /// It denies or asks about this path: in doubt yes, and with all below a path that it names.
    pub(super) fn catches(&self, path: &Path, places: &Places<'_>) -> bool {
        self.rest_of(path, places, true).any(|rest| self.is_exact() || self.fits(&rest))
    }

    fn fits(&self, rest: &Path) -> bool {
        if rest.as_os_str().is_empty() {
            return self.globs.is_empty() || self.globs.iter().any(|glob| glob.glob().glob() == "**");
        }
        self.globs.iter().any(|glob| glob.is_match(rest))
    }

    /// What a path is below the fixed part, as written and as resolved. Links within the project are followed only for
    /// rules that forbid: `edit(out/**)` is no leave to write wherever somebody lets `out` point to.
    fn rest_of(&self, path: &Path, places: &Places<'_>, forbids: bool) -> impl Iterator<Item = PathBuf> {
        let PathContext { project_root, home, resolve, .. } = *places.context;
        let (base, resolved) = match self.anchor {
            Anchor::Project if forbids => {
                let base = project_root.join(&self.fixed);
                (normal(&base), normal(&resolve(&base)))
            }
            Anchor::Project => {
                (places.project.lexical.join(&self.fixed), places.project.resolved.join(&self.fixed))
            }
            Anchor::Home | Anchor::Root => {
                let anchor = if self.anchor == Anchor::Home { home } else { Path::new("/") };
                let base = anchor.join(&self.fixed);
                (normal(&base), normal(&resolve(&base)))
            }
        };
        [base, resolved].into_iter().filter_map(move |base| strip_base(path, &base, forbids))
    }
}

fn strip_base(path: &Path, base: &Path, ignore_case: bool) -> Option<PathBuf> {
    let mut parts = path.components();
    for wanted in base.components() {
        let part = parts.next()?;
        let is_same = part == wanted
            || (ignore_case
                && part.as_os_str().to_string_lossy().to_lowercase()
                    == wanted.as_os_str().to_string_lossy().to_lowercase());
        if !is_same {
            return None;
        }
    }
    Some(parts.as_path().to_owned())
}

fn has_wildcard(part: &str) -> bool {
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '*' | '?' | '[' | '{' => return true,
            _ => {}
        }
    }
    false
}

/// A path part as a pattern that means just it.
pub(super) fn escaped(part: &str) -> String {
    part.chars().flat_map(|c| "*?[]{}\\".contains(c).then_some('\\').into_iter().chain([c])).collect()
}

fn unescaped(part: &str) -> String {
    let mut out = String::new();
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}
