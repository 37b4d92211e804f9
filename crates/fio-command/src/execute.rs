//! Jobs from texts to reports.

use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use job_files::JobText;
use job_offsets::ZipfSampler;
use job_results::{
    Eta, JobError as ResultError, JobResult, Report, ReportTime, RunFacts, write, write_start,
};
use jobs::plan::JobPlan;
use jobs::{JobError, JobInstance, SessionResult, Watch, announcement, instances, run};
use measure::SystemClock;

use crate::arguments::{CommandError, JobsRequest, Request, When, output_file};
use crate::bandwidth_log::BandwidthLog;
use crate::eta::Progress;
use crate::{Streams, VERSION, help};

/// What fio exits with after a signal.
const INTERRUPTED: u8 = 128;

/// Does what is asked for.
pub(crate) fn execute(request: &Request, streams: &mut Streams<'_>) -> Result<u8, CommandError> {
    match request {
        Request::Print(print) => help::print(print, streams.out).map_err(CommandError::Writing),
        Request::Jobs(jobs) => execute_jobs(jobs, streams),
    }
}

fn execute_jobs(request: &JobsRequest, streams: &mut Streams<'_>) -> Result<u8, CommandError> {
    let mut plans = request.texts.iter().map(plan).collect::<Result<Vec<_>, _>>()?;
    for replay in plans.iter_mut().filter_map(|plan| plan.replay.as_mut()) {
        replay.options.read_only = request.read_only;
    }
    check(request, &plans)?;
    if request.show_command {
        let text = help::command_line(&request.texts);
        write!(streams.out, "{text}").map_err(CommandError::Writing)?;
        return Ok(0);
    }
    if request.parse_only {
        return Ok(0);
    }
    let jobs = instances(&plans)?;
    check_devices(request, &jobs)?;
    if jobs.len() > request.jobs_max {
        let why = format!("{} jobs are more than --max-jobs={}", jobs.len(), request.jobs_max);
        return Err(CommandError::Wrong(why));
    }
    let mut file = request.output.as_deref().map(output_file).transpose()?;
    let has_file = file.is_some();
    let Streams { out, err, is_terminal } = streams;
    let results: &mut dyn Write = match &mut file {
        Some(file) => file,
        None => *out,
    };
    if request.formats.is_normal {
        announce(&jobs, results).map_err(CommandError::Writing)?;
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Without handlers, signals end the program, as they do anyway.
        let _registered = signal_hook::flag::register(signal, Arc::clone(&interrupted));
    }
    let asked = Arc::new(AtomicBool::new(false));
    let _registered = signal_hook::flag::register(signal_hook::consts::SIGUSR1, Arc::clone(&asked));
    let shows_progress = match request.eta {
        When::Always => true,
        When::Never => false,
        When::Auto => *is_terminal && !has_file && request.formats.is_normal,
    };
    let (clock, _) = SystemClock::calibrate();
    let mut watcher = Watcher {
        request,
        results,
        err: *err,
        bandwidth: request.logs_bandwidth.then(BandwidthLog::new),
        progress: shows_progress.then(|| Progress::new(request)),
        began: Instant::now(),
        interrupted: &interrupted,
        has_said_interrupted: false,
        plans: &plans,
        asked,
        last_status: Instant::now(),
        written: Ok(()),
    };
    let done = run(&jobs, clock, &mut watcher, &interrupted);
    watcher.end_progress();
    let Watcher { written, results, bandwidth, err, .. } = watcher;
    written.map_err(CommandError::Writing)?;
    bandwidth.map_or(Ok(()), |log| log.write()).map_err(CommandError::Writing)?;
    say_failures(&done, err).map_err(CommandError::Writing)?;
    let report = report(&plans, &done);
    write(&report, request.formats, request.terse, results).map_err(CommandError::Writing)?;
    results.flush().map_err(CommandError::Writing)?;
    if interrupted.load(Ordering::Relaxed) {
        return Ok(INTERRUPTED);
    }
    Ok(u8::try_from(done.failures).unwrap_or(u8::MAX))
}

/// Says why jobs failed, since what programs read has only the number.
fn say_failures(done: &SessionResult, err: &mut dyn Write) -> io::Result<()> {
    for job in &done.jobs {
        if let Some(why) = &job.error {
            writeln!(err, "fsprism fio: {}: {}", job.name, why.text)?;
        }
    }
    Ok(())
}

/// A job as fio does it, to each number that it draws.
fn plan(text: &JobText) -> Result<JobPlan, JobError> {
    JobPlan::new(text, ZipfSampler::Approximate)
}

/// What the command line forbids, or would ignore.
fn check(request: &JobsRequest, plans: &[JobPlan]) -> Result<(), CommandError> {
    let changes = plans.iter().find(|plan| plan.writes() || plan.trims());
    if let Some(plan) = changes.filter(|_| request.read_only) {
        let why =
            format!("{}: trim and write operations are not allowed with --readonly", plan.name);
        return Err(CommandError::Wrong(why));
    }
    let names = |name: &str| plans.iter().filter(|plan| plan.name == name).count();
    for plan in plans {
        let Some(awaited) = &plan.schedule.wait_for else { continue };
        let why = match names(awaited) {
            1 => continue,
            0 => "there is no job of that name",
            _ => "there are several jobs of that name",
        };
        return Err(CommandError::Wrong(format!("{}: wait_for={awaited}: {why}", plan.name)));
    }
    Ok(())
}

/// What only `--destroy-data` permits.
fn check_devices(request: &JobsRequest, jobs: &[JobInstance<'_>]) -> Result<(), CommandError> {
    if request.destroys_data {
        return Ok(());
    }
    let Some((job, device)) = jobs.iter().find_map(destroyed) else { return Ok(()) };
    let why = format!(
        "{job} writes to the device {device}, and what is on it is destroyed: add \
         --destroy-data if that is what you want"
    );
    Err(CommandError::Wrong(why))
}

/// A device that a job writes to, with the job's name.
fn destroyed(job: &JobInstance<'_>) -> Option<(String, String)> {
    let plan = job.own_plan();
    if !(plan.writes() || plan.trims()) {
        return None;
    }
    let is_device =
        |path: &PathBuf| path.metadata().is_ok_and(|found| found.file_type().is_block_device());
    let device = job.paths().into_iter().find(is_device)?;
    Some((job.name().to_owned(), device.display().to_string()))
}

fn announce(jobs: &[JobInstance<'_>], out: &mut dyn Write) -> io::Result<()> {
    for job in jobs.iter().filter(|job| job.number == 0) {
        announcement(job.plan, job.group).write(out)?;
    }
    let threads = jobs.iter().filter(|job| job.plan.process.is_thread).count();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    write_start(VERSION, count(threads), count(jobs.len() - threads), out)
}

/// All that is printed at the end.
fn report(plans: &[JobPlan], done: &SessionResult) -> Report {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let facts = RunFacts {
        version: VERSION.to_owned(),
        time: ReportTime {
            epoch_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            text: system_calls::local_time_text(seconds),
        },
        global_options: plans.first().map(|plan| plan.global_options.clone()).unwrap_or_default(),
        eta: if done.elapsed_ms < 2000 { Eta::Unknown } else { Eta::Seconds(0) },
        elapsed_s: done.elapsed_ms.div_ceil(1000),
        disks: done.disks.clone(),
    };
    let jobs: Vec<JobResult> = done.jobs.iter().map(with_first_error).collect();
    Report::new(facts, &jobs)
}

/// A job that went on after errors is shown with the first of them, though it has not failed.
fn with_first_error(job: &JobResult) -> JobResult {
    let number = job.errors.first;
    let is_shown = job.error.is_none() && number != 0;
    let why = io::Error::from_raw_os_error(number).to_string();
    let why = why.split(" (os error").next().unwrap_or_default();
    let text = format!("func=io_u error, error={why}");
    let first = is_shown.then_some(ResultError { number, text });
    JobResult { error: job.error.clone().or(first), ..job.clone() }
}

struct Watcher<'a> {
    request: &'a JobsRequest,
    results: &'a mut dyn Write,
    err: &'a mut dyn Write,
    progress: Option<Progress>,
    bandwidth: Option<BandwidthLog>,
    began: Instant,
    interrupted: &'a AtomicBool,
    has_said_interrupted: bool,
    plans: &'a [JobPlan],
    /// Set by a signal: print what has been done so far.
    asked: Arc<AtomicBool>,
    last_status: Instant,
    written: io::Result<()>,
}

impl Watcher<'_> {
    fn keep(&mut self, written: io::Result<()>) {
        if self.written.is_ok() {
            self.written = written;
        }
    }

    /// Prints everything so far, if it is time to or somebody asks by a signal.
    fn report_so_far(&mut self, so_far: &dyn Fn() -> SessionResult) {
        let is_asked = self.asked.swap(false, Ordering::Relaxed);
        let interval = self.request.status_interval_ms.map(Duration::from_millis);
        let is_due = interval.is_some_and(|every| self.last_status.elapsed() >= every);
        if !is_asked && !is_due {
            return;
        }
        self.last_status = Instant::now();
        let report = report(self.plans, &so_far());
        let (formats, terse) = (self.request.formats, self.request.terse);
        let written = write(&report, formats, terse, self.results);
        self.keep(written);
    }

    fn end_progress(&mut self) {
        if self.progress.take().is_some_and(|progress| progress.has_printed) {
            let written = writeln!(self.err);
            self.keep(written);
        }
    }
}

impl Watch for Watcher<'_> {
    fn lays_out(&mut self, job: &str, files: usize, bytes: u64) {
        if self.request.formats.is_normal {
            let (s, total) = if files > 1 { ("s", "total ") } else { ("", "") };
            let written = writeln!(
                self.results,
                "{job}: Laying out IO file{s} ({files} file{s} / {total}{}MiB)",
                bytes >> 20
            );
            self.keep(written);
        }
    }

    fn starts(&mut self, _jobs: &[JobInstance<'_>]) {
        self.began = Instant::now();
        self.last_status = Instant::now();
    }

    fn begins(&mut self, _job: &JobInstance<'_>) {}

    fn ended(&mut self, _job: &JobInstance<'_>) {}

    fn looks(&mut self, jobs: &[JobInstance<'_>], so_far: &dyn Fn() -> SessionResult) {
        self.report_so_far(so_far);
        if self.interrupted.load(Ordering::Relaxed) && !self.has_said_interrupted {
            self.has_said_interrupted = true;
            let written = writeln!(self.err, "\nfsprism fio: terminating on a signal");
            self.keep(written);
        }
        if let Some(log) = &mut self.bandwidth {
            log.look(jobs, self.began.elapsed());
        }
        if let Some(progress) = &mut self.progress
            && let Some(text) = progress.text(jobs, self.began.elapsed())
        {
            let written = write!(self.err, "{text}").and_then(|()| self.err.flush());
            self.keep(written);
        }
    }

    fn complains(&mut self, text: &str) {
        let written = writeln!(self.err, "{text}");
        self.keep(written);
    }
}
