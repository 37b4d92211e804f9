//! The link rate up to which a hot cache pays off, as found by a search.

use record::network::{BREAK_EVEN, BREAK_EVEN_HIGH, BREAK_EVEN_LOW, left_out, values};
use record::{Cell, Line, Run};
use serde_json::Value;
use textual::{size, two_digits};

use super::NetworkDocument;

const NOTES: &str = "Times are emulated. A cache costs processor time, and emulated processors are \
    perhaps twenty times slower than real ones; it saves link time, which is the same anywhere: \
    read each rate as a lower bound of the rate up to which a cache pays on a real machine with as \
    fast a disk.";

/// What a search found, in one sentence per size of files; `None` if it found nothing.
pub(super) fn document(run: &Run) -> Option<NetworkDocument> {
    let cells = run.cells();
    let found = run.lines.iter().filter_map(|line| {
        let Line::Replicate(one) = line else { return None };
        let cell =
            cells.get(one.cell as usize).filter(|cell| cell.benchmark.starts_with(BREAK_EVEN))?;
        let rate = |name| values(cell, &[one], name).first().copied();
        Some(sentence(cell, rate(BREAK_EVEN_LOW)?, rate(BREAK_EVEN_HIGH)?))
    });
    let answers: Vec<String> = found.collect();
    (!answers.is_empty()).then(|| NetworkDocument {
        answers,
        benchmarks: Vec::new(),
        left_out: left_out(run),
        notes: NOTES.to_owned(),
    })
}

fn sentence(cell: &Cell, low: f64, high: f64) -> String {
    let number = |name: &str| cell.parameters.get(name).and_then(Value::as_f64);
    let (least, most) = (number("least_rate").unwrap_or(0.0), number("most_rate").unwrap_or(high));
    let files = size(number("file_bytes").unwrap_or(0.0), 0);
    if high <= least {
        let least = rate(least);
        return format!(
            "In emulation, a hot cache does not pay for files of {files} at any link rate from \
             {least} on."
        );
    }
    let said = if low >= most {
        format!("at every link rate up to {}", rate(most))
    } else if high >= most {
        format!("up to a link rate of at least {}", rate(low))
    } else {
        let middle = (low * high).sqrt();
        format!("up to a link rate of {} [{}, {}]", rate(middle), bare(low), bare(high))
    };
    format!("In emulation, a hot cache pays for files of {files} {said}.")
}

fn bare(bits_per_s: f64) -> String {
    two_digits(bits_per_s / 1e6)
}

fn rate(bits_per_s: f64) -> String {
    format!("{} Mbit/s", bare(bits_per_s))
}
