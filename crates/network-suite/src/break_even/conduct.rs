//! Measures the same files at one rate after another, each time without a cache and from a hot one.
//! The client keeps running: what it has in memory goes away when the mount and the cache are
//! removed, which the counts of each reading prove.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use lab::rig::{RigError, Shape};
use network_guest::CachePlace;
use network_guest::content::{Content, FileSet, TreeShape};
use network_guest::task::Task;
use record::network::{BREAK_EVEN, BREAK_EVEN_HIGH, BREAK_EVEN_LOW};
use record::{
    Better, CacheState, Cell, Dimension, EndReason, MetricDefinition, Replicate, RunDirectory,
};
use runner::{ATTEMPTS, Journal};
use serde_json::json;

use super::course::Course;
use super::{BENCHMARK, BreakEven, RATES};
use crate::conduct::{Ended, Lost, RunLost};
use crate::observation::{MeasuredReplicate, Observation};
use crate::plan::NetworkBenchmark;
use crate::proof::prove_all;
use crate::recorder::replicate;
use crate::rig::{JointMeasurement, NetworkRig};
use crate::state::NetworkState;
use crate::{SUITE, metrics};

/// A reading is proved like that of a tree.
const AS: NetworkBenchmark = NetworkBenchmark::Tree;

/// Searches, size by size, with the rig of the search's plan, and records each reading as it comes.
/// Calls `say` with what was found.
///
/// # Errors
/// If the rig or the run directory cannot be used any more.
pub fn search(
    rig: &mut NetworkRig,
    directory: &mut RunDirectory,
    search: &BreakEven,
    stop: &AtomicBool,
    say: &dyn Fn(&str),
) -> Result<Ended, RunLost> {
    let journal = Journal::begin(directory, 0, Instant::now())?;
    let mut prober =
        Prober { rig, search, journal, say, cells: BTreeMap::new(), is_ready: false, pairs: 0 };
    let mut ended = Ended::Done;
    for set in search.sets() {
        match prober.search_set(set, stop) {
            Ok(Ended::Done) => {}
            Ok(Ended::Stopped) | Err(RunLost::Rig(RigError::Stopped)) => {
                ended = Ended::Stopped;
                break;
            }
            Err(error) => return Err(error),
        }
    }
    prober.journal.end(match ended {
        Ended::Done => EndReason::Searched,
        Ended::Stopped => EndReason::Interrupted,
    })?;
    Ok(ended)
}

/// A cell by its files, its rate and its state.
type CellKey = (FileSet, u64, NetworkState);

fn key(set: FileSet, link: Shape, state: NetworkState) -> CellKey {
    (set, link.rate_bits_per_s.unwrap_or(0), state)
}

struct Prober<'a, 'b> {
    rig: &'a mut NetworkRig,
    search: &'a BreakEven,
    journal: Journal<'b>,
    say: &'a dyn Fn(&str),
    /// Index of each cell, and how many replicates it has.
    cells: BTreeMap<CellKey, (u32, u32)>,
    /// Whether the server is serving, and the client's cache is stopped and contains all files.
    is_ready: bool,
    pairs: u32,
}

impl Prober<'_, '_> {
    fn search_set(&mut self, set: FileSet, stop: &AtomicBool) -> Result<Ended, RunLost> {
        let files = textual::plural(set.files as usize, "file");
        let name = format!("{files} of {}", textual::size(set.file_bytes as f64, 0));
        let Ok(mut course) = Course::new(self.search.level, set.bytes()) else {
            return Ok(Ended::Done);
        };
        while let Some(rate) = course.ask() {
            if stop.load(Ordering::Relaxed) {
                return Ok(Ended::Stopped);
            }
            let link = self.search.link_at(rate);
            let Some((none_ns, hot_ns)) = self.probe(set, link)? else { break };
            let (none, hot) = (none_ns / 1e9, hot_ns / 1e9);
            (self.say)(&format!(
                "{name} at {:.1} Mbit/s: none {none:.2} s, hot {hot:.2} s (emulated)",
                rate / 1e6
            ));
            if course.tell(none_ns, hot_ns).is_err() {
                break;
            }
        }
        if let Some((low, high)) = course.rates() {
            let cell = self.journal.add_cell(self.result_cell(set))?;
            self.journal.keep(Replicate::from_metrics(cell, 0, vec![low, high]), 1)?;
        }
        Ok(Ended::Done)
    }

    /// The cell for the result of the search with files of one size.
    fn result_cell(&self, set: FileSet) -> Cell {
        let title = format!(
            "Link rate up to which a hot cache pays, for files of {}",
            textual::size(set.file_bytes as f64, 0)
        );
        let (least, most) = RATES;
        let own = [("least_rate", json!(least)), ("most_rate", json!(most))];
        let mut cell = self.definition(set, self.search.link, NetworkState::Hot);
        cell.parameters.remove("link");
        cell.parameters.remove("rate_bits_per_s");
        cell.parameters.extend(own.map(|(name, value)| (name.to_owned(), value)));
        let rate = |name| MetricDefinition::new(name, "bit/s", Better::Neither);
        let metrics = [BREAK_EVEN_LOW, BREAK_EVEN_HIGH].map(rate).to_vec();
        let benchmark = format!("{BREAK_EVEN}-{}", set.file_bytes);
        Cell { benchmark, title, metrics, ..cell }
    }

    /// Reads in both states, again and again until both are proved. Returns how long each took.
    fn probe(&mut self, set: FileSet, link: Shape) -> Result<Option<(f64, f64)>, RunLost> {
        self.pairs += 1;
        let states = [NetworkState::None, NetworkState::Hot];
        for attempt in 1..=ATTEMPTS {
            match self.attempt(set, link) {
                Ok(pair) => {
                    for (state, MeasuredReplicate { readers, server }) in
                        states.into_iter().zip(&pair)
                    {
                        let cell = self.cell(set, link, state)?;
                        let counts = self.search.counts;
                        let observed = Observation {
                            benchmark: AS,
                            readers,
                            server,
                            link,
                            counts,
                            is_own: false,
                        };
                        self.journal.keep(replicate(cell.0, cell.1, &observed), attempt)?;
                        self.cells.insert(key(set, link, state), (cell.0, cell.1 + 1));
                    }
                    let [none, hot] = pair.map(|one| one.elapsed_ns() as f64);
                    return Ok(Some((none, hot)));
                }
                Err((_, Lost::Run(error))) => return Err(error.into()),
                Err((state, Lost::Replicate(why))) => {
                    self.rig.give_clients_up();
                    self.is_ready = false;
                    (self.say)(&format!("{BENCHMARK} {state}: discarded: {why}"));
                    let cell = self.cell(set, link, state)?;
                    self.journal.discard(cell.0, cell.1, attempt, &why)?;
                    if attempt == ATTEMPTS {
                        self.journal.give_up(cell.0, cell.1, &why)?;
                    }
                }
            }
        }
        Ok(None)
    }

    fn attempt(
        &mut self,
        set: FileSet,
        link: Shape,
    ) -> Result<[MeasuredReplicate; 2], (NetworkState, Lost)> {
        let (none, hot) = (NetworkState::None, NetworkState::Hot);
        if !self.is_ready {
            self.prepare().map_err(|lost| (hot, lost))?;
        }
        self.rig.reshape(link).map_err(|error| (none, error.into()))?;
        let is_hot_first = self.pairs.is_multiple_of(2);
        let mut read = |state| self.read(set, state).map_err(|lost| (state, lost));
        // Alternate which one is first.
        if is_hot_first {
            let from_cache = read(hot)?;
            Ok([read(none)?, from_cache])
        } else {
            Ok([read(none)?, read(hot)?])
        }
    }

    /// Boots the guests that are not running, and reads all files into the client's cache.
    fn prepare(&mut self) -> Result<(), Lost> {
        let seed = self.search.seed;
        if !self.rig.is_serving() {
            let tree = TreeShape { directories: 1, files: 1 };
            let content = Content { file_bytes: 0, tree, seed };
            self.rig.serve_content(content)?;
            self.search.sets().try_for_each(|set| self.rig.add_set(set, seed))?;
        }
        self.rig.boot_clients(1)?;
        self.rig.reshape(self.search.plan().link)?;
        self.rig.start_caches(&self.cache_place(), true)?;
        self.rig.mount(self.search.version)?;
        for set in self.search.sets() {
            let JointMeasurement { measured, server } = self.rig.perform(Task::ReadSet(set))?;
            let readers = MeasuredReplicate::new(measured, server).readers;
            prove_all(NetworkState::Cold, AS, set.bytes(), &readers).map_err(Lost::Replicate)?;
        }
        self.rig.settle()?;
        self.is_ready = true;
        Ok(())
    }

    fn cache_place(&self) -> CachePlace {
        AS.cache_place(&self.search.cache, self.search.limits)
    }

    /// Mounts, reads and unmounts, with or without the cache.
    fn read(&mut self, set: FileSet, state: NetworkState) -> Result<MeasuredReplicate, Lost> {
        if state == NetworkState::Hot {
            self.rig.start_caches(&self.cache_place(), false)?;
        }
        self.rig.mount(self.search.version)?;
        let JointMeasurement { measured, server } = self.rig.perform(Task::ReadSet(set))?;
        let mut performed = MeasuredReplicate::new(measured, server);
        for (reader, settled) in performed.readers.iter_mut().zip(self.rig.settle()?) {
            reader.settled = Some(settled);
        }
        let MeasuredReplicate { readers, server } = &performed;
        prove_all(state, AS, set.bytes(), readers).map_err(Lost::Replicate)?;
        let link = Shape::default();
        let counts = self.search.counts;
        let observed = Observation { benchmark: AS, readers, server, link, counts, is_own: false };
        let from_disk = observed.disk(|disk| disk.read_bytes);
        if state == NetworkState::Hot && from_disk < set.bytes() as f64 {
            let bytes = set.bytes();
            let why = format!("of {bytes} bytes, {from_disk} were read from the cache's disk");
            return Err(Lost::Replicate(why));
        }
        Ok(performed)
    }

    /// Index of a cell, which is added to the journal if it is new, and the block of its next
    /// replicate.
    fn cell(
        &mut self,
        set: FileSet,
        link: Shape,
        state: NetworkState,
    ) -> Result<(u32, u32), record::RecordError> {
        let key = key(set, link, state);
        if let Some(&known) = self.cells.get(&key) {
            return Ok(known);
        }
        let cell = self.journal.add_cell(self.definition(set, link, state))?;
        self.cells.insert(key, (cell, 0));
        Ok((cell, 0))
    }

    fn definition(&self, set: FileSet, link: Shape, state: NetworkState) -> Cell {
        let mut parameters = [
            ("state", json!(state.name())),
            ("nfs", json!(self.search.version.to_string())),
            ("link", json!(link.to_string())),
            ("rate_bits_per_s", json!(link.rate_bits_per_s)),
            ("cache_file_system", json!(self.search.cache)),
            ("files", json!(set.files)),
            ("file_bytes", json!(set.file_bytes)),
            ("bytes", json!(set.bytes())),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec();
        let disk = self.search.cache_disk;
        if !disk.is_unlimited() {
            parameters.push(("cache_disk".to_owned(), json!(disk.to_string())));
        }
        let asked = self.search.link.rate_bits_per_s;
        parameters.extend(asked.map(|rate| ("asked_rate_bits_per_s".to_owned(), json!(rate))));
        Cell {
            target: state.name().to_owned(),
            suite: SUITE.to_owned(),
            benchmark: BENCHMARK.to_owned(),
            title: "Read files of one size".to_owned(),
            dimension: Dimension::Caching,
            exercises: vec![Dimension::Io, Dimension::Metadata],
            parameters: parameters.into_iter().collect(),
            cache_state: CacheState::Cold,
            metrics: metrics::definitions(AS, self.search.counts, false),
            baseline: None,
            working_set_bytes: Some(set.bytes()),
            curve: None,
            floor: None,
            rank: 0,
            least: None,
            sequence: None,
        }
    }
}
