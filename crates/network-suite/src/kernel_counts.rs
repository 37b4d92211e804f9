//! What a client's kernel counts that not every kernel with FS-Cache counts.

use lab::{Kernel, LabError};
use network_guest::counters;

/// The module with the library for network file systems.
const NETFS: &str = "netfs";
/// How the module names its file below `/proc`.
const STATISTICS: &str = "fs/netfs/stats";
/// How it writes what was tried again.
const RETRIES: &str = "Retries: rq=%u rs=%u";
/// The option of kernels with histograms of tracepoints.
const HISTOGRAMS: &str = "CONFIG_HIST_TRIGGERS";
/// The option of kernels that can probe any function.
const PROBES: &str = "CONFIG_KPROBE_EVENTS";

/// What the statistics of the library for network file systems say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NetfsStatistics {
    /// Nothing: there are none.
    #[default]
    Absent,
    /// What was read and written.
    WithoutRetries,
    /// Also what was tried again.
    WithRetries,
}

/// Which further counts there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelCounts {
    /// What `/proc/fs/netfs/stats` says.
    pub netfs: NetfsStatistics,
    /// Whether the checks of cached files can be counted, which is done in guests only.
    pub checks: bool,
    /// Whether the time that a cache takes on its file system is measured, where the tree is read.
    pub times: bool,
}

impl NetfsStatistics {
    fn new(is_there: bool, has_retries: bool) -> Self {
        match (is_there, has_retries) {
            (false, _) => Self::Absent,
            (true, false) => Self::WithoutRetries,
            (true, true) => Self::WithRetries,
        }
    }
}

impl KernelCounts {
    /// Those of guests with this kernel.
    ///
    /// # Errors
    /// If the kernel's files cannot be read.
    pub fn of_guests(kernel: &Kernel) -> Result<Self, LabError> {
        let says = |text| kernel.contains(NETFS, text);
        let netfs = NetfsStatistics::new(says(STATISTICS)?, says(RETRIES)?);
        Ok(Self { netfs, checks: kernel.has_option(HISTOGRAMS)?, times: false })
    }

    /// The same, with the time that a cache takes on its file system.
    ///
    /// # Errors
    /// If this kernel cannot measure it, or its files cannot be read.
    pub fn with_times(self, kernel: &Kernel) -> Result<Self, LabError> {
        for option in [HISTOGRAMS, PROBES] {
            if !kernel.has_option(option)? {
                let (release, option) = (kernel.release.clone(), option.to_owned());
                return Err(LabError::NoOption { release, option });
            }
        }
        Ok(Self { times: true, ..self })
    }

    /// Those of the kernel that is running here.
    #[must_use]
    pub(crate) fn here() -> Self {
        let netfs = counters::netfs().ok().flatten();
        let has_retries = netfs.as_ref().is_some_and(|counters| counters.retries.is_some());
        Self { netfs: NetfsStatistics::new(netfs.is_some(), has_retries), ..Self::default() }
    }
}
