//! The plan alone, and the writer and reader on real folders.

use super::files::{Extent, extent, files, newest, read};
use super::plan::{LogFile, Rotation};
use super::writer::LogWriter;
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

fn whole(folder: &Path, from: u64) -> (u64, Vec<u8>) {
    let (mut all, mut at, mut first) = (Vec::new(), from, None);
    let mut buffer = [0; 7];
    loop {
        let (begins, length) = read(folder, at, &mut buffer).unwrap();
        if length == 0 {
            return (first.unwrap_or(from), all);
        }
        first.get_or_insert(begins);
        all.extend(&buffer[..length]);
        at = begins + length as u64;
    }
}

#[test]
fn files_and_offsets_of_given_writes() {
    let mut log = Rotation::new(10, [], 0);
    let mut seen = Vec::new();
    for length in [3, 4, 5, 1, 9] {
        let mut rest = length;
        while rest > 0 {
            let place = log.place(rest);
            let surplus = if place.is_new { log.make_room() } else { Vec::new() };
            log.written(place, place.length);
            seen.push((place.begins, place.length, surplus));
            rest -= place.length;
        }
    }
    let none = Vec::new;
    let want = [
        (0, 3, none()),
        (0, 2, none()),
        (5, 2, none()),
        (5, 3, none()),
        (10, 2, vec![0]),
        (10, 1, none()),
        (10, 2, none()),
        (15, 5, vec![5]),
        (20, 2, vec![10]),
    ];
    assert_eq!(seen, want);
}

#[test]
fn an_earlier_writer_is_continued_in_a_file_of_its_own() {
    let mut log = Rotation::new(100, [LogFile { begins: 0, length: 7 }], 9);
    let place = log.place(5);
    assert_eq!((place.begins, place.is_new, log.make_room()), (9, true, vec![]));
    // A first part larger than half of what may be kept goes as soon as there is something newer.
    let mut log = Rotation::new(100, [LogFile { begins: 0, length: 51 }], 51);
    assert_eq!(log.make_room(), [0]);
}

/// What happens to a log.
#[derive(Clone, Copy, Debug)]
enum Happens {
    Printed(usize),
    /// The disk takes so many of them.
    Refused(usize, usize),
    Deleted,
}

proptest! {
    #[test]
    fn the_plan_keeps_the_newest_and_never_more_than_the_cap(
        all in prop::collection::vec(prop_oneof![
            (1_usize..60).prop_map(Happens::Printed),
            (1_usize..60, 0_usize..20).prop_map(|(length, taken)| Happens::Refused(length, taken)),
            Just(Happens::Deleted),
        ], 1..80),
        cap in 2_u64..64,
    ) {
        let mut log = Rotation::new(cap, [], 0);
        // Beside it a model of the disk.
        let mut disk: Vec<LogFile> = Vec::new();
        let (mut printed, mut unbroken, mut is_open) = (0_u64, 0_u64, false);
        for happens in all {
            let (length, taken) = match happens {
                Happens::Printed(length) => (length, usize::MAX),
                Happens::Refused(length, taken) => (length, taken),
                Happens::Deleted => {
                    // The writer notices only with the file that it has open.
                    if std::mem::take(&mut is_open) {
                        disk.pop();
                        unbroken = 0;
                    }
                    log.deleted();
                    continue;
                }
            };
            let (mut rest, mut taken) = (length, taken);
            while rest > 0 {
                let place = log.place(rest);
                prop_assert!(place.length > 0 && place.length <= rest);
                let count = place.length.min(taken);
                if place.is_new {
                    let surplus = log.make_room();
                    disk.retain(|file| !surplus.contains(&file.begins));
                }
                log.written(place, count);
                if count > 0 && place.is_new {
                    prop_assert_eq!(place.begins, printed + (length - rest) as u64);
                    disk.push(LogFile { begins: place.begins, length: 0 });
                }
                if count > 0 {
                    disk.last_mut().unwrap().length += count as u64;
                    unbroken += count as u64;
                    is_open = true;
                }
                taken -= count.min(taken);
                rest -= count;
                if count < place.length {
                    log.lost(rest);
                    (unbroken, is_open) = (0, false);
                    break;
                }
            }
            printed += length as u64;
            prop_assert_eq!(log.at(), printed);
            let kept: u64 = disk.iter().map(|file| file.length).sum();
            prop_assert!(kept <= cap.max(2), "{} of {}", kept, cap);
            prop_assert!(disk.len() <= 16);
            // The newest bytes without a gap: at least half of what may be kept.
            let newest: u64 = disk.iter().rev().map(|file| file.length).sum();
            prop_assert!(newest >= unbroken.min(cap / 2), "{} kept, {} unbroken", newest, unbroken);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_is_kept_is_read_back(
        writes in prop::collection::vec(0_usize..40, 1..20), cap in 2_u64..64, from in 0_u64..400,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut log = LogWriter::new(folder.path(), cap, 0);
        let mut all = Vec::new();
        for length in writes {
            let bytes: Vec<u8> = (0..length).map(|at| u8::try_from((all.len() + at) % 251).unwrap()).collect();
            log.write(&bytes, Instant::now());
            all.extend(bytes);
        }
        let Extent { first, end } = extent(folder.path());
        prop_assert_eq!(end, all.len() as u64);
        prop_assert!(end - first <= cap && end - first >= (cap / 2).min(end), "{}..{} of {}", first, end, cap);
        let (_, kept) = whole(folder.path(), from);
        let begins = usize::try_from(first.max(from).min(end)).unwrap();
        prop_assert_eq!(&kept[..], &all[begins..]);
        prop_assert_eq!(log.lost(), 0);
    }
}

#[test]
fn a_log_that_was_deleted_begins_anew_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = LogWriter::new(folder.path(), 1_000, 0);
    log.write(b"before\n", Instant::now());
    fs::remove_file(newest(folder.path()).unwrap()).unwrap();
    log.write(b"after\n", Instant::now());
    assert_eq!(whole(folder.path(), 0), (7, b"after\n".to_vec()));
    assert_eq!(extent(folder.path()), Extent { first: 7, end: 13 });
}

#[test]
fn what_cannot_be_written_is_counted_and_tried_again_later() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("job");
    fs::create_dir(&inner).unwrap();
    let mut log = LogWriter::new(&inner, 1_000, 0);
    let start = Instant::now();
    log.write(b"kept\n", start);
    fs::remove_dir_all(&inner).unwrap();
    log.write(b"lost\n", start);
    assert_eq!(log.lost(), 5);
    fs::create_dir(&inner).unwrap();
    log.write(b"too soon\n", start + Duration::from_millis(10));
    assert_eq!((log.lost(), files(&inner).len()), (14, 0));
    log.write(b"again\n", start + Duration::from_millis(300));
    assert_eq!((log.lost(), whole(&inner, 0)), (14, (19, b"again\n".to_vec())));
    assert!(log.problem().is_some());
}

#[test]
fn only_the_owner_reads_a_log() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    LogWriter::new(folder.path(), 1_000, 0).write(b"secret", Instant::now());
    let mode = fs::metadata(newest(folder.path()).unwrap()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
