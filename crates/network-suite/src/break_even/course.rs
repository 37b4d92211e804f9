//! The course of one search: the same when it is measured and when its journal is read later.

use stats::Refusal;
use stats::crossing::{Crossing, CrossingPosition, Options};

use super::{RATES, WIDTH};

/// A search for the rate at which a hot cache takes as long as no cache.
pub(super) struct Course {
    crossing: Crossing,
    /// Size of all files, in bits.
    bits: f64,
    /// How much longer, in seconds, a hot cache took at the highest rate, for each measurement
    /// there.
    longer_s: Vec<f64>,
}

impl Course {
    pub(super) fn new(level: f64, bytes: u64) -> Result<Self, Refusal> {
        let (low, high) = RATES;
        let crossing = Crossing::new(Options { low, high, width: WIDTH, level })?;
        Ok(Self { crossing, bits: bytes as f64 * 8.0, longer_s: Vec::new() })
    }

    /// The rate to measure next, in bits per second; `None` at the end.
    pub(super) fn ask(&self) -> Option<f64> {
        self.crossing.ask()
    }

    /// Records how long both took, in nanoseconds, at the rate that was asked for.
    pub(super) fn tell(&mut self, none_ns: f64, hot_ns: f64) -> Result<(), Refusal> {
        if self.ask() == Some(RATES.1) {
            self.longer_s.push((hot_ns - none_ns) / 1e9);
        }
        self.crossing.tell((none_ns / hot_ns).ln())?;
        // At any other rate, reading without a cache takes longer by the time of the files on the
        // link.
        let longer_s = self.longer_s.iter().sum::<f64>() / self.longer_s.len().max(1) as f64;
        self.crossing.expect(self.bits / longer_s);
        Ok(())
    }

    /// The rates between which the break-even lies, as far as known. If it is beyond the range,
    /// both are the end of the range on that side.
    pub(super) fn rates(&self) -> Option<(f64, f64)> {
        let (least, most) = RATES;
        match self.place() {
            CrossingPosition::Between(low, high) => Some((low, high)),
            CrossingPosition::Above(_) => Some((most, most)),
            CrossingPosition::From(low) => Some((low, most)),
            CrossingPosition::Below(_) => Some((least, least)),
            CrossingPosition::Unknown => None,
        }
    }

    pub(super) fn place(&self) -> CrossingPosition {
        self.crossing.place()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_at_which_both_take_as_long_is_found_soon() {
        let bytes = 2 << 20;
        let mut course = Course::new(0.95, bytes).unwrap();
        let mut probes = 0;
        while let Some(rate) = course.ask() {
            // Apart from the link, a cache costs half a second more than reading over the network.
            course.tell(0.4e9 + bytes as f64 * 8e9 / rate, 0.9e9).unwrap();
            probes += 1;
        }
        let CrossingPosition::Between(low, high) = course.place() else {
            panic!("{:?}", course.place())
        };
        let rate = bytes as f64 * 8.0 / 0.5;
        assert!(low < rate && rate < high && high / low < 1.21, "{low} {high}");
        assert!(probes < 10, "{probes}");
    }
}
