//! Whether a series has become steady.

use serde::Serialize;
use stats::Refusal;
use stats::steady_state::{Rule, steady_state};

use textual::{figure, paragraph};

/// What the rule of the SNIA says of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SteadyStateAnswer {
    /// Whether some window meets the rule.
    pub steady: bool,
    /// Index, from 0, of the first value of the first window that does.
    pub from: Option<usize>,
    /// The rule in words.
    pub rule: String,
    /// Largest less smallest value of that window (of the last one, where none is steady), in
    /// percent of its mean.
    pub range_percent: f64,
    /// Rise or fall over that window of the line fitted to it, in percent of its mean.
    pub excursion_percent: f64,
}

impl SteadyStateAnswer {
    /// Looks for the first steady window of `values`, one for each round.
    ///
    /// # Errors
    /// Fewer values than a window has rounds, and values that are not finite.
    pub fn new(values: &[f64], rule: Rule) -> Result<Self, Refusal> {
        let found = steady_state(values, rule)?;
        let rule = format!(
            "over {} rounds, range at most {} % and fitted excursion at most {} % of the mean \
             (SNIA Solid State Storage Performance Test Specification)",
            rule.rounds, rule.range_percent_max, rule.excursion_percent_max
        );
        Ok(Self {
            steady: found.steady,
            from: found.from,
            rule,
            range_percent: found.range_percent,
            excursion_percent: found.excursion_percent,
        })
    }

    /// The text for people, at most `width` columns.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let what = match self.from {
            Some(from) if self.steady => format!("steady from value {from} on (counted from 0)"),
            _ => "not steady".to_owned(),
        };
        let rule = paragraph("  rule: ", "    ", &self.rule, width);
        format!(
            "{what}\n{rule}  range {} %, fitted excursion {} %\n",
            figure(self.range_percent),
            figure(self.excursion_percent)
        )
    }
}
