//! Results of several threads become one: `group_reporting`, and directions that are reported as
//! one: `unified_rw_reporting`.

use crate::direction::DataDirection;
use crate::job::{DirectionResult, JobResult, Latencies, PriorityLatencies};
use crate::presentation::{Reporting, Unified};

/// The results that are reported, of these threads in order.
pub(crate) fn reported_jobs(threads: &[JobResult]) -> Vec<JobResult> {
    let mut sets: Vec<Vec<&JobResult>> = Vec::new();
    for thread in threads {
        let joins = |last: &&mut Vec<&JobResult>| last.iter().all(|one| one.group == thread.group);
        match thread.presentation.reporting {
            Reporting::Omitted => {}
            Reporting::Alone => sets.push(vec![thread]),
            Reporting::WithGroup => match sets.last_mut().filter(joins) {
                Some(last) => last.push(thread),
                None => sets.push(vec![thread]),
            },
        }
    }
    sets.iter().map(|set| merged(set)).collect()
}

/// Threads as one job. What cannot be added is that of the first or of the last, as in fio.
fn merged(threads: &[&JobResult]) -> JobResult {
    let Some(first) = threads.first() else { return JobResult::default() };
    let mut job = JobResult {
        name: first.name.clone(),
        description: first.description.clone(),
        group: first.group,
        pid: first.pid,
        presentation: first.presentation.clone(),
        priority: first.priority,
        ..JobResult::default()
    };
    let has_priorities = threads.iter().any(|thread| {
        thread.priority != first.priority
            || thread.directions.iter().any(|direction| !direction.priorities.is_empty())
    });
    let unified = first.presentation.unified;
    for thread in threads {
        job.take_facts_of(thread);
        job.add_counts_of(thread);
        let priorities = if has_priorities { Priorities::Apart } else { Priorities::Together };
        job.add_directions_of(thread, unified, priorities);
    }
    job
}

/// Whether latencies of different priorities are told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Priorities {
    Apart,
    Together,
}

impl JobResult {
    /// All directions as one, which is in the place of reads.
    pub(crate) fn with_directions_mixed(&self) -> Self {
        let mut mixed = Self { presentation: self.presentation.clone(), ..Self::default() };
        mixed.presentation.unified = Unified::Mixed;
        mixed.add_counts_of(self);
        mixed.add_directions_of(self, Unified::Mixed, Priorities::Apart);
        mixed
    }

    /// Takes over what cannot be added.
    fn take_facts_of(&mut self, thread: &Self) {
        self.presentation.percentiles.clone_from(&thread.presentation.percentiles);
        self.options.clone_from(&thread.options);
        self.errors.are_shown = thread.errors.are_shown;
        self.errors.first = thread.errors.first;
        self.errors.total += thread.errors.total;
        if self.error.is_none() {
            self.error.clone_from(&thread.error);
        }
        self.latency_goal = thread.latency_goal;
        self.blocks.clone_from(&thread.blocks);
        if self.steady_state.is_none() {
            // Jobs that are reported together are judged together: the first has the state.
            self.steady_state.clone_from(&thread.steady_state);
        }
        self.jobs += thread.jobs.max(1);
    }

    /// Adds what is counted over all directions.
    fn add_counts_of(&mut self, thread: &Self) {
        self.sync.ios += thread.sync.ios;
        self.sync.latencies.merge(&thread.sync.latencies);
        self.depths.merge(&thread.depths);
        self.submitted.merge(&thread.submitted);
        self.completed.merge(&thread.completed);
        self.latency_bins.merge(&thread.latency_bins);
        self.processor.user_ms += thread.processor.user_ms;
        self.processor.system_ms += thread.processor.system_ms;
        self.processor.context_switches += thread.processor.context_switches;
        self.processor.major_faults += thread.processor.major_faults;
        self.processor.minor_faults += thread.processor.minor_faults;
        self.runtime_ms += thread.runtime_ms;
        self.zone_resets += thread.zone_resets;
    }

    /// Adds what was done in each direction, to the same direction or all to reads.
    fn add_directions_of(&mut self, thread: &Self, unified: Unified, priorities: Priorities) {
        for (direction, done) in thread.directions.each() {
            let to = match unified {
                Unified::None | Unified::Both => direction,
                Unified::Mixed => DataDirection::Read,
            };
            self.directions[to].add(done);
            if priorities == Priorities::Apart {
                self.directions[to].add_priorities(thread, done);
            }
        }
    }
}

impl DirectionResult {
    fn add(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.ios += other.ios;
        self.short_ios += other.short_ios;
        self.dropped_ios += other.dropped_ios;
        self.runtime_ms = self.runtime_ms.max(other.runtime_ms);
        self.submission.merge(&other.submission);
        self.completion.merge(&other.completion);
        self.total.merge(&other.total);
        self.bandwidth.merge(&other.bandwidth);
        self.iops.merge(&other.iops);
    }

    /// Adds latencies by priority. A thread that does not tell them apart has only its own.
    fn add_priorities(&mut self, thread: &JobResult, done: &Self) {
        if done.priorities.is_empty() {
            let is_total = thread.presentation.percentiles.total;
            self.add_priority(
                thread.priority,
                if is_total { &done.total } else { &done.completion },
            );
        }
        for one in &done.priorities {
            self.add_priority(one.priority, &one.latencies);
        }
    }

    fn add_priority(&mut self, priority: u16, latencies: &Latencies) {
        if latencies.statistics.moments.samples == 0 {
            return;
        }
        match self.priorities.iter_mut().find(|one| one.priority == priority) {
            Some(one) => one.latencies.merge(latencies),
            None => {
                self.priorities.push(PriorityLatencies { priority, latencies: latencies.clone() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(reporting: Reporting, group: u32, latency_ns: u64) -> JobResult {
        let mut job = JobResult { group, runtime_ms: 5, ..JobResult::default() };
        job.presentation.reporting = reporting;
        let read = &mut job.directions[DataDirection::Read];
        read.ios = 1;
        read.runtime_ms = latency_ns;
        read.completion.add(latency_ns);
        read.bandwidth.add(100);
        job.directions[DataDirection::Write].ios = 2;
        job
    }

    #[test]
    fn groups_are_reported_as_their_jobs_want() {
        let threads = [
            thread(Reporting::WithGroup, 0, 10),
            thread(Reporting::WithGroup, 0, 20),
            thread(Reporting::Omitted, 0, 20),
            thread(Reporting::Alone, 0, 30),
            thread(Reporting::WithGroup, 1, 40),
        ];
        let jobs = reported_jobs(&threads);
        assert_eq!(jobs.iter().map(|job| job.jobs).collect::<Vec<_>>(), [2, 1, 1]);
        let read = &jobs[0].directions[DataDirection::Read];
        assert_eq!((read.ios, read.runtime_ms, jobs[0].runtime_ms), (2, 20, 10));
        assert_eq!(read.completion.statistics.moments.mean, 15.0);
        assert_eq!(read.bandwidth.moments.mean, 200.0);
        assert_eq!(read.completion.histogram.total(), 2);
    }

    #[test]
    fn mixed_directions_are_in_the_place_of_reads() {
        let mut one = thread(Reporting::Alone, 0, 10);
        assert_eq!(one.with_directions_mixed().directions[DataDirection::Read].ios, 3);
        one.presentation.unified = Unified::Mixed;
        let jobs = reported_jobs(&[one]);
        assert_eq!(jobs[0].directions[DataDirection::Read].ios, 3);
        assert_eq!(jobs[0].directions[DataDirection::Write], DirectionResult::default());
    }

    #[test]
    fn priorities_are_told_apart_if_threads_differ() {
        let mut threads =
            [thread(Reporting::WithGroup, 0, 10), thread(Reporting::WithGroup, 0, 20)];
        assert_eq!(reported_jobs(&threads)[0].directions[DataDirection::Read].priorities, []);
        threads[1].priority = 0x2004;
        let jobs = reported_jobs(&threads);
        let priorities = &jobs[0].directions[DataDirection::Read].priorities;
        assert_eq!(priorities.iter().map(|one| one.priority).collect::<Vec<_>>(), [0, 0x2004]);
    }
}
