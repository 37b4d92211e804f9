//! One `fsync` with much dirty data, in the same file or in another one.
//!
//! The dirty data comes from untimed writes, followed by one `fsync` that is timed. For the same
//! file, it must write all of the data, which overwrites existing blocks, so that what is timed is
//! the path to the device and not the search for free blocks.
//!
//! If the data is in another file, only 4 KiB of the caller's own have to be written. Any time
//! beyond that is what a file system makes the innocent pay: ext3, and ext4 without delayed
//! allocation, write all data in new blocks before they commit the journal that says where the
//! blocks are (`data=ordered`); with delayed allocation, blocks without a location are not in any
//! journal yet. So the neighbour's data is new rather than overwritten.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use machine::describe::WritebackReader;
use measure::{Clock, Recorder};
use record::{CacheEvidence, CacheState, Dimension, MetricDefinition, StandardMetric};
use runner::Failure;
use serde_json::{Value, json};
use targets::cache::cache_state;

use super::log::{Log, SyncMethod};
use super::{
    COMMIT_BYTES, KIB, MIB, SLICE_NS, check, check_memory, device_metrics, device_values,
    made_full, overwrite, settle,
};
use crate::benchmark::Benchmark;
use crate::counters::{CounterDeltas, Reading};
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::nano::curve::Curve;

/// Dirty bytes when the sync begins.
const DIRTY_BYTES: [u64; 5] = [0, 64 * KIB, MIB, 16 * MIB, 64 * MIB];
/// Bounds on the number of syncs in a replicate: fewer large ones, which take longer and vary less.
const SYNCS_MAX: u64 = 16;
const SYNCS_MIN: u64 = 2;
/// Bytes made dirty for all syncs of a replicate together, within these bounds.
const ALL_SYNCS_BYTES: u64 = 64 * MIB;
/// The percentage of the data that must still be dirty when the sync begins; the kernel may already
/// have started to write a few pages.
const STILL_DIRTY_PERCENT: u64 = 95;

/// Over the amount of dirty data, in the same file and in another one.
pub(super) fn curves() -> Vec<Benchmark> {
    let curve = |name, title, dirty_file: DirtyFile, rank| {
        let curve = Curve { name, title, axis: "dirty data", unit: "bytes" };
        curve.points(&DIRTY_BYTES, |dirty_bytes| Benchmark {
            dimension: Dimension::Io,
            exercises: vec![Dimension::OnDiskLayout, Dimension::Caching],
            cache_state: CacheState::Any,
            rank,
            ..Benchmark::from_experiment("", "", FsyncDirty { dirty_bytes, dirty_file })
        })
    };
    [
        curve("fsync-by-dirty-data", "fsync of a dirty file", DirtyFile::Own, 1),
        curve(
            "fsync-beside-dirty-data",
            "fsync of 4 KiB while another file is dirty",
            DirtyFile::Another,
            5,
        ),
    ]
    .concat()
}

/// Which file the dirty data belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DirtyFile {
    /// The file that is synced.
    Own,
    /// A new file beside it.
    Another,
}

/// Syncs while there is dirty data.
#[derive(Debug)]
struct FsyncDirty {
    dirty_bytes: u64,
    dirty_file: DirtyFile,
}

/// What was observed of the syncs of one file.
struct SyncObservations<'a> {
    site: &'a Site<'a>,
    recorder: Recorder,
    deltas: Vec<CounterDeltas>,
    evidence: CacheEvidence,
}

impl FsyncDirty {
    fn syncs(&self) -> u64 {
        (ALL_SYNCS_BYTES / self.dirty_bytes.max(1)).clamp(SYNCS_MIN, SYNCS_MAX)
    }

    /// Overwrites and syncs the file itself.
    fn own(&self, observations: &mut SyncObservations<'_>) -> Result<(), Failure> {
        let path = observations.site.directory.join("file");
        let file = made_full(observations.site, &path, self.dirty_bytes.max(COMMIT_BYTES as u64))?;
        for sync in 0..self.syncs() {
            settle(observations.site)?;
            let seed = observations.site.seed.wrapping_add(sync);
            overwrite(&file, self.dirty_bytes, seed).map_err(|error| failed(&error))?;
            self.look(observations, &file)?;
            observations.time(|| file.sync_all())?;
        }
        Ok(())
    }

    /// Writes a new file next to the one that is synced.
    fn another(&self, observations: &mut SyncObservations<'_>) -> Result<(), Failure> {
        let site = observations.site;
        let path = site.directory.join("file");
        let log = Log::create(&path, SyncMethod::Fsync, COMMIT_BYTES, site.seed);
        let mut log = log.map_err(|error| failed(&error))?;
        for sync in 0..self.syncs() {
            let neighbour = site.directory.join(format!("neighbour-{sync}"));
            settle(site)?;
            // Kept open, since ext4 allocates blocks for some files when they are closed.
            let beside = self.neighbour(&neighbour, site.seed.wrapping_add(sync))?;
            log.write().map_err(|error| failed(&error))?;
            self.look(observations, &beside)?;
            observations.time(|| log.sync())?;
            drop(beside);
            fs::remove_file(&neighbour).map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    fn neighbour(&self, path: &Path, seed: u64) -> Result<File, Failure> {
        let made = File::options().read(true).write(true).create_new(true).open(path);
        let file = made.map_err(|error| failed(&error))?;
        overwrite(&file, self.dirty_bytes, seed).map_err(|error| failed(&error))?;
        Ok(file)
    }

    /// Counts what is dirty, if this kernel reports it.
    fn look(&self, observations: &mut SyncObservations<'_>, file: &File) -> Result<(), Failure> {
        let seen = cache_state::residency(file).map_err(|error| failed(&error))?;
        let evidence = CacheEvidence {
            pages: Some(seen.total_pages),
            resident_before: Some(seen.resident_pages),
            dirty_before: seen.dirty_pages,
            ..CacheEvidence::default()
        };
        let dirty_bytes = seen.dirty_pages.map(|pages| pages * rustix::param::page_size() as u64);
        if let Some(bytes) = dirty_bytes.filter(|bytes| !self.is_still_dirty(*bytes)) {
            let why = format!(
                "only {bytes} of {} bytes were still dirty when the sync began",
                self.dirty_bytes
            );
            return Err(Failure::State { why, evidence: Box::new(evidence) });
        }
        observations.evidence = evidence;
        observations.site.go_on()
    }

    fn is_still_dirty(&self, bytes: u64) -> bool {
        bytes * 100 >= self.dirty_bytes * STILL_DIRTY_PERCENT
    }
}

impl SyncObservations<'_> {
    /// Times one sync, and records what the device does for it.
    fn time(&mut self, sync: impl FnOnce() -> std::io::Result<()>) -> Result<(), Failure> {
        let (clock, counters) = (self.site.clock, self.site.counters()?);
        let before: Reading = counters.read().map_err(|error| failed(&error))?;
        let start_ticks = clock.start();
        let done = sync();
        let end_ticks = clock.end();
        done.map_err(|error| failed(&error))?;
        self.recorder.record(start_ticks, end_ticks, clock);
        let after = counters.read().map_err(|error| failed(&error))?;
        self.deltas.push(after.since(&before));
        Ok(())
    }

    /// What the device did for all syncs together.
    fn deltas(&self) -> CounterDeltas {
        let sum = |count: fn(&CounterDeltas) -> Option<u64>| self.deltas.iter().map(count).sum();
        CounterDeltas {
            device_writes: sum(|one| one.device_writes),
            device_written_bytes: sum(|one| one.device_written_bytes),
            device_flushes: sum(|one| one.device_flushes),
            ..CounterDeltas::default()
        }
    }
}

impl Experiment for FsyncDirty {
    fn metrics(&self) -> Vec<MetricDefinition> {
        let mut own = vec![StandardMetric::TIME_PER_OPERATION.definition()];
        if self.dirty_file == DirtyFile::Own {
            own.push(StandardMetric::BANDWIDTH.definition());
        }
        own.into_iter().chain(device_metrics("")).collect()
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        let dirty_file = match self.dirty_file {
            DirtyFile::Own => "of the file, written over",
            DirtyFile::Another => "of another file, new",
        };
        BTreeMap::from([
            ("operation".to_owned(), json!("fsync")),
            ("dirty_bytes".to_owned(), json!(self.dirty_bytes)),
            ("dirty_data".to_owned(), json!(dirty_file)),
            ("syncs".to_owned(), json!(self.syncs())),
        ])
    }

    fn estimate(&self) -> Duration {
        /// Typical of a fast device; dirty data is made and then written.
        const BYTES_PER_S: u64 = 400 * MIB;
        let written_bytes = (self.syncs() + 1) * self.dirty_bytes;
        Duration::from_millis(10 + 1000 * written_bytes / BYTES_PER_S)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        check(live, 2 * self.dirty_bytes)?;
        check_memory(live, self.dirty_bytes)?;
        let counters = WritebackReader::open().and_then(|reader| reader.read());
        let begins_at = counters.map_err(|error| error.to_string())?.background_threshold_bytes;
        if begins_at < self.dirty_bytes {
            return Err(format!(
                "write-back starts on its own when {begins_at} bytes are dirty, before the sync; \
                 raise vm.dirty_background_bytes"
            ));
        }
        Ok(())
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let clock = site.clock;
        let mut observations = SyncObservations {
            site,
            recorder: Recorder::new(clock.ticks(), clock.ticks_of(SLICE_NS)),
            deltas: Vec::new(),
            evidence: CacheEvidence::default(),
        };
        match self.dirty_file {
            DirtyFile::Own => self.own(&mut observations)?,
            DirtyFile::Another => self.another(&mut observations)?,
        }
        let time_ns = observations.recorder.mean_ns();
        let mut metrics = vec![time_ns];
        if self.dirty_file == DirtyFile::Own {
            metrics.push(self.dirty_bytes as f64 / time_ns.max(1.0) * 1e9);
        }
        metrics.extend(device_values(&observations.deltas(), self.syncs()));
        Ok(Findings {
            metrics,
            bytes: self.syncs() * self.dirty_bytes,
            elapsed_ns: observations.recorder.busy_ns(),
            recorder: Some(observations.recorder),
            evidence: observations.evidence,
            ..Findings::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_syncs_are_many_and_large_ones_few() {
        let syncs = DIRTY_BYTES
            .map(|dirty_bytes| FsyncDirty { dirty_bytes, dirty_file: DirtyFile::Own }.syncs());
        assert_eq!(syncs, [16, 16, 16, 4, 2]);
    }

    #[test]
    fn data_that_has_left_is_noticed() {
        let one = |dirty_bytes| FsyncDirty { dirty_bytes, dirty_file: DirtyFile::Another };
        assert!(one(0).is_still_dirty(0));
        assert!(one(MIB).is_still_dirty(MIB));
        assert!(!one(MIB).is_still_dirty(MIB / 2));
    }
}
