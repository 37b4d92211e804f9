//! How much longer programs take to start with the library.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::place::{Place, Side, guided_library, library};
use crate::table::{Bound, Table};

const MORE_MS: Bound = Bound::AtMost(2.0);
const STARTS: usize = 101;
/// One that loads nothing but the C library, and one that loads several libraries.
const PROGRAMS: [&[&str]; 2] = [&["/bin/true"], &["/usr/bin/git", "--version"]];

/// Adds the rows.
pub(super) fn measure(table: &mut Table, place: &Place) -> anyhow::Result<()> {
    let (ours, guided) = (library()?, guided_library()?);
    for program in PROGRAMS {
        let name = program.join(" ");
        let (mut plain, mut longer, mut longer_guided, mut longer_exec) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for round in 0..=STARTS {
            let without = run_ms(Command::new(program[0]), &program[1..])?;
            let with = |library: &Path| {
                let command = place.by_library(library, program[0].as_ref());
                Ok::<_, anyhow::Error>(run_ms(command, &program[1..])? - without)
            };
            let (with_ours, with_guided) = (with(&ours)?, with(&guided)?);
            let words = place.words(Side::Dense);
            let mut exec = Command::new(&words[0]);
            exec.args(&words[1..]);
            let by_exec = run_ms(exec, program)? - without;
            // The first round reads files in.
            if round > 0 {
                plain.push(without);
                longer.push(with_ours);
                longer_guided.push(with_guided);
                longer_exec.push(by_exec);
            }
        }
        let what = format!("DenseFS, programs as they are, start of {name}: without the library");
        table.times_ms(&what, "stated", &plain);
        table.more_ms("  longer with it", MORE_MS, &longer);
        table.more_ms("  longer with it, guided", MORE_MS, &longer_guided);
        table.times_ms("  longer by fsprism densefs exec", "stated", &longer_exec);
    }
    Ok(())
}

fn run_ms(mut command: Command, arguments: &[&str]) -> anyhow::Result<f64> {
    command.args(arguments).stdout(Stdio::null());
    let began = Instant::now();
    let status = command.status()?;
    let took_ms = began.elapsed().as_secs_f64() * 1e3;
    anyhow::ensure!(status.success(), "{command:?} failed: {status}");
    Ok(took_ms)
}
