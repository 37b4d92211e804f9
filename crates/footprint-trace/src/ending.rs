//! The end of a trace: whether it is whole, and why not.

use std::fmt;

use crate::varint;

/// Why a trace does not contain everything that was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutReason {
    /// It reached its size limit.
    Limit,
    /// There were more vCPUs than the plugin can record.
    Vcpus,
    /// The program ended without QEMU telling the plugin, because a signal killed it or it replaced
    /// itself by `exec`; or QEMU itself was killed. Whatever had not been written is missing: the
    /// last events of each vCPU, up to about 64 KiB.
    Killed,
}

impl fmt::Display for CutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Limit => "the trace has reached its size limit and stops there",
            Self::Vcpus => "the trace stops where there were too many threads to record",
            Self::Killed => {
                "the trace is incomplete and lacks what each vCPU did last: the program or QEMU \
                 was killed, the program replaced itself by exec, or the disk was full"
            }
        })
    }
}

/// What the end of a trace says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Why it was cut off; `None` if it is whole.
    pub cut: Option<CutReason>,
    /// Processes that the traced one forked, none of which are in the trace.
    pub forks: u64,
    /// Chunks before the end.
    pub chunks: u64,
}

impl Ending {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let cut = match self.cut {
            None => 0,
            Some(CutReason::Limit) => 1,
            Some(CutReason::Vcpus) => 2,
            Some(CutReason::Killed) => 3,
        };
        let mut bytes = vec![cut];
        varint::put(&mut bytes, self.forks);
        varint::put(&mut bytes, self.chunks);
        bytes
    }

    pub(crate) fn decode(payload: &[u8]) -> Option<Self> {
        let (&cut, mut rest) = payload.split_first()?;
        let cut = match cut {
            0 => None,
            1 => Some(CutReason::Limit),
            2 => Some(CutReason::Vcpus),
            3 => Some(CutReason::Killed),
            _ => return None,
        };
        let forks = varint::take(&mut rest)?;
        let chunks = varint::take(&mut rest)?;
        rest.is_empty().then_some(Self { cut, forks, chunks })
    }

    /// Whether this end is valid after `chunks` chunks and the previous end, if there is one.
    pub(crate) fn follows(&self, before: Option<&Self>, chunks: u64) -> bool {
        let repeats = before.is_none_or(|one| (one.cut, one.forks) == (self.cut, self.forks));
        repeats && self.chunks == chunks
    }
}
