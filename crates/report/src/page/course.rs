//! How the time of a cell's operations develops with their number: the start, and the rest.

use std::collections::BTreeMap;

use record::{CourseRecord, Replicate};

use super::block::Bulk;
use super::contract::CourseArrays;
use crate::analysis::summary;

/// The courses of the replicates together; `None` if they have fewer than two stretches. Replicates
/// of unusual length, whose operations were cut short, are left out.
pub(super) fn course_arrays(
    block: &mut Bulk,
    replicates: &[&Replicate],
    level: f64,
) -> Option<CourseArrays> {
    let courses = || replicates.iter().filter_map(|one| one.course.as_ref());
    let mut often: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for course in courses() {
        *often.entry(shape(course)).or_default() += 1;
    }
    let (&(starts, steady), _) = often.iter().max_by_key(|(_, times)| **times)?;
    if starts + steady < 2 {
        return None;
    }
    let alike: Vec<&CourseRecord> =
        courses().filter(|course| shape(course) == (starts, steady)).collect();
    let stretches: Vec<Vec<(u64, u64)>> = (0..starts + steady)
        .map(|index| alike.iter().filter_map(|course| stretch(course, index)).collect())
        .collect();
    let mut last = 0.0;
    let ends: Vec<f64> = stretches
        .iter()
        .map(|those| {
            let counts: Vec<f64> = those.iter().map(|&(operations, _)| operations as f64).collect();
            last += summary(&counts, level).map_or(0.0, |it| it.median);
            last
        })
        .collect();
    let times: Vec<_> = stretches
        .iter()
        .map(|those| {
            let times = those.iter().filter(|(operations, _)| *operations > 0);
            let times: Vec<f64> =
                times.map(|&(operations, busy_ns)| busy_ns as f64 / operations as f64).collect();
            summary(&times, level)
        })
        .collect();
    let end = |pick: fn(&record::IntervalReport) -> f64| {
        times.iter().map(move |time| {
            time.as_ref().and_then(|it| it.interval.as_ref()).map_or(f64::NAN, pick)
        })
    };
    Some(CourseArrays {
        starts: u32::try_from(starts).ok()?,
        operation: block.f64s(ends.iter().copied()),
        time_ns: block.f64s(times.iter().map(|it| it.as_ref().map_or(f64::NAN, |it| it.median))),
        time_low_ns: block.f64s(end(|interval| interval.low)),
        time_high_ns: block.f64s(end(|interval| interval.high)),
    })
}

fn shape(course: &CourseRecord) -> (usize, usize) {
    (course.start.len(), course.steady.len())
}

fn stretch(course: &CourseRecord, index: usize) -> Option<(u64, u64)> {
    course.start.iter().chain(&course.steady).nth(index).copied()
}

#[cfg(test)]
mod tests {
    use super::super::contract::ArrayRef;
    use super::*;
    use crate::sample::Sample;

    fn replicate(start: &[(u64, u64)], steady: &[(u64, u64)]) -> Replicate {
        let course = CourseRecord { start: start.to_vec(), steady: steady.to_vec() };
        Replicate { course: Some(course), ..Sample::new(&["ext4"]).replicate(0, 0, 1.0) }
    }

    fn numbers(bytes: &[u8], array: &ArrayRef) -> Vec<f64> {
        let own = &bytes[array.offset as usize..][..8 * array.length as usize];
        own.as_chunks().0.iter().map(|&eight| f64::from_le_bytes(eight)).collect()
    }

    #[test]
    fn each_stretch_stands_at_its_last_operation_with_the_median_of_its_replicates() {
        let usual = replicate(&[(1, 90), (1, 30)], &[(4, 40), (4, 48)]);
        let slower = replicate(&[(1, 110), (1, 50)], &[(4, 80), (4, 80)]);
        let cut_off = replicate(&[(1, 9_000)], &[]);
        let mut block = Bulk::default();
        let course =
            course_arrays(&mut block, &[&usual, &slower, &cut_off], 0.95).expect("two are alike");
        assert!(course_arrays(&mut block, &[&cut_off], 0.95).is_none(), "one stretch is no course");
        let bytes = block.finish();
        assert_eq!(course.starts, 2);
        assert_eq!(numbers(&bytes, &course.operation), [1.0, 2.0, 6.0, 10.0]);
        assert_eq!(numbers(&bytes, &course.time_ns), [100.0, 40.0, 15.0, 16.0]);
        assert!(numbers(&bytes, &course.time_low_ns).iter().all(|low| low.is_nan()), "of two");
    }
}
