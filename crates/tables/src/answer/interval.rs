//! One series: its mean, median and quantiles, each with an interval or the reason why there is
//! none.

use serde::Serialize;
use stats::autocorrelation::{self, BATCHES};
use stats::outliers::{self, Severity};
use stats::{Refusal, Sample, interval, order};

use super::{IntervalDocument, check_squares};
use textual::{Columns, figure, paragraph, percent, plural};

/// How many outliers a warning names; if there are more, just their number is given.
const NAMED_OUTLIERS: usize = 5;

/// What to compute for a series.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalQuestion {
    /// The quantiles to compute, between 0 and 1.
    pub quantiles: Vec<f64>,
    /// The confidence level.
    pub level: f64,
}

/// The results for a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IntervalAnswer {
    /// The number of values.
    pub n: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// Its interval by Student's t, which assumes values that are close to normal.
    pub mean_interval: Option<IntervalDocument>,
    /// The geometric mean, if all values are above 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geometric_mean: Option<f64>,
    /// Its interval by Student's t on the logarithms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geometric_mean_interval: Option<IntervalDocument>,
    /// The mean and its interval by batch means, if neighbouring values depend on each other and
    /// there are enough values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_of_batches: Option<BatchesAnswer>,
    /// The standard deviation, with n - 1.
    pub standard_deviation: Option<f64>,
    /// The standard deviation over the mean's magnitude.
    pub coefficient_of_variation: Option<f64>,
    /// The median.
    pub median: f64,
    /// The median's interval from order statistics.
    pub median_interval: Option<IntervalDocument>,
    /// The quantiles asked for.
    pub quantiles: Vec<QuantileAnswer>,
    /// Reasons to be careful with the results.
    pub warnings: Vec<String>,
}

/// The mean estimated from the means of batches of successive values, which depend less on each
/// other than the values do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BatchesAnswer {
    /// The mean of all values that are in a batch.
    pub mean: f64,
    /// Its interval.
    pub interval: IntervalDocument,
    /// The number of values in each batch.
    pub batch_size: u64,
    /// Whether the batches depend on each other too, in which case this interval is off as well.
    pub are_correlated: bool,
}

impl BatchesAnswer {
    /// For values whose neighbours depend on each other; `None` if they do not, or are too few.
    fn from_values(values: &[f64], level: f64) -> Option<Self> {
        let lag = autocorrelation::lag_one(values, level).ok()?;
        let found = autocorrelation::batch_means(values, BATCHES, level).ok()?;
        lag.is_correlated().then(|| Self {
            mean: found.mean,
            interval: found.interval.into(),
            batch_size: found.batch_size,
            are_correlated: found.between_batches.is_correlated(),
        })
    }
}

/// One quantile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuantileAnswer {
    /// Which, between 0 and 1.
    pub q: f64,
    /// The estimate: type 7, interpolated between order statistics.
    pub estimate: f64,
    /// The interval from order statistics, valid for any distribution.
    pub interval: Option<IntervalDocument>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl IntervalAnswer {
    /// Computes the answer for `values`, which are in order of measurement.
    ///
    /// # Errors
    /// If there are no values, values are not finite, or a quantile or the level is not between 0
    /// and 1.
    pub fn new(values: &[f64], question: &IntervalQuestion) -> Result<Self, Refusal> {
        let sample = Sample::new(values)?;
        let level = question.level;
        check_squares(values)?;
        let quantile = |&q: &f64| -> Result<QuantileAnswer, Refusal> {
            let estimate = sample.quantile(q)?;
            let (interval, refused) = match order::quantile_interval(&sample, q, level) {
                Ok(interval) => (Some(interval.into()), None),
                Err(why) => (None, Some(why.to_string())),
            };
            Ok(QuantileAnswer { q, estimate, interval, refused })
        };
        let mean_of_batches = BatchesAnswer::from_values(values, level);
        let geometric = interval::geometric_mean(&sample, level).ok();
        Ok(Self {
            n: sample.len() as u64,
            mean: sample.mean(),
            mean_interval: interval::mean_interval(&sample, level).ok().map(Into::into),
            geometric_mean: geometric.map(|one| one.mean),
            geometric_mean_interval: geometric.map(|one| one.interval.into()),
            mean_of_batches,
            standard_deviation: sample.standard_deviation().ok(),
            coefficient_of_variation: sample.coefficient_of_variation().ok(),
            median: sample.median(),
            median_interval: order::median_interval(&sample, level).ok().map(Into::into),
            quantiles: question.quantiles.iter().map(quantile).collect::<Result<_, _>>()?,
            warnings: warnings(values, level, mean_of_batches),
        })
    }

    /// The answer as text; sentences are at most `width` columns wide.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let level = self.mean_interval.or(self.median_interval).map_or(0.95, |one| one.level);
        let heading = format!("{} interval", percent(level));
        let mut columns = Columns::headed(["", "estimate", &heading, ""]);
        let shown = |interval: Option<IntervalDocument>| {
            interval.map_or_else(String::new, |one| {
                format!("[{}, {}]", figure(one.low), figure(one.high))
            })
        };
        let by_t = if self.mean_interval.is_some() { "by Student's t" } else { "" };
        let mean = [figure(self.mean), shown(self.mean_interval), by_t.to_owned()];
        columns.row(std::iter::once("mean".to_owned()).chain(mean));
        if let Some(of) = &self.mean_of_batches {
            let mean = figure(of.mean);
            let how = format!("by {BATCHES} batch means");
            columns.row(["mean".to_owned(), mean, shown(Some(of.interval)), how]);
        }
        if let Some(mean) = self.geometric_mean {
            let how = "by Student's t of logarithms".to_owned();
            let interval = shown(self.geometric_mean_interval);
            columns.row(["geometric mean".to_owned(), figure(mean), interval, how]);
        }
        for quantile in &self.quantiles {
            let name = format!("{} quantile", quantile.q);
            let name = if quantile.q == 0.5 { "median".to_owned() } else { name };
            let remark = quantile.refused.as_ref().map_or("by order statistics", |_| "refused");
            columns.row([
                name,
                figure(quantile.estimate),
                shown(quantile.interval),
                remark.to_owned(),
            ]);
        }
        let mut text = format!(
            "{}\n{}",
            plural(usize::try_from(self.n).unwrap_or(usize::MAX), "value"),
            columns.render()
        );
        if let Some(share) = self.coefficient_of_variation {
            text.push_str(&format!("  coefficient of variation {}\n", percent_of(share)));
        }
        for quantile in &self.quantiles {
            if let Some(why) = &quantile.refused {
                text.push_str(&paragraph("  ", "      ", &format!("{}: {why}", quantile.q), width));
            }
        }
        for warning in &self.warnings {
            text.push_str(&paragraph("! ", "  ", warning, width));
        }
        text
    }
}

/// A share in percent with three decimals.
fn percent_of(share: f64) -> String {
    format!("{:.3} %", share * 100.0)
}

/// What casts doubt on the intervals: values that depend on their neighbours, and far outliers.
fn warnings(values: &[f64], level: f64, batches: Option<BatchesAnswer>) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Ok(lag) = autocorrelation::lag_one(values, level)
        && lag.is_correlated()
    {
        let worth = autocorrelation::effective_size(values)
            .map(|size| format!("; they are worth about {:.0} independent values", size.values))
            .unwrap_or_default();
        let but = match batches {
            Some(of) if of.are_correlated => {
                ", even the one from batch means: the batches depend on each other too"
            }
            Some(_) => ", except the one from batch means",
            None => "",
        };
        let side = if lag.r > 0.0 { "narrow" } else { "wide" };
        warnings.push(format!(
            "neighbouring values depend on each other (lag-1 correlation {:.2}), so the intervals \
             are too {side}{but}{worth}",
            lag.r
        ));
    }
    let far: Vec<usize> = outliers::tukey(values)
        .unwrap_or_default()
        .iter()
        .filter(|outlier| outlier.severity == Severity::Severe)
        .map(|outlier| outlier.index)
        .collect();
    if !far.is_empty() {
        let named: Vec<String> = far.iter().take(NAMED_OUTLIERS).map(usize::to_string).collect();
        let more = far.len().saturating_sub(NAMED_OUTLIERS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        warnings.push(format!(
            "far outliers (beyond Tukey's outer fences) are kept: values {}{more}, counted from 0",
            named.join(", ")
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A series in which each value retains this share of the previous one.
    fn answer(keeps: f64, count: usize) -> IntervalAnswer {
        let (mut state, mut before) = (7_u64, 0.0);
        let next = |_| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            before = keeps * before + (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
            10.0 + before
        };
        let values: Vec<f64> = (0..count).map(next).collect();
        IntervalAnswer::new(&values, &IntervalQuestion { quantiles: vec![0.5], level: 0.95 })
            .unwrap()
    }

    fn width(interval: IntervalDocument) -> f64 {
        interval.high - interval.low
    }

    fn said(answer: &IntervalAnswer) -> String {
        answer.text(80).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn values_that_depend_on_each_other_get_an_interval_by_batch_means() {
        let long = answer(0.6, 1_000);
        let batches = long.mean_of_batches.unwrap();
        assert!(width(batches.interval) > 1.5 * width(long.mean_interval.unwrap()));
        assert!(!batches.are_correlated && batches.batch_size == 50);
        assert!(said(&long).contains("by 20 batch means"), "{}", said(&long));
        assert!(said(&long).contains("too narrow, except the one from batch means"));
        let slow = answer(0.97, 400);
        assert!(slow.mean_of_batches.unwrap().are_correlated);
        assert!(said(&slow).contains("the batches depend on each other too"));
        let short = answer(0.6, 100);
        assert_eq!(short.mean_of_batches, None);
        assert!(said(&short).contains("too narrow; they are worth"), "{}", said(&short));
    }

    #[test]
    fn positive_values_have_a_geometric_mean() {
        let answer = |values: &[f64]| {
            let question = IntervalQuestion { quantiles: Vec::new(), level: 0.95 };
            IntervalAnswer::new(values, &question).unwrap()
        };
        let positive = answer(&[1.0, 10.0, 100.0]);
        assert!((positive.geometric_mean.unwrap() - 10.0).abs() < 1e-9);
        assert!(said(&positive).contains("geometric mean 10"), "{}", said(&positive));
        assert_eq!(answer(&[0.0, 10.0, 100.0]).geometric_mean, None);
    }

    #[test]
    fn independent_values_need_no_batches() {
        let independent = answer(0.0, 1_000);
        assert_eq!(independent.mean_of_batches, None);
        assert!(independent.warnings.is_empty(), "{:?}", independent.warnings);
    }
}
