//! Disks that are full, and logs that somebody deletes.

use super::*;
use std::process::Command;

#[tokio::test]
async fn a_log_that_is_deleted_begins_anew_at_its_offset() {
    let mut house = House::new();
    let id = house.start("echo before; until [ -e go ]; do sleep 0.02; done; echo after; exit 2").await;
    house.shows(&id, "before").await;
    let folder = house.table.get(&id).unwrap().folder.clone();
    std::fs::remove_file(files::path(&folder, 0)).unwrap();
    std::fs::write(house.work().join("go"), "").unwrap();
    assert_eq!(house.ended(&id).await.how, JobEnding::Exited(2));
    let page = house.table.read(&id, ReadSpec::default()).await.unwrap();
    assert_eq!((page.lines[0].offset, page.lines[0].text.as_str(), page.first_kept), (7, "after", 7));
    assert_eq!(house.table.get(&id).unwrap().printed, 13);
    house.close().await;
}

#[tokio::test]
async fn a_limit_on_the_size_of_files_is_like_a_full_disk() {
    let mut house = House::with(Arc::new(tempfile::tempdir().unwrap()), |setup| {
        let KeeperProgram { path, arguments } = program();
        let limited = ["-c", "ulimit -f 100; exec \"$0\" \"$@\""].map(OsString::from);
        let arguments = limited.into_iter().chain([path.into()]).chain(arguments).collect();
        setup.keeper = KeeperProgram { path: "/bin/bash".into(), arguments };
    });
    let id = house.start("head -c 300K /dev/zero; exit 3").await;
    let end = house.ended(&id).await;
    assert_eq!((end.how, end.lost_bytes), (JobEnding::Exited(3), 200 * 1024));
    house.close().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_keeper_holds_nothing_open_that_it_was_given() {
    let house = House::with(Arc::new(tempfile::tempdir().unwrap()), |setup| {
        let KeeperProgram { path, arguments } = program();
        let held = ["-c", "exec 7> \"$1/held\" && shift && exec \"$0\" \"$@\""].map(OsString::from);
        let here = setup.root.parent().unwrap().into();
        let arguments = held.into_iter().chain([path.into(), here]).chain(arguments).collect();
        setup.keeper = KeeperProgram { path: "/bin/bash".into(), arguments };
    });
    let id = house.start("exec sleep 600").await;
    let held = house.work().join("held");
    assert!(held.exists());
    let running = house.record(&id).running.unwrap();
    for process in [running.keeper, running.shell] {
        let open = std::fs::read_dir(format!("/proc/{}/fd", process.pid)).unwrap().flatten();
        assert!(!open.flat_map(|entry| std::fs::read_link(entry.path())).any(|path| path == held));
    }
    house.close().await;
}

/// A tiny disk, if this is allowed here.
struct Disk(std::path::PathBuf);

impl Disk {
    fn mount(path: &Path) -> Option<Self> {
        std::fs::create_dir(path).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(path)
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then(|| Self(path.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(&self.0).status().unwrap();
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_stops_no_job_and_what_is_lost_is_counted() {
    let dir = Arc::new(tempfile::tempdir().unwrap());
    let disk = dir.path().join("state");
    let Some(_disk) = Disk::mount(&disk) else {
        println!("No small disk can be made here: nothing is tested.");
        return;
    };
    let mut house = House::with(dir, |_| {});
    // More than the pipe holds.
    let text = "head -c 3M /dev/zero; touch printed; until [ -e go ]; do sleep 0.02; done; echo end; exit 3";
    let id = house.start(text).await;
    let printed = house.work().join("printed");
    until("it is not held up", || printed.exists()).await;
    // Room again, and the time after which it is tried again.
    let folder = house.table.get(&id).unwrap().folder.clone();
    std::fs::remove_file(files::path(&folder, 0)).unwrap();
    tokio::time::sleep(Duration::from_millis(250)).await;
    std::fs::write(house.work().join("go"), "").unwrap();
    let end = house.ended(&id).await;
    assert_eq!(end.how, JobEnding::Exited(3));
    assert!(end.lost_bytes > 1 << 20 && end.lost_bytes < 3 << 20, "{}", end.lost_bytes);
    let page = house.table.read(&id, ReadSpec::default()).await.unwrap();
    assert_eq!((page.lines.last().unwrap().text.as_str(), page.end), ("end", (3 << 20) + 4));
    // Full to the last byte: the end is told all the same.
    let id = house.start("head -c 1M /dev/zero; exit 4").await;
    assert_eq!(house.ended(&id).await.how, JobEnding::Exited(4));
    house.close().await;
}
