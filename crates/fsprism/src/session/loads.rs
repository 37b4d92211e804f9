//! The loads that `--for` names: known ones, and the user's own, from files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ::report::{Load, known_loads, read_load};
use anyhow::{Context, anyhow};
use record::Run;
use suites::Suite;
use textual::{did_you_mean, list};

use crate::arguments::measuring::Measuring;
use crate::exit::OrInputError;
use crate::output::ReportForm;

/// Load files must be smaller than this.
const BYTES_MAX: u64 = 1 << 20;

/// The form of the report that was asked for with a run.
pub(crate) fn report_form(measuring: &Measuring) -> anyhow::Result<ReportForm> {
    let loads = named(&measuring.loads)?;
    Ok(ReportForm { format: measuring.output.format, is_full: measuring.full, loads })
}

/// The loads with these names or in these files, each once.
pub(crate) fn named(texts: &[String]) -> anyhow::Result<Vec<Load>> {
    let mut loads: Vec<Load> =
        texts.iter().map(|text| load(text)).collect::<anyhow::Result<_>>().or_input_error()?;
    let mut seen = BTreeSet::new();
    loads.retain(|load| seen.insert(load.name.clone()));
    Ok(loads)
}

fn load(text: &str) -> anyhow::Result<Load> {
    let path = Path::new(text);
    if path.extension().is_some_and(|extension| extension == "toml") {
        let cannot = || format!("cannot read {text}");
        let size = fs::metadata(path).with_context(cannot)?;
        anyhow::ensure!(
            size.is_file() && size.len() < BYTES_MAX,
            "{text} is not a load file: name a TOML file, as docs/loads.md describes"
        );
        let content = fs::read_to_string(path).with_context(cannot)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        return read_load(&name, &content).map_err(|error| anyhow!("{text}: {error}"));
    }
    let known = known_loads();
    let names: Vec<String> = known.iter().map(|load| load.name.clone()).collect();
    known.into_iter().find(|load| load.name == text).with_context(|| {
        format!(
            "there is no load {text}{}; the known ones are {}; your own goes into a file, MIX.toml",
            did_you_mean(text, names.iter().map(String::as_str)),
            list(&names, "and")
        )
    })
}

/// Refuses loads with operations that neither a suite nor any of the runs has.
pub(crate) fn check_known(loads: &[Load], runs: &[Run]) -> anyhow::Result<()> {
    let suites = suites::suites();
    let declared = suites.iter().flat_map(|suite| &suite.benchmarks).map(|one| one.name.as_str());
    let measured = runs.iter().flat_map(Run::cells).map(|cell| cell.benchmark.as_str());
    let names: BTreeSet<&str> = declared.chain(measured).collect();
    let unknown = loads.iter().find_map(|load| {
        let benchmark = load.benchmarks().into_iter().find(|name| !names.contains(name))?;
        Some((load, benchmark))
    });
    let Some((load, benchmark)) = unknown else { return Ok(()) };
    let refusal = anyhow!(
        "the load {} needs {benchmark}, which is no benchmark{}",
        load.name,
        did_you_mean(benchmark, names.iter().copied())
    );
    Err(refusal).or_input_error()
}

/// Reduces the suite to the benchmarks that the loads need; keeps all of them without a load.
pub(crate) fn needed_benchmarks(loads: &[Load], suite: Suite) -> anyhow::Result<Suite> {
    check(loads, &suite)?;
    let taken = loads.iter().flat_map(Load::benchmarks).map(str::to_owned);
    suite.matching(&taken.collect::<Vec<_>>()).or_input_error()
}

/// Refuses loads whose operations the suite does not measure.
pub(crate) fn check(loads: &[Load], suite: &Suite) -> anyhow::Result<()> {
    let names: Vec<&str> = suite.benchmarks.iter().map(|one| one.name.as_str()).collect();
    let lacking = loads.iter().find_map(|load| {
        let benchmark = load.benchmarks().into_iter().find(|name| !names.contains(name))?;
        Some((load, benchmark))
    });
    let Some((load, benchmark)) = lacking else { return Ok(()) };
    let refusal = anyhow!(
        "the load {} needs {benchmark}, which {} does not measure{}",
        load.name,
        suite.name,
        did_you_mean(benchmark, names.iter().copied())
    );
    Err(refusal).or_input_error()
}
