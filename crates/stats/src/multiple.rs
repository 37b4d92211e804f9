//! Correcting p values for their number.
//!
//! Of twenty honest comparisons at 5 %, one reports a difference that is not real. Adjusted p
//! values are compared with the level directly: those of [`holm`] keep the probability of any false
//! claim below it, those of [`benjamini_hochberg`] the expected share of false claims among all
//! claims.

use crate::refusal::Refusal;

/// Holm's step-down adjusted p values, in the order given (Holm, "A Simple Sequentially Rejective
/// Multiple Test Procedure", Scandinavian Journal of Statistics 6(2), 1979, section 3).
///
/// # Errors
/// Refuses a p value that is not a number or lies outside 0 to 1.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, Refusal> {
    let ascending = ascending_order(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest_so_far: f64 = 0.0;
    for (place, &index) in ascending.iter().enumerate() {
        let still_to_test = (p_values.len() - place) as f64;
        largest_so_far = largest_so_far.max(still_to_test * p_values[index]).min(1.0);
        adjusted[index] = largest_so_far;
    }
    Ok(adjusted)
}

/// Benjamini and Hochberg's step-up adjusted p values, in the order given ("Controlling the False
/// Discovery Rate", Journal of the Royal Statistical Society B 57(1), 1995, section 3.1, equation
/// 1).
///
/// # Errors
/// Refuses a p value that is not a number or lies outside 0 to 1.
pub fn benjamini_hochberg(p_values: &[f64]) -> Result<Vec<f64>, Refusal> {
    let ascending = ascending_order(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut smallest_so_far: f64 = 1.0;
    for (place, &index) in ascending.iter().enumerate().rev() {
        let factor = p_values.len() as f64 / (place + 1) as f64;
        smallest_so_far = smallest_so_far.min(factor * p_values[index]);
        adjusted[index] = smallest_so_far;
    }
    Ok(adjusted)
}

/// The indices of `p_values` from the smallest value to the largest.
fn ascending_order(p_values: &[f64]) -> Result<Vec<usize>, Refusal> {
    if let Some(index) = p_values.iter().position(|p| !(0.0..=1.0).contains(p)) {
        return Err(Refusal::NotAProbability { index, value: p_values[index] });
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    const P_VALUES: [f64; 8] = [0.041, 0.001, 0.60, 0.008, 0.042, 0.039, 0.0009, 0.27];

    fn assert_all_close(got: &[f64], wanted: &[f64]) {
        assert_eq!(got.len(), wanted.len());
        for (g, w) in got.iter().zip(wanted) {
            assert!((g - w).abs() < 1e-12, "{got:?} is not {wanted:?}");
        }
    }

    // From statsmodels 0.15.0, `p` being the constant above:
    // `statsmodels.stats.multitest.multipletests(p, method="holm")[1]`.
    #[test]
    fn holm_agrees_with_statsmodels() {
        let wanted = [0.195, 0.0072, 0.6, 0.048, 0.195, 0.195, 0.0072, 0.54];
        assert_all_close(&holm(&P_VALUES).unwrap(), &wanted);
    }

    // From SciPy 1.17.1, `p` being the constant above:
    // `scipy.stats.false_discovery_control(p, method="bh")`.
    #[test]
    fn benjamini_hochberg_agrees_with_scipy() {
        let wanted = [0.056, 0.004, 0.6, 0.02133333333333, 0.056, 0.056, 0.004, 0.30857142857143];
        assert_all_close(&benjamini_hochberg(&P_VALUES).unwrap(), &wanted);
    }

    #[test]
    fn adjusting_keeps_the_order_and_never_lowers_a_p_value() {
        for adjust in [holm, benjamini_hochberg] {
            let adjusted = adjust(&P_VALUES).unwrap();
            for (i, p) in P_VALUES.iter().enumerate() {
                assert!(adjusted[i] >= *p && adjusted[i] <= 1.0);
                for (j, q) in P_VALUES.iter().enumerate() {
                    assert!(p > q || adjusted[i] <= adjusted[j]);
                }
            }
        }
    }

    #[test]
    fn one_p_value_stands_as_it_is_and_none_gives_none() {
        for adjust in [holm, benjamini_hochberg] {
            assert_eq!(adjust(&[0.03]), Ok(vec![0.03]));
            assert_eq!(adjust(&[]), Ok(vec![]));
            assert_eq!(adjust(&[1.0, 0.9]), Ok(vec![1.0, 1.0]));
        }
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        for bad in [f64::NAN, -0.1, 1.1] {
            let refusal = holm(&[0.5, bad]).unwrap_err();
            assert!(matches!(refusal, Refusal::NotAProbability { index: 1, .. }), "{bad}");
            assert!(benjamini_hochberg(&[bad]).is_err(), "{bad}");
        }
    }
}
