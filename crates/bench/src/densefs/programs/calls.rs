//! Calls of one C program: as it is on a tmpfs, as it is in an arena, and compiled for DenseFS'
//! library.
//!
//! Each is a process that makes some calls whenever it is told to. A round has all of them make the
//! same calls, one after the other, so that drift of the machine affects all alike. As calls also
//! differ between processes of the same program, which lie elsewhere in memory, there are several
//! *sessions* with new processes. What a session says is the median of its rounds.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::Context;
use stats::Sample;

use super::place::{PREFIX, Place, Side, guided_library, library};
use crate::densefs::{Calls, built, compile};
use crate::table::{Bound, Table};

/// What a call may take longer than the library's own, and than one without the library if it has
/// nothing to do with the arena.
const MORE_THAN_LIBRARY: Bound = Bound::AtMost(25.0);
const MORE_ELSEWHERE: Bound = Bound::AtMost(15.0);
const SESSIONS: usize = 15;
const ROUNDS: usize = 15;
const CALLS: u32 = 2000;
/// Of calls of the kernel, which take longer.
const CALLS_OF_KERNEL: u32 = 500;
const SOURCE: &str = include_str!("calls.c");
/// How the names of operations begin that have nothing to do with the arena.
const ELSEWHERE: &str = "elsewhere: ";

/// A process that makes calls when it is told to.
struct Caller {
    child: Child,
    tell: ChildStdin,
    answers: BufReader<ChildStdout>,
    operations: Vec<String>,
}

impl Caller {
    fn start(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{command:?} could not be started"))?;
        let tell = child.stdin.take().context("its input is a pipe")?;
        let answers = BufReader::new(child.stdout.take().context("its output is a pipe")?);
        let mut caller = Self { child, tell, answers, operations: Vec::new() };
        let names = caller.answer()?;
        caller.operations = names.split_terminator('\t').map(str::to_owned).collect();
        Ok(caller)
    }

    fn answer(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        anyhow::ensure!(line.ends_with('\n'), "the program that makes calls has ended");
        Ok(line.trim_end_matches('\n').to_owned())
    }

    /// The nanoseconds of a call.
    fn call(&mut self, operation: usize, count: u32) -> anyhow::Result<f64> {
        writeln!(self.tell, "{operation} {count}")?;
        Ok(self.answer()?.parse()?)
    }

    fn end(mut self) -> anyhow::Result<()> {
        drop(self.tell);
        let status = self.child.wait()?;
        anyhow::ensure!(status.success(), "the program that makes calls failed: {status}");
        Ok(())
    }
}

/// The processes.
struct Callers {
    tmpfs: Caller,
    arena: Caller,
    guided: Caller,
    library: Caller,
}

/// The nanoseconds of a call, round by round, or session by session.
#[derive(Clone, Default)]
struct Times {
    tmpfs: Vec<f64>,
    arena: Vec<f64>,
    guided: Vec<f64>,
    library: Vec<f64>,
}

/// Adds the rows.
pub(super) fn measure(table: &mut Table, place: &Place) -> anyhow::Result<()> {
    // It is written to a file before anything is measured.
    library()?;
    let as_it_is = compile(&place.work, "as-it-is", SOURCE, Calls::System)?;
    let by_library = compile(&place.work, "by-library", SOURCE, Calls::Library)?;
    let mut names = Vec::new();
    let mut all: Vec<Times> = Vec::new();
    for _ in 0..SESSIONS {
        place.empty()?;
        let mut callers = Callers::start(place, &as_it_is, &by_library)?;
        names.clone_from(&callers.tmpfs.operations);
        all.resize(names.len(), Times::default());
        for (operation, times) in all.iter_mut().enumerate() {
            times.add_medians(&callers.compare(operation)?)?;
        }
        callers.end()?;
    }
    for (name, times) in names.iter().zip(&all) {
        match name.strip_prefix(ELSEWHERE) {
            Some(name) => times.rows_elsewhere(table, name),
            None => times.rows(table, name),
        }
    }
    Ok(())
}

impl Callers {
    fn start(place: &Place, as_it_is: &Path, by_library: &Path) -> anyhow::Result<Self> {
        // Each works in a directory of its own.
        let made = ["arena", "guided", "library"].map(|name| place.tmpfs.join(name));
        for directory in &made {
            std::fs::create_dir(directory)?;
        }
        let mut import = Command::new(crate::processes::binary()?);
        import.args(["densefs", "import"]).arg(&place.tmpfs).arg(&place.arena);
        anyhow::ensure!(import.output()?.status.success(), "directories could not be imported");
        let tmpfs = place.tmpfs.join("library");
        let mut plain = Command::new(as_it_is);
        plain.arg(tmpfs);
        let words = place.words(Side::Dense);
        let mut arena = Command::new(&words[0]);
        arena.args(&words[1..]).arg(as_it_is).arg(format!("{PREFIX}/arena"));
        let mut guided = place.by_library(&guided_library()?, as_it_is);
        guided.arg(format!("{PREFIX}/guided"));
        let mut dense = Command::new(by_library);
        dense.arg("/library").arg(&place.arena);
        dense.env("LD_LIBRARY_PATH", built()?.join("lib"));
        Ok(Self {
            tmpfs: Caller::start(plain)?,
            arena: Caller::start(arena)?,
            guided: Caller::start(guided)?,
            library: Caller::start(dense)?,
        })
    }

    fn end(self) -> anyhow::Result<()> {
        let Self { tmpfs, arena, guided, library } = self;
        [tmpfs, arena, guided, library].into_iter().try_for_each(Caller::end)
    }

    /// Compares an operation, round by round.
    fn compare(&mut self, operation: usize) -> anyhow::Result<Times> {
        let Self { tmpfs, arena, guided, library } = self;
        let is_elsewhere = operation >= library.operations.len();
        let count = if is_elsewhere || operation == 0 { CALLS_OF_KERNEL } else { CALLS };
        let mut times = Times::default();
        for round in 0..=ROUNDS {
            let plain = tmpfs.call(operation, CALLS_OF_KERNEL)?;
            let in_arena = arena.call(operation, count)?;
            let by_library = if is_elsewhere { 0.0 } else { library.call(operation, count)? };
            let by_guided = guided.call(operation, count)?;
            // The first round warms caches up.
            if round > 0 {
                times.tmpfs.push(plain);
                times.arena.push(in_arena);
                times.library.push(by_library);
                times.guided.push(by_guided);
            }
        }
        Ok(times)
    }
}

impl Times {
    /// Adds the medians of a session.
    fn add_medians(&mut self, session: &Self) -> anyhow::Result<()> {
        let median = |times: &[f64]| Sample::new(times).map(|sample| sample.median());
        self.tmpfs.push(median(&session.tmpfs)?);
        self.arena.push(median(&session.arena)?);
        self.guided.push(median(&session.guided)?);
        self.library.push(median(&session.library)?);
        Ok(())
    }

    fn rows(&self, table: &mut Table, name: &str) {
        let Self { tmpfs, arena, guided, library } = self;
        let what = format!("DenseFS, programs as they are, {name}: tmpfs / DenseFS");
        table.ratios(&what, "stated", &each(tmpfs, arena, |plain, dense| plain / dense));
        table.times_ns("  in the arena", "stated", arena);
        let differences = |of: &[f64]| each(of, library, |dense, library| dense - library);
        let what = "  longer than the library's call";
        table.more_ns(what, MORE_THAN_LIBRARY, &differences(arena));
        let what = "  longer than the library's call, guided";
        table.more_ns(what, MORE_THAN_LIBRARY, &differences(guided));
    }

    fn rows_elsewhere(&self, table: &mut Table, name: &str) {
        let Self { tmpfs, arena, guided, .. } = self;
        let what = format!("DenseFS, programs as they are, outside of the prefix, {name}");
        table.times_ns(&format!("{what}: without the library"), "stated", tmpfs);
        let differences = |of: &[f64]| each(of, tmpfs, |with, without| with - without);
        table.more_ns("  longer with it", MORE_ELSEWHERE, &differences(arena));
        table.more_ns("  longer with it, guided", MORE_ELSEWHERE, &differences(guided));
    }
}

/// What each session gives.
fn each(one: &[f64], other: &[f64], join: fn(f64, f64) -> f64) -> Vec<f64> {
    one.iter().zip(other).map(|(&one, &other)| join(one, other)).collect()
}
