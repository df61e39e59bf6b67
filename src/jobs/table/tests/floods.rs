//! Jobs that print without end.

use super::*;
use std::process::{Command, Stdio};

/// Tells a second instance of this binary what to do.
pub const ROLE: &str = "MYNAH_TEST_ROLE";

pub fn status(pid: &str, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse().unwrap())
}

fn on_disk(folder: &Path) -> u64 {
    files::files(folder).iter().map(|file| file.length).sum()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_gigabyte_takes_neither_disk_nor_memory() {
    const CAP: u64 = 8 << 20;
    let mut house = House::with(Arc::new(tempfile::tempdir().unwrap()), |setup| setup.log_cap = CAP);
    let id = house.start("head -c 1G /dev/zero | tr '\\0' x; echo; echo the end; exit 1").await;
    let folder = house.table.get(&id).unwrap().folder.clone();
    let keeper = house.record(&id).running.unwrap().keeper.pid.to_string();
    let (mut disk, mut memory) = (0, 0);
    let end = house
        .event("the end", |event| match event {
            JobEvent::Changed(_) => {
                disk = disk.max(on_disk(&folder));
                memory = memory.max(status(&keeper, "RssAnon"));
                None
            }
            JobEvent::Ended(view) => Some(end_of(view)),
            JobEvent::Started(_) => None,
        })
        .await;
    assert_eq!((end.how, end.lost_bytes), (JobEnding::Exited(1), 0));
    // While it prints, a look at several files is not one at one moment.
    assert!(disk <= CAP + (1 << 20), "{disk} bytes on the disk");
    assert!(on_disk(&folder) <= CAP && on_disk(&folder) >= CAP / 2);
    assert!(memory > 0 && memory < 16 * 1024, "{memory} KiB");
    let page = house.table.read(&id, ReadSpec::default()).await.unwrap();
    assert_eq!(page.end, (1 << 30) + 9);
    assert_eq!(page.lines.last().unwrap().text, "the end");
    house.close().await;
}

/// What the second instance does; nothing in an ordinary run.
#[tokio::test]
async fn role() {
    if std::env::var(ROLE).as_deref() != Ok("flood") {
        return;
    }
    let mut house = House::new();
    let id = house.start("true").await;
    house.ended(&id).await;
    let before = status("self", "VmHWM");
    let id = house.start("yes 'a line of a job that prints' | head -c 200M").await;
    house.ended(&id).await;
    let spec = ReadSpec { grep: Some("no such line".to_owned()), ..ReadSpec::default() };
    assert!(house.table.read(&id, spec).await.unwrap().lines.is_empty());
    house.log(&id).await;
    println!("\ngrew by {}", status("self", "VmHWM") - before);
    house.close().await;
}

#[cfg(target_os = "linux")]
#[test]
fn two_hundred_megabytes_take_little_memory_of_ours() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["jobs::table::tests::floods::role", "--exact", "--nocapture"])
        .env(ROLE, "flood")
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let grew: u64 = text.lines().find_map(|line| line.strip_prefix("grew by ")?.parse().ok()).expect(&text);
    assert!(grew < 16 * 1024, "by {grew} KiB");
}
