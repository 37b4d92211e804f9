//! What a job's options say about how its results are shown.

use crate::percentiles::PercentileList;

/// Whether reads, writes and trims are reported apart: `unified_rw_reporting`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unified {
    /// Each direction for itself.
    #[default]
    None,
    /// All as one.
    Mixed,
    /// Each for itself, and all as one.
    Both,
}

/// What a kilobyte is: `kb_base`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kilobyte {
    /// 1024 bytes; sizes are in KiB first, in kB in parentheses.
    #[default]
    Binary,
    /// 1000 bytes; sizes are in kB first, in KiB in parentheses.
    Decimal,
}

impl Kilobyte {
    /// The other of the two.
    pub fn other(self) -> Self {
        match self {
            Self::Binary => Self::Decimal,
            Self::Decimal => Self::Binary,
        }
    }

    /// Its bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Binary => 1024,
            Self::Decimal => 1000,
        }
    }
}

/// What bandwidth is counted in: `unit_base`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BandwidthUnit {
    /// Bytes per second.
    #[default]
    Bytes,
    /// Bits per second.
    Bits,
}

/// How large numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberStyle {
    /// The most digits that a number has: `significant_figures`.
    pub significant_figures: usize,
    /// What a kilobyte is.
    pub kilobyte: Kilobyte,
    /// What bandwidth is counted in.
    pub bandwidth: BandwidthUnit,
}

impl Default for NumberStyle {
    fn default() -> Self {
        Self {
            significant_figures: 4,
            kilobyte: Kilobyte::default(),
            bandwidth: BandwidthUnit::default(),
        }
    }
}

/// Which latencies have percentiles, and which percentiles. A histogram that is not shown need not
/// be filled. Where latencies are not measured (`disable_lat`, `disable_clat`, `disable_slat`,
/// `gtod_reduce`), fio turns the percentiles off as well.
#[derive(Clone, Debug, PartialEq)]
pub struct PercentileChoice {
    /// Of submission latencies: `slat_percentiles`.
    pub submission: bool,
    /// Of completion latencies: `clat_percentiles`.
    pub completion: bool,
    /// Of total latencies: `lat_percentiles`. Where priorities are told apart, these are then their
    /// latencies.
    pub total: bool,
    /// Which: `percentile_list`.
    pub list: PercentileList,
}

impl Default for PercentileChoice {
    fn default() -> Self {
        let list = PercentileList::default();
        Self { submission: false, completion: true, total: false, list }
    }
}

/// Where the results of one thread or process of a job go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reporting {
    /// Into a report of their own.
    #[default]
    Alone,
    /// Into the report of the group: `group_reporting`.
    WithGroup,
    /// Nowhere: `stats=0`.
    Omitted,
}

/// How results are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Presentation {
    /// In a report of their own or with others.
    pub reporting: Reporting,
    /// Whether directions are reported apart.
    pub unified: Unified,
    /// How numbers are written.
    pub numbers: NumberStyle,
    /// Which percentiles are shown.
    pub percentiles: PercentileChoice,
}
