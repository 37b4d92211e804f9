//! What the file says, compared with the run.

use serde_json::{Value, json};

use super::*;
use crate::sample::{Sample, around};

/// A benchmark that reads 4 KiB at a time, with its bytes.
fn reads(targets: &[&str], times: &[f64]) -> Sample {
    let mut sample = Sample::new(targets).benchmark("read", &vec![times; targets.len()]);
    sample.change("read", |cell| {
        cell.parameters = [
            ("operation", json!("read")),
            ("access", json!("random")),
            ("request_bytes", json!(4096)),
            ("span_bytes", json!(64 << 20)),
            ("threads", json!(2)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
    });
    for line in &mut sample.run.lines {
        if let record::Line::Replicate(one) = line {
            one.bytes = one.operations * 4096;
            one.latency.min_ns = one.latency.p50_ns;
            one.latency.max_ns = one.latency.p50_ns * 2;
        }
    }
    sample
}

fn parameter(sample: &mut Sample, name: &str, value: &Value) {
    sample.change("read", |cell| {
        cell.parameters.insert(name.to_owned(), value.clone());
    });
}

fn exported(sample: &Sample) -> (Value, Export) {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("run");
    let run = sample.write(&path);
    let document = crate::AnalysedRun::new(&run, &path).document;
    let export = render_fio(&document, &run, &Latencies::read(&run, &path));
    (serde_json::from_str(&export.text).unwrap(), export)
}

/// The only job of a file.
fn job(sample: &Sample) -> Value {
    let (file, _) = exported(sample);
    assert_eq!(file["jobs"].as_array().unwrap().len(), 1, "{file}");
    file["jobs"][0].clone()
}

#[test]
fn sums_and_rates_are_those_of_all_replicates() {
    let job = job(&reads(&["a"], &[1000.0, 3000.0]));
    let read = &job["read"];
    assert_eq!((&read["total_ios"], &read["io_bytes"]), (&json!(200), &json!(200 * 4096)));
    // 400 us for 200 operations.
    assert_eq!(read["iops"], 500_000.0);
    assert_eq!(read["bw_bytes"], 500_000_u64 * 4096);
    assert_eq!(read["bw"], 2_000_000);
    let rates = [&read["iops_min"], &read["iops_max"], &read["iops_samples"]];
    assert_eq!(rates, [&json!(333_333), &json!(1_000_000), &json!(2)]);
    assert_eq!(job["write"]["total_ios"], 0);
    assert_eq!(job["trim"]["lat_ns"]["N"], 0);
    assert_eq!(job["read"]["runtime"], 1, "readers divide by it");
}

#[test]
fn a_call_s_latency_is_the_completion_s_and_the_whole() {
    let job = job(&reads(&["a"], &[1000.0, 3000.0]));
    let clat = &job["read"]["clat_ns"];
    assert_eq!(clat, &job["read"]["lat_ns"]);
    assert_eq!((&clat["N"], &clat["mean"]), (&json!(200), &json!(2000.0)));
    assert_eq!((&clat["min"], &clat["max"]), (&json!(1000), &json!(6000)));
    let bins = clat["bins"].as_object().unwrap();
    assert_eq!(bins.values().map(|count| count.as_u64().unwrap()).sum::<u64>(), 200);
    assert_eq!(clat["percentile"]["50.000000"], 2008, "the slowest of the first replicate");
    assert_eq!(job["read"]["slat_ns"]["N"], 0);
}

#[test]
fn options_say_the_workload_in_fio_s_words() {
    let mut sample = reads(&["a"], &[1000.0]);
    let options = job(&sample)["job options"].clone();
    let expected = json!({"name": "a/survey/read", "rw": "randread", "bs": "4k", "iodepth": "1",
        "numjobs": "2", "direct": "0", "ioengine": "psync", "thread": "1", "size": "64m"});
    assert_eq!(options, expected);
    parameter(&mut sample, "operation", &json!("write"));
    parameter(&mut sample, "access", &json!("sequential"));
    parameter(&mut sample, "io_path", &json!("io_uring, direct"));
    parameter(&mut sample, "queue_depth", &json!(8));
    parameter(&mut sample, "workers", &json!("processes"));
    let job = job(&sample);
    let options = &job["job options"];
    let said = ["rw", "iodepth", "direct", "ioengine", "disable_clat"].map(|name| &options[name]);
    assert_eq!(said, ["write", "8", "1", "io_uring", "1"]);
    assert!(options.get("thread").is_none());
    assert_eq!(job["iodepth_level"]["8"], 100.0);
    // With operations in flight, only the total latency was recorded, and none of its parts.
    assert_eq!(
        (&job["write"]["clat_ns"]["N"], &job["write"]["lat_ns"]["N"]),
        (&json!(0), &json!(100))
    );
}

#[test]
fn what_fio_cannot_do_is_left_out_and_counted() {
    for (name, value) in
        [("operation", json!("create")), ("access", json!("strided")), ("threads", json!("many"))]
    {
        let mut sample = reads(&["a", "b"], &[1000.0]);
        parameter(&mut sample, name, &value);
        let (file, export) = exported(&sample);
        assert_eq!(file["jobs"], json!([]), "{name} {value}");
        assert_eq!(export.left_out, [super::super::LeftOut { cells: 2, why: NO_EQUIVALENT }]);
    }
    let mut never = reads(&["a"], &around(100.0, 2));
    never.run.lines.truncate(1);
    assert_eq!(exported(&never).1.left_out[0].why, NOT_MEASURED);
}

#[test]
fn a_write_and_its_fsync_are_the_latency_of_a_sync() {
    let mut sample = reads(&["a"], &[1000.0]);
    parameter(&mut sample, "operation", &json!("append+fsync"));
    sample.change("read", |cell| _ = cell.parameters.remove("access"));
    let job = job(&sample);
    let options = &job["job options"];
    assert_eq!((&options["rw"], &options["fsync"]), (&json!("write"), &json!("1")));
    let (sync, write) = (&job["sync"], &job["write"]);
    assert_eq!((&sync["total_ios"], &sync["lat_ns"]["N"]), (&json!(100), &json!(100)));
    assert!(sync["lat_ns"]["percentile"]["99.000000"].as_u64() > Some(0), "{sync}");
    assert_eq!((&write["total_ios"], &write["lat_ns"]["N"]), (&json!(100), &json!(0)));
}

#[test]
fn operations_timed_in_batches_have_rates_and_no_latencies() {
    let mut sample = reads(&["a"], &[1000.0]);
    if let record::Line::Planned(planned) = &mut sample.run.lines[0] {
        planned.pilots[0].batch = 8;
    }
    let job = job(&sample);
    assert_eq!((&job["read"]["iops"], &job["read"]["lat_ns"]["N"]), (&json!(1e6), &json!(0)));
    assert_eq!(job["job options"]["disable_lat"], "1");
}

#[test]
fn the_head_says_what_made_it_and_hostile_labels_survive() {
    let odd = "a\"b\\c\n</script>";
    let (file, _) = exported(&reads(&[odd], &[1000.0]));
    assert_eq!(file["fio version"], "fio-3.33-fsprism-0.1.0");
    assert_eq!(file["time"], "Fri Nov 20 08:23:05 2026");
    assert_eq!(file["timestamp"], 1_795_162_985);
    assert_eq!(file["jobs"][0]["jobname"], format!("{odd}/survey/read"));
}

#[test]
fn a_job_has_the_keys_that_fio_gives_it_in_fio_s_order() {
    let (_, export) = exported(&reads(&["a"], &[1000.0]));
    let keys = [
        "fio version",
        "timestamp",
        "time",
        "global options",
        "jobs",
        "jobname",
        "groupid",
        "error",
        "eta",
        "elapsed",
        "job options",
        "read",
        "io_bytes",
        "io_kbytes",
        "bw_bytes",
        "bw",
        "iops",
        "runtime",
        "total_ios",
        "slat_ns",
        "clat_ns",
        "percentile",
        "bins",
        "lat_ns",
        "bw_min",
        "bw_agg",
        "iops_stddev",
        "write",
        "trim",
        "sync",
        "job_runtime",
        "usr_cpu",
        "iodepth_level",
        "latency_ns",
        "latency_us",
        "latency_ms",
        "latency_window",
        "desc",
        "disk_util",
    ];
    let mut at = 0;
    for key in keys {
        let quoted = format!("\"{key}\":");
        at += export.text[at..].find(&quoted).unwrap_or_else(|| panic!("no {key} behind {at}"));
    }
}
