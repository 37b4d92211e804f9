//! Which cells a suite has on which targets, and which it cannot have.

use record::{CacheState, Cell, Skipped};
use workload::Operation;

use crate::benchmark::Benchmark;
use crate::catalogue::Suite;
use crate::live_target::LiveTarget;

/// The cells of a suite on live targets, and what does not apply to a target, each with why.
#[must_use]
pub fn cells(
    suite: &Suite,
    targets: &[LiveTarget],
    data_file_bytes: u64,
) -> (Vec<Cell>, Vec<Skipped>) {
    let mut cells = Vec::new();
    let mut skipped: Vec<Skipped> = Vec::new();
    for live in targets {
        let label = &live.target.spec().label;
        for benchmark in &suite.benchmarks {
            let Some((what, why)) = inapplicable(benchmark, live) else {
                cells.push(benchmark.cell(suite.name, label, data_file_bytes));
                continue;
            };
            let one = Skipped { target: format!("{label}: {what}"), why: why.to_owned() };
            if !skipped.contains(&one) {
                skipped.push(one);
            }
        }
    }
    (cells, skipped)
}

/// What a benchmark cannot mean on a target, if it cannot: which benchmarks, and why.
fn inapplicable(benchmark: &Benchmark, live: &LiveTarget) -> Option<(&'static str, &'static str)> {
    if live.target.supports_cold() {
        return None;
    }
    match (benchmark.cache_state, benchmark.workload.operation) {
        (CacheState::Cold, _) => Some((
            "cold reads and writes",
            "its pages are the only copy of its files, so they are never cold",
        )),
        (_, Operation::AppendFsync) => {
            Some(("append and fsync", "it has no device that fsync could write to"))
        }
        _ => None,
    }
}
