//! From a run to its document: what each cell's figures are, how sure they are, and which targets
//! can be told apart.

mod cells;
mod comparisons;
mod doubts;
mod estimates;
mod gathered;
mod warm_up;

use std::path::Path;

use record::{Document, Line, Run, SCHEMA_VERSION, Warning, WarningReport};

use crate::error::ReportError;
pub(crate) use comparisons::BLOCKS_LEAST;
pub(crate) use doubts::severity;
pub(crate) use gathered::{Gathered, gather};

/// Clock drift beyond which every time of the run is doubtful, in parts per million.
const CLOCK_DRIFT_PPM_MAX: f64 = 100.0;

/// What the run at `path` says.
///
/// # Errors
/// When a histogram of the run directory cannot be read.
pub fn document(run: &Run, path: &Path) -> Result<Document, ReportError> {
    let manifest = &run.manifest;
    let gathered = gather(run);
    let reports = gathered.iter().map(|one| {
        let histogram = run.histogram(path, one.index)?;
        Ok(cells::report(one, &gathered, &histogram, manifest))
    });
    let end = run.lines.iter().rev().find_map(|line| match line {
        Line::End(end) => Some(end.clone()),
        _ => None,
    });
    Ok(Document {
        schema_version: SCHEMA_VERSION,
        tool: Some(manifest.tool.clone()),
        run: manifest.run.clone(),
        machine: manifest.machine.clone(),
        clock: manifest.clock.clone(),
        targets: manifest.targets.clone(),
        cells: reports.collect::<Result<_, ReportError>>()?,
        comparisons: comparisons::all(&gathered, manifest.run.confidence_level),
        skipped: manifest.skipped.clone(),
        warnings: run_warnings(run),
        end,
    })
}

/// What makes the whole run doubtful.
fn run_warnings(run: &Run) -> Vec<WarningReport> {
    let targets = &run.manifest.targets;
    let mut warnings: Vec<WarningReport> = Vec::new();
    if targets.iter().any(|target| target.scratch) {
        warnings.push(Warning::FreshFileSystem.into());
    }
    // The warning has no field for the target, so its sentence names it.
    for target in targets.iter().filter(|target| target.loop_direct_io == Some(false)) {
        let plain = WarningReport::from(Warning::LoopBuffered);
        let message = format!("{}: {}", target.label, plain.message);
        warnings.push(WarningReport { message, ..plain });
    }
    // A run that was taken up again has an end per part; the worst counts.
    let drifts = run.lines.iter().filter_map(|line| match line {
        Line::End(end) => Some(end.clock_drift_ppm),
        _ => None,
    });
    let worst =
        drifts.fold(0.0, |worst: f64, ppm| if ppm.abs() > worst.abs() { ppm } else { worst });
    if worst.abs() > CLOCK_DRIFT_PPM_MAX {
        warnings.push(Warning::ClockDrift { ppm: worst }.into());
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    fn kinds(document: &Document) -> Vec<&Warning> {
        document.warnings.iter().map(|report| &report.warning).collect()
    }

    #[test]
    fn a_drift_of_the_clock_is_told_from_100_ppm_on() {
        let mut sample = Sample::new(&["/mnt"]).benchmark("create", &[&[1.0; 6]]).ended();
        assert!(kinds(&sample.document()).is_empty());
        let Some(Line::End(end)) = sample.run.lines.last_mut() else { panic!("it has ended") };
        end.clock_drift_ppm = -150.0;
        assert_eq!(kinds(&sample.document()), [&Warning::ClockDrift { ppm: -150.0 }]);
    }

    #[test]
    fn each_buffered_loop_device_is_named() {
        let mut sample = Sample::new(&["a", "b"]).benchmark("create", &[&[1.0; 6]]);
        for target in &mut sample.run.manifest.targets {
            target.scratch = true;
            target.loop_direct_io = Some(false);
        }
        let document = sample.document();
        let expected = [&Warning::FreshFileSystem, &Warning::LoopBuffered, &Warning::LoopBuffered];
        assert_eq!(kinds(&document), expected);
        assert!(document.warnings[2].message.starts_with("b: the loop device"));
    }
}
