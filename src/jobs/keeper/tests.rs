//! The keeper is this test binary started again. What it does is tested with the table.

use super::*;

/// How tests start keepers.
pub fn program() -> KeeperProgram {
    let arguments = ["jobs::keeper::tests::role", "--exact", "--nocapture", "--test-threads=1"];
    KeeperProgram { path: std::env::current_exe().unwrap(), arguments: arguments.map(Into::into).to_vec() }
}

/// Is a keeper when it is started with the folder of a job; nothing in an ordinary run.
#[test]
fn role() {
    let arguments: Vec<_> = std::env::args_os().collect();
    let folder = arguments.iter().map(Path::new).find(|argument| argument.join("job.json").is_file());
    if let Some(folder) = folder {
        let is_shell = arguments.last().is_some_and(|last| last == "shell");
        let _code = if is_shell { shell_main(folder) } else { main(folder) };
        std::process::exit(0);
    }
}
