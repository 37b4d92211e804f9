//! `fsprism densefs`: file systems in memory that processes share.

mod exec;

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use densefs_fuse::Mount;
use densefs_process::{CopyError, CopyTotals, DenseFs, Failures, Lost, NewArena, check, make};
use serde::Serialize;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use textual::{Columns, plain_text};

use crate::arguments::densefs::{
    DensefsCommand, DensefsOptions, MkfsOptions, MountOptions, RoundsOptions, TransferOptions,
};
use crate::exit::{OrInputError, Outcome};
use crate::output;
use crate::output::gauge::Gauge;

/// Size of the lines that a DenseFS consists of, in bytes.
const LINE_BYTES: u64 = 64;

/// Runs a subcommand of `fsprism densefs`.
pub(crate) fn densefs(command: &DensefsCommand) -> anyhow::Result<Outcome> {
    match command {
        DensefsCommand::Mkfs(options) => mkfs(options),
        DensefsCommand::Exec(options) => exec::exec(options),
        DensefsCommand::Mount(options) => mount(options),
        DensefsCommand::Stat(options) => stat(options),
        DensefsCommand::Check(options) => check_arena(options),
        DensefsCommand::Trim(options) => trim(options),
        DensefsCommand::Import(options) => import(options),
        DensefsCommand::Export(options) => export(options),
        DensefsCommand::Rounds(options) => rounds(options),
    }
}

/// What a run of the suite pollution has executed where `DenseFS` is reached as programs do.
fn rounds(options: &RoundsOptions) -> anyhow::Result<Outcome> {
    let done = suites::pollution::rounds(&options.job);
    let answer = done.map_err(|why| anyhow::anyhow!("{why}")).or_input_error()?;
    output::print(&answer)?;
    Ok(Outcome::Success)
}

fn mkfs(options: &MkfsOptions) -> anyhow::Result<Outcome> {
    let root = DenseFs::new_root(options.mode);
    let request = NewArena {
        bytes: options.size,
        root,
        overwrites: options.overwrite,
        threads: options.threads,
    };
    make(&options.arena, &request).or_input_error()?;
    Ok(Outcome::Success)
}

/// Mounts a DenseFS and leaves a process running that serves it.
fn mount(options: &MountOptions) -> anyhow::Result<Outcome> {
    if options.serve || options.foreground {
        return serve(options);
    }
    let program = std::env::current_exe()?;
    let mut command = Command::new(program);
    command.args(["densefs", "mount", "--serve"]).arg(&options.arena).arg(&options.directory);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let mut said = Vec::new();
    if let Some(output) = &mut child.stdout {
        output.read_to_end(&mut said)?;
    }
    if said == MOUNTED {
        return Ok(Outcome::Success);
    }
    let output = child.wait_with_output()?;
    let why = String::from_utf8_lossy(&output.stderr);
    let why = why.trim().trim_start_matches("fsprism: ").to_owned();
    Err(anyhow::anyhow!(why)).or_input_error()
}

/// What the serving process prints as soon as the file system is mounted.
const MOUNTED: &[u8] = b"mounted\n";

/// Serves a mount until it is unmounted, or until a signal asks to unmount it.
fn serve(options: &MountOptions) -> anyhow::Result<Outcome> {
    let files = DenseFs::attach(&options.arena).or_input_error()?;
    let mut mount = Mount::on(&options.directory, files).or_input_error()?;
    let mut unmounter = mount.unmounter();
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            // A mount that is in use stays, as with umount(8).
            unmounter.unmount().ok();
        }
    });
    if options.serve {
        // The process must outlive the terminal that it was started from.
        rustix::process::setsid().ok();
        output::print(&String::from_utf8_lossy(MOUNTED))?;
        let nothing = std::fs::File::options().write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdout(&nothing)?;
        rustix::stdio::dup2_stderr(&nothing)?;
    }
    mount.serve()?;
    Ok(Outcome::Success)
}

/// How full a DenseFS is.
#[derive(Debug, Serialize)]
struct Usage {
    path: PathBuf,
    bytes: u64,
    free_bytes: u64,
    threads: u32,
    /// This command's own thread included.
    threads_used: u32,
}

fn stat(options: &DensefsOptions) -> anyhow::Result<Outcome> {
    let files = DenseFs::attach(&options.arena).or_input_error()?;
    let usage = files.usage()?;
    let answer = Usage {
        path: options.arena.clone(),
        bytes: usage.bytes,
        free_bytes: usage.free_bytes,
        threads: usage.threads,
        threads_used: usage.threads_used,
    };
    output::print_answer(options.output.format, &answer, |_| {
        let mut columns = Columns::headed(["", "bytes", "share"]);
        let share = |bytes: u64| textual::percent(bytes as f64 / usage.bytes.max(1) as f64);
        for (what, bytes) in [("used", usage.bytes - usage.free_bytes), ("free", usage.free_bytes)]
        {
            columns.row([what.to_owned(), textual::grouped(bytes as f64), share(bytes)]);
        }
        let others = usage.threads_used.saturating_sub(1);
        let threads = usage.threads;
        format!("{}\nthreads: {others} use it, at most {threads} can\n", columns.render())
    })
}

/// How much memory was returned to the system.
#[derive(Debug, Serialize)]
struct Trimmed {
    path: PathBuf,
    returned_bytes: u64,
}

fn trim(options: &DensefsOptions) -> anyhow::Result<Outcome> {
    let files = DenseFs::attach(&options.arena).or_input_error()?;
    let answer = Trimmed { path: options.arena.clone(), returned_bytes: files.trim()? };
    output::print_answer(options.output.format, &answer, |_| {
        format!("returned {} bytes\n", textual::grouped(answer.returned_bytes as f64))
    })
}

/// What a check found.
#[derive(Debug, Serialize)]
struct CheckAnswer {
    path: PathBuf,
    /// The first problem found; `None` if the DenseFS is whole.
    problem: Option<String>,
    directories: u64,
    others: u64,
    used_bytes: u64,
    stock_bytes: u64,
    free_bytes: u64,
}

fn check_arena(options: &DensefsOptions) -> anyhow::Result<Outcome> {
    let files = DenseFs::attach(&options.arena).or_input_error()?;
    let mut gauge = Gauge::new("checking");
    let found = files.check_showing(&mut |checked| gauge.checked(checked));
    gauge.finish();
    let found = found.or_input_error()?;
    let report = found.unwrap_or_default();
    let answer = CheckAnswer {
        path: options.arena.clone(),
        problem: found.err().map(|problem| problem.to_string()),
        directories: report.directories,
        others: report.others,
        used_bytes: report.lines_used * LINE_BYTES,
        stock_bytes: report.lines_in_stock * LINE_BYTES,
        free_bytes: report.lines_free * LINE_BYTES,
    };
    let done = output::print_answer(options.output.format, &answer, |_| words_of(&found, options))?;
    Ok(if found.is_ok() { done } else { Outcome::WithFailures })
}

fn words_of(found: &Result<check::Report, check::Problem>, options: &DensefsOptions) -> String {
    let path = options.arena.to_string_lossy();
    let path = plain_text(&path);
    match found {
        Ok(report) => format!(
            "{path} is whole: {} and {} in {} bytes\n",
            count_of(report.directories, "directory", "directories"),
            count_of(report.others, "other file", "other files"),
            textual::grouped((report.lines_used * LINE_BYTES) as f64),
        ),
        Err(problem) => format!(
            "{path} is damaged: {problem}; export what can still be read, and make a new one\n"
        ),
    }
}

fn import(options: &TransferOptions) -> anyhow::Result<Outcome> {
    let files = DenseFs::attach(&options.arena).or_input_error()?;
    let mut gauge = Gauge::new("importing");
    let copied = files.import(&options.directory, &mut gauge);
    gauge.finish();
    print_copied(&copied?, &options.directory, &options.arena)
}

fn export(options: &TransferOptions) -> anyhow::Result<Outcome> {
    let files = DenseFs::attach(&options.arena).or_input_error()?;
    let mut gauge = Gauge::new("exporting");
    let copied = files.export(&options.directory, &mut gauge);
    gauge.finish();
    let copied = match copied {
        Err(why @ CopyError::NotEmpty { .. }) => Err(why).or_input_error()?,
        copied => copied?,
    };
    print_copied(&copied, &options.arena, &options.directory)
}

/// `1 directory`, `2,000 directories`.
fn count_of(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", textual::grouped(count as f64), if count == 1 { one } else { many })
}

fn print_copied(copied: &CopyTotals, from: &Path, to: &Path) -> anyhow::Result<Outcome> {
    let mut text = format!(
        "copied {}, {} with {} and {} from {} to {}\n",
        count_of(copied.directories, "directory", "directories"),
        count_of(copied.files, "file", "files"),
        count_of(copied.bytes, "byte", "bytes"),
        count_of(copied.others, "other inode", "other inodes"),
        plain_text(&from.to_string_lossy()),
        plain_text(&to.to_string_lossy()),
    );
    text.push_str(&not_kept(copied));
    output::print(&text)?;
    let is_all = copied.devices.count == 0 && copied.failures.count == 0;
    Ok(if is_all { Outcome::Success } else { Outcome::WithFailures })
}

/// A line for each kind of thing that a copy lacks.
fn not_kept(copied: &CopyTotals) -> String {
    let mut text = String::new();
    let mut say = |count: u64, what: &str, first: &str| {
        if count > 0 {
            let which = if count == 1 { "" } else { "the first is " };
            text.push_str(&format!("{what}: {which}{}\n", plain_text(first)));
        }
    };
    let Lost { count, first } = &copied.attributes;
    let what = count_of(*count, "extended attribute", "extended attributes");
    say(*count, &format!("{what} not kept"), first);
    let Lost { count, first } = &copied.times;
    let what = count_of(*count, "time", "times");
    say(
        *count,
        &format!("{what} changed to the nearest that a DenseFS can store, 1677 to 2262"),
        first,
    );
    let Lost { count, first } = &copied.devices;
    let what = count_of(*count, "device", "devices");
    say(*count, &format!("{what} left out, as only root can make devices"), first);
    let Failures { count, first } = &copied.failures;
    for why in first {
        text.push_str(&format!("not copied, or only in part: {}\n", plain_text(&why.to_string())));
    }
    let others = count.saturating_sub(first.len() as u64);
    if others > 0 {
        text.push_str(&format!(
            "and {} not copied, or only in part\n",
            count_of(others, "other", "others")
        ));
    }
    text
}
