//! Pareto's distribution: the self-similar one of Gray et al., "Quickly Generating Billion-Record
//! Synthetic Databases", SIGMOD 1994, section 4.3.

use super::Spread;
use super::scatter::{self, Scatter};
use crate::generator::{Tausworthe88, to_f64, to_u64};

/// Values of which a share of h gets 1 - h of all accesses, and of those in turn.
#[derive(Clone, Debug)]
pub struct Pareto {
    generator: Tausworthe88,
    scatter: Scatter,
    highest: f64,
    power: f64,
}

impl Pareto {
    /// Values from 0 to less than `range`.
    #[must_use]
    pub fn new(range: u64, h: f64, center: Option<f64>, seed: u32, spread: Spread) -> Self {
        let mut generator = Tausworthe88::new(seed);
        let shift = scatter::shift(range, center, &mut generator);
        Self {
            generator,
            scatter: Scatter::new(range, shift, spread),
            highest: to_f64(range.saturating_sub(1)),
            power: h.ln() / (1.0 - h).ln(),
        }
    }

    /// The next value.
    pub fn draw(&mut self) -> u64 {
        let uniform = f64::from(self.generator.draw()) / f64::from(u32::MAX);
        self.scatter.value(to_u64(self.highest * uniform.powf(self.power)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_of_the_values_gets_four_fifths_of_the_draws() {
        let mut values = Pareto::new(1000, 0.2, Some(0.0), 3, Spread::SideBySide);
        let low = (0..100_000).filter(|_| values.draw() < 200).count();
        assert!((79_000..81_000).contains(&low), "{low}");
    }
}
