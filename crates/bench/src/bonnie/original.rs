//! All of Bonnie against Bonnie++, with options that make the two as similar as possible: the whole
//! process in the directory of the measurement, and phases on an ext4 in it.
//!
//! Bonnie++ prints no figures for phases that take less than half a second. It announces each phase
//! on standard error, which is unbuffered, and then starts its timer; once the file is synced and
//! closed, it stops the timer, as fsprism does, and reports that it is done. So its phases are
//! timed from outside, by when these messages arrive.
//!
//! The rows of phases exclude the per-character phases in both: those of Bonnie++ make different
//! calls, on 3 MiB of the file instead of all of it as in fsprism, and afterwards the file is read
//! by block at a different rate (docs/classic.md).
//!
//! Every block of the ext4's image is written beforehand, since otherwise whichever comes first
//! would have to wait for that.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

use super::{FILE_MIB, ROUNDS, measure_fsprism, median};
use crate::new_process;
use crate::table::Table;

/// The argument that asks for the rows on ext4.
pub(crate) const ONE_PROCESS: &str = "bonnie-on-ext4";

/// The options of fsprism that come closest to Bonnie++, apart from the chunk size and the phases.
const AS_BONNIE: [&str; 5] = ["--seeks", "8192", "--seekers", "5", "--fsync"];
/// Bonnie++'s default chunk size.
const DEFAULT_CHUNK: &str = "8k";
/// A chunk size at which the overhead of calls, and of what Bonnie++ does around each, is small.
const LARGE_CHUNK: &str = "256k";
/// The phases that both have, with Bonnie++'s announcements.
const PHASES: [(&str, &str); 3] = [
    ("block-output", "Writing intelligently..."),
    ("rewrite", "Rewriting..."),
    ("block-input", "Reading intelligently..."),
];
const DONE: &str = "done";
const TARGET: &str = "ext4:size=1g,image=allocated";
const WHOLE: &str = "<= 1";

/// What both are asked to do.
#[derive(Clone, Copy, Debug)]
struct BonnieSettings {
    chunk: &'static str,
    phase_order: &'static str,
    /// Options of Bonnie++.
    theirs: &'static [&'static str],
}

/// Everything that Bonnie++ does by default.
const ALL: BonnieSettings =
    BonnieSettings { chunk: DEFAULT_CHUNK, phase_order: "bonnie++", theirs: &[] };
/// Only reading and writing by block.
const BY_BLOCK: BonnieSettings =
    BonnieSettings { chunk: LARGE_CHUNK, phase_order: "bonnie++-f", theirs: &["-f"] };
const ALIKE: &str = "1 in the interval";

/// How long a process took in total, and in its phases, in seconds.
#[derive(Clone, Copy, Debug)]
struct BonnieTimes {
    whole_s: f64,
    phases_s: [f64; PHASES.len()],
}

/// A round: the times of both.
#[derive(Clone, Copy, Debug)]
struct Round {
    ours: BonnieTimes,
    theirs: BonnieTimes,
}

/// Adds the rows of the whole process, and of the phases.
pub(super) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    let what = format!("bonnie / bonnie++, {FILE_MIB} MiB, whole process");
    let rounds = rounds("a directory", &work.join("beside"), work, ALL)?;
    let whole = rounds.iter().map(|round| round.ours.whole_s / round.theirs.whole_s);
    table.ratios(&what, WHOLE, &whole.collect::<Vec<_>>());
    new_process::add(table, new_process::rows(ONE_PROCESS, work)?);
    Ok(())
}

/// The work of a new process: measures the rows on an ext4 whose image is in `work`, and prints
/// them. Called while it is single-threaded.
pub(crate) fn one_process(work: &Path) -> anyhow::Result<()> {
    let on_ext4 = |root: &Path| Ok(phases(&rounds("ext4", root, work, BY_BLOCK)?));
    let rows = new_process::on_target(TARGET, work.to_owned(), on_ext4)?;
    let rows = rows.unwrap_or_else(|why| {
        let what = "bonnie / bonnie++, rates of phases on ext4";
        vec![json!({ "what": what, "bound": ALIKE, "why_not": why })]
    });
    println!("{}", Value::Array(rows));
    Ok(())
}

/// The rows of the phases: our rate over theirs.
fn phases(rounds: &[Round]) -> Vec<Value> {
    let row = |(phase, (name, _)): (usize, &(&str, &str))| {
        let ratio = |round: &Round| round.theirs.phases_s[phase] / round.ours.phases_s[phase];
        let ratios: Vec<f64> = rounds.iter().map(ratio).collect();
        let what = format!("  rate of {name}, on ext4 in chunks of {LARGE_CHUNK}");
        json!({ "what": what, "bound": ALIKE, "ratios": ratios })
    };
    PHASES.iter().enumerate().map(row).collect()
}

/// Runs both in `place`, alternating which comes first. Runs are stored in `work`.
fn rounds(
    name: &str,
    place: &Path,
    work: &Path,
    settings: BonnieSettings,
) -> anyhow::Result<Vec<Round>> {
    let [our_place, their_place] = ["ours", "theirs"].map(|name| place.join(name));
    let ours = || measure_ours(&our_place, &work.join("beside-run"), settings);
    let theirs = || measure_theirs(&their_place, settings);
    let round = |number: usize| {
        eprintln!("bonnie and bonnie++ on {name}, round {} of {ROUNDS}", number + 1);
        Ok(if number.is_multiple_of(2) {
            let ours = ours()?;
            Round { ours, theirs: theirs()? }
        } else {
            let theirs = theirs()?;
            Round { ours: ours()?, theirs }
        })
    };
    (0..ROUNDS).map(round).collect()
}

fn measure_ours(place: &Path, run: &Path, settings: BonnieSettings) -> anyhow::Result<BonnieTimes> {
    prepare(place)?;
    let own = ["--chunk", settings.chunk, "--phase-order", settings.phase_order];
    let options = [own.as_slice(), &AS_BONNIE].concat();
    let (whole_s, document) = measure_fsprism(place, run, &options)?;
    let mut phases_s = [0.0; PHASES.len()];
    for (phase_s, (phase, _)) in phases_s.iter_mut().zip(PHASES) {
        *phase_s = (FILE_MIB << 20) as f64 / median(&document, phase, "bandwidth")?;
    }
    Ok(BonnieTimes { whole_s, phases_s })
}

fn measure_theirs(place: &Path, settings: BonnieSettings) -> anyhow::Result<BonnieTimes> {
    prepare(place)?;
    let began = Instant::now();
    let mut child = Command::new("bonnie++")
        .args(["-n", "0", "-u", "root", "-s", &format!("{FILE_MIB}:{}", settings.chunk)])
        .args(settings.theirs)
        .args(["-r", &(FILE_MIB / 2).to_string(), "-d"])
        .arg(place)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut words = child.stderr.take().context("standard error was piped")?;
    let (mut output, mut buffer) = (BonnieOutput::default(), [0; 4096]);
    loop {
        let read = words.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        output.add(&buffer[..read], began.elapsed());
    }
    let status = child.wait()?;
    let whole_s = began.elapsed().as_secs_f64();
    anyhow::ensure!(status.success(), "bonnie++ failed: {status}");
    let phases_s = output.phases_s().context("bonnie++ did not announce its phases")?;
    Ok(BonnieTimes { whole_s, phases_s })
}

/// Creates a directory, and writes back everything on its file system.
fn prepare(place: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(place)?;
    Ok(rustix::fs::syncfs(File::open(place)?)?)
}

/// What Bonnie++ has printed so far, and when each phase was announced and done.
#[derive(Debug, Default)]
struct BonnieOutput {
    words: String,
    announced: [Option<Duration>; PHASES.len()],
    done: [Option<Duration>; PHASES.len()],
}

impl BonnieOutput {
    fn add(&mut self, words: &[u8], at: Duration) {
        self.words.push_str(&String::from_utf8_lossy(words));
        for (phase, (_, announcement)) in PHASES.iter().enumerate() {
            let Some((_, after)) = self.words.split_once(announcement) else { continue };
            self.announced[phase].get_or_insert(at);
            if after.contains(DONE) {
                self.done[phase].get_or_insert(at);
            }
        }
    }

    /// How long each phase took; `None` if the announcement of one is missing, or was read only
    /// after the phase had ended.
    fn phases_s(&self) -> Option<[f64; PHASES.len()]> {
        let mut phases_s = [0.0; PHASES.len()];
        for (phase, phase_s) in phases_s.iter_mut().enumerate() {
            let took = self.done[phase]?.checked_sub(self.announced[phase]?)?;
            *phase_s = Some(took.as_secs_f64()).filter(|&took_s| took_s > 0.0)?;
        }
        Some(phases_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_last_from_their_announcement_until_they_are_done() {
        let mut output = BonnieOutput::default();
        let said = [
            ("Using uid:0, gid:0.\nWriting a byte at a time...", 0),
            ("done\nWriting intelligently...", 3),
            ("done\n", 5),
            ("Rewri", 6),
            ("ting...", 7),
            ("done\nReading a byte at a time...", 10),
            ("done\nReading intelligently...", 20),
        ];
        for (words, at_s) in said {
            output.add(words.as_bytes(), Duration::from_secs(at_s));
        }
        assert_eq!(output.phases_s(), None);
        output.add(b"done\nstart 'em...done...done...\n", Duration::from_secs(24));
        assert_eq!(output.phases_s(), Some([2.0, 3.0, 4.0]));
    }

    #[test]
    fn what_was_heard_too_late_is_no_time() {
        let mut output = BonnieOutput::default();
        output.add(b"Writing intelligently...done\nRewriting...", Duration::from_secs(1));
        output.add(b"done\nReading intelligently...", Duration::from_secs(2));
        output.add(b"done\n", Duration::from_secs(3));
        assert_eq!(output.phases_s(), None);
    }
}
