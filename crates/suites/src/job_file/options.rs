//! From a job file to what a run records of it, and to plans for targets.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use job_files::{JobText, Place, Setting, Surroundings};
use job_offsets::{Amount, ZipfSampler};
use jobs::LoggedJob;
use jobs::plan::JobPlan;
use record::{JobFileOptions, RecordedJob, RecordedSetting};
use textual::plain_text;

use super::error::JobFileRefusal;
use super::figures;

/// What messages call the jobs that are executed if no file is named.
const BUILT_IN: &str = "built-in.fio";
/// Those jobs.
const DECLARED: &str = "\
[global]
size=64m
bs=4k
runtime=2
time_based

[random-reads]
rw=randread

[random-writes]
stonewall
rw=randwrite
";

/// The jobs that are executed if no file is named.
///
/// # Panics
/// Never: the text is a job file.
#[must_use]
pub fn declared() -> JobFileOptions {
    let texts = job_files::read_text(
        Path::new(BUILT_IN),
        DECLARED.as_bytes(),
        &[],
        &Surroundings::of_this_process(),
    );
    recorded(BUILT_IN, DECLARED, &texts.expect("the text is a job file"))
}

/// Reads a job file, or some of its sections.
///
/// # Errors
/// If it cannot be read, or is no job file.
pub fn read(path: &Path, sections: &[String]) -> Result<JobFileOptions, JobFileRefusal> {
    let bytes = fs::read(path)
        .map_err(|source| JobFileRefusal::Unreadable { path: path.to_owned(), source })?;
    let surroundings = Surroundings::of_this_process();
    let texts = job_files::read_text(path, &bytes, sections, &surroundings)
        .map_err(jobs::JobError::from)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(recorded(&path.display().to_string(), &text, &texts))
}

/// The directory that the jobs of a file say they are in; of those that say nothing, the current
/// one. `None` of the jobs that are executed if no file is named.
///
/// # Errors
/// If there are several.
pub fn directory(options: &JobFileOptions) -> Result<Option<String>, JobFileRefusal> {
    if options.file == BUILT_IN {
        return Ok(None);
    }
    let mut all = BTreeSet::new();
    for job in &options.jobs {
        let last = |name: &str| {
            let given = job.settings.iter().rev().find(|setting| setting.name == name);
            given.and_then(|setting| setting.value.as_deref()).map(str::trim)
        };
        match (last("directory"), last("filename")) {
            (Some(directories), _) => all.extend(directories.split(':').map(str::to_owned)),
            (None, Some(names)) => all.extend(names.split(':').map(parent)),
            (None, None) => all.extend([".".to_owned()]),
        }
    }
    match all.len() {
        0 | 1 => Ok(all.pop_first()),
        _ => Err(JobFileRefusal::SeveralDirectories {
            directories: all.into_iter().collect::<Vec<_>>().join(", "),
        }),
    }
}

fn parent(name: &str) -> String {
    let parent = Path::new(name).parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.map_or_else(|| ".".to_owned(), |parent| parent.to_string_lossy().into_owned())
}

fn recorded(file: &str, text: &str, texts: &[JobText]) -> JobFileOptions {
    let setting = |setting: &Setting| RecordedSetting {
        name: setting.name.clone(),
        value: setting.value.as_deref().map(|value| plain_text(value).into_owned()),
        line: match &setting.place {
            Place::Line { file: own, line } if own.as_path() == Path::new(file) => Some(*line),
            Place::Line { .. } | Place::CommandLine => None,
        },
    };
    let job = |text: &JobText| RecordedJob {
        name: text.name.clone(),
        settings: text.settings.iter().map(setting).collect(),
        global: text.global,
    };
    let jobs = texts.iter().map(job).collect();
    let lines = text.lines().map(|line| plain_text(line).into_owned()).collect();
    JobFileOptions { file: file.to_owned(), lines, jobs }
}

/// The plans of all jobs, as they can be executed on targets.
pub(super) fn plans(options: &JobFileOptions) -> Result<Vec<JobPlan>, JobFileRefusal> {
    options.jobs.iter().map(|job| plan(options, job)).collect()
}

fn plan(options: &JobFileOptions, job: &RecordedJob) -> Result<JobPlan, JobFileRefusal> {
    let file = Arc::new(PathBuf::from(&options.file));
    let place = |line: Option<usize>| match line {
        Some(line) => Place::Line { file: Arc::clone(&file), line },
        None => Place::CommandLine,
    };
    let setting = |setting: &RecordedSetting| Setting {
        name: setting.name.clone(),
        value: setting.value.clone(),
        place: place(setting.line),
    };
    let without_directory = |setting: &&RecordedSetting| setting.name != "directory";
    let settings = job.settings.iter().filter(without_directory).map(setting);
    let global = job.settings[..job.global].iter().filter(without_directory).count();
    let text = JobText {
        name: job.name.clone(),
        place: place(None),
        settings: settings.collect(),
        global,
    };
    let mut plan = with_log(JobPlan::new(&text, ZipfSampler::Exact)?)?;
    check(&plan)?;
    plan.report.total_percentiles |= figures::is_from_due(&plan);
    for name in &mut plan.files.names {
        let own = Path::new(name.as_str()).file_name();
        *name = own.map_or_else(String::new, |own| own.to_string_lossy().into_owned());
    }
    Ok(plan)
}

/// A plan whose directions and sizes are those of the log that it replays, if it does. The files of
/// targets are new, so those that it reads are made.
fn with_log(mut plan: JobPlan) -> Result<JobPlan, JobFileRefusal> {
    if let Some(replay) = &mut plan.replay {
        replay.makes_files = true;
    }
    let Some(logged) = LoggedJob::read(&plan, 0)? else { return Ok(plan) };
    let bytes = logged.files.iter().map(|file| file.end).sum();
    let mut plan = logged.plan;
    plan.offsets.extents.size = Some(Amount::Bytes(bytes));
    Ok(plan)
}

/// What a job cannot have on targets that are made for it.
fn check(plan: &JobPlan) -> Result<(), JobFileRefusal> {
    let refuse = |what: String, instead| {
        Err(JobFileRefusal::NotOnTargets { job: plan.name.clone(), what, instead })
    };
    let is_device = |name: &&String| name.starts_with("/dev/");
    let named = plan.files.names.iter().chain([&plan.section]);
    if let Some(device) = named.clone().find(is_device) {
        let what = format!("it accesses the device {device}, and targets are file systems");
        return refuse(what, "leave out filename= and give size=, or use `fsprism fio`");
    }
    if plan.files.names.iter().any(|name| name == "-") {
        let what = "it uses standard input or output".to_owned();
        return refuse(what, "use `fsprism fio`");
    }
    if plan.files.open_directory.is_some() {
        let what = "opendir= names files that targets do not have".to_owned();
        return refuse(what, "use nrfiles= and filesize=, or `fsprism fio`");
    }
    let has_size = matches!(plan.offsets.extents.size, Some(Amount::Bytes(1..)))
        || plan.offsets.extents.file_bytes.is_some()
        || plan.engine.is_by_name();
    if !has_size {
        let what = "it has no size, and the files of a target are new".to_owned();
        return refuse(what, "give size= in bytes");
    }
    if plan.replay.as_ref().is_some_and(|replay| replay.options.chunked) {
        let what = "read_iolog_chunked= reads the log while it is replayed".to_owned();
        return refuse(what, "leave it out, or use `fsprism fio`");
    }
    if plan.files.fill_device {
        let what = "fill_device= would fill the target".to_owned();
        return refuse(what, "give size=");
    }
    Ok(())
}
