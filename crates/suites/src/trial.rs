//! What can be done with a target's files beyond reading and writing them: direct I/O, the same
//! reads and writes on the device below, and finding out where files are.
//!
//! Writes on the device are only comparable with those of a file system that writes in place. That
//! is found out by overwriting a file and comparing its location before and after.
//!
//! None of this is known in advance, so each target is tried once, on a file that is removed
//! afterwards.

use std::fs;
use std::sync::atomic::AtomicBool;

use file_system::{Feature, FileSystem};
use machine::describe::{Chunk, Extent, Extents, ExtentsError, chunks, extents};
use measure::{MonotonicClock, SystemClock};
use targets::Target;
use workload::{
    DataFiles, DeviceExtent, DirectAlignment, EngineError, FileOnDevice, FileSet, FileSetSpec,
    IoPath, Operation, Role, Session, Workload, direct_alignment, prepare_on_device,
};

use crate::operations::{Layer, Operations};

/// Size of the trial file.
const TRIAL_BYTES: u64 = 1 << 20;

/// What can be done with a target's files.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    /// What requests have to be multiples of, or why there is no direct I/O.
    alignment: Result<DirectAlignment, String>,
    /// The smallest request on the device below, or why files cannot be read there.
    device_block_bytes: Result<u64, String>,
    /// The smallest write on the device below, or why files cannot be written there.
    rewrite_block_bytes: Result<u64, String>,
    /// Why the file system does not report where files are, if it does not.
    pub(crate) extents: Result<(), String>,
}

/// Why a file cannot be read or written on the device below its file system.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BelowError {
    #[error("{0}")]
    Device(#[from] targets::OpenDeviceError),
    #[error("{0}")]
    Extents(#[from] ExtentsError),
    #[error("cannot open the file: {0}")]
    Io(#[from] std::io::Error),
    #[error("btrfs does not report where its address space is on the device: {0}; run as root")]
    Chunks(std::io::Error),
    #[error("part of the file has no place on the device, is compressed or is not written yet")]
    NoPlace,
    #[error("part of the file is shared with others, which a write on the device would change too")]
    Shared,
    #[error(
        "it does not write in place (copy on write, or a log), so a write to the same blocks is \
         not what happens below it; other mkfs or mount options may make it write in place"
    )]
    Moves,
    #[error("{0}")]
    Cleans(String),
    #[error("{0}")]
    Target(#[from] targets::TargetError),
    #[error("{0}")]
    Engine(#[from] EngineError),
}

impl Trial {
    /// Runs the trial in a directory of its own.
    pub(crate) fn run(target: &Target) -> Self {
        Self::try_run(target).unwrap_or_else(|error| {
            let why = format!("the trial failed: {error}");
            Self {
                alignment: Err(why.clone()),
                device_block_bytes: Err(why.clone()),
                rewrite_block_bytes: Err(why.clone()),
                extents: Err(why),
            }
        })
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other errors pass through")]
    fn try_run(target: &Target) -> Result<Self, Box<dyn std::error::Error>> {
        let root = target.root().join("trial");
        fs::create_dir(&root)?;
        let files = DataFiles { count: 1, size_bytes: TRIAL_BYTES };
        let (read_files, write_files) = (files, files);
        let spec = FileSetSpec { read_files, write_files, ..FileSetSpec::default() };
        let file_set = FileSet::create(&root, &spec, 0, &AtomicBool::new(false))?;
        target.sync()?;
        let alignment = direct_alignment(&file_set.data_file(Role::Read, 0));
        let device_block_bytes = read_below(target, &file_set);
        let rewrite_block_bytes = rewrite_below(target, &file_set);
        let extents = extents(&fs::File::open(file_set.data_file(Role::Read, 0))?);
        fs::remove_dir_all(&root)?;
        Ok(Self {
            alignment: alignment.map_err(|error| without_advice(&error)),
            device_block_bytes: device_block_bytes.map_err(|error| error.to_string()),
            rewrite_block_bytes: rewrite_block_bytes.map_err(|error| match error {
                BelowError::Engine(error) => without_advice(&error),
                error => error.to_string(),
            }),
            extents: extents.map(drop).map_err(|error| error.to_string()),
        })
    }

    /// Whether files can be written on the device below.
    pub(crate) fn can_rewrite(&self) -> bool {
        self.rewrite_block_bytes.is_ok()
    }

    /// Which of these direct operations cannot be done and why, if any.
    pub(crate) fn refuses(&self, of: &Operations) -> Option<(String, String)> {
        let request_bytes = of.workload.request_bytes as u64;
        let (granule_bytes, what, of_what) = match of.layer {
            Layer::FileSystem => match &self.alignment {
                Err(why) => return Some(("direct reads and writes".to_owned(), why.clone())),
                Ok(alignment) => (granule_bytes(alignment, of), "direct requests", "its files"),
            },
            Layer::Device if of.rewrites() => match &self.rewrite_block_bytes {
                Err(why) => return Some(("writes on the device".to_owned(), why.clone())),
                Ok(block_bytes) => (*block_bytes, "writes on the device", "the device"),
            },
            Layer::Device => match &self.device_block_bytes {
                Err(why) => return Some(("reads on the device".to_owned(), why.clone())),
                Ok(block_bytes) => (*block_bytes, "requests on the device", "the device"),
            },
        };
        if request_bytes.is_multiple_of(granule_bytes) {
            return None;
        }
        let why = format!("{of_what} can take only multiples of that");
        Some((format!("{what} of less than {granule_bytes} bytes"), why))
    }
}

fn granule_bytes(alignment: &DirectAlignment, of: &Operations) -> u64 {
    if of.workload.operation == Operation::Read {
        alignment.read_offset_bytes
    } else {
        alignment.offset_bytes
    }
}

/// The error's text without its path, which does not matter here, and without what a workload could
/// use instead.
#[expect(clippy::wildcard_enum_match_arm, reason = "other errors pass through")]
fn without_advice(error: &EngineError) -> String {
    match error {
        EngineError::NoDirectIo { file_system, reason, .. } => format!("{file_system} {reason}"),
        other => other.to_string(),
    }
}

/// Reads the file's data on the device once, and returns the device's block size.
fn read_below(target: &Target, file_set: &FileSet) -> Result<u64, BelowError> {
    let block_bytes = u64::from(target.open_device()?.logical_block_bytes());
    let workload = Workload {
        io_path: IoPath::PsyncDirect,
        operations_per_thread: 1,
        ..Workload::new(Operation::Read)
    };
    // Compares some of the content.
    prepare_below(target, &workload, file_set, 0)?.restore()?;
    Ok(block_bytes)
}

/// Writes the file's data on the device once, at the location where its file system would, and
/// returns the smallest write that both can do.
fn rewrite_below(target: &Target, file_set: &FileSet) -> Result<u64, BelowError> {
    let device = target.open_device_for_writes()?;
    if let Some(why) = file_system::lacks(&target.facts().file_system, Feature::WritesBelow) {
        return Err(BelowError::Cleans(why));
    }
    let path = file_set.data_file(Role::Write, 0);
    let of_files = direct_alignment(&path)?.offset_bytes;
    let block_bytes = u64::from(device.logical_block_bytes()).max(of_files);
    let workload = Workload {
        io_path: IoPath::PsyncDirect,
        operations_per_thread: 4,
        request_bytes: 64 << 10,
        ..Workload::new(Operation::Write)
    };
    let file = fs::File::open(&path)?;
    let places = |found: Extents| -> Vec<_> {
        let list = found.list().iter();
        list.map(|one| (one.logical_bytes, one.physical_bytes, one.length_bytes)).collect()
    };
    let before = places(extents(&file)?);
    let mut above = workload::prepare(&workload, file_set, 0)?;
    let clock = SystemClock::Monotonic(MonotonicClock);
    above.run(&clock, &AtomicBool::new(false))?;
    above.restore()?;
    if places(extents(&file)?) != before {
        return Err(BelowError::Moves);
    }
    let mut below = prepare_below(target, &workload, file_set, 0)?;
    below.run(&clock, &AtomicBool::new(false))?;
    below.restore()?;
    Ok(block_bytes)
}

/// A session that reads or writes the file set's file on the device below `target`.
pub(crate) fn prepare_below(
    target: &Target,
    workload: &Workload,
    file_set: &FileSet,
    seed: u64,
) -> Result<Session, BelowError> {
    let writes = workload.operation == Operation::Write;
    let (role, device) = if writes {
        // The device has the file's contents only once everything is written back.
        target.sync()?;
        (Role::Write, target.open_device_for_writes()?)
    } else {
        (Role::Read, target.open_device()?)
    };
    let file = fs::File::open(file_set.data_file(role, 0))?;
    let found = extents(&file)?;
    let is_readable = |extent: &Extent| {
        extent.flags.has_place() && !extent.flags.is_encoded() && !extent.flags.is_unwritten()
    };
    let file_bytes = file_set.data_files(role).size_bytes;
    // Preallocated space beyond the end of the file does not matter.
    let inside = found.list().iter().filter(|extent| extent.logical_bytes < file_bytes);
    if !inside.clone().all(is_readable) {
        return Err(BelowError::NoPlace);
    }
    if writes && inside.clone().any(|extent| extent.flags.is_shared()) {
        return Err(BelowError::Shared);
    }
    let piece = |extent: &Extent| DeviceExtent {
        file_offset_bytes: extent.logical_bytes,
        device_offset_bytes: extent.physical_bytes,
        length_bytes: extent.length_bytes,
    };
    let mut pieces: Vec<DeviceExtent> = inside.map(piece).collect();
    let known = FileSystem::named(&target.facts().file_system);
    if known.is_some_and(|known| known.has_own_addresses) {
        let chunks = chunks(&file).map_err(BelowError::Chunks)?;
        pieces = pieces.iter().flat_map(|piece| through_chunks(piece, &chunks)).collect();
    }
    let below = FileOnDevice::new(device.file().try_clone()?, device.path(), pieces, file_bytes)?;
    Ok(prepare_on_device(workload, file_set, &below, seed)?)
}

/// Splits a piece with a location in btrfs' address space at chunk boundaries. Anything outside all
/// chunks is left out.
fn through_chunks(piece: &DeviceExtent, chunks: &[Chunk]) -> Vec<DeviceExtent> {
    let (start, end) =
        (piece.device_offset_bytes, piece.device_offset_bytes.saturating_add(piece.length_bytes));
    let within = |chunk: &Chunk| {
        let from = start.max(chunk.address_bytes);
        let to = end.min(chunk.address_bytes.saturating_add(chunk.length_bytes));
        (from < to).then(|| DeviceExtent {
            file_offset_bytes: piece.file_offset_bytes + (from - start),
            device_offset_bytes: chunk.device_offset_bytes + (from - chunk.address_bytes),
            length_bytes: to - from,
        })
    };
    chunks.iter().filter_map(within).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_cut_where_its_chunk_ends() {
        let piece = |file_offset_bytes, device_offset_bytes, length_bytes| DeviceExtent {
            file_offset_bytes,
            device_offset_bytes,
            length_bytes,
        };
        let chunk = |address_bytes, device_offset_bytes| Chunk {
            address_bytes,
            device_offset_bytes,
            length_bytes: 100,
        };
        let chunks = [chunk(1000, 500), chunk(1100, 50), chunk(1200, 700)];
        let cut = |one| through_chunks(&one, &chunks);
        assert_eq!(cut(piece(0, 1010, 20)), [piece(0, 510, 20)]);
        assert_eq!(cut(piece(8, 1090, 20)), [piece(8, 590, 10), piece(18, 50, 10)]);
        assert_eq!(cut(piece(0, 1000, 300)).len(), 3);
        assert_eq!(cut(piece(0, 1290, 20)), [piece(0, 790, 10)], "the rest has no place");
    }
}
