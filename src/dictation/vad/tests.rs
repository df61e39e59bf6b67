use super::*;
use crate::dictation::capture::fixtures::fixture;

/// Half a minute of speech, and 3 s of digital silence at both ends.
fn in_one_go() -> Vec<f32> {
    let (one, two) = (fixture("speech.wav"), fixture("dictation.wav"));
    let silence = vec![0.0; 48_000];
    [silence.clone(), [one, two].concat().repeat(5), silence].concat()
}

/// Speech with pauses, each of them digital silence: 3 s at both ends, 1 s between.
fn with_pauses() -> Vec<f32> {
    let (one, two) = (fixture("speech.wav"), fixture("dictation.wav"));
    let mut samples = vec![0.0; 48_000];
    for part in [&one, &two, &one, &two, &two, &one] {
        samples.extend(part);
        samples.extend([0.0; 16_000]);
    }
    samples.extend([0.0; 32_000]);
    samples
}

/// Which frames are speech, by the loudness of the clean signal.
fn truth(samples: &[f32]) -> Vec<bool> {
    let power: Vec<f32> =
        samples.chunks_exact(FRAME).map(|frame| frame.iter().map(|sample| sample * sample).sum()).collect();
    let loudest = power.iter().copied().fold(0.0, f32::max);
    fill_gaps(power.iter().map(|power| *power > loudest * 10.0_f32.powf(-3.5)).collect())
}

/// Gaps of less than 0.2 s between speech are speech.
fn fill_gaps(mut labels: Vec<bool>) -> Vec<bool> {
    let mut last = None;
    for at in 0..labels.len() {
        if labels[at] {
            if let Some(last) = last
                && at - last <= 12
            {
                labels[last..at].fill(true);
            }
            last = Some(at);
        }
    }
    labels
}

fn judged(samples: &[f32]) -> Vec<bool> {
    let mut vad = Vad::default();
    fill_gaps(samples.chunks_exact(FRAME).map(|frame| vad.judge(frame)).collect())
}

/// Shares of speech that is missed, and of the rest that is taken for speech, in percent. Around the borders of speech,
/// two frames before its beginning and six after its end, either answer is right: a sound dies away, and what judges it
/// looks at three frames.
fn errors(truth: &[bool], judged: &[bool]) -> (f64, f64) {
    let share = |of: bool| {
        let is_border = |at: usize| {
            let around = truth.get(at.saturating_sub(6)..(at + 3).min(truth.len())).unwrap_or_default();
            !truth[at] && around.contains(&true)
        };
        let counted =
            truth.iter().zip(judged).enumerate().filter(|(at, pair)| *pair.0 == of && !is_border(*at));
        let frames: Vec<bool> = counted.map(|(_at, pair)| *pair.1 != of).collect();
        100.0 * frames.iter().filter(|is_wrong| **is_wrong).count() as f64 / frames.len() as f64
    };
    (share(true), share(false))
}

/// The signal with noise at this distance, in dB, to the power of the speech itself.
fn mixed(clean: &[f32], truth: &[bool], noise: &[f32], decibels: f64) -> Vec<f32> {
    let power = |samples: &[f32], only: Option<&[bool]>| {
        let counted = samples
            .iter()
            .enumerate()
            .filter(|(at, _)| only.is_none_or(|only| only.get(at / FRAME) == Some(&true)));
        let (count, sum) = counted
            .fold((0.0, 0.0), |(count, sum), (_, s)| (count + 1.0, sum + f64::from(*s) * f64::from(*s)));
        sum / count
    };
    let gain =
        (power(clean, Some(truth)) / power(noise, None) / 10.0_f64.powf(decibels / 10.0)).sqrt() as f32;
    clean.iter().zip(noise).map(|(sample, noise)| (sample + gain * noise).clamp(-1.0, 1.0)).collect()
}

fn white(samples: usize) -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(7);
    // Near enough to a normal distribution.
    (0..samples).map(|_| (0..6).map(|_| random.f32() - 0.5).sum()).collect()
}

fn brown(samples: usize) -> Vec<f32> {
    let mut at = 0.0;
    white(samples)
        .into_iter()
        .map(|step| {
            at = at * 0.998 + step;
            at
        })
        .collect()
}

/// Keys: six a second, each a burst of noise that dies away within some milliseconds, and a softer one as it comes up.
fn clicks(samples: usize) -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(11);
    let noise = white(samples);
    let mut keys = vec![0.0; samples];
    let mut at = 0;
    while at < samples {
        for (delay, loud) in [(0, 1.0), (1_300, 0.5)] {
            for offset in 0..400 {
                if let (Some(key), Some(noise)) = (keys.get_mut(at + delay + offset), noise.get(at + offset))
                {
                    *key += loud * noise * (-(offset as f32) / 60.0).exp();
                }
            }
        }
        at += random.usize(1_600..3_700);
    }
    keys
}

/// What is missed and falsely heard, in percent at most: without noise, in white noise at 15 and 5 dB, in brown noise at
/// 10 dB, and among keys at 15 dB.
fn errs_no_more_than(clean: &[f32], limits: [(f64, f64); 5]) {
    let truth = truth(clean);
    let mut bad = Vec::new();
    let noises = [
        ("none", None, 0.0),
        ("white", Some(white(clean.len())), 15.0),
        ("white", Some(white(clean.len())), 5.0),
        ("brown", Some(brown(clean.len())), 10.0),
        ("keyboard", Some(clicks(clean.len())), 15.0),
    ];
    for ((name, noise, decibels), (most_missed, most_false)) in noises.into_iter().zip(limits) {
        let signal =
            noise.as_ref().map_or_else(|| clean.to_vec(), |noise| mixed(clean, &truth, noise, decibels));
        let (missed, falsely) = errors(&truth, &judged(&signal));
        if missed > most_missed || falsely > most_false {
            bad.push(format!("{name} {decibels} dB: {missed:.1}% {falsely:.1}%"));
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn speech_in_noise() {
    // What earshot reached on read speech.
    errs_no_more_than(&in_one_go(), [(3.3, 0.6), (5.5, 0.2), (6.0, 4.8), (4.0, 0.4), (1.3, 13.5)]);
    // Each pause has a begin that can be missed; keys fill fewer of them.
    errs_no_more_than(&with_pauses(), [(3.3, 0.6), (5.5, 0.2), (6.0, 4.8), (4.0, 0.4), (2.0, 2.5)]);
    assert!(!judged(&vec![0.0; 160_000]).contains(&true), "silence is no speech");
}

#[test]
fn a_short_frame_and_a_wild_one() {
    let mut vad = Vad::default();
    assert!(!vad.judge(&[]));
    assert!(!vad.judge(&[0.0; 100]));
    vad.judge(&[7.0; FRAME]);
    vad.judge(&[f32::NAN; FRAME]);
}
