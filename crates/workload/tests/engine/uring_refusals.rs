//! io_uring where it fails: full targets, too little lockable memory; and what a session must not
//! leave behind.

use std::path::Path;
use std::process::Command;

use rustix::mount::{UnmountFlags, unmount};
use workload::{
    Access, Buffering, EngineError, FileSet, IoPath, Operation, Role, UringOptions, UringRefusal,
    Workload, prepare,
};

use crate::common::{FakeClock, Scratch, file_set, never, outcome};
use crate::common::{INSIDE, inside_private_mounts};
use crate::failures::{mount_tmpfs, small_spec};

fn in_flight(operation: Operation, queue_depth: u32) -> Workload {
    let options = UringOptions::new(queue_depth, Buffering::PageCache);
    Workload { io_path: IoPath::IoUring(options), ..Workload::new(operation) }
}

fn is_there_io_uring() -> bool {
    workload::io_uring_availability()
        .inspect_err(|why| eprintln!("skipped: needs io_uring: {why}"))
        .is_ok()
}

/// The kernel tears down a closed ring later. Until then, what it had registered would keep the
/// file system from being unmounted, which is how a target is made cold.
#[test]
fn after_a_session_its_file_system_can_be_unmounted() {
    let name = "uring_refusals::after_a_session_its_file_system_can_be_unmounted";
    if !is_there_io_uring() || !inside_private_mounts(name) {
        return;
    }
    let scratch = Scratch::within(Path::new("/tmp"));
    for ends in ["restored", "dropped", "failed", "panicked", "never run"] {
        mount_tmpfs(scratch.path(), c"size=1m");
        let file_set = FileSet::create(scratch.path(), &small_spec(), 1, &never()).expect("room");
        if ends == "failed" {
            let path = file_set.data_file(Role::Read, 0);
            let file = std::fs::File::options().write(true).open(path).expect("it is ours");
            file.set_len(5000).expect("it is ours");
        }
        let workload = in_flight(Operation::Read, 32);
        let mut session = prepare(&workload, &file_set, 1).expect("it can be executed");
        let ran =
            |session: &mut workload::Session| session.run_with(&measure::MonotonicClock, &never());
        match ends {
            "restored" => {
                ran(&mut session).expect("nothing is in the way");
                session.restore().expect("nothing was changed");
            }
            "dropped" => {
                ran(&mut session).expect("nothing is in the way");
                drop(session);
            }
            "failed" => {
                ran(&mut session).expect_err("the file is too short");
                drop(session);
            }
            "panicked" => {
                let clock = FakeClock::that_panics_after(40);
                let run = || session.run_with(&clock, &never());
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(run))
                    .expect_err("the clock panics while operations are in flight");
                drop(session);
            }
            _ => drop(session),
        }
        unmount(scratch.path(), UnmountFlags::empty())
            .unwrap_or_else(|errno| panic!("{ends}: {errno}"));
    }
}

#[test]
fn a_full_file_system_is_reported_with_file_and_offset() {
    let name = "uring_refusals::a_full_file_system_is_reported_with_file_and_offset";
    if !is_there_io_uring() || !inside_private_mounts(name) {
        return;
    }
    let scratch = Scratch::within(Path::new("/tmp"));
    mount_tmpfs(scratch.path(), c"size=1m");
    let file_set = FileSet::create(scratch.path(), &small_spec(), 1, &never()).expect("room");
    let path = file_set.data_file(Role::Write, 0);
    // All its blocks except the first are freed, and something else takes them.
    let file = std::fs::File::options().write(true).open(&path).expect("it is ours");
    file.set_len(4096).expect("it is ours");
    file.set_len(64 << 10).expect("it is ours");
    let filler = std::fs::write(scratch.path().join("filler"), vec![1; 2 << 20]);
    filler.expect_err("it is twice as large as the file system");
    let workload = Workload {
        access: Access::Sequential,
        operations_per_thread: 16,
        ..in_flight(Operation::Write, 1)
    };
    let error = outcome(&workload, &file_set).expect_err("the second block has no room");
    assert!(matches!(&error, EngineError::NoSpace { path: at, .. } if *at == path), "{error}");
    assert!(error.to_string().contains("offset 4096)"), "{error}");
    let EngineError::NoSpace { source, .. } = &error else { return };
    let at = source.get_ref().and_then(|inner| inner.downcast_ref::<workload::AtOffset>());
    let at = at.expect("the kernel's answer is kept");
    assert_eq!((at.errno, at.offset_bytes), (rustix::io::Errno::NOSPC, 4096));
    let deep = Workload { operations_per_thread: 1000, ..in_flight(Operation::Write, 64) };
    let error = outcome(&deep, &file_set).expect_err("there is no room");
    assert!(matches!(error, EngineError::NoSpace { .. }), "{error}");
}

#[test]
fn too_little_memory_that_may_be_locked_is_refused_with_the_limit() {
    if std::env::var_os(INSIDE).is_none() {
        let name = "uring_refusals::too_little_memory_that_may_be_locked_is_refused_with_the_limit";
        if !is_there_io_uring() {
            return;
        }
        let itself = std::env::current_exe().expect("a running program has a path");
        // Root may lock any amount of memory, unless it drops the capability.
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set", "-ipc_lock", "--inh-caps", "-ipc_lock"]);
        if !rustix::process::geteuid().is_root() {
            command = Command::new("env");
        }
        let status = command
            .args(["prlimit", "--memlock=65536:65536"])
            .arg(itself)
            .args(["--exact", name, "--nocapture", "--test-threads", "1"])
            .env(INSIDE, "yes")
            .status();
        match status {
            Ok(status) => assert!(status.success(), "{name} failed inside"),
            Err(error) => eprintln!("skipped: {name}: the program setpriv ({error})"),
        }
        return;
    }
    let scratch = Scratch::within(Path::new("."));
    let file_set = file_set(&scratch);
    let workload = in_flight(Operation::Read, 64);
    let error = prepare(&workload, &file_set, 1).expect_err("64 requests are 256 KiB");
    let EngineError::Uring(refusal) = &error else { panic!("{error}") };
    let (needed_bytes, limit_bytes) = (64 * 4096, 65_536);
    assert_eq!(*refusal, UringRefusal::LockedMemory { needed_bytes, limit_bytes });
    assert!(error.to_string().contains("ulimit -l"), "{error}");
}
