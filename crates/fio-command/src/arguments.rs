//! The command line: options of fio itself, options of jobs, and job files.
//!
//! Options before the first `--name` belong to a job without a name; `--name=global` sets options
//! for all that follow.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use job_files::{JobFileError, JobText, Place, Setting, Surroundings, options};
use job_results::{OutputFormats, TerseVersion};
use jobs::JobError;

/// What is asked for.
#[derive(Debug)]
pub(crate) enum Request {
    /// Print something and end.
    Print(Print),
    /// Do jobs.
    Jobs(Box<JobsRequest>),
}

/// What is printed.
#[derive(Debug)]
pub(crate) enum Print {
    Version,
    Help,
    /// Help about an option of jobs, or all.
    OptionHelp(String),
    /// The engines, or help about one.
    EngineHelp(Option<String>),
}

/// Jobs, and how they are reported.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct JobsRequest {
    pub(crate) texts: Vec<JobText>,
    /// Of the `[global]` sections.
    pub(crate) parse_only: bool,
    pub(crate) show_command: bool,
    pub(crate) output: Option<PathBuf>,
    pub(crate) formats: OutputFormats,
    pub(crate) terse: TerseVersion,
    pub(crate) eta: When,
    pub(crate) eta_newline_ms: Option<u64>,
    pub(crate) eta_interval_ms: u64,
    pub(crate) status_interval_ms: Option<u64>,
    pub(crate) read_only: bool,
    pub(crate) destroys_data: bool,
    pub(crate) logs_bandwidth: bool,
    pub(crate) jobs_max: usize,
}

/// When the line about progress is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    Never,
    /// On a terminal.
    Auto,
}

/// Why a command line cannot be executed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error(transparent)]
    Jobs(#[from] JobError),
    #[error("{0}")]
    Wrong(String),
    #[error("{}: {source}", path.display())]
    Output { path: PathBuf, source: io::Error },
    #[error("the results cannot be written: {0}")]
    Writing(io::Error),
}

impl From<JobFileError> for CommandError {
    fn from(error: JobFileError) -> Self {
        Self::Jobs(error.into())
    }
}

impl CommandError {
    /// fio's: 1 for everything.
    pub(crate) fn status(&self) -> u8 {
        1
    }
}

/// Jobs that fio would have room for.
const JOBS_MAX: usize = 4096;

/// What of fio's own command line is not supported.
const REFUSED: &[(&str, &str)] = &[
    ("client", "jobs run on this machine; start fsprism on the other"),
    ("server", "jobs run on this machine; start fsprism on the other"),
    ("remote-config", "jobs run on this machine; start fsprism on the other"),
    ("daemonize", "use a service manager, or `&`"),
    ("debug", "use strace to see what is done"),
    ("merge-blktrace-only", "traces are not merged"),
    ("cpuclock-test", "use `fsprism machine` to see which clock is used"),
    ("crctest", "checksums are not timed here"),
    ("idle-prof", "processors are not watched; use `perf stat` or `vmstat`"),
    ("inflate-log", "logs are not compressed here"),
    ("trigger", "no commands are run"),
    ("trigger-file", "no commands are run"),
    ("trigger-timeout", "no commands are run"),
    ("trigger-remote", "no commands are run"),
    ("aux-path", "start it where it may write files"),
];

#[derive(Default)]
struct Parsed {
    global: Vec<Setting>,
    jobs: Vec<JobText>,
    current: Option<JobText>,
    files: Vec<String>,
    sections: Vec<String>,
}

/// Reads a command line.
pub(crate) fn parse(arguments: &[String]) -> Result<Request, CommandError> {
    let mut request = JobsRequest {
        texts: Vec::new(),
        parse_only: false,
        show_command: false,
        output: None,
        formats: OutputFormats::default(),
        terse: TerseVersion::default(),
        eta: When::Auto,
        eta_newline_ms: None,
        eta_interval_ms: 1000,
        status_interval_ms: None,
        read_only: false,
        destroys_data: false,
        logs_bandwidth: false,
        jobs_max: JOBS_MAX,
    };
    let mut parsed = Parsed::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--" {
            parsed.files.extend(rest.by_ref().cloned());
            break;
        }
        let Some(option) = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-'))
        else {
            parsed.files.push(argument.clone());
            continue;
        };
        if option.is_empty() {
            parsed.files.push(argument.clone());
            continue;
        }
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        let name = completed(name);
        let mut value_of = |value: Option<String>| {
            let value = value.or_else(|| rest.next().cloned());
            value.ok_or_else(|| CommandError::Wrong(format!("--{name} needs a value")))
        };
        if let Some(print) = printed(name, value.as_deref()) {
            return Ok(Request::Print(print));
        }
        if let Some((_, why)) = REFUSED.iter().find(|(one, _)| *one == name) {
            return Err(CommandError::Wrong(format!("--{name} is not supported: {why}")));
        }
        match name {
            "section" => parsed.sections.push(value_of(value)?),
            _ if WITH_VALUES.contains(&name) => set(&mut request, name, &value_of(value)?)?,
            _ if switch(&mut request, name) => {}
            _ => {
                let takes_none = value.is_none() && is_flag(name);
                let value = if takes_none { None } else { Some(value_of(value)?) };
                parsed.set(name, value);
            }
        }
    }
    request.texts = parsed.texts()?;
    Ok(Request::Jobs(Box::new(request)))
}

/// The whole name of an option of which the command line has the beginning, if no other begins so.
fn completed(name: &str) -> &str {
    let is_whole = |known: &&str| *known == name;
    if name.len() < 2 || all_names().any(|known| is_whole(&known)) {
        return name;
    }
    let begun: BTreeSet<&str> = all_names().filter(|known| known.starts_with(name)).collect();
    match begun.first() {
        Some(only) if begun.len() == 1 => only,
        _ => name,
    }
}

/// The names of all options of the command line.
fn all_names() -> impl Iterator<Item = &'static str> {
    let of_jobs = options::OPTIONS.iter().flat_map(|option| [option.name, option.alias]);
    let own = [PRINTED, WITH_VALUES, SWITCHES].into_iter().flatten().copied();
    own.chain(REFUSED.iter().map(|(name, _)| *name)).chain(["section"]).chain(of_jobs)
}

const PRINTED: &[&str] = &["version", "v", "help", "h", "cmdhelp", "enghelp"];

fn printed(name: &str, value: Option<&str>) -> Option<Print> {
    match name {
        "version" | "v" => Some(Print::Version),
        "help" | "h" => Some(Print::Help),
        "cmdhelp" => Some(Print::OptionHelp(value.unwrap_or("all").to_owned())),
        "enghelp" => Some(Print::EngineHelp(value.map(str::to_owned))),
        _ => None,
    }
}

const WITH_VALUES: &[&str] = &[
    "output",
    "output-format",
    "terse-version",
    "eta",
    "eta-newline",
    "eta-interval",
    "status-interval",
    "alloc-size",
    "max-jobs",
];

const SWITCHES: &[&str] = &[
    "parse-only",
    "showcmd",
    "minimal",
    "m",
    "append-terse",
    "a",
    "readonly",
    "bandwidth-log",
    "destroy-data",
    "warnings-fatal",
];

fn switch(request: &mut JobsRequest, name: &str) -> bool {
    match name {
        "parse-only" => request.parse_only = true,
        "showcmd" => request.show_command = true,
        "minimal" | "m" => request.formats = terse_only(),
        "append-terse" | "a" => request.formats.is_terse = true,
        "readonly" => request.read_only = true,
        "bandwidth-log" => request.logs_bandwidth = true,
        "destroy-data" => request.destroys_data = true,
        // What fio warns of and does anyway is refused here in any case.
        "warnings-fatal" => {}
        _ => return false,
    }
    true
}

fn terse_only() -> OutputFormats {
    OutputFormats { is_normal: false, json: None, is_terse: true }
}

fn set(request: &mut JobsRequest, name: &str, value: &str) -> Result<(), CommandError> {
    let wrong = |what: &str| CommandError::Wrong(format!("--{name}={value}: {what}"));
    let milliseconds = || {
        let time = job_files::quantity::time_us(value, true);
        time.map(|us| us / 1000).map_err(|why| wrong(&why))
    };
    match name {
        "output" => request.output = Some(PathBuf::from(value)),
        "output-format" => {
            request.formats =
                value.parse().map_err(|why: job_results::UnknownFormat| wrong(&why.to_string()))?;
        }
        "terse-version" => {
            let version = value.parse().ok().and_then(TerseVersion::of);
            request.terse = version.ok_or_else(|| wrong("it can be 2, 3, 4 or 5"))?;
        }
        "eta" => {
            request.eta = match value {
                "always" => When::Always,
                "never" => When::Never,
                "auto" => When::Auto,
                _ => return Err(wrong("it can be always, never or auto")),
            };
        }
        "eta-newline" => request.eta_newline_ms = Some(milliseconds()?),
        "eta-interval" => request.eta_interval_ms = milliseconds()?.max(250),
        "status-interval" => request.status_interval_ms = Some(milliseconds()?.max(100)),
        "max-jobs" => {
            let count = value.parse().ok().filter(|count| *count > 0);
            request.jobs_max = count.ok_or_else(|| wrong("it must be 1 or more"))?;
        }
        // Memory is allocated as it is needed.
        "alloc-size" => {
            value.parse::<u64>().map_err(|_| wrong("it must be a number of KiB"))?;
        }
        _ => unreachable!("`WITH_VALUES` has no other"),
    }
    Ok(())
}

fn is_flag(name: &str) -> bool {
    let kind = options::find(name).map(|option| option.kind);
    matches!(kind, Some(options::Kind::Flag | options::Kind::OptionalText))
}

impl Parsed {
    fn set(&mut self, name: &str, value: Option<String>) {
        if name == "name" {
            self.end_job();
            let value = value.unwrap_or_default();
            if value != "global" {
                self.begin_job(&value);
                self.push("name", Some(value));
            }
            return;
        }
        self.push(name, value);
    }

    fn begin_job(&mut self, name: &str) {
        self.current = Some(JobText {
            name: name.to_owned(),
            place: Place::CommandLine,
            settings: self.global.clone(),
            global: self.global.len(),
        });
    }

    /// Before the first job, and after `--name=global`, options are for all jobs.
    fn push(&mut self, name: &str, value: Option<String>) {
        let setting = Setting { name: name.to_owned(), value, place: Place::CommandLine };
        match &mut self.current {
            Some(job) => job.settings.push(setting),
            None => self.global.push(setting),
        }
    }

    fn end_job(&mut self) {
        if let Some(job) = self.current.take() {
            // `--section` chooses among the jobs of a command line as well.
            if self.sections.is_empty() || self.sections.contains(&job.name) {
                self.jobs.push(job);
            }
        }
    }

    fn texts(mut self) -> Result<Vec<JobText>, CommandError> {
        self.end_job();
        let surroundings = Surroundings::of_this_process();
        for (index, file) in self.files.iter().enumerate() {
            let path = Path::new(file);
            let only = &self.sections;
            let mut texts = if file == "-" {
                let mut bytes = Vec::new();
                io::Read::read_to_end(&mut io::stdin(), &mut bytes)
                    .map_err(|source| CommandError::Output { path: "-".into(), source })?;
                job_files::read_text(path, &bytes, only, &surroundings)?
            } else {
                job_files::read(path, only, &surroundings)?
            };
            // As in fio, a second file begins with the defaults.
            for text in texts.iter_mut().filter(|_| index == 0) {
                text.settings.splice(0..0, self.global.iter().cloned());
                text.global += self.global.len();
            }
            // Each further file begins when the one before has ended.
            if index > 0
                && let Some(first) = texts.first_mut()
            {
                let place = first.place.clone();
                let wall = Setting { name: "stonewall".to_owned(), value: None, place };
                first.settings.insert(first.global, wall);
            }
            self.jobs.extend(texts);
        }
        if self.jobs.is_empty() {
            let why = "no jobs: name a job file, or begin one with --name=NAME";
            return Err(CommandError::Wrong(why.to_owned()));
        }
        Ok(self.jobs)
    }
}

/// Opens the file that results go to.
pub(crate) fn output_file(path: &Path) -> Result<File, CommandError> {
    File::create(path).map_err(|source| CommandError::Output { path: path.to_owned(), source })
}
