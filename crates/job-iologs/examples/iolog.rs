//! Shows what a log of fio comes to.
//!
//! - `iolog events LOG [OPTION=VALUE]...`: the steps of its replay, with options as in job files.
//! - `iolog times LOG`: how long its lines take to be read, to become steps and to be written.
//!
//! `cargo run --release -p fsprism-job-iologs --example iolog -- events LOG`

use std::error::Error;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use job_iologs::{
    Extent, FileIndex, IoKind, IologReader, IologWriter, Replay, ReplayAction, ReplayEvent,
    ReplayOptions, Source, TrimReplay,
};

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> ExitCode {
    match execute() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn execute() -> Outcome {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (Some(command), Some(log)) = (arguments.first(), arguments.get(1)) else {
        return Err("give a command and a log".into());
    };
    let log = Path::new(log);
    let options = options(&arguments[2..])?;
    match command.as_str() {
        "events" => print_events(log, &options),
        "times" => print_times(log),
        _ => Err(format!("there is no command {command}").into()),
    }
}

fn options(settings: &[String]) -> Result<ReplayOptions, Box<dyn Error>> {
    let mut options = ReplayOptions::default();
    for setting in settings {
        let (name, value) = setting.split_once('=').unwrap_or((setting, "1"));
        match name {
            "read_iolog_chunked" => options.chunked = value == "1",
            "replay_no_stall" => options.no_stall = value == "1",
            "readonly" => options.read_only = value == "1",
            "replay_redirect" => options.redirect = Some(value.into()),
            "replay_scale" => options.scale = value.parse()?,
            "replay_align" => options.align_bytes = value.parse()?,
            "replay_time_scale" => options.time_scale_percent = value.parse()?,
            "replay_skip" => options.skip = value.parse()?,
            "trims" => options.trims = TrimReplay::Replayed,
            _ => return Err(format!("there is no option {name}").into()),
        }
    }
    Ok(options)
}

fn print_events(log: &Path, options: &ReplayOptions) -> Outcome {
    let mut out = io::BufWriter::new(io::stdout());
    let mut replay = Replay::new(Source::open(log)?, options)?;
    while let Some(event) = replay.next() {
        let ReplayEvent { at, action } = event?;
        let at = at.map_or("-".to_owned(), |at| at.as_micros().to_string());
        let name = |file: FileIndex| replay.files()[file.get()].name.display();
        let extent = |name: &str, extent: Extent| (name.to_owned(), Some(extent), extent.file);
        let (action, extent, file) = match action {
            ReplayAction::WaitUntil { since_run_began } => {
                writeln!(out, "{at} wait {}", since_run_began.as_millis())?;
                continue;
            }
            ReplayAction::Open(file) => ("open".to_owned(), None, file),
            ReplayAction::Close(file) => ("close".to_owned(), None, file),
            ReplayAction::Sync(file) => ("sync".to_owned(), None, file),
            ReplayAction::Datasync(file) => ("datasync".to_owned(), None, file),
            ReplayAction::Read(read) => extent("read", read),
            ReplayAction::Write(written) => extent("write", written),
            ReplayAction::Trim(trimmed) => extent("trim", trimmed),
        };
        let extent = extent.map(|extent| format!(" {} {}", extent.offset, extent.length));
        writeln!(out, "{at} {action} {}{}", name(file), extent.unwrap_or_default())?;
    }
    for remark in replay.remarks().first() {
        eprintln!("{remark}");
    }
    eprintln!("{:?}: {:?}", replay.access(), replay.totals());
    eprintln!("{:?}", replay.files());
    Ok(())
}

fn print_times(log: &Path) -> Outcome {
    let stopwatch = Stopwatch::start()?;
    let mut reader = IologReader::new(Source::open(log)?)?;
    let mut lines = 0_u64;
    while reader.next_line()?.is_some() {
        lines += 1;
    }
    stopwatch.print("lines read", lines)?;
    for chunked in [false, true] {
        let stopwatch = Stopwatch::start()?;
        let options = ReplayOptions { chunked, ..ReplayOptions::default() };
        let replay = Replay::new(Source::open(log)?, &options)?;
        let mut steps = 0;
        for event in replay {
            event?;
            steps += 1;
        }
        stopwatch.print(if chunked { "steps, chunked" } else { "steps, whole" }, steps)?;
    }
    let stopwatch = Stopwatch::start()?;
    let mut log = IologWriter::new(io::sink());
    let file = log.add(Duration::ZERO, OsStr::new("/a/directory/and/a/file"))?;
    for line in 0..lines {
        let at = Duration::from_nanos(line * 5_120);
        log.io(at, file, IoKind::Read, line * 4_096, 4_096)?;
    }
    stopwatch.print("lines written", lines)
}

/// Wall time, and that of the processor in this thread.
struct Stopwatch {
    begin: Instant,
    processor_ns: u64,
}

impl Stopwatch {
    fn start() -> Result<Self, Box<dyn Error>> {
        Ok(Self { begin: Instant::now(), processor_ns: Self::processor_ns()? })
    }

    fn processor_ns() -> Result<u64, Box<dyn Error>> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
        Ok(text.split(' ').next().unwrap_or_default().parse()?)
    }

    #[expect(clippy::cast_precision_loss, reason = "digits that nobody sees")]
    fn print(&self, what: &str, count: u64) -> Outcome {
        let wall_ns = self.begin.elapsed().as_nanos() as f64 / count.max(1) as f64;
        let processor_ns = (Self::processor_ns()? - self.processor_ns) as f64 / count.max(1) as f64;
        println!("{count} {what}: {wall_ns:.1} ns each, {processor_ns:.1} ns of the processor");
        Ok(())
    }
}
