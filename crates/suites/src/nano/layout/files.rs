//! An experiment: files are written in a certain way, then read cold from start to end.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use machine::describe::{Extent, extents};
use measure::{Clock, Recorder};
use record::{Better, CacheEvidence, MetricDefinition, StandardMetric};
use runner::Failure;
use serde_json::{Value, json};
use targets::cache::cache_state;

use super::write_pattern::WritePattern;
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::state::{self, Claim};

/// Bytes requested by one call.
const REQUEST_BYTES: usize = 128 << 10;
/// How long to wait for pages requested by read-ahead.
const PATIENCE: Duration = Duration::from_secs(2);
const MIB: f64 = 1_048_576.0;

/// Files that are written in a certain way and read cold.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColdRead {
    /// The size of each.
    pub(super) file_bytes: u64,
    /// How many are read.
    pub(super) files_read: usize,
    /// How they are written.
    pub(super) pattern: WritePattern,
}

/// The reads of one execution.
struct ReadTimes {
    recorder: Recorder,
    elapsed_ns: u64,
    read_bytes: u64,
}

/// How files are laid out on the device.
struct Layout {
    extents_per_file: f64,
    run_bytes: f64,
}

impl ColdRead {
    /// Number of files written: whole groups, and at least as many as are read.
    fn files(&self) -> usize {
        self.files_read.next_multiple_of(self.pattern.together())
    }

    fn written_bytes(&self) -> u64 {
        self.files() as u64 * self.file_bytes
    }

    fn write(&self, site: &Site<'_>) -> Result<Vec<PathBuf>, Failure> {
        let path = |number: usize| site.directory.join(number.to_string());
        let paths: Vec<PathBuf> = (0..self.files()).map(path).collect();
        let files: Result<Vec<File>, _> = paths.iter().map(File::create_new).collect();
        let files = files.map_err(|error| failed(&error))?;
        self.pattern.write(site, &files, self.file_bytes)?;
        site.live.target.sync().map_err(|error| failed(&error))?;
        Ok(paths.into_iter().take(self.files_read).collect())
    }

    fn read(site: &Site<'_>, paths: &[PathBuf]) -> Result<ReadTimes, Failure> {
        let clock = site.clock;
        let files: Result<Vec<File>, _> = paths.iter().map(File::open).collect();
        let mut files = files.map_err(|error| failed(&error))?;
        let mut buffer = vec![0; REQUEST_BYTES];
        let origin_ticks = clock.ticks();
        let mut recorder = Recorder::new(origin_ticks, clock.ticks_of(1_000_000));
        let mut read_bytes = 0;
        for file in &mut files {
            site.go_on()?;
            let start_ticks = clock.start();
            loop {
                match file.read(&mut buffer).map_err(|error| failed(&error))? {
                    0 => break,
                    length => read_bytes += length as u64,
                }
            }
            recorder.record(start_ticks, clock.end(), clock);
        }
        let elapsed_ns = clock.nanos(clock.ticks().saturating_sub(origin_ticks));
        Ok(ReadTimes { recorder, elapsed_ns, read_bytes })
    }
}

/// The layout of the files. Only queried after reading, since that brings the extents into memory.
fn layout(paths: &[PathBuf]) -> Result<Layout, Failure> {
    let (mut count, mut runs, mut placed_bytes) = (0, 0, 0);
    for path in paths {
        let file = File::open(path).map_err(|error| failed(&error))?;
        let file_bytes = file.metadata().map_err(|error| failed(&error))?.len();
        let found = extents(&file).map_err(|error| failed(&error))?;
        // Some file systems preallocate space beyond the end of a growing file.
        let inside = found.list().iter().filter(|extent| extent.logical_bytes < file_bytes);
        count += inside.clone().count();
        let (file_runs, bytes) = runs_of(inside);
        runs += file_runs;
        placed_bytes += bytes;
    }
    let extents_per_file = count as f64 / paths.len().max(1) as f64;
    // Data stored only in inodes is not part of any run.
    Ok(Layout { extents_per_file, run_bytes: placed_bytes as f64 / runs.max(1) as f64 })
}

/// The number of runs of extents that are contiguous on the device, and their total bytes.
fn runs_of<'a>(extents: impl Iterator<Item = &'a Extent>) -> (usize, u64) {
    let (mut runs, mut bytes, mut end) = (0, 0, None);
    for extent in extents.filter(|extent| extent.flags.has_place()) {
        runs += usize::from(end != Some(extent.physical_bytes));
        bytes += extent.length_bytes;
        end = Some(extent.physical_bytes + extent.length_bytes);
    }
    (runs, bytes)
}

impl Experiment for ColdRead {
    fn metrics(&self) -> Vec<MetricDefinition> {
        vec![
            MetricDefinition::new("time_per_mib", "ns", Better::Lower),
            StandardMetric::BANDWIDTH.definition(),
            MetricDefinition::new("extents_per_file", "count", Better::Neither),
            MetricDefinition::new("contiguous_run_bytes", "bytes", Better::Neither),
        ]
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        let mut parameters = BTreeMap::from([
            ("operation".to_owned(), json!("read")),
            ("access".to_owned(), json!("sequential")),
            // Attributes and extents stay in memory; only the data is cold.
            ("cold".to_owned(), json!("data")),
            ("request_bytes".to_owned(), json!(REQUEST_BYTES)),
            ("file_bytes".to_owned(), json!(self.file_bytes)),
            ("files".to_owned(), json!(self.files_read)),
            ("written".to_owned(), json!(self.pattern.name())),
        ]);
        if let Some(bytes) = self.pattern.piece_bytes() {
            parameters.insert("piece_bytes".to_owned(), json!(bytes));
            parameters.insert("files_written_together".to_owned(), json!(self.pattern.together()));
        }
        parameters
    }

    fn working_set_bytes(&self) -> Option<u64> {
        Some(self.files_read as u64 * self.file_bytes)
    }

    fn estimate(&self) -> Duration {
        const BYTES_PER_S: f64 = 250e6;
        const PIECE_S: f64 = 60e-6;
        const AROUND_S: f64 = 0.03;
        let written_bytes = self.written_bytes();
        let pieces = self.pattern.piece_bytes().map_or(0, |bytes| written_bytes / bytes.max(1));
        let read_bytes = self.files_read as u64 * self.file_bytes;
        let moved_s = (written_bytes + read_bytes) as f64 / BYTES_PER_S;
        Duration::from_secs_f64(AROUND_S + moved_s + pieces as f64 * PIECE_S)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        let target = &live.target;
        if let Some(why) = target.why_never_cold() {
            return Err(format!("{why}: they have no place on a device"));
        }
        live.trial().extents.clone()?;
        let (wanted, space) = (2 * self.written_bytes(), target.space());
        match space {
            Ok(space) if space.free_bytes < wanted => Err(format!(
                "it has {} bytes free, but {wanted} are needed: give {}",
                space.free_bytes,
                space.enlarged_by()
            )),
            _ => Ok(()),
        }
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let paths = self.write(site)?;
        let root = site.live.target.root();
        let before = cache_state::evict_all(root, &paths, PATIENCE);
        let before = before.map_err(|error| failed(&error))?;
        let counters = site.counters()?;
        let reading = counters.read().map_err(|error| failed(&error))?;
        let took = Self::read(site, &paths)?;
        let deltas = counters.read().map_err(|error| failed(&error))?.since(&reading);
        let evidence: CacheEvidence = state::evidence(Some(before), None, &deltas);
        let layout = layout(&paths)?;
        let inside_inodes = layout.extents_per_file > 0.0 && layout.run_bytes == 0.0;
        // Data stored in an inode is read along with it, and inodes stay in memory.
        let read_bytes = if inside_inodes { 0 } else { took.read_bytes };
        let claim = Claim::cold_reads(read_bytes);
        if let Err(why) = state::verify(claim, &evidence) {
            return Err(Failure::State { why, evidence: Box::new(evidence) });
        }
        let busy_ns = took.recorder.busy_ns() as f64;
        let bytes = took.read_bytes as f64;
        Ok(Findings {
            metrics: vec![
                busy_ns / (bytes / MIB),
                bytes * 1e9 / busy_ns.max(1.0),
                layout.extents_per_file,
                layout.run_bytes,
            ],
            bytes: took.read_bytes,
            elapsed_ns: took.elapsed_ns,
            recorder: Some(took.recorder),
            evidence,
            ..Findings::default()
        })
    }
}
