//! `fsprism run fscache --at`: a network file system that is mounted on this machine, in the states
//! that can be reached there.

use std::slice;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use network_suite::{Ended, NetworkBenchmark, OwnMount, RunRecorder, Watch};
use record::{EndReason, RunDirectory};
use suites::Testbed;
use targets::{Location, TargetSpec};

use crate::arguments::making::Making;
use crate::arguments::network::FscacheOptions;
use crate::commands::suites::fscache::{self, FscacheRun};
use crate::exit::{OrInputError, Outcome};
use crate::output;
use crate::session::start;
use crate::session::targets::Choice;

/// Measures on the mount that `at` names, and prints the run.
pub(super) fn run(options: &FscacheOptions, at: &String) -> anyhow::Result<Outcome> {
    let (arguments, how) = (&options.network, &options.guests);
    let spec: TargetSpec = at.parse().or_input_error()?;
    let Location::Directory(path) = &spec.location else {
        let why = anyhow::anyhow!("--at {at} names no directory: name one on an NFS mount");
        return Err(why).or_input_error();
    };
    let mount = OwnMount::find(path, &spec.label).or_input_error()?;
    let run = fscache::run_record("run", options);
    let content = fscache::content(arguments, run.seed);
    let (benchmarks, runs) = (benchmarks(options)?, fscache::runs(options));
    let plan = mount.plan(&arguments.states, benchmarks, runs, content).or_input_error()?;
    plan.check().or_input_error()?;
    if let Some(path) = &how.out {
        RunDirectory::check_new(path).or_input_error()?;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let making = Making { no_wait: how.no_wait, ..Making::default() };
    let (testbed, _) = start::make(Choice::Asked(slice::from_ref(at)), &making, &stop)?;
    let Testbed { live, workshop } = testbed;
    let (_, _, clock) = start::clock();
    let base = runner::manifest(run, making.scratch(), clock);
    let reserved = runner::run_directory(how.out.as_deref(), &base.run).or_input_error()?;
    let mut directory = reserved.begin(&network_suite::manifest(base, &plan))?;
    let mut recorder = RunRecorder::begin(&mut directory, plan)?;
    let root = live.first().map(|one| one.target().root().to_owned()).unwrap_or_default();
    let drop = arguments.drop.as_deref();
    let watch = Watch {
        stop: &stop,
        is_guarded: &|| workshop.is_guarded(),
        was_suspended: &suites::was_stopped,
    };
    let outcome =
        network_suite::conduct_on_mount(&mount, &root, drop, &mut recorder, &watch, &output::say);
    let is_guarded = matches!(outcome, Ok(Ended::Done)) || workshop.is_guarded();
    let closed = Testbed::close(live, workshop);
    recorder.end(match &outcome {
        Ok(Ended::Done) => EndReason::Blocks,
        Ok(Ended::Stopped) | Err(_) => EndReason::Interrupted,
    })?;
    let made = FscacheRun::new(directory, *outcome.as_ref().unwrap_or(&Ended::Stopped))?;
    fscache::print(&made.directory, how.output.format)?;
    start::check_guarded(is_guarded, "measure again")?;
    closed?;
    outcome?;
    Ok(made.outcome())
}

/// The benchmarks that were asked for, none of which may need guests.
fn benchmarks(options: &FscacheOptions) -> anyhow::Result<Vec<NetworkBenchmark>> {
    let benchmarks = fscache::benchmarks(options)?;
    let refused = benchmarks.iter().find_map(|one| Some((one.name(), one.needs_guests()?)));
    match refused {
        Some((name, why)) => {
            let why =
                anyhow::anyhow!("{name} cannot be measured on a mount: {why}; leave out --at");
            Err(why).or_input_error()
        }
        None => Ok(benchmarks),
    }
}
