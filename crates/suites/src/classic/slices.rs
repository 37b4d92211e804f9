//! What section 10 of Wang, Kuenning, Reiher & Popek, "The Effects of Memory-Rich Environments on
//! File System Microbenchmarks" (SPECTS 2003), proposes without measuring it: to write and read a
//! file in slices that fit into a cache, so that each slice is read while it is still there, and to
//! bundle calls.
//!
//! Both arrangements make the same calls, in another order: the whole file is written, then read;
//! or each slice is written, then read. The same blocks are then read with a call each, and with a
//! call for each slice. Slices have the paper's size. The file is larger than the paper's, because
//! second-level caches are: it fits into none of up to 4 MiB.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, IoSliceMut, Seek, SeekFrom};
use std::time::Duration;

use measure::Clock;
use record::{Dimension, MetricDefinition, StandardMetric};
use runner::Failure;
use serde_json::{Value, json};
use workload::{AlignedBuffer, Content};

use super::calls;
use super::phase_evidence::{PageCounts, PhaseEvidence};
use crate::experiment::Site;
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::sequence::{Sequence, SequencePhase};

const BLOCK: usize = 4096;
const SLICE: usize = 128 << 10;
const SLICE_BYTES: u64 = SLICE as u64;
const SLICES: u64 = 64;
const FILE_BYTES: u64 = SLICES * SLICE_BYTES;
const BLOCKS_OF_SLICE: u64 = SLICE_BYTES / BLOCK as u64;
/// How often each phase is executed on the file, not counting the first time.
const ROUNDS: u32 = 3;
/// The least that memory achieves, for the estimate.
const BYTES_PER_S: u64 = 500 << 20;

/// A way to write and read the file, or to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrangement {
    Whole,
    Sliced,
    CallForEach,
    Bundled,
}

const ALL: [Arrangement; 4] =
    [Arrangement::Whole, Arrangement::Sliced, Arrangement::CallForEach, Arrangement::Bundled];

impl Arrangement {
    /// Its name, a title in words, and its operation.
    fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Whole => ("whole", "all written, then all read", "write and read"),
            Self::Sliced => ("slices", "each slice written, then read", "write and read"),
            Self::CallForEach => ("single-reads", "read with a call for each block", "read"),
            Self::Bundled => ("bundled-reads", "read with a call for each slice", "read"),
        }
    }

    /// How often it moves each byte.
    fn moves(self) -> u64 {
        match self {
            Self::Whole | Self::Sliced => 2,
            Self::CallForEach | Self::Bundled => 1,
        }
    }

    fn execute(self, file: &mut File, buffer: &mut [u8]) -> io::Result<()> {
        let (block, _) = buffer.split_at_mut(BLOCK);
        match self {
            Self::Whole => {
                (0..SLICES).try_for_each(|slice| write_slice(file, slice, block))?;
                (0..SLICES).try_for_each(|slice| read_slice(file, slice, block))
            }
            Self::Sliced => (0..SLICES).try_for_each(|slice| {
                write_slice(file, slice, block)?;
                read_slice(file, slice, block)
            }),
            Self::CallForEach => (0..SLICES).try_for_each(|slice| read_blocks(file, slice, buffer)),
            Self::Bundled => (0..SLICES).try_for_each(|slice| read_bundled(file, slice, buffer)),
        }
    }
}

fn go_to(file: &mut File, slice: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(slice * SLICE_BYTES)).map(drop)
}

fn write_slice(file: &mut File, slice: u64, block: &[u8]) -> io::Result<()> {
    go_to(file, slice)?;
    (0..BLOCKS_OF_SLICE).try_for_each(|_| calls::write_all(file, block))
}

fn read_slice(file: &mut File, slice: u64, block: &mut [u8]) -> io::Result<()> {
    go_to(file, slice)?;
    (0..BLOCKS_OF_SLICE).try_for_each(|_| calls::read_exact(file, block))
}

/// Reads a slice's blocks into one after another, with a call for each.
fn read_blocks(file: &mut File, slice: u64, buffer: &mut [u8]) -> io::Result<()> {
    go_to(file, slice)?;
    buffer.chunks_exact_mut(BLOCK).try_for_each(|block| calls::read_exact(file, block))
}

/// Reads them with one call.
fn read_bundled(file: &mut File, slice: u64, buffer: &mut [u8]) -> io::Result<()> {
    go_to(file, slice)?;
    let mut blocks: Vec<IoSliceMut<'_>> =
        buffer.chunks_exact_mut(BLOCK).map(IoSliceMut::new).collect();
    let bytes = calls::read_vectored(file, &mut blocks)?;
    if bytes as u64 == SLICE_BYTES { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// The sequence of all arrangements.
#[derive(Debug)]
pub(super) struct Slices;

impl Sequence for Slices {
    fn name(&self) -> &'static str {
        "slices"
    }

    fn phases(&self) -> Vec<SequencePhase> {
        let phase = |arrangement: Arrangement| {
            let (name, title, _) = arrangement.names();
            SequencePhase {
                name: name.to_owned(),
                title: title.to_owned(),
                dimension: Dimension::InMemory,
                exercises: vec![Dimension::Caching],
                metrics: metrics(),
                parameters: parameters(arrangement),
                working_set_bytes: Some(FILE_BYTES),
            }
        };
        ALL.map(phase).to_vec()
    }

    fn estimate(&self) -> Duration {
        let moved: u64 = ALL.map(Arrangement::moves).iter().sum();
        let bytes = FILE_BYTES * (1 + moved * u64::from(ROUNDS + 1));
        Duration::from_secs_f64(bytes as f64 / BYTES_PER_S as f64)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        // If the target does not report its free space, making the file will show.
        let Ok(space) = live.target.space() else { return Ok(()) };
        if FILE_BYTES < space.free_bytes {
            return Ok(());
        }
        Err(format!("it needs {} MiB of free space", FILE_BYTES >> 20))
    }

    fn execute(&self, site: &Site<'_>, seed: u64) -> Result<Vec<Findings>, Failure> {
        let mut buffer = AlignedBuffer::new(SLICE);
        Content::new(seed, 0).fill(buffer.bytes_mut(), 0);
        let mut file = create(site, buffer.bytes()).map_err(|error| failed(&error))?;
        ALL.iter().map(|one| phase(*one, site, &mut file, buffer.bytes_mut())).collect()
    }
}

/// Makes the file, with all of its pages.
fn create(site: &Site<'_>, slice: &[u8]) -> io::Result<File> {
    let path = site.directory.join("sliced-file");
    let file = File::options().read(true).write(true).create_new(true).open(path)?;
    (0..SLICES).try_for_each(|_| calls::write_all(&file, slice))?;
    file.sync_all()?;
    Ok(file)
}

/// Executes a phase once to find its caches as it leaves them, then the rounds that count.
fn phase(
    arrangement: Arrangement,
    site: &Site<'_>,
    file: &mut File,
    buffer: &mut [u8],
) -> Result<Findings, Failure> {
    let device_counters = site.counters()?;
    let before = PageCounts::of_files([&*file]);
    let counted = device_counters.read().map_err(|error| failed(&error))?;
    let mut elapsed_ns = 0;
    for round in 0..=ROUNDS {
        site.go_on()?;
        let start_ticks = site.clock.start();
        arrangement.execute(file, buffer).map_err(|error| failed(&error))?;
        let end_ticks = site.clock.end();
        if round > 0 {
            elapsed_ns += site.clock.nanos(end_ticks.saturating_sub(start_ticks));
        }
    }
    let deltas = device_counters.read().map_err(|error| failed(&error))?.since(&counted);
    let after = PageCounts::of_files([&*file]);
    let bytes = FILE_BYTES * arrangement.moves() * u64::from(ROUNDS);
    let operations = bytes / BLOCK as u64;
    let per_s = bytes as f64 / (elapsed_ns.max(1) as f64 / 1e9);
    let metrics = vec![per_s, elapsed_ns as f64 / operations as f64];
    let evidence = PhaseEvidence { before, after, deltas };
    Ok(evidence.findings(elapsed_ns, metrics, bytes, operations))
}

fn metrics() -> Vec<MetricDefinition> {
    [StandardMetric::BANDWIDTH, StandardMetric::TIME_PER_OPERATION]
        .map(StandardMetric::definition)
        .to_vec()
}

fn parameters(arrangement: Arrangement) -> BTreeMap<String, Value> {
    let (name, _, operation) = arrangement.names();
    let all = [
        ("operation", json!(operation)),
        ("access", json!("sequential")),
        ("arrangement", json!(name)),
        ("request_bytes", json!(BLOCK)),
        ("slice_bytes", json!(SLICE_BYTES)),
        ("file_bytes", json!(FILE_BYTES)),
        ("rounds", json!(ROUNDS)),
        ("threads", json!(1)),
    ];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_arrangement_moves_what_it_says() {
        let mut file = tempfile::tempfile().expect("there is room");
        file.set_len(FILE_BYTES).expect("there is room");
        let mut buffer = vec![7_u8; SLICE];
        for arrangement in [Arrangement::Whole, Arrangement::Sliced] {
            arrangement.execute(&mut file, &mut buffer).expect("it can be done");
            assert_eq!(file.stream_position().expect("it is open"), FILE_BYTES);
        }
        for arrangement in [Arrangement::CallForEach, Arrangement::Bundled] {
            buffer.fill(0);
            arrangement.execute(&mut file, &mut buffer).expect("it can be done");
            assert!(buffer.iter().all(|byte| *byte == 7), "{arrangement:?}");
        }
        file.set_len(FILE_BYTES - 1).expect("it is ours");
        let cut = Arrangement::Bundled.execute(&mut file, &mut buffer);
        assert!(cut.is_err(), "the last slice is not whole");
    }
}
