//! From a plan to a job at work: all that is done in its thread before its time begins.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Read};

use job_offsets::{Chooser, Completions, Extents, JobSeeds, Limits, Purpose};
use job_results::ErrorCounts;
use measure::{Clock, SystemClock};
use rustix::io::Errno;
use rustix::process::{Pid, getpriority_process, setpriority_process};
use rustix::thread::{CpuSet, gettid, sched_setaffinity};

use super::account::Account;
use super::logs::Logs;
use super::pace::Pace;
use super::priorities::Priorities;
use super::source::Operations;
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
use crate::files::{FileError, JobFile, Opening, SetUp, SetUpError, Table, found, set_up};
use crate::plan::{EngineChoice, JobPlan};
use crate::replay::LoggedJob;
use crate::seeds::seeds;

/// A job that has not begun.
pub(crate) struct Start<'a> {
    pub(crate) plan: &'a JobPlan,
    pub(crate) name: &'a str,
    pub(crate) control: &'a JobControl,
    pub(crate) clock: SystemClock,
    /// Which of the jobs of its plan it is, from 0.
    pub(crate) number: u32,
    /// How many jobs there are up to it, from 1.
    pub(crate) thread_number: u32,
    /// What it replays, if it does.
    pub(crate) logged: Option<&'a LoggedJob>,
    /// When the first job could begin, in ticks.
    pub(crate) session_began: u64,
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
        let stop = self.control.stop_flag();
        if let Some(logged) = self.logged {
            let paths = logged.paths(self.number);
            let needed: Vec<u64> = logged.files.iter().map(|file| file.needed).collect();
            return Ok(found(self.plan, paths, &needed, &mut contents, announce, stop)?);
        }
        let mut sizes = seeds.generator(Purpose::FileSize);
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
        let operations = self.operations(&seeds, &extents)?;
        let mut contents = Contents::new(plan, &seeds, extents.size_bytes);
        let moves_no_bytes = moves_no_bytes(plan);
        let memory = filled(plan, moves_no_bytes, &mut contents)?;
        let depth = plan.depth.depth;
        let parts = if moves_no_bytes { 0 } else { depth as usize };
        let largest = largest_block(plan);
        let buffers: Vec<_> = (0..parts).map(|unit| memory.span(unit, largest)).collect();
        let engine = engine(plan, &buffers, files.len())
            .map_err(|(what, errno)| Failure::new(errno, what))?;
        self.pre_read(&files)?;
        let files_count = files.len();
        let files =
            Table::new(files, Opening::new(plan), plan.files.open, ByName::of(plan), self.clock);
        let priorities = Priorities::new(plan, &seeds);
        let logs = Logs::new(plan, self.name, self.thread_number);
        let account = Account::new(plan, self.clock, logs, priorities.as_ref());
        let trace = plan.report.logs.trace.as_ref();
        let trace = Trace::new(trace, &files.files, self.clock)?;
        let mut worker = Worker {
            plan,
            name: self.name,
            control: self.control,
            clock: self.clock,
            files,
            operations,
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
            checks: Checks::new(plan, self.name, &seeds, self.thread_number, files_count)?,
            number: self.number,
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

    /// What the job does, and how much that is.
    fn operations(&self, seeds: &JobSeeds, extents: &Extents) -> Result<Operations, Failure> {
        if let Some(steps) = self.logged.and_then(LoggedJob::take_steps) {
            let totals = steps.totals();
            self.control.set_planned_bytes(totals.reads.bytes + totals.writes.bytes);
            return Ok(Operations::logged(steps, self.session_began));
        }
        let spec = &self.plan.offsets.spec;
        let limits = Limits { size_bytes: extents.size_bytes, ..spec.limits };
        let loops = u64::from(limits.loops);
        self.control.set_planned_bytes(limits.pass_bytes().saturating_mul(loops));
        let spec = job_offsets::Spec { limits, ..spec.clone() };
        let chooser = Chooser::new(&spec, seeds, &extents.files)
            .map_err(|error| Failure::new(Errno::INVAL, error.to_string()))?;
        Ok(Operations::Chosen(Box::new(chooser)))
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
            let mut open = match File::open(&file.path) {
                // A log may make it first.
                Err(error) if self.plan.replay.is_some() && error.kind() == ErrorKind::NotFound => {
                    continue;
                }
                opened => opened.map_err(wrong)?,
            };
            std::io::Seek::seek(&mut open, std::io::SeekFrom::Start(file.offset)).map_err(wrong)?;
            // Of files of a log, it is not known which part is used.
            let part = if file.io_bytes == 0 { u64::MAX } else { file.io_bytes };
            let mut part = open.take(part);
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

/// Memory for all operations of a job, filled with what it writes.
fn filled(
    plan: &JobPlan,
    moves_no_bytes: bool,
    contents: &mut Contents,
) -> Result<IoMemory, Failure> {
    let largest = largest_block(plan);
    let mut memory = memory(plan, moves_no_bytes, largest)?;
    if plan.writes() && !moves_no_bytes {
        for unit in 0..plan.depth.depth as usize {
            contents.fill_block(memory.bytes_mut(unit, largest));
        }
    }
    Ok(memory)
}

/// Memory for operations of at most `largest` bytes.
pub(super) fn memory(
    plan: &JobPlan,
    moves_no_bytes: bool,
    largest: usize,
) -> Result<IoMemory, Failure> {
    let parts = if moves_no_bytes { 0 } else { plan.depth.depth as usize };
    let first = usize::try_from(plan.buffers.align).unwrap_or(0);
    // What logs hold may be of any length, and direct I/O needs buffers that are aligned.
    let part_bytes = match plan.replay {
        Some(_) => largest.next_multiple_of(rustix::param::page_size()),
        None => largest,
    };
    let made = IoMemory::new(plan.memory.buffers, parts, part_bytes, first);
    made.map_err(|why| Failure::new(why, "iomem allocation"))
}

/// Memory that nobody else has while the job runs.
fn locked(plan: &JobPlan) -> Result<Option<LockedMemory>, Failure> {
    let bytes = usize::try_from(plan.memory.locked_bytes).unwrap_or(usize::MAX);
    let locked = (bytes > 0).then(|| LockedMemory::new(bytes)).transpose();
    locked.map_err(|why| Failure::new(why, "mlock"))
}
