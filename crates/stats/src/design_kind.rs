//! The design of an experiment: how many factors, in which combinations, observed how often.

use std::fmt;

/// How often each combination of levels was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replications {
    /// All equally often; once is "without replications".
    Equal(u64),
    /// Some more often than others.
    Unequal {
        /// The smallest number of observations of one combination.
        least: u64,
        /// The largest number of observations of one combination.
        most: u64,
    },
}

/// The design of an experiment (Jain, "The Art of Computer Systems Performance Analysis", section
/// 16.3 and chapters 17 to 23).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DesignKind {
    /// Every combination of the levels of all factors.
    FullFactorial {
        /// The number of factors.
        factors: usize,
        /// How often each combination was observed.
        replications: Replications,
    },
    /// Some combinations of the levels of all factors; the others were never observed.
    Incomplete {
        /// The number of factors.
        factors: usize,
        /// How often each observed combination was observed.
        replications: Replications,
        /// How many combinations were observed.
        observed: usize,
        /// How many combinations there are.
        of: u128,
    },
}

impl fmt::Display for DesignKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::FullFactorial { factors, replications } => {
                write!(out, "{}-factor full factorial {replications}", in_words(factors))?;
                if factors > 1 && matches!(replications, Replications::Unequal { .. }) {
                    write!(out, ", type II sums of squares")?;
                }
                Ok(())
            }
            Self::Incomplete { factors, replications, observed, of } => {
                let number = in_words(factors);
                write!(
                    out,
                    "{number}-factor factorial {replications}, {observed} of {of} combinations \
                     observed, type II sums of squares"
                )
            }
        }
    }
}

impl fmt::Display for Replications {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Equal(1) => write!(out, "without replications"),
            Self::Equal(times) => write!(out, "with {times} replications"),
            Self::Unequal { least, most } => write!(out, "with {least} to {most} replications"),
        }
    }
}

fn in_words(number: usize) -> String {
    const WORDS: [&str; 9] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    match number.checked_sub(1).and_then(|index| WORDS.get(index)) {
        Some(word) => (*word).to_owned(),
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn designs_say_what_they_are() {
        let full =
            |factors, replications| DesignKind::FullFactorial { factors, replications }.to_string();
        let once = Replications::Equal(1);
        assert_eq!(full(2, once), "two-factor full factorial without replications");
        assert_eq!(
            full(1, Replications::Equal(5)),
            "one-factor full factorial with 5 replications"
        );
        assert_eq!(
            full(2, Replications::Unequal { least: 1, most: 4 }),
            "two-factor full factorial with 1 to 4 replications, type II sums of squares"
        );
        assert_eq!(full(12, once), "12-factor full factorial without replications");
    }
}
