//! Every warm cell of a survey next to a hand-written loop and fio in the same state, on each file
//! system, with small and with large files.

use std::path::Path;

use serde_json::{Value, json};

use crate::beside::{Beside, Cell, KIB, MIB, Operation, Order, cell};
use crate::new_process;
use crate::table::Table;

const ROUNDS: u64 = 8;
/// The minimum for an interval.
const ROUNDS_OF_LARGE: u64 = 6;
const LARGE_BYTES: u64 = 64 << 20;
const SIZES: [(u64, &str); 2] = [(64 << 20, "64 MiB"), (256 << 20, "256 MiB")];
const SUITE: &str = "survey/in-memory";

const CELLS: [Cell; 8] = [
    cell("sequential-read-4k-warm", Order::Sequential, Operation::Read, 4 * KIB),
    cell("sequential-read-1m-warm", Order::Sequential, Operation::Read, MIB),
    cell("random-read-4k-warm", Order::Random, Operation::Read, 4 * KIB),
    cell("random-read-1m-warm", Order::Random, Operation::Read, MIB),
    cell("sequential-write-4k-warm", Order::Sequential, Operation::Write, 4 * KIB),
    cell("sequential-write-1m-warm", Order::Sequential, Operation::Write, MIB),
    cell("random-write-4k-warm", Order::Random, Operation::Write, 4 * KIB),
    cell("random-write-1m-warm", Order::Random, Operation::Write, MIB),
];
/// Additional cells for file systems whose pages are clean after they have been written back.
const CLEAN: [Cell; 2] = [
    cell("random-write-4k-clean", Order::Random, Operation::WriteFirst, 4 * KIB),
    cell("random-write-1m-clean", Order::Random, Operation::WriteFirst, MIB),
];

/// The argument that asks for the rows of one process.
pub(crate) const ONE_PROCESS: &str = "warm-in-one-process";
/// Where images are stored: in memory, like those of the twelve cells.
const SCRATCH: &str = "/dev/shm";
const TARGETS: [&str; 4] = ["tmpfs:size=2g", "ext4:size=2g", "xfs:size=2g", "btrfs:size=2g"];

/// Adds the rows of every warm cell.
pub(crate) fn measure(table: &mut Table) -> anyhow::Result<()> {
    new_process::add(table, new_process::rows(ONE_PROCESS, Path::new(SCRATCH))?);
    Ok(())
}

/// The work of a new process: measures every row on new file systems, and prints them. Called while
/// it is single-threaded.
pub(crate) fn one_process(scratch: &Path) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for text in TARGETS {
        let (name, _) = text.split_once(':').unwrap_or((text, ""));
        let found =
            new_process::on_target(text, scratch.to_owned(), |work| measure_target(name, work))?;
        rows.extend(found.unwrap_or_else(|why| {
            let what = format!("bare loop / fsprism, {name}, warm cells");
            vec![json!({ "what": what, "bound": "0.95 to 1.05", "why_not": why })]
        }));
    }
    println!("{}", Value::Array(rows));
    Ok(())
}

fn measure_target(name: &str, work: &Path) -> anyhow::Result<Vec<Value>> {
    let clean: &[Cell] = if name == "tmpfs" { &[] } else { &CLEAN };
    let cells = [&CELLS, clean].concat();
    let of_size = |&(file_bytes, size): &(u64, &str)| {
        let prefix = format!("{name}, {size}, ");
        // With large files on btrfs, a round takes minutes.
        let rounds = if file_bytes > LARGE_BYTES { ROUNDS_OF_LARGE } else { ROUNDS };
        Beside { work, file_bytes, rounds, prefix: &prefix }.rows(SUITE, &cells)
    };
    Ok(SIZES.iter().map(of_size).collect::<anyhow::Result<Vec<_>>>()?.concat())
}
