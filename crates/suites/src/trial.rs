//! What can be done with the files of a target beyond reading and writing them: direct I/O, the
//! same reads on the device below, being told where they lie.
//!
//! None of it is known before it is tried, so it is tried once for each target, on a file that is
//! removed again.

use std::fs;
use std::sync::atomic::AtomicBool;

use machine::describe::{Chunk, Extent, ExtentsError, chunks, extents};
use machine::target::Target;
use workload::{
    DataFiles, DirectAlignment, EngineError, FileSet, FileSetSpec, IoPath, OnDevice, Operation,
    Piece, Role, Session, Workload, direct_alignment, prepare_on_device,
};

use crate::operations::{Layer, Operations};

/// Size of the file that is tried.
const TRIAL_BYTES: u64 = 1 << 20;

/// What can be done with the files of a target.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    /// What requests have to be multiples of, or why there is no direct I/O.
    alignment: Result<DirectAlignment, String>,
    /// The smallest request on the device below, or why its files cannot be read there.
    device_block_bytes: Result<u64, String>,
    /// Why it does not tell where files lie, if it does not.
    pub(crate) extents: Result<(), String>,
}

/// Why a file cannot be read on the device below its file system.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeviceReadError {
    #[error("{0}")]
    Device(#[from] machine::target::OpenDeviceError),
    #[error("{0}")]
    Extents(#[from] ExtentsError),
    #[error("the file could not be opened: {0}")]
    Io(#[from] std::io::Error),
    #[error("btrfs does not say where its address space lies on the device: {0}; run as root")]
    Chunks(std::io::Error),
    #[error("part of the file has no place on the device, is compressed or not written yet")]
    NoPlace,
    #[error("{0}")]
    Engine(#[from] EngineError),
}

impl Trial {
    /// Tries it in a directory of its own.
    pub(crate) fn of(target: &Target) -> Self {
        Self::tried(target).unwrap_or_else(|error| {
            let why = format!("it could not be tried: {error}");
            let device_block_bytes = Err(why.clone());
            Self { alignment: Err(why.clone()), device_block_bytes, extents: Err(why) }
        })
    }

    fn tried(target: &Target) -> Result<Self, Box<dyn std::error::Error>> {
        let root = target.root().join("trial");
        fs::create_dir(&root)?;
        let read_files = DataFiles { count: 1, size_bytes: TRIAL_BYTES };
        let spec = FileSetSpec { read_files, ..FileSetSpec::default() };
        let file_set = FileSet::create(&root, &spec, 0, &AtomicBool::new(false))?;
        target.sync()?;
        let alignment = direct_alignment(&file_set.data_file(Role::Read, 0));
        let device_block_bytes = read_below(target, &file_set);
        let extents = extents(&fs::File::open(file_set.data_file(Role::Read, 0))?);
        fs::remove_dir_all(&root)?;
        Ok(Self {
            alignment: alignment.map_err(|error| without_advice(&error)),
            device_block_bytes: device_block_bytes.map_err(|error| error.to_string()),
            extents: extents.map(drop).map_err(|error| error.to_string()),
        })
    }

    /// What of these direct operations cannot be done, if they cannot: which ones, and why.
    pub(crate) fn refuses(&self, of: &Operations) -> Option<(String, String)> {
        let request_bytes = of.workload.request_bytes as u64;
        let (granule_bytes, what, of_what) = match of.layer {
            Layer::FileSystem => match &self.alignment {
                Err(why) => return Some(("direct reads and writes".to_owned(), why.clone())),
                Ok(alignment) => (granule_bytes(alignment, of), "direct requests", "its files"),
            },
            Layer::Device => match &self.device_block_bytes {
                Err(why) => return Some(("reads on the device".to_owned(), why.clone())),
                Ok(block_bytes) => (*block_bytes, "requests on the device", "the device"),
            },
        };
        if request_bytes.is_multiple_of(granule_bytes) {
            return None;
        }
        let why = format!("{of_what} take multiples of that only");
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

/// What the error says but for its path, which is nobody's business, and what a workload could use
/// instead.
fn without_advice(error: &EngineError) -> String {
    match error {
        EngineError::NoDirectIo { file_system, reason, .. } => format!("{file_system} {reason}"),
        other => other.to_string(),
    }
}

/// Reads on the device what lies in the file, once; gives the size of its blocks.
fn read_below(target: &Target, file_set: &FileSet) -> Result<u64, DeviceReadError> {
    let block_bytes = u64::from(target.open_device()?.logical_block_bytes());
    let workload = Workload {
        io_path: IoPath::PsyncDirect,
        operations_per_thread: 1,
        ..Workload::new(Operation::Read)
    };
    // It compares some of the content.
    prepare_below(target, &workload, file_set, 0)?.restore()?;
    Ok(block_bytes)
}

/// A session that reads the file set's read file on the device below `target`.
pub(crate) fn prepare_below(
    target: &Target,
    workload: &Workload,
    file_set: &FileSet,
    seed: u64,
) -> Result<Session, DeviceReadError> {
    let device = target.open_device()?;
    let file = fs::File::open(file_set.data_file(Role::Read, 0))?;
    let found = extents(&file)?;
    let is_readable = |extent: &Extent| {
        extent.flags.has_place() && !extent.flags.is_encoded() && !extent.flags.is_unwritten()
    };
    let file_bytes = file_set.data_files(Role::Read).size_bytes;
    // What is set aside behind the end does not matter.
    let inside = found.list().iter().filter(|extent| extent.logical_bytes < file_bytes);
    if !inside.clone().all(is_readable) {
        return Err(DeviceReadError::NoPlace);
    }
    let piece = |extent: &Extent| Piece {
        file_offset_bytes: extent.logical_bytes,
        device_offset_bytes: extent.physical_bytes,
        length_bytes: extent.length_bytes,
    };
    let mut pieces: Vec<Piece> = inside.map(piece).collect();
    if target.facts().file_system == "btrfs" {
        let chunks = chunks(&file).map_err(DeviceReadError::Chunks)?;
        pieces = pieces.iter().flat_map(|piece| through_chunks(piece, &chunks)).collect();
    }
    let below = OnDevice::new(device.file().try_clone()?, device.path(), pieces, file_bytes)?;
    Ok(prepare_on_device(workload, file_set, &below, seed)?)
}

/// A piece whose place is one in a btrfs' address space, cut at the bounds of chunks. What lies in
/// no chunk is left out.
fn through_chunks(piece: &Piece, chunks: &[Chunk]) -> Vec<Piece> {
    let (start, end) =
        (piece.device_offset_bytes, piece.device_offset_bytes.saturating_add(piece.length_bytes));
    let within = |chunk: &Chunk| {
        let from = start.max(chunk.address_bytes);
        let to = end.min(chunk.address_bytes.saturating_add(chunk.length_bytes));
        (from < to).then(|| Piece {
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
        let piece = |file_offset_bytes, device_offset_bytes, length_bytes| Piece {
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
