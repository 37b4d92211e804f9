//! One direction of a job in JSON.

use super::JsonDetail;
use super::tree::{Node, Object};
use crate::direction::DataDirection;
use crate::histogram::LatencyHistogram;
use crate::job::{DirectionResult, JobResult, Latencies};
use crate::percentiles::PercentileList;
use crate::report::{GroupDirection, per_second};
use crate::statistics::Moments;

/// What was done in a direction, where the group that it belongs to has `group`.
pub(super) fn direction_object(
    job: &JobResult,
    direction: DataDirection,
    group: &GroupDirection,
    detail: JsonDetail,
) -> Object {
    let done = &job.directions[direction];
    let mut object = Object::default();
    add_totals(&mut object, done);
    let choice = &job.presentation.percentiles;
    let kinds = [
        ("slat_ns", &done.submission, choice.submission),
        ("clat_ns", &done.completion, choice.completion),
        ("lat_ns", &done.total, choice.total),
    ];
    for (name, latencies, has_percentiles) in kinds {
        let list = has_percentiles.then_some(&choice.list);
        object.object(name, latency_object(latencies, list, detail));
    }
    add_priorities(&mut object, job, done, detail);
    add_bandwidth(&mut object, done, group);
    add_iops(&mut object, done);
    object
}

/// Operations that make data durable.
pub(super) fn sync_object(job: &JobResult, detail: JsonDetail) -> Object {
    let choice = &job.presentation.percentiles;
    let list = (choice.completion || choice.total).then_some(&choice.list);
    let mut object = Object::default();
    object.integer("total_ios", job.sync.ios);
    object.object("lat_ns", latency_object(&job.sync.latencies, list, detail));
    object
}

fn add_totals(object: &mut Object, done: &DirectionResult) {
    let bandwidth = per_second(done.bytes, done.runtime_ms);
    let iops = match done.runtime_ms {
        0 => 0.0,
        runtime_ms => 1000.0 * done.ios as f64 / runtime_ms as f64,
    };
    object.integer("io_bytes", done.bytes);
    object.integer("io_kbytes", done.bytes >> 10);
    object.integer("bw_bytes", bandwidth);
    object.integer("bw", bandwidth / 1024);
    object.float("iops", iops);
    object.integer("runtime", done.runtime_ms);
    object.integer("total_ios", done.ios);
    object.integer("short_ios", done.short_ios);
    object.integer("drop_ios", done.dropped_ios);
}

/// Latencies, with these percentiles if there are any.
fn latency_object(
    latencies: &Latencies,
    list: Option<&PercentileList>,
    detail: JsonDetail,
) -> Object {
    let moments = &latencies.statistics.moments;
    let (min, max, mean, deviation) = shown(moments);
    let mut object = Object::default();
    object.integer("min", min);
    object.integer("max", max);
    object.float("mean", mean);
    object.float("stddev", deviation);
    object.integer("N", moments.samples);
    if let Some(list) = list.filter(|_| moments.samples > 0) {
        let latencies_ns = latencies.histogram.percentiles(moments.samples, list);
        let mut percentiles = Object::default();
        for (percent, latency_ns) in list.percents().iter().zip(latencies_ns) {
            percentiles.integer(&format!("{percent:.6}"), latency_ns);
        }
        object.object("percentile", percentiles);
        match detail {
            JsonDetail::Figures => {}
            JsonDetail::Bins => object.object("bins", bins_object(&latencies.histogram)),
        }
    }
    object
}

fn bins_object(histogram: &LatencyHistogram) -> Object {
    let mut bins = Object::default();
    for (bucket, count) in histogram.filled() {
        bins.integer(&LatencyHistogram::midpoint_ns(bucket).to_string(), count);
    }
    bins
}

fn add_priorities(
    object: &mut Object,
    job: &JobResult,
    done: &DirectionResult,
    detail: JsonDetail,
) {
    if !done.has_several_priorities() {
        return;
    }
    let choice = &job.presentation.percentiles;
    let name = if choice.total { "lat_ns" } else { "clat_ns" };
    let list = (choice.completion || choice.total).then_some(&choice.list);
    let nodes = done.used_priorities().map(|one| {
        let mut object = Object::default();
        object.integer("prioclass", u64::from(one.class()));
        object.integer("prio", u64::from(one.level()));
        object.object(name, latency_object(&one.latencies, list, detail));
        Node::Object(object)
    });
    object.array("prios", nodes.collect());
}

fn add_bandwidth(object: &mut Object, done: &DirectionResult, group: &GroupDirection) {
    let moments = &done.bandwidth.moments;
    let (min, max, mean, deviation) = shown(moments);
    let share = if moments.samples > 0 { group.share_of(mean) } else { 0.0 };
    object.integer("bw_min", min);
    object.integer("bw_max", max);
    object.float("bw_agg", share);
    object.float("bw_mean", mean);
    object.float("bw_dev", deviation);
    object.integer("bw_samples", moments.samples);
}

fn add_iops(object: &mut Object, done: &DirectionResult) {
    let moments = &done.iops.moments;
    let (min, max, mean, deviation) = shown(moments);
    object.integer("iops_min", min);
    object.integer("iops_max", max);
    object.float("iops_mean", mean);
    object.float("iops_stddev", deviation);
    object.integer("iops_samples", moments.samples);
}

/// Minimum, maximum, mean and deviation; zeros without samples.
fn shown(moments: &Moments) -> (u64, u64, f64, f64) {
    match moments.known() {
        Some(known) => (known.min, known.max, known.mean, known.deviation()),
        None => (0, 0, 0.0, 0.0),
    }
}
