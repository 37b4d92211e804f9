//! The paper's own rates, as if each had been measured several times.

use super::*;
use crate::bonnie_anova::published::{ACTIONS, FILE_SYSTEMS, RATES};

/// The paper's rates in three blocks, with small deviations in each cell and block, and without the
/// file systems in `missing`.
fn as_published(missing: &[&str]) -> Observed {
    let mut observed = Observed::default();
    for (row, (action, rates)) in ACTIONS.into_iter().zip(RATES).enumerate() {
        for (column, (file_system, rate)) in FILE_SYSTEMS.into_iter().zip(rates).enumerate() {
            let off = |block: u32| match (row + column + block as usize) % 3 {
                0 => 0.995,
                1 => 1.0,
                _ => 1.005,
            };
            let in_blocks = (0..3).map(|block| (block, rate * off(block))).collect();
            if !missing.contains(&file_system) {
                observed.add(file_system, action, in_blocks);
            }
        }
    }
    observed
}

fn outcomes(observed: &Observed) -> Vec<(&'static str, Outcome)> {
    let blocks = observed.blocks(&observed.file_systems);
    let all = statements::all(observed, &blocks, observed.together().as_ref());
    all.into_iter().map(|one| (one.claim, one.outcome)).collect()
}

fn those(of: &Observed, outcome: Outcome) -> Vec<&'static str> {
    let outcomes = outcomes(of).into_iter();
    outcomes.filter(|(_, one)| *one == outcome).map(|(claim, _)| claim).collect()
}

#[test]
fn repeated_closely_what_could_not_be_told_apart_is() {
    let observed = as_published(&[]);
    let refuted = ["ext2 and FAT16 do not differ", "FAT16 and FAT32 are almost the same"];
    assert_eq!(those(&observed, Outcome::DoesNotHold), refuted);
    let holds = those(&observed, Outcome::Holds);
    assert_eq!(holds.len(), 13);
    // By 4.8 %, which is told apart, but is not much.
    assert!(holds.contains(&"FAT16 is neither faster nor slower than that mean"));
}

#[test]
fn what_takes_a_file_system_that_is_missing_is_unknown() {
    let observed = as_published(&["FAT16"]);
    let unknown = those(&observed, Outcome::Unknown);
    assert_eq!(unknown.len(), 5, "{unknown:?}");
    assert!(those(&observed, Outcome::Holds).contains(&"ext2 is faster than FAT32"));
    let one = as_published(&["FAT16", "FAT32"]);
    assert_eq!(those(&one, Outcome::Unknown).len(), 15);
}

#[test]
fn blocks_that_lack_a_cell_are_left_out() {
    let mut observed = as_published(&[]);
    observed.add("FAT16", ACTIONS[2], [(0, 2800.0), (2, 2820.0)].into());
    assert_eq!(observed.complete(&observed.file_systems), [0, 2]);
    let together = observed.together().expect("two blocks remain");
    assert_eq!(together.anova.last().map(|errors| errors.df), Some(15));
}

#[test]
fn figures_stand_beside_the_papers() {
    let observed = as_published(&[]);
    let paper = super::super::analysis(crate::bonnie_anova::published::RATES)
        .expect("the paper's data support it");
    let blocks = observed.blocks(&observed.file_systems);
    for row in figures::shares(&blocks, &paper) {
        let published = row.published.expect("the paper has all three");
        assert!((row.measured.mean - published).abs() < 1.0, "{row:?}");
    }
    let effects = figures::effects(&blocks, &paper);
    assert_eq!(effects.len(), 8);
    for row in effects {
        let published = row.published.expect("the paper has each");
        assert!((row.measured.mean - published.mean).abs() < 1.0, "{row:?}");
        let width = |one: &Estimate| one.high.zip(one.low).map(|(high, low)| high - low);
        assert!(width(&row.measured) < width(&published), "{row:?}");
    }
    let differences = figures::differences(&blocks, &observed.file_systems, &paper);
    assert_eq!(differences.len(), 3);
    assert!(differences.iter().all(|row| row.published.is_some()));
}

#[test]
fn the_text_fits_the_page() {
    let mut observed = as_published(&[]);
    for (row, action) in ACTIONS.into_iter().enumerate() {
        for one in ["ext4", "xfs", "btrfs"] {
            let rates = (0..3).map(|block| (block, 1e6 + f64::from(block) * 1e3 + row as f64));
            observed.add(one, action, rates.collect());
        }
    }
    let paper = super::super::analysis(crate::bonnie_anova::published::RATES)
        .expect("the paper's data support it");
    let blocks = observed.blocks(&observed.file_systems);
    let together = observed.together();
    let sources = together.iter().flat_map(|analysis| &analysis.anova);
    let measured = RunAnalysis {
        run: "run".to_owned(),
        clock: Clock::Time,
        kernel: "6.1.0".to_owned(),
        level: LEVEL,
        file_bytes: Some(320 << 20),
        memory_bytes: Some(64 << 20),
        blocks: 3,
        rates: figures::rates(&observed),
        shares: figures::shares(&blocks, &paper),
        variance: sources.map(|source| figures::source(source, &paper)).collect(),
        warnings: vec!["they are odd".to_owned()],
        effects: figures::effects(&blocks, &paper),
        differences: figures::differences(&blocks, &observed.file_systems, &paper),
        statements: statements::all(&observed, &blocks, together.as_ref()),
        file_systems: observed.file_systems,
        missing: vec!["reiserfs: it is gone".to_owned()],
    };
    let text = measured.text(100);
    for words in ["320 MiB with 64 MiB of memory", "FAT32, paper", "btrfs, here", "they are odd"] {
        assert!(text.contains(words), "no {words} in {text}");
    }
    let counted =
        RunAnalysis { clock: Clock::Instructions, memory_bytes: None, ..measured }.text(100);
    for words in ["guest with Linux 6.1.0", "KiB per million", "btrfs, here"] {
        assert!(counted.contains(words), "no {words} in {counted}");
    }
    assert!(!counted.contains("FAT32, paper"), "{counted}");
    for line in text.lines().chain(counted.lines()) {
        assert!(line.chars().count() <= 100, "{line}");
    }
}
