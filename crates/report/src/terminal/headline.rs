//! The answer of a run in one sentence, for the head of its page: which target costs least in which
//! dimensions, and where nothing can be told apart.

use std::collections::BTreeSet;

use record::{Dimension, Document, Warning, WarningReport};

use super::dimensions::{Group, groups};
use super::{cliffs, footprint, heading, names, volumes};
use textual::{list, plural};

/// The sentence.
pub(crate) fn headline(document: &Document) -> String {
    let text = undisturbed(document);
    let text = match volumes::in_short(document) {
        Some(volumes) => format!("{} ({volumes}).", text.trim_end_matches('.')),
        None => text,
    };
    let is_busy = |one: &WarningReport| matches!(one.warning, Warning::BusyMachine { .. });
    match document.warnings.iter().any(is_busy) {
        true => format!("Measured on a busy machine: {text}"),
        false => text,
    }
}

fn undisturbed(document: &Document) -> String {
    let of_search = document.searches.first();
    if let Some(text) = of_search.and_then(|search| of_cliffs(document, search)) {
        return text;
    }
    let counted: Vec<_> = document
        .cells
        .iter()
        .filter(|cell| cell.dimension == Dimension::CpuFootprint && cell.curve.is_none())
        .collect();
    let of_footprint = || footprint::sentence(&counted);
    of_dimensions(document)
        .or_else(|| heading::too_few(document))
        .or_else(of_footprint)
        .unwrap_or_else(|| of_benchmarks(document))
}

fn of_cliffs(document: &Document, search: &record::SearchReport) -> Option<String> {
    let text = cliffs::sentences(document, search).into_iter().next()?;
    Some(format!("{}: {text}", names::label(&search.plan.target)))
}

/// `xfs costs least in memory and metadata, tmpfs in caching; in I/O nothing can be told apart.` If
/// a mean is level although benchmarks differ, the sentence says so.
fn of_dimensions(document: &Document) -> Option<String> {
    let groups = groups(document);
    let mut by_leaders: Vec<(String, Vec<String>)> = Vec::new();
    let mut undecided: Vec<String> = Vec::new();
    let mut mixed: Vec<String> = Vec::new();
    for group in &groups {
        let name = within(group.dimension);
        let leaders = leaders(document, group);
        if leaders.len() == group.rows.len() {
            match apart(document, group.dimension) {
                (0, _) => undecided.push(name),
                (apart, of) => mixed.push(format!(
                    "in {name} none is ahead on the whole, but they differ on {apart} of {}",
                    plural(of, "benchmark")
                )),
            }
            continue;
        }
        let leaders = list(&leaders, "or");
        match by_leaders.iter_mut().find(|(own, _)| *own == leaders) {
            Some((_, dimensions)) => dimensions.push(name),
            None => by_leaders.push((leaders, vec![name])),
        }
    }
    // The target that leads in most dimensions comes first.
    by_leaders.sort_by_key(|(_, dimensions)| std::cmp::Reverse(dimensions.len()));
    let said = by_leaders.iter().enumerate().map(|(place, (leaders, names))| {
        let verb = if place == 0 { "costs least in" } else { "in" };
        format!("{leaders} {verb} {}", list(names, "and"))
    });
    let said: Vec<String> = said.collect();
    let said = (!said.is_empty()).then(|| said.join(", "));
    let open = (!undecided.is_empty())
        .then(|| format!("in {} nothing can be told apart", list(&undecided, "and")));
    let clauses: Vec<String> = said.into_iter().chain(mixed).chain(open).collect();
    (!clauses.is_empty()).then(|| format!("{}.", capitalised(&clauses.join("; "), &by_leaders)))
}

/// On how many of a dimension's benchmarks any targets differ, and how many it has.
fn apart(document: &Document, dimension: Dimension) -> (usize, usize) {
    let of_dimension = document.cells.iter().filter(|cell| cell.dimension == dimension);
    let benchmarks: BTreeSet<&str> = of_dimension.map(|cell| &*cell.benchmark).collect();
    let differ = document.comparisons.iter().filter(|one| one.verdict.is_different());
    let apart: BTreeSet<&str> = differ.map(|one| &*one.benchmark).collect();
    (benchmarks.intersection(&apart).count(), benchmarks.len())
}

/// The targets that no other is shown to be cheaper than: the cheapest, and those that are level
/// with it, unless they are more expensive than another. Over the benchmarks that each two have in
/// common, three targets can be more expensive than one another in a circle; then only the cheapest
/// leads.
fn leaders(document: &Document, group: &Group<'_>) -> Vec<String> {
    let is_dearer = |target: &str| {
        let of_dimension =
            document.dimensions.iter().filter(|one| one.dimension == group.dimension);
        let mut surely = of_dimension.filter(|one| one.verdict.is_different());
        surely.any(|one| {
            let is_second_dearer = one.ratio.is_some_and(|ratio| ratio > 1.0);
            target == if is_second_dearer { one.second.as_str() } else { one.first.as_str() }
        })
    };
    let mut leading: Vec<&str> = group.rows.iter().map(|row| row.target).collect();
    leading.retain(|target| !is_dearer(target));
    if leading.is_empty() {
        leading.extend(group.rows.first().map(|row| row.target));
    }
    leading.into_iter().map(names::label).collect()
}

/// A dimension's name as it follows `in`.
fn within(dimension: Dimension) -> String {
    let name = dimension.heading();
    match dimension {
        Dimension::Io | Dimension::CpuFootprint => name.to_owned(),
        Dimension::InMemory => "memory".to_owned(),
        Dimension::OnDiskLayout
        | Dimension::Caching
        | Dimension::Metadata
        | Dimension::Scaling
        | Dimension::Pollution => name.to_lowercase(),
    }
}

/// Capitalises a sentence, unless it begins with a label.
fn capitalised(text: &str, by_leaders: &[(String, Vec<String>)]) -> String {
    match (by_leaders.is_empty(), text.strip_prefix("in ")) {
        (true, Some(rest)) => format!("In {rest}"),
        _ => text.to_owned(),
    }
}

/// If no dimension has costs to compare: on how many benchmarks targets differ.
fn of_benchmarks(document: &Document) -> String {
    let mut benchmarks: Vec<&str> = document.cells.iter().map(|cell| &*cell.benchmark).collect();
    benchmarks.sort_unstable();
    benchmarks.dedup();
    let measured = plural(benchmarks.len(), "benchmark");
    let labels: Vec<String> =
        document.targets.iter().map(|target| names::label(&target.label)).collect();
    let is_apart = |name: &&str| {
        document.comparisons.iter().any(|one| one.benchmark == *name && one.verdict.is_different())
    };
    match (labels.as_slice(), benchmarks.iter().filter(|name| is_apart(name)).count()) {
        ([only], _) => format!("{only}: {measured}, and no second target to compare it with."),
        (_, 0) => format!("{} cannot be told apart on any of {measured}.", list(&labels, "and")),
        (_, apart) => format!("{} differ on {apart} of {measured}.", list(&labels, "and")),
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use crate::sample::{Sample, around, noisy, swaying};

    use super::*;

    #[test]
    fn who_costs_least_is_said_and_where_nothing_can_be_told() {
        let (low, high) = (around(1000.0, 12), around(2000.0, 12));
        let alike = swaying(1001.0, 12);
        let mut sample = Sample::new(&["ext4", "xfs"])
            .benchmark("create", &[&high, &low])
            .benchmark("read", &[&low, &alike]);
        sample.change("create", |cell| cell.dimension = Dimension::Metadata);
        sample.change("read", |cell| cell.dimension = Dimension::Io);
        let text = headline(&sample.document());
        assert_eq!(text, "xfs costs least in metadata; in I/O nothing can be told apart.");
        sample.change("create", |cell| cell.dimension = Dimension::InMemory);
        assert!(headline(&sample.document()).starts_with("xfs costs least in memory;"));
    }

    #[test]
    fn a_mean_that_is_level_hides_no_benchmark_that_is_not() {
        let (low, high) = (around(1000.0, 12), around(2000.0, 12));
        let mut sample = Sample::new(&["ext4", "xfs"])
            .benchmark("read", &[&low, &high])
            .benchmark("fsync", &[&high, &low]);
        for name in ["read", "fsync"] {
            sample.change(name, |cell| cell.dimension = Dimension::Io);
        }
        let text = headline(&sample.document());
        let said = "In I/O none is ahead on the whole, but they differ on 2 of 2 benchmarks.";
        assert_eq!(text, said);
    }

    #[test]
    fn those_that_cannot_be_told_from_the_cheapest_are_named_with_it() {
        let (low, high) = (around(1000.0, 12), around(2000.0, 12));
        let sample =
            Sample::new(&["a", "b", "c"]).benchmark("create", &[&high, &low, &swaying(1001.0, 12)]);
        let text = headline(&sample.document());
        assert!(text.contains("b or c") || text.contains("c or b"), "{text}");
    }

    #[test]
    fn what_is_not_compared_is_said_to_be_not() {
        let alone = Sample::new(&["ext4"]).benchmark("create", &[&around(1000.0, 12)]);
        let text = headline(&alone.document());
        assert_eq!(text, "ext4: 1 benchmark, and no second target to compare it with.");
        let few = around(1000.0, 2);
        let few = Sample::new(&["ext4", "xfs"]).benchmark("create", &[&few, &few]);
        assert!(headline(&few.document()).starts_with("Too few blocks"));
    }
    /// Documents of four targets that do not differ, differ a little or differ a lot, with some
    /// values that are far off.
    fn generated(seed: u64) -> Document {
        let targets = ["a", "b", "c", "d"];
        let mut sample = Sample::new(&targets);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut choice = |of: usize| random.random_range(0..of);
        for benchmark in 0..8_usize {
            let values: Vec<Vec<f64>> = (0..targets.len())
                .map(|target| {
                    let factor = [1.0, 1.0, 1.02, 1.05, 1.3, 3.0][choice(6)];
                    let spread = [0.01, 0.05, 0.3][choice(3)];
                    let own = seed * 64 + (benchmark * 8 + target) as u64;
                    let mut values = noisy(1000.0 * factor, spread, own, 9);
                    if choice(4) == 0 {
                        values[choice(9)] *= 20.0;
                    }
                    values
                })
                .collect();
            let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
            let name = format!("benchmark-{benchmark}");
            sample = sample.benchmark(&name, &values);
            let dimension =
                [Dimension::Io, Dimension::InMemory, Dimension::Metadata][benchmark % 3];
            sample.change(&name, |cell| cell.dimension = dimension);
        }
        sample.document()
    }

    #[test]
    fn no_verdict_contradicts_who_leads_nor_a_ratio_its_figures() {
        let (mut led, mut ratios) = (0, 0);
        for seed in 0..20 {
            let document = generated(seed);
            for group in groups(&document) {
                let leaders = leaders(&document, &group);
                assert!(!leaders.is_empty());
                led += usize::from(leaders.len() < group.rows.len());
                let own = document.dimensions.iter().filter(|it| it.dimension == group.dimension);
                for one in own.filter(|it| it.verdict.is_different()) {
                    let is_second_dearer = one.ratio.unwrap() > 1.0;
                    let dearer = if is_second_dearer { &one.second } else { &one.first };
                    assert!(!leaders.contains(dearer), "{seed}: {leaders:?} {one:?}");
                }
            }
            for one in document.comparisons.iter().filter(|one| one.ratio.is_some()) {
                let of = |target: &String| {
                    let mut cells = document.cells.iter();
                    let is_it = |cell: &&record::CellReport| {
                        cell.benchmark == one.benchmark && cell.target == *target
                    };
                    cells.find(is_it).unwrap().metrics[0].figure.value
                };
                let quotient = of(&one.second) / of(&one.first);
                let (ratio, interval) = (one.ratio.unwrap(), one.interval.unwrap());
                assert!((quotient / ratio - 1.0).abs() < 1e-9, "{seed}: {quotient} {one:?}");
                assert!(interval.low <= ratio && ratio <= interval.high, "{seed}: {one:?}");
                ratios += 1;
            }
        }
        assert!(led > 8 && ratios > 400, "{led} {ratios}");
    }
}
