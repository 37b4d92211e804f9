//! Logs held to a fio that is installed.
//!
//! ```sh
//! REPLAYS=500 SEED=1 cargo test -p fsprism-job-iologs --test fio -- --ignored --nocapture
//! ```

use std::process::Command;
use std::{env, fs};

use super::jobs::JOBS;
use super::recorded;
use super::replays::{Case, Random};
use super::rewriting::rewrite;

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
#[ignore = "needs fio 3.33"]
fn jobs_are_logged() {
    for (name, options) in JOBS {
        let directory = tempfile::tempdir().expect("a directory");
        let status = Command::new("fio")
            .current_dir(directory.path())
            .args([&format!("--name={name}"), "--write_iolog=log", "--output=output"])
            .args(options.split(' ').map(|option| format!("--{option}")))
            .status()
            .expect("fio must be installed");
        assert!(status.success(), "{name}");
        let log = fs::read(directory.path().join("log")).expect(name);
        let rewritten = rewrite(&log);
        assert_eq!(String::from_utf8_lossy(&rewritten), String::from_utf8_lossy(&log), "{name}");
        if env::var_os("RECORD").is_some() {
            fs::write(recorded::path(name), log).expect(name);
        }
    }
}

#[test]
#[ignore = "needs fio 3.33"]
fn random_logs_are_replayed_alike() {
    let mut random = Random(number("SEED", 1));
    let mut steps = 0;
    let count = number("REPLAYS", 100);
    for _ in 0..count {
        let case = Case::new(&mut random);
        let ours = case.steps();
        assert_eq!(ours, case.steps_of_fio(), "{:?}\n{}", case.options, case.log);
        steps += ours.len();
    }
    println!("{count} replays, {steps} steps");
}
