//! `keep keep-job FOLDER`, as `mynah` does it.
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    match arguments.iter().map(|argument| argument.to_str().unwrap_or_default()).collect::<Vec<_>>()[..] {
        ["keep-job", folder, "shell"] => jobs_scratch::jobs::keeper::shell_main(Path::new(folder)),
        ["keep-job", folder] => jobs_scratch::jobs::keeper::main(Path::new(folder)),
        _ => ExitCode::FAILURE,
    }
}
