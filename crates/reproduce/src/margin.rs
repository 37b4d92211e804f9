//! What the words of a statement mean in numbers.

use crate::statement::Outcome;

/// The numbers that agree with what a paper says, and why just these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Margin {
    least: f64,
    most: f64,
    /// Whether the numbers that agree lie outside of these two.
    is_outside: bool,
    reason: &'static str,
}

impl Margin {
    /// Numbers below this one agree.
    pub(crate) const fn below(most: f64, reason: &'static str) -> Self {
        Self { least: f64::NEG_INFINITY, most, is_outside: false, reason }
    }

    /// Numbers above this one agree.
    pub(crate) const fn above(least: f64, reason: &'static str) -> Self {
        Self { least, most: f64::INFINITY, is_outside: false, reason }
    }

    /// Numbers between these agree.
    pub(crate) const fn between(least: f64, most: f64, reason: &'static str) -> Self {
        Self { least, most, is_outside: false, reason }
    }

    /// Numbers below the first or above the second agree.
    pub(crate) const fn outside(least: f64, most: f64, reason: &'static str) -> Self {
        Self { least, most, is_outside: true, reason }
    }

    /// Whether a statement holds: if all of an interval agrees. It does not hold if none of it
    /// does.
    pub(crate) fn judge(&self, low: f64, high: f64) -> Outcome {
        let is_between = low > self.least && high < self.most;
        let is_beyond = high <= self.least || low >= self.most;
        match self.is_outside {
            true => Outcome::of_interval(is_beyond, is_between),
            false => Outcome::of_interval(is_between, is_beyond),
        }
    }

    /// In words.
    pub(crate) fn words(&self) -> String {
        let Self { least, most, is_outside, reason } = self;
        let numbers = match (least.is_finite(), most.is_finite()) {
            (false, _) => format!("below {most}"),
            (_, false) => format!("above {least}"),
            _ if *is_outside => format!("below {least} or above {most}"),
            _ => format!("{least} to {most}"),
        };
        format!("{numbers} ({reason})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_holds_only_where_the_whole_interval_agrees() {
        let slower = Margin::below(0.98, "less does not count");
        assert_eq!(slower.judge(0.7, 0.9), Outcome::Holds);
        assert_eq!(slower.judge(0.9, 1.1), Outcome::Unknown);
        assert_eq!(slower.judge(0.985, 0.995), Outcome::DoesNotHold, "too little to count");
        let faster = Margin::above(1.02, "less does not count");
        assert_eq!(faster.judge(1.03, 1.1), Outcome::Holds);
        assert_eq!(faster.judge(1.01, 1.1), Outcome::Unknown);
        assert_eq!(faster.judge(0.9, 1.01), Outcome::DoesNotHold);
        let equal = Margin::between(0.9, 1.1, "as the paper");
        assert_eq!(equal.judge(0.95, 1.05), Outcome::Holds);
        assert_eq!(equal.judge(0.85, 1.05), Outcome::Unknown);
        assert_eq!(equal.judge(0.5, 0.6), Outcome::DoesNotHold);
        assert_eq!(equal.judge(1.2, 1.3), Outcome::DoesNotHold);
        let apart = Margin::outside(0.9, 1.1, "a tenth");
        assert_eq!(apart.judge(1.2, 1.3), Outcome::Holds);
        assert_eq!(apart.judge(0.5, 0.8), Outcome::Holds);
        assert_eq!(apart.judge(1.05, 1.3), Outcome::Unknown);
        assert_eq!(apart.judge(0.95, 1.05), Outcome::DoesNotHold);
    }

    #[test]
    fn its_words_have_the_numbers_and_the_reason() {
        assert_eq!(Margin::below(0.98, "why").words(), "below 0.98 (why)");
        assert_eq!(Margin::above(1.1, "why").words(), "above 1.1 (why)");
        assert_eq!(Margin::between(0.4, 0.6, "why").words(), "0.4 to 0.6 (why)");
        assert_eq!(Margin::outside(0.9, 1.1, "why").words(), "below 0.9 or above 1.1 (why)");
    }
}
