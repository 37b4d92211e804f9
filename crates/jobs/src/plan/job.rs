//! One job: everything that its options say.

use std::cell::RefCell;
use std::path::Path;

use job_files::{Job, JobText, Place};
use job_offsets::{Accesses, Amount, Direction, ZipfSampler};
use textual::size;

use super::buffers::BuffersPlan;
use super::engine::{EngineChoice, EngineOptions};
use super::errors::ErrorsPlan;
use super::files::FilesPlan;
use super::given::Values;
use super::goals::{LatencyTarget, SteadyPlan};
use super::memory::{MachineMemory, MemoryPlan};
use super::nodes::NodesPlan;
use super::offsets::OffsetsPlan;
use super::priorities::PrioritiesPlan;
use super::refused;
use super::replay::ReplayPlan;
use super::report::ReportPlan;
use super::schedule::{DepthPlan, ProcessPlan, RatePlan, SchedulePlan, ThinkPlan};
use super::syncs::SyncsPlan;
use super::verify::VerifyPlan;
use crate::error::JobError;

/// A job whose every option has been read, and can be done.
#[derive(Clone, Debug, PartialEq)]
pub struct JobPlan {
    /// Its name.
    pub name: String,
    /// What its section is called, which its files are named after, and its clones.
    pub section: String,
    /// What its user says about it.
    pub description: String,
    /// Where it begins.
    pub place: Place,
    /// Options as they were given: those of `[global]` sections.
    pub global_options: Vec<(String, String)>,
    /// Its own.
    pub options: Vec<(String, String)>,
    /// Directions, offsets and sizes.
    pub offsets: OffsetsPlan,
    /// By which calls.
    pub engine: EngineChoice,
    /// Options of those.
    pub engine_options: EngineOptions,
    /// Its files.
    pub files: FilesPlan,
    /// What is written.
    pub buffers: BuffersPlan,
    /// What is made durable, and when.
    pub syncs: SyncsPlan,
    /// How much is in flight.
    pub depth: DepthPlan,
    /// When it starts and ends.
    pub schedule: SchedulePlan,
    /// How fast it may be.
    pub rate: RatePlan,
    /// Pauses.
    pub think: ThinkPlan,
    /// Where it runs.
    pub process: ProcessPlan,
    /// Which operations have a priority of their own.
    pub priorities: PrioritiesPlan,
    /// What its buffers are in, and what it locks.
    pub memory: MemoryPlan,
    /// On which nodes it runs and has its memory.
    pub nodes: NodesPlan,
    /// What is measured and reported.
    pub report: ReportPlan,
    /// What it replays, instead of choosing for itself.
    pub replay: Option<ReplayPlan>,
    /// How what was written is verified.
    pub verify: Option<VerifyPlan>,
    /// Errors that do not end it.
    pub errors: ErrorsPlan,
    /// The latency that its depth is chosen by.
    pub latency_target: Option<LatencyTarget>,
    /// When it is steady, and ends.
    pub steady: Option<SteadyPlan>,
    /// The longest that an operation may take, in microseconds; 0 without a limit.
    pub latency_max_us: u64,
}

impl JobPlan {
    /// The plan of a job. `zipf` says how Zipf's law is drawn from where the job asks for it: as
    /// fio does, or by the law.
    ///
    /// # Errors
    /// The first option that is wrong, cannot be done here, or contradicts another.
    pub fn new(text: &JobText, zipf: ZipfSampler) -> Result<Self, JobError> {
        refused::check_engine(text)?;
        let job = Job::from_text(text)?;
        refused::check(&job)?;
        let asked = RefCell::default();
        let mut plan = Self::read(&job, Values::new(&job, &asked), zipf)?;
        (plan.options, plan.global_options) = options(text);
        // A name in a global section has no effect.
        if plan.options.iter().all(|(option, _)| option != "name") {
            plan.name.clone_from(&plan.section);
        }
        Ok(plan)
    }

    fn read(job: &Job, given: Values<'_>, zipf: ZipfSampler) -> Result<Self, JobError> {
        let engine = refused::engine(job, given)?;
        let wrong = |(option, why): (&str, String)| JobError::Wrong {
            place: job.given(option).map_or_else(|| job.place.clone(), |one| one.place.clone()),
            option: option.to_owned(),
            why,
        };
        let offsets = OffsetsPlan::read(given, engine, zipf).map_err(wrong)?;
        let reads = reads(offsets.spec.accesses);
        let files = FilesPlan::read(given);
        let machine = MachineMemory::of_this_machine();
        let plan = Self {
            name: given.text("name").unwrap_or(&job.name).to_owned(),
            section: job.name.clone(),
            description: given.text("description").unwrap_or_default().to_owned(),
            place: job.place.clone(),
            global_options: Vec::new(),
            options: Vec::new(),
            offsets,
            engine,
            engine_options: EngineOptions::read(given),
            files,
            buffers: BuffersPlan::read(given, reads).map_err(wrong)?,
            syncs: SyncsPlan::read(given).map_err(wrong)?,
            depth: DepthPlan::read(given),
            schedule: SchedulePlan::read(given).map_err(wrong)?,
            rate: RatePlan::read(given),
            think: ThinkPlan::read(given),
            process: ProcessPlan::read(given).map_err(wrong)?,
            priorities: PrioritiesPlan::read(given).map_err(wrong)?,
            memory: MemoryPlan::read(given, &machine).map_err(wrong)?,
            nodes: NodesPlan::read(given).map_err(wrong)?,
            report: ReportPlan::read(given),
            replay: ReplayPlan::read(given).map_err(wrong)?,
            verify: VerifyPlan::read(given).map_err(wrong)?,
            errors: ErrorsPlan::read(given).map_err(wrong)?,
            latency_target: LatencyTarget::read(given),
            steady: SteadyPlan::read(given).map_err(wrong)?,
            latency_max_us: given.microseconds("max_latency"),
        };
        let jobs = u64::from(plan.process.jobs);
        plan.memory.check(jobs, plan.buffer_bytes(), &machine).map_err(wrong)?;
        plan.check(&wrong)?;
        Ok(plan)
    }

    /// Whether it reads.
    #[must_use]
    pub const fn reads(&self) -> bool {
        reads(self.offsets.spec.accesses)
    }

    /// Whether it writes.
    #[must_use]
    pub const fn writes(&self) -> bool {
        self.offsets.spec.accesses.has_writes()
    }

    /// Whether it trims.
    #[must_use]
    pub const fn trims(&self) -> bool {
        matches!(self.offsets.spec.accesses, Accesses::Trim | Accesses::TrimWrite)
    }

    /// Whether it goes in this direction.
    #[must_use]
    pub const fn has(&self, direction: Direction) -> bool {
        match direction {
            Direction::Read => self.reads(),
            Direction::Write => self.writes(),
            Direction::Trim => self.trims(),
        }
    }

    /// Bytes of its files, if its options say so; each of several jobs may have its own.
    #[must_use]
    pub fn files_bytes(&self) -> Option<u64> {
        let extents = &self.offsets.extents;
        let count = match self.files.names.len() {
            0 => u64::from(self.files.count),
            count => count as u64,
        };
        let each = extents.file_bytes.map(|(_, most)| most.saturating_mul(count));
        match extents.size {
            Some(Amount::Bytes(bytes)) => Some(bytes),
            Some(Amount::Percent(_)) | None => each,
        }
    }

    /// Bytes that it moves in a loop, if its options say so.
    #[must_use]
    pub fn moved_bytes(&self) -> Option<u64> {
        let limits = &self.offsets.spec.limits;
        let by_count = limits.transfers.saturating_mul(self.offsets.block_bytes_max());
        let by_size = limits.io_size_bytes.or_else(|| self.files_bytes());
        match (by_count, by_size) {
            (0, by_size) => by_size,
            (by_count, by_size) => Some(by_size.map_or(by_count, |bytes| bytes.min(by_count))),
        }
    }

    /// Sizes of blocks, for people: `4 KiB`, `4 KiB to 64 KiB`.
    #[must_use]
    pub fn block_sizes_text(&self) -> String {
        let of = |direction: Direction| {
            let size = &self.offsets.spec.block_sizes[direction];
            (size.min_bytes, size.max_bytes)
        };
        let mut all: Vec<(u64, u64)> =
            Direction::ALL.into_iter().filter(|one| self.has(*one)).map(of).collect();
        all.dedup();
        let text = |(from, to): &(u64, u64)| match from == to {
            true => size(*from as f64, 3),
            false => format!("{} to {}", size(*from as f64, 3), size(*to as f64, 3)),
        };
        all.iter().map(text).collect::<Vec<_>>().join(" and ")
    }

    /// What fio calls its directions and order in its output.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match (self.offsets.spec.accesses, self.is_random()) {
            (Accesses::Read, false) => "read",
            (Accesses::Read, true) => "randread",
            (Accesses::Write, false) => "write",
            (Accesses::Write, true) => "randwrite",
            (Accesses::Trim, false) => "trim",
            (Accesses::Trim, true) => "randtrim",
            (Accesses::ReadWrite, false) => "rw",
            (Accesses::ReadWrite, true) => "randrw",
            (Accesses::TrimWrite, false) => "trimwrite",
            (Accesses::TrimWrite, true) => "randtrimwrite",
        }
    }

    /// Whether offsets are random.
    #[must_use]
    pub const fn is_random(&self) -> bool {
        self.offsets.spec.order.is_random()
    }

    /// Bytes of its buffers.
    fn buffer_bytes(&self) -> u64 {
        let depth = if self.engine.is_by_name() { 0 } else { u64::from(self.depth.depth) };
        self.offsets.block_bytes_max().saturating_mul(depth).saturating_add(self.buffers.align)
    }

    /// What contradicts each other.
    fn check(&self, wrong: &impl Fn((&'static str, String)) -> JobError) -> Result<(), JobError> {
        let least = self.offsets.block_bytes_min();
        if let Some(Amount::Bytes(size)) = self.offsets.extents.size
            && size > 0
            && size < least
        {
            let why = format!("it is smaller than the smallest block, {least} bytes");
            return Err(wrong(("size", why)));
        }
        let is_none = |name: &&String| !Path::new(name).is_dir();
        if let Some(directory) = self.files.directories.iter().find(is_none) {
            return Err(wrong(("directory", format!("{directory} is no directory"))));
        }
        if let Some(directory) = self.files.open_directory.as_ref().filter(|one| !one.is_dir()) {
            return Err(wrong(("opendir", format!("{} is no directory", directory.display()))));
        }
        let rate = &self.rate;
        if rate.bytes_per_s.iter().any(|one| *one > 0)
            && rate.operations_per_s.iter().any(|one| *one > 0)
        {
            let why = "rate= is given as well; only one of the two can count".to_owned();
            return Err(wrong(("rate_iops", why)));
        }
        for way in 0..3 {
            let too_slow = |most: u64, least: u64| most > 0 && most < least;
            if too_slow(rate.bytes_per_s[way], rate.bytes_per_s_min[way]) {
                return Err(wrong(("rate_min", "it is above rate=".to_owned())));
            }
            if too_slow(rate.operations_per_s[way], rate.operations_per_s_min[way]) {
                return Err(wrong(("rate_iops_min", "it is above rate_iops=".to_owned())));
            }
        }
        if self.replay.is_some() {
            self.check_replay().map_err(wrong)?;
        }
        self.check_offloading().map_err(wrong)?;
        if self.schedule.wait_for.as_deref() == Some(self.name.as_str()) {
            return Err(wrong(("wait_for", "a job cannot wait for itself".to_owned())));
        }
        Ok(())
    }
}

impl JobPlan {
    /// What threads cannot do that share the job's files.
    fn check_offloading(&self) -> Result<(), (&'static str, String)> {
        let options = self.engine_options;
        if !options.is_offloaded {
            return Ok(());
        }
        let wrong = |option: &'static str, why: &str| {
            Err((option, format!("with io_submit_mode=offload: {why}")))
        };
        if !self.engine.can_be_offloaded() {
            let why = format!(
                "threads cannot share what ioengine={} keeps of a file; use psync",
                self.engine.name()
            );
            return wrong("ioengine", &why);
        }
        if options.fixed_buffers || options.registered_files {
            let option = if options.fixed_buffers { "fixedbufs" } else { "registerfiles" };
            return wrong(option, "each thread has a ring of its own; leave it out");
        }
        Ok(())
    }

    /// What a job that replays a log would have to ignore.
    fn check_replay(&self) -> Result<(), (&'static str, String)> {
        let verify = self.verify.as_ref();
        let chunked = self.replay.as_ref().is_some_and(|replay| replay.options.chunked);
        let own_pace = "replayed logs have a pace of their own; replay_time_scale= changes it";
        let once = "a log is replayed once, and its operations are known only then";
        let refused = [
            ("rate", self.rate.bytes_per_s.iter().any(|one| *one > 0), own_pace),
            ("rate_iops", self.rate.operations_per_s.iter().any(|one| *one > 0), own_pace),
            (
                "ioengine",
                self.engine.is_by_name(),
                "the engine works on names, and logs hold reads and writes",
            ),
            ("loops", self.offsets.spec.limits.loops > 1, "a log is replayed once"),
            ("verify_only", verify.is_some_and(|verify| verify.only), once),
            ("experimental_verify", verify.is_some_and(|verify| verify.without_history), once),
            (
                "read_iolog_chunked",
                chunked && verify.is_some(),
                "the sizes of blocks must be known to verify them; leave read_iolog_chunked out",
            ),
        ];
        match refused.into_iter().find(|(_, is_given, _)| *is_given) {
            Some((option, _, why)) => Err((option, format!("with read_iolog: {why}"))),
            None => Ok(()),
        }
    }
}

const fn reads(accesses: Accesses) -> bool {
    matches!(accesses, Accesses::Read | Accesses::ReadWrite)
}

type Options = Vec<(String, String)>;

/// Options as they were given, by their first names: the job's own, and global ones.
fn options(text: &JobText) -> (Options, Options) {
    let named = |setting: &job_files::Setting| {
        let name = job_files::options::find(&setting.name).map_or("", |option| option.name);
        (name.to_owned(), setting.value.clone().unwrap_or_default())
    };
    let (global, own) = text.settings.split_at(text.global);
    (own.iter().map(named).collect(), global.iter().map(named).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use job_files::options::{Kind, OPTIONS};
    use job_files::{Surroundings, read_text};

    use super::*;

    fn texts(text: &str) -> Vec<JobText> {
        let surroundings = Surroundings::of_this_process();
        read_text(Path::new("jobs.fio"), text.as_bytes(), &[], &surroundings).expect("a job file")
    }

    fn plan(text: &str) -> Result<JobPlan, JobError> {
        let text = texts(&format!("[one]\nsize=1m\n{text}"));
        JobPlan::new(&text[0], ZipfSampler::Exact)
    }

    #[test]
    fn every_option_is_read_or_refused() {
        let job = Job::from_text(&texts("[one]\nsize=1m\nsync_file_range=write:8\n")[0]);
        let asked = RefCell::default();
        let job = job.expect("a job");
        JobPlan::read(&job, Values::new(&job, &asked), ZipfSampler::Exact).expect("a plan");
        let asked: BTreeSet<&str> = asked.into_inner();
        let decided =
            |name| [asked.contains(name), refused::refuses(name), refused::is_without_effect(name)];
        let once = |name| decided(name).into_iter().filter(|one| *one).count() == 1;
        let names = OPTIONS.iter().map(|option| option.name);
        assert_eq!(names.filter(|name| !once(name)).collect::<Vec<_>>(), Vec::<&str>::new());
    }

    #[test]
    fn what_is_refused_says_what_to_write_instead() {
        let refused = |text| plan(text).expect_err(text).to_string();
        assert_eq!(
            refused("exec_prerun=true\n"),
            "jobs.fio, line 3: `exec_prerun` is not supported: no commands are run for a job; \
             instead: run it before fsprism"
        );
        assert!(refused("ioengine=rdma\n").contains("`ioengine=rdma` is not supported: it moves"));
        assert!(refused("uri=nbd+unix:///x\nioengine=nbd\n").contains("line 4: `ioengine=nbd`"));
        assert!(refused("ioengine=libaoi\n").contains("instead: libaio"));
        assert!(
            refused("bs=2m\n").contains("line 2: `size`: it is smaller than the smallest block")
        );
        assert!(refused("rate=1m\nrate_iops=5\n").contains("only one of the two can count"));
        assert!(plan("zonemode=none\nflow=0\n").is_ok());
    }

    #[test]
    fn only_a_section_can_name_its_job() {
        let names = |text: &str| {
            let plan = JobPlan::new(&texts(text)[0], ZipfSampler::Exact).expect("a plan");
            (plan.name, plan.section)
        };
        let named = |name: &str| (name.to_owned(), "one".to_owned());
        assert_eq!(names("[global]\nname=all\n[one]\nsize=1m\n"), named("one"));
        assert_eq!(names("[global]\nname=all\n[one]\nname=own\nsize=1m\n"), named("own"));
    }

    #[test]
    fn defaults_are_fios() {
        let plan = plan("").expect("a plan");
        assert_eq!((plan.kind(), plan.engine.name(), plan.depth.depth), ("read", "psync", 1));
        assert_eq!(plan.offsets.block_bytes_min(), 4096);
        assert!(plan.files.create_serialize && plan.files.invalidate && plan.buffers.scrambles);
        assert!(OPTIONS.iter().any(|option| option.kind == Kind::Flag));
    }
}
