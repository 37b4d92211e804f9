//! The document, its schema, and how it reads.

use super::sample::{Phases, checked};
use super::*;
use crate::sample::{Sample, around};

#[test]
fn the_published_benchmark_has_mistakes_and_the_corrected_one_none() {
    let published = checked(&Phases::published().sample());
    let of = |document: &CheckDocument, outcome: Outcome| -> Vec<Mistake> {
        let with = document.checks.iter().filter(|check| check.outcome == outcome);
        with.map(|check| check.mistake).collect()
    };
    let found = [Mistake::UnalignedAccess, Mistake::CallOverhead, Mistake::UnequalStates];
    assert_eq!(of(&published, Outcome::Found), found);
    assert_eq!((published.found, published.known), (3, 10));
    // As a warning, this one is described in another section.
    let unaligned = published.checks.iter().find(|one| one.mistake == Mistake::UnalignedAccess);
    let unaligned = unaligned.expect("all are listed");
    assert_eq!(unaligned.title, "unaligned access");
    assert_eq!(unaligned.source, "Memory-rich microbenchmarks, sections 5 and 8");
    assert_eq!(of(&published, Outcome::CannotTell), [Mistake::WarmUp, Mistake::DirtyCache]);
    let corrected = checked(&Phases::corrected().sample());
    assert_eq!(of(&corrected, Outcome::Found), []);
    assert_eq!(of(&corrected, Outcome::CannotTell), []);
}

#[test]
fn a_run_without_the_order_of_phases_does_not_pass_for_it() {
    let mut sample = Phases::corrected().sample();
    for cell in &mut sample.run.manifest.cells {
        for name in ["phase", "after_operation", "after_access"] {
            cell.parameters.remove(name);
        }
    }
    let document = checked(&sample);
    let untold: Vec<Mistake> = document
        .checks
        .iter()
        .filter(|check| check.outcome == Outcome::CannotTell)
        .map(|check| check.mistake)
        .collect();
    use Mistake::{CacheReuse, CallOverhead, DirtyCache, UnequalStates, WarmUp};
    assert_eq!(untold, [WarmUp, DirtyCache, CallOverhead, UnequalStates, CacheReuse]);
    assert!(document.text(80).contains("measure again"));
}

#[test]
fn it_reads_from_the_answer_on() {
    let text = checked(&Phases::published().sample()).text(80);
    assert!(text.starts_with("3 of 10 known mistakes: sprite-lfs of tmpfs\n"), "{text}");
    assert!(
        text.contains("\nUnaligned access\n  - the random-write: begins at any byte"),
        "{text}"
    );
    assert!(text.contains("\n  Avoid it: --align page\n"), "{text}");
    assert!(text.contains("\nCannot tell\n  - warm-up inside what is measured: "), "{text}");
    assert!(text.contains("\nPassed: working set near"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let passed = Sample::new(&["ext4"]).benchmark("read", &[&around(1e5, 6)]);
    let text = checked(&passed).text(80);
    assert!(text.starts_with("None of 10 known mistakes: survey of ext4\n"), "{text}");
}

#[test]
fn what_has_no_replicates_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let run = Sample::new(&["ext4"]).benchmark("read", &[]).write(scratch.path());
    let refused = check(&AnalysedRun::new(&run, scratch.path()), "RUN").unwrap_err();
    assert!(refused.to_string().starts_with("RUN has no replicates"), "{refused}");
}

/// The checked-in schema is the one that the types produce. To regenerate it after a change:
/// `FSPRISM_RENEW_SCHEMA=1 cargo test -p fsprism-report schema`.
#[test]
fn the_checked_in_schema_is_that_of_the_types() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/check.schema.json");
    let text = serde_json::to_string_pretty(&schemars::schema_for!(CheckDocument)).unwrap();
    if std::env::var_os("FSPRISM_RENEW_SCHEMA").is_some() {
        std::fs::write(path, format!("{text}\n")).unwrap();
    }
    let checked_in = std::fs::read_to_string(path).unwrap_or_default();
    assert!(checked_in.trim_end() == text, "docs/check.schema.json is not up to date");
}
