//! Several runs of one command.
//!
//! What differs between two runs of the same command need not come from what is compared: each run
//! has its own effects, such as where its files and pages happened to be placed. So each run is a
//! separate process, on newly made targets, after the caches that would survive from the run before
//! were dropped.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use ::report::compare::CompareOptions;
use anyhow::{Context, anyhow};
use record::{GroupDirectory, GroupMember, Line, Run};
use rustix::process::{Pid, Signal, kill_process};

use crate::arguments::analysis::AnswerFormat;
use crate::arguments::measuring::Measuring;
use crate::commands::{compare, plan};
use crate::exit::{INTERRUPTED, OrInputError, Outcome};
use crate::output;
use crate::session::runs::{NAME, in_group, without};
use crate::session::start;

/// How often to check whether a run has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Options that the command line of a single run lacks, or has with its own value.
const NOT_OF_ONE_RUN: [&str; 5] = ["--runs", "--plan-for", "--out", "--format", "--seed"];

/// Measures `count` runs as the command line says, and prints how the targets compare over them.
pub(crate) fn measure(command: &str, count: u32, measuring: &Measuring) -> anyhow::Result<Outcome> {
    let format = measuring.output.format;
    if format.for_answers().is_none() {
        let why = match measuring.plan_for {
            Some(_) => "--plan-for prints a plan, and only as terminal or json",
            None => "--runs prints how targets compare over all runs, and only as terminal or json",
        };
        let then = "choose one of these, then export each run with `fsprism report RUN --format`";
        return Err(anyhow!("{why}: {then}")).or_input_error();
    }
    let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let group = runner::directory_of_runs(measuring.out.as_deref(), &started, command);
    let group = group.or_input_error()?;
    let stop = start::flag_of_signals()?;
    if measuring.plan_for.is_some() {
        let each = match measuring.blocks {
            Some(blocks) => textual::plural(blocks as usize, "block"),
            None => humantime::format_duration(measuring.budget()).to_string(),
        };
        output::say(&format!("pilot: {count} runs of {each}"));
    } else if count < 3 {
        output::say(
            "two runs are enough for one side of `fsprism compare --a ... --b ...`, but comparing \
             the targets of one side takes three",
        );
    }
    let mut has_failures = false;
    for number in 1..=count {
        output::say(&format!("run {number} of {count}"));
        if stop.load(Ordering::Relaxed) {
            return interrupted(group);
        }
        let run = group.add(&format!("{NAME}{number}")).or_input_error()?;
        let seed = measuring.seed.map(|seed| seed.wrapping_add(u64::from(number - 1)));
        let status = measure_one(&run, seed, &stop)?;
        // A run that was refused has left nothing in it.
        run.give_up_if_empty();
        match status.code() {
            Some(0) => {}
            Some(1) if has_ended(run.path()) => has_failures = true,
            Some(code) if code == i32::from(INTERRUPTED) => return interrupted(group),
            // The run itself has said why.
            Some(code) => {
                group.give_up_if_empty();
                return Ok(Outcome::ExitStatus(u8::try_from(code).unwrap_or(1)));
            }
            None if stop.load(Ordering::Relaxed) => return interrupted(group),
            None => return Err(anyhow!("run {number} was killed by a signal ({status})")),
        }
    }
    output::say(&group.path().display().to_string());
    let done = match measuring.plan_for {
        Some(percent) => {
            let paths = in_group(group.path()).unwrap_or_default();
            let format = format.for_answers().unwrap_or(AnswerFormat::Terminal);
            plan::print(&paths, percent, &CompareOptions::default(), format)?
        }
        None => compare::over_runs(group.path(), format)?,
    };
    Ok(if has_failures { Outcome::WithFailures } else { done })
}

/// Ends the command after a signal. What has been measured so far is kept.
fn interrupted(group: GroupDirectory) -> anyhow::Result<Outcome> {
    let path = group.path().to_owned();
    group.give_up_if_empty();
    if path.exists() {
        output::say(&path.display().to_string());
    }
    Ok(Outcome::Interrupted)
}

/// Whether the run in the directory reached its end, even if some of it failed.
fn has_ended(directory: &Path) -> bool {
    let is_end = |line: &Line| matches!(line, Line::End(_));
    Run::read(directory).is_ok_and(|run| run.lines.iter().any(is_end))
}

/// Makes one run, in its own process and process group. That way each signal reaches it exactly
/// once, from here, and a second one ends it immediately.
fn measure_one(
    run: &GroupMember<'_>,
    seed: Option<u64>,
    stop: &AtomicBool,
) -> anyhow::Result<ExitStatus> {
    let directory = run.path().as_os_str();
    let mut held = run.route().or_input_error()?.into_os_string();
    held.push(" ");
    held.push(directory);
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut arguments = arguments_of_one_run(std::env::args_os().skip(1));
    let seed = seed.map(|seed| OsString::from(format!("--seed={seed}")));
    let own = ["--drop-caches".into(), OsString::from("--out"), directory.to_owned()];
    // Right after the command's name: further back, they could come after a `--`.
    arguments.splice(1..1, own.into_iter().chain(seed));
    let mut command = Command::new(program);
    command.args(arguments).env(runner::HELD_FOR_RUN, held).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut run = command.spawn().context("cannot start another process")?;
    let mut was_told = false;
    loop {
        if let Some(status) = run.try_wait().context("cannot wait for the run")? {
            stop.fetch_or(was_told, Ordering::Relaxed);
            return Ok(status);
        }
        if stop.swap(false, Ordering::Relaxed) {
            was_told = true;
            let id = i32::try_from(run.id()).ok().and_then(Pid::from_raw);
            // It may have ended in the meantime.
            let _gone = id.map(|id| kill_process(id, Signal::TERM));
        }
        thread::sleep(LOOK_AGAIN);
    }
}

/// The arguments that all runs have in common.
fn arguments_of_one_run(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    without(arguments, &NOT_OF_ONE_RUN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_run_has_what_is_not_of_all() {
        let of = |text: &str| {
            let kept = arguments_of_one_run(text.split(' ').map(OsString::from));
            kept.join(std::ffi::OsStr::new(" ")).into_string().expect("it is text")
        };
        assert_eq!(
            of("survey ext4:mkfs=--runs --runs 3 --budget 30s --out=x --seed 7 --format=json xfs"),
            "survey ext4:mkfs=--runs --budget 30s xfs"
        );
        assert_eq!(of("survey --runs=3 -- --out --seed"), "survey -- --out --seed");
    }
}
