//! Which cells a suite has on which targets, and which it cannot have.

use record::{CacheState, Cell, Skipped};
use workload::{Operation, io_uring_availability};

use crate::benchmark::{Benchmark, Work};
use crate::catalogue::Suite;
use crate::live_target::LiveTarget;
use crate::operations::Layer;
use crate::thinning::{Scope, thinned};

/// The cells of a suite on live targets, as many as the scope has room for, and what does not
/// apply to a target or has no room, each with why.
#[must_use]
pub fn cells(suite: &Suite, targets: &[LiveTarget], scope: &Scope) -> (Vec<Cell>, Vec<Skipped>) {
    let (benchmarks, mut skipped) = thinned(&suite.benchmarks, scope);
    skipped.extend(left_out_of_all(&benchmarks));
    let mut cells = Vec::new();
    for live in targets {
        let label = &live.target.spec().label;
        for benchmark in &benchmarks {
            let Some((what, why)) = inapplicable(benchmark, live, scope) else {
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

/// What is measured on no target, and might be looked for.
fn left_out_of_all(benchmarks: &[Benchmark]) -> Option<Skipped> {
    let is_below = |one: &Benchmark| one.operations().is_some_and(|of| of.layer == Layer::Device);
    benchmarks.iter().any(is_below).then(|| Skipped {
        target: "writes on the device".to_owned(),
        why: "they would write over the file system that is measured: direct writes are set \
              against nothing below"
            .to_owned(),
    })
}

/// What a benchmark cannot mean on a target, if it cannot: which benchmarks, and why.
fn inapplicable(
    benchmark: &Benchmark,
    live: &LiveTarget,
    scope: &Scope,
) -> Option<(String, String)> {
    let operations = match &benchmark.work {
        Work::Operations(operations) => operations,
        Work::Experiment(experiment) => {
            let (_, title) = benchmark.family();
            return experiment.check(live).err().map(|why| (title.to_owned(), why));
        }
    };
    if operations.queue_depth().is_some()
        && let Err(refusal) = io_uring_availability()
    {
        return Some(("reads and writes in flight".to_owned(), refusal.to_string()));
    }
    if operations.is_direct()
        && let Some(refusal) = live.trial().refuses(operations)
    {
        return Some(refusal);
    }
    if operations.moves_data_in_place() {
        let most = scope.data_file_bytes;
        if operations.workload.request_bytes as u64 > most {
            let what = format!("requests of more than {most} bytes");
            return Some((what, "the data files are no larger: give a larger --size".to_owned()));
        }
    }
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
