//! Causes that were observed while operations ran, and their near misses.

use record::machine::{Cgroup, CgroupVersion};
use record::{Axis, CacheEvidence, Cause, Compared, Observation, ProbeEvidence, SearchPlan, Waits};

use crate::sample::Sample;
use crate::sample_search::{MIB, evidence, plan, replicates, searched};

/// A search over writes whose value drops to a fifth beyond 30 MiB.
fn writes() -> SearchPlan {
    plan(Axis::WorkingSet, "throughput")
}

const FALL: f64 = 30.0 * MIB;

/// All pages are resident; beyond the drop the device is written to.
fn fallen(plan: &SearchPlan, falls: bool, probe: impl Fn(f64) -> ProbeEvidence) -> Sample {
    let measure = move |position: f64, number: usize| {
        let is_beyond = position > FALL;
        let value = if is_beyond == falls { 1e5 } else { 5e5 };
        let noise = [1.0, 0.97, 1.02, 0.99][number % 4];
        let written = if is_beyond { 1 << 40 } else { 0 };
        let all = evidence(position, f64::INFINITY);
        (value * noise, CacheEvidence { device_written_bytes: Some(written), ..all })
    };
    let mut sample = searched(plan, usize::MAX, measure);
    seen(&mut sample, plan, probe);
    sample
}

/// Adds to each replicate what was observed at its position.
fn seen(sample: &mut Sample, plan: &SearchPlan, probe: impl Fn(f64) -> ProbeEvidence) {
    let cells = sample.run.cells();
    let position = |cell: &&record::Cell| cell.parameters[plan.axis.parameter()].as_f64().unwrap();
    let positions: Vec<f64> = cells.iter().map(position).collect();
    for replicate in replicates(sample) {
        let position = positions[replicate.cell as usize];
        replicate.observations.push(Observation::Probe(probe(position)));
    }
}

fn cause(sample: &Sample) -> Cause {
    let document = sample.document();
    let [cliff] = document.cliffs.as_slice() else { panic!("{:?}", document.cliffs) };
    cliff.cause.clone()
}

fn waits(dirty_limit: u64, journal: u64) -> Option<Waits> {
    Some(Waits { looks: 60, dirty_limit, journal, reclaim: 0 })
}

fn at_dirty_limit(position: f64) -> ProbeEvidence {
    let is_beyond = position > FALL;
    ProbeEvidence {
        dirty_bytes_max: Some(if is_beyond { 32 << 20 } else { 8 << 20 }),
        machine_dirty_limit_bytes: Some(4 << 30),
        device_dirty_limit_bytes: Some(33 << 20),
        waits: waits(if is_beyond { 24 } else { 0 }, 0),
        ..ProbeEvidence::default()
    }
}

#[test]
fn a_limit_on_dirty_data_is_proved_by_threads_that_wait_on_the_slower_side_only() {
    let found = cause(&fallen(&writes(), true, at_dirty_limit));
    let Cause::DirtyLimit {
        limit_bytes,
        dirty_before_bytes,
        dirty_after_bytes,
        waiting_before_percent,
        waiting_after_percent,
    } = found
    else {
        panic!("{found:?}")
    };
    assert_eq!(limit_bytes, Some(33 << 20));
    assert_eq!((dirty_before_bytes, dirty_after_bytes), (Some(8 << 20), Some(32 << 20)));
    assert!(waiting_before_percent.abs() < 1e-9 && (waiting_after_percent - 40.0).abs() < 1e-9);
}

#[test]
fn no_limit_on_dirty_data_is_named_without_its_proof() {
    let unknown = |probe: &dyn Fn(f64) -> ProbeEvidence| {
        assert_eq!(cause(&fallen(&writes(), true, probe)), Cause::Unknown);
    };
    // Threads wait equally on both sides.
    unknown(&|_| at_dirty_limit(MIB * 200.0));
    // They wait too rarely.
    unknown(&|position| {
        let is_beyond = position > FALL;
        ProbeEvidence { waits: waits(u64::from(is_beyond) * 5, 0), ..at_dirty_limit(position) }
    });
    // They do not wait at every position: what happens far beyond the cliff is another matter.
    unknown(&|position| {
        let is_far = position > 100.0 * MIB;
        ProbeEvidence { waits: waits(u64::from(is_far) * 50, 0), ..at_dirty_limit(position) }
    });
    // Threads could not be sampled. A cache of 16 MiB is near, but the device was written to.
    unknown(&|position| ProbeEvidence { waits: None, ..at_dirty_limit(position) });
    // They wait for memory.
    unknown(&|position| {
        let reclaim = u64::from(position > FALL) * 50;
        let waits = Some(Waits { looks: 60, reclaim, ..Waits::default() });
        ProbeEvidence { waits, ..at_dirty_limit(position) }
    });
    // They wait on the faster side.
    assert_eq!(cause(&fallen(&writes(), false, at_dirty_limit)), Cause::Unknown);
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn a_group_of_version_2_has_its_share_of_the_limit_and_one_of_version_1_none() {
    let limit = |version| {
        let mut sample = fallen(&writes(), true, |position| ProbeEvidence {
            device_dirty_limit_bytes: None,
            ..at_dirty_limit(position)
        });
        sample.run.manifest.machine.dirty_limits.dirty_ratio_percent = Some(20);
        sample.run.manifest.machine.cgroup = Some(Cgroup {
            version,
            ..serde_json::from_str(r#"{"version":"v2","paths":{},"io_limits":[]}"#).unwrap()
        });
        match cause(&sample) {
            Cause::DirtyLimit { limit_bytes, .. } => limit_bytes,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(limit(CgroupVersion::V2), Some((64 << 20) / 100 * 20));
    assert_eq!(limit(CgroupVersion::V1), Some(4 << 30));
}

#[test]
fn a_journal_is_proved_by_threads_that_wait_for_it() {
    let of = |before: u64, after: u64| {
        cause(&fallen(&writes(), true, |position| ProbeEvidence {
            written_bytes: 1 << 39,
            waits: waits(0, if position > FALL { after } else { before }),
            ..ProbeEvidence::default()
        }))
    };
    let found = of(0, 40);
    let Cause::Journal { written_before, written_after, waiting_after_percent, .. } = found else {
        panic!("{found:?}")
    };
    assert_eq!((written_before, written_after), (Some(0.0), Some(2.0)));
    assert!((waiting_after_percent - 66.67).abs() < 0.01);
    assert_eq!((of(0, 2), of(30, 40)), (Cause::Unknown, Cause::Unknown));
}

fn shares() -> SearchPlan {
    SearchPlan {
        low: 0.0,
        high: 100.0,
        grain: 1.0,
        compared: Compared::Alike,
        ..plan(Axis::SequentialShare, "throughput")
    }
}

const OPERATIONS: u64 = 10_000;

/// Reads of 4 KiB, all from the device; beyond 85 % sequential, a device read returns
/// `ahead_bytes`, and throughput is 20 times as high.
fn read(ahead_bytes: u64, request_bytes: u64, window_bytes: Option<u64>) -> Cause {
    let plan = shares();
    let device_read = OPERATIONS * request_bytes;
    let measure = move |position: f64, number: usize| {
        let value = if position > 85.0 { 2e4 } else { 1e3 };
        let noise = [1.0, 0.97, 1.02, 0.99][number % 4];
        let from_device = CacheEvidence {
            pages: Some(100),
            resident_after: Some(50),
            device_read_bytes: Some(device_read),
            ..CacheEvidence::default()
        };
        (value * noise, from_device)
    };
    let mut sample = searched(&plan, usize::MAX, measure);
    sample.run.manifest.targets[0].read_ahead_bytes = window_bytes;
    for replicate in replicates(&mut sample) {
        (replicate.operations, replicate.bytes) = (OPERATIONS, device_read);
    }
    seen(&mut sample, &plan, |position| ProbeEvidence {
        device_reads: Some(device_read / if position > 85.0 { ahead_bytes } else { 4096 }),
        ..ProbeEvidence::default()
    });
    cause(&sample)
}

#[test]
fn read_ahead_is_proved_by_reads_of_the_device_that_bring_more_than_was_asked_for() {
    let window = Some(128 << 10);
    let found = read(64 << 10, 4096, window);
    let Cause::ReadAhead {
        window_bytes,
        device_read_before_bytes,
        device_read_after_bytes,
        request_bytes,
    } = found
    else {
        panic!("{found:?}")
    };
    assert_eq!((window_bytes, request_bytes), (128 << 10, 4096));
    assert_eq!(device_read_before_bytes, 4096);
    assert!(device_read_after_bytes.abs_diff(64 << 10) < 1000, "{device_read_after_bytes}");
    // The same reads, just faster.
    assert_eq!(read(4096, 4096, window), Cause::Unknown);
    // Slightly fewer reads do not explain a factor of 20.
    assert_eq!(read(8192, 4096, window), Cause::Unknown);
    // The large reads were requested.
    assert_eq!(read(64 << 10, 64 << 10, window), Cause::Unknown);
    // Read-ahead is off.
    assert_eq!(read(64 << 10, 4096, Some(0)), Cause::Unknown);
    assert_eq!(read(64 << 10, 4096, None), Cause::Unknown);
}

/// Beyond a limit, values from the device are compared only with one another.
#[test]
fn breaks_among_sizes_that_a_device_serves_are_found_where_all_are() {
    let cliffs = |compared: Compared| {
        let plan = SearchPlan { compared, ..writes() };
        let measure = |position: f64, number: usize| {
            let value = if position > 50.0 * MIB { 1e3 } else { 4e3 };
            (value * [1.0, 0.97, 1.02, 0.99][number % 4], evidence(position, 0.5 * MIB))
        };
        searched(&plan, usize::MAX, measure).document().cliffs
    };
    let found = cliffs(Compared::Alike);
    let [cliff] = found.as_slice() else { panic!("{found:?}") };
    assert!(cliff.low <= 50.0 * MIB && 50.0 * MIB <= cliff.high && cliff.high / cliff.low < 1.03);
    assert_eq!(cliff.cause, Cause::Unknown);
    assert_eq!(cliffs(Compared::DeviceApart), []);
}
