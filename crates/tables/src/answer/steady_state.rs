//! Whether a series has reached a steady state.

use serde::Serialize;
use stats::Refusal;
use stats::steady_state::{Rule, steady_state};

use textual::{figure, paragraph};

/// The result of applying SNIA's rule to a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SteadyStateAnswer {
    /// Whether some window meets the rule.
    pub steady: bool,
    /// Index, from 0, of the first value of the first window that does.
    pub from: Option<usize>,
    /// The rule in words.
    pub rule: String,
    /// Largest minus smallest value of that window (of the last one, if none is steady), in percent
    /// of its mean.
    pub range_percent: f64,
    /// Rise or fall of a line fitted to that window, in percent of its mean.
    pub excursion_percent: f64,
}

impl SteadyStateAnswer {
    /// Looks for the first steady window of `values`, which are one per round.
    ///
    /// # Errors
    /// If there are fewer values than rounds in a window, or values are not finite.
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

    /// The answer as text, at most `width` columns wide.
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
