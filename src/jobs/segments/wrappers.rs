//! Commands that run another command: what is inside them.

use super::words::Word;

/// What a command runs by its arguments.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// Nothing that we know of.
    Nothing,
    /// This command, in the same way as if it stood alone.
    Command {
        /// Variables that the wrapper sets for it, as `NAME=value`.
        assignments: Vec<Word>,
        words: Vec<Word>,
    },
    /// One of these commands, with other rights, in another place, or in a way that we do not know.
    Perhaps(Vec<Vec<Word>>),
    /// Something that can't be told, perhaps one of these commands.
    Unknown(Vec<Vec<Word>>, String),
    /// This shell script.
    Script(String),
    /// Commands from its standard input.
    Stdin,
    /// The commands of `find -exec`.
    Each(Vec<Vec<Word>>),
}

/// A command that runs its arguments and changes nothing about what they do.
struct Wrapper {
    name: &'static str,
    /// Options without a value. `-5` stands for any number.
    flags: &'static [&'static str],
    /// Options with a value, attached or behind.
    valued: &'static [&'static str],
    /// Words between the options and the command.
    positionals: usize,
}

const WRAPPERS: [Wrapper; 12] = [
    Wrapper {
        name: "env",
        flags: &["-i", "-0", "-v", "--ignore-environment"],
        valued: &["-u", "--unset"],
        positionals: 0,
    },
    Wrapper {
        name: "timeout",
        flags: &["-v", "-f", "-p", "--verbose", "--foreground", "--preserve-status"],
        valued: &["-k", "-s", "--kill-after", "--signal"],
        positionals: 1,
    },
    Wrapper { name: "nice", flags: &["-5"], valued: &["-n", "--adjustment"], positionals: 0 },
    Wrapper {
        name: "ionice",
        flags: &["-t"],
        valued: &["-c", "-n", "--class", "--classdata"],
        positionals: 0,
    },
    Wrapper { name: "nohup", flags: &[], valued: &[], positionals: 0 },
    Wrapper {
        name: "stdbuf",
        flags: &[],
        valued: &["-i", "-o", "-e", "--input", "--output", "--error"],
        positionals: 0,
    },
    Wrapper { name: "time", flags: &["-p", "-v", "-l", "-h"], valued: &["-f", "--format"], positionals: 0 },
    Wrapper { name: "command", flags: &["-p"], valued: &[], positionals: 0 },
    Wrapper { name: "builtin", flags: &[], valued: &[], positionals: 0 },
    Wrapper { name: "exec", flags: &["-c", "-l"], valued: &["-a"], positionals: 0 },
    Wrapper { name: "setsid", flags: &["-c", "-f", "-w", "--wait"], valued: &[], positionals: 0 },
    Wrapper {
        name: "xargs",
        flags: &["-0", "-r", "-t", "-x", "--null", "--no-run-if-empty", "--verbose", "--exit"],
        valued: &[
            "-n",
            "-P",
            "-L",
            "-s",
            "-d",
            "-a",
            "--max-args",
            "--max-procs",
            "--max-lines",
            "--delimiter",
            "--arg-file",
        ],
        positionals: 0,
    },
];

/// Commands that run their arguments with other rights, elsewhere, or in ways we do not follow. Rules that allow never
/// look into them.
const CHANGERS: [&str; 24] = [
    "sudo",
    "doas",
    "su",
    "runuser",
    "pkexec",
    "chroot",
    "unshare",
    "nsenter",
    "taskset",
    "chrt",
    "flock",
    "watch",
    "strace",
    "ltrace",
    "gdb",
    "busybox",
    "toybox",
    "script",
    "unbuffer",
    "caffeinate",
    "systemd-run",
    "parallel",
    "coproc",
    "entr",
];

/// Shells whose scripts we read, as their grammar is near enough to bash.
const SHELLS: [&str; 6] = ["bash", "sh", "dash", "ash", "ksh", "rbash"];

/// Shells and other ways of running text as commands that we do not read.
const FOREIGN: [&str; 9] = ["zsh", "fish", "csh", "tcsh", "mksh", "eval", "trap", "fc", "bind"];

/// Candidates for a command somewhere in the arguments: no need to try every word of a long line.
const MAX_SUFFIXES: usize = 16;

/// Looks into one command.
pub(super) fn inside(words: &[Word]) -> Inside {
    let Some((first, arguments)) = words.split_first() else { return Inside::Nothing };
    let Some(command) = first.known() else { return Inside::Nothing };
    let name = base_name(command);
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
        // `./env` is somebody's program, whatever its name.
        if !["", "/bin/", "/usr/bin/"].iter().any(|folder| command.strip_prefix(folder) == Some(name)) {
            return Inside::Perhaps(suffixes(arguments));
        }
        return unwrap(wrapper, arguments);
    }
    if CHANGERS.contains(&name) {
        return Inside::Perhaps(suffixes(arguments));
    }
    if SHELLS.contains(&name) {
        return shell(name, arguments);
    }
    match name {
        "find" => find(arguments),
        "." | "source" if arguments.first().is_none_or(|file| !file.literal || is_stdin(&file.text)) => {
            Inside::Unknown(Vec::new(), format!("`{name}` runs something that is not known before"))
        }
        _ if FOREIGN.contains(&name) => {
            Inside::Unknown(suffixes(arguments), format!("`{name}` runs text as a command"))
        }
        _ => Inside::Nothing,
    }
}

/// The last part of a path.
pub(crate) fn base_name(command: &str) -> &str {
    command.rsplit('/').next().unwrap_or(command)
}

fn suffixes(words: &[Word]) -> Vec<Vec<Word>> {
    (0..words.len().min(MAX_SUFFIXES)).filter_map(|from| words.get(from..)).map(<[Word]>::to_vec).collect()
}

fn is_stdin(file: &str) -> bool {
    matches!(file, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

fn unwrap(wrapper: &Wrapper, arguments: &[Word]) -> Inside {
    let unknown = || {
        let reason = format!("the options of `{}` are not understood", wrapper.name);
        Inside::Unknown(suffixes(arguments), reason)
    };
    let mut rest = arguments;
    let mut replaced = None;
    let mut options_over = false;
    while let Some((word, behind)) = rest.split_first() {
        let Some(option) = word.known() else { return unknown() };
        if options_over || option == "-" && wrapper.name != "env" || !option.starts_with('-') {
            break;
        }
        if option == "--" {
            options_over = true;
            rest = behind;
            continue;
        }
        if wrapper.name == "command" && matches!(option, "-v" | "-V" | "-pv" | "-pV") {
            return Inside::Nothing;
        }
        if wrapper.name == "xargs"
            && let Some(placeholder) = option.strip_prefix("-I")
        {
            let (text, used) = match (placeholder, behind.first()) {
                ("", Some(next)) => (next.text.clone(), 1),
                ("", None) => return unknown(),
                (attached, _) => (attached.to_owned(), 0),
            };
            replaced = Some(text);
            rest = behind.get(used..).unwrap_or_default();
            continue;
        }
        let is_number = option.chars().skip(1).all(|c| c.is_ascii_digit());
        let is_valued = wrapper.valued.contains(&option);
        let is_flag = wrapper.flags.contains(&option)
            || (option == "-" && wrapper.name == "env")
            || (is_number && wrapper.flags.contains(&"-5"))
            || wrapper.valued.iter().any(|valued| has_value(option, valued));
        rest = match (is_valued, is_flag) {
            (true, _) if behind.first().is_some_and(|value| value.literal) => {
                behind.get(1..).unwrap_or_default()
            }
            (false, true) => behind,
            (true | false, _) => return unknown(),
        };
    }
    let (assignments, rest) = match wrapper.name {
        // `time` is a word of the grammar: variables may stand behind it.
        "env" | "time" => {
            let count = rest.iter().take_while(|word| word.text.contains('=')).count();
            rest.split_at(count)
        }
        _ => (&[][..], rest),
    };
    let (positionals, command) = rest.split_at(wrapper.positionals.min(rest.len()));
    if positionals.iter().any(|word| !word.literal) {
        return unknown();
    }
    if command.is_empty() {
        return Inside::Nothing;
    }
    let mut words = command.to_vec();
    if wrapper.name == "xargs" {
        fill_in(&mut words, replaced.as_deref());
    }
    Inside::Command { assignments: assignments.to_vec(), words }
}

/// `-n10`, `--signal=KILL`.
fn has_value(option: &str, valued: &str) -> bool {
    option.strip_prefix(valued).is_some_and(|value| {
        if valued.starts_with("--") { value.starts_with('=') } else { !value.is_empty() }
    })
}

/// What xargs reads takes the place of the placeholder, or stands at the end.
fn fill_in(words: &mut Vec<Word>, placeholder: Option<&str>) {
    let Some(placeholder) = placeholder.filter(|text| !text.is_empty()) else {
        words.push(Word::unknown());
        return;
    };
    for word in words.iter_mut().filter(|word| word.text.contains(placeholder)) {
        *word = Word { text: word.text.replace(placeholder, "*"), literal: false };
    }
}

/// `find … -exec command {} ;`
fn find(arguments: &[Word]) -> Inside {
    let mut commands = Vec::new();
    let mut rest = arguments.iter();
    while rest.any(|word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir")) {
        let command = rest.by_ref().take_while(|word| !matches!(word.text.as_str(), ";" | "+"));
        let command = command.map(|word| match word.text.contains("{}") {
            true => Word { text: word.text.replace("{}", "*"), literal: false },
            false => word.clone(),
        });
        commands.push(command.collect());
    }
    if commands.is_empty() { Inside::Nothing } else { Inside::Each(commands) }
}

fn shell(name: &str, arguments: &[Word]) -> Inside {
    let unknown = |what: &str| Inside::Unknown(suffixes(arguments), format!("`{name}` runs {what}"));
    let mut runs_text = false;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.known() else { return unknown("something that is not known before") };
        match text {
            "--" => continue,
            "--login" | "--norc" | "--noprofile" | "--posix" | "--verbose" => continue,
            _ if is_stdin(text) => return Inside::Stdin,
            _ => {}
        }
        let is_option = (text.starts_with('-') || text.starts_with('+')) && text.len() > 1;
        match (is_option, runs_text) {
            (true, _) if text.starts_with("--") => return unknown("with options that are not understood"),
            (true, _) => {
                let letters = text.chars().skip(1);
                if letters.clone().any(|c| !"abefhklmnprtuvxBCEHPTciOo".contains(c)) {
                    return if text.contains('s') {
                        Inside::Stdin
                    } else {
                        unknown("with options that are not understood")
                    };
                }
                runs_text |= text.starts_with('-') && text.contains('c');
                // Each of these takes its value from the words behind.
                for _ in letters.filter(|c| matches!(c, 'o' | 'O')) {
                    words.next();
                }
            }
            (false, true) => return Inside::Script(text.to_owned()),
            (false, false) => return Inside::Nothing,
        }
    }
    if runs_text { unknown("a command that is missing") } else { Inside::Stdin }
}
