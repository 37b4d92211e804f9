//! A log that a job replays, read before any job starts.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use job_files::Place;
use job_iologs::{Access, Replay, ReplayFile, Source, log_of_job};
use job_offsets::{Accesses, Direction};

use crate::error::JobError;
use crate::files::in_directory;
use crate::plan::{JobPlan, ReplayPlan};

/// What one job replays.
#[derive(Debug)]
pub struct LoggedJob {
    /// The job's plan, with the directions and sizes of its log.
    pub plan: JobPlan,
    /// Lines that are ignored, and options.
    pub remarks: Vec<String>,
    /// The files that are known.
    pub files: Vec<ReplayFile>,
    steps: Mutex<Option<Replay>>,
}

impl LoggedJob {
    /// Reads the log of the job of this number, of several by the same plan; of a log in chunks, no
    /// more than its beginning.
    ///
    /// # Errors
    /// Why it cannot be replayed.
    pub fn read(plan: &JobPlan, number: u32) -> Result<Option<Self>, JobError> {
        let Some(own) = &plan.replay else { return Ok(None) };
        let wrong = |why: String| JobError::Wrong {
            place: place(plan),
            option: "read_iolog".to_owned(),
            why,
        };
        let log = log_of_job(OsStr::new(&own.logs), number as usize)
            .ok_or_else(|| wrong("it names no log".to_owned()))?;
        let replay = Source::open(Path::new(&log))
            .and_then(|source| Replay::new(source, &own.options))
            .map_err(|error| wrong(error.to_string()))?;
        let mut remarks = remarks(&replay);
        let mut plan = plan.clone();
        if plan.report.logs.trace.take().is_some() {
            remarks.push("read_iolog: write_iolog is ignored, as in fio".to_owned());
        }
        take_from_log(&mut plan, &replay, own);
        let files = replay.files().to_vec();
        Ok(Some(Self { plan, remarks, files, steps: Mutex::new(Some(replay)) }))
    }

    /// Where its files are.
    pub(crate) fn paths(&self, number: u32) -> Vec<PathBuf> {
        self.files.iter().map(|file| in_directory(&self.plan, &file.name, number)).collect()
    }

    /// The steps, for the job that executes them.
    pub(crate) fn take_steps(&self) -> Option<Replay> {
        self.steps.lock().expect("nobody panics while holding it").take()
    }
}

fn place(plan: &JobPlan) -> Place {
    plan.place.clone()
}

/// Directions and sizes are the log's.
fn take_from_log(plan: &mut JobPlan, replay: &Replay, own: &ReplayPlan) {
    plan.offsets.spec.accesses = match (replay.access(), own.options.read_only) {
        (Access::Read, _) | (_, true) => Accesses::Read,
        (Access::Write, false) => Accesses::Write,
        (Access::ReadWrite, false) => Accesses::ReadWrite,
    };
    if let Some(own) = &mut plan.replay {
        own.lasts_us = u64::try_from(replay.duration().as_micros()).unwrap_or(u64::MAX);
    }
    // Files are opened when the log says so, however many that are.
    plan.files.open = None;
    for direction in Direction::ALL {
        let sizes = &mut plan.offsets.spec.block_sizes[direction];
        sizes.max_bytes = sizes.max_bytes.max(u64::from(replay.totals().bytes_max()));
    }
}

fn remarks(replay: &Replay) -> Vec<String> {
    let all = replay.remarks();
    let mut texts: Vec<String> = all.first().iter().map(ToString::to_string).collect();
    let more = all.count() - texts.len() as u64;
    if more > 0 {
        texts.push(format!("read_iolog: {more} more lines are ignored"));
    }
    texts
}
