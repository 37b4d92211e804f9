//! Job files of fio: on targets, with intervals, and as fio does them.

use std::fs;

use serde_json::Value;

use crate::cells::{cells, median};
use crate::place::Place;

const JOBS: &str = "\
[global]
size=2m
bs=4k

[reads]
rw=randread

[mix]
stonewall
rw=randrw
rwmixread=70
numjobs=2
";

#[test]
fn each_job_is_measured_on_each_target_in_the_state_that_it_makes() {
    let Some(place) = Place::as_root("each_job_is_measured_on_each_target_in_the_state_it_makes")
    else {
        return;
    };
    fs::write(place.path("jobs.fio"), JOBS).expect("the place is ours");
    let run = "run jobs.fio ext4:size=64m tmpfs --blocks 2 --on-busy measure --format json \
               --out run";
    let document = place.run(run).assert_code(0).document();
    let options = &document["run"]["classic"];
    assert_eq!(options["benchmark"], "job-file");
    let lines: Vec<_> = JOBS.lines().map(Value::from).collect();
    assert_eq!(options["lines"], Value::from(lines));
    let all = cells(&document);
    assert_eq!(all.len(), 4);
    for cell in all {
        let is_mixed = cell["benchmark"] == "mix";
        let names: &[&str] = match is_mixed {
            true => &["read_throughput", "write_throughput", "read_latency_p99"],
            false => &["throughput", "bandwidth", "latency", "latency_p50"],
        };
        for name in names {
            assert!(median(cell, name) > 0.0, "{name}: {cell}");
        }
    }
    let journal = fs::read_to_string(place.path("run/cells.jsonl")).expect("a journal");
    let reads_of_ext4 = journal.lines().filter_map(|line| {
        let entry: Value = serde_json::from_str(line).ok()?;
        let evidence = entry.get("evidence")?.clone();
        (evidence["pages"] == 512).then_some(evidence)
    });
    // Dropped when the file is opened: what tmpfs keeps, a device has to give back.
    let dropped = reads_of_ext4.filter(|evidence| evidence["resident_before"] == 0).count();
    assert!(dropped >= 2, "{dropped} replicates began with nothing in memory");
}

#[test]
fn a_log_is_replayed_on_each_target() {
    let Some(place) = Place::as_root("a_log_is_replayed_on_each_target") else { return };
    let log = "fio version 3 iolog\n0 /data/a add\n0 new add\n1 /data/a open\n1 new open\n\
               2 /data/a read 8192 4096\n3 new write 0 4096\n30000 new read 0 4096\n";
    fs::write(place.path("app.log"), log).expect("the place is ours");
    let job = "[app]\nread_iolog=app.log\nioengine=libaio\niodepth=4\n";
    fs::write(place.path("job.fio"), job).expect("the place is ours");
    let run = "run job.fio ext4:size=64m tmpfs --blocks 2 --on-busy measure --format json \
               --out run";
    let document = place.run(run).assert_code(0).document();
    let all = cells(&document);
    assert_eq!(all.len(), 2);
    for cell in all {
        assert!(median(cell, "read_latency_p99") > 0.0, "{cell}");
        assert!(median(cell, "write_latency_p99") > 0.0, "{cell}");
    }
    fs::remove_file(place.path("app.log")).expect("it was there");
    place.finish(place.fsprism("report --terminal run")).assert_code(0);
    place.run("run job.fio tmpfs").assert_refused(&["app.log", "cannot be read"]);
}

#[test]
fn without_targets_jobs_run_where_their_file_says() {
    let place = Place::new();
    place.make("data");
    let targets = |text: &str| {
        fs::write(place.path("job.fio"), text).expect("the place is ours");
        let run = "run job.fio --blocks 1 --on-busy measure --format json";
        let document = place.run(run).assert_code(0).document();
        let all = document["targets"].as_array().expect("targets").clone();
        all.iter().map(|one| one["label"].as_str().expect("a label").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(targets("[global]\ndirectory=data\nsize=64k\n[a]\n[b]\n"), ["data"]);
    assert_eq!(targets("[a]\nfilename=data/x\nsize=64k\n"), ["data"]);
    let own = place.path("").file_name().expect("a name").to_string_lossy().into_owned();
    assert_eq!(targets("[a]\nsize=64k\n"), [own]);
    let several = "[a]\ndirectory=data\nsize=64k\n[b]\nsize=64k\n";
    fs::write(place.path("job.fio"), several).expect("the place is ours");
    place.run("run job.fio").assert_refused(&["several directories", "data", "TARGET"]);
}

#[test]
fn what_cannot_run_on_targets_is_refused_before_anything_is_made() {
    let place = Place::new();
    let refused = |text: &str, words: &[&str]| {
        fs::write(place.path("job.fio"), text).expect("the place is ours");
        place.run("run job.fio .").assert_refused(words);
    };
    refused("[a]\nrw=read\n", &["job a", "no size", "give size="]);
    refused("[a]\nfilename=/dev/sda\nsize=1m\n", &["/dev/sda", "`fsprism fio`"]);
    refused("[a]\nsize=1m\nexec_prerun=true\n", &["job.fio, line 3", "exec_prerun", "instead"]);
    refused("[a]\nsize=1m\nioengine=rdma\n", &["ioengine=rdma", "not supported"]);
    refused("[a]\nsize=1m\nblocksise=4k\n", &["line 3", "blocksize"]);
    place.run("run nothing.fio .").assert_refused(&["nothing.fio"]);
    place.run("run fio . --section a").assert_refused(&["--job-file"]);
}

#[test]
fn jobs_are_shortened_to_what_a_budget_allows() {
    let place = Place::new();
    let text = "[a]\nsize=64k\nrw=randread\ntime_based\nruntime=60\n";
    fs::write(place.path("job.fio"), text).expect("the place is ours");
    // Blocks that are asked for are as long as the file says.
    let shortened = |options: &str| {
        let mut command = place.fsprism(&format!("run job.fio . --dry-run {options}"));
        // What is planned may lie beside temporary files.
        command.env("TMPDIR", place.path(""));
        let outcome = place.finish(command);
        outcome.assert_code(0).stderr.contains("jobs last 1 s at most, not 60 s")
    };
    assert!(shortened("--budget 20s"));
    assert!(!shortened("--blocks 1"));
}

#[test]
fn fio_jobs_end_as_fio_ends_them() {
    let place = Place::new();
    let job = format!("fio --name=a --size=64k --directory={}", place.path("").display());
    let run = |arguments: &str| place.finish(place.fsprism(arguments));
    let outcome = run(&format!("{job} --rw=write --output-format=json"));
    outcome.assert_code(0);
    let document: Value = serde_json::from_str(&outcome.stdout).expect("nothing but JSON");
    assert_eq!(document["jobs"][0]["write"]["total_ios"], 16);
    assert_eq!(document["fio version"], "fio-3.33");
    // Blocks that were changed are found.
    let verified = format!("{job} --verify=crc32c --verify_state_save=0");
    run(&format!("{verified} --rw=write")).assert_code(0);
    let file = place.path("a.0.0");
    let mut bytes = fs::read(&file).expect("the job made it");
    bytes[20_000] ^= 1;
    fs::write(&file, bytes).expect("the place is ours");
    let outcome = run(&format!("{verified} --rw=read --output-format=json"));
    outcome.assert_code(1);
    let document: Value = serde_json::from_str(&outcome.stdout).expect("nothing but JSON");
    assert_eq!(document["jobs"][0]["error"], 84);
    fs::remove_file(&file).expect("it is there");
    // What is wrong is said in one line, and nothing is made.
    for (options, word) in [
        ("--rw=write --readonly", "--readonly"),
        ("--bs=1m", "smaller than the smallest block"),
        ("--client=host", "--client is not supported"),
        ("--rw=writ", "none of read, write"),
    ] {
        let outcome = run(&format!("{job} {options}"));
        outcome.assert_code(1);
        assert!(outcome.stderr.contains(word), "{options}: {}", outcome.stderr);
        assert!(!file.exists(), "{options}");
    }
}
