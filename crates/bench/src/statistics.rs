//! The statistics against SciPy and ruptures, on the same series.
//!
//! The peers run in Python, each call in a separate process that only times the call. Ours and
//! theirs alternate. ruptures may take very long for the whole series: it is stopped after
//! [`PATIENCE`], and the row then has a lower bound of the ratio.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use stats::Sample;
use stats::bootstrap::{self, Method, Resampling};
use stats::changepoint::pelt;
use stats::design::{Factor, Options, Table as Observations, analyse};

use crate::table::Table;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/statistics.py");
const PATIENCE: Duration = Duration::from_secs(120);
const ROUNDS: usize = 6;
const SERIES: usize = 100_000;
/// The number of values between two changes of the series.
const SEGMENT: usize = 1_000;
const VALUES: usize = 10_000;
const RESAMPLES: u32 = 10_000;

/// Adds the rows of the statistics.
pub(crate) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    two_factors(table)?;
    let Some(python) = python() else {
        let why = "no Python with scipy and ruptures (scripts/setup bench)".to_owned();
        table.row("statistics / SciPy and ruptures", why, ">= 10, >= 20");
        return Ok(());
    };
    let peer = Peer { python, work };
    let (series, values) = (changing_series(), lognormal_values());
    peer.changes(table, &series)?;
    peer.bootstrap(table, &values, "percentile")?;
    peer.bootstrap(table, &values, "bca")
}

/// A Python that has what the script needs: the one from `scripts/setup bench`, or any.
fn python() -> Option<PathBuf> {
    let ours = std::env::current_exe().ok()?.parent()?.parent()?.join("peers/bin/python");
    [ours, "python3".into()].into_iter().find(|python| {
        let mut command = Command::new(python);
        command.args(["-c", "import scipy, ruptures"]).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}

struct Peer<'a> {
    python: PathBuf,
    work: &'a Path,
}

impl Peer<'_> {
    fn changes(&self, table: &mut Table, series: &[f64]) -> anyhow::Result<()> {
        let what = "ruptures / PELT of mean and variance, 100,000 values";
        let ours = || {
            let began = Instant::now();
            let found = pelt::pelt(series, pelt::Options::default())?;
            anyhow::ensure!(!found.changepoints.is_empty(), "no change was found");
            Ok(began.elapsed().as_secs_f64())
        };
        let file = self.write(series)?;
        let first = ours()?;
        match self.seconds("pelt", &file)? {
            Some(theirs) => table.ratios(what, ">= 20", &[theirs / first]),
            None => {
                let least = PATIENCE.as_secs_f64() / first;
                let figure = format!("more than {least:.0} (stopped after 120 s)");
                table.row(what, figure, ">= 20");
            }
        }
        Ok(())
    }

    fn bootstrap(&self, table: &mut Table, values: &[f64], method: &str) -> anyhow::Result<()> {
        let file = self.write(values)?;
        let mut ratios = Vec::new();
        for _ in 0..ROUNDS {
            let ours = ours_bootstrap(values, method)?;
            let theirs = self.seconds(method, &file)?.context("SciPy took too long")?;
            ratios.push(theirs / ours);
        }
        let what = format!("SciPy / bootstrap of a median, {method}, 10,000 of 10,000");
        table.ratios(&what, ">= 10", &ratios);
        Ok(())
    }

    fn write(&self, values: &[f64]) -> anyhow::Result<PathBuf> {
        let path = self.work.join("series");
        let mut file = std::fs::File::create(&path)?;
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        file.write_all(&bytes)?;
        Ok(path)
    }

    /// `None` if it takes longer than [`PATIENCE`].
    fn seconds(&self, what: &str, file: &Path) -> anyhow::Result<Option<f64>> {
        let mut child = Command::new(&self.python)
            .args(["-W", "ignore", SCRIPT, what])
            .arg(file)
            .stdout(Stdio::piped())
            .spawn()
            .context("Python could not be started")?;
        let began = Instant::now();
        while child.try_wait()?.is_none() {
            if began.elapsed() > PATIENCE {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let output = child.wait_with_output()?;
        anyhow::ensure!(output.status.success(), "{SCRIPT} {what} failed");
        let text = String::from_utf8(output.stdout)?;
        Ok(Some(text.trim().parse().context("no seconds were printed")?))
    }
}

fn ours_bootstrap(values: &[f64], method: &str) -> anyhow::Result<f64> {
    let method = if method == "bca" { Method::Bca } else { Method::Percentile };
    let how = Resampling { resamples: RESAMPLES, seed: 1, level: 0.95, method };
    let began = Instant::now();
    // Sorting is part of the work, as it is in SciPy.
    let sample = Sample::new(values)?;
    std::hint::black_box(bootstrap::median(&sample, &how)?);
    Ok(began.elapsed().as_secs_f64())
}

/// A two-factor analysis of 1,000 x 1,000 x 2 values.
fn two_factors(table: &mut Table) -> anyhow::Result<()> {
    const LEVELS: u32 = 1_000;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let factor = |name: &str| Factor {
        name: name.to_owned(),
        levels: (0..LEVELS).map(|level| level.to_string()).collect(),
    };
    let cells = (0..LEVELS).flat_map(|row| (0..LEVELS).map(move |column| (row, column)));
    let twice: Vec<(u32, u32)> = cells.flat_map(|cell| [cell, cell]).collect();
    let levels =
        vec![twice.iter().map(|cell| cell.0).collect(), twice.iter().map(|cell| cell.1).collect()];
    let values = twice.iter().map(|_| 100.0 + random.random::<f64>()).collect();
    let observations = Observations::new(vec![factor("row"), factor("column")], levels, values)?;
    let mut times_ms = Vec::new();
    for _ in 0..11 {
        let began = Instant::now();
        std::hint::black_box(analyse(&observations, &Options::default())?);
        times_ms.push(began.elapsed().as_secs_f64() * 1e3);
    }
    table.times_ms("two-factor analysis of 1,000 x 1,000 x 2 values", "< 100 ms", &times_ms);
    Ok(())
}

/// A series whose mean changes by a few standard deviations every [`SEGMENT`] values, and so does
/// the standard deviation.
fn changing_series() -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut level = |place: usize| {
        let step = (place / SEGMENT) % 5;
        let noise: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        100.0 + 3.0 * step as f64 + noise * (1.0 + (step % 2) as f64)
    };
    (0..SERIES).map(&mut level).collect()
}

fn lognormal_values() -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let normal = |random: &mut Xoshiro256PlusPlus| {
        (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
    };
    (0..VALUES).map(|_| (0.5 * normal(&mut random)).exp()).collect()
}
