//! What is measured and reported of a job.

use super::given::Values;

/// The percentiles that fio prints.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// What is measured and printed.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct ReportPlan {
    /// Whether jobs of a group are reported together.
    pub by_group: bool,
    /// Whether directions are reported together, apart, or both.
    pub directions: UnifiedReporting,
    /// Whether the job is reported at all.
    pub counts: bool,
    /// Whether total latencies are measured.
    pub total_latency: bool,
    /// Whether completion latencies are.
    pub completion_latency: bool,
    /// Whether submission latencies are.
    pub submission_latency: bool,
    /// Whether bandwidth is sampled.
    pub bandwidth: bool,
    /// Whether the clock is read as rarely as can be.
    pub reduces_clock: bool,
    /// Percentiles of total latencies.
    pub total_percentiles: bool,
    /// Percentiles of completion latencies.
    pub completion_percentiles: bool,
    /// Percentiles of submission latencies.
    pub submission_percentiles: bool,
    /// Which.
    pub percentiles: Vec<f64>,
    /// How many digits numbers have.
    pub significant_figures: u32,
    /// 1024 or 1000.
    pub kb_base: u32,
    /// Whether rates are in bits.
    pub in_bits: bool,
    /// Whether devices are reported.
    pub devices: bool,
    /// Over what time bandwidth is averaged, in milliseconds.
    pub bandwidth_window_ms: u64,
    /// Over what time operations per second are.
    pub operations_window_ms: u64,
    /// The logs.
    pub logs: LogsPlan,
}

/// How directions are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnifiedReporting {
    /// Apart.
    #[default]
    Apart,
    /// Together.
    Mixed,
    /// Both.
    Both,
}

/// The logs of a job. A name is that of the job if it is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct LogsPlan {
    /// Bandwidth.
    pub bandwidth: Option<String>,
    /// Operations per second.
    pub operations: Option<String>,
    /// Latencies, of three kinds.
    pub latency: Option<String>,
    /// Histograms of completion latencies.
    pub histogram: Option<String>,
    /// Every operation, to be replayed.
    pub trace: Option<String>,
    /// Over what time samples are averaged, in milliseconds; 0 for each operation.
    pub average_ms: u64,
    /// Over what time a histogram is.
    pub histogram_ms: u64,
    /// How many times its buckets are halved in number.
    pub coarseness: u32,
    /// Whether the largest of a time is logged, rather than the mean.
    pub maximum: bool,
    /// Whether offsets are logged.
    pub offsets: bool,
    /// Whether priorities are.
    pub priorities: bool,
    /// Whether each job of several has its own.
    pub per_job: bool,
    /// Whether times are since 1970.
    pub unix_epoch: bool,
}

impl ReportPlan {
    pub(super) fn read(given: Values<'_>) -> Self {
        let reduces_clock = given.switch("gtod_reduce", false);
        let measures = |name: &'static str| !given.switch(name, false) && !reduces_clock;
        let total_latency = measures("disable_lat");
        let completion_latency = measures("disable_clat");
        let submission_latency = measures("disable_slat");
        let percentiles = given.floats("percentile_list").unwrap_or(&PERCENTILES).to_vec();
        let in_bits = matches!(given.choice("unit_base"), Some(("1", _)));
        Self {
            by_group: given.switch("group_reporting", false),
            directions: match given.choice("unified_rw_reporting") {
                Some(("mixed" | "1", _)) => UnifiedReporting::Mixed,
                Some(("both" | "2", _)) => UnifiedReporting::Both,
                _ => UnifiedReporting::Apart,
            },
            counts: given.switch("stats", true),
            total_latency,
            completion_latency,
            submission_latency,
            bandwidth: measures("disable_bw_measurement"),
            reduces_clock,
            total_percentiles: given.switch("lat_percentiles", false) && total_latency,
            completion_percentiles: given.switch("clat_percentiles", true) && completion_latency,
            submission_percentiles: given.switch("slat_percentiles", false) && submission_latency,
            percentiles,
            significant_figures: given.small("significant_figures", 4),
            kb_base: match given.choice("kb_base") {
                Some(("1000", _)) => 1000,
                _ => 1024,
            },
            in_bits,
            devices: given.switch("disk_util", true),
            bandwidth_window_ms: given.count("bwavgtime", 500),
            operations_window_ms: given.count("iopsavgtime", 500),
            logs: LogsPlan::read(given),
        }
    }
}

impl LogsPlan {
    fn read(given: Values<'_>) -> Self {
        let name = |option: &'static str| given.text(option).map(str::to_owned);
        Self {
            bandwidth: name("write_bw_log"),
            operations: name("write_iops_log"),
            latency: name("write_lat_log"),
            histogram: name("write_hist_log"),
            trace: name("write_iolog"),
            average_ms: given.count("log_avg_msec", 0),
            histogram_ms: given.count("log_hist_msec", 0),
            coarseness: given.small("log_hist_coarseness", 0),
            maximum: given.switch("log_max_value", false),
            offsets: given.switch("log_offset", false),
            priorities: given.switch("log_prio", false),
            per_job: given.switch("per_job_logs", true),
            unix_epoch: given.switch("log_unix_epoch", false),
        }
    }

    /// Whether there is any.
    #[must_use]
    pub fn any(&self) -> bool {
        let names = [&self.bandwidth, &self.operations, &self.latency, &self.histogram];
        names.iter().any(|name| name.is_some())
    }
}
