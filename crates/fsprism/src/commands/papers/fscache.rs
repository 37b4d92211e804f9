//! Howells, FS-Cache Benchmarks.

use ::report::AnalysedRun;
use ::reproduce::fscache;
use network_guest::Version;
use textual::plain_path;

use super::Paper;
use super::answer::Answer;
use super::paper_run::{in_guests, read};
use crate::arguments::guests::GuestKernel;
use crate::arguments::network::{FscacheOptions, NetworkArguments};
use crate::arguments::reproduce::ReproduceOptions;
use crate::commands::suites::fscache as rig;
use crate::exit::{OrInputError, Outcome};
use crate::output::{self, page};

pub(super) struct FsCache;

impl Paper for FsCache {
    fn name(&self) -> &'static str {
        fscache::NAME
    }

    fn summary(&self) -> &'static str {
        "Howells, FS-Cache Benchmarks: a network file system's cache, measured in guests"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[("fsprism reproduce fscache-benchmarks", "measured in guests in about six minutes")]
    }

    fn items(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn minutes(&self) -> u32 {
        5
    }

    /// Measures a network file system's cache with the paper's version of NFS, or takes an earlier
    /// run.
    fn reproduce(&self, _: Option<&str>, options: &ReproduceOptions) -> anyhow::Result<Answer> {
        let (path, directory, done) = match &options.run {
            Some(path) => (path.clone(), None, Outcome::Success),
            None => {
                let asked = FscacheOptions {
                    benchmarks: Vec::new(),
                    runs: options.blocks,
                    guests: in_guests(options),
                    // At the time, mounts used version 3.
                    network: NetworkArguments {
                        nfs: vec![Version::V3],
                        cache_times: true,
                        ..NetworkArguments::default()
                    },
                    kernel: GuestKernel::default(),
                };
                let made = rig::measure("reproduce", &asked)?;
                let done = made.outcome();
                (made.directory.path().to_owned(), Some(made.directory), done)
            }
        };
        let run = read(&path, directory.as_ref())?;
        if run.manifest.run.suite != network_suite::SUITE {
            let refusal = anyhow::anyhow!(
                "{} is a run of {}: --run needs one made by `fsprism run fscache`",
                path.display(),
                run.manifest.run.suite
            );
            return Err(refusal).or_input_error();
        }
        let name = plain_path(&path);
        let reproduction = fscache::Reproduction::from_run(&run, &name);
        Ok(Answer::measured(reproduction, move || {
            if let Some(directory) = &directory {
                page::write_into(directory, &AnalysedRun::new(&run, &path));
            }
            output::say(&name);
            done
        }))
    }
}
