//! Counts small enough to list, and ties.

use super::*;

fn assert_close(got: f64, wanted: f64) {
    assert!((got - wanted).abs() <= 1e-12, "{got} is not {wanted}");
}

// Hollander & Wolfe, table A.6: of C(6, 3) = 20 choices, one gives the least rank sum.
#[test]
fn the_most_extreme_choice_is_one_of_all() {
    let got = mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
    assert_eq!((got.u, got.method), (0.0, Method::Exact));
    assert_close(got.p, 2.0 / 20.0);
    assert_close(got.shift, -3.0);
    let other = mann_whitney(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(other.u, 9.0);
    assert_close(other.p, 0.1);
}

#[test]
fn swapping_samples_keeps_p_and_turns_the_shift_around() {
    for scale in [1, 20] {
        let first: Vec<f64> = (0..5 * scale).map(|i| f64::from(i * i % 17)).collect();
        let second: Vec<f64> = (0..7 * scale).map(|i| f64::from(i * 5 % 13)).collect();
        let there = mann_whitney(&first, &second).unwrap();
        let back = mann_whitney(&second, &first).unwrap();
        assert_eq!(there.method, back.method);
        assert_close(there.p, back.p);
        assert_close(there.shift, -back.shift);
        assert_close(there.u + back.u, (first.len() * second.len()) as f64);
    }
}

#[test]
fn the_two_ways_to_p_are_close_where_they_meet() {
    let first: Vec<f64> = (0..31).map(|i| f64::from(i) + 0.5).collect();
    let second: Vec<f64> = (0..31).map(|i| f64::from(i) + 5.2).collect();
    let ranked = DoubledRanks::new(&first, &second);
    assert!((ranked.exact_p() / ranked.normal_p() - 1.0).abs() < 0.02);
}

#[test]
fn values_all_alike_tell_nothing() {
    for n in [2, 100] {
        let got = mann_whitney(&vec![7.0; n], &vec![7.0; n]).unwrap();
        assert_close(got.p, 1.0);
        assert_close(got.shift, 0.0);
    }
    let zeros = mann_whitney(&[0.0, -0.0], &[-0.0, 0.0]).unwrap();
    assert_close(zeros.p, 1.0);
    assert_close(zeros.u, 2.0);
}

#[test]
fn the_shift_is_the_median_of_all_differences() {
    for (n, m) in [(1, 1), (2, 3), (4, 4), (9, 14), (30, 31)] {
        let first: Vec<f64> = (0..n).map(|i| f64::from(i * 31 % 23).sqrt() - 2.0).collect();
        let second: Vec<f64> = (0..m).map(|i| f64::from(i * 17 % 29).ln_1p()).collect();
        let mut all: Vec<f64> =
            first.iter().flat_map(|a| second.iter().map(move |b| a - b)).collect();
        all.sort_by(f64::total_cmp);
        let half = all.len() / 2;
        let wanted = f64::midpoint(all[(all.len() - 1) / 2], all[half]);
        assert_close(shift(&first, &second), wanted);
    }
}

#[test]
fn places_count_the_f64_in_order() {
    let ascending = [f64::MIN, -1.0, -f64::MIN_POSITIVE, -0.0, 0.0, 5e-324, 1.0, f64::MAX];
    for pair in ascending.windows(2) {
        assert!(place(pair[0]) < place(pair[1]), "{pair:?}");
    }
    for value in ascending {
        assert_eq!(at_place(place(value)).to_bits(), value.to_bits());
    }
    assert_eq!(place(0.0) - place(-0.0), 1);
}

#[test]
fn bad_samples_are_refused() {
    assert!(matches!(mann_whitney(&[], &[1.0]), Err(Refusal::TooFew { needed: 1, .. })));
    assert!(matches!(mann_whitney(&[1.0], &[f64::NAN]), Err(Refusal::NotFinite { .. })));
}
