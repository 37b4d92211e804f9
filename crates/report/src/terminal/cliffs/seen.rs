//! Sentences about causes that were observed while operations ran.

use record::Cause;

use super::position;

/// A limit on dirty data, a journal or read-ahead, with the evidence; `None` for other causes.
pub(super) fn sentence(cause: &Cause) -> Option<String> {
    match *cause {
        Cause::DirtyLimit {
            limit_bytes,
            dirty_before_bytes,
            dirty_after_bytes,
            waiting_before_percent,
            waiting_after_percent,
        } => {
            let limit =
                limit_bytes.map_or(String::new(), |limit| format!(", at most {}", at(limit)));
            let waits = waits(waiting_before_percent, waiting_after_percent);
            let dirty = dirty_before_bytes.zip(dirty_after_bytes).map_or(
                String::new(),
                |(before, after)| {
                    format!(
                        " Up to {} of the working set was dirty or on its way to the device before \
                         it, and {} after it.",
                        at(before),
                        at(after)
                    )
                },
            );
            Some(format!(
                "Cause: the limit on dirty data{limit}. Threads were seen waiting for the dirty \
                 data to shrink {waits}.{dirty}"
            ))
        }
        Cause::Journal {
            written_before,
            written_after,
            waiting_before_percent,
            waiting_after_percent,
        } => {
            let waits = waits(waiting_before_percent, waiting_after_percent);
            let written =
                written_before.zip(written_after).map_or(String::new(), |(before, after)| {
                    format!(
                        " For each byte that operations wrote, the device wrote {before:.2} bytes \
                         before it and {after:.2} after it."
                    )
                });
            Some(format!(
                "Cause: the file system's journal. Threads were seen waiting for room in it or for \
                 a commit {waits}.{written}"
            ))
        }
        Cause::ReadAhead {
            window_bytes,
            device_read_before_bytes,
            device_read_after_bytes,
            request_bytes,
        } => Some(format!(
            "Cause: read-ahead of at most {}. One read of the device fetched {} before it and {} \
             after it; on the faster side an operation asked for {}.",
            at(window_bytes),
            at(device_read_before_bytes),
            at(device_read_after_bytes),
            at(request_bytes)
        )),
        Cause::MemoryLimit { .. }
        | Cause::ProcessorCache { .. }
        | Cause::Processors { .. }
        | Cause::Unknown => None,
    }
}

fn at(bytes: u64) -> String {
    position("bytes", bytes as f64)
}

fn waits(before_percent: f64, after_percent: f64) -> String {
    format!(
        "in {before_percent:.0} % of all samples before it and in {after_percent:.0} % after it"
    )
}
