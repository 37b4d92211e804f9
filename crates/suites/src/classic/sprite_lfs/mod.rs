//! The Sprite LFS large-file benchmark: a descendant of Figure 9 of Rosenblum & Ousterhout, "The
//! Design and Implementation of a Log-Structured File System" (SOSP 1991), on small files.
//!
//! A file is written sequentially, read sequentially, written randomly, read randomly, and read
//! sequentially again, in blocks of 4 KiB; writes end with fsync. The paper includes no code. Of
//! the programs written after it, `largefile.c` reads and writes each block once, in an order drawn
//! beforehand, and keeps one file open throughout; `lfs_large.c` (in `HiStar`, from MIT) opens it
//! for each phase. Both time phases as a whole, and so does this: two clock readings around all
//! operations on a file. Opening it is not timed.
//!
//! Every step of the investigation by Wang, Kuenning, Reiher & Popek, "The Effects of Memory-Rich
//! Environments on File System Microbenchmarks" (SPECTS 2003), is an option.

mod passes;
mod phases;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::iter;
use std::time::Duration;

use footprint_trace::marked::PhasePosition;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use record::machine::Cache;
use record::{
    Dimension, FirstWrite, MetricDefinition, ProcessorCount, RandomAlignment, SecondWrite,
    SpriteLfsOptions, SpriteLfsRun, StandardMetric,
};
use runner::Failure;
use serde_json::{Value, json};
use workload::{AlignedBuffer, Content};

use self::passes::Passes;
use self::phases::{BLOCK_BYTES, Phase};
use super::processor_counts::{self, PhaseCounters};
use super::{ClassicError, sizes};
use crate::benchmark::Benchmark;
use crate::experiment::Site;
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::sequence::{self, Sequence, SequencePhase};

/// The share of free space that files may take.
const ROOM_SHARE: f64 = 0.9;
/// The fewest blocks in a file whose size is derived from the caches.
const PLACED_BLOCKS_MIN: u64 = 4;
/// Duration of an fsync on a slow device, and bytes per second that a device writes, for the
/// estimate.
const FSYNC: Duration = Duration::from_millis(10);
const BYTES_PER_S: u64 = 200 << 20;

/// File sizes that make up each working set below or beyond one of the machine's caches. Files so
/// small that reading the clock would be a large part of their time are left out, except the
/// largest.
#[must_use]
pub fn around_caches(caches: &[Cache], files: u32) -> Vec<u64> {
    let mut all = sizes::file_sizes(&sizes::around(caches), files, BLOCK_BYTES);
    let is_small = |&bytes: &u64| bytes < PLACED_BLOCKS_MIN * BLOCK_BYTES;
    let small = all.iter().take_while(|bytes| is_small(bytes)).count();
    all.drain(..small.min(all.len().saturating_sub(1)));
    all
}

/// The number of phases with these options.
#[must_use]
pub fn phases_of(options: &SpriteLfsOptions) -> u64 {
    phases::in_order(options).len() as u64
}

/// The phases as benchmarks, for each size.
///
/// # Errors
/// Which options make no sense.
pub(crate) fn benchmarks(run: &SpriteLfsRun) -> Result<Vec<Benchmark>, ClassicError> {
    let all = run.by_size();
    all.iter().try_for_each(check)?;
    let sequence = |name, options| SpriteLfs { name, options };
    Ok(sizes::benchmarks("sprite-lfs", all, |options| options.file_bytes, sequence))
}

/// The phases as part of another suite, under a name that is unique there.
///
/// # Errors
/// Which options make no sense.
pub(crate) fn benchmarks_of(
    name: &str,
    options: &SpriteLfsOptions,
) -> Result<Vec<Benchmark>, ClassicError> {
    check(options)?;
    Ok(sequence::benchmarks(SpriteLfs { name: name.to_owned(), options: options.clone() }))
}

/// Name and title of a phase, with its number if it is repeated.
fn named(phase: Phase, number: Option<u32>) -> (String, String) {
    let (name, title) = phase.names();
    match number {
        Some(number) => (format!("{name}-{number}"), format!("{title}, number {number}")),
        None => (name.to_owned(), title.to_owned()),
    }
}

fn check(options: &SpriteLfsOptions) -> Result<(), ClassicError> {
    if options.file_bytes == 0 || !options.file_bytes.is_multiple_of(BLOCK_BYTES) {
        let (file_bytes, block_bytes) = (options.file_bytes, BLOCK_BYTES);
        return Err(ClassicError::NotWholeBlocks { file_bytes, block_bytes });
    }
    if options.files <= u32::from(options.drop_first) {
        return Err(ClassicError::NothingLeft { files: options.files });
    }
    processor_counts::check(&options.processor_counts)
}

/// Checks that a target has room for the files.
///
/// # Errors
/// If it does not.
pub(crate) fn check_room(
    options: &SpriteLfsOptions,
    live: &LiveTarget,
) -> Result<(), ClassicError> {
    // If the target does not report its free space, making the files will show.
    let Ok(space) = live.target.space() else { return Ok(()) };
    let needed_bytes = options.file_bytes as f64 * files_of(options) as f64;
    if needed_bytes <= space.free_bytes as f64 * ROOM_SHARE {
        return Ok(());
    }
    Err(ClassicError::NoRoom {
        files: files_of(options),
        file_bytes: options.file_bytes,
        label: live.target.spec().label.clone(),
        free_bytes: space.free_bytes,
        or_more_room: live.or_more_room(),
    })
}

/// The number of all files that are there in the end.
fn files_of(options: &SpriteLfsOptions) -> u64 {
    u64::from(options.files)
        * match options.second_write {
            SecondWrite::SameFiles => 1,
            SecondWrite::NewFiles => 2,
        }
}

/// The benchmark and its options.
#[derive(Clone, Debug)]
struct SpriteLfs {
    name: String,
    options: SpriteLfsOptions,
}

impl Sequence for SpriteLfs {
    fn name(&self) -> &str {
        &self.name
    }

    fn phases(&self) -> Vec<SequencePhase> {
        let all = phases::in_order(&self.options).into_iter();
        all.map(|(phase, number)| self.phase(phase, number)).collect()
    }

    fn estimate(&self) -> Duration {
        let options = &self.options;
        let phases = phases::in_order(options);
        let writes = phases.iter().filter(|(phase, _)| phase.writes()).count() as u64;
        let per_file = Duration::from_secs_f64(options.file_bytes as f64 / BYTES_PER_S as f64);
        let pauses = Duration::from_nanos(options.write_pause_ns);
        let blocks = u32::try_from(options.file_bytes / BLOCK_BYTES).unwrap_or(u32::MAX);
        let writing = (per_file + FSYNC + pauses * blocks) * u32::try_from(writes).unwrap_or(1);
        writing * options.files
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        check_room(&self.options, live).map_err(|error| error.to_string())
    }

    fn execute(&self, site: &Site<'_>, seed: u64) -> Result<Vec<Findings>, Failure> {
        // Earlier writes must not be written back meanwhile.
        site.live.target.sync().map_err(|error| failed(&error))?;
        let mut passes = Passes {
            site,
            options: &self.options,
            files: self.create(site, "file", self.options.first_write)?,
            next_files: Vec::new(),
            buffer: AlignedBuffer::new(BLOCK),
            counters: PhaseCounters::open(&self.options.processor_counts)?,
            generator: Xoshiro256PlusPlus::seed_from_u64(seed),
        };
        Content::new(seed, 0).fill(passes.buffer.bytes_mut(), 0);
        if self.options.second_write == SecondWrite::NewFiles {
            let next_write = match self.options.first_write {
                FirstWrite::Sequential => FirstWrite::Random,
                FirstWrite::Random => FirstWrite::Sequential,
            };
            passes.next_files = self.create(site, "new-file", next_write)?;
        }
        if self.options.pre_read {
            self.fill(site, &mut passes)?;
        }
        let places = iter::once(PhasePosition::First).chain(iter::repeat(PhasePosition::Later));
        let phases = phases::in_order(&self.options).into_iter().zip(places);
        let mut written = None;
        let one = |((phase, _), place): ((Phase, _), _)| {
            if phase.writes() && written.replace(phase).is_some_and(|before| before != phase) {
                passes.go_to_new_files();
            }
            passes.phase(phase, place)
        };
        phases.map(one).collect()
    }
}

/// Size of the buffer for one block.
const BLOCK: usize = 4096;

impl SpriteLfs {
    /// Creates the files that are first written to like this.
    fn create(&self, site: &Site<'_>, name: &str, write: FirstWrite) -> Result<Vec<File>, Failure> {
        let create = |number| {
            let path = site.directory.join(format!("{name}-{number}"));
            let file = File::options().read(true).write(true).create_new(true).open(path)?;
            if write == FirstWrite::Random {
                // Random writes at any byte may not reach the end.
                file.set_len(self.options.file_bytes)?;
            }
            Ok(file)
        };
        let created: io::Result<Vec<File>> = (0..self.options.files).map(create).collect();
        created.map_err(|error| failed(&error))
    }

    /// Fills files that exist beforehand.
    fn fill(&self, site: &Site<'_>, passes: &mut Passes<'_>) -> Result<(), Failure> {
        let block = passes.buffer.bytes_mut();
        for file in &mut passes.files {
            site.go_on()?;
            for _ in 0..self.options.file_bytes / BLOCK_BYTES {
                file.write_all(block).map_err(|error| failed(&error))?;
            }
        }
        site.live.target.sync().map_err(|error| failed(&error))
    }

    fn phase(&self, phase: Phase, number: Option<u32>) -> SequencePhase {
        let (name, title) = named(phase, number);
        let (dimension, exercises) = if phase.writes() {
            (Dimension::Io, vec![Dimension::OnDiskLayout, Dimension::InMemory])
        } else {
            (Dimension::InMemory, vec![Dimension::Caching])
        };
        SequencePhase {
            name,
            title,
            dimension,
            exercises,
            metrics: metrics(&self.options.processor_counts),
            parameters: self.parameters(phase),
            working_set_bytes: Some(self.options.file_bytes * u64::from(self.options.files)),
        }
    }

    fn parameters(&self, phase: Phase) -> BTreeMap<String, Value> {
        let options = &self.options;
        let alignment_bytes = match options.alignment {
            RandomAlignment::Byte if phase.is_random() => 1,
            RandomAlignment::Byte | RandomAlignment::Page => BLOCK_BYTES,
        };
        let own = [
            ("operation", json!(if phase.writes() { "write" } else { "read" })),
            ("access", json!(if phase.is_random() { "random" } else { "sequential" })),
            ("alignment_bytes", json!(alignment_bytes)),
            ("request_bytes", json!(BLOCK_BYTES)),
            ("threads", json!(1)),
        ];
        let options = serde_json::to_value(options).unwrap_or_default();
        let options = options.as_object().cloned().unwrap_or_default();
        own.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(options).collect()
    }
}

fn metrics(counts: &[ProcessorCount]) -> Vec<MetricDefinition> {
    let timed = [StandardMetric::BANDWIDTH, StandardMetric::TIME_PER_OPERATION];
    timed
        .map(StandardMetric::definition)
        .into_iter()
        .chain(processor_counts::metrics(counts))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_meant_is_refused_with_what_to_change() {
        let refused = |options: SpriteLfsOptions| {
            benchmarks(&options.into()).map(drop).expect_err("it cannot be meant").to_string()
        };
        let why = refused(SpriteLfsOptions { file_bytes: 5000, ..SpriteLfsOptions::published() });
        assert!(why.contains("multiple of 4096") && why.contains("give 8192"), "{why}");
        let why = refused(SpriteLfsOptions { files: 1, ..SpriteLfsOptions::corrected() });
        assert!(why.contains("leaves nothing of 1 file: give --files 2"), "{why}");
        assert!(
            benchmarks(&SpriteLfsOptions { files: 2, ..SpriteLfsOptions::corrected() }.into())
                .is_ok()
        );
    }

    #[test]
    fn several_sizes_make_a_curve_of_each_phase() {
        let run = SpriteLfsRun {
            further_file_bytes: vec![8192, 1 << 20, 128 << 10],
            options: SpriteLfsOptions::published(),
        };
        let all = benchmarks(&run).expect("it can be run");
        assert_eq!(all.len(), 3 * 5);
        let (first, last) = (&all[0], &all[14]);
        assert_eq!(first.name, "sequential-write-8192");
        assert_eq!(last.title, "sequential read at the end, file 1 MiB");
        let point = |benchmark: &Benchmark| {
            let point = benchmark.curve.clone().expect("it lies on a curve");
            (point.curve, point.value)
        };
        assert_eq!(point(first), ("sequential-write".to_owned(), 8192.0));
        assert_eq!(point(last), ("sequential-read-again".to_owned(), f64::from(1 << 20)));
        // The largest is left out first.
        assert_eq!((first.rank, all[5].rank, last.rank), (0, 1, 2));
        // Each size is a sequence of its own.
        let files = |benchmark: &Benchmark| {
            benchmark.cell("sprite-lfs", "tmpfs", 0).parameters["file_bytes"].clone()
        };
        assert_eq!((files(first), files(last)), (json!(8192), json!(1 << 20)));
    }

    #[test]
    fn sizes_around_caches_leave_out_files_of_a_few_blocks() {
        let cache = |(level, kib): (u32, u64)| Cache {
            level,
            kind: record::machine::CacheKind::Unified,
            size_bytes: Some(kib << 10),
            line_bytes: None,
            ways: None,
            sets: None,
            shared_by: Vec::new(),
            instances: 1,
        };
        let caches = [(1, 48), (2, 2048), (3, 32 << 10)].map(cache);
        let around = |files| -> Vec<u64> {
            around_caches(&caches, files).into_iter().map(|bytes| bytes >> 10).collect()
        };
        assert_eq!(around(1), [192, 512, 8 << 10, 128 << 10]);
        assert_eq!(around(11), [16, 44, 736, 11_776]);
        assert_eq!(around(10_000), [12]);
    }

    #[test]
    fn random_phases_say_how_they_are_aligned() {
        let alignment = |options: &SpriteLfsOptions, phase| {
            let sequence = SpriteLfs { name: String::new(), options: options.clone() };
            sequence.parameters(phase)["alignment_bytes"].clone()
        };
        assert_eq!(alignment(&SpriteLfsOptions::published(), Phase::RandomRead), json!(1));
        assert_eq!(alignment(&SpriteLfsOptions::published(), Phase::SequentialRead), json!(4096));
        assert_eq!(alignment(&SpriteLfsOptions::corrected(), Phase::RandomRead), json!(4096));
    }

    #[test]
    fn phases_hold_every_option_in_their_parameters() {
        let all = benchmarks(&SpriteLfsOptions::corrected().into()).expect("it can be run");
        assert_eq!(all.len(), 6);
        for benchmark in all {
            let cell = benchmark.cell("sprite-lfs", "tmpfs", 0);
            for name in ["file_bytes", "files", "drop_first", "first_write", "pad_calls"] {
                assert!(cell.parameters.contains_key(name), "{name}");
            }
            assert_eq!(cell.metrics[0].name, "bandwidth");
        }
    }
}
