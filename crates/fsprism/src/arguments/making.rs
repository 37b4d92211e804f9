//! How scratch targets are made, and whether a run waits for its turn.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

/// Default directory for images of scratch targets.
pub(crate) const SCRATCH: &str = "/var/tmp";

/// What to do while other programs keep the machine busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnBusy {
    /// Wait, then measure and mark
    #[default]
    Wait,
    /// Measure and mark
    Measure,
    /// End the run
    Refuse,
}

impl From<OnBusy> for runner::OnBusy {
    fn from(on_busy: OnBusy) -> Self {
        match on_busy {
            OnBusy::Wait => Self::Wait,
            OnBusy::Measure => Self::Measure,
            OnBusy::Refuse => Self::Refuse,
        }
    }
}

/// How scratch targets are made.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Making {
    /// Age scratch targets before each block by N rounds of deleting and rewriting; a target's own
    /// aged= takes precedence
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1000))]
    pub(crate) aged: Option<u32>,
    /// Directory for images of scratch targets; by default /var/tmp, or the same as before when
    /// resuming
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// Allow this device to be formatted, destroying its data; repeat for each device, and again to
    /// resume
    #[arg(long, value_name = "DEVICE")]
    pub(crate) destroy_data: Vec<PathBuf>,
    /// Exit instead of waiting if another run is measuring on this computer
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// What to do while other programs keep the machine busy: wait until it is quiet, for a quarter
    /// of the budget at most; measure, and mark what was measured so; or refuse, ending the run
    #[arg(long, value_enum, env = "FSPRISM_ON_BUSY", default_value_t = OnBusy::Wait)]
    pub(crate) on_busy: OnBusy,
    /// One of several runs: what survived the one before in memory is dropped first
    #[arg(long, hide = true)]
    pub(crate) drop_caches: bool,
}

impl Making {
    /// The directory for images of scratch targets.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.as_deref().unwrap_or(Path::new(SCRATCH))
    }
}
