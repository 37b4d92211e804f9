//! Nothing on the screen contradicts a verdict of the document, whatever was measured.

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{Document, Verdict};

use super::super::dimensions::compact;
use super::super::grid::{RatioRow, RelativeCost, RowGroup};
use super::super::loads;
use super::render_answer;
use super::tests::{ROWS, document, survey_of};
use crate::Options;
use crate::sample::noisy;

const SEEDS: u64 = 12;
/// The factors by which targets differ.
const FACTORS: [f64; 6] = [1.0, 1.0, 1.02, 1.05, 1.3, 3.0];

/// A survey whose targets do not differ, differ a little or differ a lot, and in which some values
/// are far off.
fn generated(seed: u64, factors: &[f64]) -> Document {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut choice = |of: usize| random.random_range(0..of);
    let mut drawn: Vec<Vec<f64>> = Vec::new();
    for (row, (_, _, _, times)) in ROWS.iter().enumerate() {
        for at in 0..times.len() {
            let factor = factors[choice(factors.len())];
            let spread = [0.01, 0.05, 0.3][choice(3)];
            let own = seed * 1000 + (row * 8 + at) as u64;
            let mut values = noisy(times[1] * factor, spread, own, 9);
            if choice(5) == 0 {
                values[choice(9)] *= 20.0;
            }
            drawn.push(values);
        }
    }
    document(&survey_of(&[0, 1, 2, 3], |row, at| drawn[row * 4 + at].clone()))
}

/// A verdict on two targets: which one costs more, if that is certain.
struct PairVerdict {
    first: String,
    second: String,
    /// `None` if they cannot be told apart.
    dearer: Option<String>,
}

impl PairVerdict {
    fn new(first: &str, second: &str, ratio: Option<f64>, verdict: Verdict) -> Self {
        let is_second_dearer = ratio.is_some_and(|ratio| ratio > 1.0);
        let dearer = if is_second_dearer { second } else { first };
        let dearer = verdict.is_different().then(|| dearer.to_owned());
        Self { first: first.to_owned(), second: second.to_owned(), dearer }
    }

    fn is_on(&self, one: &str, other: &str) -> bool {
        [(one, other), (other, one)].contains(&(&*self.first, &*self.second))
    }
}

/// Checks every entry of a row against the verdicts on its targets; returns how many were worse and
/// how many were level.
fn hold(row: &RatioRow, labels: &[&str], sure: &[PairVerdict], what: &str) -> (usize, usize) {
    let Some(best) = row.entries.iter().position(|entry| *entry == RelativeCost::Best) else {
        return (0, 0);
    };
    let best = labels[best];
    let (mut worse, mut level) = (0, 0);
    for (entry, label) in row.entries.iter().zip(labels) {
        let dearer =
            sure.iter().find(|one| one.is_on(best, label)).map(|one| one.dearer.as_deref());
        match entry {
            RelativeCost::Worse(span) => {
                assert_eq!(dearer, Some(Some(*label)), "{what}, {}: {row:?}", row.title);
                assert!(span.low > 1.0, "{what}, {}: {row:?}", row.title);
                worse += 1;
            }
            RelativeCost::Level(span) => {
                let is_denied = dearer.flatten().is_some() && span.low > 1.0;
                assert!(!is_denied, "{what}, {}: {row:?}", row.title);
                assert_ne!(dearer, Some(Some(best)), "{what}, {}: {row:?}", row.title);
                level += 1;
            }
            RelativeCost::Best | RelativeCost::Without(_) => {}
        }
    }
    (worse, level)
}

#[test]
fn no_verdict_denies_what_stands_in_the_tables() {
    let (mut worse, mut level) = (0, 0);
    let mut add = |(more, alike): (usize, usize)| {
        worse += more;
        level += alike;
    };
    for seed in 0..SEEDS {
        let document = generated(seed, &FACTORS);
        let labels: Vec<&str> = document.targets.iter().map(|one| one.label.as_str()).collect();
        for row in compact::rows(&document) {
            let of_it =
                document.dimensions.iter().filter(|one| one.dimension.heading() == row.title);
            let sure: Vec<PairVerdict> = of_it
                .map(|one| PairVerdict::new(&one.first, &one.second, one.ratio, one.verdict))
                .collect();
            add(hold(&row, &labels, &sure, &format!("{seed}")));
        }
        let RowGroup { rows, .. } = loads::part(&document, 20).expect("it has loads");
        for (row, load) in rows.iter().zip(&document.loads) {
            let of_it = load.comparisons.iter();
            let sure: Vec<PairVerdict> = of_it
                .map(|one| PairVerdict::new(&one.first, &one.second, one.ratio, one.verdict))
                .collect();
            add(hold(row, &labels, &sure, &format!("{seed}")));
        }
    }
    assert!(worse > 60 && level > 60, "{worse} {level}");
}

#[test]
fn every_difference_that_is_called_real_is_one() {
    let mut told = 0;
    // Without real differences, some of many intervals are above 1 by chance.
    for seed in 0..2 * SEEDS {
        let document = generated(seed, if seed < SEEDS { &FACTORS } else { &[1.0] });
        let options = Options { width: 200, colour: false };
        let text = render_answer(&document, Path::new("RUN"), None, &options);
        let lines = text.lines().skip_while(|line| !line.starts_with("Largest real differences"));
        let lines = lines.skip(1).take_while(|line| line.starts_with("  "));
        for line in lines {
            // `  create: ext4 3.49x [3.41, 3.58] slower than xfs (by a few long operations)`
            let (title, said) = line.trim().split_once(": ").expect("it has a title");
            let words: Vec<&str> = said.split(['\u{a0}', ' ']).collect();
            let than = words.iter().position(|word| *word == "than").expect("it compares");
            let (dearer, cheaper) = (words[0], words[than + 1]);
            let ratio: f64 = words[1].trim_end_matches('x').parse().expect("it has a ratio");
            let of_title = document.cells.iter().find(|cell| cell.title == title);
            let benchmark = &of_title.expect("it was measured").benchmark;
            let found = document.comparisons.iter().find(|one| {
                one.benchmark == *benchmark
                    && PairVerdict::new(&one.first, &one.second, one.ratio, one.verdict)
                        .is_on(dearer, cheaper)
            });
            let found = found.expect("they were compared");
            let sure = PairVerdict::new(&found.first, &found.second, found.ratio, found.verdict);
            assert_eq!(sure.dearer.as_deref(), Some(dearer), "{seed}: {line}");
            let own = found.ratio.expect("it has one");
            let own = if own > 1.0 { own } else { 1.0 / own };
            assert!((ratio / own - 1.0).abs() < 0.02, "{seed}: {line}, {own}");
            assert!(![dearer, cheaper].contains(&"tmpfs"), "{line}");
            told += 1;
        }
    }
    assert!(told > 15, "{told}");
}
