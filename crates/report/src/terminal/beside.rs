//! What is shown besides a benchmark's headline: the cost of the first operations after the state
//! was made, and the work that kernel threads and file-system servers do for the caller. It is
//! mentioned if it is large; the page and the documents have every figure.

use record::{CellReport, MetricReport, StandardMetric};

use super::names;
use super::text::Page;
use crate::units::{self, Wording};
use textual::unbroken;

/// These metrics, which have no rows of their own.
pub(super) const NAMES: [&str; 3] = [START.name, PROCESSOR.name, OTHER.name];
const START: StandardMetric = StandardMetric::START_TIME;
const PROCESSOR: StandardMetric = StandardMetric::PROCESSOR_TIME;
const OTHER: StandardMetric = StandardMetric::OTHER_TIME;
/// First operations are mentioned if they take at least this multiple of later ones.
const START_MIN: f64 = 1.5;
/// The work of others is mentioned if it is at least this multiple of the caller's own.
const OTHER_MIN: f64 = 0.5;

/// The sentences about a dimension's benchmarks.
pub(super) fn render(page: &mut Page, benchmarks: &[Vec<&CellReport>]) {
    sentences(benchmarks).iter().for_each(|text| page.sentence(text));
}

/// One about first operations and one about the work of others, each only if something has much of
/// it.
pub(super) fn sentences(benchmarks: &[Vec<&CellReport>]) -> Vec<String> {
    let starts = clauses(benchmarks, |cell| {
        let (start, time) = (cell.metric(START)?, cell.metric(StandardMetric::TIME_PER_OPERATION)?);
        let ratio = surely_more(start, time, START_MIN)?;
        Some(format!("{} {}, {}", label(cell), value(start), times(ratio)))
    });
    let others = clauses(benchmarks, |cell| {
        let (other, own) = (cell.metric(OTHER)?, cell.metric(PROCESSOR)?);
        surely_more(other, own, OTHER_MIN)?;
        Some(format!("{} {} on top of {}", label(cell), value(other), value(own)))
    });
    let starts =
        starts.map(|all| format!("The first operations take longer than the rest: {all}."));
    let others = others.map(|all| {
        format!(
            "Threads of the kernel, or servers of file systems, also work for the caller; \
             processor time per operation in addition to the caller's own: {all}."
        )
    });
    starts.into_iter().chain(others).collect()
}

/// The clauses about each benchmark's targets, after its title; `None` if there are none.
fn clauses(
    benchmarks: &[Vec<&CellReport>],
    said: impl Fn(&CellReport) -> Option<String>,
) -> Option<String> {
    let of_benchmark = |cells: &Vec<&CellReport>| {
        let all: Vec<String> =
            cells.iter().filter_map(|cell| said(cell)).map(|text| unbroken(&text)).collect();
        (!all.is_empty()).then(|| format!("{}: {}", cells[0].title, all.join("; ")))
    };
    let all: Vec<String> = benchmarks.iter().filter_map(of_benchmark).collect();
    (!all.is_empty()).then(|| all.join(". "))
}

/// First over second, if it is at least `least` and the intervals agree: the lower end of the first
/// must exceed the upper end of the second, or `least` times that if `least` is below 1.
fn surely_more(first: &MetricReport, second: &MetricReport, least: f64) -> Option<f64> {
    let (first, second) = (first.figure, second.figure);
    let (one, other) = (first.interval?, second.interval?);
    let ratio = first.value / second.value;
    (ratio >= least && one.low > least.min(1.0) * other.high).then_some(ratio)
}

fn label(cell: &CellReport) -> String {
    names::label(&cell.target)
}

fn value(metric: &MetricReport) -> String {
    units::of_metric(metric, Wording::Full).value
}

fn times(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1}x") } else { format!("{ratio:.0}x") }
}

#[cfg(test)]
mod tests {
    use record::Document;

    use super::*;
    use crate::sample::{Sample, nanoseconds};

    fn report_of(metric: StandardMetric, median: f64) -> MetricReport {
        nanoseconds(metric.name, median, [median * 0.9, median * 1.1])
    }

    /// One benchmark on two targets that take 1,000 ns, with these figures in addition.
    fn said(beside: [&[(StandardMetric, f64)]; 2]) -> Vec<String> {
        let values = [1000.0; 6];
        let sample = Sample::new(&["ext4", "xfs"]).benchmark("write", &[&values, &values]);
        let mut document: Document = sample.document();
        for (cell, beside) in document.cells.iter_mut().zip(beside) {
            cell.metrics.extend(beside.iter().map(|&(metric, median)| report_of(metric, median)));
        }
        sentences(&[document.cells.iter().collect()])
            .into_iter()
            .map(|text| text.replace(textual::UNBREAKABLE, " "))
            .collect()
    }

    #[test]
    fn first_operations_that_surely_take_longer_are_told_of() {
        let expected = "The first operations take longer than the rest: write: ext4 5.40 us, 5.4x.";
        let said = |ext4: f64| said([&[(START, ext4)], &[(START, 1200.0)]]);
        assert_eq!(said(5400.0), [expected.replace("5.40", "5.4")]);
        assert_eq!(said(1400.0), Vec::<String>::new());
    }

    #[test]
    fn work_that_others_do_is_told_beside_the_caller_s_own() {
        let said = |other: f64| said([&[(PROCESSOR, 1000.0), (OTHER, other)], &[(OTHER, 9e9)]]);
        let text = said(800.0);
        assert!(
            text[0].starts_with("Threads of the kernel, or servers of file systems, also work"),
            "{text:?}"
        );
        assert!(text[0].ends_with("write: ext4 800 ns on top of 1.0 us."), "{text:?}");
        assert_eq!(said(300.0), Vec::<String>::new());
    }
}
