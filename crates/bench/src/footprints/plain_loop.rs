//! A plain loop, traced in user mode.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;

use super::has;
use crate::table::Table;

const ROUNDS: usize = 6;
const ITERATIONS: u64 = 10_000_000;
const INSTRUCTIONS_PER_ITERATION: u64 = 8;

/// Eight instructions, including one load and one store, like compiler-generated code.
fn source() -> String {
    format!(
        ".globl _start\n_start:\nlea data(%rip), %rsi\nmov ${ITERATIONS}, %ecx\n\
         1: mov (%rsi), %rax\nadd $1, %rax\nlea 1(%rbx), %rbx\nxor %rbx, %rdx\n\
         mov %rax, 8(%rsi)\nlea 3(%rdx), %rdx\ndec %ecx\njnz 1b\n\
         mov $60, %eax\nxor %edi, %edi\nsyscall\n.bss\n.balign 64\ndata: .skip 64\n"
    )
}

/// Adds the loop's row, and returns instructions per second in each round, or `None` if it cannot
/// be traced. The time includes starting QEMU.
pub(super) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<Option<Vec<f64>>> {
    let (what, bound) = ("instructions traced, user mode, plain loop", ">= 20 M/s");
    if let Some(missing) = ["cc", "qemu-x86_64"].into_iter().find(|tool| !has(tool)) {
        table.row(what, format!("there is no {missing} here (scripts/setup bench)"), bound);
        return Ok(None);
    }
    let directory = work.join("plain-loop");
    std::fs::create_dir(&directory)?;
    let (text, program) = (directory.join("loop.S"), directory.join("loop"));
    std::fs::write(&text, source())?;
    let mut compiler = Command::new("cc");
    let compiled = compiler.args(["-nostdlib", "-static", "-o"]).arg(&program).arg(&text).status();
    anyhow::ensure!(compiled?.success(), "the loop could not be assembled");
    let library = footprint_library::write_into(&directory)?;
    let trace = directory.join("trace");
    let plugin = format!("{},out={}", library.display(), trace.display());
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        let mut qemu = Command::new("qemu-x86_64");
        qemu.arg("-plugin").arg(&plugin).arg(&program).stdout(Stdio::null());
        let began = Instant::now();
        let status = qemu.status().context("qemu-x86_64 could not be started")?;
        let seconds = began.elapsed().as_secs_f64();
        anyhow::ensure!(status.success(), "QEMU failed, or does not support plugins");
        // A real trace has at least a byte per iteration.
        anyhow::ensure!(trace.metadata()?.len() > ITERATIONS, "the loop was not traced");
        std::fs::remove_file(&trace)?;
        rates.push((ITERATIONS * INSTRUCTIONS_PER_ITERATION) as f64 / seconds);
    }
    table.per_second(what, bound, &rates);
    Ok(Some(rates))
}
