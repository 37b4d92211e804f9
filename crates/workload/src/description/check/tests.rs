//! What a description refuses, and why.

use super::*;
use crate::io_path::{Buffering, CallFlags, MapOptions, StdioLocking};

#[test]
fn what_cannot_be_executed_is_refused_with_its_reason() {
    let good = Workload::new(Operation::Read);
    assert_eq!(good.check(), Ok(()));
    let refused = |change: fn(&mut Workload)| {
        let mut workload = Workload::new(Operation::Read);
        change(&mut workload);
        workload.check().expect_err("it cannot be executed")
    };
    assert!(matches!(refused(|w| w.threads = 0), WorkloadError::Zero(_)));
    assert!(matches!(refused(|w| w.batch = 0), WorkloadError::Zero(_)));
    assert!(matches!(refused(|w| w.operations_per_round = 0), WorkloadError::Zero(_)));
    let both = |w: &mut Workload| (w.batch, w.operations_per_round) = (2, 2);
    assert_eq!(refused(both), WorkloadError::NoRounds);
    assert!(matches!(refused(|w| w.request_bytes = 0), WorkloadError::Zero(_)));
    assert!(matches!(refused(|w| w.threads = 5000), WorkloadError::TooLarge { .. }));
    for exponent in [-0.1, f64::NAN, f64::INFINITY] {
        let workload = Workload { access: Access::Zipf { exponent }, ..good.clone() };
        assert!(matches!(workload.check(), Err(WorkloadError::ZipfExponent(_))));
    }
    for percent in [0, 100, 101, 255] {
        let mix = Workload::new(Operation::Mixed { read_percent: percent });
        assert_eq!(mix.check().is_ok(), percent <= 100, "{percent} % reads");
        let access = Access::Mixed { sequential_percent: percent };
        let follow = Workload { access, ..good.clone() };
        assert_eq!(follow.check().is_ok(), percent <= 100, "{percent} % sequential");
    }
}

#[test]
fn only_changes_of_directories_are_made_permanent() {
    for operation in Operation::ALL {
        let directory_sync = DirectorySync::EachOperation;
        let workload = Workload { directory_sync, ..Workload::new(operation) };
        let changes = operation.changes_directories();
        assert_eq!(workload.check().is_ok(), changes, "{}", operation.name());
    }
}

#[test]
fn batches_are_refused_where_untimed_work_stands_between_operations() {
    for operation in Operation::ALL {
        let workload = Workload { batch: 2, ..Workload::new(operation) };
        assert_eq!(workload.check().is_ok(), operation.can_batch(), "{}", operation.name());
    }
}

/// When another thread ends a round, this one has prepared more operations than it did.
#[test]
fn rounds_are_refused_of_what_cannot_be_prepared_twice() {
    let allowed = |operation| {
        let workload = Workload { operations_per_round: 2, ..Workload::new(operation) };
        workload.check().is_ok()
    };
    for operation in [Operation::Create, Operation::Mkdir, Operation::Read] {
        assert!(allowed(operation), "{}", operation.name());
    }
    for operation in [Operation::Rename, Operation::Unlink, Operation::Rmdir, Operation::Truncate] {
        assert!(!allowed(operation), "{}", operation.name());
    }
}

fn preadv2(operation: Operation, flags: &[CallFlag], caching: Caching) -> Workload {
    let flags = flags.iter().fold(CallFlags::NONE, |flags, flag| flags.with(*flag));
    let options = Preadv2Options { flags, caching, ..Preadv2Options::default() };
    Workload { io_path: IoPath::Preadv2(options), ..Workload::new(operation) }
}

#[test]
fn contradictory_flags_are_refused() {
    use CallFlag::{Append, DontCache, Dsync, Hipri, Nowait};
    let (buffered, direct) = (Caching::Buffered, Caching::Direct);
    for (operation, flags, caching, is_possible) in [
        (Operation::Read, &[Nowait, DontCache][..], buffered, true),
        (Operation::Read, &[Hipri], buffered, false),
        (Operation::Read, &[Hipri], direct, true),
        (Operation::Read, &[DontCache], direct, false),
        (Operation::Read, &[Dsync], buffered, false),
        (Operation::Write, &[Dsync], buffered, true),
        (Operation::Write, &[Append], buffered, false),
        (Operation::Append, &[Append, Dsync], buffered, true),
        (Operation::Append, &[], buffered, false),
        (Operation::Mixed { read_percent: 50 }, &[Dsync], buffered, true),
    ] {
        let checked = preadv2(operation, flags, caching).check();
        assert_eq!(checked.is_ok(), is_possible, "{operation:?} {flags:?} {checked:?}");
    }
}

#[test]
fn segments_divide_the_request() {
    let with = |segments| {
        let options = Preadv2Options { segments, ..Preadv2Options::default() };
        let io_path = IoPath::Preadv2(options);
        Workload { io_path, ..Workload::new(Operation::Read) }.check().is_ok()
    };
    assert_eq!([0, 1, 3, 16, 17, 32].map(with), [false, true, false, true, false, false]);
}

#[test]
fn only_transfers_take_the_paths_of_transfers() {
    for io_path in [
        IoPath::Mmap(MapOptions::default()),
        IoPath::Stdio(StdioLocking::Unlocked),
        IoPath::Preadv2(Preadv2Options::default()),
    ] {
        for operation in Operation::ALL {
            let checked = Workload { io_path, ..Workload::new(operation) }.check();
            let expected = matches!(operation, Operation::Read | Operation::Write);
            assert_eq!(checked.is_ok(), expected, "{operation:?} {io_path:?}");
        }
    }
}

fn refused(options: UringOptions, change: fn(&mut Workload)) -> Option<WorkloadError> {
    let io_path = IoPath::IoUring(options);
    let mut workload = Workload { io_path, ..Workload::new(Operation::Read) };
    change(&mut workload);
    workload.check().err()
}

#[test]
fn depths_and_batches_out_of_range_are_refused_by_name() {
    let of = |queue_depth| UringOptions::new(queue_depth, Buffering::Direct);
    for depth in [1, 2, 64, 4096] {
        assert_eq!(refused(of(depth), |_| ()), None);
    }
    for depth in [0, 4097, u32::MAX] {
        assert_eq!(refused(of(depth), |_| ()), Some(WorkloadError::QueueDepth(depth)));
    }
    for (submit_at_most, reap_at_least) in [(0, 1), (1, 0)] {
        let options = UringOptions { submit_at_most, reap_at_least, ..of(8) };
        assert!(matches!(refused(options, |_| ()), Some(WorkloadError::Zero(_))));
    }
    for (submit_at_most, reap_at_least) in [(9, 1), (1, 9)] {
        let options = UringOptions { submit_at_most, reap_at_least, ..of(8) };
        let refusal = refused(options, |_| ());
        assert!(matches!(refusal, Some(WorkloadError::TooLarge { value: 9, most: 8, .. })));
    }
    let large = refused(of(4096), |workload| workload.request_bytes = 1 << 20);
    assert!(matches!(large, Some(WorkloadError::TooLarge { .. })), "{large:?}");
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn what_the_path_cannot_do_is_refused_by_name() {
    let direct = UringOptions::new(8, Buffering::Direct);
    let buffered = UringOptions::new(8, Buffering::PageCache);
    for operation in Operation::ALL {
        let io_path = IoPath::IoUring(buffered);
        let refusal = Workload { io_path, ..Workload::new(operation) }.check().err();
        let expected = match operation {
            Operation::Read | Operation::Write => None,
            other => {
                let (io_path, operation) = ("io_uring", other.name());
                Some(WorkloadError::NoSuchPath { io_path, operation })
            }
        };
        assert_eq!(refusal, expected);
    }
    let batch = refused(direct, |workload| workload.batch = 2);
    assert_eq!(batch, Some(WorkloadError::BatchInFlight));
}
