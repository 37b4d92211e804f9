//! Whole reports: what they look like, and that they always fit.
//!
//! The golden files should be read by people before they are trusted: run the tests with
//! `UPDATE_GOLDEN=1` to regenerate them, and look at them.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use record::machine::{
    BlockDevice, Cache, CacheKind, Cgroup, CgroupVersion, FileSystemSupport, Kernel, KernelSupport,
    LoopBacking, Machine, Memory, Mkfs, OsRelease, Permission, Permissions, Processor,
};
use record::{CacheEvidence, CacheState, Cell, Conditions, Dimension, Discarded, Document, Line};
use serde_json::json;

use super::{render_machine, render_terminal};
use crate::layout::Options;
use crate::sample::{Sample, noisy};

const MIB: u64 = 1024 * 1024;

/// One benchmark of the survey below.
struct SurveyRow {
    name: &'static str,
    title: &'static str,
    dimension: Dimension,
    cache_state: CacheState,
    /// Time per operation in ns on tmpfs, ext4, xfs and btrfs; NaN if it does not apply, 0 if it
    /// fails.
    times_ns: [f64; 4],
}

const ROWS: [SurveyRow; 6] = [
    SurveyRow {
        name: "random-read-4k-warm",
        title: "random read 4 KiB, warm",
        dimension: Dimension::InMemory,
        cache_state: CacheState::Warm,
        times_ns: [478.0, 496.0, 497.0, 561.0],
    },
    SurveyRow {
        name: "sequential-read-1m-cold",
        title: "sequential read 1 MiB, cold",
        dimension: Dimension::Io,
        cache_state: CacheState::Cold,
        times_ns: [f64::NAN, 1.9e6, 1.75e6, 2.1e6],
    },
    SurveyRow {
        name: "append-fsync-4k",
        title: "append 4 KiB and fsync",
        dimension: Dimension::Io,
        cache_state: CacheState::Any,
        times_ns: [f64::NAN, 190_000.0, 183_000.0, 412_000.0],
    },
    SurveyRow {
        name: "create-100",
        title: "create, directory of 100",
        dimension: Dimension::Metadata,
        cache_state: CacheState::Warm,
        times_ns: [6100.0, 26_230.0, 26_300.0, 31_000.0],
    },
    SurveyRow {
        name: "stat-missing-10000",
        title: "stat of a missing name, directory of 10,000",
        dimension: Dimension::Metadata,
        cache_state: CacheState::Warm,
        times_ns: [1900.0, 1783.0, 1795.0, 1788.0],
    },
    SurveyRow {
        name: "mkdir-10000",
        title: "mkdir, directory of 10,000",
        dimension: Dimension::Metadata,
        cache_state: CacheState::Warm,
        times_ns: [5100.0, 73_400.0, 61_000.0, 0.0],
    },
];

/// A survey as a user would run it, with a bit of everything that can happen.
fn survey(blocks: usize) -> Sample {
    let mut sample = Sample::new(&["tmpfs", "ext4", "xfs", "btrfs"]).operations(400);
    for (seed, row) in (1..).zip(&ROWS) {
        let values: Vec<Vec<f64>> = (0..)
            .zip(row.times_ns)
            .map(|(target, time)| {
                let count = if time == 0.0 { 0 } else { blocks };
                noisy(time, 0.03, seed * 8 + target, count)
            })
            .collect();
        sample = sample.not_on(if row.times_ns[0].is_nan() { &["tmpfs"] } else { &[] });
        let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
        sample = sample.benchmark(row.name, &values);
        sample.change(row.name, |cell| {
            cell.title = row.title.to_owned();
            cell.dimension = row.dimension;
            cell.cache_state = row.cache_state;
            if row.cache_state != CacheState::Any && row.dimension != Dimension::Metadata {
                cell.working_set_bytes = Some(48 * MIB);
            }
        });
    }
    let never_cold = "its pages are the only copy of its files, so they are never cold";
    scaling(sample, blocks)
        .failed("mkdir-10000", "btrfs", "no space left on the device")
        .skipped("tmpfs: cold reads and writes", never_cold)
        .skipped("tmpfs: append 4 KiB and fsync", "it has no device that fsync could write to")
        .skipped("f2fs", "mkfs.f2fs is not installed: install the package f2fs-tools")
        .ended()
}

fn scaling(sample: Sample, blocks: usize) -> Sample {
    let name = "random-read-4k-2-threads";
    let times = [262.0, 281.0, 303.0, 420.0];
    let values: Vec<Vec<f64>> =
        (70..).zip(times).map(|(seed, time)| noisy(time, 0.03, seed, blocks)).collect();
    let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    let sample = sample.throughput_first().benchmark(name, &values);
    let mut sample = sample.baseline(name, "random-read-4k-warm");
    sample.change(name, |cell| {
        cell.title = "random read 4 KiB, warm, 2 threads on one file".to_owned();
        cell.dimension = Dimension::Scaling;
        cell.parameters.insert("threads".to_owned(), json!(2));
    });
    sample.run.manifest.machine = machine();
    for target in &mut sample.run.manifest.targets {
        target.scratch = true;
        if target.label != "tmpfs" {
            target.mkfs = Some(format!("mkfs.{} -q /dev/loop0", target.label));
            target.mkfs_version = Some("6.1.0".to_owned());
            target.loop_direct_io = Some(true);
            target.device = Some(loop_device());
            target.size_bytes = 4 << 30;
        }
    }
    let ext4 = &mut sample.run.manifest.targets[1];
    ext4.conditions =
        Conditions { memory_bytes: Some(64 * MIB), read_bps: Some(50 * MIB), ..ext4.conditions };
    ext4.condition_caveats =
        vec!["buffered writes are not throttled by version 1 of control groups".to_owned()];
    ext4.mkfs =
        Some("/sbin/mkfs.ext4 -q -F -O ^has_journal -E lazy_itable_init=0 /dev/loop0".into());
    let why = "12 of 16384 pages were resident".to_owned();
    let evidence = CacheEvidence::default();
    let is_discarded =
        |cell: &Cell| cell.target == "ext4" && cell.benchmark == "sequential-read-1m-cold";
    let cell = sample.run.manifest.cells.iter().position(is_discarded).unwrap();
    let cell = u32::try_from(cell).unwrap();
    let discarded = Discarded { cell, block: 2, attempt: 1, turn_ns: None, why, evidence };
    sample.run.lines.push(Line::Discarded(discarded));
    sample
}

fn loop_device() -> BlockDevice {
    let disk =
        BlockDevice { name: "vda".to_owned(), rotational: Some(true), ..BlockDevice::default() };
    let backing = LoopBacking { device: Some(disk), ..LoopBacking::default() };
    BlockDevice {
        name: "loop0".to_owned(),
        backing: Some(Box::new(backing)),
        ..BlockDevice::default()
    }
}

fn machine() -> Machine {
    let cache = |level, kind, kib: u64, shared_by: &[u32]| Cache {
        level,
        kind,
        size_bytes: Some(kib * 1024),
        line_bytes: Some(64),
        ways: Some(8),
        sets: None,
        shared_by: shared_by.to_vec(),
        instances: 1,
    };
    Machine {
        os_release: OsRelease {
            pretty_name: Some("Debian GNU/Linux 12 (bookworm)".to_owned()),
            ..OsRelease::default()
        },
        kernel: Kernel { release: Some("6.1.0-25-amd64".to_owned()), ..Kernel::default() },
        processor: Processor {
            model: Some("Intel(R) Xeon(R) Processor @ 2.10GHz".to_owned()),
            sockets: Some(1),
            cores: Some(2),
            threads: Some(2),
            allowed: vec![0, 1],
            governors: vec!["performance".to_owned()],
            tsc_flags: vec!["constant_tsc".to_owned(), "nonstop_tsc".to_owned()],
            ..Processor::default()
        },
        caches: vec![
            cache(1, CacheKind::Data, 32, &[0]),
            cache(1, CacheKind::Instruction, 32, &[0]),
            cache(2, CacheKind::Unified, 2048, &[0]),
            cache(3, CacheKind::Unified, 36_864, &[0, 1]),
        ],
        memory: Memory {
            total_bytes: Some(8_345_276_416),
            transparent_hugepage: Some("madvise".to_owned()),
            ..Memory::default()
        },
        cgroup: Some(Cgroup {
            version: CgroupVersion::V1,
            paths: [].into(),
            memory_limit_bytes: None,
            memory_high_bytes: None,
            cpu_quota_cores: Some(1.5),
            cpuset: None,
            io_limits: Vec::new(),
        }),
        hypervisor: Some("KVM".to_owned()),
        mitigations: [("meltdown".to_owned(), "Mitigation: PTI".to_owned())].into(),
        permissions: Permissions {
            root: true,
            mount: Permission::Granted,
            loop_devices: Permission::Granted,
            ..Permissions::default()
        },
        file_systems: file_systems(),
        ..Machine::default()
    }
}

fn file_systems() -> Vec<FileSystemSupport> {
    vec![
        FileSystemSupport {
            name: "ext4".to_owned(),
            kernel: KernelSupport::Registered,
            mkfs: Some(Mkfs {
                path: "/usr/sbin/mkfs.ext4".to_owned(),
                version: Some("1.47.0".to_owned()),
            }),
            mkfs_package: Some("e2fsprogs".to_owned()),
        },
        FileSystemSupport {
            name: "f2fs".to_owned(),
            kernel: KernelSupport::Module,
            mkfs: None,
            mkfs_package: Some("f2fs-tools".to_owned()),
        },
    ]
}

pub(super) fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap();
    assert_eq!(text, golden, "if the new text is better, run with UPDATE_GOLDEN=1");
}

fn text(document: &Document, width: usize) -> String {
    render_terminal(document, &Options { width, colour: false })
}

#[test]
fn a_survey_of_four_targets_reads_as_it_should() {
    let document = survey(12).document();
    assert_golden("survey-80.txt", &text(&document, 80));
    assert_golden("survey-100.txt", &text(&document, 100));
    assert_golden("survey-120.txt", &text(&document, 120));
}

#[test]
fn a_run_with_too_few_blocks_reads_as_it_should() {
    assert_golden("few-blocks-80.txt", &text(&survey(3).document(), 80));
}

#[test]
fn a_machine_reads_as_it_should() {
    assert_golden("machine-80.txt", &render_machine(&machine(), &Options::default()));
}

#[test]
fn the_report_is_plain_ascii() {
    assert!(text(&survey(12).document(), 80).is_ascii());
}

#[test]
fn colour_changes_nothing_but_colour() {
    let document = survey(12).document();
    let coloured = render_terminal(&document, &Options { width: 80, colour: true });
    let mut plain = String::new();
    let mut is_code = false;
    for character in coloured.chars() {
        is_code |= character == '\u{1b}';
        if !is_code {
            plain.push(character);
        }
        is_code &= character != 'm';
    }
    assert_ne!(coloured, plain);
    assert_eq!(plain, text(&document, 80));
}

#[test]
fn a_report_of_nothing_is_a_report() {
    let text = text(&Sample::new(&[]).document(), 80);
    assert!(text.contains("Measuring was cut off"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_line_is_wider_than_asked(
        width in 60_usize..=140,
        label in "[a-z/ ]{1,40}",
        title in "[a-z, ]{1,90}",
        blocks in 0_usize..9,
    ) {
        let values = noisy(12_345.0, 0.2, 7, blocks);
        let mut sample = Sample::new(&[&label, "B"]).operations(400);
        sample = sample.benchmark("create", &[&values, &values]).skipped(&label, &title);
        sample.change("create", |cell| cell.title.clone_from(&title));
        let document = sample.document();
        let longest = text(&document, width).lines().map(|line| line.chars().count()).max();
        prop_assert!(longest <= Some(width.min(120)));
    }

    #[test]
    fn a_survey_and_a_machine_fit_every_width(width in 40_usize..=120) {
        // Made only once, because it has a run directory, in which every line is synced.
        static DOCUMENT: LazyLock<Document> = LazyLock::new(|| survey(6).document());
        let document = &*DOCUMENT;
        let machine = render_machine(&document.machine, &Options { width, colour: false });
        for line in text(document, width).lines().chain(machine.lines()) {
            prop_assert!(line.chars().count() <= width, "{}", line);
        }
    }
}
