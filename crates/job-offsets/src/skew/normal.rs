//! About normal: the mean of 12 uniform numbers, and one more that spreads it.

use super::Spread;
use super::scatter::Scatter;
use crate::generator::{Tausworthe88, low_bits, to_f64, to_u64};

/// How many uniform numbers are averaged.
const TERMS: u64 = 12;

/// Values that are about normally distributed.
#[derive(Clone, Debug)]
pub struct Normal {
    generator: Tausworthe88,
    scatter: Scatter,
    range: u64,
    deviation: u32,
}

impl Normal {
    /// Values from 0 to less than `range`.
    #[must_use]
    pub fn new(
        range: u64,
        deviation_percent: f64,
        center: Option<f64>,
        seed: u32,
        spread: Spread,
    ) -> Self {
        let asked = low_bits(to_u64((to_f64(range) * deviation_percent / 100.0).ceil()));
        // A shift to the left comes round from below in 32 bits, as in fio.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "from minus half a range to half of it"
        )]
        let to_shift = |center: f64| (to_f64(range) * (center - 0.5)) as i64;
        let shift =
            center.map_or(0, |center| u64::from(low_bits(to_shift(center).cast_unsigned())));
        Self {
            generator: Tausworthe88::new(seed),
            scatter: Scatter::new(range, shift, spread),
            range,
            deviation: low_bits(u64::from(asked).min(range / 2)),
        }
    }

    /// The next value.
    pub fn draw(&mut self) -> u64 {
        let numbers = self.range + 1;
        let sum: u64 = (0..TERMS).map(|_| u64::from(self.generator.draw()) % numbers).sum();
        let mean = sum.div_ceil(TERMS);
        let moved = mean.wrapping_add_signed(self.deviate(mean));
        self.scatter.value(moved)
    }

    /// How far a mean is moved: so far that it stays in the range.
    fn deviate(&mut self, mean: u64) -> i64 {
        if self.deviation == 0 {
            return 0;
        }
        #[expect(clippy::cast_possible_truncation, reason = "less than the deviation")]
        let random = (f64::from(self.deviation) * self.generator.share()) as i64;
        let mut by = random - i64::from(self.deviation / 2);
        while by != 0 && mean.wrapping_add_signed(by) >= self.range {
            by /= 2;
        }
        by
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_values_are_in_the_middle() {
        let mut values = Normal::new(1000, 0.0, None, 3, Spread::SideBySide);
        let near = (0..100_000).filter(|_| (400..600).contains(&values.draw())).count();
        // The mean of 12 uniform numbers has a standard deviation of a twelfth of the range: 1.2 of
        // them on each side.
        assert!((75_000..79_000).contains(&near), "{near}");
    }

    #[test]
    fn short_ranges_end() {
        for range in 1..5 {
            let mut values = Normal::new(range, 90.0, Some(0.1), 3, Spread::Hashed);
            assert!((0..10_000).all(|_| values.draw() < range));
        }
    }
}
