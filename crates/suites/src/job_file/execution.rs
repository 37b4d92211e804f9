//! The execution of a job file on a target, and what it found.

use std::collections::BTreeMap;
use std::time::Duration;

use job_offsets::Repeats;
use job_results::{JobResult, Report, Reporting, RunFacts};
use jobs::plan::JobPlan;
use jobs::{JobInstance, PageCounts, SessionResult, Watch, instances, run};
use record::CacheEvidence;
use runner::Failure;

use super::{JobFile, figures};
use crate::counters::{CounterDeltas, Counters, Reading};
use crate::experiment::Site;
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::sequence::{Sequence, SequencePhase};

impl Sequence for JobFile {
    fn name(&self) -> &str {
        super::SUITE
    }

    fn phases(&self) -> Vec<SequencePhase> {
        self.phases_of()
    }

    fn estimate(&self) -> Duration {
        self.time()
    }

    fn check(&self, _live: &LiveTarget) -> Result<(), String> {
        Ok(())
    }

    fn execute(&self, site: &Site<'_>, seed: u64) -> Result<Vec<Findings>, Failure> {
        // Earlier writes must not be written back meanwhile.
        site.live.target.sync().map_err(|error| failed(&error))?;
        let directory = site.directory.to_string_lossy().into_owned();
        let plans: Vec<JobPlan> =
            self.plans.iter().map(|plan| placed(plan, &directory, seed)).collect();
        let jobs = instances(&plans).map_err(|error| failed(&error))?;
        let counters = site.counters()?;
        let mut watcher = Counting { counters, of_jobs: BTreeMap::new(), failure: None };
        let done = run(&jobs, *site.clock, &mut watcher, site.stop);
        site.go_on()?;
        if let Some(failure) = watcher.failure {
            return Err(failure);
        }
        let of_plan = |plan: &JobPlan| {
            let own: Vec<&JobInstance<'_>> =
                jobs.iter().filter(|job| std::ptr::eq(job.plan, plan)).collect();
            findings(plan, &own, &done, &watcher.of_jobs)
        };
        plans.iter().map(of_plan).collect()
    }
}

/// A plan in a directory. Unless its author has decided otherwise, its random choices are those of
/// this block.
fn placed(plan: &JobPlan, directory: &str, seed: u64) -> JobPlan {
    let mut plan = plan.clone();
    plan.files.directories = vec![directory.to_owned()];
    let decides = ["randseed", "randrepeat", "allrandrepeat"];
    let all = plan.global_options.iter().chain(&plan.options);
    if !all.into_iter().any(|(name, _)| decides.contains(&name.as_str())) {
        plan.offsets.seed = Some(seed);
        plan.offsets.repeats = Repeats::Nothing;
    }
    plan
}

/// What the jobs of a plan found, together.
fn findings(
    plan: &JobPlan,
    own: &[&JobInstance<'_>],
    done: &SessionResult,
    counted: &BTreeMap<u32, (Reading, Reading)>,
) -> Result<Findings, Failure> {
    let lost = |why: String| Failure::Cell { why: format!("job {}: {why}", plan.name) };
    let result_of = |job: &&JobInstance<'_>| together(&done.jobs[job.thread_number as usize - 1]);
    let results: Vec<JobResult> = own.iter().map(result_of).collect();
    if let Some(error) = results.iter().find_map(|result| result.error.as_ref()) {
        return Err(lost(error.text.clone()));
    }
    let report = Report::new(RunFacts::default(), &results);
    let result = report.jobs.first().ok_or_else(|| lost("it has no result".to_owned()))?;
    let mut pages = PageCounts::default();
    own.iter().for_each(|job| pages.add(job.control.pages()));
    // From the first worker's beginning to the last one's end.
    let mut readings = own.iter().filter_map(|job| counted.get(&job.thread_number));
    let first = readings.clone().next().map(|(begin, _)| begin);
    let last = readings.next_back().map(|(_, end)| end);
    let deltas: CounterDeltas =
        first.zip(last).map(|(begin, end)| end.since(begin)).unwrap_or_default();
    let longest = result.directions.iter().map(|one| one.runtime_ms).max().unwrap_or(0);
    Ok(Findings {
        metrics: figures::values(plan, result),
        bytes: result.bytes(),
        elapsed_ns: longest.max(1) * NS_PER_MS,
        operations: Some(result.ios()),
        steal_ns: Some(deltas.steal_ns),
        evidence: CacheEvidence {
            pages: pages.counts_after.or(pages.counts_before).map(|counts| counts.all),
            resident_before: pages.counts_before.map(|counts| counts.resident),
            resident_after: pages.counts_after.map(|counts| counts.resident),
            dirty_before: pages.counts_before.map(|counts| counts.dirty),
            device_read_bytes: deltas.device_read_bytes,
            device_reads: deltas.device_reads,
            caller_read_bytes: deltas.caller_read_bytes,
            device_written_bytes: deltas.device_written_bytes,
            ..CacheEvidence::default()
        },
        ..Findings::default()
    })
}

const NS_PER_MS: u64 = 1_000_000;

/// A result that is reported together with those of the other workers.
fn together(result: &JobResult) -> JobResult {
    let mut result = result.clone();
    result.group = 0;
    result.presentation.reporting = Reporting::WithGroup;
    result
}

/// Reads counters when jobs begin and when they have ended. Progress is that of the run.
struct Counting<'a> {
    counters: &'a Counters,
    of_jobs: BTreeMap<u32, (Reading, Reading)>,
    failure: Option<Failure>,
}

impl Counting<'_> {
    fn read(&mut self) -> Option<Reading> {
        match self.counters.read() {
            Ok(reading) => Some(reading),
            Err(error) => {
                self.failure = Some(failed(&error));
                None
            }
        }
    }
}

impl Watch for Counting<'_> {
    fn lays_out(&mut self, _job: &str, _files: usize, _bytes: u64) {}

    fn starts(&mut self, _jobs: &[JobInstance<'_>]) {}

    fn begins(&mut self, job: &JobInstance<'_>) {
        if let Some(reading) = self.read() {
            self.of_jobs.insert(job.thread_number, (reading, reading));
        }
    }

    fn ended(&mut self, job: &JobInstance<'_>) {
        if let Some(reading) = self.read()
            && let Some((_, end)) = self.of_jobs.get_mut(&job.thread_number)
        {
            *end = reading;
        }
    }

    fn looks(&mut self, _jobs: &[JobInstance<'_>], _so_far: &dyn Fn() -> SessionResult) {}

    fn complains(&mut self, _text: &str) {}
}
