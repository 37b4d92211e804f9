//! Which repetition of an operation is shown.
//!
//! A map or a tree shows one execution, while the figures in a table are medians over all of them.
//! So that both agree as far as possible, the repetition shown is the one whose counts of
//! instructions, instruction lines and data lines are nearest to their medians. The median of a
//! single count is not enough: a repetition can execute a typical number of instructions and still
//! need a new slab page.

use footprint::touched::Figures;
use serde::Serialize;

/// One of an operation's repetitions in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Repetition {
    /// Its number, from 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl Repetition {
    /// `repetition 3 of 8`; `None` if there is only one.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        (self.of > 1).then(|| format!("repetition {} of {}", self.number, self.of))
    }
}

/// The index of the repetition nearest to the medians; of several, the last. `None` if there are no
/// repetitions.
pub(crate) fn nearest_to_medians(figures: &[Figures]) -> Option<usize> {
    let counts = [instructions, instruction_lines, data_lines];
    let medians = counts.map(|count| lower_median(figures.iter().map(count).collect()));
    let distance = |one: &Figures| -> f64 {
        let of = |(count, median): (fn(&Figures) -> u64, u64)| {
            relative(count(one).abs_diff(median), median)
        };
        counts.into_iter().zip(medians).map(of).sum()
    };
    let places = figures.iter().enumerate().rev();
    let nearest = places.min_by(|(_, one), (_, other)| distance(one).total_cmp(&distance(other)));
    nearest.map(|(place, _)| place)
}

fn instructions(one: &Figures) -> u64 {
    one.instructions
}

fn instruction_lines(one: &Figures) -> u64 {
    one.instruction_lines
}

fn data_lines(one: &Figures) -> u64 {
    one.data_lines
}

#[expect(clippy::cast_precision_loss, reason = "counts of one operation are far below 2^53")]
fn relative(distance: u64, median: u64) -> f64 {
    distance as f64 / median.max(1) as f64
}

/// The median; of an even number of counts the lower middle one, and 0 if there are none.
fn lower_median(mut counts: Vec<u64>) -> u64 {
    counts.sort_unstable();
    counts.get(counts.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(all: &[[u64; 3]]) -> Vec<Figures> {
        let one = |&[instructions, instruction_lines, data_lines]: &[u64; 3]| Figures {
            instructions,
            instruction_lines,
            data_lines,
            ..Figures::default()
        };
        all.iter().map(one).collect()
    }

    #[test]
    fn the_repetition_nearest_to_all_medians_is_taken() {
        let nearest = |all: &[[u64; 3]]| nearest_to_medians(&figures(all));
        assert_eq!(nearest(&[]), None);
        assert_eq!(nearest(&[[9, 9, 9]]), Some(0));
        assert_eq!(nearest(&[[5, 1, 1], [9, 1, 1], [7, 1, 1]]), Some(2), "instructions");
        assert_eq!(nearest(&[[5, 1, 1], [7, 1, 1], [9, 1, 1], [11, 1, 1]]), Some(1), "the lower");
        assert_eq!(nearest(&[[7, 2, 2], [7, 2, 2], [9, 2, 2]]), Some(1), "the last of equals");
        // As many instructions as the median, but lines unlike all others.
        let odd = [[100, 60, 30], [101, 40, 20], [99, 40, 20]];
        assert_eq!(nearest(&odd), Some(2));
    }

    #[test]
    fn one_repetition_alone_is_not_numbered() {
        assert_eq!(Repetition { number: 1, of: 1 }.text(), None);
        let text = Repetition { number: 3, of: 8 }.text();
        assert_eq!(text.as_deref(), Some("repetition 3 of 8"));
    }
}
