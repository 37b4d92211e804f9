//! Hand-made searches for tests: a function gives what is measured at each position.

use std::path::Path;

use record::machine::{Cache, CacheKind};
use record::{
    Axis, CacheEvidence, CacheState, Cell, CellAdded, Compared, Dimension, Document, Line,
    Replicate, SearchPlan, StandardMetric,
};
use runner::{SearchCourse, Served};

use crate::sample::Sample;

pub(crate) const MIB: f64 = 1024.0 * 1024.0;

/// A search of one target from 1 to 256 MiB.
pub(crate) fn plan(axis: Axis, metric: &str) -> SearchPlan {
    SearchPlan {
        target: "ext4".to_owned(),
        axis,
        metric: metric.to_owned(),
        workload: "random reads".to_owned(),
        compared: Compared::DeviceApart,
        low: MIB,
        high: 256.0 * MIB,
        grain: 4096.0,
        width_percent: 2.0,
        ratio_least: 1.2,
        level: 0.95,
        probes_max: 40,
        probes_max_further: 20,
        seed: 5,
    }
}

/// A run of one search. `measure` returns the value and the evidence for a position and a count;
/// `probes_max` cuts the search off.
pub(crate) fn searched(
    plan: &SearchPlan,
    probes_max: usize,
    measure: impl Fn(f64, usize) -> (f64, CacheEvidence),
) -> Sample {
    let mut sample = Sample::new(&["ext4"]);
    sample.run.lines = vec![Line::Search(Box::new(plan.clone()))];
    sample.run.manifest.run.suite = format!("cliff/{}", plan.axis.name());
    sample.run.manifest.targets[0].conditions.memory_bytes = Some(64 << 20);
    sample.run.manifest.machine.caches =
        [(2, 1), (3, 16)].map(|(level, mib)| cache(level, mib)).into();
    sample.run.manifest.machine.processor.allowed = vec![0, 1];
    let mut course = SearchCourse::new(plan).unwrap();
    let mut positions: Vec<f64> = Vec::new();
    while let Some(position) =
        course.next_position().filter(|_| course.measured().len() < probes_max)
    {
        let number = course.measured().len();
        let known = positions.iter().position(|&it| it.total_cmp(&position).is_eq());
        let index = known.unwrap_or(positions.len());
        let cell = u32::try_from(index).unwrap();
        if known.is_none() {
            positions.push(position);
            let definition = cell_at(plan, position);
            sample.run.lines.push(Line::CellAdded(Box::new(CellAdded { cell, definition })));
        }
        let block =
            course.measured().iter().filter(|one| one.0.total_cmp(&position).is_eq()).count();
        let (value, evidence) = measure(position, number);
        course.tell(value, Served::from_evidence(&evidence)).unwrap();
        let mut replicate = sample.replicate(cell, u32::try_from(block).unwrap(), 1e9 / value);
        replicate.metrics = vec![value];
        replicate.evidence = evidence;
        sample.run.lines.push(Line::Replicate(Box::new(replicate)));
    }
    sample.ended()
}

fn cache(level: u32, mib: u64) -> Cache {
    Cache {
        level,
        kind: CacheKind::Unified,
        size_bytes: Some(mib << 20),
        line_bytes: None,
        ways: None,
        sets: None,
        shared_by: Vec::new(),
        instances: 1,
    }
}

fn cell_at(plan: &SearchPlan, position: f64) -> Cell {
    let is_total = plan.metric == StandardMetric::THROUGHPUT.name;
    let standard =
        if is_total { StandardMetric::THROUGHPUT } else { StandardMetric::THROUGHPUT_PER_THREAD };
    let metric = standard.definition();
    Cell {
        target: plan.target.clone(),
        suite: "cliff".to_owned(),
        benchmark: format!("read-{position}"),
        title: format!("read at {position}"),
        dimension: Dimension::Caching,
        exercises: Vec::new(),
        parameters: [(plan.axis.parameter().to_owned(), position.into())].into(),
        cache_state: CacheState::Steady,
        metrics: vec![metric],
        baseline: None,
        working_set_bytes: None,
        curve: None,
        floor: None,
        rank: 0,
        least: None,
        sequence: None,
    }
}

/// What a probe observes if the cache has `cache_bytes`.
pub(crate) fn evidence(position: f64, cache_bytes: f64) -> CacheEvidence {
    let pages = |bytes: f64| Some(whole(bytes / 4096.0));
    CacheEvidence {
        pages: pages(position),
        resident_before: pages(position.min(cache_bytes)),
        resident_after: pages(position.min(cache_bytes)),
        dirty_before: Some(0),
        folio_pages: None,
        start_read_bytes: None,
        device_read_bytes: Some(whole((position - cache_bytes).max(0.0))),
        device_reads: None,
        caller_read_bytes: None,
        device_written_bytes: Some(0),
    }
}

/// Hits take 1 us, give or take 4 %; misses take 60 us to 6 ms.
pub(crate) fn of_cache(cache_bytes: f64) -> impl Fn(f64, usize) -> (f64, CacheEvidence) {
    move |position, number| {
        let misses = (1.0 - cache_bytes / position).max(0.0);
        let hit = [1.0, 0.96, 1.04, 0.98, 1.02][number % 5];
        let miss = [60.0, 6000.0, 300.0][number % 3];
        (1e6 / (hit + misses * miss), evidence(position, cache_bytes))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pages and bytes")]
fn whole(value: f64) -> u64 {
    value as u64
}

/// The document of a sample, read back from a run directory.
pub(crate) fn document_again(sample: &Sample, path: &Path) -> Document {
    sample.write(path);
    for line in &sample.run.lines {
        let mut text = serde_json::to_string(line).unwrap();
        text.push('\n');
        let mut journal =
            std::fs::OpenOptions::new().append(true).open(path.join("cells.jsonl")).unwrap();
        std::io::Write::write_all(&mut journal, text.as_bytes()).unwrap();
    }
    crate::AnalysedRun::new(&record::Run::read(path).unwrap(), path).document
}

/// All replicates, in order.
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
pub(crate) fn replicates(sample: &mut Sample) -> impl Iterator<Item = &mut Replicate> {
    sample.run.lines.iter_mut().filter_map(|line| match line {
        Line::Replicate(replicate) => Some(replicate.as_mut()),
        _ => None,
    })
}
