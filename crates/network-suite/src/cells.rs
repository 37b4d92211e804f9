//! The cells of a run.

use std::collections::BTreeMap;

use network_guest::CullLimits;
use record::{CacheState, Cell, Dimension};
use serde_json::{Value, json};

use crate::plan::{NetworkBenchmark, Plan, Target};
use crate::state::NetworkState;
use crate::{SUITE, metrics};

/// The cells of a plan in order, each with its target and benchmark.
pub(crate) fn cells(plan: &Plan) -> Vec<(Target, NetworkBenchmark, Cell)> {
    let targets = plan.targets();
    let of_target = |target: &Target| {
        let benchmarks = plan.benchmarks.iter().filter(|benchmark| benchmark.has(target.state));
        let cells = benchmarks.map(|&one| (target.clone(), one, cell(plan, target, one)));
        cells.collect::<Vec<_>>()
    };
    targets.iter().flat_map(of_target).collect()
}

fn cell(plan: &Plan, target: &Target, benchmark: NetworkBenchmark) -> Cell {
    let mut parameters: BTreeMap<String, Value> = BTreeMap::new();
    let mut add = |name: &str, value: Value| parameters.insert(name.to_owned(), value);
    add("state", json!(target.state.name()));
    if let Some(version) = target.version {
        add("nfs", json!(version.to_string()));
        if plan.mount.is_none() {
            add("link", json!(plan.link.to_string()));
        }
    }
    if let Some(cache) = &target.cache {
        add("cache_file_system", json!(cache));
        if !plan.cache_disk.is_unlimited() {
            add("cache_disk", json!(plan.cache_disk.to_string()));
        }
        if plan.limits != CullLimits::default() {
            add("cull_limits", json!(plan.limits.to_string()));
        }
    }
    let content = plan.content;
    match benchmark {
        NetworkBenchmark::TwoClients => add("clients", json!(benchmark.clients())),
        NetworkBenchmark::Tree | NetworkBenchmark::Cull | NetworkBenchmark::Stat => {
            add("directories", json!(content.tree.directories));
            add("files", json!(content.tree.files));
            let small = plan.small_cache_bytes().filter(|_| benchmark == NetworkBenchmark::Cull);
            small.and_then(|bytes| add("cache_disk_bytes", json!(bytes)))
        }
        NetworkBenchmark::File
        | NetworkBenchmark::Random
        | NetworkBenchmark::Rewrite
        | NetworkBenchmark::Coherence => None,
    };
    let bytes = benchmark.bytes(&content);
    add("bytes", json!(bytes));
    Cell {
        target: target.label.clone(),
        suite: SUITE.to_owned(),
        benchmark: benchmark.name().to_owned(),
        title: benchmark.title().to_owned(),
        dimension: Dimension::Caching,
        exercises: vec![Dimension::Io, Dimension::Metadata],
        parameters,
        cache_state: match target.state {
            NetworkState::Server | NetworkState::PageCache => CacheState::Warm,
            NetworkState::None | NetworkState::Cold | NetworkState::Hot => CacheState::Cold,
        },
        metrics: metrics::definitions(benchmark, plan.counts, plan.mount.is_some()),
        baseline: None,
        working_set_bytes: Some(bytes),
        curve: None,
        floor: None,
        rank: 0,
        least: None,
        sequence: None,
    }
}
