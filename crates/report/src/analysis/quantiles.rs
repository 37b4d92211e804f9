//! Quantiles of single operations, with one value per block.
//!
//! A few long operations pull up a mean but not a quantile, so two targets can differ in one and
//! not in the other. A block's quantile is that of its replicate, as recorded in the journal. These
//! values are compared in the same way as means: paired by block, or run by run.

use std::collections::BTreeMap;

use record::{Better, LatencySummary, MetricDefinition, Replicate, StandardMetric};

use super::{Gathered, estimates};

/// A quantile that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantile {
    /// The median.
    P50,
    /// The 99th percentile.
    P99,
}

impl Quantile {
    /// All of them.
    pub(crate) const ALL: [Self; 2] = [Self::P50, Self::P99];

    /// Its name as a metric.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P99 => "p99",
        }
    }

    /// The quantile of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// As a metric of a cell.
    pub(crate) fn definition(self) -> MetricDefinition {
        MetricDefinition::new(self.name(), "ns", Better::Lower)
    }

    /// How many operations a replicate needs to have its own quantile, at this confidence level: as
    /// many as an interval of the quantile takes.
    pub(crate) fn operations_least(self, level: f64) -> Option<u64> {
        let quantile = match self {
            Self::P50 => 0.5,
            Self::P99 => 0.99,
        };
        estimates::least_n(quantile, level)
    }

    fn value_ns(self, latency: &LatencySummary) -> u64 {
        match self {
            Self::P50 => latency.p50_ns,
            Self::P99 => latency.p99_ns,
        }
    }
}

impl Gathered<'_> {
    /// Whether operations were timed individually rather than in batches.
    pub(crate) fn has_single_operations(&self) -> bool {
        let metrics = [StandardMetric::LATENCY, StandardMetric::TIME_PER_OPERATION];
        let has = |metric: &MetricDefinition| metrics.iter().any(|own| own.name == metric.name);
        self.pilot.is_none_or(|pilot| pilot.batch <= 1) && self.cell.metrics.iter().any(has)
    }

    /// That quantile in each block; empty if a replicate has too few operations for it, or if they
    /// were not timed individually.
    pub(super) fn quantile_values(&self, quantile: Quantile) -> BTreeMap<u32, f64> {
        let Some(least) = quantile.operations_least(self.level) else { return BTreeMap::new() };
        let value = |replicate: &Replicate| {
            let value_ns = quantile.value_ns(&replicate.latency);
            (replicate.operations >= least && value_ns > 0).then_some(value_ns as f64)
        };
        let each = self.replicates.iter().map(|(&block, one)| Some((block, value(one)?)));
        let all: Option<BTreeMap<u32, f64>> = each.collect();
        all.filter(|_| self.has_single_operations()).unwrap_or_default()
    }

    /// The metrics for which it has values, with those values: the declared ones, those derived
    /// from a baseline or a floor among `all`, and the quantiles of its operations.
    pub(crate) fn series(&self, all: &[Self]) -> Vec<(MetricDefinition, BTreeMap<u32, f64>)> {
        let declared = self.cell.metrics.iter().enumerate();
        let declared = declared.map(|(place, metric)| (metric.clone(), self.values(place)));
        let derived = [
            (StandardMetric::SPEED_UP.definition(), self.speed_up(all)),
            (StandardMetric::OWN_COST.definition(), self.own_cost(all)),
        ];
        let quantile = |one: Quantile| (one.definition(), self.quantile_values(one));
        let quantiles = Quantile::ALL.map(quantile);
        let found = declared.chain(derived).chain(quantiles);
        found.filter(|(_, values)| !values.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::gather;
    use super::*;
    use crate::sample::{Sample, around};

    fn quantiles(sample: &Sample) -> [Vec<f64>; 2] {
        let all = gather(&sample.run);
        Quantile::ALL.map(|one| all[0].values_of(one.name()).into_values().collect())
    }

    #[test]
    fn a_block_s_quantile_is_that_of_its_replicate() {
        let sample = Sample::new(&["ext4"]).operations(299).benchmark("fsync", &[&[1000.0; 3]]);
        let sample = sample.quantiles("fsync", "ext4", &[700.0, 800.0, 900.0], &[5000.0; 3]);
        assert_eq!(quantiles(&sample), [vec![700.0, 800.0, 900.0], vec![5000.0; 3]]);
        assert_eq!(gather(&sample.run)[0].values_of("p75"), BTreeMap::new());
    }

    #[test]
    fn a_quantile_takes_enough_operations_in_each_replicate() {
        let counts = |operations: u64| {
            let sample = Sample::new(&["ext4"]).operations(operations);
            quantiles(&sample.benchmark("fsync", &[&around(1000.0, 8)])).map(|all| all.len())
        };
        assert_eq!(counts(5), [0, 0]);
        assert_eq!(counts(6), [8, 0]);
        assert_eq!(counts(298), [8, 0]);
        assert_eq!(counts(299), [8, 8]);
        // If one replicate has too few operations, nothing is compared.
        let mut sample = Sample::new(&["ext4"]).operations(299);
        sample = sample.benchmark("fsync", &[&around(1000.0, 8)]);
        let last = sample.run.lines.last_mut();
        let Some(record::Line::Replicate(last)) = last else { panic!("a replicate") };
        last.operations = 298;
        assert_eq!(quantiles(&sample).map(|all| all.len()), [8, 0]);
    }

    #[test]
    fn operations_timed_in_batches_have_no_quantile() {
        let of = |batch: u32| {
            let sample = Sample::new(&["ext4"]).operations(1000).batch(batch);
            quantiles(&sample.benchmark("stat", &[&around(300.0, 8)])).map(|all| all.len())
        };
        assert_eq!(of(1), [8, 8]);
        assert_eq!(of(8), [0, 0]);
    }

    #[test]
    fn what_is_not_timed_operation_by_operation_has_no_quantile() {
        let mut sample = Sample::new(&["ext4"]).operations(1000);
        sample = sample.benchmark("read", &[&around(300.0, 8)]);
        sample.change("read", |cell| cell.metrics[0].name = "time_per_mib".to_owned());
        assert_eq!(quantiles(&sample), [const { Vec::<f64>::new() }; 2]);
        sample.change("read", |cell| cell.metrics[0].name = "latency".to_owned());
        assert_eq!(quantiles(&sample).map(|all| all.len()), [8, 8]);
    }

    #[test]
    fn the_metrics_of_a_cell_are_told_with_their_quantiles() {
        let sample = Sample::new(&["ext4"]).operations(10).benchmark("fsync", &[&[1000.0; 3]]);
        let all = gather(&sample.run);
        let names: Vec<String> =
            all[0].series(&all).into_iter().map(|(metric, _)| metric.name).collect();
        assert_eq!(names, ["time_per_operation", "throughput", "p50"]);
    }
}
