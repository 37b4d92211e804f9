//! What samples of dirty data over time say about write-back.

/// Samples that the record keeps at most.
const SAMPLES_MAX: usize = 128;

/// How much was dirty at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DirtySample {
    /// Since the beginning.
    pub(super) at_ns: u64,
    /// How long counting took, during which nothing was written.
    pub(super) took_ns: u64,
    /// Bytes written so far by the writer.
    pub(super) written_bytes: u64,
    /// Bytes changed and not yet sent to the device.
    pub(super) dirty_bytes: u64,
    /// Bytes under write-back.
    pub(super) on_its_way_bytes: u64,
}

impl DirtySample {
    /// Whether nothing remains to be written.
    pub(super) fn is_clean(&self) -> bool {
        self.dirty_bytes == 0 && self.on_its_way_bytes == 0
    }

    /// Whether data has left or is leaving. The file may end in part of a page.
    fn is_leaving(&self) -> bool {
        self.on_its_way_bytes > 0 || self.dirty_bytes < self.written_bytes
    }
}

/// Figures for writes that ran into the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Flow {
    /// Bytes per second until data was first seen leaving.
    pub(super) before_bytes_per_s: f64,
    /// Bytes per second over the second half of what was written.
    pub(super) after_bytes_per_s: f64,
    /// Bytes dirty or under write-back when data was first seen leaving, or in the sample before,
    /// whichever is more; all that was written, if it never left.
    pub(super) threshold_bytes: u64,
    /// The most bytes that were dirty or under write-back at once.
    pub(super) held_bytes_max: u64,
}

impl Flow {
    /// Derives the figures from `samples`, the first of which is taken before anything is written.
    pub(super) fn from_samples(samples: &[DirtySample]) -> Self {
        let last = samples.last().copied().unwrap_or_default();
        let first_leaving = samples.iter().position(DirtySample::is_leaving);
        let until = first_leaving.unwrap_or(samples.len().saturating_sub(1));
        let half = samples.partition_point(|sample| sample.written_bytes < last.written_bytes / 2);
        let held = |sample: &DirtySample| sample.dirty_bytes + sample.on_its_way_bytes;
        let around = samples.iter().take(until + 1).skip(until.saturating_sub(1));
        Self {
            before_bytes_per_s: rate_per_s(samples, 0, until.max(1)),
            after_bytes_per_s: rate_per_s(samples, half, samples.len().saturating_sub(1)),
            threshold_bytes: around.map(held).max().unwrap_or(0),
            held_bytes_max: samples.iter().map(held).max().unwrap_or(0),
        }
    }
}

/// Bytes per second from one sample to another, not counting the time for taking those before the
/// last.
fn rate_per_s(samples: &[DirtySample], from: usize, to: usize) -> f64 {
    let (Some(first), Some(last)) = (samples.get(from), samples.get(to)) else { return 0.0 };
    let counting_ns: u64 = samples[from..to].iter().map(|sample| sample.took_ns).sum();
    let elapsed_ns = last.at_ns.saturating_sub(first.at_ns).saturating_sub(counting_ns);
    let bytes = last.written_bytes - first.written_bytes;
    if elapsed_ns == 0 { 0.0 } else { bytes as f64 / elapsed_ns as f64 * 1e9 }
}

/// The samples that are kept: evenly spaced, and the last.
pub(super) fn thinned(samples: &[DirtySample]) -> impl Iterator<Item = &DirtySample> {
    let step = samples.len().div_ceil(SAMPLES_MAX).max(1);
    let is_kept = move |index: usize| index.is_multiple_of(step) || index + 1 == samples.len();
    samples.iter().enumerate().filter(move |(index, _)| is_kept(*index)).map(|(_, sample)| sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A writer that writes 1 MiB per millisecond until 40 MiB are dirty, and then only as fast as
    /// the device, 1 MiB per 10 ms. Counting takes half a millisecond.
    fn samples() -> Vec<DirtySample> {
        let (mut at_ns, mut written) = (0, 0);
        let mut all = vec![DirtySample { took_ns: 500_000, ..DirtySample::default() }];
        for _ in 0..100 {
            let is_full = written >= 40;
            written += 1;
            at_ns += if is_full { 10_500_000 } else { 1_500_000 };
            all.push(DirtySample {
                at_ns,
                took_ns: 500_000,
                written_bytes: written * MIB,
                dirty_bytes: written.min(36) * MIB,
                on_its_way_bytes: written.saturating_sub(36).min(4) * MIB,
            });
        }
        all
    }

    #[test]
    fn writers_are_fast_until_data_leaves_and_then_as_slow_as_the_device() {
        let flow = Flow::from_samples(&samples());
        let per_s = |bytes_per_s: f64| bytes_per_s / MIB as f64;
        assert!((per_s(flow.before_bytes_per_s) - 1000.0).abs() < 1.0, "{flow:?}");
        assert!((per_s(flow.after_bytes_per_s) - 100.0).abs() < 1.0, "{flow:?}");
        assert_eq!((flow.threshold_bytes, flow.held_bytes_max), (37 * MIB, 40 * MIB));
    }

    #[test]
    fn all_may_have_left_between_two_samples() {
        let mut samples = samples()[..32].to_vec();
        samples[31].dirty_bytes = MIB;
        assert_eq!(Flow::from_samples(&samples).threshold_bytes, 30 * MIB);
    }

    #[test]
    fn where_nothing_leaves_all_that_was_written_is_held() {
        let flow = Flow::from_samples(&samples()[..30]);
        assert_eq!((flow.threshold_bytes, flow.held_bytes_max), (29 * MIB, 29 * MIB));
        assert!((flow.before_bytes_per_s - flow.after_bytes_per_s).abs() < 1.0, "{flow:?}");
        assert_eq!(Flow::from_samples(&[]).held_bytes_max, 0);
    }

    #[test]
    fn what_is_on_its_way_is_not_clean() {
        assert!(DirtySample::default().is_clean());
        assert!(!DirtySample { on_its_way_bytes: 1, ..DirtySample::default() }.is_clean());
        assert!(!DirtySample { dirty_bytes: 1, ..DirtySample::default() }.is_clean());
    }

    #[test]
    fn few_samples_are_kept_and_the_last_among_them() {
        let all: Vec<DirtySample> =
            (0..1000).map(|at_ns| DirtySample { at_ns, ..DirtySample::default() }).collect();
        let kept: Vec<u64> = thinned(&all).map(|sample| sample.at_ns).collect();
        assert!(kept.len() <= SAMPLES_MAX + 1, "{}", kept.len());
        assert_eq!((kept[0], kept.last()), (0, Some(&999)));
    }
}
