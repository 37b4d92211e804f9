//! Direct I/O: aligned as each file requires, or refused with a message that says what is required.

use std::path::Path;
use std::process::Command;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{Errno, pread};
use workload::{
    Access, Alignment, AlignmentSource, Caching, EngineError, FileSet, IoPath, Operation,
    Preadv2Options, Role, Verification, Workload, direct_alignment,
};

use crate::common::{Scratch, file_set, inside_private_mounts, outcome};

const DIRECT: [IoPath; 2] = [
    IoPath::PsyncDirect,
    IoPath::Preadv2(Preadv2Options {
        flags: workload::CallFlags::NONE,
        segments: 1,
        caching: Caching::Direct,
    }),
];

/// Makes a direct read of `bytes` at offset `bytes`, without the engine.
fn reads(path: &Path, bytes: u64) -> Result<usize, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
    let file = openat(CWD, path, flags, Mode::empty())?;
    let mut storage = vec![0; 1 << 17];
    let start = storage.as_ptr().align_offset(1 << 16);
    let length = usize::try_from(bytes).expect("it fits into memory");
    pread(&file, &mut storage[start..start + length], bytes)
}

/// Checks that requests with the reported alignment succeed, and half as large ones are refused by
/// name.
fn check(file_set: &FileSet) {
    let path = file_set.data_file(Role::Read, 0);
    let alignment = direct_alignment(&path).expect("it has direct I/O");
    let bytes = alignment.read_offset_bytes;
    assert_eq!(reads(&path, bytes).map(|done| done as u64), Ok(bytes), "{alignment:?}");
    if alignment.source == AlignmentSource::Statx {
        assert_eq!(reads(&path, bytes / 2), Err(Errno::INVAL), "{alignment:?}");
    }
    for io_path in DIRECT {
        for operation in [Operation::Read, Operation::Write, Operation::Mixed { read_percent: 50 }]
        {
            let aligned = if operation == Operation::Read { bytes } else { alignment.offset_bytes };
            let with = |request_bytes: u64, alignment| Workload {
                io_path,
                alignment,
                request_bytes: usize::try_from(request_bytes).expect("it fits"),
                operations_per_thread: 50,
                verification: Verification::On,
                access: Access::Uniform,
                ..Workload::new(operation)
            };
            for whole in [aligned, 3 * aligned] {
                let done = outcome(&with(whole, Alignment::Request), file_set);
                assert_eq!(done.expect("it is aligned").bytes, 50 * whole, "{alignment:?}");
            }
            for (request_bytes, place) in [
                (aligned / 2, Alignment::Request),
                (aligned + 1, Alignment::Request),
                (aligned, Alignment::Unaligned),
            ] {
                let error = outcome(&with(request_bytes, place), file_set).expect_err("misaligned");
                let text = error.to_string();
                assert!(text.contains(&format!("multiples of {aligned} bytes")), "{text}");
                assert!(matches!(error, EngineError::DirectAlignment { .. }), "{text}");
            }
        }
    }
}

#[test]
fn direct_io_is_aligned_as_the_file_wants_it_or_refused() {
    let scratch = Scratch::within(Path::new("."));
    let file_set = file_set(&scratch);
    match direct_alignment(&file_set.data_file(Role::Read, 0)) {
        Ok(_) => check(&file_set),
        Err(EngineError::NoDirectIo { file_system, reason, .. }) => {
            eprintln!("skipped: {file_system} {reason}");
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn segments_of_a_direct_request_are_aligned_too() {
    let scratch = Scratch::within(Path::new("."));
    let file_set = file_set(&scratch);
    let Ok(alignment) = direct_alignment(&file_set.data_file(Role::Read, 0)) else {
        eprintln!("skipped: no direct I/O in the current directory");
        return;
    };
    let bytes = usize::try_from(alignment.read_offset_bytes).expect("it fits");
    let with = |request_bytes, segments| {
        let options =
            Preadv2Options { segments, caching: Caching::Direct, ..Preadv2Options::default() };
        let verification = Verification::On;
        let io_path = IoPath::Preadv2(options);
        Workload { io_path, request_bytes, verification, ..Workload::new(Operation::Read) }
    };
    let whole = outcome(&with(4 * bytes, 4), &file_set).expect("each segment is aligned");
    assert_eq!(whole.checked_bytes, 4000 * alignment.read_offset_bytes);
    let error = outcome(&with(2 * bytes, 4), &file_set).expect_err("each is half of that");
    assert!(matches!(error, EngineError::DirectAlignment { .. }), "{error}");
}

#[test]
fn tmpfs_is_refused_by_name_although_it_takes_the_flag() {
    if !Path::new("/dev/shm").is_dir() {
        eprintln!("skipped: on tmpfs: needs /dev/shm");
        return;
    }
    let scratch = Scratch::within(Path::new("/dev/shm"));
    let file_set = file_set(&scratch);
    for io_path in DIRECT {
        for operation in [Operation::Read, Operation::Write] {
            let workload = Workload { io_path, ..Workload::new(operation) };
            let error = outcome(&workload, &file_set).expect_err("it has none");
            let text = error.to_string();
            assert!(matches!(error, EngineError::NoDirectIo { .. }), "{text}");
            assert!(text.contains("tmpfs") && text.contains("page cache"), "{text}");
        }
    }
    let append = Workload { io_path: IoPath::PsyncDirect, ..Workload::new(Operation::Append) };
    let error = outcome(&append, &file_set).expect_err("it has none");
    assert!(matches!(error, EngineError::NoDirectIo { .. }), "{error}");
    let growing = std::fs::read_dir(file_set.root().join("growing")).expect("it is there");
    assert_eq!(growing.count(), 0, "what was made to be asked is removed");
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| {
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        output.status.success()
    })
}

/// Makes a file system on a loop device that disappears when unmounted, and mounts it. Returns
/// whether that worked.
fn mounted(image: &Path, mkfs: &[&str], sector_bytes: u64, at: &Path) -> bool {
    let file = std::fs::File::create(image).expect("the scratch directory is writable");
    file.set_len(512 << 20).expect("holes need no room");
    let image = image.display().to_string();
    let size = sector_bytes.to_string();
    let output =
        Command::new("losetup").args(["--find", "--show", "--sector-size", &size, &image]).output();
    let Ok(output) = output else { return false };
    let device = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || device.is_empty() {
        return false;
    }
    let arguments = [&mkfs[1..], &[&device]].concat();
    let is_mounted =
        succeeds(mkfs[0], &arguments) && succeeds("mount", &[&device, &at.display().to_string()]);
    // The device is in use, so this takes effect once it is free.
    succeeds("losetup", &["--detach", &device]);
    is_mounted
}

#[test]
fn each_file_system_says_what_its_device_needs() {
    let name = "direct::each_file_system_says_what_its_device_needs";
    if !inside_private_mounts(name) {
        return;
    }
    let scratch = Scratch::within(Path::new("/var/tmp"));
    let mount_point = scratch.path().join("mnt");
    std::fs::create_dir(&mount_point).expect("the scratch directory is writable");
    for (mkfs, sector_bytes, expected_bytes, source) in [
        (&["mkfs.ext4", "-qF"][..], 512, 512, AlignmentSource::Statx),
        (&["mkfs.ext4", "-qF"], 4096, 4096, AlignmentSource::Statx),
        (&["mkfs.xfs", "-q"], 512, 512, AlignmentSource::Statx),
        (&["mkfs.xfs", "-q"], 4096, 4096, AlignmentSource::Statx),
        (&["mkfs.btrfs", "-qf"], 512, 4096, AlignmentSource::FileSystem),
        (&["mkfs.fat"], 512, 512, AlignmentSource::LogicalBlock),
    ] {
        let image = scratch.path().join("image");
        if !mounted(&image, mkfs, sector_bytes, &mount_point) {
            eprintln!("skipped: {mkfs:?}: it could not be made and mounted");
            continue;
        }
        let root = mount_point.join("set");
        std::fs::create_dir(&root).expect("it is mounted for writing");
        let spec = crate::common::SPEC;
        let file_set = FileSet::create(&root, &spec, 1, &crate::common::never()).expect("room");
        let path = file_set.data_file(Role::Read, 0);
        let alignment = direct_alignment(&path);
        let statx_says = source == AlignmentSource::Statx;
        match alignment {
            Ok(alignment) => {
                assert_eq!(alignment.read_offset_bytes, expected_bytes, "{mkfs:?}");
                assert!(!statx_says || alignment.source == source, "{alignment:?}");
                check(&file_set);
            }
            Err(error) => panic!("{mkfs:?}: {error}"),
        }
        file_set.remove().expect("it is ours");
        rustix::mount::unmount(&mount_point, rustix::mount::UnmountFlags::empty())
            .expect("nothing is open on it");
    }
}
