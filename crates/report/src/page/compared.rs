//! The page of traces side by side, without a run: what `fsprism footprint diff --out` writes.

use record::SimulatedCaches;

use super::block::Bulk;
use super::contract::{ComparedTraces, Effects, PAGE_VERSION, Payload};
use super::footprints::Footprints;
use super::html;
use crate::footprint::documents::{self, Difference};
use crate::footprint::text;
use crate::terminal;
use footprint_study::{Executed, Studied};

/// Two traces, and what changed from one to the other, operation by operation.
#[derive(Debug)]
pub struct ComparedPair {
    /// The first trace.
    pub before: Studied,
    /// The second.
    pub after: Studied,
    /// What changed.
    pub differences: Vec<Difference>,
}

/// Further information on a page of comparisons.
#[derive(Clone, Debug, Default)]
pub struct Comparison<'a> {
    /// The caches that were simulated when the traces were studied, if any.
    pub caches: Option<&'a SimulatedCaches>,
    /// Reasons to doubt the traces.
    pub warnings: &'a [String],
}

/// The page of pairs of traces. It opens with the first operation of the first pair.
#[must_use]
pub fn render_comparison(pairs: &[ComparedPair], comparison: &Comparison<'_>) -> String {
    let (mut block, mut footprints) = (Bulk::default(), Footprints::default());
    let mut differences = Vec::new();
    for pair in pairs {
        let ComparedPair { before, after, differences: own } = pair;
        let named = |of: fn(&Difference) -> &String, traced, beside, name: &'static str| {
            move |executed: &Executed| {
                let side = documents::label_beside(traced, beside, &executed.target);
                let is_its =
                    |one: &Difference| executed.operation == one.operation && side == *of(one);
                own.iter().any(is_its).then(|| format!("{side} ({name})"))
            }
        };
        let first = named(|one| &one.before, before, after, BEFORE);
        let second = named(|one| &one.after, after, before, AFTER);
        footprints.take_trace(&mut block, 0, before, &first);
        footprints.take_trace(&mut block, 0, after, &second);
        differences.extend(own.iter().map(|one| Difference {
            before: format!("{} ({BEFORE})", one.before),
            after: format!("{} ({AFTER})", one.after),
            ..one.clone()
        }));
    }
    let (stacks, cachemaps, flame_graphs) = footprints.finish(&mut block);
    let payload = Payload {
        page_version: PAGE_VERSION,
        written_by: env!("CARGO_PKG_VERSION").to_owned(),
        runs: Vec::new(),
        effects: Effects { comparison: None, refused: None, changed: Vec::new() },
        stacks,
        cachemaps,
        flame_graphs,
        doubts: Vec::new(),
        compared: Some(ComparedTraces {
            differences,
            caches: comparison.caches.map(terminal::simulated_caches),
            warnings: comparison.warnings.to_vec(),
        }),
    };
    let all = || pairs.iter().flat_map(|pair| &pair.differences);
    let texts: Vec<String> =
        comparison.warnings.iter().cloned().chain(all().map(text::difference)).collect();
    html::file(&html::Parts {
        title: &title(all()),
        text: &texts.join("\n"),
        payload: &serde_json::to_string(&payload).expect("a payload has text keys only"),
        block: &block.finish(),
    })
}

/// The names of the sides, appended to the labels of their targets.
const BEFORE: &str = "before";
const AFTER: &str = "after";

/// `footprints of ext4 and xfs compared - fsprism`.
fn title<'a>(differences: impl Iterator<Item = &'a Difference>) -> String {
    let mut pairs: Vec<String> = Vec::new();
    for Difference { before, after, .. } in differences {
        let pair = format!("from {before} to {after}");
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    format!("Footprints {} - fsprism", pairs.join(", "))
}

#[cfg(test)]
mod tests {
    use record::{CachesOrigin, Replacement, SimulatedCache};

    use super::*;
    use footprint_study::Questions;
    use footprint_study::sample_traces::{FILE_SYSTEMS, write};

    #[test]
    fn a_page_of_two_traces_names_both_sides() {
        let place = tempfile::tempdir().unwrap();
        let [before, after] = FILE_SYSTEMS.map(|(name, allocations)| {
            Studied::read(&write(place.path(), name, allocations), &Questions::default()).unwrap()
        });
        let differences = vec![Difference::new(&before, &after, "create").unwrap()];
        let pair = ComparedPair { before, after, differences };
        let caches = SimulatedCaches {
            origin: CachesOrigin::Machine,
            caches: vec![SimulatedCache {
                name: "l1".to_owned(),
                size_bytes: 1 << 15,
                line_bytes: 64,
                ways: 8,
                replacement: Replacement::Lru,
                inclusive: false,
            }],
        };
        let warnings = ["it stops <early>".to_owned()];
        let comparison = Comparison { caches: Some(&caches), warnings: &warnings };
        let page = render_comparison(&[pair], &comparison);
        assert!(page.starts_with(html::HEAD));
        assert!(page.contains("<title>Footprints from ext4 to xfs - fsprism</title>"));
        assert!(page.contains("it stops &lt;early&gt;"));
        assert!(page.contains("create: from ext4 to xfs"), "what stands there without scripts");
    }
}
