//! Logs of samples over time: `write_bw_log`, `write_iops_log`, `write_lat_log`,
//! `write_hist_log`.
//!
//! Times in logs are in milliseconds since the job began, or since 1970 (`log_unix_epoch`).

mod histogram_log;
mod name;
mod sample_log;

pub use histogram_log::HistogramLog;
pub use name::{LogKind, LogName};
pub use sample_log::{LogSample, SampleLog, SampleLogSettings, WindowValue};
