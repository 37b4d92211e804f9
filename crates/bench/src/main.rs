//! `make bench`: the cost of the harness itself, as ratios to bare loops and fio.
//!
//! Every pair is interleaved, round by round, in one process or by one script, so that drift of the
//! machine affects both sides; the table gives the median with its exact 95 % interval. The first
//! argument, if any, is a directory on a tmpfs to work in. Instead of a directory, the words `same`
//! and `throttled` (each optionally followed by a budget and a number of runs), `budget` and
//! `order` run the experiments of `docs/honesty.md`, `change` with a directory of runs measures how
//! many runs see a change, and `twelve`, `warm`, `statistics`, `io-paths`, `io_uring`,
//! `footprints`, `jobs`, `papers`, `densefs`, `exec` and `bonnie` measure only those rows; `exec`
//! may be followed by `calls`, `lines`, `start`, `whole`, or the number of files in the tree that
//! whole programs work on. If a program that fsprism is compared with is missing, nothing is
//! measured, and the exit status is 2.

mod beside;
mod bonnie;
mod budget;
mod change;
mod densefs;
mod engine;
mod fio;
mod footprints;
mod harness_cost;
mod honesty;
mod io_paths;
mod jobs;
mod new_process;
mod order;
mod papers;
mod processes;
mod statistics;
mod table;
mod twelve;
mod uring;
mod warm;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use table::Table;

fn main() -> anyhow::Result<()> {
    let word = std::env::args_os().nth(1);
    let known = word.as_ref().and_then(|word| word.to_str());
    if let Some(missing) = peers_of(known).iter().find(|program| !is_installed(program)) {
        eprintln!(
            "{missing} is not installed, so fsprism cannot be compared with it: install the \
             package {missing}"
        );
        std::process::exit(2);
    }
    if let Some(measure) = known.and_then(part) {
        let place = std::env::args_os().nth(2).context("a directory is needed")?;
        return measure(place.as_ref());
    }
    match known {
        Some(name @ ("same" | "throttled")) => return honesty::measure(name),
        Some("change") => {
            let runs = std::env::args_os().nth(2).context("a directory of runs is needed")?;
            return change::measure(runs.as_ref());
        }
        Some("order") => return order::measure(),
        Some("budget") => {
            let seeds = std::env::args().nth(2).map(|seeds| seeds.parse()).transpose();
            return budget::measure(seeds.context("the number of seeds is not a number")?);
        }
        Some("statistics") => return alone(&std::env::temp_dir(), statistics::measure),
        Some("twelve") => return alone(&std::env::temp_dir(), |table, _| twelve::measure(table)),
        Some("warm") => return alone(&std::env::temp_dir(), |table, _| warm::measure(table)),
        Some("io-paths") => return alone("/dev/shm".as_ref(), io_paths::measure),
        Some("io_uring") => return alone("/dev/shm".as_ref(), uring::measure),
        Some("bonnie") => return alone("/dev/shm".as_ref(), bonnie::measure),
        Some("jobs") => return alone("/var/tmp".as_ref(), jobs::measure),
        Some("papers") => return alone(&std::env::temp_dir(), papers::measure),
        Some("footprints") => return alone(&std::env::temp_dir(), footprints::measure),
        Some("densefs") => return alone("/dev/shm".as_ref(), densefs::measure),
        Some("exec") => {
            let what = std::env::args().nth(2);
            return alone("/dev/shm".as_ref(), |table, work| match what {
                Some(what) => densefs::programs::measure_some(table, work, &what),
                None => densefs::programs::measure(table, work),
            });
        }
        _ => {}
    }
    let parent = word.map_or_else(|| "/dev/shm".into(), PathBuf::from);
    let work = tempfile::Builder::new()
        .prefix("fsprism-bench-")
        .tempdir_in(&parent)
        .with_context(|| format!("cannot work in {}", parent.display()))?;
    let mut table = Table::default();
    engine::measure(&mut table, work.path())?;
    fio::measure(&mut table, work.path())?;
    twelve::measure(&mut table)?;
    warm::measure(&mut table)?;
    io_paths::measure(&mut table, work.path())?;
    uring::measure(&mut table, work.path())?;
    statistics::measure(&mut table, work.path())?;
    footprints::measure(&mut table, work.path())?;
    papers::measure(&mut table, work.path())?;
    densefs::measure(&mut table, work.path())?;
    densefs::programs::measure(&mut table, work.path())?;
    bonnie::measure(&mut table, work.path())?;
    processes::measure(&mut table)?;
    let on_disk = tempfile::tempdir_in("/var/tmp")?;
    jobs::measure(&mut table, on_disk.path())?;
    println!("{table}");
    Ok(())
}

/// What a process of its own does, which this program starts with such a word.
fn part(word: &str) -> Option<fn(&Path) -> anyhow::Result<()>> {
    match word {
        uring::ONE_PROCESS => Some(uring::one_process),
        bonnie::ONE_PROCESS => Some(bonnie::one_process),
        twelve::ONE_PROCESS => Some(twelve::one_process),
        warm::ONE_PROCESS => Some(warm::one_process),
        engine::ONE_PROCESS => Some(engine::one_process),
        _ => None,
    }
}

/// The programs that the rows of an argument are compared with; a directory, or no argument, asks
/// for all rows.
fn peers_of(word: Option<&str>) -> &'static [&'static str] {
    match word {
        Some("twelve" | "warm" | "io-paths" | "io_uring" | "jobs") => &["fio"],
        Some("bonnie") => &["bonnie++"],
        Some(
            "same"
            | "throttled"
            | "order"
            | "budget"
            | "change"
            | "statistics"
            | "footprints"
            | "densefs"
            | "exec"
            | "papers"
            | bonnie::ONE_PROCESS
            | engine::ONE_PROCESS
            | twelve::ONE_PROCESS
            | warm::ONE_PROCESS
            | uring::ONE_PROCESS,
        ) => &[],
        _ => &["fio", "bonnie++"],
    }
}

fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("-h").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// Measures some of the rows in a separate directory, and prints just these.
fn alone(
    parent: &Path,
    measure: impl FnOnce(&mut Table, &Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let work = tempfile::tempdir_in(parent)?;
    let mut table = Table::default();
    measure(&mut table, work.path())?;
    println!("{table}");
    Ok(())
}
