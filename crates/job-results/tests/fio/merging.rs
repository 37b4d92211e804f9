//! Jobs that are reported as one, compared with the sum that a client of fio makes of the jobs of
//! its servers.
//!
//! The fixture is the output of `fio --output-format=json+ --client=127.0.0.1,9901 job
//! --client=127.0.0.1,9902 job` with two servers, `fio --server=,9901` and
//! `fio --server=,9902`. The job: `rw=randrw size=8m bs=4k-16k time_based runtime=1 thinktime=1ms
//! bwavgtime=200 iopsavgtime=200 group_reporting`.

use job_results::{JsonDetail, Report, Reporting, RunFacts, write_json};
use serde_json::Value;

use crate::cases::CASES;
use crate::reading;

/// What a sum is not made of, and shares of the bandwidth of a group.
const SKIPPED: [&str; 5] = ["jobname", "desc", "hostname", "port", "bw_agg"];

#[test]
fn merged_jobs_are_those_of_fio() {
    let text = include_str!("../fixtures/all-clients.txt");
    let document: Value = serde_json::from_str(&text[text.find("\n{\n").unwrap()..]).unwrap();
    let [one, other, sum] = document["client_stats"].as_array().unwrap().as_slice() else {
        panic!("there are two jobs and their sum");
    };
    let threads = [one, other].map(|document| {
        let mut job = reading::job(&CASES[0], document);
        job.presentation.reporting = Reporting::WithGroup;
        job
    });
    let report = Report::new(RunFacts::default(), &threads);
    let mut text = Vec::new();
    write_json(&report, JsonDetail::Bins, &mut text).unwrap();
    let merged: Value = serde_json::from_slice(&text).unwrap();
    let compared = compare("", sum, &merged["jobs"][0]);
    assert!(compared > 150, "{compared} numbers");
}

/// How many numbers were compared.
fn compare(name: &str, theirs: &Value, ours: &Value) -> usize {
    if SKIPPED.contains(&name) {
        return 0;
    }
    if let Some(members) = theirs.as_object() {
        return members.iter().map(|(name, value)| compare(name, value, &ours[name])).sum();
    }
    let (their, our) = (theirs.as_f64().unwrap(), ours.as_f64());
    let our = our.unwrap_or_else(|| panic!("{name}: {ours} instead of {theirs}"));
    assert!((their - our).abs() <= 1e-9 * their.abs() + 2e-6, "{name}: {ours}, fio {theirs}");
    1
}
