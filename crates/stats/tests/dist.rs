//! Tails and quantiles compared with those of mpmath, recorded by `fixtures/dist.py`.

use stats::distribution::{binomial, chi_square, fisher, normal, student, studentized_range};

type Row = (String, Vec<f64>, f64);

fn rows() -> Vec<Row> {
    serde_json::from_str(include_str!("fixtures/dist.json")).expect("rows of name, numbers, value")
}

/// What the crate computes for a row of the fixture.
fn ours(function: &str, arguments: &[f64]) -> f64 {
    match (function, arguments) {
        ("normal_cdf", &[z]) => normal::cdf(z),
        ("normal_sf", &[z]) => normal::sf(z),
        ("normal_quantile", &[p]) => normal::quantile(p),
        ("student_cdf", &[t, df]) => student::cdf(t, df),
        ("student_two_sided_p", &[t, df]) => student::two_sided_p(t, df),
        ("student_quantile", &[p, df]) => student::quantile(p, df),
        ("chi_square_cdf", &[x, df]) => chi_square::cdf(x, df),
        ("chi_square_sf", &[x, df]) => chi_square::sf(x, df),
        ("chi_square_quantile", &[p, df]) => chi_square::quantile(p, df),
        ("chi_square_upper_quantile", &[p, df]) => chi_square::upper_quantile(p, df),
        ("fisher_cdf", &[f, df1, df2]) => fisher::cdf(f, df1, df2),
        ("fisher_sf", &[f, df1, df2]) => fisher::sf(f, df1, df2),
        ("fisher_quantile", &[p, df1, df2]) => fisher::quantile(p, df1, df2),
        ("fisher_upper_quantile", &[p, df1, df2]) => fisher::upper_quantile(p, df1, df2),
        ("binomial_cdf", &[k, n, p]) => binomial::cdf(count(k), count(n), p),
        ("binomial_sf", &[k, n, p]) => binomial::sf(count(k), count(n), p),
        ("studentized_range_sf", &[q, groups, df]) => {
            let groups = u32::try_from(count(groups)).expect("few groups");
            studentized_range::sf(q, groups, if df < 1e300 { df } else { f64::INFINITY })
        }
        _ => panic!("{function} of {arguments:?}"),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the fixture holds whole numbers up to 1e9 here"
)]
fn count(number: f64) -> u64 {
    number as u64
}

/// The largest relative error among the rows whose function starts with `area`.
fn worst(area: &str) -> (f64, Row) {
    let of_area = rows().into_iter().filter(|(function, ..)| function.starts_with(area));
    of_area
        .map(|row| ((ours(&row.0, &row.1) / row.2 - 1.0).abs(), row))
        .inspect(|(error, row)| assert!(!error.is_nan(), "{row:?}"))
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .expect("rows of that name")
}

fn assert_within(area: &str, tolerance: f64) {
    let (error, row) = worst(area);
    assert!(error < tolerance, "relative error {error:e}: {row:?}");
}

#[test]
fn the_normal_distribution_agrees_with_mpmath() {
    assert_within("normal", 1e-12);
}

#[test]
fn students_t_agrees_with_mpmath() {
    assert_within("student_", 1e-12);
}

#[test]
fn chi_square_agrees_with_mpmath() {
    assert_within("chi_square", 1e-12);
}

#[test]
fn fishers_f_agrees_with_mpmath() {
    assert_within("fisher", 1e-12);
}

#[test]
fn the_binomial_agrees_with_mpmath() {
    assert_within("binomial", 1e-12);
}

#[test]
fn the_studentized_range_agrees_with_mpmath() {
    assert_within("studentized_range", 1e-12);
}

#[test]
fn studentized_range_quantiles_invert_the_tail() {
    for (groups, df) in [(2, 1.0), (3, 10.0), (12, 33.3), (100, f64::INFINITY)] {
        for p in [0.01, 0.5, 0.95, 0.9999] {
            let q = studentized_range::quantile(p, groups, df);
            let back = studentized_range::sf(q, groups, df);
            assert!((back / (1.0 - p) - 1.0).abs() < 1e-10, "{groups} groups, df {df}, p {p}");
        }
    }
}
