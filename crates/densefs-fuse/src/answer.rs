//! Conversions between the kernel's terms and the core's.

use densefs::{Errno, NewTime, flags, time};

use crate::protocol::{Fields, Reply};

/// What is to be done about a request.
pub(crate) enum Answer {
    /// Answer it.
    Now(Reply),
    /// Nothing: it has no answer, or another thread gives it later.
    NotNow,
}

/// A descriptor, as the kernel keeps it: `fh`.
pub(crate) fn descriptor(fields: &mut Fields<'_>) -> Result<u32, Errno> {
    u32::try_from(fields.u64()?).map_err(|_| Errno::BADF)
}

/// The open flags that matter to the core: the kernel has already followed symbolic links and
/// checked whether the file exists, and it truncates the file itself.
pub(crate) fn opened_for(how: u32) -> u32 {
    how & (flags::ACCESS | flags::APPEND)
}

/// How a request sets a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AskedTime {
    pub(crate) is_set: bool,
    pub(crate) is_now: bool,
    /// Seconds since 1970, as a number with a sign.
    pub(crate) seconds: u64,
    /// The nanoseconds that follow.
    pub(crate) within: u32,
}

impl From<AskedTime> for NewTime {
    fn from(asked: AskedTime) -> Self {
        match asked {
            AskedTime { is_set: false, .. } => Self::Same,
            AskedTime { is_now: true, .. } => Self::Now,
            AskedTime { seconds, within, .. } => {
                Self::At(time::from_parts(seconds.cast_signed(), within))
            }
        }
    }
}
