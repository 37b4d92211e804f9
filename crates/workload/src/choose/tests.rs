//! The access patterns follow their distributions.

use std::collections::HashSet;

use super::*;

fn from(resources: usize, choices: u64) -> Choices {
    Choices { resources, choices, thread: 0, sharers: 1, seed: 42 }
}

fn take(chooser: &mut impl Choose, count: usize) -> Vec<(usize, u64)> {
    (0..count)
        .map(|_| {
            let position = chooser.next_position();
            (position.resource, position.choice)
        })
        .collect()
}

/// Pearson's statistic of `observed` against `expected`.
fn chi_square(observed: &[u64], expected: &[f64]) -> f64 {
    observed.iter().zip(expected).map(|(&o, &e)| (o as f64 - e).powi(2) / e).sum()
}

#[test]
fn sequential_goes_through_every_resource_and_wraps() {
    let mut chooser = Sequential::new(&from(2, 3));
    let expected = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 0), (0, 1)];
    assert_eq!(take(&mut chooser, 8), expected);
}

#[test]
fn sequential_threads_on_the_same_file_start_evenly_spread() {
    let starts = [0, 1, 2, 3].map(|thread| {
        let choices = Choices { thread, sharers: 4, ..from(1, 100) };
        Sequential::new(&choices).next_position().choice
    });
    assert_eq!(starts, [0, 25, 50, 75]);
    let more_threads_than_blocks = Choices { thread: 7, sharers: 8, ..from(1, 2) };
    assert!(Sequential::new(&more_threads_than_blocks).next_position().choice < 2);
}

#[test]
fn uniform_frequencies_agree_with_the_law_and_every_place_is_reached() {
    let (resources, choices, draws) = (4, 25_u64, 100_000);
    let mut chooser = Uniform::new(&from(resources, choices));
    let mut observed = vec![0; 100];
    for (resource, choice) in take(&mut chooser, draws) {
        observed[resource * 25 + index(choice)] += 1;
    }
    // The 99.9 % quantile of chi-square with 99 degrees of freedom is 148.2.
    let statistic = chi_square(&observed, &[draws as f64 / 100.0; 100]);
    assert!(statistic < 148.2, "{statistic}");
}

#[test]
fn zipf_frequencies_agree_with_the_exact_law() {
    for exponent in [0.5, 0.99, 1.0, 1.2] {
        let (count, draws) = (100_u64, 200_000);
        let choices = from(1, count);
        let mut chooser = Zipf::new(&choices, exponent).expect("a valid exponent");
        let scatter = chooser.scatter;
        let mut observed_by_position = vec![0; 100];
        for (_, choice) in take(&mut chooser, draws) {
            observed_by_position[index(choice)] += 1;
        }
        let observed: Vec<u64> =
            (0..count).map(|rank| observed_by_position[index(scatter.position(rank))]).collect();
        let weights: Vec<f64> = (1..=count).map(|rank| (rank as f64).powf(-exponent)).collect();
        let sum: f64 = weights.iter().sum();
        let expected: Vec<f64> = weights.iter().map(|w| w / sum * draws as f64).collect();
        let statistic = chi_square(&observed, &expected);
        assert!(statistic < 148.2, "exponent {exponent}: {statistic}");
    }
}

#[test]
fn zipf_reaches_every_block_of_every_file_and_no_other() {
    let mut chooser = Zipf::new(&from(3, 7), 0.9).expect("a valid exponent");
    let reached: HashSet<_> = take(&mut chooser, 20_000).into_iter().collect();
    let all: HashSet<_> = (0..3).flat_map(|file| (0..7).map(move |block| (file, block))).collect();
    assert_eq!(reached, all);
}

#[test]
fn scattering_is_a_permutation_that_keeps_hot_ranks_apart() {
    for count in [1, 2, 3, 4, 5, 6, 7, 8, 30, 64, 100, 1000, 4096, 9973, 65_536] {
        let scatter = Scatter::new(count);
        let positions: HashSet<u64> = (0..count).map(|rank| scatter.position(rank)).collect();
        assert_eq!(positions.len() as u64, count, "{count} ranks");
        assert!(positions.iter().all(|&position| position < count));
        // If perfectly spread, the hottest would be count / hot apart; require a third of that.
        let hot = (count / 20).min(64);
        let mut hottest: Vec<u64> = (0..hot).map(|rank| scatter.position(rank)).collect();
        hottest.sort_unstable();
        let least = hottest.windows(2).map(|pair| pair[1] - pair[0]).min();
        assert!(least.is_none_or(|least| least >= count / hot / 3), "{least:?} of {count}");
    }
    let huge = Scatter::new(1 << 52);
    assert!(huge.position((1 << 52) - 1) < 1 << 52);
}

#[test]
fn the_same_seed_gives_the_same_sequence_and_threads_differ() {
    for access in [Access::Uniform, Access::Zipf { exponent: 0.9 }] {
        let of = |choices: Choices| {
            let mut chooser = AnyChooser::new(access, &choices).expect("a valid pattern");
            take(&mut chooser, 100)
        };
        let first = of(from(2, 1000));
        assert_eq!(first, of(from(2, 1000)));
        assert_ne!(first, of(Choices { seed: 43, ..from(2, 1000) }));
        assert_ne!(first, of(Choices { thread: 1, ..from(2, 1000) }));
    }
}
