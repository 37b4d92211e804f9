//! The options that change what is replayed.

use std::ffi::OsString;
use std::str::FromStr;

/// The options that change what is replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Whether the log is read while it is replayed, a part at a time: `read_iolog_chunked`.
    pub chunked: bool,
    /// The one file that everything goes to: `replay_redirect`.
    pub redirect: Option<OsString>,
    /// What offsets are divided by: `replay_scale`. 0 means 1.
    pub scale: u32,
    /// What offsets are rounded down to a multiple of, in bytes, after that: `replay_align`. 0
    /// means 1.
    pub align_bytes: u32,
    /// Whether nothing waits: `replay_no_stall`.
    pub no_stall: bool,
    /// How fast it goes, in percent: with 200, times of version 3 are halved. `replay_time_scale`.
    /// 0 means 100.
    pub time_scale_percent: u32,
    /// Whether writes are left out, and trims: `--readonly`.
    pub read_only: bool,
    /// What else is left out. fio 3.33 heeds `replay_skip` for traces of blktrace and not for
    /// logs: to replay as it does, leave it empty.
    pub skip: ReplaySkip,
    /// Whether there are trims.
    pub trims: TrimReplay,
}

impl Default for ReplayOptions {
    /// fio's.
    fn default() -> Self {
        Self {
            chunked: false,
            redirect: None,
            scale: 1,
            align_bytes: 0,
            no_stall: false,
            time_scale_percent: 100,
            read_only: false,
            skip: ReplaySkip::default(),
            trims: TrimReplay::default(),
        }
    }
}

/// What becomes of trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrimReplay {
    /// They are ignored, with a remark, as in fio 3.33.
    #[default]
    Ignored,
    /// They are replayed.
    Replayed,
}

/// The operations that are left out: `replay_skip`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplaySkip {
    /// Reads, writes, trims.
    pub(super) transfers: [bool; 3],
    pub(super) syncs: bool,
}

/// Text that is not a list of `read`, `write`, `trim` and `sync`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("replay_skip={list}: `{text}` is none of read, write, trim and sync")]
pub struct UnknownSkip {
    /// The whole list.
    pub list: String,
    /// What is in it that is unknown.
    pub text: String,
}

impl FromStr for ReplaySkip {
    type Err = UnknownSkip;

    /// Reads `read,trim`. `sync` stands for data syncs too.
    fn from_str(list: &str) -> Result<Self, UnknownSkip> {
        let mut skip = Self::default();
        let [reads, writes, trims] = &mut skip.transfers;
        for kind in list.trim_ascii().split(',') {
            match kind {
                "read" => *reads = true,
                "write" => *writes = true,
                "trim" => *trims = true,
                "sync" => skip.syncs = true,
                _ => {
                    return Err(UnknownSkip { list: list.to_owned(), text: kind.to_owned() });
                }
            }
        }
        Ok(skip)
    }
}

#[cfg(test)]
mod tests {
    use super::ReplaySkip;

    #[test]
    fn kinds_stand_between_commas() {
        let skip: ReplaySkip = " write,sync ".parse().expect("a list");
        assert_eq!(skip, ReplaySkip { transfers: [false, true, false], syncs: true });
        let error = "read,flush".parse::<ReplaySkip>().expect_err("an error").to_string();
        assert_eq!(error, "replay_skip=read,flush: `flush` is none of read, write, trim and sync");
    }
}
