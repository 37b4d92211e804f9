//! From a plan to a job at work: all that is done in its thread before its time begins.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;

use job_offsets::{Chooser, Completions, JobSeeds, Limits, Purpose};
use job_results::ErrorCounts;
use measure::{Clock, SystemClock};
use rustix::io::Errno;
use rustix::process::{Pid, getpriority_process, setpriority_process};
use rustix::thread::{CpuSet, gettid, sched_setaffinity};

use super::account::Account;
use super::logs::Logs;
use super::pace::Pace;
use super::priorities::Priorities;
use super::target::Target;
use super::think::Think;
use super::trace::Trace;
use super::unit::Unit;
use super::verify::Checks;
use super::{Failure, Worker};
use crate::contents::Contents;
use crate::control::{JobControl, Stage};
use crate::edge::memory::{IoMemory, LockedMemory};
use crate::edge::thread::{Usage, act_for, set_io_priority, set_memory_policy};
use crate::engines::{ByName, engine};
use crate::files::{FileError, JobFile, Opening, SetUp, SetUpError, Table, set_up};
use crate::plan::{EngineChoice, JobPlan};
use crate::seeds::seeds;

/// A job that has not begun.
pub(crate) struct Start<'a> {
    pub(crate) plan: &'a JobPlan,
    pub(crate) control: &'a JobControl,
    pub(crate) clock: SystemClock,
    /// Which of the jobs of its plan it is, from 0.
    pub(crate) number: u32,
    /// How many jobs there are up to it, from 1.
    pub(crate) thread_number: u32,
    /// Its files, if they were made before.
    pub(crate) set_up: Option<SetUp>,
}

impl From<SetUpError> for Failure {
    fn from(error: SetUpError) -> Self {
        match error {
            SetUpError::File(error) => error.into(),
            SetUpError::Job(error) => Self::new(Errno::INVAL, error.to_string()),
        }
    }
}

impl<'a> Start<'a> {
    fn seeds(&self) -> JobSeeds {
        seeds(self.plan, self.number, self.thread_number)
    }

    /// Makes the files of the job.
    pub(crate) fn set_up_files(
        &self,
        announce: &mut dyn FnMut(usize, u64),
    ) -> Result<SetUp, Failure> {
        let seeds = self.seeds();
        let mut contents = Contents::new(self.plan, &seeds, 0);
        let mut sizes = seeds.generator(Purpose::FileSize);
        let stop = self.control.stop_flag();
        Ok(set_up(self.plan, self.number, &mut contents, &mut sizes, announce, stop)?)
    }

    /// The files of the job, made now unless they were before.
    fn ready_files(&mut self) -> Result<SetUp, Failure> {
        match self.set_up.take() {
            Some(set_up) => Ok(set_up),
            None => {
                self.control.set_stage(Stage::SettingUp);
                self.set_up_files(&mut |_, _| {})
            }
        }
    }

    /// Prepares everything, in the thread that will do the work.
    pub(crate) fn worker(mut self) -> Result<Worker<'a>, Failure> {
        let plan = self.plan;
        self.become_what_it_is()?;
        let locked = locked(plan)?;
        let SetUp { files, extents, .. } = self.ready_files()?;
        let seeds = self.seeds();
        let limits = Limits { size_bytes: extents.size_bytes, ..plan.offsets.spec.limits };
        let loops = u64::from(limits.loops);
        self.control.set_planned_bytes(limits.pass_bytes().saturating_mul(loops));
        let spec = job_offsets::Spec { limits, ..plan.offsets.spec.clone() };
        let chooser = Chooser::new(&spec, &seeds, &extents.files)
            .map_err(|error| Failure::new(Errno::INVAL, error.to_string()))?;
        let mut contents = Contents::new(plan, &seeds, extents.size_bytes);
        let moves_no_bytes = moves_no_bytes(plan);
        let mut memory = memory(plan, moves_no_bytes)?;
        let depth = plan.depth.depth;
        let largest = largest_block(plan);
        let parts = if moves_no_bytes { 0 } else { depth as usize };
        for unit in (0..parts).filter(|_| plan.writes()) {
            contents.fill_block(memory.bytes_mut(unit, largest));
        }
        let buffers: Vec<_> = (0..parts).map(|unit| memory.span(unit, largest)).collect();
        let engine = engine(plan, &buffers, files.len())
            .map_err(|(what, errno)| Failure::new(errno, what))?;
        self.pre_read(&files)?;
        let files =
            Table::new(files, Opening::new(plan), plan.files.open, ByName::of(plan), self.clock);
        let priorities = Priorities::new(plan, &seeds);
        let logs = Logs::new(plan, self.thread_number);
        let account = Account::new(plan, self.clock, logs, priorities.as_ref());
        let trace = plan.report.logs.trace.as_ref();
        let trace = Trace::new(trace, &files.files, self.clock)?;
        let mut worker = Worker {
            plan,
            control: self.control,
            clock: self.clock,
            files,
            chooser,
            is_synchronous: engine.is_synchronous(),
            engine,
            memory,
            _locked: locked,
            moves_no_bytes,
            contents,
            units: vec![Unit::FREE; depth as usize],
            free: (0..depth).rev().collect(),
            again: Vec::new(),
            queued: VecDeque::new(),
            in_flight: 0,
            taken: Vec::new(),
            completions: Completions::default(),
            account,
            priorities,
            pace: Pace::new(plan, &seeds, self.clock),
            think: Think::new(plan),
            trace,
            checks: Checks::new(plan, &seeds, self.thread_number, extents.files.len())?,
            thread_number: self.thread_number,
            target: Target::new(plan),
            must_quiesce: false,
            failure: None,
            errors: ErrorCounts { are_shown: plan.errors.any(), ..ErrorCounts::default() },
            pass_bytes: [0; 3],
            runtime_ns: [0; 3],
            pass_started: self.clock.ticks(),
            used_before: Usage::default(),
            has_run_out: false,
        };
        worker.register_files()?;
        Ok(worker)
    }

    /// Processors, memory, priorities and user.
    fn become_what_it_is(&self) -> Result<(), Failure> {
        let process = &self.plan.process;
        let wrong = |what: &'static str| move |errno| Failure::new(errno, what);
        act_for(process.group, process.user).map_err(wrong("setuid"))?;
        if !process.processors.is_empty() {
            let processors = if process.splits_processors {
                let own = self.thread_number as usize - 1;
                vec![process.processors[own % process.processors.len()]]
            } else {
                process.processors.clone()
            };
            run_on(&processors).map_err(wrong("cpu_set_affinity"))?;
        }
        let nodes = &self.plan.nodes;
        if !nodes.processors.is_empty() {
            run_on(&nodes.processors).map_err(wrong("numa_run_on_node_mask"))?;
        }
        set_memory_policy(&nodes.memory).map_err(wrong("set_mempolicy"))?;
        if let Some(priority) = process.io_priority {
            set_io_priority(priority).map_err(wrong("ioprio_set"))?;
        }
        if process.nice != 0 {
            let thread = Pid::from_raw(gettid().as_raw_nonzero().get());
            let now = getpriority_process(thread).map_err(wrong("nice"))?;
            setpriority_process(thread, now + process.nice).map_err(wrong("nice"))?;
        }
        Ok(())
    }

    /// Reads the job's part of its files, so that it is cached.
    fn pre_read(&self, files: &[JobFile]) -> Result<(), Failure> {
        if !self.plan.files.pre_read || !self.plan.reads() {
            return Ok(());
        }
        self.control.set_stage(Stage::PreReading);
        let mut buffer = vec![0; largest_block(self.plan)];
        for file in files {
            let wrong = |source| Failure::from(FileError::new(&file.path, "pre_read", source));
            let mut open = File::open(&file.path).map_err(wrong)?;
            std::io::Seek::seek(&mut open, std::io::SeekFrom::Start(file.offset)).map_err(wrong)?;
            let mut part = open.take(file.io_bytes);
            while part.read(&mut buffer).map_err(wrong)? > 0 && !self.control.is_stopped() {}
        }
        Ok(())
    }
}

/// Lets the calling thread run on these processors only.
fn run_on(processors: &[usize]) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    processors.iter().for_each(|one| set.set(*one));
    sched_setaffinity(None, &set)
}

impl Worker<'_> {
    /// Opens all files and registers them, if the engine is asked to.
    fn register_files(&mut self) -> Result<(), Failure> {
        if !self.plan.engine_options.registered_files {
            return Ok(());
        }
        let descriptors = self.files.open_all()?;
        self.engine.register(&descriptors).map_err(|errno| Failure::new(errno, "io_uring_register"))
    }
}

/// Whether operations need no memory.
fn moves_no_bytes(plan: &JobPlan) -> bool {
    let is_without = plan.engine.is_by_name()
        || matches!(plan.engine, EngineChoice::Falloc | EngineChoice::Ftruncate);
    is_without || !(plan.reads() || plan.writes())
}

fn largest_block(plan: &JobPlan) -> usize {
    usize::try_from(plan.offsets.block_bytes_max()).unwrap_or(usize::MAX)
}

fn memory(plan: &JobPlan, moves_no_bytes: bool) -> Result<IoMemory, Failure> {
    let parts = if moves_no_bytes { 0 } else { plan.depth.depth as usize };
    let first = usize::try_from(plan.buffers.align).unwrap_or(0);
    let made = IoMemory::new(plan.memory.buffers, parts, largest_block(plan), first);
    made.map_err(|why| Failure::new(why, "iomem allocation"))
}

/// Memory that nobody else has while the job runs.
fn locked(plan: &JobPlan) -> Result<Option<LockedMemory>, Failure> {
    let bytes = usize::try_from(plan.memory.locked_bytes).unwrap_or(usize::MAX);
    let locked = (bytes > 0).then(|| LockedMemory::new(bytes)).transpose();
    locked.map_err(|why| Failure::new(why, "mlock"))
}
