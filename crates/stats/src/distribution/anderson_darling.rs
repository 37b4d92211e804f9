//! The Anderson-Darling statistic for normality with estimated mean and standard deviation.

/// Beyond this adjusted statistic, far outside the simulations behind the formula, p (4e-24 here)
/// does not decrease any further.
const ADJUSTED_MAX: f64 = 10.0;

/// The p value of "the `n` values are normal", given their statistic `a_squared`, A^2, computed
/// with the sample's own mean and standard deviation. Accurate to about two digits for p between
/// 1e-4 and 0.9; meant for `n` of at least 8.
///
/// Stephens' fit in D'Agostino & Stephens, "Goodness-of-Fit Techniques", 1986, section 4.8, table
/// 4.9 (both parameters unknown), to A*^2 = A^2 (1 + 0.75 / n + 2.25 / n^2).
pub(crate) fn p(a_squared: f64, n: u64) -> f64 {
    let n = n.max(1) as f64;
    let adjusted = (a_squared * (1.0 + 0.75 / n + 2.25 / (n * n))).clamp(0.0, ADJUSTED_MAX);
    let exponential = |[constant, linear, square]: [f64; 3]| {
        (constant + adjusted * (linear + adjusted * square)).exp()
    };
    if adjusted < 0.2 {
        1.0 - exponential([-13.436, 101.14, -223.73])
    } else if adjusted < 0.34 {
        1.0 - exponential([-8.318, 42.796, -59.938])
    } else if adjusted < 0.6 {
        exponential([0.9177, -4.279, -1.38])
    } else {
        exponential([1.2937, -5.709, 0.0186])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::assert_relative;

    // The same book's table 4.7, last row: the upper points of A*^2.
    #[test]
    fn p_agrees_with_the_published_points() {
        let table = [(0.50, 0.341), (0.25, 0.470), (0.10, 0.631), (0.05, 0.752), (0.01, 1.035)];
        for (wanted, a_squared) in table {
            assert_relative(p(a_squared, u64::MAX), wanted, 0.04);
        }
    }

    // From statsmodels 0.14 `normal_ad` on seeded normal, exponential and uniform samples.
    #[test]
    fn p_agrees_with_statsmodels() {
        let table = [
            (0.621103699644955, 8, 0.06719725970186814),
            (2.5345868740343604, 25, 1.3240787491316423e-06),
            (1.3215504337209083, 60, 0.0018058698599676094),
            (0.31795905097785493, 40, 0.5241725889074623),
            (0.1507880127364789, 15, 0.9495090190404398),
        ];
        for (a_squared, n, wanted) in table {
            assert_relative(p(a_squared, n), wanted, 1e-12);
        }
    }

    #[test]
    fn p_falls_from_one_to_almost_nothing() {
        let all: Vec<f64> = (0..2_000).map(|i| p(f64::from(i) * 0.01, 20)).collect();
        assert!(all[0] > 0.999_99 && all[1_999] < 1e-20);
        assert!(all.windows(2).all(|pair| pair[1] <= pair[0] + 2e-3), "{all:?}");
        assert!(p(f64::INFINITY, 8) < 1e-20);
    }

    #[test]
    fn few_values_count_for_more() {
        assert!(p(0.7, 8) < p(0.7, 1_000));
    }
}
