//! Jobs that last as long as their author wants, within a budget.

use std::time::Duration;

use jobs::plan::JobPlan;
use record::{JobFileOptions, RecordedJob, RecordedSetting};

use super::error::JobFileRefusal;
use super::{JobFile, options};

/// How many blocks intervals need.
const BLOCKS: u32 = 6;

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
    let targets = u32::try_from(targets).unwrap_or(u32::MAX);
    let all = |plans: Vec<JobPlan>| (JobFile { plans }).time().saturating_mul(BLOCKS * targets);
    let longest = plans.iter().map(runtime_s).max().unwrap_or(0);
    let own_s: Vec<u64> = plans.iter().map(runtime_s).collect();
    let needed = all(plans);
    let is_asked_for = options.jobs.iter().any(is_from_command_line);
    if longest <= 1 || is_asked_for || needed <= budget {
        return Ok(None);
    }
    let share = budget.as_secs_f64() / needed.as_secs_f64();
    let shorter = |seconds: u64| ((seconds as f64 * share) as u64).max(1);
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
        needed.as_secs().div_ceil(60).max(1)
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
        assert_eq!(runtimes(&shorter), [6, 3]);
        assert!(
            told.contains("last 6 s at most, not 60 s") && told.contains("--budget 19m"),
            "{told}"
        );
        assert!(bounded(&jobs, Duration::from_secs(1200), 2).expect("plans").is_none());
        let brief = options("[a]\nsize=1m\nruntime=1\n");
        assert!(bounded(&brief, Duration::from_secs(1), 2).expect("plans").is_none());
    }
}
