//! The time that a cache takes on its file system: histograms of how long three functions of
//! cachefiles take, from probes at where they begin and return. They slow down what they time, so
//! they are used only where that time is asked for.
//!
//! `cachefiles_look_up_object` looks up and opens a file, and reads the attributes that were stored
//! with it (getxattr) in `cachefiles_check_auxdata`; `cachefiles_read` reads content, and waits for
//! it if NFS does (before Linux 6.4).

use std::io;

use serde::{Deserialize, Serialize};

use super::text::{Unreadable, number};
use super::tracing;

const OF: &str = "the times of the cache's file system";
/// The functions, each with a name for its events.
const FUNCTIONS: [(&str, &str); 3] = [
    ("lookup", "cachefiles_look_up_object"),
    ("check", "cachefiles_check_auxdata"),
    ("read", "cachefiles_read"),
];

/// The time that a cache took on its file system, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpentTime {
    /// For looking files up, including their checks.
    pub lookup_ns: u64,
    /// For reading the attributes with which they were stored.
    pub check_ns: u64,
    /// For reading content.
    pub read_ns: u64,
}

/// Begins to measure.
pub(super) fn begin() -> io::Result<()> {
    for (name, function) in FUNCTIONS {
        let function = format!("cachefiles:{function}");
        tracing::add_probe(&format!("p:fsprism/{name}_begins {function}\n"))?;
        tracing::add_probe(&format!("r:fsprism/{name}_ends {function}\n"))?;
        // A histogram does not show what it computes itself, so that goes into an event of its own.
        tracing::add_event(&format!("fsprism_{name} u64 ns\n"))?;
        tracing::trigger(&event(name), "hist:keys=ns.log2:vals=ns")?;
        let begun = format!("hist:keys=common_pid:{name}=common_timestamp");
        tracing::trigger(&format!("fsprism/{name}_begins"), &begun)?;
        let spent = format!(
            "hist:keys=common_pid:{name}_ns=common_timestamp-${name}:\
             onmatch(fsprism.{name}_begins).fsprism_{name}(${name}_ns)"
        );
        tracing::trigger(&format!("fsprism/{name}_ends"), &spent)?;
    }
    Ok(())
}

/// The event that says how long a function took.
fn event(name: &str) -> String {
    format!("synthetic/fsprism_{name}")
}

impl SpentTime {
    /// Reads what has been measured; `None` if nothing was.
    pub(super) fn now() -> Result<Option<Self>, Unreadable> {
        let mut sums = [0; FUNCTIONS.len()];
        for (sum, (name, _)) in sums.iter_mut().zip(FUNCTIONS) {
            let Some(histogram) = tracing::read(&event(name), "hist")? else { return Ok(None) };
            *sum = total(&histogram)?;
        }
        let [lookup_ns, check_ns, read_ns] = sums;
        Ok(Some(Self { lookup_ns, check_ns, read_ns }))
    }
}

/// The sum of the last value of all of a histogram's lines.
fn total(histogram: &str) -> Result<u64, Unreadable> {
    let lines = histogram.lines().filter(|line| line.trim_start().starts_with('{'));
    let last =
        |line: &str| line.rsplit_once(':').map_or(line, |(_, value)| value).trim().to_owned();
    lines.map(|line| number(OF, &last(line))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_times_are_added() {
        let text = "# event histogram\n#\n\n\
            { ns: ~ 2^16 } hitcount:         17  ns:     123456\n\
            { ns: ~ 2^5 } hitcount:          1  ns:         44\n\n\
            Totals:\n    Hits: 18\n    Entries: 2\n    Dropped: 0\n";
        assert_eq!(total(text).unwrap(), 123_500);
        assert_eq!(total("").unwrap(), 0);
        assert!(total("{ ns: ~ 2^5 } hitcount: 1  ns: x").is_err());
    }
}
