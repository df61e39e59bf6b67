use super::of_line;

/// Share in percent, seconds left, facts; a question mark where it is a bare percentage.
fn worded(line: &str) -> String {
    let Some(reading) = of_line(line) else { return "nothing".to_owned() };
    let meter = reading.meter;
    let share = meter.share.map(|share| format!("{:.1}%", share * 100.0));
    let left = meter.left.map(|left| format!("{}s left", left.as_secs()));
    let doubt = (!reading.trusted).then(|| "?".to_owned());
    let parts = share.into_iter().chain(left).chain(meter.facts).chain(doubt);
    parts.collect::<Vec<_>>().join(" · ")
}

#[test]
fn lines() {
    let cases = [
        // curl
        (
            " 45  690M   45  312M    0     0  12.1M      0  0:00:57  0:00:26  0:00:32 12.1M",
            "45.0% · 32s left · 312M/690M · 12.1M/s",
        ),
        (
            " 50  8000     0     0   50  4000      0   1000  0:00:08  0:00:04  0:00:04  1000",
            "50.0% · 4s left · 4000/8000 · 1000/s",
        ),
        ("  0     0    0  878k    0     0  1091k      0 --:--:--  0:00:01 --:--:-- 1090k", "878k · 1090k/s"),
        ("100  878k    0  878k    0     0  1091k      0 --:--:--  0:00:01 --:--:-- 1090k", "878k · 1090k/s"),
        (" 45  690M   45  312M    0     0  12.1M      0  0:00:57  0:00:26  0:00:32", "nothing"),
        (" 45  690M   45  312M    0     0  12.1M      0  0:00:57  0:00:26  0:00:32 1 2", "nothing"),
        ("a b c d e f g h i j k l", "nothing"),
        ("1 2 3 4 5 6 7 8 9 10 11 12", "nothing"),
        // wget
        ("x   45%[====>     ]   2.50M  1.00MB/s    eta 3s     ", "45.0% · 3s left · 2.50M · 1.00MB/s"),
        ("x   45%[====>     ]   2.50M  1.00MB/s    eta 1m 5s", "45.0% · 65s left · 2.50M · 1.00MB/s"),
        ("x   0%[          ]       0  --.-KB/s", "0.0% · 0"),
        ("x 100%[=========>]   5.72M  1024KB/s    in 5.7s", "100.0% · 5.72M · 1024KB/s"),
        ("  2500K .......... .......... ..........  45% 1.00M 3s", "45.0% · 3s left · 1.00M/s"),
        ("  5850K .........                       100% 46.8K=5.7s", "100.0% · 46.8K/s"),
        ("x   [  <=>     ] 398.62K   993KB/s    ", "398.62K · 993KB/s"),
        // rsync
        ("      1,671,168  27%    1.47MB/s    0:00:02  ", "27.0% · 2s left · 1.47MB/s"),
        ("          1.67M  27%    1.47MB/s    0:00:02  ", "27.0% · 2s left · 1.47MB/s"),
        ("      1,671,168  27%    1.47MB/s    0:00:02 (xfr#1, to-chk=5/9)", "27.0% · 1.47MB/s"),
        // git
        ("remote: Counting objects:   6% (91/1502)        ", "6.0% · counting objects"),
        (
            "Receiving objects:  45% (450/1000), 1.20 MiB | 3.00 MiB/s",
            "45.0% · receiving objects · 3.00 MiB/s",
        ),
        ("Resolving deltas: 100% (3/3), done.", "100.0% · resolving deltas"),
        // pip
        (
            "     ━━━━━━━━╸━━━━━━━━━ 5.2/15.8 MB 10.1 MB/s eta 0:00:02",
            "32.9% · 2s left · 5.2/15.8 MB · 10.1 MB/s",
        ),
        ("   ━━━━━━━━━ 0.0/16.9 MB ? eta -:--:--", "0.0% · 0.0/16.9 MB"),
        ("   ━━━━━━━━━ 1.0/2.0 kB", "50.0% · 1.0/2.0 kB"),
        // tqdm
        ("epoch:  45%|████▌     | 27/60 [00:01<00:03, 19.5it/s]", "45.0% · 3s left · 27/60"),
        (" 50%|#####     | 1.50k/3.00k [01:00<1:00:01, 5it/s]", "50.0% · 3601s left · 1.50k/3.00k"),
        ("  0%|          | 0/60 [00:00<?, ?it/s]", "0.0% · 0/60"),
        ("100%|█████████▉| 2996/3000 [00:10<00:00, 9it/s]", "99.9% · 2996/3000"),
        // Counters
        ("[12/40] Building C object a.o", "30.0% · 12/40"),
        ("[ 2/10] x", "20.0% · 2/10"),
        ("see [12/40] there", "nothing"),
        ("[12/4] x", "nothing"),
        ("    Building [===>      ] 12/40: serde, regex", "30.0% · 12/40"),
        ("    Building [          ] 0/21: a", "0.0% · 0/21"),
        ("[ 45%] Building C object a.o", "45.0%"),
        ("[100%] Built target toy", "100.0%"),
        ("[ 45%] tests/a.rs", "45.0% · ?"),
        // apt
        ("Progress: [ 45%] [#####.......]", "45.0%"),
        ("45% [Working]", "45.0%"),
        ("45% [1 cmake 16.2 kB/8692 kB 0%]   1234 kB/s 3s", "45.0% · 3s left · 1234 kB/s"),
        ("45% [1 cmake 16.2 kB/8692 kB 0%]   1234 kB/s 2min 3s", "45.0% · 123s left · 1234 kB/s"),
        ("Reading package lists... 78%", "78.0% · ?"),
        // npm
        ("[#####.....] - reify:lodash: http fetch GET 200", "50.0%"),
        ("(####⠂⠂⠂⠂) ⠼ reify:lodash: http fetch GET 200", "50.0%"),
        ("[#.#] x", "nothing"),
        // Bare
        ("######       45.2%", "45.2%"),
        ("Copying 45% of 60%", "60.0% · ?"),
        ("TOTAL 100 20 80%", "80.0% · ?"),
        ("ok  example.com/a  0.1s  coverage: 45.0% of statements", "nothing"),
        ("Total Coverage: 45%", "nothing"),
        ("1234%", "nothing"),
        ("1,234%", "nothing"),
        ("101%", "nothing"),
        ("-5%", "nothing"),
        ("a%20b 45%20c", "nothing"),
        ("v1.45%", "nothing"),
        ("45% 1234%", "45.0% · ?"),
        ("%", "nothing"),
        ("", "nothing"),
    ];
    for (line, expected) in cases {
        assert_eq!(worded(line), expected, "{line:?}");
    }
}
