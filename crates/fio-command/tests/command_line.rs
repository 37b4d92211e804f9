//! The command line of fio: which options belong to which job.

use std::fs;

use fio_command::{Streams, run};

fn said(arguments: &[&str]) -> (u8, String, String) {
    let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = run(&arguments, &mut Streams { out: &mut out, err: &mut err, is_terminal: false });
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (status, text(out), text(err))
}

/// Names of jobs, with how many reads each has done.
fn reads(arguments: &[&str]) -> Vec<(String, u64)> {
    let json = ["--output-format=json", "--eta=never"];
    let (status, out, err) = said(&[arguments, &json].concat());
    assert_eq!(status, 0, "{err}");
    let parsed: serde_json::Value = serde_json::from_str(&out).expect(&out);
    let jobs = parsed["jobs"].as_array().expect("a list");
    let job = |job: &serde_json::Value| {
        let name = job["jobname"].as_str().expect("a name").to_owned();
        (name, job["read"]["total_ios"].as_u64().expect("a number"))
    };
    jobs.iter().map(job).collect()
}

fn named(jobs: &[(&str, u64)]) -> Vec<(String, u64)> {
    jobs.iter().map(|(name, reads)| ((*name).to_owned(), *reads)).collect()
}

#[test]
fn options_before_the_first_name_are_for_all_jobs() {
    let all = ["--ioengine=null", "--bs=8k", "--size=64k"];
    assert_eq!(reads(&[&all[..], &["--name=a"]].concat()), named(&[("a", 8)]));
    let two = ["--name=a", "--name=b", "--size=32k"];
    assert_eq!(reads(&[&all[..], &two].concat()), named(&[("a", 8), ("b", 4)]));
    let later = ["--name=a", "--name=global", "--bs=4k", "--name=b"];
    assert_eq!(reads(&[&all[..], &later].concat()), named(&[("a", 8), ("b", 16)]));
    let (status, _, err) = said(&all);
    assert!(status == 1 && err.contains("no jobs"), "{err}");
}

#[test]
fn options_before_a_file_are_for_its_jobs_alone() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let file = |name: &str| {
        let path = place.path().join(name);
        fs::write(&path, format!("[{name}]\nioengine=null\nsize=64k\n")).expect("a file");
        path.display().to_string()
    };
    let (one, two) = (file("one"), file("two"));
    assert_eq!(reads(&["--bs=8k", &one, &two]), named(&[("one", 8), ("two", 16)]));
}

#[test]
fn the_beginning_of_an_option_is_enough_if_no_other_begins_so() {
    assert_eq!(reads(&["--nam=a", "-ioeng", "null", "-size=4k"]), named(&[("a", 1)]));
    let (status, _, err) = said(&["--name=a", "--size=4k", "--buffer=1"]);
    assert!(status == 1 && err.contains("did you mean"), "{err}");
}
