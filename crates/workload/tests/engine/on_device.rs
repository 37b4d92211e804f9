//! Reads of a file at its places on a device. A plain file takes the place of the device here: its
//! content is known everywhere, and root is not needed.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use measure::MonotonicClock;
use rustix::fs::OFlags;
use workload::{
    Access, DataFiles, DeviceExtent, EngineError, FileOnDevice, FileSet, FileSetSpec, IoPath,
    Operation, Role, Verification, Workload, WorkloadError, prepare_on_device,
};

use crate::common::{Scratch, never};

const FILE_BYTES: u64 = 1 << 20;
const HALF_BYTES: u64 = FILE_BYTES / 2;
/// Bytes on the device before the file.
const BEFORE_BYTES: u64 = 64 << 10;

/// The second half of the file is before the first.
fn pieces() -> Vec<DeviceExtent> {
    let piece = |file_offset_bytes, device_offset_bytes| DeviceExtent {
        file_offset_bytes,
        device_offset_bytes,
        length_bytes: HALF_BYTES,
    };
    vec![piece(0, BEFORE_BYTES + HALF_BYTES), piece(HALF_BYTES, BEFORE_BYTES)]
}

fn file_set(scratch: &Scratch) -> FileSet {
    let read_files = DataFiles { count: 1, size_bytes: FILE_BYTES };
    let spec = FileSetSpec { read_files, ..FileSetSpec::default() };
    FileSet::create(scratch.path(), &spec, 7, &never()).expect("there is room")
}

/// The device, with the file in these pieces; None if there is no direct I/O.
fn device(scratch: &Scratch, file_set: &FileSet, pieces: &[DeviceExtent]) -> Option<File> {
    let path = scratch.path().join("device");
    let image = File::create(&path).expect("there is room");
    let content = fs::read(file_set.data_file(Role::Read, 0)).expect("it is ours");
    for piece in pieces {
        let at = usize::try_from(piece.file_offset_bytes).expect("it is small");
        let length = usize::try_from(piece.length_bytes).expect("it is small");
        let part = &content[at..at + length];
        image.write_all_at(part, piece.device_offset_bytes).expect("there is room");
    }
    image.sync_all().expect("the device is sound");
    open(&path, OFlags::DIRECT)
}

fn open(path: &Path, flags: OFlags) -> Option<File> {
    let flags = flags.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    if opened.is_err() {
        eprintln!("skipped: on_device: there is no direct I/O in the current directory");
    }
    opened.ok()
}

fn read() -> Workload {
    Workload {
        io_path: IoPath::PsyncDirect,
        access: Access::Shuffled,
        operations_per_thread: FILE_BYTES / 4096,
        ..Workload::new(Operation::Read)
    }
}

#[test]
fn a_file_in_two_pieces_is_read_from_the_device() {
    let scratch = Scratch::within(Path::new("."));
    let file_set = file_set(&scratch);
    let Some(device) = device(&scratch, &file_set, &pieces()) else { return };
    let whole = FileOnDevice::new(device, Path::new("device"), pieces(), FILE_BYTES);
    let whole = whole.expect("every byte has its place");
    // The file itself is not needed.
    fs::remove_file(file_set.data_file(Role::Read, 0)).expect("it is ours");
    let mut session = prepare_on_device(&read(), &file_set, &whole, 1).expect("it is all there");
    assert!(session.touched().is_empty());
    let outcome = session.run_with(&MonotonicClock, &never()).expect("the device is sound");
    assert_eq!((outcome.bytes, outcome.recorder.operations()), (FILE_BYTES, FILE_BYTES / 4096));
    session.restore().expect("nothing was changed");
}

#[test]
fn pieces_that_are_not_those_of_the_file_are_found_out() {
    let scratch = Scratch::within(Path::new("."));
    let file_set = file_set(&scratch);
    let Some(device) = device(&scratch, &file_set, &pieces()) else { return };
    let mut swapped = pieces();
    swapped[0].device_offset_bytes = BEFORE_BYTES;
    swapped[1].device_offset_bytes = BEFORE_BYTES + HALF_BYTES;
    let wrong = FileOnDevice::new(device, Path::new("device"), swapped, FILE_BYTES);
    let wrong = wrong.expect("every byte has a place");
    let refused = prepare_on_device(&read(), &file_set, &wrong, 1).expect_err("it lies elsewhere");
    assert!(matches!(refused, EngineError::Corrupt { offset_bytes: 0, .. }), "{refused}");
}

#[test]
fn what_cannot_be_read_on_the_device_is_refused() {
    let scratch = Scratch::within(Path::new("."));
    let file_set = file_set(&scratch);
    let Some(device) = device(&scratch, &file_set, &pieces()) else { return };
    let of =
        |device: File, pieces| FileOnDevice::new(device, Path::new("device"), pieces, FILE_BYTES);
    let again = || device.try_clone().expect("there are descriptors");
    let has_no_place = |refused: Result<FileOnDevice, EngineError>| {
        let refused = refused.expect_err("it cannot be done").to_string();
        assert!(refused.contains("every byte"), "{refused}");
    };
    has_no_place(of(again(), pieces()[..1].to_vec()));
    has_no_place(of(again(), pieces()[1..].to_vec()));
    let mut behind = pieces();
    behind[0].device_offset_bytes = FILE_BYTES;
    has_no_place(of(again(), behind));
    let cached = open(&scratch.path().join("device"), OFlags::empty()).expect("it is ours");
    let refused = of(cached, pieces()).expect_err("its pages would be cached").to_string();
    assert!(refused.contains("O_DIRECT"), "{refused}");
    let whole = of(again(), pieces()).expect("every byte has its place");
    for other in [
        Workload { operation: Operation::Write, ..read() },
        Workload { io_path: IoPath::PsyncBuffered, ..read() },
        Workload { verification: Verification::On, ..read() },
    ] {
        let refused = prepare_on_device(&other, &file_set, &whole, 1).expect_err("not that");
        let is_why = matches!(refused, EngineError::Workload(WorkloadError::NotOnDevice(_)));
        assert!(is_why, "{refused}");
    }
}
