//! When a job starts and ends, how much it has in flight, how fast it may be, and where it runs.

use super::choices::ExitWhat;
use super::given::Values;
use super::priorities;

/// When a job starts and ends. Times are in microseconds.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct SchedulePlan {
    /// How long it runs at most; 0 without a limit.
    pub runtime_us: u64,
    /// Whether it goes on until then.
    pub is_time_based: bool,
    /// How long it runs before anything counts.
    pub ramp_us: u64,
    /// What it waits before it starts, from and to.
    pub delay_us: (u64, u64),
    /// How often it is done.
    pub loops: u32,
    /// Whether it waits until all jobs before it have ended.
    pub stonewall: bool,
    /// Whether it begins a group.
    pub new_group: bool,
    /// The job whose end it waits for.
    pub wait_for: Option<String>,
    /// Whether others end with it.
    pub exit_all: bool,
    /// Whether they do if it fails.
    pub exit_all_on_error: bool,
    /// Which.
    pub exit_what: ExitWhat,
}

impl SchedulePlan {
    pub(super) fn read(given: Values<'_>) -> Result<Self, (&'static str, String)> {
        let runtime_us = given.microseconds("runtime");
        Ok(Self {
            runtime_us,
            is_time_based: given.switch("time_based", false) && runtime_us > 0,
            ramp_us: given.microseconds("ramp_time"),
            delay_us: given.time_range("startdelay"),
            loops: given.small("loops", 1).max(1),
            stonewall: given.switch("stonewall", false),
            new_group: given.switch("new_group", false),
            wait_for: given.text("wait_for").map(str::to_owned),
            exit_all: given.switch("exitall", false),
            exit_all_on_error: given.switch("exitall_on_error", false),
            exit_what: match given.choice("exit_what") {
                Some(("stonewall", _)) => ExitWhat::Stonewall,
                Some(("all", _)) => ExitWhat::All,
                _ => ExitWhat::Group,
            },
        })
    }
}

/// How many operations are in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthPlan {
    /// At most.
    pub depth: u32,
    /// How many are submitted at once.
    pub batch: u32,
    /// How many completions are waited for at least.
    pub complete_min: u32,
    /// How many are taken at most.
    pub complete_max: u32,
    /// Down to how many the queue is emptied before it is filled again.
    pub low: u32,
    /// Whether operations that overlap wait for each other.
    pub serialize_overlap: bool,
}

impl DepthPlan {
    pub(super) fn read(given: Values<'_>) -> Self {
        let depth = given.small("iodepth", 1);
        let within = |name: &'static str, default| match given.small(name, default) {
            0 => depth,
            number if number > depth => depth,
            number => number,
        };
        let complete_min = given.small("iodepth_batch_complete_min", 1);
        Self {
            depth,
            batch: within("iodepth_batch", 1),
            complete_min,
            complete_max: given.small("iodepth_batch_complete_max", 0).max(complete_min),
            low: within("iodepth_low", 0),
            serialize_overlap: given.switch("serialize_overlap", false) && depth > 1,
        }
    }
}

/// How fast a job may be, for reads, writes and trims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RatePlan {
    /// Bytes per second; 0 without a limit.
    pub bytes_per_s: [u64; 3],
    /// Operations per second; 0 without a limit.
    pub operations_per_s: [u64; 3],
    /// The least that it must reach, in bytes per second.
    pub bytes_per_s_min: [u64; 3],
    /// The least that it must reach, in operations per second.
    pub operations_per_s_min: [u64; 3],
    /// Whether operations come at random moments, as those of many users.
    pub is_poisson: bool,
    /// Whether time to think counts for the rate.
    pub ignores_think_time: bool,
    /// Over what time the least rate is looked at.
    pub cycle_ms: u64,
}

impl RatePlan {
    pub(super) fn read(given: Values<'_>) -> Self {
        Self {
            bytes_per_s: given.counts("rate", 0),
            operations_per_s: given.counts("rate_iops", 0),
            bytes_per_s_min: given.counts("rate_min", 0),
            operations_per_s_min: given.counts("rate_iops_min", 0),
            is_poisson: matches!(given.choice("rate_process"), Some(("poisson", _))),
            ignores_think_time: given.switch("rate_ignore_thinktime", false),
            cycle_ms: given.count("rate_cycle", 1000),
        }
    }

    /// Whether there is a limit in some direction.
    #[must_use]
    pub fn limits(&self) -> bool {
        self.bytes_per_s.iter().chain(&self.operations_per_s).any(|rate| *rate > 0)
    }

    /// Whether a least rate is demanded.
    #[must_use]
    pub fn demands(&self) -> bool {
        self.bytes_per_s_min.iter().chain(&self.operations_per_s_min).any(|rate| *rate > 0)
    }
}

/// Pauses between operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThinkPlan {
    /// How long one is, in microseconds.
    pub pause_us: u64,
    /// How much of it the processor is kept busy.
    pub spin_us: u64,
    /// After how many operations one comes.
    pub blocks: u64,
    /// Whether `blocks` was given.
    pub has_blocks: bool,
    /// Whether they are counted when they are issued, rather than when complete.
    pub counts_issued: bool,
    /// How long the job works between pauses, in microseconds; 0 if blocks alone say.
    pub work_us: u64,
}

impl ThinkPlan {
    pub(super) fn read(given: Values<'_>) -> Self {
        let pause_us = given.microseconds("thinktime");
        Self {
            pause_us,
            spin_us: given.microseconds("thinktime_spin").min(pause_us),
            blocks: given.count("thinktime_blocks", 1).max(1),
            has_blocks: given.is_given("thinktime_blocks"),
            counts_issued: matches!(given.choice("thinktime_blocks_type"), Some(("issue", _))),
            work_us: given.microseconds("thinktime_iotime"),
        }
    }
}

/// As what a job runs, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessPlan {
    /// How many of it there are.
    pub jobs: u32,
    /// Whether fio would make it a thread.
    pub is_thread: bool,
    /// Its niceness.
    pub nice: i32,
    /// The priority of its I/O as the kernel takes it, if given.
    pub io_priority: Option<u16>,
    /// Processors that it may use; empty for all.
    pub processors: Vec<usize>,
    /// Whether each job of several has its own of them.
    pub splits_processors: bool,
    /// The user that it runs as.
    pub user: Option<u32>,
    /// The group.
    pub group: Option<u32>,
}

impl ProcessPlan {
    pub(super) fn read(given: Values<'_>) -> Result<Self, (&'static str, String)> {
        let priority = given.is_given("prio") || given.is_given("prioclass");
        let level = |name: &'static str| u16::try_from(given.count(name, 0)).unwrap_or(0);
        let identity = |name: &'static str| given.is_given(name).then(|| given.small(name, 0));
        let processors = match given.text("cpus_allowed") {
            Some(text) => processors(text).map_err(|why| ("cpus_allowed", why))?,
            None => {
                let mask = given.count("cpumask", 0);
                (0..63).filter(|bit| mask >> bit & 1 == 1).collect()
            }
        };
        Ok(Self {
            jobs: given.small("numjobs", 1).max(1),
            is_thread: given.switch("thread", false),
            nice: i32::try_from(given.number("nice", 0)).unwrap_or(0),
            io_priority: priority.then(|| priorities::value(level("prioclass"), level("prio"))),
            processors,
            splits_processors: matches!(given.choice("cpus_allowed_policy"), Some(("split", _))),
            user: identity("uid"),
            group: identity("gid"),
        })
    }
}

/// `0-3,8`.
pub(super) fn processors(text: &str) -> Result<Vec<usize>, String> {
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| text.trim().to_owned());
    let wrong = |what: String| format!("`{what}` is not a valid number of a processor");
    let mut all = Vec::new();
    for piece in text.split([',', ':']).filter(|piece| !piece.trim().is_empty()) {
        let (from, to) = piece.split_once('-').unwrap_or((piece, piece));
        let (from, to) = (number(from).map_err(wrong)?, number(to).map_err(wrong)?);
        if from > to || to >= 1024 {
            return Err(wrong(piece.to_owned()));
        }
        all.extend(from..=to);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_numbers_and_ranges() {
        assert_eq!(processors("0-2,5"), Ok(vec![0, 1, 2, 5]));
        assert_eq!(processors("1:3"), Ok(vec![1, 3]));
        assert!(processors("x").expect_err("no number").contains("`x`"));
        assert!(processors("3-1").expect_err("backwards").contains("`3-1`"));
    }
}
