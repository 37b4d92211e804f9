//! All jobs of a file: which starts when, which ends others, and what they did.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::{Duration, Instant};

use job_results::{DiskUtilization, JobError as ResultError, JobResult};
use measure::{Clock, SystemClock};
use system_calls::on_own_descriptors;

use crate::control::{Bell, Stage};
use crate::disks::Disks;
use crate::files::SetUp;
use crate::instance::JobInstance;
use crate::plan::{EngineChoice, ExitWhat};
use crate::present::presented;
use crate::steadiness::Steadiness;
use crate::worker::{Failure, Start, error_text};

/// Who is told what jobs do.
pub trait Watch {
    /// Files are about to be made for a job: how many, and their bytes.
    fn lays_out(&mut self, job: &str, files: usize, bytes: u64);

    /// All files are there, and jobs start.
    fn starts(&mut self, jobs: &[JobInstance<'_>]);

    /// A job is about to begin: its files are there, unless it makes them itself.
    fn begins(&mut self, job: &JobInstance<'_>);

    /// A job has ended.
    fn ended(&mut self, job: &JobInstance<'_>);

    /// Some time has passed. `so_far` answers what has been done.
    fn looks(&mut self, jobs: &[JobInstance<'_>], so_far: &dyn Fn() -> SessionResult);

    /// Something went wrong that results do not say.
    fn complains(&mut self, text: &str);
}

/// What jobs did.
#[derive(Debug)]
pub struct SessionResult {
    /// Of each, in order.
    pub jobs: Vec<JobResult>,
    /// Of the devices below their files.
    pub disks: Vec<DiskUtilization>,
    /// How long all took, in milliseconds.
    pub elapsed_ms: u64,
    /// How many did not start or failed.
    pub failures: u32,
}

/// How often those who watch are told.
const LOOK: Duration = Duration::from_millis(100);

/// How long a job has to answer what it has done so far: it may wait for its device.
const ANSWER: Duration = Duration::from_millis(500);

/// Executes jobs. `interrupted` ends them as soon as it is set.
pub fn run(
    jobs: &[JobInstance<'_>],
    clock: SystemClock,
    watch: &mut dyn Watch,
    interrupted: &AtomicBool,
) -> SessionResult {
    let slots: Vec<Slot> = jobs.iter().map(|_| Slot::default()).collect();
    for (job, slot) in jobs.iter().zip(&slots) {
        for remark in job.logged.iter().flat_map(|logged| &logged.remarks) {
            watch.complains(remark);
        }
        if interrupted.load(Ordering::Relaxed) {
            job.control.stop();
        }
        set_up(job, slot, clock, watch);
    }
    watch.starts(jobs);
    let (began, began_ticks) = (Instant::now(), clock.ticks());
    let mut disks = Disks::default();
    let bell = Bell::default();
    let session = Session { jobs, slots: &slots, clock, bell: &bell, began, began_ticks };
    let steady = std::thread::scope(|scope| session.execute(scope, &mut disks, watch, interrupted));
    let elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let disks = disks.report();
    let mut results = Vec::with_capacity(jobs.len());
    for (job, slot) in jobs.iter().zip(slots) {
        let result = slot.result.into_inner().expect("no thread is left that could panic");
        let result = presented(job, result.unwrap_or_default());
        results.push(JobResult { steady_state: steady.state(job), ..result });
    }
    let failed = results.iter().filter(|result| result.error.is_some()).count();
    SessionResult {
        jobs: results,
        disks,
        elapsed_ms,
        failures: u32::try_from(failed).unwrap_or(u32::MAX),
    }
}

/// What a job is given before it starts, and what it leaves behind.
#[derive(Default)]
struct Slot {
    set_up: Mutex<Option<SetUp>>,
    result: Mutex<Option<JobResult>>,
    may_go: AtomicBool,
}

impl Slot {
    fn end(&self, job: &JobInstance<'_>, result: JobResult) {
        *self.result.lock().expect("nobody panics while holding it") = Some(result);
        job.control.set_stage(Stage::Ended);
    }
}

/// Makes the files of a job, if they are to be there before any starts.
fn set_up(job: &JobInstance<'_>, slot: &Slot, clock: SystemClock, watch: &mut dyn Watch) {
    if !job.plan.files.create_serialize {
        return;
    }
    let start = start_of(job, clock);
    match start.set_up_files(&mut |files, bytes| watch.lays_out(job.name(), files, bytes)) {
        Ok(set_up) => {
            *slot.set_up.lock().expect("nobody panics while holding it") = Some(set_up);
        }
        Err(failure) => {
            watch.complains(&format!(
                "fio: pid=0, err={}/{}",
                failure.errno.raw_os_error(),
                error_text(&failure)
            ));
            slot.end(job, failed(&failure));
        }
    }
}

fn start_of<'a>(job: &'a JobInstance<'_>, clock: SystemClock) -> Start<'a> {
    Start {
        plan: job.own_plan(),
        name: job.name(),
        control: &job.control,
        clock,
        number: job.number,
        thread_number: job.thread_number,
        logged: job.logged.as_ref(),
        session_began: 0,
        set_up: None,
    }
}

fn failed(failure: &Failure) -> JobResult {
    let error = ResultError { number: failure.errno.raw_os_error(), text: error_text(failure) };
    JobResult { error: Some(error), ..JobResult::default() }
}

struct Session<'a> {
    jobs: &'a [JobInstance<'a>],
    slots: &'a [Slot],
    clock: SystemClock,
    bell: &'a Bell,
    began: Instant,
    began_ticks: u64,
}

impl<'a> Session<'a> {
    /// Starts each job when its time has come, until all have ended.
    fn execute<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        disks: &mut Disks,
        watch: &mut dyn Watch,
        interrupted: &AtomicBool,
    ) -> Steadiness {
        let mut seen = 0;
        let mut ended = vec![false; self.jobs.len()];
        let mut steady = Steadiness::new(self.jobs);
        loop {
            self.start_those_that_may(scope, disks);
            self.release(watch);
            for (job, has_ended) in self.jobs.iter().zip(&mut ended) {
                if !*has_ended && job.control.stage() == Stage::Ended {
                    *has_ended = true;
                    watch.ended(job);
                }
            }
            let have_all_ended = self.jobs.iter().all(|job| job.control.stage() == Stage::Ended);
            let complaints = self.jobs.iter().flat_map(|job| job.control.take_complaints());
            complaints.for_each(|text| watch.complains(&text));
            if have_all_ended {
                return steady;
            }
            if interrupted.load(Ordering::Relaxed) {
                self.jobs.iter().for_each(|job| job.control.stop());
                self.bell.ring();
            }
            steady.look(self.jobs);
            watch.looks(self.jobs, &|| self.so_far(disks));
            seen = self.bell.wait(seen, self.next_look());
        }
    }

    /// What jobs have done so far. Those that do not answer have done nothing that is known.
    fn so_far(&self, disks: &Disks) -> SessionResult {
        for job in self.jobs {
            job.control.ask_for_snapshot();
        }
        let results = self.jobs.iter().zip(self.slots).map(|(job, slot)| {
            let asked = Instant::now();
            while job.control.stage() != Stage::Ended && asked.elapsed() < ANSWER {
                if let Some(result) = job.control.snapshot() {
                    return presented(job, result);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            let ended = slot.result.lock().expect("nobody panics while holding it").clone();
            presented(job, ended.or_else(|| job.control.snapshot()).unwrap_or_default())
        });
        SessionResult {
            jobs: results.collect(),
            disks: disks.report(),
            elapsed_ms: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
            failures: 0,
        }
    }

    /// How long to wait at most: until the next job is due, or those who watch want to look.
    fn next_look(&self) -> Duration {
        let elapsed = self.began.elapsed();
        let waiting = self.jobs.iter().filter(|job| job.control.stage() == Stage::Pending);
        let due = waiting.map(|job| delay(job).saturating_sub(elapsed)).min();
        due.filter(|due| !due.is_zero()).map_or(LOOK, |due| due.min(LOOK))
    }

    fn start_those_that_may<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        disks: &mut Disks,
    ) {
        for (index, job) in self.jobs.iter().enumerate() {
            let slot = &self.slots[index];
            if job.control.stage() != Stage::Pending {
                continue;
            }
            if job.control.is_stopped() || job.plan.files.create_only {
                slot.end(job, JobResult::default());
                continue;
            }
            if delay(job) > self.began.elapsed() {
                continue;
            }
            let is_first_of_plan = job.number == 0;
            if job.plan.schedule.stonewall && is_first_of_plan && self.is_any_running() {
                break;
            }
            if self.waits_for_another(job) {
                continue;
            }
            for path in job.paths() {
                if job.plan.report.devices && !job.plan.engine.needs_no_files() {
                    disks.watch(&path);
                }
            }
            job.control.set_stage(Stage::Started);
            scope.spawn(move || {
                let result = self.work(job, slot);
                self.end_others(job, result.error.is_some());
                slot.end(job, result);
                self.bell.ring();
            });
        }
    }

    fn is_any_running(&self) -> bool {
        let runs =
            |job: &JobInstance<'_>| !matches!(job.control.stage(), Stage::Pending | Stage::Ended);
        self.jobs.iter().any(runs)
    }

    fn waits_for_another(&self, own: &JobInstance<'_>) -> bool {
        let Some(name) = &own.plan.schedule.wait_for else { return false };
        let others = self.jobs.iter().filter(|job| job.name() == name);
        others.into_iter().any(|job| job.control.stage() != Stage::Ended)
    }

    /// Lets those go that have been started together, once all are ready.
    fn release(&self, watch: &mut dyn Watch) {
        let is_on_its_way = |job: &JobInstance<'_>| job.control.stage() == Stage::Started;
        self.bell.wait_until(|| !self.jobs.iter().any(is_on_its_way));
        let mut released = false;
        for (job, slot) in self.jobs.iter().zip(self.slots) {
            if job.control.stage() == Stage::Ready && !slot.may_go.load(Ordering::Acquire) {
                watch.begins(job);
                slot.may_go.store(true, Ordering::Release);
                released = true;
            }
        }
        if released {
            self.bell.ring();
        }
    }

    /// What a job does in its thread.
    fn work(&self, job: &JobInstance<'_>, slot: &Slot) -> JobResult {
        let work = || {
            job.control.set_stage(Stage::Ready);
            self.bell.ring();
            let goes = || slot.may_go.load(Ordering::Acquire) || job.control.is_stopped();
            self.bell.wait_until(goes);
            if job.control.is_stopped() {
                return JobResult::default();
            }
            let set_up = slot.set_up.lock().expect("nobody panics while holding it").take();
            let session_began = self.began_ticks;
            let start = Start { set_up, session_began, ..start_of(job, self.clock) };
            match start.worker() {
                Ok(worker) => worker.run(),
                Err(failure) => failed(&failure),
            }
        };
        // The threads of the C library that do POSIX asynchronous I/O are those of the process.
        if self.jobs.iter().any(|job| job.plan.engine == EngineChoice::PosixAio) {
            return work();
        }
        on_own_descriptors(None, |_| work())
    }

    /// Ends the jobs that end with this one.
    fn end_others(&self, ended: &JobInstance<'_>, has_failed: bool) {
        let any_exits_all = self.jobs.iter().any(|job| job.plan.schedule.exit_all);
        let exits_by_error = has_failed && ended.plan.schedule.exit_all_on_error;
        if !any_exits_all && !exits_by_error {
            return;
        }
        for job in self.jobs {
            let ends = match ended.plan.schedule.exit_what {
                ExitWhat::All => true,
                ExitWhat::Group => job.group == ended.group,
                ExitWhat::Stonewall => job.control.stage() >= Stage::Ramp,
            };
            if ends {
                job.control.stop();
            }
        }
    }
}

fn delay(job: &JobInstance<'_>) -> Duration {
    Duration::from_micros(job.delay_us)
}
