//! A recorder as numbers, to be passed from the process that measured to the one that merges.

use super::Recorder;
use crate::histogram::{Bucket, Exact, Histogram};
use crate::timeline::Timeline;

impl Recorder {
    /// All of its contents, in the form that [`from_words`](Self::from_words) takes.
    pub fn to_words(&self) -> Vec<u64> {
        let mut words = vec![self.batch_rest_ns.cast_unsigned()];
        let exact = self.histogram.exact();
        let Exact { min, max, sum } = exact.unwrap_or(Exact { min: 0, max: 0, sum: 0 });
        let high = u64::try_from(sum >> u64::BITS).expect("the upper half of 128 bits");
        let low = u64::try_from(sum & u128::from(u64::MAX)).expect("the lower half of 128 bits");
        words.extend([min, max, high, low]);
        let buckets: Vec<Bucket> = self.histogram.buckets().collect();
        words.push(buckets.len() as u64);
        words.extend(buckets.iter().flat_map(|one| [one.low, one.high, one.count]));
        words.extend([self.timeline.origin_ticks(), self.timeline.slice_ticks()]);
        for slice in self.timeline.slices() {
            let filled = slice.counts.iter().enumerate().filter(|(_, count)| **count > 0);
            let words_of =
                |(octave, count): (usize, &u64)| [slice.start_ticks, octave as u64, *count];
            words.extend(filled.flat_map(words_of));
        }
        words
    }

    /// Rebuilds a recorder from [`to_words`](Self::to_words); `None` if the words are not valid.
    pub fn from_words(words: &[u64]) -> Option<Self> {
        let ([rest, min, max, high, low, count], words) = words.split_first_chunk()?;
        let bucket_words = usize::try_from(*count).ok()?.checked_mul(3)?;
        let (buckets, words) = words.split_at_checked(bucket_words)?;
        let bucket = |three: &[u64; 3]| Bucket { low: three[0], high: three[1], count: three[2] };
        let (threes, _) = buckets.as_chunks();
        let mut histogram = Histogram::from_buckets(threes.iter().map(bucket)).ok()?;
        if !histogram.is_empty() {
            let sum = u128::from(*high) << u64::BITS | u128::from(*low);
            histogram = histogram.with_exact(Exact { min: *min, max: *max, sum }).ok()?;
        }
        let ([origin_ticks, slice_ticks], words) = words.split_first_chunk()?;
        let mut timeline = Timeline::new(*origin_ticks, *slice_ticks);
        let (threes, []) = words.as_chunks() else { return None };
        for [start_ticks, octave, count] in threes {
            let value = 1_u64.checked_shl(u32::try_from(*octave).ok()?)?;
            timeline.record_n(origin_ticks.checked_add(*start_ticks)?, value, *count);
        }
        Some(Self { histogram, timeline, batch_rest_ns: rest.cast_signed() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manual::ManualClock;

    fn recorder() -> Recorder {
        let clock = ManualClock::new();
        let mut recorder = Recorder::new(1000, 64);
        for at in (1000..200_000_u64).step_by(317) {
            recorder.record(at, at + at % 97, &clock);
        }
        recorder.record_batch(200_000, 200_103, 10, &clock);
        recorder
    }

    #[test]
    fn what_comes_back_is_what_was_handed_over() {
        let one = recorder();
        let other = Recorder::from_words(&one.to_words()).expect("a recorder gave them");
        assert_eq!(one.histogram(), other.histogram());
        assert_eq!((one.busy_ns(), one.operations()), (other.busy_ns(), other.operations()));
        assert_eq!(one.timeline().slice_ticks(), other.timeline().slice_ticks());
        let slices = |of: &Recorder| {
            let all = of.timeline().slices().map(|slice| (slice.start_ticks, *slice.counts));
            all.collect::<Vec<_>>()
        };
        assert_eq!(slices(&one), slices(&other));
        let empty = Recorder::new(7, 8);
        let again = Recorder::from_words(&empty.to_words()).expect("a recorder gave them");
        assert_eq!((again.operations(), again.timeline().origin_ticks()), (0, 7));
    }

    #[test]
    fn words_that_no_recorder_gives_are_refused() {
        let words = recorder().to_words();
        for length in [0, 5, 20, words.len() - 1] {
            assert!(Recorder::from_words(&words[..length]).is_none(), "{length}");
        }
        let mut wrong = words;
        wrong[1] += 1 << 40;
        assert!(Recorder::from_words(&wrong).is_none());
    }
}
