//! A logarithmic axis of ratios in characters, and what is drawn along it.

use crate::terminal::grid::CostRatio;

/// Minimum distance between two ticks, and the gap between their labels.
const TICK_ROOM: usize = 7;
const TICK_GAP: usize = 2;
/// How far the axis extends beyond the largest and the smallest ratio, at most. A wider interval is
/// cut off there, or nothing else could be seen.
const MARGIN_MAX: f64 = 2.0;
/// Minimum ratio of its ends, so that small differences do not look large.
const SPAN_MIN: f64 = 1.2;

/// Steps between ticks, for a range of less than 2.
const STEPS: [f64; 5] = [0.02, 0.05, 0.1, 0.2, 0.5];
/// Factors between ticks, for a wider range.
const FACTORS: [f64; 6] = [2.0, 4.0, 10.0, 100.0, 1e3, 1e6];

/// The axis: the values of its first and its last character, as logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    columns: usize,
}

impl Axis {
    /// An axis of `columns` characters, at least two, that includes 1 and all ratios.
    pub(super) fn over(spans: &[CostRatio], columns: usize) -> Self {
        let fold = |of: fn(&CostRatio) -> f64, pick: fn(f64, f64) -> f64| {
            spans.iter().map(of).fold(1.0, pick)
        };
        let least = fold(|span| span.ratio, f64::min) / MARGIN_MAX;
        let most = fold(|span| span.ratio, f64::max) * MARGIN_MAX;
        let low = fold(|span| span.low, f64::min).max(least);
        let high = fold(|span| span.high, f64::max).min(most).max(low * SPAN_MIN);
        Self { low: low.ln(), high: high.ln(), columns: columns.max(2) }
    }

    /// The column of a ratio, which may be beyond the ends.
    #[expect(clippy::cast_possible_truncation, reason = "logarithms of numbers are small")]
    fn place(&self, ratio: f64) -> i64 {
        let share = (ratio.ln() - self.low) / (self.high - self.low);
        (share * (self.columns - 1) as f64).round() as i64
    }

    fn column(&self, ratio: f64) -> Option<usize> {
        usize::try_from(self.place(ratio)).ok().filter(|column| *column < self.columns)
    }

    /// The labels of the ticks, each beginning in its tick's column: `1x      2x      4x`. Those
    /// that would end beyond `room` characters are left out.
    pub(super) fn ticks(&self, room: usize) -> String {
        let mut line = String::new();
        for tick in self.tick_values() {
            let (Some(column), label) = (self.column(tick), label(tick)) else { continue };
            if column + label.len() <= room {
                line = format!("{line:<column$}{label}");
            }
        }
        line
    }

    /// Ticks in round steps or, for a wide range, round factors: as many as there is room for.
    fn tick_values(&self) -> Vec<f64> {
        let has_room = |ticks: &Vec<f64>| {
            ticks.windows(2).all(|pair| {
                let room = usize::try_from(self.place(pair[1]) - self.place(pair[0]));
                room.is_ok_and(|room| room >= TICK_ROOM.max(label(pair[0]).len() + TICK_GAP))
            })
        };
        let is_wide = self.high.exp() >= 2.0;
        let steps = STEPS.into_iter().filter(|_| !is_wide).map(|step| self.in_steps(step));
        let factors = FACTORS.into_iter().map(|factor| self.in_factors(factor));
        steps.chain(factors).find(has_room).unwrap_or_else(|| vec![1.0])
    }

    fn in_steps(&self, step: f64) -> Vec<f64> {
        let first = -((1.0 - self.low.exp()) / step + 1e-9).floor();
        let ticks = (0..).map(|index| 1.0 + step * (first + f64::from(index)));
        ticks.take_while(|tick| *tick <= self.high.exp() + 1e-9).collect()
    }

    fn in_factors(&self, factor: f64) -> Vec<f64> {
        let first = (self.low / factor.ln() - 1e-9).ceil();
        let ticks = (0..).map(|index| factor.powf(first + f64::from(index)));
        ticks.take_while(|tick| tick.ln() <= self.high + 1e-9).collect()
    }

    /// `:` at 1, and over it the span: `|--o---|`, with `<` or `>` where the interval is cut off.
    /// If an interval does not extend beyond the characters next to the mark, only the mark is
    /// drawn.
    pub(super) fn draw(&self, span: CostRatio, mark: char) -> String {
        let mut line = vec![' '; self.columns];
        if let Some(one) = self.column(1.0) {
            line[one] = ':';
        }
        let last = self.columns as i64 - 1;
        let [low, middle, high] = [span.low, span.ratio, span.high].map(|end| self.place(end));
        let within = |place: i64| usize::try_from(place.clamp(0, last)).unwrap_or_default();
        if low < middle - 1 || high > middle + 1 {
            line[within(low)..=within(high)].fill('-');
            line[within(low)] = if low < 0 { '<' } else { '|' };
            line[within(high)] = if high > last { '>' } else { '|' };
        }
        line[within(middle)] = mark;
        line.into_iter().collect()
    }
}

/// `1x`, `1.25x`, `0.5x`.
fn label(tick: f64) -> String {
    let text = format!("{tick:.3}");
    format!("{}x", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(low: f64, ratio: f64, high: f64) -> CostRatio {
        CostRatio { ratio, low, high }
    }

    #[test]
    fn equal_factors_are_equal_lengths() {
        let axis = Axis::over(&[span(1.9, 2.0, 8.0), span(3.9, 4.0, 8.0)], 31);
        assert_eq!(axis.ticks(99), "1x        2x        4x        8x");
        assert_eq!(axis.draw(span(2.0, 4.0, 8.0), 'o'), ":         |---------o---------|");
        assert_eq!(axis.draw(span(1.0, 1.0, 1.0), 'o').trim_end(), "o");
    }

    #[test]
    fn what_reaches_below_1_can_be_seen_to() {
        let axis = Axis::over(&[span(0.5, 1.0, 2.0)], 21);
        assert_eq!(axis.ticks(99), "0.5x      1x        2x");
        assert_eq!(axis.draw(span(0.5, 1.0, 2.0), '?'), "|---------?---------|");
        assert_eq!(axis.draw(span(1.4, 1.5, 1.6), 'o').trim_end(), "          :     o");
    }

    #[test]
    fn an_interval_much_wider_than_the_ratios_are_far_apart_is_cut_off() {
        let wide = span(0.001, 1.0, 1000.0);
        let axis = Axis::over(&[wide], 21);
        assert_eq!(axis.draw(wide, '?'), "<---------?--------->");
    }

    #[test]
    fn small_differences_have_ticks_in_round_steps() {
        let axis = Axis::over(&[span(0.93, 1.0, 1.15)], 41);
        assert_eq!(axis.ticks(99), "    0.95x     1x       1.05x    1.1x    1.15x");
        let axis = Axis::over(&[span(1.0, 1.0, 1.0)], 20);
        assert_eq!(axis.ticks(99), "1x        1.1x     1.2x", "nothing looks large");
    }

    #[test]
    fn a_tick_without_room_for_its_label_is_left_out() {
        let axis = Axis::over(&[span(4.0, 4.0, 4.0)], 21);
        assert_eq!(axis.ticks(22), "1x        2x        4x");
        assert_eq!(axis.ticks(21), "1x        2x");
    }

    #[test]
    fn ticks_never_run_into_each_other_and_always_hold_1() {
        for columns in 2..90 {
            for high in [1.0, 1.01, 1.3, 1.99, 2.0, 3.7, 40.0, 1e5, 1e9] {
                let axis = Axis::over(&[span(0.98, 1.0, 1.02), span(high, high, high)], columns);
                let ticks = axis.ticks(99);
                let labels: Vec<&str> = ticks.split_whitespace().collect();
                assert!(labels.contains(&"1x"), "{columns} {high} {ticks}");
                assert!(labels.iter().all(|label| label.matches('x').count() == 1), "{ticks}");
                let ascends = labels.is_sorted_by_key(|label| {
                    label.trim_end_matches('x').parse::<f64>().unwrap().to_bits()
                });
                assert!(ascends, "{ticks}");
            }
        }
    }
}
