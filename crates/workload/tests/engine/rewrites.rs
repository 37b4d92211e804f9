//! Writes of a file's own data to its places on a device. A plain file takes the place of the
//! device here, so that all of it can be wiped between reading and writing back: what it contains
//! afterwards is what was written.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use measure::MonotonicClock;
use rustix::fs::OFlags;
use workload::{
    Access, Buffering, Caching, CallFlags, DataFiles, DeviceExtent, EngineError, FileOnDevice,
    FileSet, FileSetSpec, IoPath, Operation, Preadv2Options, Role, UringOptions, Verification,
    Workload, WorkloadError, io_uring_availability, prepare_on_device,
};

use crate::common::{FILE_BYTES, Scratch, never};

const KIB: u64 = 1 << 10;
const DEVICE_BYTES: u64 = 2 << 20;
const WIPED: u8 = 0xee;

/// As (offset in the file, offset on the device, length): the last two are contiguous both in the
/// file and on the device, the others are not, and there is something else before, between and
/// after them.
const PIECES: [(u64, u64, u64); 4] = [
    (0, 1024 * KIB, 320 * KIB),
    (320 * KIB, 64 * KIB, 448 * KIB),
    (768 * KIB, 640 * KIB, 64 * KIB),
    (832 * KIB, 704 * KIB, 192 * KIB),
];

fn pieces() -> Vec<DeviceExtent> {
    let piece = |(file_offset_bytes, device_offset_bytes, length_bytes)| DeviceExtent {
        file_offset_bytes,
        device_offset_bytes,
        length_bytes,
    };
    PIECES.map(piece).to_vec()
}

/// A file set on a device: its write file, and an image with the same bytes at their places.
struct Rig {
    scratch: Scratch,
    file_set: FileSet,
    /// The initial content of the device.
    original: Vec<u8>,
}

fn index(bytes: u64) -> usize {
    usize::try_from(bytes).expect("it is small")
}

impl Rig {
    /// None if there is no direct I/O.
    fn new() -> Option<Self> {
        let scratch = Scratch::within(Path::new("."));
        let write_files = DataFiles { count: 1, size_bytes: FILE_BYTES };
        let spec = FileSetSpec { write_files, ..FileSetSpec::default() };
        let file_set = FileSet::create(scratch.path(), &spec, 7, &never()).expect("there is room");
        let content = fs::read(file_set.data_file(Role::Write, 0)).expect("it is ours");
        let mut original: Vec<u8> = (0..DEVICE_BYTES).map(|at| (at % 251) as u8).collect();
        for (in_file, on_device, length) in PIECES {
            let from = &content[index(in_file)..index(in_file + length)];
            original[index(on_device)..index(on_device + length)].copy_from_slice(from);
        }
        let rig = Self { scratch, file_set, original };
        rig.put(&rig.original);
        let opened = rig.open(OFlags::DIRECT | OFlags::RDWR);
        if opened.is_none() {
            eprintln!("skipped: rewrites: there is no direct I/O in the current directory");
        }
        opened.map(|_| rig)
    }

    fn put(&self, bytes: &[u8]) {
        let image = File::create(self.scratch.path().join("device")).expect("there is room");
        image.write_all_at(bytes, 0).expect("there is room");
        image.sync_all().expect("the device is sound");
    }

    fn found(&self) -> Vec<u8> {
        fs::read(self.scratch.path().join("device")).expect("it is ours")
    }

    fn open(&self, flags: OFlags) -> Option<File> {
        let writes = flags.contains(OFlags::RDWR);
        let custom = (flags & OFlags::DIRECT).bits().cast_signed();
        let mut options = OpenOptions::new();
        let path = self.scratch.path().join("device");
        options.read(true).write(writes).custom_flags(custom).open(path).ok()
    }

    fn below(&self, flags: OFlags) -> FileOnDevice {
        let device = self.open(flags).expect("it is ours");
        let below = FileOnDevice::new(device, Path::new("device"), pieces(), FILE_BYTES);
        below.expect("every byte has its place")
    }

    fn writable(&self) -> FileOnDevice {
        self.below(OFlags::DIRECT | OFlags::RDWR)
    }
}

fn write(request_bytes: u64, access: Access, io_path: IoPath) -> Workload {
    Workload {
        io_path,
        access,
        request_bytes: index(request_bytes),
        operations_per_thread: FILE_BYTES / request_bytes,
        ..Workload::new(Operation::Write)
    }
}

/// Plain calls and, if io_uring is available, some in flight.
fn io_paths() -> Vec<IoPath> {
    let mut paths = vec![IoPath::PsyncDirect];
    let flying = |depth| IoPath::IoUring(UringOptions::new(depth, Buffering::Direct));
    match io_uring_availability() {
        Ok(()) => paths.extend([flying(1), flying(8)]),
        Err(why) => eprintln!("skipped: rewrites in flight: {why}"),
    }
    paths
}

/// Whether this byte of the device belongs to the file.
fn is_ours(at: usize) -> bool {
    PIECES.iter().any(|&(_, start, length)| (index(start)..index(start + length)).contains(&at))
}

#[test]
fn what_lay_there_is_written_back_to_where_it_lay_and_nowhere_else() {
    let Some(rig) = Rig::new() else { return };
    for io_path in io_paths() {
        for access in [Access::Sequential, Access::Shuffled] {
            for request_bytes in [512, 4 * KIB, 64 * KIB, 128 * KIB, 256 * KIB] {
                rig.put(&rig.original);
                let workload = write(request_bytes, access, io_path);
                let what = format!("{workload:?}");
                let mut session = prepare_on_device(&workload, &rig.file_set, &rig.writable(), 1)
                    .unwrap_or_else(|error| panic!("{error}: {what}"));
                assert!(session.touched().is_empty());
                rig.put(&vec![WIPED; index(DEVICE_BYTES)]);
                let outcome = session.run_with(&MonotonicClock, &never()).expect("it is sound");
                session.restore().expect("nothing was made");
                assert_eq!(outcome.bytes, FILE_BYTES, "{what}");
                let found = rig.found();
                for (at, (&now, &then)) in found.iter().zip(&rig.original).enumerate() {
                    let is_back = is_ours(at) && now == then;
                    assert!(now == WIPED || is_back, "{at}: {now} where {then} was, {what}");
                }
                let is_whole =
                    (0..found.len()).all(|at| !is_ours(at) || found[at] == rig.original[at]);
                // Every piece is a multiple of 64 KiB: no request crosses its end.
                assert_eq!(is_whole, request_bytes <= 64 * KIB, "{what}");
            }
        }
    }
}

#[test]
fn a_device_that_holds_something_else_is_not_written() {
    let Some(rig) = Rig::new() else { return };
    let mut other = rig.original.clone();
    // One byte of the file's last block.
    other[index(896 * KIB) - 1] ^= 1;
    rig.put(&other);
    for io_path in io_paths() {
        let workload = write(4 * KIB, Access::Sequential, io_path);
        let refused = prepare_on_device(&workload, &rig.file_set, &rig.writable(), 1);
        let refused = refused.expect_err("it lies elsewhere");
        let offset = FILE_BYTES - 4 * KIB;
        let EngineError::Elsewhere { offset_bytes, .. } = refused else { panic!("{refused}") };
        assert_eq!(offset_bytes, offset);
        assert!(rig.found() == other);
    }
}

#[test]
fn what_cannot_be_written_on_the_device_is_refused() {
    let Some(rig) = Rig::new() else { return };
    let fine = write(4 * KIB, Access::Sequential, IoPath::PsyncDirect);
    let too_many = Workload { operations_per_thread: FileOnDevice::WRITES_MAX + 1, ..fine.clone() };
    let writable = rig.writable();
    let read_only = rig.below(OFlags::DIRECT);
    let (flags, caching) = (CallFlags::default(), Caching::Direct);
    let preadv2 = IoPath::Preadv2(Preadv2Options { flags, segments: 1, caching });
    for (workload, below, wanted) in [
        (Workload { verification: Verification::On, ..fine.clone() }, &writable, "no verification"),
        (Workload { io_path: IoPath::PsyncBuffered, ..fine.clone() }, &writable, "direct I/O"),
        (Workload { operation: Operation::Append, ..fine.clone() }, &writable, "a read or a write"),
        (write(4 * KIB, Access::Sequential, preadv2), &writable, "psync or io_uring"),
        (write(FILE_BYTES, Access::Sequential, IoPath::PsyncDirect), &writable, "as long as"),
        (fine, &read_only, "reading and writing"),
        (too_many, &writable, "number of writes on a device"),
    ] {
        let refused = prepare_on_device(&workload, &rig.file_set, below, 1);
        let refused = refused.expect_err(wanted);
        let is_why = matches!(
            refused,
            EngineError::Workload(WorkloadError::NotOnDevice(_) | WorkloadError::TooLarge { .. })
        );
        assert!(is_why && refused.to_string().contains(wanted), "{refused}");
    }
    assert!(rig.found() == rig.original);
}
