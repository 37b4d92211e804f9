//! The plugin's arguments, which QEMU passes as `key=value`.

use footprint_trace::header::Coverage;
use footprint_trace::writer::LIMIT_BYTES_MIN;

/// Default size limit of a trace, in bytes.
const LIMIT_BYTES: u64 = 4 << 30;

/// What to record, and where to.
#[derive(Debug)]
pub(crate) struct Options {
    /// Path of the trace.
    pub(crate) out: String,
    /// Everything, or marked regions.
    pub(crate) coverage: Coverage,
    /// Size limit of the trace, in bytes.
    pub(crate) limit_bytes: u64,
}

impl Options {
    /// Parses the arguments, or returns a message for the user about an invalid one.
    pub(crate) fn parse<'a>(arguments: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let mut options =
            Self { out: String::new(), coverage: Coverage::Whole, limit_bytes: LIMIT_BYTES };
        for argument in arguments {
            match argument.split_once('=') {
                Some(("out", path)) => path.clone_into(&mut options.out),
                Some(("regions", "whole")) => options.coverage = Coverage::Whole,
                Some(("regions", "marked")) => options.coverage = Coverage::Marked,
                Some(("limit", bytes)) => options.limit_bytes = limit(bytes)?,
                _ => {
                    return Err(format!(
                        "unknown argument {argument:?}: use out=FILE, regions=whole|marked, \
                         limit=BYTES"
                    ));
                }
            }
        }
        if options.out.is_empty() {
            return Err("no trace file given: add out=FILE".to_owned());
        }
        Ok(options)
    }
}

fn limit(bytes: &str) -> Result<u64, String> {
    let limit = bytes.parse().ok().filter(|&limit| limit >= LIMIT_BYTES_MIN);
    limit
        .ok_or_else(|| format!("limit={bytes} is not valid: give at least {LIMIT_BYTES_MIN} bytes"))
}
