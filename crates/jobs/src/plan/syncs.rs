//! What is made durable, and when.

use super::given::Values;

/// Syncs besides `fsync` and `fdatasync` after so many writes, which come with the offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncsPlan {
    /// After how many writes `sync_file_range` comes; 0 for never.
    pub range: u32,
    /// The flags of that.
    pub range_flags: u32,
    /// `fsync` of every file at the end.
    pub at_end: bool,
    /// `fsync` of a file before it is closed.
    pub at_close: bool,
}

impl SyncsPlan {
    pub(super) fn read(given: Values<'_>) -> Result<Self, (&'static str, String)> {
        let mut plan = Self {
            at_end: given.switch("end_fsync", false),
            at_close: given.switch("fsync_on_close", false),
            ..Self::default()
        };
        if let Some((first, rest)) = given.choice("sync_file_range") {
            let mut words: Vec<&str> = vec![first];
            let rest = rest.unwrap_or("1");
            let (more, count) = match rest.rsplit_once(':') {
                Some((more, count)) => (Some(more), count),
                None => (None, rest),
            };
            words.extend(more.iter().flat_map(|more| more.split(',')));
            for word in words {
                plan.range_flags |= match word {
                    "wait_before" => 1,
                    "write" => 2,
                    "wait_after" => 4,
                    other => {
                        let why = format!("`{other}` is none of wait_before, write, wait_after");
                        return Err(("sync_file_range", why));
                    }
                };
            }
            plan.range = count.parse().map_err(|_| {
                ("sync_file_range", format!("`{count}` is not a valid number of writes"))
            })?;
        }
        Ok(plan)
    }
}
