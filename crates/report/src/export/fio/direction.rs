//! What a job read, wrote or trimmed: one object for each direction.

use record::Replicate;
use serde::Serialize;

use super::latency::Latency;

/// `read`, `write` or `trim` of a job, in fio's order; all 0 for a direction that the job lacks.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct DirectionFigures {
    io_bytes: u64,
    io_kbytes: u64,
    bw_bytes: u64,
    bw: u64,
    iops: f64,
    runtime: u64,
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    slat_ns: Latency,
    clat_ns: Latency,
    lat_ns: Latency,
    bw_min: u64,
    bw_max: u64,
    bw_agg: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: u64,
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: u64,
}

/// Rates of a job over its replicates.
struct Spread {
    min: f64,
    max: f64,
    mean: f64,
    deviation: f64,
}

impl DirectionFigures {
    /// The sums over all replicates. `clat` is the time from submission to completion, `lat` the
    /// total time.
    pub(super) fn new(replicates: &[&Replicate], clat: Latency, lat: Latency) -> Self {
        let total = |of: fn(&Replicate) -> u64| replicates.iter().map(|one| of(one)).sum::<u64>();
        let (bytes, operations) = (total(|one| one.bytes), total(|one| one.operations));
        let seconds = total(|one| one.elapsed_ns) as f64 / 1e9;
        let rates = |of: fn(&Replicate) -> u64| {
            let rate = |one: &&Replicate| of(one) as f64 / (one.elapsed_ns as f64 / 1e9);
            Spread::from_rates(&replicates.iter().map(rate).collect::<Vec<_>>())
        };
        let (bandwidth, iops) = (rates(|one| one.bytes / 1024), rates(|one| one.operations));
        let samples = replicates.len() as u64;
        Self {
            io_bytes: bytes,
            io_kbytes: bytes / 1024,
            bw_bytes: whole(bytes as f64 / seconds),
            bw: whole(bytes as f64 / seconds / 1024.0),
            iops: operations as f64 / seconds,
            runtime: milliseconds(seconds),
            total_ios: operations,
            clat_ns: clat,
            lat_ns: lat,
            bw_min: whole(bandwidth.min),
            bw_max: whole(bandwidth.max),
            bw_agg: 100.0,
            bw_mean: bandwidth.mean,
            bw_dev: bandwidth.deviation,
            bw_samples: samples,
            iops_min: whole(iops.min),
            iops_max: whole(iops.max),
            iops_mean: iops.mean,
            iops_stddev: iops.deviation,
            iops_samples: samples,
            ..Self::default()
        }
    }

    /// How long it took, in milliseconds.
    pub(super) fn runtime_ms(&self) -> u64 {
        self.runtime
    }
}

impl Spread {
    fn from_rates(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if count > 1.0 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(0.0, f64::max);
        Self { min, max, mean, deviation }
    }
}

/// Never 0, because readers divide by it.
fn milliseconds(seconds: f64) -> u64 {
    whole((seconds * 1000.0).round()).max(1)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates, never negative"
)]
fn whole(value: f64) -> u64 {
    value as u64
}
