//! What of fio is not supported: refused with the reason and the nearest that is.

use job_files::{Job, JobFileError, JobText, Place, Value};

use super::engine::EngineChoice;
use super::given::Values;
use crate::error::JobError;

/// An option that is refused, if it has more than its default.
struct Refused {
    option: &'static str,
    /// Values that change nothing.
    harmless: &'static [&'static str],
    why: &'static str,
    instead: &'static str,
}

const fn row(
    option: &'static str,
    harmless: &'static [&'static str],
    why: &'static str,
    instead: &'static str,
) -> Refused {
    Refused { option, harmless, why, instead }
}

const COMMANDS: &str = "no commands are run for a job";
const ZONES: &str = "zoned block devices are not supported";
const FLOW: &str = "jobs do not wait for each other's progress";
const CGROUPS: &str = "fsprism keeps cgroups of its own";
const NOT_YET: &str = "this is not built yet";
const LEAVE_OUT: &str = "leave it out";

/// The options.
const REFUSED: &[Refused] = &[
    row("exec_prerun", &[], COMMANDS, "run it before fsprism"),
    row("exec_postrun", &[], COMMANDS, "run it after fsprism"),
    row("zonemode", &["none"], ZONES, "zonemode=none"),
    row("zonerange", &["0"], ZONES, LEAVE_OUT),
    row("zonesize", &["0"], ZONES, "use offset_increment= to spread accesses"),
    row("zonecapacity", &["0"], ZONES, LEAVE_OUT),
    row("zoneskip", &["0"], ZONES, LEAVE_OUT),
    row("read_beyond_wp", &["0"], ZONES, LEAVE_OUT),
    row("max_open_zones", &["0"], ZONES, LEAVE_OUT),
    row("job_max_open_zones", &["0"], ZONES, LEAVE_OUT),
    row("ignore_zone_limits", &["0"], ZONES, LEAVE_OUT),
    row("zone_reset_threshold", &[], ZONES, LEAVE_OUT),
    row("zone_reset_frequency", &[], ZONES, LEAVE_OUT),
    row("flow", &["0"], FLOW, "rate= or rate_iops= for each job"),
    row("flow_id", &["0"], FLOW, LEAVE_OUT),
    row("flow_sleep", &["0"], FLOW, LEAVE_OUT),
    row("cgroup", &[], CGROUPS, "start fsprism in that cgroup"),
    row("cgroup_weight", &[], CGROUPS, "start fsprism in a cgroup of that weight"),
    row("cgroup_nodelete", &["0"], CGROUPS, LEAVE_OUT),
    row("profile", &[], "fio's profiles are programs of its own", "write the jobs out"),
    row("gpu_dev_id", &[], "memory of graphics processors is not supported", "mem=malloc"),
    row("atomic", &["0"], "Linux has no O_ATOMIC", "direct=1"),
    row("merge_blktrace_file", &[], "traces are not merged", "merge them with fio first"),
    row("merge_blktrace_scalars", &[], "traces are not merged", LEAVE_OUT),
    row("merge_blktrace_iters", &[], "traces are not merged", LEAVE_OUT),
    row("block_error_percentiles", &["0"], "blocks' lives are not followed", LEAVE_OUT),
    row("log_store_compressed", &["0"], "logs are not compressed", LEAVE_OUT),
    row("ioscheduler", &[], "devices keep their scheduler", "write its name to queue/scheduler"),
    row("gtod_cpu", &["0"], "time is read by the job", LEAVE_OUT),
    row("uncached", &["0"], "Linux has no such flag by this number", "direct=1"),
    row("log_alternate_epoch", &["0"], NOT_YET, "log_unix_epoch=1"),
    row("log_alternate_epoch_clock_id", &["0"], NOT_YET, LEAVE_OUT),
    row("dedupe_global", &["0"], NOT_YET, "dedupe_percentage= in each job"),
];

const ENGINES: &[(&str, &str, &str)] = &[
    ("net", "it moves bytes over a network, not to files", "a mount of a network file system"),
    ("netsplice", "it moves bytes over a network", "a mount of a network file system"),
    ("rdma", "it moves bytes over a network", "a mount of a network file system"),
    ("http", "it moves bytes over a network", "a mount of a network file system"),
    ("cpuio", "it does no I/O", "thinktime_spin="),
    ("sg", "it speaks SCSI to a device", "libaio with direct=1"),
    ("windowsaio", "it is for Windows", "libaio"),
    ("solarisaio", "it is for Solaris", "libaio"),
    ("external", "code of others is not loaded", "one of the engines that are there"),
    ("io_uring_cmd", "it sends commands to NVMe devices", "io_uring"),
    ("e4defrag", "it is for ext4 alone", "falloc"),
];

/// Options that need nothing done, each with the reason.
#[cfg(test)]
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("clocksource", "the processor's counter is read if it can be trusted, else the clock"),
    ("unique_filename", "it concerns jobs that other machines ask for"),
    ("write_barrier", "no engine has barriers"),
    ("softrandommap", "a map of blocks takes a bit each, and is always there"),
    ("log_entries", "logs grow as they need to"),
    ("log_compression", "logs are written as they would be had memory been saved before"),
    ("log_compression_cpus", "logs are not compressed while jobs run"),
];

/// Whether an option needs nothing done.
#[cfg(test)]
pub(super) fn is_without_effect(option: &str) -> bool {
    WITHOUT_EFFECT.iter().any(|(one, _)| *one == option)
}

/// Whether an option is refused, with some values at least.
#[cfg(test)]
pub(super) fn refuses(option: &str) -> bool {
    REFUSED.iter().any(|one| one.option == option)
}

/// Whether all that a job asks for can be done.
///
/// # Errors
/// The first option that cannot.
pub(super) fn check(job: &Job) -> Result<(), JobError> {
    for (name, given) in job.all() {
        let Some(refused) = REFUSED.iter().find(|one| one.option == name) else { continue };
        if !refused.harmless.contains(&text_of(&given.value).as_str()) {
            return Err(JobError::Unsupported {
                place: given.place.clone(),
                option: name.to_owned(),
                why: refused.why.to_owned(),
                instead: refused.instead.to_owned(),
            });
        }
    }
    Ok(())
}

/// The engine of a job.
///
/// # Errors
/// If there is none of that name here.
pub(super) fn engine(job: &Job, given: Values<'_>) -> Result<EngineChoice, JobError> {
    let place = || job.given("ioengine").map_or_else(|| job.place.clone(), |one| one.place.clone());
    named(given.text("ioengine").unwrap_or("psync"), place)
}

/// Checks the engine before all other options, since those of other engines are unknown here.
///
/// # Errors
/// If there is none of that name here.
pub(super) fn check_engine(text: &JobText) -> Result<(), JobError> {
    let engine = text.settings.iter().rev().find(|setting| setting.name == "ioengine");
    match engine.and_then(|setting| Some((setting.value.as_deref()?, &setting.place))) {
        Some((name, place)) => named(name.trim(), || place.clone()).map(drop),
        None => Ok(()),
    }
}

fn named(name: &str, place: impl FnOnce() -> Place) -> Result<EngineChoice, JobError> {
    if let Some(engine) = EngineChoice::named(name) {
        return Ok(engine);
    }
    let place = place();
    let (why, instead) = match ENGINES.iter().find(|(one, ..)| *one == name) {
        Some((_, why, instead)) => ((*why).to_owned(), (*instead).to_owned()),
        None => {
            let names = EngineChoice::ALL.map(|(name, _)| name);
            let near = textual::nearest(name, names).unwrap_or("psync");
            ("there is no such engine here".to_owned(), near.to_owned())
        }
    };
    Err(JobError::Unsupported { place, option: format!("ioengine={name}"), why, instead })
}

/// A value as text, where the table above has such.
fn text_of(value: &Value) -> String {
    match value {
        Value::Switch(on) => u8::from(*on).to_string(),
        Value::Numbers(numbers) => numbers[0].map_or_else(String::new, |one| one.to_string()),
        Value::Choice(word, _) => (*word).to_owned(),
        Value::Text(text) => text.clone(),
        Value::Bytes(bytes) => bytes.to_string(),
        Value::Size(job_files::quantity::Size::Bytes(bytes)) => bytes.to_string(),
        Value::Size(job_files::quantity::Size::Percent(percent)) => format!("{percent}%"),
        Value::Sizes(_)
        | Value::Ranges(_)
        | Value::Microseconds(_)
        | Value::MicrosecondsRange(..)
        | Value::Floats(_) => String::new(),
    }
}

impl From<JobFileError> for JobError {
    fn from(error: JobFileError) -> Self {
        Self::File(error)
    }
}
