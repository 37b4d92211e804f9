//! Properties of every distribution: tails are between 0 and 1 and decrease smoothly from one
//! evaluation to the next, and quantiles lead back to their probability.

use super::*;

const DF: [f64; 16] = [
    0.5, 1.0, 1.7, 2.0, 3.0, 10.5, 101.0, 1_999.9, 2_000.0, 2_000.1, 1e4, 1e5, 1e6, 1e8, 1e12, 1e15,
];
const FAR_AND_NEAR: [f64; 9] = [1e-300, 1e-100, 1e-20, 1e-8, 0.003, 0.24, 0.26, 0.49, 0.5];

/// Relative steps around the mean at which tails must differ.
const STEP: f64 = 0.01;

/// Checks the tails on a fine logarithmic scale from `low` for `count` steps, and at the ends.
fn assert_sound(name: &str, low: f64, count: u32, tails: impl Fn(f64) -> [f64; 2]) {
    let mut before = [0.0, 1.0];
    for index in 0..count {
        let x = low * (STEP * f64::from(index)).exp();
        let now = tails(x);
        let inside = now.iter().all(|tail| (0.0..=1.0).contains(tail));
        assert!(inside && (now[0] + now[1] - 1.0).abs() < 1e-15, "{name} at {x}: {now:?}");
        let falls = now[0] >= before[0] * (1.0 - 1e-12) && now[1] <= before[1] * (1.0 + 1e-12);
        assert!(falls, "{name} at {x}: {before:?}, then {now:?}");
        before = now;
    }
    for end in [-f64::INFINITY, -1.5, -1e-9, 0.0] {
        assert_eq!(tails(end), [0.0, 1.0], "{name} at {end}");
    }
    assert_eq!(tails(f64::INFINITY), [1.0, 0.0], "{name} at infinity");
    assert!(tails(f64::NAN).iter().all(|tail| tail.is_nan()), "{name} of NaN");
    for extreme in [5e-324, 1e-300, 1e300, f64::MAX] {
        let now = tails(extreme);
        assert!(now.iter().all(|tail| (0.0..=1.0).contains(tail)), "{name} at {extreme}: {now:?}");
    }
}

#[test]
fn chi_square_is_sound_at_all_degrees_of_freedom() {
    for df in DF {
        let name = format!("chi-square with {df}");
        assert_sound(&name, df / 20.0, 600, |x| [chi_square::cdf(x, df), chi_square::sf(x, df)]);
    }
}

#[test]
fn fishers_f_is_sound_at_all_degrees_of_freedom() {
    for df1 in DF {
        for df2 in DF {
            let name = format!("F with {df1} and {df2}");
            let tails = |f: f64| [fisher::cdf(f, df1, df2), fisher::sf(f, df1, df2)];
            assert_sound(&name, 0.2, 320, tails);
        }
    }
}

#[test]
fn the_square_of_t_is_sound_at_all_degrees_of_freedom() {
    for df in DF {
        for step in 0..1_200 {
            let t = 0.01 * f64::from(step);
            let (p, further) = (student::two_sided_p(t, df), student::two_sided_p(t + 0.01, df));
            assert!((0.0..=1.0).contains(&p) && further <= p, "t = {t}, df = {df}");
            assert_relative(p, fisher::sf(t * t, 1.0, df), 1e-13);
        }
        assert!(student::two_sided_p(f64::NAN, df).is_nan() && student::sf(f64::NAN, df).is_nan());
    }
}

/// Whether the quantile is neither too small nor too large for an f64.
fn is_representable(quantile: f64) -> bool {
    quantile > 1e-290 && quantile < 1e290
}

#[test]
fn quantiles_lead_back_to_their_probability() {
    for p in FAR_AND_NEAR {
        for df in DF {
            let (low, high) = (chi_square::quantile(p, df), chi_square::upper_quantile(p, df));
            if is_representable(low) {
                assert_relative(chi_square::cdf(low, df), p, tolerance(df));
            }
            assert_relative(chi_square::sf(high, df), p, tolerance(df));
            let t = student::quantile(p, df);
            if is_representable(-t) {
                assert_relative(student::cdf(t, df), p, 1e-12);
            }
            for df2 in DF {
                assert_fisher_inverts(p, df, df2);
            }
        }
    }
}

fn assert_fisher_inverts(p: f64, df1: f64, df2: f64) {
    let tolerance = tolerance(df1.min(df2));
    let (low, high) = (fisher::quantile(p, df1, df2), fisher::upper_quantile(p, df1, df2));
    assert!(low >= 0.0 && high > 0.0);
    if is_representable(low) && is_representable(low * (df1 / df2)) {
        assert_relative(fisher::cdf(low, df1, df2), p, tolerance);
    }
    if is_representable(high) && is_representable(high * (df1 / df2)) {
        assert_relative(fisher::sf(high, df1, df2), p, tolerance);
    }
}

/// With many degrees of freedom, all values are close to the mean, and rounding a value alone
/// changes a far tail by a multiple of this square root.
fn tolerance(df: f64) -> f64 {
    1e-12 + 100.0 * df.sqrt() * f64::EPSILON
}

#[test]
fn the_studentized_range_is_sound() {
    for (groups, df) in [(2, 1.0), (3, 7.9), (3, 8.1), (40, 55.5), (9, 1e9), (5, f64::INFINITY)] {
        let mut before = 1.0;
        for step in 0..40 {
            let q = 0.02 * f64::from(step * step);
            let sf = studentized_range::sf(q, groups, df);
            assert!((0.0..=before).contains(&sf), "q = {q}, {groups} groups, df = {df}: {sf}");
            before = sf;
        }
        assert_eq!(studentized_range::sf(f64::INFINITY, groups, df), 0.0);
        assert!(studentized_range::sf(f64::NAN, groups, df).is_nan());
        assert!((0.0..1e-3).contains(&studentized_range::sf(1e9, groups, df)));
    }
}

// Two groups: the range over sqrt(2) is |t|.
#[test]
fn the_range_of_two_is_students_t() {
    for df in [1.0, 1.5, 2.0, 6.0, 7.99, 8.0, 40.0, 1e3, 1e7, f64::INFINITY] {
        for q in [1e-6, 0.1, 1.0, 3.0, 7.0, 12.0, 40.0] {
            let t = student::two_sided_p(q / std::f64::consts::SQRT_2, df);
            if t > 1e-200 {
                assert_relative(studentized_range::sf(q, 2, df), t, 1e-12);
            }
        }
    }
}

#[test]
fn the_binomial_sums_its_terms() {
    for (n, p) in [(1, 0.5), (7, 0.3), (30, 0.01), (52, 0.9)] {
        let mut term = (1.0_f64 - p).powi(i32::try_from(n).unwrap());
        let mut sum = term;
        for k in 0..n {
            assert_relative(binomial::cdf(k, n, p), sum, 1e-11);
            assert_relative(binomial::cdf(k, n, p) + binomial::sf(k, n, p), 1.0, 1e-15);
            term *= (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
            sum += term;
        }
        assert_eq!((binomial::cdf(n, n, p), binomial::sf(n, n, p)), (1.0, 0.0));
    }
    assert_eq!((binomial::cdf(3, 9, 0.0), binomial::cdf(3, 9, 1.0)), (1.0, 0.0));
}

#[test]
#[should_panic(expected = "degrees of freedom")]
fn no_degrees_of_freedom_are_refused() {
    chi_square::sf(1.0, 0.0);
}
