//! Library calls of DenseFS, made by a C program, against system calls on tmpfs.

mod instructions;
pub(crate) mod programs;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use densefs_process::{DenseFs, NewArena, make};

use crate::processes::binary;
use crate::table::Table;

/// What the C program measures, and how many times faster than the system call it must be.
const BOUNDS: [(&str, &str); 26] = [
    ("empty system call", "stated"),
    ("stat", ">= 18"),
    ("stat, missing", ">= 18"),
    ("open+close", ">= 20"),
    ("create+close+unlink", ">= 35"),
    ("rename", ">= 20"),
    ("mkdir+rmdir", "stated"),
    ("stat below one directory", "stated"),
    ("rename below one directory", "stated"),
    ("create+close+unlink below one directory", "stated"),
    ("mkdir+rmdir below one directory", "stated"),
    ("stat below eight directories", "stated"),
    ("rename below eight directories", "stated"),
    ("create+close+unlink below eight directories", "stated"),
    ("mkdir+rmdir below eight directories", "stated"),
    ("fcntl lock+unlock", ">= 1"),
    ("pwrite 4 KiB, backwards", ">= 1"),
    ("pread 4 KiB", ">= 4"),
    ("pwrite 4 KiB", ">= 4"),
    ("pwrite 4 KiB, first touch", "stated"),
    ("readdir, per entry", ">= 10"),
    ("two processes", ">= 1.8"),
    ("create+close of 1,000,000", "stated"),
    ("stat of 1,000,000", "stated"),
    ("readdir+stat of 1,000,000", "stated"),
    ("unlink of 1,000,000", "stated"),
];
/// Size of the arena in bytes, with room for the files that are written for the first time.
const ARENA_BYTES: u64 = 1 << 30;

/// Adds the rows of DenseFS.
pub(crate) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    let lines = run(work)?;
    for (what, bound) in BOUNDS {
        let rounds: Vec<_> = lines.iter().filter(|line| line.what == what).collect();
        let ratios: Vec<_> = rounds.iter().map(|line| line.plain_ns / line.dense_ns).collect();
        let than =
            if what == "two processes" { "one after the other" } else { "tmpfs by system call" };
        table.ratios(&format!("DenseFS, {what}: {than} / DenseFS"), bound, &ratios);
        let times_ns: Vec<_> = rounds.iter().map(|line| line.dense_ns).collect();
        table.times_ns("  by library call", "stated", &times_ns);
    }
    instructions::measure(table, work)
}

/// The result of one round.
struct Round {
    what: String,
    dense_ns: f64,
    plain_ns: f64,
}

/// The library built by `make densefs`, and its header.
fn built() -> anyhow::Result<PathBuf> {
    let built = binary()?.with_file_name("../densefs").canonicalize();
    built.context("the library is not built: use make densefs")
}

/// What a program calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    /// The C library. `AS_IT_IS` is defined.
    System,
    /// The library of DenseFS.
    Library,
}

/// Compiles a program.
fn compile(work: &Path, name: &str, source: &str, calls: Calls) -> anyhow::Result<PathBuf> {
    let (text, program) = (work.join(name).with_extension("c"), work.join(name));
    std::fs::write(&text, source)?;
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-Wall", "-Wno-unused-result", "-D_GNU_SOURCE"]);
    compiler.arg(&text).arg("-o").arg(&program);
    match calls {
        Calls::System => compiler.arg("-DAS_IT_IS"),
        Calls::Library => {
            let built = built()?;
            compiler.arg("-I").arg(built.join("include"));
            compiler.arg("-L").arg(built.join("lib")).arg("-ldensefs")
        }
    };
    let compiled = compiler.status()?;
    anyhow::ensure!(compiled.success(), "cc could not compile the program {name}");
    Ok(program)
}

/// Makes an arena for a program.
fn new_arena(work: &Path) -> anyhow::Result<PathBuf> {
    let arena = work.join("arena");
    make_arena(&arena, ARENA_BYTES)?;
    Ok(arena)
}

fn make_arena(arena: &Path, bytes: u64) -> anyhow::Result<()> {
    let root = DenseFs::new_root(0o755);
    make(arena, &NewArena { overwrites: true, ..NewArena::new(bytes, root) })?;
    Ok(())
}

/// Runs the program that makes the calls.
fn run(work: &Path) -> anyhow::Result<Vec<Round>> {
    let program = compile(work, "calls", include_str!("calls.c"), Calls::Library)?;
    let (arena, directory) = (new_arena(work)?, work.join("plain"));
    std::fs::create_dir_all(&directory)?;
    let ran = Command::new(&program)
        .args([&arena, &directory])
        .env("LD_LIBRARY_PATH", built()?.join("lib"))
        .output()?;
    let why = String::from_utf8_lossy(&ran.stderr);
    anyhow::ensure!(ran.status.success(), "the program that calls DenseFS failed: {why}");
    std::fs::remove_dir_all(&directory)?;
    std::fs::remove_file(&arena)?;
    String::from_utf8(ran.stdout)?.lines().map(round).collect()
}

fn round(line: &str) -> anyhow::Result<Round> {
    let fields: Vec<_> = line.split('\t').collect();
    let [what, dense, plain] = fields[..] else { anyhow::bail!("odd line: {line}") };
    Ok(Round { what: what.to_owned(), dense_ns: dense.parse()?, plain_ns: plain.parse()? })
}
