//! Durability as programs use it: they write data and wait until it is on the device.
//!
//! - [`together`]: threads that commit at the same time, each to a file of its own or all to one
//!   log, and how many of them share a flush of the device.
//! - [`synchronous`]: writes through a descriptor opened with `O_DSYNC`, compared with `fdatasync`
//!   after each write.
//! - [`dirty`]: one `fsync` with much dirty data, in the same file or in another one.
//! - [`victim`]: someone who commits or reads a little while someone else writes much and syncs.
//!
//! Timing ends when the kernel says that the data is durable: no figure here leaves the sync out.
//! Whether the device itself keeps that promise is not tested.
//!
//! The number of operations in a replicate is declared here and does not depend on the budget,
//! since commits depend on those before them: journals fill up, logs wrap around.

mod dirty;
mod flusher;
mod log;
mod synchronous;
mod together;
mod victim;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use record::{Better, MetricDefinition, StandardMetric};
use runner::Failure;
use workload::Content;

pub(super) use self::log::{Log, SyncMethod};
use crate::benchmark::Benchmark;
use crate::counters::CounterDeltas;
use crate::experiment::Site;
use crate::failure::failed;
use crate::live_target::LiveTarget;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
/// Size of one small commit.
const COMMIT_BYTES: usize = 4 << 10;
/// The initial width of a slice of a timeline.
const SLICE_NS: u64 = 1_000_000;

/// All of them.
pub(super) fn curves() -> Vec<Benchmark> {
    [together::curves(), synchronous::benchmarks(), dirty::curves(), victim::curves()].concat()
}

/// Whether there is a device to make things durable on, and room for `bytes`.
///
/// # Errors
/// Why not, and what would change that.
pub(super) fn check(live: &LiveTarget, bytes: u64) -> Result<(), String> {
    if !live.target().supports_cold() {
        return Err("it has no device that fsync could write to; give a file system on one".into());
    }
    let space = live.target().space().map_err(|error| error.to_string())?;
    // Half of the free space, since full file systems are another subject.
    if space.free_bytes / 2 < bytes {
        let (wanted_mib, more) = (2 * bytes / MIB, space.enlarged_by());
        return Err(format!("it needs {wanted_mib} MiB of free space; give {more}"));
    }
    Ok(())
}

/// Whether the memory limit leaves room for `dirty_bytes`.
///
/// # Errors
/// Why not, and what would change that.
fn check_memory(live: &LiveTarget, dirty_bytes: u64) -> Result<(), String> {
    /// Dirty data is not forced out if it is at most this fraction of the limit, as a divisor.
    const SHARE: u64 = 4;
    let limit = live.target().facts().conditions.limits.memory_bytes;
    if limit.is_some_and(|limit| limit / SHARE < dirty_bytes) {
        return Err(format!(
            "its memory limit forces dirty data out before it is synced; give memory={}m or more, \
             or no limit",
            SHARE * dirty_bytes / MIB
        ));
    }
    Ok(())
}

/// Metrics of what the device did per operation; `prefix` distinguishes those of several parts.
fn device_metrics(prefix: &str) -> [MetricDefinition; 3] {
    let prefixed = |name: &str, unit: &str| {
        MetricDefinition::new(&format!("{prefix}{name}"), unit, Better::Lower)
    };
    let standard = |metric: StandardMetric| prefixed(metric.name, metric.unit);
    [
        standard(StandardMetric::DEVICE_WRITES),
        standard(StandardMetric::DEVICE_BYTES),
        prefixed("device_flushes_per_operation", "count"),
    ]
}

/// The values of [`device_metrics`]. If others use the device too, none are known, and before Linux
/// 5.5 the number of flushes is not. So these metrics come last, where values may be missing.
fn device_values(deltas: &CounterDeltas, operations: u64) -> Vec<f64> {
    let counted = [deltas.device_writes, deltas.device_written_bytes, deltas.device_flushes];
    let per_operation = |count: u64| count as f64 / operations.max(1) as f64;
    counted.into_iter().map_while(|count| count.map(per_operation)).collect()
}

/// Makes a file of `bytes` that is fully written and on the device when this returns.
fn made_full(site: &Site<'_>, path: &Path, bytes: u64) -> Result<File, Failure> {
    let made = File::options().read(true).write(true).create_new(true).open(path);
    let file = made.map_err(|error| failed(&error))?;
    overwrite(&file, bytes, site.seed).map_err(|error| failed(&error))?;
    file.sync_all().map_err(|error| failed(&error))?;
    site.go_on()?;
    Ok(file)
}

/// Writes the first `bytes` of a file, in order, 1 MiB at a time.
fn overwrite(file: &File, bytes: u64, seed: u64) -> io::Result<()> {
    let mut piece = vec![0; usize::try_from(bytes.min(MIB)).map_err(io::Error::other)?];
    Content::new(seed, 0).fill(&mut piece, 0);
    let mut offset = 0;
    while offset < bytes {
        let length = piece.len().min(usize::try_from(bytes - offset).map_err(io::Error::other)?);
        file.write_all_at(&piece[..length], offset)?;
        offset += length as u64;
    }
    Ok(())
}

/// Writes back what earlier phases left dirty.
pub(super) fn settle(site: &Site<'_>) -> Result<(), Failure> {
    site.live.target().sync().map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_counted_has_no_value() {
        let all = CounterDeltas {
            device_writes: Some(8),
            device_written_bytes: Some(16_384),
            device_flushes: Some(2),
            ..CounterDeltas::default()
        };
        assert_eq!(device_values(&all, 4), [2.0, 4096.0, 0.5]);
        let old_kernel = CounterDeltas { device_flushes: None, ..all };
        assert_eq!(device_values(&old_kernel, 4), [2.0, 4096.0]);
        let shared = CounterDeltas { device_writes: None, ..all };
        assert_eq!(device_values(&shared, 4), [0.0; 0]);
    }

    #[test]
    fn every_benchmark_says_what_it_measures() {
        for one in curves() {
            assert!(one.operations().is_none(), "{} has declared numbers", one.name);
            assert_eq!(one.dimension, record::Dimension::Io, "{}", one.name);
            assert!(!one.metrics().is_empty() && !one.title.is_empty(), "{}", one.name);
        }
    }
}
