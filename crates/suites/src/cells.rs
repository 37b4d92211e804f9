//! Which cells a suite has on which targets, and which it cannot have.

use record::{CacheState, Cell, Skipped};
use workload::Operation;

use crate::benchmark::{Benchmark, Work};
use crate::catalogue::Suite;
use crate::live_target::LiveTarget;
use crate::thinning::{Scope, thinned};

/// The cells of a suite on live targets, as many as the scope has room for, and what does not
/// apply to a target or has no room, each with why.
#[must_use]
pub fn cells(suite: &Suite, targets: &[LiveTarget], scope: &Scope) -> (Vec<Cell>, Vec<Skipped>) {
    let (benchmarks, mut skipped) = thinned(&suite.benchmarks, scope);
    let mut cells = Vec::new();
    for live in targets {
        let label = &live.target.spec().label;
        for benchmark in &benchmarks {
            let Some((what, why)) = inapplicable(benchmark, live) else {
                cells.push(benchmark.cell(suite.name, label, scope.data_file_bytes));
                continue;
            };
            let one = Skipped { target: format!("{label}: {what}"), why };
            if !skipped.contains(&one) {
                skipped.push(one);
            }
        }
    }
    (cells, skipped)
}

/// What a benchmark cannot mean on a target, if it cannot: which benchmarks, and why.
fn inapplicable(benchmark: &Benchmark, live: &LiveTarget) -> Option<(String, String)> {
    let operations = match &benchmark.work {
        Work::Operations(operations) => operations,
        Work::Experiment(experiment) => {
            let (_, title) = benchmark.family();
            return experiment.check(live).err().map(|why| (title.to_owned(), why));
        }
    };
    if live.target.supports_cold() {
        return None;
    }
    let (what, why) = match (benchmark.cache_state, operations.workload.operation) {
        (CacheState::Cold, _) => (
            "cold reads and writes",
            "its pages are the only copy of its files, so they are never cold",
        ),
        (_, Operation::AppendFsync) => {
            ("append and fsync", "it has no device that fsync could write to")
        }
        _ => return None,
    };
    Some((what.to_owned(), why.to_owned()))
}
