//! Operations stay within the given span of each file, and use all of it.

use std::collections::BTreeSet;

use workload::{
    Access, Alignment, EngineError, Operation, Role, Sharing, Workload, WorkloadError, prepare,
};

use crate::common::{FILE_BYTES, FILE_LENGTH, SEED, Scratch, file_set, outcome};

const REQUEST_BYTES: u64 = 1000;
const SPAN_BYTES: u64 = 100 * REQUEST_BYTES + 300;
const PATTERNS: [Access; 4] =
    [Access::Sequential, Access::Uniform, Access::Shuffled, Access::Zipf { exponent: 0.5 }];
const ALIGNMENTS: [Alignment; 3] = [Alignment::Request, Alignment::Sector, Alignment::Unaligned];

fn writes(access: Access, alignment: Alignment, span_bytes: Option<u64>) -> Workload {
    Workload {
        access,
        alignment,
        span_bytes,
        request_bytes: 1000,
        operations_per_thread: 4000,
        sharing: Sharing::Same,
        ..Workload::new(Operation::Write)
    }
}

/// Unverified writes to a zeroed file show up as bytes that are not zero.
#[test]
fn writes_reach_the_whole_span_and_nothing_beyond() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let path = file_set.data_file(Role::Write, 0);
        for access in PATTERNS {
            for alignment in ALIGNMENTS {
                std::fs::write(&path, vec![0; FILE_LENGTH]).expect("the file is ours");
                let workload = writes(access, alignment, Some(SPAN_BYTES));
                outcome(&workload, &file_set).expect("the span fits");
                let bytes = std::fs::read(&path).expect("the file is ours");
                let written: BTreeSet<u64> =
                    (0_u64..).zip(&bytes).filter(|(_, byte)| **byte != 0).map(|at| at.0).collect();
                let last = written.last().expect("something was written") + 1;
                let what = format!("{access:?} {alignment:?}: to {last}");
                assert!(last <= SPAN_BYTES, "{what}");
                // Only less than a request, plus what alignment leaves over, is never reached.
                assert!(last + REQUEST_BYTES + 512 > SPAN_BYTES, "{what}");
                let blocks = (0..100).filter(|block| {
                    written.range(block * REQUEST_BYTES..(block + 1) * REQUEST_BYTES).count() > 400
                });
                assert!(blocks.count() >= 99, "{what}");
            }
        }
    }
}

#[test]
fn without_a_span_or_with_all_of_the_file_writes_reach_its_end() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let path = file_set.data_file(Role::Write, 0);
        for span_bytes in [None, Some(FILE_BYTES)] {
            std::fs::write(&path, vec![0; FILE_LENGTH]).expect("the file is ours");
            let workload = writes(Access::Sequential, Alignment::Request, span_bytes);
            outcome(&workload, &file_set).expect("the span fits");
            let bytes = std::fs::read(&path).expect("the file is ours");
            let last = bytes.iter().rposition(|byte| *byte != 0).expect("something was written");
            assert!(last >= FILE_LENGTH - FILE_LENGTH % 1000 - 20, "to {last}");
        }
    }
}

#[test]
fn a_session_says_its_span() {
    let scratch = Scratch::within(std::path::Path::new("."));
    let file_set = file_set(&scratch);
    for span_bytes in [None, Some(65_536)] {
        let workload = Workload { span_bytes, ..Workload::new(Operation::Read) };
        let session = prepare(&workload, &file_set, SEED).expect("the span fits");
        assert_eq!(session.span_bytes(), span_bytes);
    }
}

#[test]
fn a_span_larger_than_the_file_or_smaller_than_a_request_is_refused() {
    let scratch = Scratch::within(std::path::Path::new("."));
    let file_set = file_set(&scratch);
    let refused = |span_bytes, access, alignment| {
        let workload = writes(access, alignment, Some(span_bytes));
        match prepare(&workload, &file_set, SEED).map(drop) {
            Ok(()) => false,
            Err(EngineError::Workload(WorkloadError::Span { span_bytes: at, .. })) => {
                assert_eq!(at, span_bytes);
                true
            }
            Err(other) => panic!("{other}"),
        }
    };
    for (span_bytes, expected) in
        [(0, true), (999, true), (1000, false), (FILE_BYTES, false), (FILE_BYTES + 1, true)]
    {
        let is_refused = refused(span_bytes, Access::Uniform, Alignment::Request);
        assert_eq!(is_refused, expected, "{span_bytes}");
    }
    // The first block begins one byte into the file.
    assert!(refused(1000, Access::Sequential, Alignment::Unaligned));
    assert!(!refused(1001, Access::Sequential, Alignment::Unaligned));
}
