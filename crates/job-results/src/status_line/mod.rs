//! The line that overwrites itself while jobs run: `--eta`, `--eta-newline`.

mod eta;
mod state;

pub use eta::{Eta, Progress};
pub use state::{JobState, RunningKind, condensed};

use crate::direction::{DataDirection, PerDirection};
use crate::numbers::{Quantity, decimal, scaled};
use crate::presentation::{BandwidthUnit, Kilobyte};

/// What jobs do at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusSnapshot {
    /// Jobs that run, those in their ramp among them.
    pub running: u32,
    /// Jobs in their ramp.
    pub ramping: u32,
    /// Jobs that set up their files.
    pub setting_up: u32,
    /// Files that are open.
    pub open_files: u32,
    /// The least bytes per second that are to be kept up: `rate_min`.
    pub bandwidth_least: PerDirection<u64>,
    /// Bytes per second that jobs are limited to: `rate`.
    pub bandwidth_limit: PerDirection<u64>,
    /// The least operations per second: `rate_iops_min`.
    pub iops_least: PerDirection<u64>,
    /// Operations per second that jobs are limited to: `rate_iops`.
    pub iops_limit: PerDirection<u64>,
    /// KiB/s since the last status.
    pub bandwidth_kib: PerDirection<u64>,
    /// Operations per second since the last status.
    pub iops: PerDirection<u64>,
    /// Seconds since the run began, rounded up.
    pub elapsed_s: u64,
    /// When it will end.
    pub eta: Eta,
    /// What each job does, condensed.
    pub states: String,
    /// What a kilobyte is.
    pub kilobyte: Kilobyte,
    /// What bandwidth is counted in.
    pub bandwidth_unit: BandwidthUnit,
    /// How many digits limits have.
    pub significant_figures: usize,
}

/// Writes status after status, each over the one before.
#[derive(Clone, Debug, Default)]
pub struct StatusLine {
    newline_ms: Option<u64>,
    line_began_ms: Option<u64>,
    is_newline_due: bool,
    width: usize,
    /// Whether a share was ever shown: before, an estimate of 0 is not believed.
    had_share: bool,
}

impl StatusLine {
    /// A line that is left standing, and a new one begun, after so many milliseconds:
    /// `--eta-newline`.
    pub fn new(newline_ms: Option<u64>) -> Self {
        Self { newline_ms, ..Self::default() }
    }

    /// The text of a status, which ends with a carriage return.
    pub fn text(&mut self, snapshot: &StatusSnapshot, now_ms: u64) -> String {
        let mut text = String::new();
        if std::mem::take(&mut self.is_newline_due) {
            self.width = 0;
            text.push('\n');
        }
        text += &format!("Jobs: {} (f={})", snapshot.running, snapshot.open_files);
        text += &limits(snapshot);
        if let Some(eta) = snapshot.eta.text().filter(|_| snapshot.running > 0) {
            let share = self.share(snapshot);
            text += &format!(": [{}][{share}]{}[eta {eta}]", snapshot.states, rates(snapshot));
            let width = text.len();
            text += &" ".repeat(self.width.saturating_sub(width));
            self.width = width;
        }
        text.push('\r');
        self.mark_time(now_ms);
        text
    }

    fn share(&mut self, snapshot: &StatusSnapshot) -> String {
        let seconds = match snapshot.eta {
            Eta::Seconds(seconds) if seconds > 0 || self.had_share => seconds,
            Eta::Seconds(_) | Eta::Unknown | Eta::Never => return "-.-%".to_owned(),
        };
        if snapshot.ramping == snapshot.running {
            return "-.-%".to_owned();
        }
        self.had_share = true;
        let setting_up = f64::from(snapshot.setting_up) / f64::from(snapshot.running);
        let done = snapshot.elapsed_s as f64 / (snapshot.elapsed_s + seconds) as f64;
        let share = if snapshot.elapsed_s > 0 { done * 100.0 * (1.0 - setting_up) } else { 0.0 };
        format!("{:>3}%", decimal(share, 1))
    }

    fn mark_time(&mut self, now_ms: u64) {
        let Some(began_ms) = self.line_began_ms else {
            self.line_began_ms = Some(now_ms);
            return;
        };
        if self.newline_ms.is_some_and(|after_ms| now_ms.saturating_sub(began_ms) > after_ms) {
            self.line_began_ms = Some(now_ms);
            self.is_newline_due = true;
        }
    }
}

/// What jobs are limited to, if they are.
fn limits(snapshot: &StatusSnapshot) -> String {
    let sum = |limits: &PerDirection<u64>| limits.iter().sum::<u64>();
    let bandwidth = (sum(&snapshot.bandwidth_least), sum(&snapshot.bandwidth_limit));
    let iops = (sum(&snapshot.iops_least), sum(&snapshot.iops_limit));
    let text = |bytes| {
        let rate = Quantity::Bandwidth(bytes, BandwidthUnit::Bytes);
        scaled(rate, snapshot.significant_figures, snapshot.kilobyte)
    };
    match (bandwidth, iops) {
        ((0, 0), (0, 0)) => String::new(),
        ((0, 0), (least, limit)) => format!(", {least}-{limit} IOPS"),
        ((least, limit), _) => format!(", {}-{}", text(least), text(limit)),
    }
}

/// Bandwidth and operations per second, of the directions that have any.
fn rates(snapshot: &StatusSnapshot) -> String {
    let is_used = |direction: &DataDirection| {
        snapshot.bandwidth_kib[*direction] > 0 || snapshot.iops[*direction] > 0
    };
    let used: Vec<_> = DataDirection::ALL.into_iter().filter(is_used).collect();
    if used.is_empty() {
        return String::new();
    }
    let each = |text: &dyn Fn(DataDirection) -> String| {
        let parts =
            used.iter().map(|direction| format!("{}={}", direction.letter(), text(*direction)));
        parts.collect::<Vec<_>>().join(",")
    };
    let bandwidth = each(&|direction| {
        let kilo = snapshot.bandwidth_kib[direction];
        scaled(Quantity::KiloBandwidth(kilo, snapshot.bandwidth_unit), 4, snapshot.kilobyte)
    });
    let iops =
        each(&|direction| scaled(Quantity::Count(snapshot.iops[direction]), 4, Kilobyte::Decimal));
    format!("[{bandwidth}][{iops} IOPS]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> StatusSnapshot {
        StatusSnapshot {
            running: 1,
            open_files: 1,
            bandwidth_kib: PerDirection::new(62_060, 0, 0),
            iops: PerDirection::new(15_515, 0, 0),
            elapsed_s: 3,
            eta: Eta::Seconds(7),
            states: "r(1)".into(),
            significant_figures: 4,
            ..StatusSnapshot::default()
        }
    }

    #[test]
    fn a_status_covers_the_one_before() {
        let mut line = StatusLine::new(Some(1_000));
        let first = line.text(&snapshot(), 0);
        let expected = "Jobs: 1 (f=1): [r(1)][30.0%][r=60.6MiB/s][r=15.5k IOPS][eta 00m:07s]\r";
        assert_eq!(first, expected);
        let idle = StatusSnapshot {
            bandwidth_kib: PerDirection::default(),
            iops: PerDirection::default(),
            ..snapshot()
        };
        let second = line.text(&idle, 1_001);
        assert_eq!(second.len(), first.len());
        assert_eq!(second.trim_end(), "Jobs: 1 (f=1): [r(1)][30.0%][eta 00m:07s]");
        assert!(line.text(&snapshot(), 1_500).starts_with("\nJobs: 1"));
    }

    /// As fio 3.33 wrote it, with a limit of 1 MiB/s for each of two readers that soon ended.
    #[test]
    fn statuses_are_those_of_fio() {
        let mut line = StatusLine::new(Some(2));
        let early = StatusSnapshot {
            running: 3,
            open_files: 3,
            bandwidth_limit: PerDirection::new(2 << 20, 0, 0),
            eta: Eta::Unknown,
            ..snapshot()
        };
        let running = StatusSnapshot {
            bandwidth_kib: PerDirection::new(3_763, 1_737, 0),
            iops: PerDirection::new(940, 434, 0),
            eta: Eta::Seconds(4),
            states: "m(1),R(2)".into(),
            ..early.clone()
        };
        let later = StatusSnapshot {
            bandwidth_kib: PerDirection::new(2_132, 1_912, 0),
            iops: PerDirection::new(533, 478, 0),
            elapsed_s: 4,
            eta: Eta::Seconds(3),
            states: "m(1),_(2)".into(),
            ..snapshot()
        };
        let text = [(early, 0), (running, 2), (later, 3)]
            .map(|(snapshot, now_ms)| line.text(&snapshot, now_ms))
            .concat();
        let expected = "Jobs: 3 (f=3), 0B/s-2048KiB/s\r\
                        Jobs: 3 (f=3), 0B/s-2048KiB/s: [m(1),R(2)][42.9%]\
                        [r=3763KiB/s,w=1737KiB/s][r=940,w=434 IOPS][eta 00m:04s]\r\
                        Jobs: 1 (f=1): [m(1),_(2)][57.1%]\
                        [r=2132KiB/s,w=1912KiB/s][r=533,w=478 IOPS][eta 00m:03s]                \r";
        assert_eq!(text, expected);
        assert!(line.text(&snapshot(), 4).starts_with("\nJobs: "));
    }

    #[test]
    fn bandwidth_may_be_in_bits() {
        let bits = StatusSnapshot {
            bandwidth_kib: PerDirection::new(69_214, 0, 0),
            iops: PerDirection::new(17_700, 0, 0),
            kilobyte: Kilobyte::Decimal,
            bandwidth_unit: BandwidthUnit::Bits,
            ..snapshot()
        };
        let text = StatusLine::default().text(&bits, 0);
        assert!(text.contains("[r=554Mbit/s][r=17.7k IOPS]"), "{text}");
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let mut line = StatusLine::default();
        let early = StatusSnapshot { eta: Eta::Unknown, ..snapshot() };
        assert_eq!(line.text(&early, 0), "Jobs: 1 (f=1)\r");
        let endless = StatusSnapshot { eta: Eta::Never, ..snapshot() };
        assert!(line.text(&endless, 0).contains("[-.-%]"));
        assert!(line.text(&endless, 0).contains("[eta --]"));
        let zero = StatusSnapshot { eta: Eta::Seconds(0), ..snapshot() };
        assert!(line.text(&zero, 0).contains("[r(1)][-.-%]"));
        line.text(&snapshot(), 0);
        assert!(line.text(&zero, 0).contains("[r(1)][100.0%]"));
    }

    #[test]
    fn limits_are_shown() {
        let mut limited = snapshot();
        limited.iops_limit = PerDirection::new(100, 50, 0);
        assert!(StatusLine::default().text(&limited, 0).starts_with("Jobs: 1 (f=1), 0-150 IOPS:"));
        limited.bandwidth_limit = PerDirection::new(1 << 20, 0, 0);
        let text = StatusLine::default().text(&limited, 0);
        assert!(text.starts_with("Jobs: 1 (f=1), 0B/s-1024KiB/s:"), "{text}");
    }
}
