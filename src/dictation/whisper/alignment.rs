//! When tokens were said, by where the decoder looked when it told them.
//!
//! Some heads of the cross-attention follow the speech. Their looks are a picture, a row for each token and a column
//! for each frame, in which the text is a line from one corner to the other; dynamic time warping finds it. A word
//! begins where its first token's part of the line does, and ends where the next word begins: a pause belongs to the
//! word before it. Good to about a tenth of a second.

/// Frames that a column is compared with to smooth it, itself included; odd.
const MEDIAN: usize = 7;

/// First frames of tokens, by their looks over `frames` frames: never before that of the token in front.
pub fn starts(looks: &[Vec<f32>], frames: usize) -> Vec<usize> {
    if frames == 0 {
        return vec![0; looks.len()];
    }
    let mut picture: Vec<Vec<f32>> = looks
        .iter()
        .map(|look| (0..frames).map(|frame| look.get(frame).copied().unwrap_or_default()).collect())
        .collect();
    even_out(&mut picture, frames);
    let picture: Vec<Vec<f32>> = picture.iter().map(|row| smoothed(row)).collect();
    line(&picture, frames)
}

/// Makes every column's mean 0 and its deviation 1: frames that all tokens look at say nothing.
fn even_out(picture: &mut [Vec<f32>], frames: usize) {
    let rows = picture.len().max(1) as f32;
    for frame in 0..frames {
        let column = || picture.iter().filter_map(|row| row.get(frame));
        let mean = column().sum::<f32>() / rows;
        let deviation = (column().map(|value| (value - mean).powi(2)).sum::<f32>() / rows).sqrt().max(1e-9);
        for value in picture.iter_mut().filter_map(|row| row.get_mut(frame)) {
            *value = (*value - mean) / deviation;
        }
    }
}

/// The median of each value and its neighbours.
fn smoothed(row: &[f32]) -> Vec<f32> {
    (0..row.len())
        .map(|at| {
            let around = at.saturating_sub(MEDIAN / 2)..(at + MEDIAN / 2 + 1).min(row.len());
            let mut around = row.get(around).unwrap_or_default().to_vec();
            around.sort_by(f32::total_cmp);
            around.get(around.len() / 2).copied().unwrap_or_default()
        })
        .collect()
}

/// Where the brightest line from the first row and column to the last enters each row.
fn line(picture: &[Vec<f32>], frames: usize) -> Vec<usize> {
    /// How the line came to a place.
    #[derive(Clone, Copy)]
    enum From {
        Above,
        Left,
        Both,
    }
    let mut steps = Vec::with_capacity(picture.len());
    let mut above = vec![f32::NEG_INFINITY; frames];
    for (number, row) in picture.iter().enumerate() {
        let (mut left, mut corner) = (f32::NEG_INFINITY, if number == 0 { 0.0 } else { f32::NEG_INFINITY });
        let mut came = Vec::with_capacity(frames);
        for (value, above) in row.iter().zip(&mut above) {
            let (best, from) = if corner >= left && corner >= *above {
                (corner, From::Both)
            } else if left >= *above {
                (left, From::Left)
            } else {
                (*above, From::Above)
            };
            corner = *above;
            left = best + value;
            *above = left;
            came.push(from);
        }
        steps.push(came);
    }
    let mut starts = vec![0; picture.len()];
    let mut row = picture.len();
    let mut frame = frames - 1;
    while let Some(number) = row.checked_sub(1) {
        if let Some(start) = starts.get_mut(number) {
            *start = frame;
        }
        match steps.get(number).and_then(|came| came.get(frame)) {
            Some(From::Left) => frame = frame.saturating_sub(1),
            Some(From::Both) => {
                row = number;
                frame = frame.saturating_sub(1);
            }
            _ => row = number,
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(places: &[usize], frames: usize) -> Vec<Vec<f32>> {
        let look = |place: usize| move |frame: usize| (-(frame.abs_diff(place) as f32) / 3.0).exp() + 0.1;
        places.iter().map(|place| (0..frames).map(look(*place)).collect()).collect()
    }

    #[test]
    fn follows_the_looks() {
        let places = [5, 20, 22, 60, 90];
        let starts = starts(&looks(&places, 100), 100);
        assert_eq!(starts[0], 0);
        for (start, place) in starts.iter().zip(places).skip(1) {
            assert!(start.abs_diff(place) < 20, "{starts:?}");
        }
        assert!(starts.is_sorted());
    }

    #[test]
    fn more_tokens_than_frames_and_none() {
        assert_eq!(starts(&looks(&[0, 1, 1, 1, 2], 3), 3).len(), 5);
        assert!(starts(&looks(&[0, 1, 1, 1, 2], 3), 3).is_sorted());
        assert!(starts(&[], 10).is_empty());
        assert_eq!(starts(&[Vec::new()], 0), [0]);
        assert_eq!(starts(&[Vec::new(), Vec::new()], 4).len(), 2);
    }
}
