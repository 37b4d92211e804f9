//! What a description refuses, and why.

use super::*;

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

/// A round that another thread ends has prepared more than it did.
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
