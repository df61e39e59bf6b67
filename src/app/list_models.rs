//! `--list-models`: the models that can be chosen, as a table.

use crate::llm::models::ModelRow;

/// The table, one model a line, columns padded to fit.
pub fn table(rows: &[ModelRow]) -> String {
    let mut lines = vec![
        ["model", "context", "output", "thinking", "images", "$ in/out per M", "key"].map(str::to_owned),
    ];
    for row in rows {
        lines.push([
            format!("{}/{}", row.provider, row.id),
            tokens(row.context_window),
            tokens(row.max_tokens),
            yes(row.thinking),
            yes(row.images),
            format!("{}/{}", row.price.input, row.price.output),
            yes(row.has_key),
        ]);
    }
    let mut widths = [0_usize; 7];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for line in &lines {
        let cells: Vec<String> =
            line.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn yes(flag: bool) -> String {
    if flag { "yes".to_owned() } else { "-".to_owned() }
}

/// 200000 as `200K`, 1048576 as `1M`.
fn tokens(count: u64) -> String {
    match count {
        1_000_000.. => format!("{}M", count / 1_000_000),
        1_000.. => format!("{}K", count / 1_000),
        _ => count.to_string(),
    }
}
