//! Whether something got worse by more than a limit; and, if that was not detected, whether it
//! would have been.
//!
//! A comparison is conclusive if its whole interval is on one side of the limit, and open if the
//! limit is within the interval. A difference between single runs says nothing about other runs:
//! runs have effects of their own, and one run per side does not show how large these are.

use record::Better;
use stats::planning::power::{least_detectable_of_runs, runs_needed};
use textual::{percent, plural};

use super::comparisons::POWER;
use super::{CompareDocument, Comparison, RunVerdict};

/// Largest number of runs per side that is considered.
const RUNS_MAX: u64 = 100;
/// Number of runs per side that is suggested while it is unknown how much runs differ.
const RUNS_FIRST: u64 = 4;

/// What the comparisons say about a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct GateAnswer<'a> {
    /// Number of comparisons of metrics that can get worse.
    pub compared: usize,
    /// Those that got worse by more than the limit, the worst first.
    pub worse: Vec<&'a Comparison>,
    /// Those that are inconclusive, starting with what could be worst.
    pub open: Vec<&'a Comparison>,
    limit: f64,
    level: f64,
}

impl Comparison {
    /// The interval of how much worse the second is than the first; `None` if there is no interval,
    /// or neither direction is better.
    pub(super) fn worsening(&self) -> Option<(f64, f64)> {
        let interval = self.interval.as_ref()?;
        match self.better {
            Better::Lower => Some((interval.low, interval.high)),
            Better::Higher => Some((1.0 / interval.high, 1.0 / interval.low)),
            Better::Neither => None,
        }
    }

    /// Whether it has one run per side, and other runs may not reproduce its counts or times.
    fn is_of_single_runs(&self) -> bool {
        let is_within_them = match self.verdict {
            RunVerdict::DiffersBetweenTheseRuns
            | RunVerdict::SameInTheseRuns
            | RunVerdict::NotToldApart
            | RunVerdict::NotEnoughData => true,
            // These cannot differ between runs.
            RunVerdict::Real
            | RunVerdict::RealButSmall
            | RunVerdict::RealSizeUnknown
            | RunVerdict::Same => false,
        };
        !self.paired && self.first_runs.max(self.second_runs) == 1 && is_within_them
    }
}

impl CompareDocument {
    /// Whether the second run or side is worse by more than `limit`, according to the comparisons;
    /// 0.05 is 5 %.
    #[must_use]
    pub fn gate(&self, limit: f64) -> GateAnswer<'_> {
        let can_get_worse = |one: &&Comparison| one.better != Better::Neither;
        let all: Vec<&Comparison> = self.comparisons.iter().filter(can_get_worse).collect();
        let mut worse: Vec<(f64, &Comparison)> = Vec::new();
        let mut open: Vec<(f64, &Comparison)> = Vec::new();
        for &one in &all {
            match one.worsening() {
                Some((_, high)) if one.is_of_single_runs() => open.push((high, one)),
                Some((low, _)) if low > 1.0 + limit && one.verdict.is_different() => {
                    worse.push((low, one));
                }
                Some((_, high)) if high <= 1.0 + limit => {}
                Some((_, high)) => open.push((high, one)),
                None => open.push((f64::INFINITY, one)),
            }
        }
        GateAnswer {
            compared: all.len(),
            worse: worst_first(worse),
            open: worst_first(open),
            limit,
            level: self.level,
        }
    }
}

fn worst_first(mut found: Vec<(f64, &Comparison)>) -> Vec<&Comparison> {
    found.sort_by(|left, right| right.0.total_cmp(&left.0));
    found.into_iter().map(|(_, one)| one).collect()
}

impl GateAnswer<'_> {
    /// `2 comparisons worse by more than 5 %; the worst is ...`, if any is.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let worst = self.worse.first()?;
        Some(format!(
            "{} worse by more than {}; the worst is {}, {} in {}",
            plural(self.worse.len(), "comparison"),
            self.limit_in_words(),
            worst.title,
            worst.second,
            worst.second_run
        ))
    }

    /// Why it is not known whether something got worse, and how to find out; `None` if it is known.
    #[must_use]
    pub fn blindness(&self) -> Option<String> {
        let first = self.open.first()?;
        let (open, all) = (self.open.len(), plural(self.compared, "comparison"));
        if first.is_of_single_runs() {
            return Some(format!(
                "{open} of {all} have one run a side, which cannot tell a change from what \
                 differs from run to run anyway: measure each side with --runs {RUNS_FIRST}, and \
                 compare the two directories"
            ));
        }
        let limit = self.limit_in_words();
        let why = match first.worsening() {
            Some((_, high)) => format!("up to {high:.2}x"),
            None => "too little data".to_owned(),
        };
        let (title, target) = (&first.title, &first.second);
        Some(format!(
            "{open} of {all} do not rule out that something got worse by more than {limit} \
             ({title}, {target}: {why}); {}",
            self.remedy()
        ))
    }

    fn remedy(&self) -> String {
        let has_too_little = |one: &&&Comparison| one.least_detectable_ratio.is_none();
        if 2 * self.open.iter().filter(has_too_little).count() > self.open.len() {
            return "most of them have too little data: measure more blocks, or while nothing else \
                    runs"
                .to_owned();
        }
        let mut needed: Vec<Option<u64>> =
            self.open.iter().map(|one| self.runs_needed(one)).collect();
        // Comparisons for which no number of runs is enough come last.
        needed.sort_by_key(|runs| runs.unwrap_or(u64::MAX));
        let (half, last) = (needed[needed.len() / 2], needed[needed.len() - 1]);
        match (half, last) {
            (Some(half), Some(all)) if half < all => format!(
                "{half} runs a side (--runs) would show it four times in five in half of them, \
                 {all} in all"
            ),
            (_, Some(all)) => {
                format!("{all} runs a side (--runs) would show it four times in five")
            }
            (Some(half), None) => format!(
                "{half} runs a side (--runs) would show it four times in five in half of them"
            ),
            (None, None) => format!(
                "even {RUNS_MAX} runs a side would not show so little in most of them: allow more, \
                 or gate another metric, such as p50:5%"
            ),
        }
    }

    /// Number of runs per side with which a change as large as the limit would be detected four
    /// times in five, if they vary as much as these.
    fn runs_needed(&self, one: &Comparison) -> Option<u64> {
        let shown = least_detectable_of_runs([one.first_runs, one.second_runs], self.level, POWER);
        let deviation = one.least_detectable_ratio?.ln() / shown.ok()?;
        runs_needed(self.limit.ln_1p() / deviation, self.level, POWER, RUNS_MAX).ok().flatten()
    }

    fn limit_in_words(&self) -> String {
        percent(self.limit)
    }
}
