//! One phase over the files: what is timed, and what is observed around it.

use std::fs::File;
use std::hint;
use std::io::{self, Seek, SeekFrom};
use std::mem;
use std::thread;
use std::time::Duration;

use footprint_trace::marked::{self, PhasePosition};
use measure::{Clock, SystemClock};
use rand::Rng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{RandomAlignment, SpriteLfsOptions};
use runner::Failure;
use workload::AlignedBuffer;

use super::phases::{BLOCK_BYTES, Phase, offset};
use crate::classic::calls;
use crate::classic::phase_evidence::{PageCounts, PhaseEvidence};
use crate::classic::processor_counts::{PhaseCounters, PhaseCounts};
use crate::experiment::Site;
use crate::failure::failed;
use crate::findings::Findings;

/// Operations between two checks whether the run was told to stop.
const LOOK_EVERY: usize = 4096;

/// The files of one execution, and what all phases use.
pub(super) struct Passes<'a> {
    pub(super) site: &'a Site<'a>,
    pub(super) options: &'a SpriteLfsOptions,
    pub(super) files: Vec<File>,
    /// The new files of the second phase that writes, if it has any.
    pub(super) next_files: Vec<File>,
    /// One block.
    pub(super) buffer: AlignedBuffer,
    pub(super) generator: Xoshiro256PlusPlus,
    pub(super) counters: PhaseCounters,
}

/// One pass over one file.
struct Pass<'a> {
    clock: &'a SystemClock,
    writes: bool,
    seeks: SeekMode<'a>,
    pause: Option<Duration>,
}

/// What is done before each operation.
#[derive(Clone, Copy)]
enum SeekMode<'a> {
    /// Nothing: the next block follows.
    None,
    /// The same calls as for a random operation, without their effect.
    Padded,
    /// Draws a random number and seeks to the next of these blocks.
    Random(&'a [u64], RandomAlignment),
}

impl Passes<'_> {
    fn blocks(&self) -> u64 {
        self.options.file_bytes / BLOCK_BYTES
    }

    /// Has all further phases work on the new files, if there are any.
    pub(super) fn go_to_new_files(&mut self) {
        if !self.next_files.is_empty() {
            self.files = mem::take(&mut self.next_files);
        }
    }

    /// Executes a phase on every file in turn, between marks, in case it is traced.
    pub(super) fn phase(
        &mut self,
        phase: Phase,
        place: PhasePosition,
    ) -> Result<Findings, Failure> {
        let device_counters = self.site.counters()?;
        let before = PageCounts::of_files(&self.files);
        let counted = device_counters.read().map_err(|error| failed(&error))?;
        let mut sums = PhaseCounts::default();
        let elapsed_ns = marked::around(place, || self.passes(phase, &mut sums))?;
        let deltas = device_counters.read().map_err(|error| failed(&error))?.since(&counted);
        let after = PageCounts::of_files(&self.files);
        let kept = self.files.len() as u64 - u64::from(self.options.drop_first);
        let (bytes, operations) = (kept * self.options.file_bytes, kept * self.blocks());
        let seconds = elapsed_ns.max(1) as f64 / 1e9;
        let mut metrics =
            vec![bytes as f64 / seconds, elapsed_ns as f64 / operations.max(1) as f64];
        metrics.extend(sums.values(1));
        let evidence = PhaseEvidence { before, after, deltas };
        Ok(evidence.findings(elapsed_ns, metrics, bytes, operations))
    }

    /// Executes a phase on every file in turn. Returns the time for those that count, in
    /// nanoseconds, and adds what the processor counts during them to `sums`.
    fn passes(&mut self, phase: Phase, sums: &mut PhaseCounts) -> Result<u64, Failure> {
        let mut elapsed_ns = 0;
        for number in 0..self.files.len() {
            let mut counted = PhaseCounts::default();
            let does_count = number > 0 || !self.options.drop_first;
            let took_ns = self.pass(phase, number, if does_count { sums } else { &mut counted })?;
            if does_count {
                elapsed_ns += took_ns;
            }
        }
        Ok(elapsed_ns)
    }

    /// Executes a phase on one file and returns its time in nanoseconds.
    fn pass(
        &mut self,
        phase: Phase,
        number: usize,
        sums: &mut PhaseCounts,
    ) -> Result<u64, Failure> {
        self.site.go_on()?;
        let mut order: Vec<u64> = Vec::new();
        let seeks = if phase.is_random() {
            order.extend(0..self.blocks());
            order.shuffle(&mut self.generator);
            SeekMode::Random(&order, self.options.alignment)
        } else if self.options.pad_calls {
            SeekMode::Padded
        } else {
            SeekMode::None
        };
        let pause = Duration::from_nanos(self.options.write_pause_ns);
        let pass = Pass {
            clock: self.site.clock,
            writes: phase.writes(),
            seeks,
            pause: (phase.writes() && !pause.is_zero()).then_some(pause),
        };
        let blocks = self.blocks();
        let buffer = self.buffer.bytes_mut();
        let file = &mut self.files[number];
        let (generator, site) = (&mut self.generator, self.site);
        let act = || pass.over(file, blocks, buffer, generator, || site.go_on());
        self.counters.around(sums, act)?.map_err(|error| failed(&error))?
    }
}

impl Pass<'_> {
    /// The time of one pass, in nanoseconds: two clock readings around all of its operations,
    /// including the fsync for writes. `go_on` may end it early.
    fn over(
        &self,
        file: &mut File,
        blocks: u64,
        buffer: &mut [u8],
        generator: &mut impl Rng,
        go_on: impl Fn() -> Result<(), Failure>,
    ) -> io::Result<Result<u64, Failure>> {
        file.rewind()?;
        let start_ticks = self.clock.start();
        for number in 0..usize::try_from(blocks).unwrap_or(usize::MAX) {
            match self.seeks {
                SeekMode::None => {}
                SeekMode::Padded => {
                    hint::black_box(generator.next_u64());
                    file.stream_position()?;
                }
                SeekMode::Random(order, alignment) => {
                    let draw = hint::black_box(generator.next_u64());
                    let at = offset(order[number], blocks, alignment, draw);
                    file.seek(SeekFrom::Start(at))?;
                }
            }
            if self.writes {
                calls::write_all(file, buffer)?;
                if let Some(pause) = self.pause {
                    thread::sleep(pause);
                }
            } else {
                calls::read_exact(file, buffer)?;
            }
            if number % LOOK_EVERY == LOOK_EVERY - 1
                && let Err(stopped) = go_on()
            {
                return Ok(Err(stopped));
            }
        }
        if self.writes {
            file.sync_all()?;
        }
        let end_ticks = self.clock.end();
        Ok(Ok(self.clock.nanos(end_ticks.saturating_sub(start_ticks))))
    }
}
