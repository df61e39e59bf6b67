//! Output of real programs: at each place the meter says what a person reads there.
//!
//! All were captured from the programs themselves but that of docker, which is written after its manual.

use super::{Watch, worded};

/// Plays the output. It stops behind the end of each line that has one of the texts, one after the other.
fn play(output: &[u8], stops: &[(&str, &str)]) {
    let mut watch = Watch::new();
    let mut at = 0;
    for (text, shown) in stops {
        let rest = &output[at..];
        let found = rest.windows(text.len()).position(|window| window == text.as_bytes());
        let found = found.unwrap_or_else(|| panic!("{text:?} is not in the rest of the output"));
        let begin = found + text.len();
        let end = rest[begin..].iter().position(|byte| matches!(byte, b'\r' | b'\n'));
        let end = end.map_or(rest.len(), |end| begin + end);
        for chunk in rest[..end].chunks(4_000) {
            watch.reader.feed(chunk, watch.now);
        }
        assert_eq!(&worded(watch.after(200)), shown, "behind {text:?}");
        at += end;
    }
    watch.reader.feed(&output[at..], watch.now);
    watch.after(200);
    assert_eq!(worded(watch.after(60_000)), "nothing", "long after the end");
}

macro_rules! captured {
    ($($name:ident, $file:literal, [$($stop:expr),* $(,)?];)*) => {$(
        #[test]
        fn $name() {
            play(include_bytes!(concat!("../../../../tests/fixtures/meter/", $file, ".raw")), &[$($stop),*]);
        }
    )*};
}

captured! {
    curl, "curl", [
        ("Dload", "nothing"),
        (" 13 7812k", "13.0% · 6s left · 1074k/7812k · 1069k/s"),
        (" 76 7812k", "76.0% · 1s left · 5957k/7812k · 973k/s"),
        (" 88 7812k", "88.0% · 6933k/7812k · 973k/s"),
        ("100 7812k", "7812k/7812k · 973k/s"),
    ];
    curl_with_a_bar, "curl-hash", [("12.5%", "12.5%"), ("91.2%", "91.2%"), ("100.0%", "nothing")];
    curl_of_unknown_size, "curl-unsized", [
        ("  0     0", "nothing"),
        ("878k", "878k · 1090k/s"),
        ("2832k", "2832k · 1006k/s"),
    ];
    wget_with_a_bar, "wget-bar", [("Saving to", "nothing"), ("   50%", "50.0% · 4s left · 3.82M · 975KB/s"), ("100%", "7.63M · 995KB/s")];
    wget_with_dots, "wget-dots", [("   50K", "1.0% · 304M/s"), ("  5800K", "99.0% · 417M/s"), ("  5850K", "46.8K/s")];
    wget_of_unknown_size, "wget-unsized", [("398.62K", "398.62K · 993KB/s"), ("1.53M", "1.53M · 971KB/s")];
    rsync, "rsync", [
        ("32,768", "0.0% · 0.00kB/s"),
        ("1,671,168", "27.0% · 2s left · 1.47MB/s"),
        ("4,947,968", "82.0% · 1.47MB/s"),
        ("6,000,000", "1.48MB/s"),
    ];
    git_clone, "git-clone", [
        ("Enumerating", "nothing"),
        ("objects:   6% (91/", "6.0% · counting objects"),
        ("Receiving objects:  97%", "97.0% · receiving objects"),
        ("| 15.13 MiB/s", "receiving objects · 15.13 MiB/s"),
    ];
    pip, "pip", [
        ("Collecting", "nothing"),
        ("2.5/35.3", "7.1% · 2s left · 2.5/35.3 MB · 22.4 MB/s"),
        ("15.3/35.3", "43.3% · 1s left · 15.3/35.3 MB · 105.6 MB/s"),
    ];
    rich_draws_two_bars, "rich-two", [("50%", "50.0%"), ("75%", "75.0%")];
    tqdm, "tqdm", [
        (" 0/60", "0.0% · 0/60"),
        (" 20/60", "33.3% · 2s left · 20/60"),
        (" 28/60", "46.7% · 1s left · 28/60"),
    ];
    tqdm_within_tqdm, "tqdm-nested", [("27/40", "0.0% · 0/5"), ("3/5", "60.0% · 3/5"), ("27/40", "60.0% · 3/5")];
    ninja_in_a_log, "ninja-log", [("[3/25]", "12.0% · 3/25"), ("[24/25]", "96.0% · 24/25"), ("[25/25]", "25/25")];
    ninja_on_a_terminal, "ninja-tty", [("Entering", "nothing"), ("[3/25]", "12.0% · 3/25"), ("[24/25] Linking", "96.0% · 24/25")];
    cmake, "cmake-make", [
        ("Leaving", "nothing"),
        ("[ 16%]", "16.0%"),
        ("[ 96%]", "96.0%"),
        ("[100%] Built", "nothing"),
    ];
    cargo, "cargo", [
        ("proc-macro2 v", "nothing"),
        ("] 3/21", "14.3% · 3/21"),
        ("] 6/21", "28.6% · 6/21"),
        ("] 20/21", "95.2% · 20/21"),
        ("Finished", "95.2% · 20/21"),
    ];
    apt_downloads, "apt-download", [
        ("Get:1", "0.0%"),
        ("17% [1", "17.0%"),
        ("72% [1", "72.0%"),
        ("100% [Working]", "nothing"),
    ];
    apt_installs, "apt-install", [
        ("(Reading database ... 5%", "nothing"),
        ("(Reading database ... 45%", "45.0%"),
        ("Progress: [ 11%]", "11.0%"),
        ("Progress: [ 44%]", "44.0%"),
    ];
    npm_turns_a_wheel, "npm", [("⠏", "nothing"), ("added", "nothing")];
    npm_draws_a_bar, "npm8", [("idealTree", "0.0%"), ("reify", "50.0%"), ("added", "nothing")];
    docker_pull, "docker-pull-written-by-hand", [
        ("2c3d4e5f6071: Pulling", "0.0% · 0/3 layers"),
        ("2MB/4MB", "8.6% · 0/3 layers"),
        ("14.575MB/29.15MB", "16.7% · 0/3 layers"),
        ("627B/627B", "41.7% · 0/3 layers"),
        ("14.575MB/29.15MB", "58.3% · 0/3 layers"),
        ("1b2c3d4e5f60: Pull complete", "83.3% · 2/3 layers"),
        ("2c3d4e5f6071: Pull complete", "3/3 layers"),
    ];
    coverage_is_no_progress, "coverage", [("75%", "nothing"), ("100%", "nothing"), ("TOTAL", "nothing")];
    tests_that_pass, "pytest", [("[100%]", "nothing")];
}
