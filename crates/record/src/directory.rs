//! The run directory: made once, appended to per replicate, readable to its last whole line.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use measure::Histogram;
use rustix::fs::{FlockOperation, flock};
use serde_json::Value;

use crate::error::RecordError;
use crate::histogram_log::{self, HistogramLocation};
use crate::journal::Line;
use crate::manifest::{Cell, Manifest};
use crate::schema::SCHEMA_VERSION;

const MANIFEST: &str = "manifest.json";
const MANIFEST_PART: &str = "manifest.json.part";
const JOURNAL: &str = "cells.jsonl";
const HISTOGRAMS: &str = "histograms";
/// The directory, within a run's, of the traces that footprints were counted in: a file
/// `LABEL.trace` for each target.
pub const TRACES: &str = "footprint";

/// A run as it lies on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What was asked for.
    pub manifest: Manifest,
    /// The journal, up to its last whole line.
    pub lines: Vec<Line>,
}

/// A run directory open for appending; one process at a time.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    journal: File,
    /// Per cell, where its histogram log ends as far as the journal knows.
    log_ends: HashMap<u32, u64>,
}

impl RunDirectory {
    /// Makes the directory `path` (which must be absent or empty) with the manifest in it.
    ///
    /// # Errors
    /// When the directory holds something, or cannot be written.
    pub fn create(path: &Path, manifest: &Manifest) -> Result<Self, RecordError> {
        fs::create_dir_all(path).map_err(RecordError::io("make", path))?;
        Self::check_new(path)?;
        fs::create_dir_all(path.join(HISTOGRAMS)).map_err(RecordError::io("make", path))?;
        let text = serde_json::to_string_pretty(manifest).expect("a manifest has text keys only");
        let part = path.join(MANIFEST_PART);
        let manifest_path = path.join(MANIFEST);
        write_synced(&part, text.as_bytes())?;
        fs::rename(&part, &manifest_path).map_err(RecordError::io("rename", &manifest_path))?;
        let journal = open_journal(path)?;
        File::open(path).and_then(|dir| dir.sync_all()).map_err(RecordError::io("sync", path))?;
        Ok(Self { path: path.to_owned(), journal, log_ends: HashMap::new() })
    }

    /// Whether `path` is absent or empty, or holds only what a process that was killed before the
    /// manifest was whole has left of a run that never began.
    ///
    /// # Errors
    /// When it holds something else, or is no directory.
    pub fn check_new(path: &Path) -> Result<(), RecordError> {
        let entries = match fs::read_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(RecordError::io("read", path))?,
        };
        for entry in entries {
            let name = entry.map_err(RecordError::io("read", path))?.file_name();
            if name != HISTOGRAMS && name != TRACES && name != MANIFEST_PART {
                return Err(RecordError::NotEmpty { path: path.to_owned() });
            }
        }
        match fs::read_dir(path.join(HISTOGRAMS)).map(|mut logs| logs.next().is_some()) {
            Ok(true) => Err(RecordError::NotEmpty { path: path.to_owned() }),
            _ => Ok(()),
        }
    }

    /// Opens a run to go on with it; a torn last line is cut off.
    ///
    /// # Errors
    /// When it is not a run, is damaged, is newer than this program, or another process writes it.
    pub fn resume(path: &Path) -> Result<(Self, Run), RecordError> {
        let manifest = read_manifest(path)?;
        let mut journal = open_journal(path)?;
        let journal_path = path.join(JOURNAL);
        let mut text = Vec::new();
        journal.read_to_end(&mut text).map_err(RecordError::io("read", &journal_path))?;
        let (lines, whole_bytes) = parse_journal(&journal_path, &text, manifest.cells.len())?;
        journal
            .set_len(whole_bytes)
            .and_then(|()| journal.seek(SeekFrom::End(0)))
            .map_err(RecordError::io("write", &journal_path))?;
        let mut log_ends = HashMap::new();
        for line in &lines {
            if let Line::Replicate(replicate) = line
                && let Some(location) = replicate.histogram
            {
                let end = location.offset_bytes + location.length_bytes;
                log_ends.insert(replicate.cell, end);
            }
        }
        Ok((Self { path: path.to_owned(), journal, log_ends }, Run { manifest, lines }))
    }

    /// Where the run lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a line; when this returns, it is on the disk.
    ///
    /// # Errors
    /// When the disk is full or fails.
    pub fn append(&mut self, line: &Line) -> Result<(), RecordError> {
        let path = self.path.join(JOURNAL);
        let mut text = serde_json::to_vec(line).expect("a line has text keys only");
        text.push(b'\n');
        self.journal
            .write_all(&text)
            .and_then(|()| self.journal.sync_data())
            .map_err(RecordError::io("write", path))
    }

    /// Appends a replicate's histogram to its cell's log; the journal line that follows makes it
    /// count.
    ///
    /// # Errors
    /// When the disk is full or fails.
    pub fn append_histogram(
        &mut self,
        cell: u32,
        histogram: &Histogram,
        at_s: f64,
        elapsed_ns: u64,
    ) -> Result<HistogramLocation, RecordError> {
        let end = self.log_ends.get(&cell).copied().unwrap_or(0);
        let path = log_path(&self.path, cell);
        let location = histogram_log::append(&path, end, histogram, at_s, elapsed_ns)?;
        self.log_ends.insert(cell, location.offset_bytes + location.length_bytes);
        Ok(location)
    }
}

impl Run {
    /// Reads the run at `path`, to the last whole line of its journal.
    ///
    /// # Errors
    /// When it is not a run, is damaged, or is newer than this program.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let manifest = read_manifest(path)?;
        let journal_path = path.join(JOURNAL);
        let text = match fs::read(&journal_path) {
            // The process was killed between the manifest and the journal.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            text => text.map_err(RecordError::io("read", &journal_path))?,
        };
        let (lines, _) = parse_journal(&journal_path, &text, manifest.cells.len())?;
        Ok(Self { manifest, lines })
    }

    /// All cells by index: those of the manifest, then those that searches added.
    #[must_use]
    pub fn cells(&self) -> Vec<&Cell> {
        let added = self.lines.iter().filter_map(|line| match line {
            Line::CellAdded(added) => Some(&added.definition),
            _ => None,
        });
        self.manifest.cells.iter().chain(added).collect()
    }

    /// All operations of one cell in one histogram, read from the run at `path`.
    ///
    /// # Errors
    /// When the cell's log is missing or damaged.
    pub fn histogram(&self, path: &Path, cell: u32) -> Result<Histogram, RecordError> {
        let mut merged = Histogram::new();
        let each = self.replicate_histograms(path, cell)?;
        each.iter().for_each(|histogram| merged.merge(histogram));
        Ok(merged)
    }

    /// The histogram of each replicate of one cell, in the order of the journal, read from the run
    /// at `path`. A replicate that recorded none has none here.
    ///
    /// # Errors
    /// When the cell's log is missing or damaged.
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
                _ => None,
            })
            .collect();
        histogram_log::read_each(&log_path(path, cell), &locations)
    }
}

fn cells_of(line: &Line) -> Vec<u32> {
    match line {
        Line::Block(block) => block.cells.clone().unwrap_or_default(),
        Line::Planned(planned) => {
            let left_out = planned.left_out.iter().flat_map(|one| &one.cells).copied();
            planned.pilots.iter().map(|pilot| pilot.cell).chain(left_out).collect()
        }
        Line::Replicate(replicate) => vec![replicate.cell],
        Line::Discarded(discarded) => vec![discarded.cell],
        Line::CellFailed(failed) => vec![failed.cell],
        Line::Start(_) | Line::Search(_) | Line::CellAdded(_) | Line::End(_) => Vec::new(),
    }
}

fn log_path(run: &Path, cell: u32) -> PathBuf {
    run.join(HISTOGRAMS).join(format!("{cell:04}.hlog"))
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    File::create(path)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .map_err(RecordError::io("write", path))
}

fn open_journal(run: &Path) -> Result<File, RecordError> {
    let path = run.join(JOURNAL);
    let journal = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(RecordError::io("open", &path))?;
    flock(&journal, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| RecordError::Busy { path: run.to_owned() })?;
    Ok(journal)
}

/// Reads the manifest; its version is looked at before anything else in it is believed.
fn read_manifest(run: &Path) -> Result<Manifest, RecordError> {
    let path = run.join(MANIFEST);
    let text = fs::read(&path).map_err(|_| RecordError::NotARun { path: run.to_owned() })?;
    let damaged = |error: &serde_json::Error| RecordError::Damaged {
        path: path.clone(),
        line: error.line(),
        why: error.to_string(),
    };
    let value: Value = serde_json::from_slice(&text).map_err(|error| damaged(&error))?;
    let found = value.get("schema_version").and_then(Value::as_u64).unwrap_or(0);
    if found > u64::from(SCHEMA_VERSION) {
        return Err(RecordError::NewerSchema {
            path: run.to_owned(),
            found,
            known: SCHEMA_VERSION,
        });
    }
    serde_json::from_value(value).map_err(|error| damaged(&error))
}

/// Parses whole lines; a last line without its end was being written when the process died.
fn parse_journal(
    path: &Path,
    text: &[u8],
    mut cells: usize,
) -> Result<(Vec<Line>, u64), RecordError> {
    let whole_bytes = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = Vec::new();
    for (index, line) in text[..whole_bytes].split(|&byte| byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let damaged = |why| RecordError::Damaged { path: path.to_owned(), line: index + 1, why };
        let parsed: Line =
            serde_json::from_slice(line).map_err(|error| damaged(error.to_string()))?;
        if cells_of(&parsed).iter().any(|&cell| cell as usize >= cells) {
            return Err(damaged("it names a cell that the manifest does not have".to_owned()));
        }
        if let Line::CellAdded(added) = &parsed {
            if added.cell as usize != cells {
                return Err(damaged(format!("it adds a cell out of turn, not cell {cells}")));
            }
            cells += 1;
        }
        lines.push(parsed);
    }
    Ok((lines, whole_bytes as u64))
}

#[cfg(test)]
mod tests;
