//! Logs that fio has written, read and written again.

use std::path::Path;
use std::process::{Command, Stdio};

use job_results::logs::{HistogramLog, LogKind, LogSample, SampleLog, SampleLogSettings};
use job_results::{BUCKETS, DataDirection, LatencyHistogram, PerDirection};

use crate::outputs;

const ARGUMENTS: &str = "--name=job --rw=randrw --size=4m --bs=4k-8k --filename=data \
                         --prioclass=1 --prio=3 --write_lat_log=out --write_bw_log=out \
                         --write_iops_log=out --write_hist_log=out --log_hist_msec=5";

/// Has fio write logs to a directory.
fn make_logs(directory: &Path, more: &[&str]) {
    let mut command = Command::new("fio");
    command.current_dir(directory).args(ARGUMENTS.split_whitespace()).args(more);
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
}

fn numbers(line: &str) -> Vec<u64> {
    let number = |field: &str| match field.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
        None => field.parse().unwrap(),
    };
    line.split(", ").map(number).collect()
}

fn direction(number: u64) -> DataDirection {
    DataDirection::ALL[usize::try_from(number).unwrap()]
}

/// Lines of samples, taken in by a log of ours.
fn sample_log(text: &str, settings: SampleLogSettings) -> SampleLog {
    let mut log = SampleLog::new(LogKind::Total, settings);
    for line in text.lines().map(numbers) {
        let [time_ms, value, number, bytes, ref rest @ ..] = line[..] else { panic!("{line:?}") };
        let offset = if settings.has_offsets { rest[0] } else { 0 };
        let last = rest[rest.len() - 1];
        let priority = if settings.has_priorities { last } else { last << 13 };
        let (direction, priority) = (direction(number), priority.try_into().unwrap());
        log.add(time_ms, LogSample { direction, value, bytes, offset, priority });
    }
    log
}

#[test]
fn logs_are_written_again() {
    if !outputs::is_fio_installed() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    for (more, has_offsets, has_priorities) in [
        (&[][..], false, false),
        (&["--log_offset=1"], true, false),
        (&["--log_offset=1", "--log_prio=1"], true, true),
    ] {
        make_logs(directory.path(), more);
        let settings =
            SampleLogSettings { has_offsets, has_priorities, ..SampleLogSettings::default() };
        for kind in ["lat", "clat", "slat", "bw", "iops"] {
            let path = directory.path().join(format!("out_{kind}.1.log"));
            let text = std::fs::read_to_string(path).unwrap();
            assert!(text.lines().count() > 100 || kind == "slat", "{kind}");
            let mut ours = Vec::new();
            sample_log(&text, settings).write(&mut ours).unwrap();
            assert_eq!(String::from_utf8(ours).unwrap(), text, "{kind}");
        }
    }
}

#[test]
fn histograms_are_written_again() {
    if !outputs::is_fio_installed() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    make_logs(directory.path(), &[]);
    let path = directory.path().join("out_clat_hist.1.log");
    let text = std::fs::read_to_string(path).unwrap();
    let mut log = HistogramLog::new(1, 0, 0);
    let mut histograms = PerDirection::<LatencyHistogram>::default();
    for one in DataDirection::ALL {
        log.observe(1, one, 0, &histograms[one]);
    }
    for line in text.lines().map(numbers) {
        let [time_ms, number, bytes, ref counts @ ..] = line[..] else { panic!("{line:?}") };
        assert_eq!(counts.len(), BUCKETS);
        let histogram = &mut histograms[direction(number)];
        counts.iter().enumerate().for_each(|(bucket, count)| histogram.add_many(bucket, *count));
        log.observe(time_ms, direction(number), bytes, histogram);
    }
    let mut ours = Vec::new();
    log.write(&mut ours).unwrap();
    assert_eq!(String::from_utf8(ours).unwrap(), text);
}
