//! What a plan measures, as the manifest of an ordinary run.

use network_guest::CullLimits;
use record::{Manifest, Skipped, TargetRecord};

use crate::cells;
use crate::plan::{Plan, Target};

/// The manifest of a run of this plan; everything else is taken from `base`.
#[must_use]
pub fn manifest(base: Manifest, plan: &Plan) -> Manifest {
    Manifest {
        skipped: skipped(plan),
        targets: plan.targets().iter().map(|target| record_of(plan, target)).collect(),
        cells: cells::cells(plan).into_iter().map(|(_, _, cell)| cell).collect(),
        ..base
    }
}

/// What a plan leaves out, and why.
#[must_use]
pub fn skipped(plan: &Plan) -> Vec<Skipped> {
    let mut skipped = Vec::new();
    for target in plan.targets() {
        for benchmark in &plan.benchmarks {
            if let Some(why) = benchmark.lacks(target.state) {
                let target = format!("{target}: {}", benchmark.name());
                skipped.push(Skipped { target, why: why.to_owned() });
            }
        }
    }
    for (state, why) in plan.mount.iter().flat_map(|mount| &mount.lacks) {
        let target = format!("{state}: all benchmarks");
        skipped.push(Skipped { target, why: (*why).to_owned() });
    }
    skipped
}

pub(crate) fn record_of(plan: &Plan, target: &Target) -> TargetRecord {
    let version = target.version.map(|version| format!("version={version}"));
    let is_own = plan.mount.is_some();
    let link = target.version.filter(|_| !is_own).map(|_| format!("link={}", plan.link));
    let cache = target.cache.as_ref().map(|cache| format!("cache={cache}"));
    let is_slow = target.cache.is_some() && !plan.cache_disk.is_unlimited();
    let disk = is_slow.then(|| format!("disk={}", plan.cache_disk));
    let has_limits = target.cache.is_some() && plan.limits != CullLimits::default();
    let limits = has_limits.then(|| plan.limits.to_string());
    let state = Some(format!("state={}", target.state));
    let words: Vec<String> =
        [version, link, cache, disk, limits, state].into_iter().flatten().collect();
    let file_system = match &plan.mount {
        Some(mount) => &mount.file_system,
        None if target.version.is_some() => "nfs",
        None => "ext4",
    };
    let specification = format!("{file_system}:{}", words.join(","));
    TargetRecord {
        scratch: !is_own,
        mount_options: plan.mount.as_ref().map_or_else(String::new, |mount| mount.options.clone()),
        size_bytes: plan.content.bytes(),
        ..TargetRecord::plain(&target.label, specification, file_system)
    }
}
