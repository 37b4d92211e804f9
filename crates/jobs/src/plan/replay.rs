//! A log that a job replays.

use job_iologs::{ReplayOptions, ReplaySkip, UnknownSkip};

use super::given::Values;

/// The log that a job replays instead of choosing what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayPlan {
    /// Its name, or several that clones of the job take in turn.
    pub logs: String,
    /// What of it is replayed, and how fast.
    pub options: ReplayOptions,
    /// Whether files are made that are shorter than what is read of them. fio makes none.
    pub makes_files: bool,
    /// How long it takes by the times in its log, in microseconds; 0 until that has been read.
    pub lasts_us: u64,
}

impl ReplayPlan {
    pub(super) fn read(given: Values<'_>) -> Result<Option<Self>, (&'static str, String)> {
        let skip = given.text("replay_skip").unwrap_or_default();
        let skip = match skip.trim() {
            "" => ReplaySkip::default(),
            list => {
                list.parse().map_err(|error: UnknownSkip| ("replay_skip", error.to_string()))?
            }
        };
        let options = ReplayOptions {
            chunked: given.switch("read_iolog_chunked", false),
            redirect: given.text("replay_redirect").map(Into::into),
            scale: given.small("replay_scale", 1),
            align_bytes: given.small("replay_align", 0),
            no_stall: given.switch("replay_no_stall", false),
            time_scale_percent: given.small("replay_time_scale", 100),
            skip,
            ..ReplayOptions::default()
        };
        let logs = given.text("read_iolog").filter(|name| !name.is_empty());
        Ok(logs.map(|logs| Self {
            logs: logs.to_owned(),
            options,
            makes_files: false,
            lasts_us: 0,
        }))
    }
}
