//! Where a series changes, and how it starts.

use serde::Serialize;
use stats::Refusal;
use stats::changepoint::{Segment, correlation_of_neighbours, divisive, pelt, warmup};
use stats::design::Refused;

use super::check_squares;
use textual::{Columns, figure, percent};

/// Confidence level of the places of changes.
const LEVEL: f64 = 0.95;

/// Correlations of up to this many standard errors are attributed to chance, and exceeded by chance
/// in one case in a hundred.
const CHANCE: f64 = 2.33;

/// How to look for changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Method {
    /// By permutation tests ([`divisive`]), which assume no distribution; for more than
    /// [`divisive::LENGTH_MAX`] values, by PELT with the penalty suited to series from the start of
    /// a program.
    #[default]
    ByLength,
    /// By PELT ([`pelt`]) with this penalty, in units of minus twice the log-likelihood.
    Penalty(f64),
}

/// The changes of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangepointAnswer {
    /// `e-divisive` or `pelt`.
    pub method: String,
    /// Index, from 0, of the first value of each new segment.
    pub changepoints: Vec<usize>,
    /// How certain each of them is; empty for PELT.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeDocument>,
    /// The segments between the changes; `end` is the index just past the last value.
    pub segments: Vec<SegmentDocument>,
    /// `flat`, `warm-up`, `slow-down` or `no-steady-state`; `settles` instead of `warm-up` or
    /// `slow-down` if it was not specified which values are better.
    pub class: Option<String>,
    /// Why there is no class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_refused: Option<String>,
    /// Index of the first value of the steady state.
    pub steady_from: Option<usize>,
    /// If there is no change, the smallest shift of the mean, from the middle on, that would be
    /// found in four of five series like this one.
    pub least_shift: Option<f64>,
    /// Rank correlation of neighbours after removing the changes, 0 to 1.
    pub correlation: f64,
    /// Whether there are enough values to tell a change from a slow swing, given how much values
    /// depend on their neighbours; `None` for PELT, which assumes that they do not.
    pub can_tell: Option<bool>,
}

/// A change, and how certain it and its place are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ChangeDocument {
    /// Index of the first value after it.
    pub at: usize,
    /// The p-value of "nothing changes here", by permutation.
    pub p: f64,
    /// The confidence interval of the index.
    pub interval: [usize; 2],
    /// The confidence level of the interval.
    pub level: f64,
}

/// A segment of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SegmentDocument {
    /// Index of the first value.
    pub start: usize,
    /// Index just past the last value.
    pub end: usize,
    /// Mean of the values.
    pub mean: f64,
    /// Variance of the values, with n.
    pub variance: f64,
}

impl From<&Segment> for SegmentDocument {
    fn from(segment: &Segment) -> Self {
        let Segment { start, end, mean, variance } = *segment;
        Self { start, end, mean, variance }
    }
}

impl ChangepointAnswer {
    /// Looks for changes in `values`, which are in order of measurement.
    ///
    /// # Errors
    /// If there are fewer values than a segment needs, if values are not finite or their squares
    /// overflow or underflow, or if the penalty is not above 0.
    pub fn new(
        values: &[f64],
        better: warmup::BetterValues,
        method: Method,
    ) -> Result<Self, Refusal> {
        check_squares(values)?;
        let is_short = values.len() <= divisive::LENGTH_MAX;
        let (mut can_tell, mut changes) = (None, Vec::new());
        let (name, found, least_shift) = match method {
            Method::ByLength if is_short => {
                let options = divisive::Options::default();
                let divided = divisive::e_divisive(values, options)?;
                let places = divisive::places(values, &divided, LEVEL, options)?;
                changes = with_places(&divided, &places);
                let found = divided.segmentation;
                can_tell = Some(divided.can_tell);
                let is_flat = found.changepoints.is_empty() && divided.can_tell;
                let least = if is_flat { divisive::least_shift(values, options)? } else { None };
                ("e-divisive", found, least)
            }
            Method::ByLength => ("pelt", pelt::pelt(values, pelt::Options::default())?, None),
            Method::Penalty(penalty) => {
                let options = pelt::Options { penalty: Some(penalty), ..pelt::Options::default() };
                ("pelt", pelt::pelt(values, options)?, None)
            }
        };
        if found.segments.iter().any(|one| !(one.mean.is_finite() && one.variance.is_finite())) {
            return Err(Refused::OutOfRange.into());
        }
        let correlation = correlation_of_neighbours(values, &found.changepoints);
        let options = warmup::Options { better, ..warmup::Options::default() };
        let start = match can_tell {
            Some(false) => Err(format!(
                "values depend on their neighbours (rank correlation {}), and {} are too few to \
                 tell a change from a slow swing",
                figure(correlation),
                values.len()
            )),
            _ => warmup::classify(&found, options).map_err(|refusal| refusal.to_string()),
        };
        let class_refused = start.as_ref().err().cloned();
        let start = start.ok();
        Ok(Self {
            method: name.to_owned(),
            least_shift,
            correlation,
            can_tell,
            segments: found.segments.iter().map(Into::into).collect(),
            changepoints: found.changepoints,
            changes,
            class: start.map(|start| start.class.to_string()),
            class_refused,
            steady_from: start.and_then(|start| start.steady_from),
        })
    }

    /// The answer as text.
    #[must_use]
    pub fn text(&self) -> String {
        let begin = format!("began within, {}", percent(LEVEL));
        let heads = ["segment", "from", "to", "mean", "std deviation", &begin, "p"];
        let mut columns = Columns::headed(heads);
        for (number, segment) in (1..).zip(&self.segments) {
            let change = self.changes.iter().find(|change| change.at == segment.start);
            let place = |change: &ChangeDocument| {
                let [low, high] = change.interval;
                format!("[{low}, {high}]")
            };
            columns.row([
                format!("{number}"),
                segment.start.to_string(),
                (segment.end - 1).to_string(),
                figure(segment.mean),
                figure(segment.variance.sqrt()),
                change.map(place).unwrap_or_default(),
                change.map(|change| figure(change.p)).unwrap_or_default(),
            ]);
        }
        let changes = match self.changepoints.len() {
            0 if self.can_tell == Some(false) => "too few values to tell a change".to_owned(),
            0 => format!("no change was found{}", self.least_shift_text()),
            1 => "1 change".to_owned(),
            more => format!("{more} changes"),
        };
        let steady = match self.steady_from {
            Some(0) => String::new(),
            Some(from) => format!(" (steady from value {from})"),
            None => String::new(),
        };
        let class = match (&self.class, &self.class_refused) {
            (Some(class), _) if class == "settles" => {
                format!("class: {class}{steady}; --better lower or higher says for better or worse")
            }
            (Some(class), _) => format!("class: {class}{steady}"),
            (None, Some(why)) => format!("no class: {why}"),
            (None, None) => "no class".to_owned(),
        };
        let doubt = self.doubt().unwrap_or_default();
        format!("{changes}; values are counted from 0\n{}{class}\n{doubt}", columns.render())
    }

    /// A warning if PELT's assumption does not hold.
    fn doubt(&self) -> Option<String> {
        let values = self.segments.last()?.end as f64;
        let is_by_chance = self.correlation <= CHANCE / values.sqrt();
        (self.can_tell.is_none() && !is_by_chance).then(|| {
            format!(
                "! values depend on their neighbours (rank correlation {}), which PELT takes for \
                 changes:\n  some of these may be none\n",
                figure(self.correlation)
            )
        })
    }

    /// `; a shift of the mean by 0.5, halfway through, would be found four times in five`.
    fn least_shift_text(&self) -> String {
        self.least_shift.map_or_else(String::new, |least| {
            format!(
                "; a shift of the mean by {}, halfway through, would be found four times in five",
                figure(least)
            )
        })
    }
}

/// The changes in order of their places.
fn with_places(divided: &divisive::Divided, places: &[[usize; 2]]) -> Vec<ChangeDocument> {
    let of = |(&at, &interval): (&usize, &[usize; 2])| {
        let p = divided.changes.iter().find(|change| change.at == at)?.p;
        Some(ChangeDocument { at, p, interval, level: LEVEL })
    };
    divided.segmentation.changepoints.iter().zip(places).filter_map(of).collect()
}
