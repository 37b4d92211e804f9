//! Single-stepping a guest's kernel with gdb, through QEMU's stub: how "DenseFS" was traced.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use lab::{Lab, kernel};

use super::has;

/// The number of turns in which steps are counted.
const TURNS: usize = 6;
const TURN: Duration = Duration::from_secs(1);
/// How long to let the guest run before stepping. It only ever executes its kernel's code: without
/// an init process it loops there forever.
const BOOTING: Duration = Duration::from_secs(5);

/// A process that is killed when this is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _killed = self.0.kill();
        let _ended = self.0.wait();
    }
}

/// Steps per second in each turn, or why there are none. Only addresses are recorded, which is less
/// than in the paper.
pub(super) fn steps_per_s(work: &Path) -> anyhow::Result<Result<Vec<f64>, String>> {
    if let Some(missing) = ["gdb", "qemu-system-x86_64"].into_iter().find(|tool| !has(tool)) {
        return Ok(Err(format!("there is no {missing} here (scripts/setup bench)")));
    }
    let kernel = match Lab::for_user().and_then(|lab| kernel::find(&lab, None)) {
        Ok(kernel) => kernel,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let directory = tempfile::tempdir_in(work)?;
    let (socket, script) = (directory.path().join("stub"), directory.path().join("script"));
    let mut qemu = Command::new("qemu-system-x86_64");
    qemu.args(["-nodefaults", "-display", "none", "-m", "512", "-kernel"]).arg(kernel.file());
    qemu.args(["-append", "nokaslr quiet panic=0", "-gdb", "chardev:stub", "-chardev"]);
    qemu.arg(format!("socket,id=stub,path={},server=on,wait=off", socket.display()));
    qemu.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _guest = Process(qemu.spawn().context("qemu-system-x86_64 could not be started")?);
    std::thread::sleep(BOOTING);
    let steps = format!(
        "set pagination off\nset confirm off\nset architecture i386:x86-64\n\
         target remote {}\nwhile 1\nstepi\nend\n",
        socket.display()
    );
    std::fs::write(&script, steps)?;
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-q", "-batch", "-x"]).arg(&script);
    gdb.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut gdb = Process(gdb.spawn().context("gdb could not be started")?);
    let output = gdb.0.stdout.take().context("gdb has an output")?;
    parse_counts(BufReader::new(output)).map(Ok)
}

/// Counts the lines for steps, which begin with an address.
fn parse_counts(output: impl BufRead) -> anyhow::Result<Vec<f64>> {
    let mut rates = Vec::new();
    let (mut steps, mut began) = (0_u32, None);
    for line in output.lines() {
        if !line?.starts_with("0x") {
            continue;
        }
        // The first is the address at which the guest was stopped.
        let start = *began.get_or_insert_with(Instant::now);
        let elapsed = start.elapsed();
        if elapsed >= TURN {
            rates.push(f64::from(steps) / elapsed.as_secs_f64());
            (steps, began) = (0, Some(Instant::now()));
        }
        if rates.len() == TURNS {
            return Ok(rates);
        }
        steps += 1;
    }
    anyhow::bail!("gdb ended before it was asked to")
}
