//! Finding warm-up: operations at the beginning of the measured part that were slower than later
//! ones.
//!
//! The start, right after a state was made, is a figure of its own and not considered here. What is
//! checked is whether the rest was steady. A replicate's course records how long its operations
//! took, part by part; the ratio is that of the first quarter of the operations over the rest. One
//! replicate proves nothing, so the ratios of all replicates are pooled: there is warm-up if the
//! *interval* of their median is above [`RATIO_MIN`]. That is, it is reported only if it is
//! present at the run's confidence level and large enough to move the figure (a first quarter that
//! is slower by a tenth makes the whole slower by about one fortieth). Runs from before courses
//! were recorded have timelines, whose slices give the same ratio less exactly.

use record::{Cell, CourseRecord, Replicate};

use super::{Gathered, Summary, estimates};

/// Ratios up to this are too small to move the cell's figure.
const RATIO_MIN: f64 = 1.1;
/// With fewer parts there is no quarter.
const PARTS_MIN: usize = 4;
/// Coarser timelines do not resolve a quarter.
const SLICES_MIN: usize = 8;
/// With fewer operations, a single one that ends just before or after the quarter decides the
/// ratio.
const OPERATIONS_MIN: u64 = 64;

/// Time per operation in the first quarter over that in the rest, over all replicates; `None` if no
/// replicate has recorded the course of its operations. Also `None` if the cell measures a course
/// as a whole: the first writes to all clean pages of a file, which take longer for a page in a
/// folio that has not been written yet.
pub(crate) fn first_over_rest(gathered: &Gathered<'_>, level: f64) -> Option<Summary> {
    if is_whole_course(gathered.cell) {
        return None;
    }
    let ratios: Vec<f64> =
        gathered.replicates.values().filter_map(|replicate| ratio(replicate)).collect();
    estimates::summary(&ratios, level)
}

/// Whether its figure covers a whole course, from the first operation to the last.
pub(crate) fn is_whole_course(cell: &Cell) -> bool {
    cell.parameters.get("pages").is_some_and(|pages| pages == "clean")
}

/// Whether such a ratio is significantly above one.
pub(crate) fn is_warm_up(first_over_rest: &Summary) -> bool {
    first_over_rest.interval.is_some_and(|interval| interval.low > RATIO_MIN)
}

fn ratio(replicate: &Replicate) -> Option<f64> {
    match &replicate.course {
        Some(course) => ratio_of_course(course),
        None => ratio_of_timeline(replicate),
    }
}

/// The first quarter of the parts, which have equal numbers of operations, over the others.
fn ratio_of_course(course: &CourseRecord) -> Option<f64> {
    let parts = &course.steady;
    if parts.len() < PARTS_MIN {
        return None;
    }
    let mean = |parts: &[(u64, u64)]| {
        let (operations, busy_ns) =
            parts.iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        (operations > 0 && busy_ns > 0).then(|| busy_ns as f64 / operations as f64)
    };
    let (first, rest) = parts.split_at(parts.len() / 4);
    Some(mean(first)? / mean(rest)?)
}

fn ratio_of_timeline(replicate: &Replicate) -> Option<f64> {
    let timeline = replicate.timeline.as_ref()?;
    let ended = |slices: &[Vec<(u8, u64)>]| {
        slices.iter().flatten().map(|&(_, operations)| operations).sum::<u64>()
    };
    if timeline.slices.len() < SLICES_MIN || ended(&timeline.slices) < OPERATIONS_MIN {
        return None;
    }
    let quarter = timeline.slices.len() / 4;
    let (first, rest) = timeline.slices.split_at(quarter);
    let first_ns = quarter as f64 * timeline.slice_ns as f64;
    // The last slice ends with the last operation, so it may be shorter.
    let rest_ns = replicate.elapsed_ns as f64 - first_ns;
    if rest_ns <= 0.0 || ended(rest) == 0 {
        return None;
    }
    // If no operation ended within the quarter, the beginning was very slow, but not infinitely so.
    let first_operations = (ended(first) as f64).max(0.5);
    Some((first_ns / first_operations) / (rest_ns / ended(rest) as f64))
}

#[cfg(test)]
mod tests {
    use record::{CourseRecord, Line, TimelineRecord, Warning};

    use crate::sample::Sample;

    /// The warnings of a cell whose replicates have these numbers of operations per slice.
    fn warnings(replicates: &[Vec<u64>]) -> Vec<Warning> {
        let values = vec![1000.0; replicates.len()];
        let mut sample = Sample::new(&["/mnt"]).benchmark("read", &[&values]);
        let mut timelines = replicates.iter();
        for line in &mut sample.run.lines {
            if let Line::Replicate(replicate) = line {
                let counts = timelines.next().unwrap();
                let slices = counts.iter().map(|&count| vec![(9, count)]).collect();
                replicate.elapsed_ns = 1000 * counts.len() as u64;
                replicate.timeline = Some(TimelineRecord { slice_ns: 1000, slices });
            }
        }
        let document = sample.document();
        let all = document.cells[0].warnings.iter().map(|report| report.warning.clone());
        all.filter(|warning| matches!(warning, Warning::WarmUpInside { .. })).collect()
    }

    fn slices(first: u64, rest: u64) -> Vec<u64> {
        [vec![first; 4], vec![rest; 12]].concat()
    }

    #[test]
    fn a_slow_first_quarter_is_found() {
        let found = warnings(&vec![slices(10, 20); 6]);
        assert_eq!(found, [Warning::WarmUpInside { first_over_rest: 2.0 }]);
    }

    /// The number of warnings, for replicates with courses of eight parts of 8 operations that take
    /// this long.
    fn of_courses(times_ns: [u64; 8]) -> usize {
        let mut sample = Sample::new(&["/mnt"]).benchmark("read", &[&[1000.0; 6]]);
        for line in &mut sample.run.lines {
            if let Line::Replicate(replicate) = line {
                let steady = times_ns.map(|time_ns| (8, 8 * time_ns)).to_vec();
                replicate.course = Some(CourseRecord { start: Vec::new(), steady });
            }
        }
        let document = sample.document();
        let all = document.cells[0].warnings.iter().map(|report| &report.warning);
        all.filter(|warning| matches!(warning, Warning::WarmUpInside { .. })).count()
    }

    #[test]
    fn a_course_of_few_operations_shows_it_too() {
        assert_eq!(of_courses([300, 200, 100, 100, 100, 100, 100, 100]), 1);
        assert_eq!(of_courses([105, 105, 100, 100, 100, 100, 100, 100]), 0);
        assert_eq!(of_courses([100, 100, 100, 100, 100, 100, 300, 300]), 0, "slower later");
    }

    #[test]
    fn a_standing_start_is_found() {
        assert_eq!(warnings(&vec![slices(0, 20); 6]).len(), 1);
    }

    #[test]
    fn one_replicate_s_slow_start_is_not_warm_up() {
        let mut replicates = vec![slices(20, 20); 5];
        replicates.push(slices(2, 20));
        assert_eq!(warnings(&replicates), []);
    }

    #[test]
    fn what_is_too_small_too_few_or_too_coarse_is_not_called_warm_up() {
        assert_eq!(warnings(&vec![slices(19, 20); 6]), [], "5 %");
        assert_eq!(warnings(&vec![slices(10, 20); 5]), [], "no interval of five");
        assert_eq!(warnings(&vec![slices(1, 2); 6]), [], "28 operations");
        assert_eq!(warnings(&vec![vec![10, 200, 200, 200]; 6]), [], "four slices");
        assert_eq!(warnings(&vec![slices(20, 10); 6]), [], "slower later");
    }
}
