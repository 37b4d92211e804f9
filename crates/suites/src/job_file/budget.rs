//! Jobs that last as long as their author wants, within a budget.

use std::time::Duration;

use jobs::plan::JobPlan;
use record::{JobFileOptions, RecordedJob, RecordedSetting};

use super::error::JobFileRefusal;
use super::{JobFile, options};

/// How many blocks intervals need.
const BLOCKS: u32 = 6;
/// What a block takes besides its jobs, for each target.
const BETWEEN: Duration = Duration::from_secs(1);
/// One part in so many of a budget is left for what takes longer than expected.
const RESERVE: u32 = 8;

/// The jobs with runtimes that let blocks enough for intervals fit into a budget, on so many
/// targets, and what to say about that; `None` if they fit, or last as long as somebody has just
/// asked for.
///
/// # Errors
/// If the jobs cannot be done.
pub fn bounded(
    options: &JobFileOptions,
    budget: Duration,
    targets: usize,
) -> Result<Option<(JobFileOptions, String)>, JobFileRefusal> {
    let plans = options::plans(options)?;
    let blocks = BLOCKS.saturating_mul(u32::try_from(targets).unwrap_or(u32::MAX));
    let own_s: Vec<u64> = plans.iter().map(runtime_s).collect();
    let longest = own_s.iter().copied().max().unwrap_or(0);
    let is_asked_for = options.jobs.iter().any(is_from_command_line);
    let mut without = plans.clone();
    without.iter_mut().for_each(|plan| plan.schedule.runtime_us = plan.schedule.runtime_us.min(1));
    let fixed = ((JobFile { plans: without }).time() + BETWEEN).saturating_mul(blocks);
    let needed = ((JobFile { plans }).time() + BETWEEN).saturating_mul(blocks);
    let planned = budget.saturating_sub(budget / RESERVE);
    if longest <= 1 || is_asked_for || needed <= planned {
        return Ok(None);
    }
    let running = needed.saturating_sub(fixed).as_millis().max(1);
    let runs = planned.saturating_sub(fixed).as_millis();
    let shorter = |seconds: u64| {
        let shorter = u128::from(seconds) * runs / running;
        u64::try_from(shorter).unwrap_or(seconds).max(1)
    };
    let mut bounded = options.clone();
    for (job, seconds) in bounded.jobs.iter_mut().zip(own_s).filter(|(_, seconds)| *seconds > 1) {
        job.settings.push(RecordedSetting {
            name: "runtime".to_owned(),
            value: Some(shorter(seconds).to_string()),
            line: None,
        });
    }
    let told = format!(
        "jobs last {} s at most, not {longest} s, so that {BLOCKS} blocks fit into --budget {}s; \
         for what the file says: --budget {}m",
        shorter(longest),
        budget.as_secs(),
        (needed + needed / (RESERVE - 1)).as_secs() / 60 + 1
    );
    Ok(Some((bounded, told)))
}

fn runtime_s(plan: &JobPlan) -> u64 {
    plan.schedule.runtime_us / 1_000_000
}

/// Whether `--runtime` says how long a job lasts.
fn is_from_command_line(job: &RecordedJob) -> bool {
    let is = |setting: &RecordedSetting, name| setting.name == name && setting.line.is_none();
    match &job.settings[..] {
        [.., runtime, time_based] => is(runtime, "runtime") && is(time_based, "time_based"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn options(text: &str) -> JobFileOptions {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("job.fio");
        std::fs::write(&path, text).expect("a file");
        super::super::read(Path::new(&path), &[]).expect("a job file")
    }

    fn runtimes(options: &JobFileOptions) -> Vec<u64> {
        options::plans(options).expect("plans").iter().map(runtime_s).collect()
    }

    #[test]
    fn long_jobs_are_shortened_alike() {
        let jobs =
            options("[global]\nsize=1m\ntime_based\n[a]\nruntime=60\n[b]\nstonewall\nruntime=30\n");
        let (shorter, told) =
            bounded(&jobs, Duration::from_secs(120), 2).expect("plans").expect("too long");
        assert_eq!(runtimes(&shorter), [5, 2]);
        assert!(
            told.contains("last 5 s at most, not 60 s") && told.contains("--budget 21m"),
            "{told}"
        );
        assert!(bounded(&jobs, Duration::from_secs(21 * 60), 2).expect("plans").is_none());
        let brief = options("[a]\nsize=1m\nruntime=1\n");
        assert!(bounded(&brief, Duration::from_secs(1), 2).expect("plans").is_none());
    }
}
