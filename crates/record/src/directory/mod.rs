//! The run directory: made once, appended to per replicate, readable up to its last complete line.

mod beginning;
mod group;
mod manifest_text;
mod output;
mod part;
mod reserved;
mod room;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use measure::Histogram;
use rustix::fs::{AtFlags, FlockOperation, flock, fstat, renameat, unlinkat};

pub use self::group::{GroupDirectory, GroupMember};
pub use self::output::OutputDirectory;
pub use self::reserved::ReservedDirectory;
use crate::error::{RecordError, TakeInError};
use crate::histogram_log::{self, HistogramLocation};
use crate::journal::Line;
use crate::journal_text::{self, Damage, Parsed};
use crate::manifest::{Cell, Manifest};
use crate::open_directory::{OpenDirectory, read_at_most};
use crate::traffic;
use crate::warning::Warning;

const MANIFEST: &str = "manifest.json";
const MANIFEST_PART: &str = "manifest.json.part";
const JOURNAL: &str = "cells.jsonl";
const HISTOGRAMS: &str = "histograms";
/// Directory, within a run's, for the traces of footprints: a `LABEL.trace` for each target.
pub const TRACES: &str = "footprint";
/// Maximum size of a journal in bytes; a run ends when its journal is nearly that long.
const JOURNAL_BYTES_MAX: u64 = 128 << 20;
/// A run as stored on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What was asked for.
    pub manifest: Manifest,
    /// The journal up to its last complete line, without damaged lines.
    pub lines: Vec<Line>,
    /// The damaged places.
    pub damage: Vec<Damage>,
}

impl Run {
    /// A warning about damaged parts of the journal, if there are any.
    #[must_use]
    pub fn left_out(&self) -> Option<Warning> {
        let first = self.damage.first()?;
        let places = u32::try_from(self.damage.len()).unwrap_or(u32::MAX);
        Some(Warning::JournalDamaged { places, line: first.line as u64, why: first.why.clone() })
    }
}

/// Number of metrics of the cell that a line adds, if it adds one.
fn metrics_added(line: &Line) -> Option<usize> {
    if let Line::CellAdded(added) = line { Some(added.definition.metrics.len()) } else { None }
}

/// A run directory open for appending, by one process at a time.
#[derive(Debug)]
pub struct RunDirectory {
    held: OpenDirectory,
    histograms: OpenDirectory,
    journal: File,
    /// The number of the journal's last line.
    last_line: usize,
    /// Size of the journal in bytes.
    journal_bytes: u64,
    /// Number of metrics of each cell, including cells that searches added.
    metrics: Vec<usize>,
    /// Per cell, where its histogram log ends according to the journal.
    log_ends: HashMap<u32, u64>,
}

impl RunDirectory {
    /// Makes the directory `path` (which must be absent or empty) with the manifest in it.
    ///
    /// # Errors
    /// If the directory is not empty, another process is about to begin a run in it, or it cannot
    /// be written.
    pub fn create(path: &Path, manifest: &Manifest) -> Result<Self, RecordError> {
        ReservedDirectory::make(path)?.begin(manifest)
    }

    /// Begins a run in an empty directory whose journal has been locked.
    fn begin(held: OpenDirectory, journal: File, manifest: &Manifest) -> Result<Self, RecordError> {
        match beginning::begun(&held, manifest) {
            Ok(histograms) => {
                let metrics = manifest.cells.iter().map(|cell| cell.metrics.len()).collect();
                Ok(Self {
                    held,
                    histograms,
                    journal,
                    last_line: 0,
                    journal_bytes: 0,
                    metrics,
                    log_ends: HashMap::new(),
                })
            }
            Err(error) => {
                beginning::undo(&held);
                Err(error)
            }
        }
    }

    /// Checks that `path` is absent or empty, or contains only the remains of a run that never
    /// began because its process was killed before the manifest was complete.
    ///
    /// # Errors
    /// If it contains anything else, or is not a directory.
    pub fn check_new(path: &Path) -> Result<(), RecordError> {
        match OpenDirectory::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            held => check_new(&held.map_err(RecordError::io("read", path))?),
        }
    }

    /// Opens a run to resume it. An incomplete last line is cut off.
    ///
    /// # Errors
    /// If it is not a run, is damaged, is newer than this program, or another process is writing
    /// it.
    pub fn resume(path: &Path) -> Result<(Self, Run), RecordError> {
        let held = open_run(path)?;
        let manifest = manifest_text::read(&held)?;
        let mut journal = locked_journal(&held)?;
        let journal_path = held.path_of(JOURNAL);
        let text = read_at_most(&journal, JOURNAL_BYTES_MAX)
            .map_err(RecordError::io("read", &journal_path))?;
        let Parsed { lines, damage, whole_bytes, last } = journal_text::parse(&text, &manifest);
        if let Some(Damage { line, why }) = damage.into_iter().next() {
            return Err(RecordError::Damaged { path: journal_path, line, why });
        }
        journal
            .set_len(whole_bytes)
            .and_then(|()| journal.seek(SeekFrom::End(0)))
            .map_err(RecordError::io("write", &journal_path))?;
        let histograms = held.make_below(HISTOGRAMS);
        let histograms = histograms.map_err(RecordError::io("open", held.path_of(HISTOGRAMS)))?;
        let mut log_ends = HashMap::new();
        let mut metrics: Vec<usize> =
            manifest.cells.iter().map(|cell| cell.metrics.len()).collect();
        for line in &lines {
            if let Line::Replicate(replicate) = line
                && let Some(location) = replicate.histogram
            {
                log_ends.insert(replicate.cell, location.end_bytes());
            }
            metrics.extend(metrics_added(line));
        }
        let run = Run { manifest, lines, damage: Vec::new() };
        let (last_line, journal_bytes) = (last, whole_bytes);
        let directory =
            Self { held, histograms, journal, last_line, journal_bytes, metrics, log_ends };
        Ok((directory, run))
    }

    /// The path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.held.path()
    }

    /// The run in its current state.
    ///
    /// # Errors
    /// As [`Run::read`].
    pub fn read(&self) -> Result<Run, RecordError> {
        read_run(&self.held)
    }

    /// The beginning of another file in the directory; none if there is no such regular file.
    #[must_use]
    pub fn beginning(&self, name: &str, length: usize) -> Option<Vec<u8>> {
        let mut beginning = vec![0; length];
        let mut file = self.held.to_read(name).ok()?;
        let mut filled = 0;
        while let Ok(more @ 1..) = file.read(&mut beginning[filled..]) {
            filled += more;
        }
        beginning.truncate(filled);
        Some(beginning)
    }

    /// Reserves the directory for cache traffic counted alongside the run. It must be absent or
    /// empty.
    ///
    /// # Errors
    /// As [`ReservedDirectory::make`].
    pub fn reserve_traffic(&self) -> Result<ReservedDirectory, RecordError> {
        let made = self.held.make_below(traffic::SUITE);
        ReservedDirectory::hold(
            made.map_err(RecordError::io("make", self.held.path_of(traffic::SUITE)))?,
        )
    }

    /// Lets `fill` write into a temporary directory, and moves the file or directory called `name`
    /// from there into the run directory.
    ///
    /// # Errors
    /// If `fill` fails (its message then has the usual path instead of the temporary one), if it
    /// has not made `name`, or if the directory cannot be written.
    pub fn take_in(
        &self,
        name: &str,
        fill: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<(), TakeInError> {
        let part = format!("{name}.part");
        let path = self.held.path_of(&part);
        let removed = || self.held.remove_below(&part).map_err(RecordError::io("remove", &path));
        removed()?;
        let own = self.held.make_own_below(&part).map_err(RecordError::io("make", &path))?;
        let route = own.route().map_err(RecordError::io("make", &path))?;
        let filled = match fill(&route) {
            Err(why) => Err(TakeInError::NotFilled(own.shown(&why))),
            Ok(()) => renameat(&own, name, &self.held, name)
                .map_err(|error| RecordError::io("make", self.held.path_of(name))(error.into()))
                .map_err(TakeInError::from),
        };
        let removed = removed();
        filled?;
        Ok(removed?)
    }

    /// Reads the run in a subdirectory.
    ///
    /// # Errors
    /// As [`Run::read`].
    pub fn read_below(&self, name: &str) -> Result<Run, RecordError> {
        let below = self.held.below(name);
        read_run(&below.map_err(RecordError::io("open", self.held.path_of(name)))?)
    }

    /// The cache traffic counted alongside the run, like [`Run::traffic`].
    ///
    /// # Errors
    /// As [`Run::traffic`].
    pub fn traffic(&self, run: &Run) -> Result<Option<Run>, RecordError> {
        traffic_in(&self.held, run)
    }

    /// Writes a file next to those of the run, replacing any existing one.
    ///
    /// # Errors
    /// If the disk is full or fails.
    pub fn put(&self, name: &str, content: &[u8]) -> Result<(), RecordError> {
        let part = format!("{name}.part");
        self.held
            .replace(name, &part, content)
            .map_err(|source| RecordError::Beside { path: self.held.path_of(name), source })
            .map_err(|error| self.removed().unwrap_or(error))
    }

    /// Appends a line. When this returns, it is on disk.
    ///
    /// # Errors
    /// If the disk is full or fails, the directory was removed, or the line would not be readable.
    pub fn append(&mut self, line: &Line) -> Result<(), RecordError> {
        if let Some(removed) = self.removed() {
            return Err(removed);
        }
        let text = journal_text::text_of(line, self.last_line + 1);
        self.check_readable(line, &text)
            .map_err(|why| RecordError::NotReadable { path: self.held.path_of(JOURNAL), why })?;
        self.metrics.extend(metrics_added(line));
        self.write(&text)
    }

    fn write(&mut self, text: &[u8]) -> Result<(), RecordError> {
        self.last_line += 1;
        self.journal_bytes += text.len() as u64;
        self.journal
            .write_all(text)
            .and_then(|()| self.journal.sync_data())
            .map_err(RecordError::io("write", self.held.path_of(JOURNAL)))
    }

    /// Appends a replicate's histogram to its cell's log. It counts once the journal line that
    /// refers to it has been written.
    ///
    /// # Errors
    /// If the disk is full or fails, or the directory was removed.
    pub fn append_histogram(
        &mut self,
        cell: u32,
        histogram: &Histogram,
        at_s: f64,
        elapsed_ns: u64,
    ) -> Result<HistogramLocation, RecordError> {
        if let Some(removed) = self.removed() {
            return Err(removed);
        }
        let end = self.log_ends.get(&cell).copied().unwrap_or(0);
        let name = log_name(cell);
        let logs = &self.histograms;
        let location = histogram_log::append(logs, &name, end, histogram, at_s, elapsed_ns)
            .map_err(|error| self.removed().unwrap_or(error))?;
        self.log_ends.insert(cell, location.end_bytes());
        Ok(location)
    }

    /// Removes a run that never began, and its directory if nothing else is in it.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn discard(self) -> Result<(), RecordError> {
        for (name, flags) in [
            (HISTOGRAMS, AtFlags::REMOVEDIR),
            (JOURNAL, AtFlags::empty()),
            (MANIFEST, AtFlags::empty()),
        ] {
            unlinkat(&self.held, name, flags).map_err(|error| {
                RecordError::io("remove", self.held.path_of(name))(error.into())
            })?;
        }
        let _holds_something = fs::remove_dir(self.path());
        Ok(())
    }

    /// The error if somebody has removed the directory or is doing so. Its parts are unlinked one
    /// after another, and writing to a file that has been unlinked succeeds.
    fn removed(&self) -> Option<RecordError> {
        let parts = [self.journal.as_fd(), self.histograms.as_fd(), self.held.as_fd()];
        let is_gone = |part| fstat(part).is_ok_and(|stat| stat.st_nlink == 0);
        parts
            .into_iter()
            .any(is_gone)
            .then(|| RecordError::Removed { path: self.path().to_owned() })
    }
}

impl Run {
    /// Reads the run at `path`, up to the last complete line of its journal. Damaged lines are left
    /// out and listed.
    ///
    /// # Errors
    /// If it is not a run, its manifest is damaged, or it is newer than this program.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        read_run(&open_run(path)?)
    }

    /// What the phases of this run, which is stored at `path`, move into and out of caches, as
    /// counted alongside it; none if this was not counted.
    ///
    /// # Errors
    /// If it cannot be read, belongs to another run, or is incomplete.
    pub fn traffic(&self, path: &Path) -> Result<Option<Self>, RecordError> {
        traffic_in(&open_run(path)?, self)
    }

    /// All cells by index: those of the manifest, then those that searches added.
    #[must_use]
    pub fn cells(&self) -> Vec<&Cell> {
        let added = self.lines.iter().filter_map(|line| {
            if let Line::CellAdded(added) = line { Some(&added.definition) } else { None }
        });
        self.manifest.cells.iter().chain(added).collect()
    }

    /// All operations of one cell in one histogram, read from the run at `path`.
    ///
    /// # Errors
    /// If the cell's log is missing or damaged.
    pub fn histogram(&self, path: &Path, cell: u32) -> Result<Histogram, RecordError> {
        let mut merged = Histogram::new();
        let each = self.replicate_histograms(path, cell)?;
        each.iter().for_each(|histogram| merged.merge(histogram));
        Ok(merged)
    }

    /// The histogram of each replicate of one cell, in journal order, read from the run at `path`.
    /// Replicates without a histogram are skipped.
    ///
    /// # Errors
    /// If the cell's log is missing or damaged.
    pub fn replicate_histograms(
        &self,
        path: &Path,
        cell: u32,
    ) -> Result<Vec<Histogram>, RecordError> {
        let locations: Vec<_> = self
            .lines
            .iter()
            .filter_map(|line| match line {
                Line::Replicate(replicate) if replicate.cell == cell => replicate.histogram,
                Line::Start(_)
                | Line::Search(_)
                | Line::CellAdded(_)
                | Line::Block(_)
                | Line::Planned(_)
                | Line::Replicate(_)
                | Line::Discarded(_)
                | Line::Waited(_)
                | Line::CellFailed(_)
                | Line::End(_) => None,
            })
            .collect();
        if locations.is_empty() {
            return Ok(Vec::new());
        }
        let logs = OpenDirectory::open(path).and_then(|held| held.below(HISTOGRAMS));
        let logs = logs.map_err(RecordError::io("open", path.join(HISTOGRAMS)))?;
        histogram_log::read_each(&logs, &log_name(cell), &locations)
    }
}

fn log_name(cell: u32) -> String {
    format!("{cell:04}.hlog")
}

/// Opens the directory of an existing run.
#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours")]
fn open_run(path: &Path) -> Result<OpenDirectory, RecordError> {
    OpenDirectory::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => not_a_run(path),
        _ => RecordError::io("open", path)(error),
    })
}

fn read_run(held: &OpenDirectory) -> Result<Run, RecordError> {
    let manifest = manifest_text::read(held)?;
    let text = match held.read(JOURNAL, JOURNAL_BYTES_MAX) {
        // The process was killed between the manifest and the journal.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        text => text.map_err(RecordError::io("read", held.path_of(JOURNAL)))?,
    };
    let Parsed { lines, damage, .. } = journal_text::parse(&text, &manifest);
    Ok(Run { manifest, lines, damage })
}

fn traffic_in(held: &OpenDirectory, run: &Run) -> Result<Option<Run>, RecordError> {
    let below = match held.below(traffic::SUITE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        below => below.map_err(RecordError::io("open", held.path_of(traffic::SUITE)))?,
    };
    let counted = read_run(&below)?;
    let (own, its) = (&run.manifest.run, &counted.manifest.run);
    let is_its = its.suite == traffic::SUITE && its.started == own.started;
    let is_whole = counted.damage.is_empty() && matches!(counted.lines.last(), Some(Line::End(_)));
    if is_its && is_whole {
        Ok(Some(counted))
    } else {
        Err(RecordError::NotItsTraffic { path: held.path_of(traffic::SUITE) })
    }
}

fn not_a_run(path: &Path) -> RecordError {
    RecordError::NotARun { path: path.to_owned() }
}

/// Checks that no run has begun in it. An empty journal is left by whoever holds its lock, or died
/// holding it.
fn check_new(held: &OpenDirectory) -> Result<(), RecordError> {
    let not_empty = || RecordError::NotEmpty { path: held.path().to_owned() };
    for name in held.names().map_err(RecordError::io("read", held.path()))? {
        let may_be_there = match name.to_str() {
            Some(HISTOGRAMS) => {
                held.below(HISTOGRAMS).and_then(|logs| logs.names()).is_ok_and(|it| it.is_empty())
            }
            Some(JOURNAL) => held.read(JOURNAL, 0).is_ok(),
            Some(MANIFEST_PART) => true,
            Some(TRACES) => held
                .below(TRACES)
                .and_then(|traces| traces.names())
                .is_ok_and(|it| it.iter().all(|name| name.as_encoded_bytes().ends_with(b".trace"))),
            _ => false,
        };
        if !may_be_there {
            return Err(not_empty());
        }
    }
    Ok(())
}

/// Opens the journal and locks it; only one process at a time can.
fn locked_journal(held: &OpenDirectory) -> Result<File, RecordError> {
    let failed = |error| RecordError::io("open", held.path_of(JOURNAL))(error);
    loop {
        let journal = held.to_write(JOURNAL).map_err(failed)?;
        flock(&journal, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| RecordError::Busy { path: held.path().to_owned() })?;
        // A process that has just given up may have unlinked its journal; a lock on that one would
        // not exclude anyone.
        if journal.metadata().map_err(failed)?.nlink() > 0 {
            return Ok(journal);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
