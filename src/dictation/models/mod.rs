//! Which speech models there are, which one to use, and fetching them.
//!
//! | file | what it is |
//! |---|---|
//! | [`table`] | the models that are known by name: ours and the user's |
//! | [`shelf`] | what of them lies on this disk: a folder each, checked, removed |
//! | [`fetch`] | one model from the network onto the shelf |
//! | [`choose`] | which model a recording uses, and why |
//! | [`open`] | a file or folder becomes a model in memory |
//! | [`library`] | all of it, for the engine and the command line |
//! | [`room`] | free memory and free disk |

pub mod choose;
pub mod fetch;
pub mod library;
pub mod open;
pub mod room;
pub mod shelf;
pub mod table;

/// Bytes as people read them: `2.5 GB`, `459 MB`, `800 KB`.
#[must_use]
pub fn size_text(bytes: u64) -> String {
    const KB: u64 = 1_000;
    const MB: u64 = 1_000_000;
    const GB: u64 = 1_000_000_000;
    match bytes {
        // What would round to 1000 MB is a gigabyte.
        999_500_000.. => format!("{}.{} GB", tenths(bytes, GB) / 10, tenths(bytes, GB) % 10),
        999_500.. => format!("{} MB", (bytes + MB / 2) / MB),
        _ => format!("{} KB", bytes.div_ceil(KB)),
    }
}

fn tenths(bytes: u64, unit: u64) -> u64 {
    bytes.saturating_mul(10).saturating_add(unit / 2) / unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_at_a_glance() {
        for (bytes, text) in [
            (0, "0 KB"),
            (1, "1 KB"),
            (999_499, "1000 KB"),
            (1_500_000, "2 MB"),
            (458_752_000, "459 MB"),
            (999_499_999, "999 MB"),
            (999_500_000, "1.0 GB"),
            (2_509_332_480, "2.5 GB"),
            (16_000_000_000, "16.0 GB"),
        ] {
            assert_eq!(size_text(bytes), text);
        }
    }
}
