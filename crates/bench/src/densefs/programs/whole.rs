//! Whole programs on a tree of source-like files: in an arena, by `fsprism densefs exec`, whose
//! start is part of the time, and on a tmpfs.
//!
//! A round runs each program once on either side, one right after the other; the side that begins
//! changes from round to round. The first round is not counted.

use std::ffi::OsString;
use std::fs;
use std::process::Command;

use anyhow::Context;
use workload::SourceTree;

use super::place::{Place, Side};
use super::tree;
use crate::table::{Bound, Table};

const ROUNDS: usize = 15;
/// For trees that take long; the least for an interval.
const ROUNDS_OF_LARGE: usize = 6;
const LARGE_FILES: u32 = 100_000;

/// A program, what it needs, and how many times faster it should be in the arena. In arguments, `%`
/// stands for the side's directory, and `@` for one of the work's.
struct Program {
    name: &'static str,
    bound: Bound,
    /// A shell script that comes before, untimed.
    before: &'static str,
    arguments: &'static [&'static str],
}

const GIT: &str = "git --git-dir=%/git --work-tree=%/sources -c gc.auto=0 \
                   -c maintenance.auto=false -c core.looseCompression=0 -c user.name=nobody \
                   -c user.email=nobody@localhost";

/// In the order in which they run, round by round.
const PROGRAMS: [Program; 8] = [
    Program {
        name: "grep -r",
        bound: Bound::AtLeast(1.8),
        before: "",
        arguments: &["grep", "-r", SourceTree::WORD, "%/sources"],
    },
    Program {
        name: "find -name",
        bound: Bound::AtLeast(2.0),
        before: "",
        arguments: &["find", "%/sources", "-name", "*.h"],
    },
    Program {
        name: "find -size",
        bound: Bound::AtLeast(2.0),
        before: "",
        arguments: &["find", "%/sources", "-size", "+3k"],
    },
    Program {
        name: "git status",
        bound: Bound::AtLeast(1.5),
        before: "",
        arguments: &["git", "--git-dir=%/git", "--work-tree=%/sources", "status", "--short"],
    },
    Program {
        name: "tar x",
        bound: Bound::AtLeast(2.0),
        before: "mkdir %/out",
        arguments: &["tar", "xf", "@/tree.tar", "-C", "%/out"],
    },
    Program {
        name: "rm -rf",
        bound: Bound::AtLeast(3.0),
        before: "",
        arguments: &["rm", "-rf", "%/out"],
    },
    Program {
        name: "cp -a",
        bound: Bound::AtLeast(1.2),
        before: "rm -rf %/copy",
        arguments: &["cp", "-a", "%/sources", "%/copy"],
    },
    Program {
        name: "make -j4",
        bound: Bound::AtLeast(1.0),
        before: "rm -rf %/copy; make -s -C %/project clean",
        arguments: &["make", "-s", "-j4", "-C", "%/project"],
    },
];

/// What a run took.
#[derive(Clone, Copy, Debug)]
struct Took {
    wall_s: f64,
    user_s: f64,
    system_s: f64,
}

/// What the runs of a program took on one side and on the other.
#[derive(Default)]
struct Pairs {
    tmpfs: Vec<Took>,
    dense: Vec<Took>,
}

/// Adds the rows.
pub(super) fn measure(table: &mut Table, place: &Place, files: u32) -> anyhow::Result<()> {
    place.empty()?;
    tree::archive(&place.work, files)?;
    tree::project(&place.work.join("project"))?;
    let rounds = if files < LARGE_FILES { ROUNDS } else { ROUNDS_OF_LARGE };
    let cold = first_touch(place, rounds.min(ROUNDS_OF_LARGE))?;
    for side in [Side::Tmpfs, Side::Dense] {
        let fill = "tar xf @/tree.tar -C % && cp -a @/project %";
        let commit = format!("{GIT} init -q && {GIT} add -A && {GIT} commit -q -m all");
        place.shell(side, &format!("{fill} && {commit}"))?;
    }
    let mut all: [Pairs; PROGRAMS.len()] = Default::default();
    for round in 0..=rounds {
        eprintln!("whole programs, round {round} of {rounds}");
        for (program, pairs) in PROGRAMS.iter().zip(&mut all) {
            let took = pair(place, program, round)?;
            if round > 0 {
                pairs.push(took);
            }
        }
    }
    let what = |name: &str| format!("DenseFS, {name} with {files} files: tmpfs / DenseFS");
    cold.add(table, &what("tar x into a new arena"), None);
    for (program, pairs) in PROGRAMS.iter().zip(&all) {
        let name = match program.name {
            "make -j4" => "DenseFS, make -j4: tmpfs / DenseFS".to_owned(),
            name => what(name),
        };
        pairs.add(table, &name, Some(program.bound));
    }
    Ok(())
}

/// The time of tar in a new arena, whose memory nobody has touched. On the tmpfs it always is so.
fn first_touch(place: &Place, rounds: usize) -> anyhow::Result<Pairs> {
    let mut pairs = Pairs::default();
    let tar = PROGRAMS.iter().find(|program| program.name == "tar x").context("it is there")?;
    for round in 0..rounds {
        place.empty()?;
        pairs.push(pair(place, tar, round)?);
    }
    place.empty()?;
    Ok(pairs)
}

/// Runs a program on both sides, and compares what it prints.
fn pair(place: &Place, program: &Program, round: usize) -> anyhow::Result<[Took; 2]> {
    let sides = [Side::Tmpfs, Side::Dense];
    let order = if round.is_multiple_of(2) { sides } else { [Side::Dense, Side::Tmpfs] };
    if !program.before.is_empty() {
        sides.iter().try_for_each(|&side| place.shell(side, program.before))?;
    }
    let one = place.timed(order[0], program)?;
    let other = place.timed(order[1], program)?;
    let printed = |side| -> anyhow::Result<Vec<String>> {
        let text = fs::read_to_string(place.output(side))?;
        let root = place.root(side).to_string_lossy().into_owned();
        let mut lines: Vec<String> = text.lines().map(|line| line.replace(&root, "")).collect();
        lines.sort_unstable();
        Ok(lines)
    };
    let is_same = printed(Side::Tmpfs)? == printed(Side::Dense)?;
    anyhow::ensure!(is_same, "{} prints something else in an arena", program.name);
    Ok(if order == sides { [one, other] } else { [other, one] })
}

impl Place {
    fn output(&self, side: Side) -> std::path::PathBuf {
        self.work.join(format!("output-{side:?}"))
    }

    /// Replaces the signs that stand for directories.
    fn fill_in(&self, side: Side, text: &str) -> OsString {
        let (root, work) = (self.root(side).to_string_lossy(), self.work.to_string_lossy());
        text.replace('%', &root).replace('@', &work).into()
    }

    /// Runs a script, untimed.
    fn shell(&self, side: Side, script: &str) -> anyhow::Result<()> {
        let mut words = self.words(side);
        words.extend(["sh", "-c"].map(OsString::from));
        words.push(self.fill_in(side, script));
        let ran = Command::new(&words[0]).args(&words[1..]).output()?;
        let why = String::from_utf8_lossy(&ran.stderr);
        anyhow::ensure!(ran.status.success(), "{script} failed: {why}");
        Ok(())
    }

    /// Runs a program, timed by a shell, which knows how long it has used the processor.
    fn timed(&self, side: Side, program: &Program) -> anyhow::Result<Took> {
        let mut words = self.words(side);
        words.extend(program.arguments.iter().map(|text| self.fill_in(side, text)));
        let ran = Command::new("bash")
            .args(["-c", "TIMEFORMAT='%3R %3U %3S'; time \"$@\"", "bash"])
            .args(words)
            .stdout(fs::File::create(self.output(side))?)
            .output()
            .context("bash could not be started")?;
        let said = String::from_utf8_lossy(&ran.stderr);
        anyhow::ensure!(ran.status.success(), "{} failed: {said}", program.name);
        let line = said.lines().last().unwrap_or_default();
        let times: Result<Vec<f64>, _> = line.split(' ').map(str::parse).collect();
        let [wall_s, user_s, system_s] = times?[..] else {
            anyhow::bail!("bash prints other times: {line}")
        };
        Ok(Took { wall_s, user_s, system_s })
    }
}

impl Pairs {
    fn push(&mut self, [tmpfs, dense]: [Took; 2]) {
        self.tmpfs.push(tmpfs);
        self.dense.push(dense);
    }

    /// Adds the ratios and the times. If no bound is given, they are only stated.
    fn add(&self, table: &mut Table, what: &str, bound: Option<Bound>) {
        let of = |took: &[Took], time: fn(&Took) -> f64| took.iter().map(time).collect::<Vec<_>>();
        let ratios: Vec<f64> = of(&self.tmpfs, |took| took.wall_s)
            .iter()
            .zip(of(&self.dense, |took| took.wall_s))
            .map(|(plain, dense)| plain / dense)
            .collect();
        match bound {
            Some(bound) => table.judged_ratios(what, bound, &ratios),
            None => table.ratios(what, "stated", &ratios),
        }
        for (name, took) in [("in the arena", &self.dense), ("on the tmpfs", &self.tmpfs)] {
            table.times_ms(&format!("  {name}"), "stated", &of(took, |took| took.wall_s * 1e3));
            let user = of(took, |took| took.user_s * 1e3);
            table.times_ms("    in the program", "stated", &user);
            let system = of(took, |took| took.system_s * 1e3);
            table.times_ms("    in the kernel", "stated", &system);
        }
    }
}
