//! The exact null distribution of Mann & Whitney's U, where no values are tied.
//!
//! Of all C(n1 + n2, n1) ways to interleave two samples, the number with statistic u is the
//! coefficient of q^u in the Gaussian binomial coefficient: the product over i = 1 to n1 of
//! (1 - q^(n2 + i)) / (1 - q^i) (Mann & Whitney, "On a Test of Whether one of Two Random Variables
//! is Stochastically Larger than the Other", Annals of Mathematical Statistics 18(1), 1947;
//! Hollander & Wolfe, "Nonparametric Statistical Methods", section 4.1). After each i the quotient
//! is again a polynomial with whole coefficients, which 128 bits hold exactly.

/// The largest n1 + n2 whose counts, up to C(130, 65) = 9.5e37, fit in 128 bits.
pub const EXACT_TOTAL_MAX: u64 = 130;

/// The probability that U is at most `u`, of samples of `n1` and `n2` values from one continuous
/// distribution. U is the number of pairs, one value of each sample, in which the first sample's
/// is the larger. By symmetry P(U >= u) is `cdf(n1 * n2 - u, n1, n2)`.
///
/// # Panics
/// If n1 + n2 is above [`EXACT_TOTAL_MAX`].
pub fn cdf(u: u64, n1: u64, n2: u64) -> f64 {
    let total = n1.saturating_add(n2);
    assert!(total <= EXACT_TOTAL_MAX, "{total} values are too many to count");
    let pairs = n1 * n2;
    if u >= pairs {
        return 1.0;
    }
    // The lower half of a symmetric distribution tells the upper.
    if u >= pairs.div_ceil(2) {
        return 1.0 - cdf(pairs - u - 1, n1, n2);
    }
    let below: i128 = ways_up_to(u, n1.min(n2), n1.max(n2)).iter().sum();
    below as f64 / interleavings(n1.min(n2), n1.max(n2)) as f64
}

/// C(n1 + n2, n1), without a product larger than itself.
fn interleavings(n1: u64, n2: u64) -> i128 {
    (1..=i128::from(n1)).fold(1, |ways, i| {
        let factor = i128::from(n2) + i;
        ways / i * factor + ways % i * factor / i
    })
}

/// The number of interleavings for each statistic from 0 to `u`.
fn ways_up_to(u: u64, n1: u64, n2: u64) -> Vec<i128> {
    let index = |power: u64| usize::try_from(power).expect("at most 65 times 65");
    let length = index(u) + 1;
    let mut ways = vec![0; length];
    ways[0] = 1;
    for i in 1..=n1 {
        // Times 1 - q^(n2 + i), then divided by 1 - q^i, as power series cut after q^u.
        for power in (index(n2 + i)..length).rev() {
            ways[power] -= ways[power - index(n2 + i)];
        }
        for power in index(i)..length {
            ways[power] += ways[power - index(i)];
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::assert_relative;

    /// The distribution by going through all subsets of ranks.
    fn enumerated(u: u64, n1: u32, n2: u32) -> f64 {
        let total = n1 + n2;
        let (mut all, mut below) = (0.0, 0.0);
        for subset in 0_u64..1 << total {
            if subset.count_ones() != n1 {
                continue;
            }
            all += 1.0;
            let rank_sum: u64 = (0..u64::from(total)).filter(|bit| subset >> bit & 1 == 1).sum();
            if rank_sum - u64::from(n1 * (n1 - 1) / 2) <= u {
                below += 1.0;
            }
        }
        below / all
    }

    #[test]
    fn counting_agrees_with_full_enumeration() {
        for (n1, n2) in [(1, 1), (1, 6), (3, 4), (5, 5), (7, 4)] {
            for u in 0..=u64::from(n1 * n2) {
                let got = cdf(u, n1.into(), n2.into());
                assert_relative(got, enumerated(u, n1, n2), 1e-14);
            }
        }
    }

    // From SciPy 1.17.1: `mannwhitneyu(x, y, alternative="less", method="exact").pvalue` on
    // samples of those sizes and that statistic.
    #[test]
    fn counting_agrees_with_scipy() {
        let table = [
            (7, 5, 8, 0.03263403263403264),
            (200, 20, 30, 0.024064731658852433),
            (900, 50, 50, 0.007761972615356018),
            (1_249, 50, 50, 0.49863110449923176),
            (1_600, 50, 50, 0.992387258412511),
            (300, 40, 17, 0.24725551893467426),
        ];
        for (u, n1, n2, wanted) in table {
            assert_relative(cdf(u, n1, n2), wanted, 1e-12);
        }
    }

    #[test]
    fn one_interleaving_of_all_is_the_most_extreme() {
        assert_relative(cdf(0, 50, 50), 9.911653021418339e-30, 1e-15);
        assert_relative(cdf(0, 65, 65), 1.0518827953163065e-38, 1e-15);
        assert_eq!(cdf(2_500, 50, 50), 1.0);
        assert_eq!(cdf(0, 0, 9), 1.0);
    }

    #[test]
    #[should_panic(expected = "too many to count")]
    fn too_many_values_are_not_guessed_at() {
        cdf(5, 100, 31);
    }
}
