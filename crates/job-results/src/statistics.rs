//! Minimum, maximum, mean and standard deviation of samples that are not kept.
//!
//! Mean and squares are updated with every sample after B. P. Welford, "Note on a method for
//! calculating corrected sums of squares and products", Technometrics 4 (1962), equations for m and
//! S, and merged after T. F. Chan, G. H. Golub and R. J. `LeVeque`, "Updating formulae and a
//! pairwise algorithm for computing sample variances", Stanford STAN-CS-79-773 (1979), equation
//! 2.1.

/// What is kept of samples: enough for minimum, maximum, mean and standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// How many samples there were.
    pub samples: u64,
    /// The smallest; meaningless without samples.
    pub min: u64,
    /// The largest; meaningless without samples.
    pub max: u64,
    /// Their mean.
    pub mean: f64,
    /// The sum of their squared differences from the mean.
    pub squares: f64,
}

impl Default for Moments {
    fn default() -> Self {
        Self { samples: 0, min: u64::MAX, max: 0, mean: 0.0, squares: 0.0 }
    }
}

impl Moments {
    /// What samples with this mean and standard deviation leave behind.
    pub fn with_deviation(samples: u64, (min, max): (u64, u64), mean: f64, deviation: f64) -> Self {
        if samples == 0 {
            return Self::default();
        }
        let squares = deviation * deviation * (samples as f64 - 1.0);
        Self { samples, min, max, mean, squares }
    }

    /// Takes in a sample.
    #[inline]
    pub fn add(&mut self, sample: u64) {
        self.max = self.max.max(sample);
        self.min = self.min.min(sample);
        let value = sample as f64;
        let delta = value - self.mean;
        self.samples += 1;
        self.mean += delta / self.samples as f64;
        self.squares += delta * (value - self.mean);
    }

    /// The standard deviation of the population that the samples are from; 0 for a single one.
    pub fn deviation(&self) -> f64 {
        if self.samples > 1 { (self.squares / (self.samples as f64 - 1.0)).sqrt() } else { 0.0 }
    }

    /// Itself if there were samples.
    pub fn known(&self) -> Option<&Self> {
        (self.samples > 0).then_some(self)
    }

    /// As if all samples had been taken by one: for latencies.
    fn pool(&mut self, other: &Self) {
        if other.samples == 0 {
            return;
        }
        if self.samples == 0 {
            *self = *other;
            return;
        }
        let (ours, theirs) = (self.samples as f64, other.samples as f64);
        let delta = other.mean - self.mean;
        let both = ours + theirs;
        self.squares += other.squares + delta * delta * (ours * theirs) / both;
        self.mean = (other.mean * theirs + self.mean * ours) / both;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.samples += other.samples;
    }

    /// As if the rates of jobs that ran side by side were one rate.
    fn add_up(&mut self, other: &Self) {
        if other.samples == 0 {
            return;
        }
        if self.samples == 0 {
            *self = *other;
            return;
        }
        self.samples += other.samples;
        self.min += other.min;
        self.max += other.max;
        self.mean += other.mean;
        self.squares += other.squares;
    }
}

/// Statistics of latencies, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatencyStatistics {
    /// What is kept of the samples.
    pub moments: Moments,
}

impl LatencyStatistics {
    /// Takes in a latency.
    #[inline]
    pub fn add(&mut self, latency_ns: u64) {
        self.moments.add(latency_ns);
    }

    /// Takes in the latencies of another job.
    pub fn merge(&mut self, other: &Self) {
        self.moments.pool(&other.moments);
    }
}

/// Statistics of a rate that is sampled every so often: of the bandwidth in KiB/s, of operations in
/// 1/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampledStatistics {
    /// What is kept of the samples.
    pub moments: Moments,
}

impl SampledStatistics {
    /// Takes in a sample of the rate.
    #[inline]
    pub fn add(&mut self, rate: u64) {
        self.moments.add(rate);
    }

    /// Takes in the rate of another job that ran at the same time: minima, maxima and means are
    /// added, as fio does.
    pub fn merge(&mut self, other: &Self) {
        self.moments.add_up(&other.moments);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(samples: &[u64]) -> LatencyStatistics {
        let mut statistics = LatencyStatistics::default();
        samples.iter().for_each(|sample| statistics.add(*sample));
        statistics
    }

    #[test]
    fn mean_and_deviation_are_those_of_the_textbook() {
        let moments = of(&[2, 4, 4, 4, 5, 5, 7, 9]).moments;
        assert_eq!((moments.min, moments.max, moments.samples), (2, 9, 8));
        assert!((moments.mean - 5.0).abs() < 1e-12);
        assert!((moments.deviation() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(of(&[7]).moments.deviation(), 0.0);
        assert_eq!(of(&[]).moments.known(), None);
    }

    #[test]
    fn merged_latencies_are_as_if_taken_together() {
        let (mut first, second) = (of(&[1, 2, 30]), of(&[400, 5, 6, 7]));
        first.merge(&second);
        first.merge(&of(&[]));
        let together = of(&[1, 2, 30, 400, 5, 6, 7]).moments;
        assert_eq!((first.moments.min, first.moments.max), (together.min, together.max));
        assert!((first.moments.mean - together.mean).abs() < 1e-9);
        assert!((first.moments.deviation() - together.deviation()).abs() < 1e-9);
    }

    #[test]
    fn rates_add_up() {
        let mut sum = SampledStatistics::default();
        for rates in [[100, 200], [10, 40]] {
            let mut one = SampledStatistics::default();
            rates.iter().for_each(|rate| one.add(*rate));
            sum.merge(&one);
        }
        let Moments { samples, min, max, mean, .. } = sum.moments;
        assert_eq!((samples, min, max, mean), (4, 110, 240, 175.0));
    }

    #[test]
    fn moments_are_known_from_what_is_printed() {
        let moments = of(&[3, 4, 8]).moments;
        let again =
            Moments::with_deviation(3, (3, 8), moments.mean, moments.deviation()).deviation();
        assert!((again - moments.deviation()).abs() < 1e-12);
        assert_eq!(Moments::with_deviation(0, (0, 0), 0.0, 0.0), Moments::default());
    }
}
