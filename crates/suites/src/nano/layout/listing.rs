//! An experiment: directories are listed and their entries looked up after mounting, so that names
//! and attributes come from the device.
//!
//! First all names are read, as `getdents64` returns them; then each entry is looked up
//! (`fstatat`), in listing or creation order. If attributes are stored in creation order and names
//! in another, as in hashed directories, the two orders differ in cost.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Duration;

use measure::{Clock, Recorder};
use record::{Better, CacheEvidence, MetricDefinition};
use runner::Failure;
use rustix::fs::{AtFlags, Dir, statat};
use serde_json::{Value, json};
use workload::create_empty_files;

use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::state::{self, Claim};

/// Total entries when directories are small; a single one would be done too quickly.
const ENTRIES_TOGETHER: u64 = 1000;

/// Inodes that others may need in the meantime.
const SPARE_INODES: u64 = 1000;

/// The order in which entries are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LookupOrder {
    /// As the directory lists them.
    Listing,
    /// As they were made.
    Creation,
}

/// Lists directories and looks up each of their entries, with nothing in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColdListing {
    /// Entries of each directory.
    pub(super) entries: u64,
    /// The order in which they are looked up.
    pub(super) order: LookupOrder,
}

/// The times of one execution.
struct ListingTimes {
    recorder: Recorder,
    list_ns: u64,
    elapsed_ns: u64,
}

impl ColdListing {
    fn directories(&self) -> u64 {
        (ENTRIES_TOGETHER / self.entries).max(1)
    }

    fn all_entries(&self) -> u64 {
        self.directories() * self.entries
    }

    fn directory(site: &Site<'_>, number: u64) -> PathBuf {
        site.directory.join(number.to_string())
    }

    /// Lists a directory and looks up its entries. Returns how long the listing alone took.
    fn list(&self, site: &Site<'_>, number: u64, recorder: &mut Recorder) -> Result<u64, Failure> {
        let clock = site.clock;
        let entries = usize::try_from(self.entries).map_err(|error| failed(&error))?;
        let mut names: Vec<CString> = Vec::with_capacity(entries);
        let start_ticks = clock.start();
        let directory =
            File::open(Self::directory(site, number)).map_err(|error| failed(&error))?;
        let mut listing = Dir::read_from(&directory).map_err(|error| failed(&error))?;
        while let Some(entry) = listing.read() {
            let entry = entry.map_err(|error| failed(&error))?;
            let name = entry.file_name();
            if !matches!(name.to_bytes(), b"." | b"..") {
                names.push(name.to_owned());
            }
        }
        let listed_ticks = clock.end();
        if names.len() != entries {
            let why = format!("{} of {entries} entries were listed", names.len());
            return Err(Failure::Cell { why });
        }
        if self.order == LookupOrder::Creation {
            // Names contain numbers with leading zeros, so this is creation order.
            names.sort_unstable();
        }
        let again_ticks = clock.start();
        for name in &names {
            statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| failed(&error))?;
        }
        let end_ticks = clock.end();
        // Sorting is not counted.
        let sorting_ticks = again_ticks.saturating_sub(listed_ticks);
        recorder.record(start_ticks + sorting_ticks, end_ticks, clock);
        Ok(clock.nanos(listed_ticks.saturating_sub(start_ticks)))
    }

    fn list_all(&self, site: &Site<'_>) -> Result<ListingTimes, Failure> {
        let clock = site.clock;
        let origin_ticks = clock.ticks();
        let mut recorder = Recorder::new(origin_ticks, clock.ticks_of(1_000_000));
        let mut list_ns = 0;
        for number in 0..self.directories() {
            site.go_on()?;
            list_ns += self.list(site, number, &mut recorder)?;
        }
        let elapsed_ns = clock.nanos(clock.ticks().saturating_sub(origin_ticks));
        Ok(ListingTimes { recorder, list_ns, elapsed_ns })
    }
}

impl Experiment for ColdListing {
    fn metrics(&self) -> Vec<MetricDefinition> {
        vec![
            MetricDefinition::new("time_per_entry", "ns", Better::Lower),
            MetricDefinition::new("list_time_per_entry", "ns", Better::Lower),
            MetricDefinition::new("device_reads_per_entry", "count", Better::Lower),
            MetricDefinition::new("device_bytes_per_entry", "bytes", Better::Lower),
        ]
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        let order = match self.order {
            LookupOrder::Listing => "listing",
            LookupOrder::Creation => "creation",
        };
        BTreeMap::from([
            ("operation".to_owned(), json!("readdir and stat")),
            ("order_of_stat".to_owned(), json!(order)),
            ("cold".to_owned(), json!("data, names and attributes")),
            ("directories".to_owned(), json!(self.directories())),
            ("directory_entries".to_owned(), json!(self.entries)),
        ])
    }

    fn estimate(&self) -> Duration {
        /// To make, look up and remove an entry.
        const ENTRY_S: f64 = 60e-6;
        const AROUND_S: f64 = 0.1;
        Duration::from_secs_f64(AROUND_S + self.all_entries() as f64 * ENTRY_S)
    }

    fn begins_mounted_again(&self) -> bool {
        true
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        let target = &live.target;
        if !target.supports_cold() {
            return Err("its names and attributes are only in memory and never cold".to_owned());
        }
        if !live.is_scratch() {
            return Err(
                "what it has in memory cannot be dropped, because fsprism did not mount it: name a \
                        scratch target, such as ext4"
                    .to_owned(),
            );
        }
        let wanted = self.all_entries();
        match target.space().map(|space| space.free_inodes) {
            Ok(Some(free)) if free < wanted + SPARE_INODES => Err(format!(
                "it has room for {free} more files, but {wanted} and a few spare ones are needed: \
                 give it more space (size=)"
            )),
            _ => Ok(()),
        }
    }

    fn make(&self, site: &Site<'_>) -> Result<(), Failure> {
        for number in 0..self.directories() {
            let path = Self::directory(site, number);
            fs::create_dir(&path).map_err(|error| failed(&error))?;
            create_empty_files(&path, 0..self.entries, site.stop).map_err(|error| {
                // Most likely it was told to stop.
                site.go_on().err().unwrap_or_else(|| failed(&error))
            })?;
        }
        Ok(())
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let counters = site.counters()?;
        let reading = counters.read().map_err(|error| failed(&error))?;
        let took = self.list_all(site)?;
        let deltas = counters.read().map_err(|error| failed(&error))?.since(&reading);
        let evidence: CacheEvidence = state::evidence(None, None, &deltas);
        // Any read from the device shows that not everything was in memory; how much is not known
        // in advance.
        let claim = Claim::cold_reads(1);
        if let Err(why) = state::verify(claim, &evidence) {
            return Err(Failure::State { why, evidence: Box::new(evidence) });
        }
        let entries = self.all_entries() as f64;
        Ok(Findings {
            metrics: vec![
                took.recorder.busy_ns() as f64 / entries,
                took.list_ns as f64 / entries,
                deltas.device_reads.unwrap_or(0) as f64 / entries,
                deltas.device_read_bytes.unwrap_or(0) as f64 / entries,
            ],
            elapsed_ns: took.elapsed_ns,
            recorder: Some(took.recorder),
            evidence,
            ..Findings::default()
        })
    }
}
