//! Twelve cells of one file system next to a hand-written loop and fio.

use std::path::Path;

use serde_json::{Value, json};

use crate::beside::{Beside, Cell, KIB, MIB, Operation, Order, cell};
use crate::new_process;
use crate::table::Table;

const ROUNDS: u64 = 16;
/// The size of fsprism's data files.
const FILE_BYTES: u64 = 64 << 20;

/// The runs of fsprism: suite, and the cells that are examined.
const RUNS: [(&str, &[Cell]); 3] = [
    (
        "survey/in-memory",
        &[
            cell("sequential-read-4k-warm", Order::Sequential, Operation::Read, 4 * KIB),
            cell("sequential-read-1m-warm", Order::Sequential, Operation::Read, MIB),
            cell("random-read-4k-warm", Order::Random, Operation::Read, 4 * KIB),
            cell("sequential-write-4k-warm", Order::Sequential, Operation::Write, 4 * KIB),
            cell("sequential-write-1m-warm", Order::Sequential, Operation::Write, MIB),
            cell("random-write-4k-warm", Order::Random, Operation::Write, 4 * KIB),
        ],
    ),
    (
        "nano/in-memory",
        &[
            cell("random-read-warm-by-request-131072", Order::Random, Operation::Read, 128 * KIB),
            cell("random-write-warm-by-request-131072", Order::Random, Operation::Write, 128 * KIB),
        ],
    ),
    (
        "nano/io",
        &[
            cell(
                "random-read-direct-by-request-4096",
                Order::Random,
                Operation::ReadDirectly,
                4 * KIB,
            ),
            cell(
                "sequential-read-direct-by-request-131072",
                Order::Sequential,
                Operation::ReadDirectly,
                128 * KIB,
            ),
            cell(
                "random-write-direct-by-request-4096",
                Order::Random,
                Operation::WriteDirectly,
                4 * KIB,
            ),
            cell(
                "sequential-write-direct-by-request-1048576",
                Order::Sequential,
                Operation::WriteDirectly,
                MIB,
            ),
        ],
    ),
];

/// The argument that asks for the rows of one process.
pub(crate) const ONE_PROCESS: &str = "twelve-in-one-process";
/// Where the file system's image is stored: in memory, since the speed of a disk that others use
/// too varies by more than what is to be measured.
const SCRATCH: &str = "/dev/shm";
const TARGET: &str = "ext4:size=1g";

/// Adds the rows of the twelve cells.
pub(crate) fn measure(table: &mut Table) -> anyhow::Result<()> {
    new_process::add(table, new_process::rows(ONE_PROCESS, Path::new(SCRATCH))?);
    Ok(())
}

/// The work of a new process: measures every row on a new file system, and prints them. Called
/// while it is single-threaded.
pub(crate) fn one_process(scratch: &Path) -> anyhow::Result<()> {
    let rows = new_process::on_target(TARGET, scratch.to_owned(), rows)?.unwrap_or_else(|why| {
        let what = "bare loop / fsprism, twelve cells";
        vec![json!({ "what": what, "bound": "0.95 to 1.05", "why_not": why })]
    });
    println!("{}", Value::Array(rows));
    Ok(())
}

fn rows(work: &Path) -> anyhow::Result<Vec<Value>> {
    let beside = Beside { work, file_bytes: FILE_BYTES, rounds: ROUNDS, prefix: "" };
    let each = |(suite, cells): &(&str, &[Cell])| beside.rows(suite, cells);
    Ok(RUNS.iter().map(each).collect::<anyhow::Result<Vec<_>>>()?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_cells_are_of_each_kind() {
        let all: Vec<Cell> = RUNS.iter().flat_map(|(_, cells)| cells.iter().copied()).collect();
        assert_eq!(all.len(), 12);
        for size in [4 * KIB, 128 * KIB, MIB] {
            let of_size = || all.iter().filter(move |cell| cell.request_bytes == size);
            for does in [Operation::Read, Operation::Write] {
                assert!(of_size().any(|cell| cell.does == does), "{does:?} of {size}");
            }
        }
    }
}
