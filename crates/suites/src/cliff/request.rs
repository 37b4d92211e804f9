//! What a user asks of a search, checked before any target is made.

use record::Axis;

use super::error::CliffError;

/// The most threads in a probe: each has a stack and a histogram.
const THREADS_MAX: u64 = 1024;
/// The largest request that the engine supports.
const REQUEST_BYTES_MAX: u64 = 1 << 30;
/// Default size of a request.
const REQUEST_BYTES: u64 = 4096;

/// An end of a range, as given by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeEnd {
    /// The number, in the unit of the axis.
    pub value: u64,
    /// Whether it was given with a percent sign.
    pub is_percent: bool,
}

/// What a user asks for: an axis, and the other parameters of Chen & Patterson's workload (`None`
/// if not given).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CliffRequest {
    /// The axis.
    pub axis: Axis,
    /// The lower end of the range; by default, what the target suggests.
    pub low: Option<RangeEnd>,
    /// The upper end.
    pub high: Option<RangeEnd>,
    /// The desired width of an interval, in percent, or in points of a share.
    pub width_percent: f64,
    /// Confidence level of an interval, between 0 and 1.
    pub level: f64,
    /// The most probes for the grid and the highest cliff.
    pub probes_max: u32,
    /// Bytes that operations cover; by default, what suits the target.
    pub working_set_bytes: Option<u64>,
    /// Bytes per operation; by default, 4 KiB.
    pub request_bytes: Option<u64>,
    /// Number of threads; by default, one.
    pub threads: Option<u64>,
    /// Percentage of reads among the operations; by default, 100, or 0 when searching along volume
    /// sizes.
    pub read_percent: Option<u64>,
    /// Percentage of sequential operations; by default, 0.
    pub sequential_percent: Option<u64>,
    /// The seed of all random choices.
    pub seed: u64,
}

/// The parameters of the workload; that of the axis itself has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CliffParameters {
    /// Bytes that operations cover.
    pub span_bytes: u64,
    /// Bytes per operation.
    pub request_bytes: usize,
    /// Number of threads.
    pub threads: usize,
    /// Percentage of reads among the operations.
    pub read_percent: u8,
    /// Percentage of sequential operations.
    pub sequential_percent: u8,
}

impl CliffRequest {
    /// Checks what can be checked without a target.
    ///
    /// # Errors
    /// The first thing found that makes the search impossible.
    pub fn check(&self) -> Result<(), CliffError> {
        let (option, given) = match self.axis {
            Axis::WorkingSet => ("--working-set", self.working_set_bytes),
            Axis::RequestSize => ("--request", self.request_bytes),
            Axis::Threads => ("--threads", self.threads),
            Axis::ReadShare => ("--read-share", self.read_percent),
            Axis::SequentialShare => ("--sequential-share", self.sequential_percent),
            // Set by the targets: `size=`.
            Axis::VolumeSize => ("", None),
        };
        if given.is_some() {
            return Err(CliffError::AxisFixed { axis: self.axis.name(), option });
        }
        self.check_parameters()?;
        for (option, end) in [("--low", self.low), ("--high", self.high)] {
            match end {
                Some(RangeEnd { value, is_percent: true }) if !self.axis.is_share() => {
                    let unit = self.axis.unit();
                    return Err(CliffError::NoShare { option, value, unit });
                }
                Some(RangeEnd { value, .. }) if self.axis.is_share() && value > 100 => {
                    return Err(CliffError::ShareTooLarge { option, value });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_parameters(&self) -> Result<(), CliffError> {
        let shares =
            [("--read-share", self.read_percent), ("--sequential-share", self.sequential_percent)];
        for (option, share) in shares {
            if let Some(value) = share.filter(|&value| value > 100) {
                return Err(CliffError::ShareTooLarge { option, value });
            }
        }
        if let Some(threads) = self.threads {
            check_threads("--threads", threads)?;
        }
        let (request_bytes, most) = (self.request_bytes(), REQUEST_BYTES_MAX);
        if request_bytes > most {
            return Err(CliffError::RequestAboveMost { request_bytes, most });
        }
        match self.working_set_bytes.filter(|&bytes| bytes < request_bytes) {
            Some(bytes) => Err(CliffError::WorkingSetTooSmall { bytes, request_bytes }),
            None => Ok(()),
        }
    }

    /// Bytes per operation.
    pub(super) fn request_bytes(&self) -> u64 {
        self.request_bytes.unwrap_or(REQUEST_BYTES)
    }

    /// Default percentage of reads. The size of a volume mostly affects how space is found, which
    /// only writes need.
    fn reads_unasked(&self) -> u8 {
        if self.axis == Axis::VolumeSize { 0 } else { 100 }
    }

    /// Whether some operations may read.
    pub(super) fn has_reads(&self) -> bool {
        self.read_percent.unwrap_or(u64::from(self.reads_unasked())) > 0
    }

    /// The parameters for operations on `span_bytes` bytes.
    pub(super) fn parameters(&self, span_bytes: u64) -> CliffParameters {
        let share = |share: Option<u64>, else_percent: u8| {
            share.and_then(|percent| u8::try_from(percent).ok()).unwrap_or(else_percent)
        };
        let whole = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        CliffParameters {
            span_bytes,
            request_bytes: whole(self.request_bytes()),
            threads: whole(self.threads.unwrap_or(1)),
            read_percent: share(self.read_percent, self.reads_unasked()),
            sequential_percent: share(self.sequential_percent, 0),
        }
    }
}

/// Refuses more threads than possible.
pub(super) fn check_threads(option: &'static str, threads: u64) -> Result<(), CliffError> {
    if threads > THREADS_MAX {
        return Err(CliffError::TooManyThreads { option, threads, most: THREADS_MAX });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request_along(axis: Axis) -> CliffRequest {
        CliffRequest {
            axis,
            low: None,
            high: None,
            width_percent: 2.0,
            level: 0.95,
            probes_max: 40,
            working_set_bytes: None,
            request_bytes: None,
            threads: None,
            read_percent: None,
            sequential_percent: None,
            seed: 1,
        }
    }

    #[test]
    fn the_axis_itself_cannot_be_fixed_and_every_other_parameter_can() {
        let all = |axis| CliffRequest {
            working_set_bytes: Some(1 << 20),
            request_bytes: Some(4096),
            threads: Some(2),
            read_percent: Some(0),
            sequential_percent: Some(100),
            ..request_along(axis)
        };
        for (axis, free) in [
            (Axis::WorkingSet, CliffRequest { working_set_bytes: None, ..all(Axis::WorkingSet) }),
            (Axis::RequestSize, CliffRequest { request_bytes: None, ..all(Axis::RequestSize) }),
            (Axis::Threads, CliffRequest { threads: None, ..all(Axis::Threads) }),
            (Axis::ReadShare, CliffRequest { read_percent: None, ..all(Axis::ReadShare) }),
            (
                Axis::SequentialShare,
                CliffRequest { sequential_percent: None, ..all(Axis::SequentialShare) },
            ),
        ] {
            let fixed = all(axis).check().expect_err("the axis is fixed");
            assert!(matches!(fixed, CliffError::AxisFixed { .. }), "{fixed}");
            assert_eq!(free.check(), Ok(()));
            assert_eq!(request_along(axis).check(), Ok(()));
        }
    }

    #[test]
    fn what_no_search_can_do_is_refused() {
        let plain = request_along(Axis::ReadShare);
        let end = |value, is_percent| Some(RangeEnd { value, is_percent });
        for wrong in [
            CliffRequest { sequential_percent: Some(101), ..plain },
            CliffRequest { low: end(4096, false), ..plain },
            CliffRequest { high: end(120, true), ..plain },
            CliffRequest { low: end(50, true), ..request_along(Axis::WorkingSet) },
            CliffRequest { threads: Some(THREADS_MAX + 1), ..plain },
            CliffRequest { request_bytes: Some(2 << 30), ..plain },
            CliffRequest { request_bytes: Some(8192), working_set_bytes: Some(4096), ..plain },
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
        assert_eq!(
            CliffRequest { low: end(0, false), high: end(100, true), ..plain }.check(),
            Ok(())
        );
    }

    #[test]
    fn parameters_have_their_defaults() {
        let expected = CliffParameters {
            span_bytes: 1 << 20,
            request_bytes: 4096,
            threads: 1,
            read_percent: 100,
            sequential_percent: 0,
        };
        assert_eq!(request_along(Axis::Threads).parameters(1 << 20), expected);
        let mixed = CliffRequest { read_percent: Some(0), ..request_along(Axis::Threads) };
        assert_eq!(mixed.parameters(1 << 20), CliffParameters { read_percent: 0, ..expected });
    }
}
