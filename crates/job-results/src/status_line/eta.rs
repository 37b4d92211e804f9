//! Estimates of when jobs will end.

use crate::numbers::whole;

/// When something will end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Eta {
    /// In so many seconds.
    Seconds(u64),
    /// That is not known yet.
    #[default]
    Unknown,
    /// That cannot be known.
    Never,
}

impl Eta {
    /// The number that stands for it in JSON: -1, as a number without a sign, for never.
    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Seconds(seconds) => seconds,
            Self::Unknown => i32::MAX.unsigned_abs().into(),
            Self::Never => u64::MAX,
        }
    }

    /// Its text in the status line: days and hours only if there are any.
    pub(super) fn text(self) -> Option<String> {
        let seconds = match self {
            Self::Seconds(seconds) => seconds,
            Self::Unknown => return None,
            Self::Never => return Some("--".to_owned()),
        };
        let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
        let mut text = String::new();
        if days > 0 {
            text += &format!("{days:02}d:");
        }
        if hours > 0 || days > 0 {
            text += &format!("{hours:02}h:");
        }
        text += &format!("{:02}m:{:02}s", seconds / 60 % 60, seconds % 60);
        Some(text)
    }

    /// When the last of these jobs ends. Each comes with whether it is only started when those
    /// before it have ended (`stonewall`) and has not been yet: then they end one after another.
    pub fn of_last(jobs: &[(Self, bool)]) -> Self {
        let times = |is_behind: bool| {
            jobs.iter().filter(move |(_, behind)| *behind == is_behind).map(|(eta, _)| *eta)
        };
        let longest = times(false).max().unwrap_or(Self::Seconds(0));
        times(true).fold(longest, |sum, eta| match (sum, eta) {
            (Self::Seconds(sum), Self::Seconds(seconds)) => Self::Seconds(sum + seconds),
            (sum, eta) => sum.max(eta),
        })
    }

    /// When the first of these jobs ends, which ends all: `exitall`.
    pub fn of_first(jobs: impl Iterator<Item = Self>) -> Self {
        jobs.min().unwrap_or_default()
    }
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nobody can tell.
    Endless,
    /// It has not begun to do what is measured.
    Waiting {
        /// Seconds for which it may run, its start's delay and its ramp included, less those that
        /// it has spent in its ramp: `runtime`.
        time_limit_s: Option<u64>,
        /// Bytes that it will transfer.
        bytes: u64,
        /// Bytes per second that it is limited to; 0 if it is not.
        bandwidth_limit: u64,
        /// Seconds before it starts.
        start_delay_s: u64,
    },
    /// It runs.
    Running {
        /// Seconds since it began, rounded up.
        elapsed_s: u64,
        /// Bytes that it will transfer; those that it verifies count twice.
        bytes: u64,
        /// Bytes that it has transferred.
        bytes_done: u64,
        /// Seconds for which it may run: `runtime`.
        time_limit_s: Option<u64>,
        /// Whether it runs that long even if it has transferred everything: `time_based`.
        is_time_based: bool,
        /// Seconds that jobs took which have ended.
        done_s: u64,
    },
    /// It is over, or as good as over.
    Over,
}

impl Progress {
    /// The estimate.
    pub fn eta(self) -> Eta {
        match self {
            Self::Endless => Eta::Never,
            Self::Waiting { time_limit_s, bytes, bandwidth_limit, start_delay_s } => {
                let at_limit = bytes.checked_div(bandwidth_limit);
                let at_limit = at_limit.map(|seconds| seconds + start_delay_s);
                let known = [at_limit, time_limit_s].into_iter().flatten();
                Eta::Seconds(known.filter(|seconds| *seconds > 0).min().unwrap_or(0))
            }
            Self::Running { elapsed_s, bytes, bytes_done, time_limit_s, is_time_based, done_s } => {
                let by_bytes = share(bytes_done, bytes);
                let done = match (is_time_based, time_limit_s) {
                    (false, _) => by_bytes,
                    (true, Some(limit_s)) => by_bytes.min(elapsed_s as f64 / limit_s.max(1) as f64),
                    (true, None) => 0.0,
                };
                let left_s = if done == 0.0 {
                    time_limit_s.unwrap_or(0)
                } else {
                    whole(elapsed_s as f64 / done).saturating_sub(elapsed_s)
                };
                let most_s = time_limit_s
                    .map_or(u64::MAX, |limit_s| (limit_s + done_s).saturating_sub(elapsed_s));
                Eta::Seconds(left_s.min(most_s))
            }
            Self::Over => Eta::Seconds(0),
        }
    }
}

/// At most 1; 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole > 0 { (part as f64 / whole as f64).min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_by_fio() {
        let text = |seconds| Eta::Seconds(seconds).text().unwrap();
        assert_eq!(text(7), "00m:07s");
        assert_eq!(text(3_600), "01h:00m:00s");
        assert_eq!(text(86_400 + 61), "01d:00h:01m:01s");
        assert_eq!(Eta::Never.text().unwrap(), "--");
        assert_eq!([Eta::Unknown, Eta::Never].map(Eta::number), [2_147_483_647, u64::MAX]);
    }

    #[test]
    fn what_is_done_says_what_is_left() {
        let running = |bytes_done, time_limit_s, is_time_based| {
            let (bytes, elapsed_s, done_s) = (100, 10, 0);
            Progress::Running { elapsed_s, bytes, bytes_done, time_limit_s, is_time_based, done_s }
        };
        assert_eq!(running(50, None, false).eta(), Eta::Seconds(10));
        assert_eq!(running(10, Some(30), false).eta(), Eta::Seconds(20));
        assert_eq!(running(100, Some(40), true).eta(), Eta::Seconds(30));
        assert_eq!(running(0, None, false).eta(), Eta::Seconds(0));
    }

    #[test]
    fn waiting_jobs_are_guessed_at() {
        let waiting = |time_limit_s, bandwidth_limit| Progress::Waiting {
            time_limit_s,
            bytes: 1_000,
            bandwidth_limit,
            start_delay_s: 2,
        };
        assert_eq!(waiting(None, 0).eta(), Eta::Seconds(0));
        assert_eq!(waiting(Some(9), 100).eta(), Eta::Seconds(9));
        assert_eq!(waiting(Some(60), 100).eta(), Eta::Seconds(12));
    }

    #[test]
    fn jobs_behind_a_wall_come_on_top() {
        let seconds = Eta::Seconds;
        let jobs = [(seconds(5), false), (seconds(9), false), (seconds(3), true)];
        assert_eq!(Eta::of_last(&jobs), seconds(12));
        assert_eq!(Eta::of_first(jobs.iter().map(|(eta, _)| *eta)), seconds(3));
        assert_eq!(Eta::of_last(&[(Eta::Never, false), (seconds(1), true)]), Eta::Never);
    }
}
