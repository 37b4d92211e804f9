//! Statements of a paper as hypotheses: a number that a run has in each block, and which values of
//! it agree with the paper.

use std::collections::BTreeMap;

use stats::dependence::{Dependence, TAKEN_FOR_DEPENDENT};
use stats::{Sample, interval, order};

use crate::margin::Margin;
use crate::statement::{NOT_MEASURED, Outcome, Statement};

/// The level of the intervals by which hypotheses are judged.
pub(crate) const LEVEL: f64 = 0.95;

/// A statement of a paper, before anything is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hypothesis {
    /// The section, table or figure that says it.
    pub(crate) source: &'static str,
    /// What it says, in our words.
    pub(crate) claim: &'static str,
    /// The paper's number.
    pub(crate) published: &'static str,
    /// Which numbers agree with it.
    pub(crate) means: Margin,
    /// How numbers are written.
    pub(crate) unit: Unit,
}

/// The unit of a hypothesis's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Shares: `48.0 %`.
    Percent,
    /// Ratios: `1.26x`.
    Times,
    /// Numbers of something.
    Count,
}

impl Unit {
    fn words(self, value: f64) -> String {
        match self {
            Self::Percent => format!("{value:.1}"),
            Self::Times | Self::Count if value.abs() < 10.0 => format!("{value:.2}"),
            Self::Times | Self::Count if value.abs() < 100.0 => format!("{value:.1}"),
            Self::Times | Self::Count => format!("{value:.0}"),
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Percent => " %",
            Self::Times => "x",
            Self::Count => "",
        }
    }
}

/// A number with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: f64,
    /// `None` with too few blocks for one.
    pub(crate) interval: Option<(f64, f64)>,
}

impl Number {
    /// The median over blocks, with the interval of order statistics.
    pub(crate) fn median(by_block: &[f64]) -> Option<Self> {
        let sample = Sample::new(by_block).ok()?;
        let (value, wider) = (sample.median(), widening(by_block));
        let reach = |end: f64| value + wider * (end - value);
        let interval = order::median_interval(&sample, LEVEL).ok();
        let interval = interval.map(|found| (reach(found.low), reach(found.high)));
        Some(Self { value, interval })
    }

    /// The mean over blocks, with an interval by Student's t.
    pub(crate) fn mean(by_block: &[f64], level: f64) -> Option<Self> {
        let sample = Sample::new(by_block).ok()?;
        let (value, wider) = (sample.mean(), widening(by_block));
        let reach = |end: f64| value + wider * (end - value);
        let interval = interval::mean_interval(&sample, level).ok();
        let interval = interval.map(|found| (reach(found.low), reach(found.high)));
        Some(Self { value, interval })
    }

    /// The geometric mean of ratios over blocks, with an interval by Student's t on logarithms.
    pub(crate) fn geometric_mean(by_block: &[f64], level: f64) -> Option<Self> {
        let sample = Sample::new(by_block).ok()?;
        let Ok(found) = interval::geometric_mean(&sample, level) else {
            return (sample.len() == 1).then(|| Self { value: by_block[0], interval: None });
        };
        let logarithms: Vec<f64> = by_block.iter().map(|one| one.ln()).collect();
        let (value, wider) = (found.mean, widening(&logarithms));
        let reach = |end: f64| value * (end / value).powf(wider);
        let interval = Some((reach(found.interval.low), reach(found.interval.high)));
        Some(Self { value, interval })
    }

    /// The geometric mean of ratios over blocks, with an interval that holds together with those of
    /// `comparisons` - 1 others (Bonferroni).
    pub(crate) fn ratio(by_block: &[f64], comparisons: usize) -> Option<Self> {
        let level = 1.0 - (1.0 - LEVEL) / comparisons.max(1) as f64;
        Self::geometric_mean(by_block, level)
    }

    /// `48.0 % [46.1, 49.9]`
    pub(crate) fn words(&self, unit: Unit) -> String {
        let value = format!("{}{}", unit.words(self.value), unit.sign());
        match self.interval {
            Some((low, high)) => format!("{value} [{}, {}]", unit.words(low), unit.words(high)),
            None => format!("{value}, without an interval: it takes more blocks"),
        }
    }
}

/// How many times as wide intervals must be because each block resembles the one before it; 1 if
/// chance alone explains that, and for fewer than six blocks, which cannot show it.
fn widening(by_block: &[f64]) -> f64 {
    let series: BTreeMap<u32, f64> = (0..).zip(by_block.iter().copied()).collect();
    Dependence::from_series(&[series], TAKEN_FOR_DEPENDENT).widening(by_block.len() as u64)
}

impl Hypothesis {
    /// Judges one number; `what` follows it in words.
    pub(crate) fn judge(&self, found: Option<Number>, what: &str) -> Statement {
        let Some(number) = found else { return self.unmeasured() };
        let measured = format!("{} {what}", number.words(self.unit)).trim_end().to_owned();
        self.statement(measured, self.outcome(&number))
    }

    /// Judges a statement about each of some numbers: it holds if it holds for all of them. Each
    /// number has a name.
    pub(crate) fn judge_all(&self, found: &[(String, Number)]) -> Statement {
        self.judge_several(found, |outcomes| match () {
            () if outcomes.contains(&Outcome::DoesNotHold) => Outcome::DoesNotHold,
            () if outcomes.contains(&Outcome::Unknown) => Outcome::Unknown,
            () => Outcome::Holds,
        })
    }

    /// Judges a statement about some of several numbers: it holds if it holds for one of them.
    /// Their intervals must hold together.
    pub(crate) fn judge_any(&self, found: &[(String, Number)]) -> Statement {
        self.judge_several(found, |outcomes| match () {
            () if outcomes.contains(&Outcome::Holds) => Outcome::Holds,
            () if outcomes.contains(&Outcome::Unknown) => Outcome::Unknown,
            () => Outcome::DoesNotHold,
        })
    }

    fn judge_several(
        &self,
        found: &[(String, Number)],
        combine: impl Fn(&[Outcome]) -> Outcome,
    ) -> Statement {
        if found.is_empty() {
            return self.unmeasured();
        }
        let outcomes: Vec<Outcome> = found.iter().map(|(_, one)| self.outcome(one)).collect();
        let words = found.iter().map(|(name, one)| format!("{name} {}", one.words(self.unit)));
        self.statement(words.collect::<Vec<_>>().join("; "), combine(&outcomes))
    }

    fn outcome(&self, number: &Number) -> Outcome {
        number.interval.map_or(Outcome::Unknown, |(low, high)| self.means.judge(low, high))
    }

    fn unmeasured(&self) -> Statement {
        self.statement(NOT_MEASURED.to_owned(), Outcome::Unknown)
    }

    fn statement(&self, measured: String, outcome: Outcome) -> Statement {
        Statement {
            source: self.source,
            claim: self.claim,
            published: self.published,
            measured,
            outcome,
            tolerance: Some(self.means.words()),
            why: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALIKE: Hypothesis = Hypothesis {
        source: "a figure",
        claim: "they are alike",
        published: "the same",
        means: Margin::between(0.9, 1.1, "a tenth"),
        unit: Unit::Times,
    };

    fn number(low: f64, high: f64) -> Number {
        Number { value: f64::midpoint(low, high), interval: Some((low, high)) }
    }

    fn named(numbers: &[Number]) -> Vec<(String, Number)> {
        numbers.iter().map(|one| ("a".to_owned(), *one)).collect()
    }

    #[test]
    fn what_is_said_of_all_needs_all_and_what_is_said_of_some_needs_one() {
        let (alike, unclear, unlike) = (number(0.95, 1.05), number(0.8, 1.0), number(1.2, 1.3));
        let all = |numbers: &[Number]| ALIKE.judge_all(&named(numbers)).outcome;
        let any = |numbers: &[Number]| ALIKE.judge_any(&named(numbers)).outcome;
        assert_eq!(all(&[alike, alike]), Outcome::Holds);
        assert_eq!(all(&[alike, unclear]), Outcome::Unknown);
        assert_eq!(all(&[unlike, unclear]), Outcome::DoesNotHold);
        assert_eq!(any(&[unlike, unclear, alike]), Outcome::Holds);
        assert_eq!(any(&[unlike, unclear]), Outcome::Unknown);
        assert_eq!(any(&[unlike, unlike]), Outcome::DoesNotHold);
        assert!(!ALIKE.judge_all(&[]).is_measured() && !ALIKE.judge_any(&[]).is_measured());
    }

    #[test]
    fn a_number_without_an_interval_decides_nothing_and_says_so() {
        let one = Number::ratio(&[1.0], 1).expect("one block");
        let statement = ALIKE.judge(Some(one), "of it");
        assert_eq!(statement.outcome, Outcome::Unknown);
        assert!(statement.measured.contains("without an interval"), "{}", statement.measured);
        assert_eq!(Number::median(&[1.0, 2.0, 3.0]).expect("three").interval, None);
        assert_eq!(Number::ratio(&[1.0, 0.0], 1), None, "no ratio of nothing");
        let of_six = Number::median(&[3.0, 5.0, 1.0, 6.0, 2.0, 4.0]).expect("six");
        assert_eq!((of_six.value, of_six.interval), (3.5, Some((1.0, 6.0))));
    }

    #[test]
    fn intervals_of_blocks_that_resemble_the_one_before_are_wider() {
        let mixed = [1.1, 1.4, 1.0, 1.5, 1.2, 1.3];
        let in_order = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5];
        let width = |found: Option<Number>| {
            let (low, high) = found.and_then(|one| one.interval).expect("six blocks");
            high - low
        };
        let is_wider = |found: fn(&[f64]) -> Option<Number>| {
            width(found(&in_order)) > 1.5 * width(found(&mixed))
        };
        assert!(is_wider(Number::median));
        assert!(is_wider(|values| Number::mean(values, LEVEL)));
        assert!(is_wider(|values| Number::geometric_mean(values, LEVEL)));
    }

    #[test]
    fn intervals_that_must_hold_together_are_wider() {
        let by_block = [0.9, 1.0, 1.1, 1.05];
        let width = |comparisons| {
            let found = Number::ratio(&by_block, comparisons).and_then(|one| one.interval);
            found.map(|(low, high)| (high / low).ln()).expect("four blocks")
        };
        assert!(width(3) > 1.2 * width(1), "{} {}", width(3), width(1));
    }

    #[test]
    fn numbers_are_written_with_their_interval_and_unit() {
        let number = Number { value: 48.04, interval: Some((46.0, 50.0)) };
        assert_eq!(number.words(Unit::Percent), "48.0 % [46.0, 50.0]");
        let number = Number { value: 1.263, interval: Some((1.1, 1.5)) };
        assert_eq!(number.words(Unit::Times), "1.26x [1.10, 1.50]");
        assert_eq!(number.words(Unit::Count), "1.26 [1.10, 1.50]");
    }
}
