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
    let text = "head -c 1M /dev/zero; touch printed; until [ -e go ]; do sleep 0.02; done; echo end; exit 3";
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
    assert!(end.lost_bytes > 500_000 && end.lost_bytes < 1 << 20, "{}", end.lost_bytes);
    let page = house.table.read(&id, ReadSpec::default()).await.unwrap();
    assert_eq!((page.lines.last().unwrap().text.as_str(), page.end), ("end", (1 << 20) + 4));
    // Full to the last byte: the end is told all the same.
    let id = house.start("head -c 1M /dev/zero; exit 4").await;
    assert_eq!(house.ended(&id).await.how, JobEnding::Exited(4));
    house.close().await;
}
