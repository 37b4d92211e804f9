//! How many instructions each call executes and how many cache lines it touches, compared with
//! docs/densefs.md: counted in a trace of a C program that calls the library as it is shipped.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use footprint::touched::Figures;
use footprint::trace::{Nameless, Region};

use crate::{installed, new_arena};

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    instructions: u64,
    instruction_lines: u64,
    data_lines: u64,
}

impl Counts {
    /// The most that may be counted if this is in the table. Code moves whenever anything changes.
    fn bound(self) -> Self {
        self.map(|count| count + count / 8 + 1)
    }

    fn map(self, change: fn(u64) -> u64) -> Self {
        Self {
            instructions: change(self.instructions),
            instruction_lines: change(self.instruction_lines),
            data_lines: change(self.data_lines),
        }
    }

    fn are_within(self, bound: Self) -> bool {
        self.instructions <= bound.instructions
            && self.instruction_lines <= bound.instruction_lines
            && self.data_lines <= bound.data_lines
    }
}

/// The rows of the table in docs/densefs.md, in the order of the program's calls.
fn table() -> Vec<(String, Counts)> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/densefs.md");
    let text = fs::read_to_string(docs).expect("it is in the tree");
    let rows = text.lines().skip_while(|line| !line.starts_with("| call | instructions |"));
    let rows = rows.skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let count = |cell: usize| cells[cell].replace(',', "").parse().expect("a number");
        let counts =
            Counts { instructions: count(2), instruction_lines: count(3), data_lines: count(4) };
        (cells[1].to_owned(), counts)
    })
    .collect()
}

/// Compiles the program that makes the calls.
fn program(offset: &Path) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = offset.join("lines");
    let built = Command::new("cc")
        .args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-I"])
        .arg(installed().prefix.join("include"))
        .arg(here.join("tests/shipped/lines.c"))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(installed().prefix.join("lib"))
        .arg("-ldensefs")
        .output()
        .expect("cc can be started");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program
}

/// Traces the program.
fn trace(offset: &Path) -> PathBuf {
    let program = program(offset);
    let arena = new_arena(offset);
    let plugin = footprint_library::write_into(offset).expect("there is room");
    let trace = offset.join("trace");
    let plugin = format!("{},out={},regions=marked", plugin.display(), trace.display());
    let ran = Command::new("qemu-x86_64")
        .arg("-plugin")
        .arg(plugin)
        .arg(program)
        .arg(&arena)
        // The position of the stack depends on the size of the environment.
        .env_clear()
        .env("LD_LIBRARY_PATH", installed().prefix.join("lib"))
        .output()
        .expect("it is there");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    trace
}

/// For each call, the medians of its repetitions.
fn count(trace: &Path) -> Vec<Counts> {
    let mut calls: BTreeMap<u16, Vec<Figures>> = BTreeMap::new();
    for one in footprint_study::regions(trace, Nameless, None).expect("the trace is whole") {
        if let Region::Marked { operation, .. } = one.region {
            calls.entry(operation).or_default().push(one.figures);
        }
    }
    let middle = |figures: &[Figures], count: fn(&Figures) -> u64| {
        let mut all: Vec<_> = figures.iter().map(count).collect();
        all.sort_unstable();
        all[(all.len() - 1) / 2]
    };
    let counts = |figures: &Vec<Figures>| Counts {
        instructions: middle(figures, |figures| figures.instructions),
        instruction_lines: middle(figures, |figures| figures.instruction_lines),
        data_lines: middle(figures, |figures| figures.data_lines),
    };
    calls.values().map(counts).collect()
}

fn can_trace() -> bool {
    let help = Command::new("qemu-x86_64").arg("-h").stderr(Stdio::null()).output();
    help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("-plugin"))
}

#[test]
fn calls_do_no_more_than_the_table_says() {
    if !can_trace() {
        eprintln!("skipped: there is no qemu-x86_64 here, or it takes no plugins");
        return;
    }
    let offset = tempfile::tempdir_in("/dev/shm").expect("there is room");
    if !installed().is_trained {
        eprintln!("skipped: rustup's component llvm-tools is not installed");
        return;
    }
    let counted = count(&trace(offset.path()));
    let table = table();
    assert_eq!(counted.len(), table.len(), "each row of the table is a call of the program");
    let mut are_within = true;
    for ((call, said), counted) in table.iter().zip(counted) {
        let Counts { instructions, instruction_lines, data_lines } = counted;
        println!("| {call} | {instructions} | {instruction_lines} | {data_lines} |");
        are_within &= counted.are_within(said.bound());
    }
    assert!(are_within, "more than docs/densefs.md says; what was counted is above");
}

#[test]
fn what_is_beyond_the_table_is_noticed() {
    let said = Counts { instructions: 400, instruction_lines: 40, data_lines: 20 };
    let most = Counts { instructions: 451, instruction_lines: 46, data_lines: 23 };
    assert!(said.are_within(said.bound()));
    assert!(most.are_within(said.bound()));
    assert!(!Counts { instructions: 452, ..most }.are_within(said.bound()));
    assert!(!Counts { instruction_lines: 47, ..most }.are_within(said.bound()));
    assert!(!Counts { data_lines: 24, ..most }.are_within(said.bound()));
}
