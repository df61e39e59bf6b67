//! docker pull: a line for each layer, all drawn at once. A layer counts half when it is downloaded and whole when it
//! is unpacked; layers count alike, as the size of one is only known when its download begins.

use super::super::figures::{Reading, ratio};
use super::{group, pattern};
use regex::Captures;

/// Whether the line is one of a layer.
pub fn is_layer(line: &str) -> bool {
    layer(line).is_some()
}

/// All layers on the screen together.
pub fn read(lines: impl Iterator<Item = String>) -> Option<Reading> {
    let (mut layers, mut finished, mut sum) = (0_u32, 0_u32, 0.0);
    for line in lines {
        let Some(share) = layer(&line).map(|found| share(&found)) else { continue };
        layers += 1;
        finished += u32::from(share >= 1.0);
        sum += share;
    }
    if layers == 0 {
        return None;
    }
    // Halves and thirds may add up to a little less than their number.
    let share = if finished == layers { 1.0 } else { sum / f64::from(layers) };
    Some(Reading::trusted(Some(share), None, vec![format!("{finished}/{layers} layers")]))
}

fn layer(line: &str) -> Option<Captures<'_>> {
    let shape = pattern!(
        r"^\W*[0-9a-f]{12}:? (Pulling fs layer|Waiting|Downloading|Verifying Checksum|Download complete|Extracting|Pull complete|Already exists|Preparing|Pushing|Pushed|Layer already exists)(?:\s+\[[=> ]*\]\s+([0-9.]+ ?[kKMGT]?B)/([0-9.]+ ?[kKMGT]?B))?"
    );
    shape.captures(line)
}

fn share(layer: &Captures<'_>) -> f64 {
    let part = ratio(group(layer, 2), group(layer, 3)).unwrap_or(0.0);
    match group(layer, 1) {
        "Downloading" => part / 2.0,
        "Verifying Checksum" | "Download complete" => 0.5,
        "Extracting" => 0.5 + part / 2.0,
        "Pushing" => part,
        "Pull complete" | "Already exists" | "Pushed" | "Layer already exists" => 1.0,
        _ => 0.0,
    }
}
