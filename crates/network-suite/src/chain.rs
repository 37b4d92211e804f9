//! Chains of states that depend on each other, and what is measured in them in each round.

use network_guest::Version;

use crate::plan::{NetworkBenchmark, Plan, Target};

/// States that follow from and depend on each other, as targets in order.
pub(crate) struct Chain {
    pub(crate) targets: Vec<Target>,
    pub(crate) version: Option<Version>,
    pub(crate) cache: Option<String>,
}

/// The chains of a benchmark: the server, no cache, and each cache.
fn chains(plan: &Plan, benchmark: NetworkBenchmark) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::new();
    for target in plan.targets().into_iter().filter(|target| benchmark.has(target.state)) {
        let (version, cache) = (target.version, target.cache.clone());
        match chains.last_mut() {
            Some(last) if (last.version, &last.cache) == (version, &cache) => {
                last.targets.push(target);
            }
            _ => chains.push(Chain { targets: vec![target], version, cache }),
        }
    }
    chains
}

/// The chains of a round, each with the benchmark to run in it.
pub(crate) fn round(plan: &Plan) -> Vec<(NetworkBenchmark, Chain)> {
    let of = |&benchmark: &NetworkBenchmark| {
        chains(plan, benchmark).into_iter().map(move |chain| (benchmark, chain))
    };
    plan.benchmarks.iter().flat_map(of).collect()
}
