//! Sentences about a benchmark with a baseline: how each target scales.

use record::{Document, IntervalReport, Verdict};

use super::names;
use super::ranking::{RankedTarget, Ranking, Relation, has_too_few_blocks, relation};
use super::sentence::{
    absent, alike_neighbours, alike_the_best, label, own_figure, why_not_compared,
};
use textual::{list, unbroken};

/// The sentence of one benchmark, for example `create, 2 threads: speed-up tmpfs 1.39x [1.35,
/// 1.42], ext4 1.21x [1.18, 1.25]; ext4 scales less than tmpfs; every interval is above 1x; 1x is
/// create, 1 thread`.
pub(super) fn sentence(document: &Document, title: &str, ranking: &Ranking<'_>) -> String {
    let figures: Vec<String> = ranking.entries.iter().copied().map(own_figure).collect();
    let mut clauses = vec![format!("speed-up {}", figures.join(", "))];
    if let Some((best, others)) = ranking.entries.split_first() {
        let related: Vec<(RankedTarget<'_>, Relation)> =
            others.iter().map(|other| (*other, relation(document, *best, *other))).collect();
        clauses.extend(differences(*best, &related));
        clauses.extend(alike_the_best(*best, &related));
        clauses.extend(not_compared(document, &related));
        clauses.extend(alike_neighbours(document, &related));
    }
    clauses.extend(against_one(&ranking.entries));
    clauses.extend(absent(&ranking.absent));
    let baseline = ranking.entries.first().and_then(|entry| entry.cell.baseline.as_deref());
    clauses.extend(
        baseline.map(|name| format!("{} {}", unbroken("1x is"), names::title(document, name))),
    );
    format!("{title}: {}", clauses.join("; "))
}

/// `ext4 and xfs scale less than tmpfs`. Medians and pairs can rank two targets in opposite order;
/// the pairs are right.
fn differences(best: RankedTarget<'_>, related: &[(RankedTarget<'_>, Relation)]) -> Vec<String> {
    let real = || related.iter().filter(|(_, relation)| relation.verdict.is_different());
    let is_less = |relation: &Relation| relation.slower.is_none_or(|slower| slower.ratio >= 1.0);
    let clause = |less: bool, word: &str| {
        let those = real().filter(|(_, relation)| is_less(relation) == less);
        let labels: Vec<String> = those.map(|(entry, _)| label(*entry)).collect();
        let verb = if labels.len() == 1 { "scales" } else { "scale" };
        (!labels.is_empty())
            .then(|| format!("{} {verb} {word} than {}", list(&labels, "and"), label(best)))
    };
    [clause(true, "less"), clause(false, "more")].into_iter().flatten().collect()
}

fn not_compared(document: &Document, related: &[(RankedTarget<'_>, Relation)]) -> Option<String> {
    let without =
        || related.iter().filter(|(_, relation)| relation.verdict == Verdict::NotEnoughData);
    let blocks = without().map(|(_, relation)| relation.blocks).min()?;
    let labels: Vec<String> = without().map(|(entry, _)| label(*entry)).collect();
    // If the whole run has too few blocks, that has already been said.
    (!has_too_few_blocks(document))
        .then(|| format!("{} not compared ({})", list(&labels, "and"), why_not_compared(blocks)))
}

/// Whether there is a speed-up, as far as the intervals tell.
fn against_one(entries: &[RankedTarget<'_>]) -> Vec<String> {
    let those = |is_it: fn(&IntervalReport) -> bool| -> Vec<String> {
        let has = |entry: &&RankedTarget<'_>| entry.metric.interval.as_ref().is_some_and(is_it);
        entries.iter().filter(has).map(|entry| label(*entry)).collect()
    };
    let above = those(|interval| interval.low > 1.0);
    if above.len() == entries.len() && entries.len() > 1 {
        return vec!["every interval is above 1x".to_owned()];
    }
    let within = those(|interval| interval.low <= 1.0 && interval.high >= 1.0);
    let below = those(|interval| interval.high < 1.0);
    let clause = |labels: &[String], one: &str, many: &str| {
        let text = if labels.len() == 1 { one } else { many };
        (!labels.is_empty()).then(|| format!("{} {text}", list(labels, "and")))
    };
    let clauses = [
        clause(
            &within,
            "may have no speed-up (1x lies within its interval)",
            "may have no speed-up (1x lies within their intervals)",
        ),
        clause(&below, "gets slower", "get slower"),
    ];
    clauses.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, around, swaying};

    /// The sentence about `two`, whose baseline is `one`, given the times of both per target.
    fn said(targets: &[&str], one: &[&[f64]], two: &[&[f64]]) -> String {
        let sample = Sample::new(targets).benchmark("one", one).benchmark("two", two);
        let document = sample.baseline("two", "one").document();
        let cells: Vec<_> = document.cells.iter().filter(|cell| cell.benchmark == "two").collect();
        let ranking = Ranking::of(record::StandardMetric::SPEED_UP, &cells).expect("speed-ups");
        sentence(&document, "two", &ranking).replace('\u{a0}', " ")
    }

    #[test]
    fn the_verdict_is_on_speed_ups_and_not_on_throughput() {
        let (fast, slow) = (around(100.0, 12), swaying(1000.0, 12));
        let (fast_two, slow_two) = (swaying(50.0, 12), around(500.0, 12));
        let text = said(&["a", "b"], &[&fast, &slow], &[&fast_two, &slow_two]);
        assert!(text.starts_with("two: speed-up "), "{text}");
        assert!(text.contains("cannot be told apart (0.98"), "{text}");
        assert!(text.ends_with("; every interval is above 1x; 1x is one"), "{text}");
    }

    #[test]
    fn what_scales_less_and_what_does_not_scale_is_named() {
        let base = around(100.0, 12);
        let two = [around(50.0, 12), swaying(100.0, 12), swaying(140.0, 12)];
        let text = said(&["a", "b", "c"], &[&base, &base, &base], &[&two[0], &two[1], &two[2]]);
        assert!(text.starts_with("two: speed-up a 1.99x [1.99, 1.99], b 1.00x [0.99, "), "{text}");
        assert!(text.contains("; b and c scale less than a; "), "{text}");
        assert!(
            text.contains("; b may have no speed-up (1x lies within its interval); "),
            "{text}"
        );
        assert!(text.contains("; c gets slower; "), "{text}");
    }

    #[test]
    fn a_target_without_a_baseline_and_one_with_few_blocks_are_named() {
        let (base, two) = (around(100.0, 12), around(50.0, 12));
        let text = said(&["a", "b", "c"], &[&base, &base[..3]], &[&two, &two, &two]);
        let expected =
            "; b not compared (3 common blocks are too few to compare); c without a baseline; 1x";
        assert!(text.contains(expected), "{text}");
    }
}
