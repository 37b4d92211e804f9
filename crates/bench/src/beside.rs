//! Cross-checks cells: the figures that runs of fsprism print, next to those of a hand-written loop
//! and of fio, on files of the same size on the same file system in the same state.
//!
//! None of the engine is used here, and fsprism is run as users run it. A round is the loop and
//! fio, fsprism, then the loop and fio again, so that drift of the machine affects all of them
//! alike.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context, ensure};
use rand::seq::SliceRandom;
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{Advice, OFlags, fadvise, syncfs};
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use serde_json::{Value, json};

use crate::{fio, processes};

const BOUND: &str = "0.95 to 1.05";
/// The request size for reading files in.
const READ_IN_BYTES: usize = 1 << 20;
/// How much is transferred by the timed operations, if they can be repeated.
const TIMED_BYTES: u64 = 256 << 20;
/// How much is transferred with `O_DIRECT`.
const DEVICE_BYTES: u64 = 32 << 20;
const DEVICE_REQUESTS: (u64, u64) = (32, 256);
/// The alignment of `O_DIRECT` requests, both in the file and in memory.
const ALIGNMENT: usize = 4096;

pub(crate) const KIB: usize = 1024;
pub(crate) const MIB: usize = 1024 * KIB;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Sequential,
    Random,
}

/// The operation, and the state of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Reads of pages in memory.
    Read,
    /// Writes to pages in memory, all of which have been written since the last sync.
    Write,
    /// First writes to clean pages in memory.
    WriteFirst,
    /// Reads and writes that bypass the page cache.
    ReadDirectly,
    WriteDirectly,
}

/// One cell: its name in fsprism, and what it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) benchmark: &'static str,
    pub(crate) order: Order,
    pub(crate) does: Operation,
    pub(crate) request_bytes: usize,
}

/// Creates a cell.
pub(crate) const fn cell(
    benchmark: &'static str,
    order: Order,
    does: Operation,
    request_bytes: usize,
) -> Cell {
    Cell { benchmark, order, does, request_bytes }
}

/// Where to measure cells, and how often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside<'a> {
    pub(crate) work: &'a Path,
    /// Size of the data file.
    pub(crate) file_bytes: u64,
    pub(crate) rounds: u64,
    /// Prefix for the names of cells.
    pub(crate) prefix: &'a str,
}

/// A cell's results in one round, in nanoseconds per operation.
#[derive(Clone, Copy, Debug, Default)]
struct RoundResult {
    bare_ns: f64,
    /// `None` if all of its replicates were disturbed.
    fsprism_ns: Option<f64>,
    fio_ns: f64,
}

/// The offsets of the hand-written loop's operations: those in `first` are untimed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Offsets {
    first: Vec<u64>,
    timed: Vec<u64>,
}

impl Beside<'_> {
    /// The rows for a suite's cells: the hand-written loop over fsprism, and over fio.
    pub(crate) fn rows(&self, suite: &str, cells: &[Cell]) -> anyhow::Result<Vec<Value>> {
        let fsprism = processes::binary()?;
        let data = self.work.join("data");
        self.make_file(&data)?;
        let mut seen: Vec<Vec<RoundResult>> = vec![Vec::new(); cells.len()];
        for round in 0..self.rounds {
            let Self { prefix, rounds, .. } = self;
            eprintln!("{prefix}{suite}, a loop by hand and fio, round {} of {rounds}", round + 1);
            let before = self.others(cells, &data, 2 * round)?;
            let figures = self.figures(&fsprism, suite, cells)?;
            let after = self.others(cells, &data, 2 * round + 1)?;
            for (index, fsprism_ns) in figures.into_iter().enumerate() {
                let (one, other) = (before[index], after[index]);
                let fio_ns = f64::midpoint(one.fio_ns, other.fio_ns);
                let bare_ns = f64::midpoint(one.bare_ns, other.bare_ns);
                seen[index].push(RoundResult { bare_ns, fsprism_ns, fio_ns });
            }
        }
        std::fs::remove_file(&data)?;
        let mut rows = Vec::new();
        for (cell, seen) in cells.iter().zip(seen) {
            let ratios = |of: fn(&RoundResult) -> Option<f64>| -> Vec<f64> {
                seen.iter().filter_map(of).collect()
            };
            let by_hand = ratios(|seen| Some(seen.bare_ns / seen.fsprism_ns?));
            let what = format!("bare loop / fsprism, {}{}", self.prefix, cell.benchmark);
            // The table is printed at the end, which takes a long time to reach.
            eprintln!("{what}: {by_hand:.2?}");
            rows.push(json!({ "what": what, "bound": BOUND, "ratios": by_hand }));
            let by_fio = ratios(|seen| Some(seen.bare_ns / seen.fio_ns));
            let what = "  bare loop / fio psync";
            rows.push(json!({ "what": what, "bound": "no bound", "ratios": by_fio }));
        }
        Ok(rows)
    }

    fn make_file(&self, path: &Path) -> anyhow::Result<()> {
        let file = File::create_new(path)?;
        let mut bytes = vec![0; READ_IN_BYTES];
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(1);
        for offset in (0..self.file_bytes).step_by(READ_IN_BYTES) {
            generator.fill(bytes.as_mut_slice());
            file.write_all_at(&bytes, offset)?;
        }
        Ok(file.sync_all()?)
    }

    /// Rewrites the file from its beginning. If btrfs has relocated single pages, the next write to
    /// a clean page takes it twice as long as in a contiguous file.
    fn rewrite(&self, data: &Path) -> anyhow::Result<()> {
        let file = OpenOptions::new().read(true).write(true).open(data)?;
        let mut bytes = vec![0; READ_IN_BYTES];
        for offset in (0..self.file_bytes).step_by(READ_IN_BYTES) {
            file.read_exact_at(&mut bytes, offset)?;
            file.write_all_at(&bytes, offset)?;
        }
        Ok(())
    }

    /// Runs the hand-written loop, and fio, once for each cell.
    fn others(&self, cells: &[Cell], data: &Path, seed: u64) -> anyhow::Result<Vec<RoundResult>> {
        let one = |cell: &Cell| -> anyhow::Result<RoundResult> {
            self.make_state(cell, data)?;
            // In a separate thread, as in fio and fsprism: after waiting for a device, it is woken
            // on a different processor than a single-threaded process.
            let by_hand = || {
                if !cell.is_direct() {
                    stay_here()?;
                }
                cell.by_hand(data, &cell.offsets(self.file_bytes, seed))
            };
            let bare_ns = thread::scope(|scope| scope.spawn(by_hand).join());
            let bare_ns = bare_ns.map_err(|_| anyhow::anyhow!("the loop by hand panicked"))??;
            self.make_state(cell, data)?;
            let fio_ns = cell.by_fio(data, self.file_bytes, seed)?;
            Ok(RoundResult { bare_ns, fsprism_ns: None, fio_ns })
        };
        cells.iter().map(one).collect()
    }

    /// Makes the state: no dirty pages, and all of the file in memory or none of it.
    fn make_state(&self, cell: &Cell, data: &Path) -> anyhow::Result<()> {
        let file = File::open(data)?;
        if cell.does == Operation::WriteFirst {
            self.rewrite(data)?;
        }
        // The whole file system is synced, as fsprism does. After only `fsync`, btrfs delays
        // freeing the extents that were overwritten, and the next writes pay for it: five times as
        // long for 1 MiB if the file had been written in random 4 KiB.
        syncfs(&file)?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
        if !cell.is_direct() {
            let mut buffer = vec![0; READ_IN_BYTES];
            for offset in (0..self.file_bytes).step_by(READ_IN_BYTES) {
                file.read_exact_at(&mut buffer, offset)?;
            }
        }
        Ok(())
    }

    /// Each cell's figure in a run of fsprism, in a new directory below `work`.
    fn figures(
        &self,
        fsprism: &Path,
        suite: &str,
        cells: &[Cell],
    ) -> anyhow::Result<Vec<Option<f64>>> {
        let (out, target) = (self.work.join("run"), self.work.join("target"));
        std::fs::create_dir(&target)?;
        let output = Command::new(fsprism)
            .args(["run", suite, "--blocks", "2", "--format", "json"])
            .args(["--size", &self.file_bytes.to_string()])
            .args(cells.iter().flat_map(|cell| ["--benchmark", cell.benchmark]))
            .arg("--out")
            .arg(&out)
            .arg(&target)
            .output()
            .context("fsprism could not be started")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(out.exists(), "fsprism measured nothing: {said}");
        std::fs::remove_dir_all(&out)?;
        std::fs::remove_dir_all(&target)?;
        let document: Value =
            serde_json::from_slice(&output.stdout).context("fsprism printed no document")?;
        let all = document["cells"].as_array().context("the document has no cells")?;
        let figure = |cell: &Cell| {
            let found = all.iter().find(|one| one["benchmark"] == cell.benchmark);
            let found = found.with_context(|| format!("no {}", cell.benchmark))?;
            Ok(found["metrics"][0]["median"].as_f64())
        };
        cells.iter().map(figure).collect()
    }
}

/// Pins this thread to its current processor, as fsprism does for threads that do not wait for a
/// device.
fn stay_here() -> anyhow::Result<()> {
    let mut processors = CpuSet::new();
    processors.set(sched_getcpu());
    Ok(sched_setaffinity(None, &processors)?)
}

impl Cell {
    fn is_direct(&self) -> bool {
        matches!(self.does, Operation::ReadDirectly | Operation::WriteDirectly)
    }

    fn reads(&self) -> bool {
        matches!(self.does, Operation::Read | Operation::ReadDirectly)
    }

    /// The offsets of its requests: the first ones as declared by fsprism, and the timed ones, of
    /// which there are more than fsprism's if they can be repeated.
    fn offsets(&self, file_bytes: u64, seed: u64) -> Offsets {
        let bytes = self.request_bytes as u64;
        let pass = file_bytes / bytes;
        let count = TIMED_BYTES / bytes;
        match self.does {
            Operation::Read => Offsets {
                first: self.again_and_again(pass, 2 * pass, seed),
                timed: self.again_and_again(pass, count, !seed),
            },
            Operation::Write => Offsets {
                first: self.once(pass, seed),
                timed: (0..count.div_ceil(pass))
                    .flat_map(|number| self.once(pass, !seed ^ number))
                    .take(usize::try_from(count).unwrap_or(usize::MAX))
                    .collect(),
            },
            Operation::WriteFirst => Offsets { first: Vec::new(), timed: self.once(pass, seed) },
            Operation::ReadDirectly | Operation::WriteDirectly => {
                let wanted = (DEVICE_BYTES / bytes).clamp(DEVICE_REQUESTS.0, DEVICE_REQUESTS.1);
                let all = usize::try_from(wanted.min(pass)).unwrap_or(usize::MAX);
                let mut first = self.once(pass, seed);
                first.truncate(all);
                let timed = first.split_off(all / 8);
                Offsets { first, timed }
            }
        }
    }

    /// Each block of the file once.
    fn once(&self, pass: u64, seed: u64) -> Vec<u64> {
        let mut all: Vec<u64> = (0..pass).map(|index| index * self.request_bytes as u64).collect();
        if self.order == Order::Random {
            all.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        }
        all
    }

    /// `count` blocks, possibly repeated.
    fn again_and_again(&self, pass: u64, count: u64, seed: u64) -> Vec<u64> {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        let block = |index| match self.order {
            Order::Sequential => index % pass,
            Order::Random => generator.random_range(0..pass),
        };
        (0..count).map(block).map(|block| block * self.request_bytes as u64).collect()
    }

    /// The mean time of an operation in a loop that contains only the call.
    fn by_hand(&self, data: &Path, offsets: &Offsets) -> anyhow::Result<f64> {
        let flags = if self.is_direct() { OFlags::DIRECT } else { OFlags::empty() };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(flags.bits().cast_signed())
            .open(data)?;
        let mut memory = vec![0x5a; self.request_bytes + ALIGNMENT];
        let start = memory.as_ptr().align_offset(ALIGNMENT);
        let buffer = &mut memory[start..][..self.request_bytes];
        let mut all = |offsets: &[u64]| match self.reads() {
            true => offsets.iter().try_for_each(|&at| file.read_exact_at(buffer, at)),
            false => offsets.iter().try_for_each(|&at| file.write_all_at(buffer, at)),
        };
        all(&offsets.first)?;
        let began = Instant::now();
        all(&offsets.timed)?;
        let took_ns = began.elapsed().as_nanos() as f64;
        file.sync_all()?;
        Ok(took_ns / offsets.timed.len() as f64)
    }

    /// The mean time of an operation in fio's psync engine, from submission to completion. The
    /// untimed operations are a job that precedes the timed one.
    fn by_fio(&self, data: &Path, file_bytes: u64, seed: u64) -> anyhow::Result<f64> {
        let direction = match (self.order, self.reads()) {
            (Order::Sequential, true) => "read",
            (Order::Sequential, false) => "write",
            (Order::Random, true) => "randread",
            (Order::Random, false) => "randwrite",
        };
        let Offsets { first, timed } = self.offsets(file_bytes, seed);
        let bytes = |offsets: &[u64]| offsets.len() * self.request_bytes;
        let mut fio = Command::new("fio");
        fio.args(["--ioengine=psync", "--thread", "--invalidate=0"])
            .args(["--fallocate=none", "--output-format=json"])
            .arg(format!("--norandommap={}", u8::from(self.does == Operation::Read)))
            .arg(format!("--rw={direction}"))
            .arg(format!("--bs={}", self.request_bytes))
            .arg(format!("--size={file_bytes}"))
            .arg(format!("--direct={}", u8::from(self.is_direct())))
            .arg(format!("--filename={}", data.display()));
        // `O_DIRECT` requests are not repeated: a single job, since a second one would start over.
        let all = bytes(&first) + bytes(&timed);
        let jobs: &[(&str, usize, u64)] = match (self.is_direct(), first.is_empty()) {
            (true, _) | (_, true) => &[("timed", all, seed)],
            (false, false) => &[("first", bytes(&first), seed), ("timed", bytes(&timed), seed + 1)],
        };
        for (name, io_bytes, seed) in jobs {
            fio.arg(format!("--name={name}")).arg("--stonewall");
            fio.arg(format!("--io_size={io_bytes}")).arg(format!("--randseed={seed}"));
        }
        let output = fio.output().context("fio could not be started")?;
        ensure!(output.status.success(), "fio: {}", String::from_utf8_lossy(&output.stderr));
        let document = fio::document(&output.stdout)?;
        let side = if self.reads() { "read" } else { "write" };
        let mean_ns = &document["jobs"][jobs.len() - 1][side]["clat_ns"]["mean"];
        mean_ns.as_f64().context("fio's output lacks a latency")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const FILE_BYTES: u64 = 64 << 20;

    fn different(offsets: &[u64]) -> usize {
        offsets.iter().collect::<BTreeSet<_>>().len()
    }

    #[test]
    fn what_comes_once_comes_once() {
        for does in [Operation::ReadDirectly, Operation::WriteDirectly, Operation::WriteFirst] {
            let Offsets { first, timed } =
                cell("", Order::Random, does, 4 * KIB).offsets(FILE_BYTES, 7);
            assert_eq!(different(&[&first[..], &timed].concat()), first.len() + timed.len());
        }
    }

    #[test]
    fn dirty_pages_have_all_been_written_before() {
        for order in [Order::Sequential, Order::Random] {
            let Offsets { first, timed } =
                cell("", order, Operation::Write, 4 * KIB).offsets(FILE_BYTES, 7);
            assert_eq!((first.len(), different(&first)), (16_384, 16_384));
            assert_eq!((timed.len(), different(&timed)), (65_536, 16_384));
        }
    }
}
