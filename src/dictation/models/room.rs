//! Free memory and free disk of this machine.

use std::fs;
use std::path::Path;

/// Bytes of memory that a program can get without others losing theirs; the limit of a container counts.
#[must_use]
pub fn free_memory() -> u64 {
    let machine = machine();
    container().map_or(machine, |container| container.min(machine))
}

#[cfg(target_os = "linux")]
fn machine() -> u64 {
    // Without /proc (a locked-down container) nothing is known: what is chosen then is what needs least.
    fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text)).unwrap_or(0)
}

#[cfg(target_os = "macos")]
fn machine() -> u64 {
    // `vm_stat` counts pages; those that are free, inactive or speculative can be had.
    let output = std::process::Command::new("vm_stat").output();
    output.ok().and_then(|output| pages(&String::from_utf8_lossy(&output.stdout))).unwrap_or(0)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn machine() -> u64 {
    0
}

/// What is left of the memory that the control group allows, where there is a limit.
fn container() -> Option<u64> {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let limits = [
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ];
    limits.iter().find_map(|(limit, used)| {
        // `max` is no number: no limit. The older files write a number near 2^63 for that; the smaller of two counts
        // anyway.
        Some(number(limit)?.saturating_sub(number(used)?))
    })
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
#[cfg(any(target_os = "linux", test))]
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes.saturating_mul(1024))
}

/// Bytes that can be had, of what `vm_stat` prints.
#[cfg(any(target_os = "macos", test))]
fn pages(text: &str) -> Option<u64> {
    let size: u64 = text.split("page size of ").nth(1)?.split(' ').next()?.parse().ok()?;
    let count = |name: &str| -> u64 {
        let value = text.lines().find_map(|line| line.strip_prefix(name));
        value.and_then(|value| value.trim().trim_end_matches('.').parse().ok()).unwrap_or(0)
    };
    Some((count("Pages free:") + count("Pages inactive:") + count("Pages speculative:")).saturating_mul(size))
}

/// Free bytes where this folder is or will be; `None` where the system does not tell.
#[must_use]
pub fn free_disk(folder: &Path) -> Option<u64> {
    let there = folder.ancestors().find(|folder| folder.is_dir())?;
    let facts = rustix::fs::statvfs(there).ok()?;
    Some(facts.f_bavail.saturating_mul(facts.f_frsize))
}

/// Bytes of memory that this process holds, where the system tells.
#[must_use]
pub fn resident() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_texts_are_read() {
        let linux = "MemTotal:       24000000 kB\nMemFree:  1 kB\nMemAvailable:   2097152 kB\n";
        assert_eq!(available(linux), Some(2 << 30));
        assert_eq!(available("MemTotal: 5 kB"), None);
        let mac = "Mach Virtual Memory Statistics: (page size of 16384 bytes)\nPages free:          10.\n\
                   Pages active:    7.\nPages inactive:   5.\nPages speculative: 1.\n";
        assert_eq!(pages(mac), Some(16 * 16_384));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_tells() {
        assert!(free_memory() > 1 << 20);
        assert!(free_disk(Path::new("/tmp/not/there/yet")).is_some_and(|free| free > 0));
        assert!(resident().is_some_and(|bytes| bytes > 1 << 20));
    }
}
