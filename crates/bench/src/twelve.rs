//! Twelve cells through other eyes: the figures that runs of fsprism print, beside those of a loop
//! written by hand and of fio, on files of the same size on the same file system in the same state.
//!
//! Nothing of the engine is used here, and fsprism is run as users run it. A round is the loop and
//! fio, fsprism, the loop and fio again, so that a drift of the machine hits all alike.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context, ensure};
use rand::seq::SliceRandom;
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{Advice, OFlags, fadvise};
use serde_json::{Value, json};

use crate::table::Table;
use crate::{fio, new_process, processes};

const ROUNDS: u64 = 16;
const BOUND: &str = "0.95 to 1.05";
/// The size of fsprism's data files.
const FILE_BYTES: u64 = 64 << 20;
/// How warm files are read in.
const READ_IN_BYTES: usize = 1 << 20;
/// What operations are timed for at least, where they can go on.
const TIMED_BYTES: u64 = 256 << 20;
/// What is written in the page cache before it is written back, and what the device moves.
const CHANGED_BYTES: u64 = 16 << 20;
const DEVICE_BYTES: u64 = 32 << 20;
const DEVICE_REQUESTS: (u64, u64) = (32, 256);
/// Requests of `O_DIRECT` begin at multiples of this, in memory too.
const ALIGNMENT: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Sequential,
    Random,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    Read,
    Write,
}

/// One cell, as fsprism calls it and as anybody would describe it.
#[derive(Clone, Copy, Debug)]
struct Cell {
    benchmark: &'static str,
    order: Order,
    does: Does,
    request_bytes: usize,
    is_direct: bool,
}

const fn warm(benchmark: &'static str, order: Order, does: Does, request_bytes: usize) -> Cell {
    Cell { benchmark, order, does, request_bytes, is_direct: false }
}

const fn direct(benchmark: &'static str, order: Order, does: Does, request_bytes: usize) -> Cell {
    Cell { benchmark, order, does, request_bytes, is_direct: true }
}

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// What one run of fsprism measures, and which of it is looked at.
const RUNS: [(&str, &[Cell]); 3] = [
    (
        "survey/in-memory",
        &[
            warm("sequential-read-4k-warm", Order::Sequential, Does::Read, 4 * KIB),
            warm("sequential-read-1m-warm", Order::Sequential, Does::Read, MIB),
            warm("random-read-4k-warm", Order::Random, Does::Read, 4 * KIB),
            warm("sequential-write-4k-warm", Order::Sequential, Does::Write, 4 * KIB),
            warm("sequential-write-1m-warm", Order::Sequential, Does::Write, MIB),
            warm("random-write-4k-warm", Order::Random, Does::Write, 4 * KIB),
        ],
    ),
    (
        "nano/in-memory",
        &[
            warm("random-read-warm-by-request-131072", Order::Random, Does::Read, 128 * KIB),
            warm("random-write-warm-by-request-131072", Order::Random, Does::Write, 128 * KIB),
        ],
    ),
    (
        "nano/io",
        &[
            direct("random-read-direct-by-request-4096", Order::Random, Does::Read, 4 * KIB),
            direct(
                "sequential-read-direct-by-request-131072",
                Order::Sequential,
                Does::Read,
                128 * KIB,
            ),
            direct("random-write-direct-by-request-4096", Order::Random, Does::Write, 4 * KIB),
            direct(
                "sequential-write-direct-by-request-1048576",
                Order::Sequential,
                Does::Write,
                MIB,
            ),
        ],
    ),
];

/// What a round saw of a cell: nanoseconds per operation.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    bare_ns: f64,
    /// None where something disturbed all of its replicates.
    fsprism_ns: Option<f64>,
    fio_ns: f64,
}

/// The argument that asks for the rows of one process.
pub(crate) const ONE_PROCESS: &str = "twelve-in-one-process";
/// Where the image of the file system lies: in memory, for a disk that is shared with others is
/// less steady than what is looked for.
const SCRATCH: &str = "/dev/shm";
const TARGET: &str = "ext4:size=1g";

/// Adds the rows of the twelve cells.
pub(crate) fn measure(table: &mut Table) -> anyhow::Result<()> {
    new_process::add(table, new_process::rows(ONE_PROCESS, Path::new(SCRATCH))?);
    Ok(())
}

/// What a new process does: measures every row on a file system of its own, and prints them. Called
/// before it has a second thread.
pub(crate) fn one_process(scratch: &Path) -> anyhow::Result<()> {
    let rows = new_process::on_target(TARGET, scratch.to_owned(), rows)?.unwrap_or_else(|why| {
        let what = "bare loop / fsprism, twelve cells";
        vec![json!({ "what": what, "bound": BOUND, "why_not": why })]
    });
    println!("{}", Value::Array(rows));
    Ok(())
}

fn rows(work: &Path) -> anyhow::Result<Vec<Value>> {
    let fsprism = processes::binary()?;
    let data = work.join("data");
    make_file(&data)?;
    let mut rows = Vec::new();
    for (suite, cells) in RUNS {
        let mut seen: Vec<Vec<Seen>> = vec![Vec::new(); cells.len()];
        for round in 0..ROUNDS {
            eprintln!("{suite}, a loop by hand and fio, round {} of {ROUNDS}", round + 1);
            let before = others(cells, &data, 2 * round)?;
            let figures = figures(&fsprism, suite, cells, work)?;
            let after = others(cells, &data, 2 * round + 1)?;
            for (index, fsprism_ns) in figures.into_iter().enumerate() {
                let (one, other) = (before[index], after[index]);
                let fio_ns = f64::midpoint(one.fio_ns, other.fio_ns);
                let bare_ns = f64::midpoint(one.bare_ns, other.bare_ns);
                seen[index].push(Seen { bare_ns, fsprism_ns, fio_ns });
            }
        }
        for (cell, seen) in cells.iter().zip(seen) {
            let ratios =
                |of: fn(&Seen) -> Option<f64>| -> Vec<f64> { seen.iter().filter_map(of).collect() };
            let by_hand = ratios(|seen| Some(seen.bare_ns / seen.fsprism_ns?));
            let what = format!("bare loop / fsprism, {}", cell.benchmark);
            rows.push(json!({ "what": what, "bound": BOUND, "ratios": by_hand }));
            let by_fio = ratios(|seen| Some(seen.bare_ns / seen.fio_ns));
            let what = "  bare loop / fio psync";
            rows.push(json!({ "what": what, "bound": "no bound", "ratios": by_fio }));
        }
    }
    std::fs::remove_file(&data)?;
    Ok(rows)
}

/// The loop by hand, and fio, once for each cell.
fn others(cells: &[Cell], data: &Path, seed: u64) -> anyhow::Result<Vec<Seen>> {
    let one = |cell: &Cell| -> anyhow::Result<Seen> {
        cell.make_state(data)?;
        // In a thread of its own, as with fio and fsprism: what waits for a device is woken on
        // another processor there than a process of one thread.
        let by_hand = || cell.by_hand(data, seed);
        let bare_ns = thread::scope(|scope| scope.spawn(by_hand).join());
        let bare_ns = bare_ns.map_err(|_| anyhow::anyhow!("the loop by hand panicked"))??;
        cell.make_state(data)?;
        let fio_ns = cell.by_fio(data, seed)?;
        Ok(Seen { bare_ns, fsprism_ns: None, fio_ns })
    };
    cells.iter().map(one).collect()
}

/// What a run of fsprism in a new directory below `work` says of each cell.
fn figures(
    fsprism: &Path,
    suite: &str,
    cells: &[Cell],
    work: &Path,
) -> anyhow::Result<Vec<Option<f64>>> {
    let (out, target) = (work.join("run"), work.join("target"));
    std::fs::create_dir(&target)?;
    let output = Command::new(fsprism)
        .args(["run", suite, "--blocks", "2", "--format", "json"])
        .args(cells.iter().flat_map(|cell| ["--benchmark", cell.benchmark]))
        .arg("--out")
        .arg(&out)
        .arg(&target)
        .stderr(Stdio::null())
        .output()
        .context("fsprism could not be started")?;
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

impl Cell {
    /// How many operations come first, and how many are timed: those that fsprism declares, or more
    /// where they can go on.
    fn operations(&self) -> (u64, u64) {
        let bytes = self.request_bytes as u64;
        let pass = FILE_BYTES / bytes;
        let once = |wanted: u64| {
            let all = pass.min(wanted);
            (all / 8, all - all / 8)
        };
        match (self.is_direct, self.does) {
            (true, _) => once((DEVICE_BYTES / bytes).clamp(DEVICE_REQUESTS.0, DEVICE_REQUESTS.1)),
            (false, Does::Write) => once((CHANGED_BYTES / bytes).max(32)),
            (false, Does::Read) => (2 * pass, TIMED_BYTES / bytes),
        }
    }

    /// Nothing to be written, and all in memory or nothing.
    fn make_state(&self, data: &Path) -> anyhow::Result<()> {
        let file = File::open(data)?;
        file.sync_all()?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
        if !self.is_direct {
            let mut buffer = vec![0; READ_IN_BYTES];
            for offset in (0..FILE_BYTES).step_by(READ_IN_BYTES) {
                file.read_exact_at(&mut buffer, offset)?;
            }
        }
        Ok(())
    }

    /// The mean time of an operation, by a loop with nothing in it but the calls.
    fn by_hand(&self, data: &Path, seed: u64) -> anyhow::Result<f64> {
        let flags = if self.is_direct { OFlags::DIRECT } else { OFlags::empty() };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(flags.bits().cast_signed())
            .open(data)?;
        let (first, timed) = self.operations();
        let offsets = self.offsets(first + timed, seed);
        let (first, timed) = offsets.split_at(usize::try_from(first)?);
        let mut memory = vec![0x5a; self.request_bytes + ALIGNMENT];
        let start = memory.as_ptr().align_offset(ALIGNMENT);
        let buffer = &mut memory[start..][..self.request_bytes];
        let mut all = |offsets: &[u64]| match self.does {
            Does::Read => offsets.iter().try_for_each(|&at| file.read_exact_at(buffer, at)),
            Does::Write => offsets.iter().try_for_each(|&at| file.write_all_at(buffer, at)),
        };
        all(first)?;
        let began = Instant::now();
        all(timed)?;
        let took_ns = began.elapsed().as_nanos() as f64;
        file.sync_all()?;
        Ok(took_ns / timed.len() as f64)
    }

    /// Where its requests begin. Of those that are to come once only, each is a new one.
    fn offsets(&self, count: u64, seed: u64) -> Vec<u64> {
        let bytes = self.request_bytes as u64;
        let pass = FILE_BYTES / bytes;
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        match self.order {
            Order::Sequential => (0..count).map(|index| index % pass * bytes).collect(),
            Order::Random if !self.is_direct && self.does == Does::Read => {
                (0..count).map(|_| generator.random_range(0..pass) * bytes).collect()
            }
            Order::Random => {
                let mut all: Vec<u64> = (0..pass).map(|index| index * bytes).collect();
                all.shuffle(&mut generator);
                all.truncate(usize::try_from(count).unwrap_or(usize::MAX));
                all
            }
        }
    }

    /// The mean time of an operation as fio's psync engine has it, from submission to completion.
    fn by_fio(&self, data: &Path, seed: u64) -> anyhow::Result<f64> {
        let direction = match (self.order, self.does) {
            (Order::Sequential, Does::Read) => "read",
            (Order::Sequential, Does::Write) => "write",
            (Order::Random, Does::Read) => "randread",
            (Order::Random, Does::Write) => "randwrite",
        };
        let (first, timed) = self.operations();
        let meets_again = !self.is_direct && self.does == Does::Read;
        let output = Command::new("fio")
            .args(["--name=job", "--ioengine=psync", "--thread", "--invalidate=0"])
            .args(["--fallocate=none", "--output-format=json"])
            .arg(format!("--norandommap={}", u8::from(meets_again)))
            .arg(format!("--rw={direction}"))
            .arg(format!("--bs={}", self.request_bytes))
            .arg(format!("--size={FILE_BYTES}"))
            .arg(format!("--io_size={}", (first + timed) * self.request_bytes as u64))
            .arg(format!("--direct={}", u8::from(self.is_direct)))
            .arg(format!("--randseed={seed}"))
            .arg(format!("--filename={}", data.display()))
            .output()
            .context("fio could not be started")?;
        ensure!(output.status.success(), "fio: {}", String::from_utf8_lossy(&output.stderr));
        let document = fio::document(&output.stdout)?;
        let side = if self.does == Does::Read { "read" } else { "write" };
        let mean_ns = &document["jobs"][0][side]["clat_ns"]["mean"];
        mean_ns.as_f64().context("fio's output lacks a latency")
    }
}

fn make_file(path: &PathBuf) -> anyhow::Result<()> {
    let file = File::create_new(path)?;
    let mut bytes = vec![0; READ_IN_BYTES];
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(1);
    for offset in (0..FILE_BYTES).step_by(READ_IN_BYTES) {
        generator.fill(bytes.as_mut_slice());
        file.write_all_at(&bytes, offset)?;
    }
    Ok(file.sync_all()?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn twelve_cells_are_of_each_kind() {
        let all: Vec<Cell> = RUNS.iter().flat_map(|(_, cells)| cells.iter().copied()).collect();
        assert_eq!(all.len(), 12);
        for size in [4 * KIB, 128 * KIB, MIB] {
            assert!(all.iter().any(|cell| cell.request_bytes == size && cell.does == Does::Read));
            assert!(all.iter().any(|cell| cell.request_bytes == size && cell.does == Does::Write));
        }
    }

    #[test]
    fn what_comes_once_comes_once() {
        for (_, cells) in RUNS {
            for cell in cells.iter().filter(|cell| cell.is_direct || cell.does == Does::Write) {
                let (first, timed) = cell.operations();
                let offsets = cell.offsets(first + timed, 7);
                let different: BTreeSet<u64> = offsets.iter().copied().collect();
                assert_eq!(
                    (offsets.len(), different.len() as u64),
                    (different.len(), first + timed)
                );
            }
        }
    }
}
