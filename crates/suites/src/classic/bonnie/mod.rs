//! Bonnie, by Tim Bray: one file is written per character and by block, rewritten, read per
//! character and by block, and read at random.
//!
//! The phases, their order and what is timed follow `Bonnie.c` of 1996. What seekers do follows
//! `bon_io.cpp` of Bonnie++ 2.00a, and so does the order if requested. [`metadata`] has the tests
//! that Bonnie++ added.

mod characters;
pub mod metadata;
mod passes;
mod phases;
mod seeks;
mod timed;

use std::collections::BTreeMap;
use std::time::Duration;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{BonnieOptions, BonniePhaseOrder, BonnieRun};
use runner::Failure;
use serde_json::Value;

use self::passes::Passes;
use self::phases::Phase;
use super::{ClassicError, sizes};
use crate::benchmark::Benchmark;
use crate::experiment::Site;
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::sequence::{Sequence, SequencePhase};

/// The suite's name.
pub const SUITE: &str = "bonnie";

/// Bounds on the size of a chunk, which must be a power of two, as for Bonnie++.
const CHUNK_MIN: u64 = 256;
const CHUNK_MAX: u64 = 1 << 20;
/// The share of free space that the file may take.
const ROOM_SHARE: f64 = 0.9;
/// Bytes per second moved by a phase, and seeks per second, for the estimate.
const BYTES_PER_S: f64 = 400.0 * 1048576.0;
const SEEKS_PER_S: f64 = 10_000.0;

/// The options of "File Systems Performance Analysis": 320 MB, and Bonnie's defaults.
#[must_use]
pub fn published() -> BonnieOptions {
    BonnieOptions {
        size_bytes: 320 << 20,
        chunk_bytes: 16 << 10,
        seeks: 4000,
        seekers: 4,
        fsync: false,
        phase_order: BonniePhaseOrder::Bonnie,
    }
}

/// File sizes below and beyond each memory size available to a target's cache, in whole chunks.
///
/// # Errors
/// If a memory is so small that a file below it is less than one chunk.
pub fn around_memory(memories: &[u64], chunk_bytes: u64) -> Result<Vec<u64>, ClassicError> {
    let chunk_bytes = chunk_bytes.max(1);
    let least = |bytes: &u64| bytes / sizes::FAR < chunk_bytes;
    if let Some(&memory_bytes) = memories.iter().find(|bytes| least(bytes)) {
        return Err(ClassicError::LargeChunk { chunk_bytes, memory_bytes });
    }
    // A file beyond a memory is rounded up, so that it stays as many times larger.
    let is_beyond = |bytes: u64| memories.iter().any(|&memory| bytes > memory);
    let whole = |bytes: u64| {
        let whole = bytes / chunk_bytes * chunk_bytes;
        if whole < bytes && is_beyond(bytes) { whole.saturating_add(chunk_bytes) } else { whole }
    };
    Ok(sizes::around_each(memories).into_iter().map(whole).collect())
}

/// The phases as benchmarks, for each size.
///
/// # Errors
/// Which options make no sense.
pub(crate) fn benchmarks(run: &BonnieRun) -> Result<Vec<Benchmark>, ClassicError> {
    let all = run.by_size();
    all.iter().try_for_each(check)?;
    let sequence = |name, options| Bonnie { name, options };
    Ok(sizes::benchmarks(SUITE, all, |options| options.size_bytes, sequence))
}

fn check(options: &BonnieOptions) -> Result<(), ClassicError> {
    let BonnieOptions { size_bytes, chunk_bytes, .. } = *options;
    if !chunk_bytes.is_power_of_two() || !(CHUNK_MIN..=CHUNK_MAX).contains(&chunk_bytes) {
        return Err(ClassicError::OddChunk { chunk_bytes });
    }
    if size_bytes == 0 || !size_bytes.is_multiple_of(chunk_bytes) {
        return Err(ClassicError::NotWholeChunks { size_bytes, chunk_bytes });
    }
    Ok(())
}

/// Checks that a target has room for the file.
///
/// # Errors
/// If it does not.
pub(crate) fn check_room(
    options: &BonnieOptions,
    has_sizes: bool,
    live: &LiveTarget,
) -> Result<(), ClassicError> {
    // If the target does not report its free space, writing the file will show.
    let Ok(space) = live.target.space() else { return Ok(()) };
    if options.size_bytes as f64 <= space.free_bytes as f64 * ROOM_SHARE {
        return Ok(());
    }
    Err(ClassicError::NoRoomForSize {
        size_bytes: options.size_bytes,
        label: live.target.spec().label.clone(),
        free_bytes: space.free_bytes,
        has_sizes,
        or_more_room: live.or_more_room(),
    })
}

/// The benchmark and its options.
#[derive(Clone, Debug)]
struct Bonnie {
    name: String,
    options: BonnieOptions,
}

impl Sequence for Bonnie {
    fn name(&self) -> &str {
        &self.name
    }

    fn phases(&self) -> Vec<SequencePhase> {
        self.phase_order().iter().map(|&phase| self.phase(phase)).collect()
    }

    fn estimate(&self) -> Duration {
        let passes: u32 = self.phase_order().iter().map(|phase| phase.passes()).sum();
        let passes_s = f64::from(passes) * self.options.size_bytes as f64 / BYTES_PER_S;
        Duration::from_secs_f64(passes_s + f64::from(self.options.seeks) / SEEKS_PER_S)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        check_room(&self.options, false, live).map_err(|error| error.to_string())
    }

    fn execute(&self, site: &Site<'_>, seed: u64) -> Result<Vec<Findings>, Failure> {
        // Earlier writes must not be written back meanwhile.
        site.live.target.sync().map_err(|error| failed(&error))?;
        let mut passes = Passes {
            site,
            options: &self.options,
            path: site.directory.join("Bonnie"),
            generator: Xoshiro256PlusPlus::seed_from_u64(seed),
        };
        self.phase_order().iter().map(|&phase| passes.phase(phase)).collect()
    }
}

impl Bonnie {
    fn phase_order(&self) -> &'static [Phase] {
        Phase::in_order(self.options.phase_order)
    }

    fn phase(&self, phase: Phase) -> SequencePhase {
        let (name, title) = phase.names();
        let (dimension, exercises) = phase.dimensions();
        SequencePhase {
            name: name.to_owned(),
            title: title.to_owned(),
            dimension,
            exercises,
            metrics: phase.metrics(),
            parameters: self.parameters(phase),
            working_set_bytes: Some(self.options.size_bytes),
        }
    }

    fn parameters(&self, phase: Phase) -> BTreeMap<String, Value> {
        let own = phase.parameters(&self.options).into_iter();
        let options = serde_json::to_value(&self.options).unwrap_or_default();
        let options = options.as_object().cloned().unwrap_or_default();
        own.map(|(name, value)| (name.to_owned(), value)).chain(options).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_meant_is_refused_with_what_to_change() {
        let refused = |options: BonnieOptions| {
            benchmarks(&options.into()).map(drop).expect_err("it cannot be meant").to_string()
        };
        let why = refused(BonnieOptions { size_bytes: 20_000, ..published() });
        assert!(why.contains("multiple of 16384") && why.contains("give 32768"), "{why}");
        let why = refused(BonnieOptions { chunk_bytes: 3 << 10, ..published() });
        assert!(why.contains("--chunk must be a power of two"), "{why}");
        let least = BonnieOptions { size_bytes: 16 << 10, ..published() };
        assert!(benchmarks(&least.clone().into()).is_ok());
        // Each size is checked.
        let run = BonnieRun { options: least, further_size_bytes: vec![20_000] };
        assert!(benchmarks(&run).is_err());
    }

    #[test]
    fn the_phases_are_bonnies_in_its_order_and_hold_every_option() {
        let all = benchmarks(&published().into()).expect("it can be run");
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        let expected =
            ["char-output", "rewrite", "block-output", "char-input", "block-input", "random-seeks"];
        assert_eq!(names, expected);
        for benchmark in &all {
            let cell = benchmark.cell("bonnie", "tmpfs", 0);
            for name in ["size_bytes", "chunk_bytes", "seeks", "seekers", "fsync"] {
                assert!(cell.parameters.contains_key(name), "{name}");
            }
            assert_eq!(cell.metrics[1].name, "processor_share");
        }
        assert_eq!(all[5].cell("bonnie", "tmpfs", 5).metrics[0].name, "throughput");
    }

    #[test]
    fn the_order_of_bonnie_plus_plus_rewrites_what_was_written_by_block() {
        let phase_order = BonniePhaseOrder::BonniePlusPlus;
        let options = BonnieOptions { phase_order, ..published() };
        let all = benchmarks(&options.into()).expect("it can be run");
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names[..4], ["char-output", "block-output", "rewrite", "char-input"]);
        let cell = all[2].cell("bonnie", "tmpfs", 2);
        assert_eq!(cell.parameters["after_operation"], "write");
        assert_eq!(cell.parameters["phase_order"], "bonnie++");
        let published = benchmarks(&published().into()).expect("it can be run");
        let cell = published[1].cell("bonnie", "tmpfs", 1);
        assert_eq!(cell.parameters["after_operation"], "putc");
        assert_eq!(cell.parameters.get("phase_order"), None);
    }

    #[test]
    fn without_phases_per_character_four_are_left() {
        let phase_order = BonniePhaseOrder::BonniePlusPlusByBlock;
        let options = BonnieOptions { phase_order, ..published() };
        let all = benchmarks(&options.into()).expect("it can be run");
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["block-output", "rewrite", "block-input", "random-seeks"]);
        let after = |index: usize| {
            let cell = all[index].cell("bonnie", "tmpfs", 0);
            cell.parameters.get("after_operation").cloned()
        };
        assert_eq!(after(0), None);
        assert_eq!(after(2), Some("read and write".into()));
    }

    #[test]
    fn several_sizes_make_a_curve_of_each_phase() {
        let run = BonnieRun { options: published(), further_size_bytes: vec![16 << 20] };
        let all = benchmarks(&run).expect("it can be run");
        assert_eq!(all.len(), 12);
        let (first, last) = (&all[0], &all[11]);
        assert_eq!(first.name, "char-output-16777216");
        let on = |benchmark: &Benchmark| {
            let point = benchmark.curve.clone().expect("it lies on a curve");
            (point.curve, point.value)
        };
        assert_eq!(on(first), ("char-output".to_owned(), f64::from(16 << 20)));
        assert_eq!(on(last), ("random-seeks".to_owned(), f64::from(320 << 20)));
    }

    #[test]
    fn a_file_is_far_smaller_and_far_larger_than_each_memory() {
        let mib = |mib: &u64| mib << 20;
        let around = |memories: &[u64]| {
            let memories: Vec<u64> = memories.iter().map(mib).collect();
            around_memory(&memories, 16 << 10).expect("there is room for chunks")
        };
        assert_eq!(around(&[64]), [16, 256].each_ref().map(mib));
        assert_eq!(around(&[64, 64]), [16, 256].each_ref().map(mib));
        assert_eq!(around(&[64, 256]), [16, 1024].each_ref().map(mib));
        assert!(around(&[]).is_empty());
        // Rounding to whole chunks does not bring sizes nearer to the memory.
        for chunk_bytes in [16 << 10, 1 << 20] {
            let memory = 100_000_000;
            let sizes = around_memory(&[memory], chunk_bytes).expect("there is room for chunks");
            let [below, beyond] = sizes[..] else { panic!("{sizes:?}") };
            assert!(below <= memory / 4 && beyond >= 4 * memory, "{sizes:?}");
            assert!(sizes.iter().all(|size| size.is_multiple_of(chunk_bytes)), "{sizes:?}");
        }
        let why = around_memory(&[64 << 20, 1 << 20], 1 << 20).expect_err("a chunk is too large");
        assert!(why.to_string().contains("give a smaller --chunk"), "{why}");
    }
}
