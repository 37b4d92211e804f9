//! What else the machine did while a replicate was measured.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use textual::{list, size};

/// What else the machine did while a replicate was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Neighbours {
    /// How long the measuring threads were ready to run and waited for a processor, all together,
    /// in nanoseconds; none if the kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// Processor time of programs that have nothing to do with the run, in nanoseconds; none if
    /// other programs cannot be told from the kernel here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs_ns: Option<u64>,
    /// Processor time of the kernel's own threads, in nanoseconds; none if they cannot be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_ns: Option<u64>,
    /// Time in which some task of the machine waited for a processor (PSI), in nanoseconds; none if
    /// the kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_pressure_ns: Option<u64>,
    /// Time in which some task of the machine waited for I/O (PSI), in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_pressure_ns: Option<u64>,
    /// Time in which some task of the machine waited for memory (PSI), in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_pressure_ns: Option<u64>,
    /// Bytes that others moved meanwhile on the disk that holds the target's image; none if there
    /// is none, or it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// Who was in the way, if it was more than a replicate may have beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<Busy>,
}

/// Who was in the way of a replicate. `Display` is a clause for people.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Busy {
    /// Names of the programs that used the processors most, the busiest first; empty if none can be
    /// named.
    pub programs: Vec<String>,
    /// How many processors these and all other programs used.
    pub processors: f64,
    /// How many processors there are.
    pub of: u32,
    /// Share of the time in which the measuring threads waited for a processor, in percent.
    pub waited_percent: f64,
    /// Bytes per second that others moved on the disk that holds the target's image, if that was in
    /// the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes_per_s: Option<f64>,
}

impl Neighbours {
    /// Whether others were in the way.
    #[must_use]
    pub fn were_in_the_way(&self) -> bool {
        self.busy.is_some()
    }
}

impl Busy {
    /// Who used how much: `cc1 and python3 used 1.8 of 2 processors`.
    #[must_use]
    pub fn who(&self) -> String {
        let mut clauses = Vec::new();
        let Self { programs, processors, of, .. } = self;
        if *processors >= PROCESSORS_TOLD_MIN || self.disk_bytes_per_s.is_none() {
            let names = match programs.as_slice() {
                [] => "other programs".to_owned(),
                names => list(names, "and"),
            };
            clauses.push(format!("{names} used {processors:.1} of {of} processors"));
        }
        if let Some(bytes_per_s) = self.disk_bytes_per_s {
            let who = if clauses.is_empty() { "other programs" } else { "others" };
            clauses.push(format!("{who} moved {}/s on the disk below", size(bytes_per_s, 2)));
        }
        clauses.join(", and ")
    }
}

/// Processors that are worth telling.
const PROCESSORS_TOLD_MIN: f64 = 0.05;

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.who())?;
        if self.waited_percent >= 0.5 {
            let percent = self.waited_percent;
            write!(f, "; the measuring threads waited {percent:.0} % of the time")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_in_the_way_is_named_with_how_much() {
        let busy = Busy {
            programs: vec!["cc1".to_owned(), "python3".to_owned()],
            processors: 1.84,
            of: 2,
            waited_percent: 48.2,
            disk_bytes_per_s: None,
        };
        let expected = "cc1 and python3 used 1.8 of 2 processors; the measuring threads waited 48 \
                        % of the time";
        assert_eq!(busy.to_string(), expected);
        let unseen = Busy { programs: Vec::new(), waited_percent: 0.0, ..busy.clone() };
        assert_eq!(unseen.to_string(), "other programs used 1.8 of 2 processors");
        let disk = Busy { processors: 0.01, disk_bytes_per_s: Some(2e8), ..unseen };
        assert_eq!(disk.to_string(), "other programs moved 191 MiB/s on the disk below");
        let both = Busy { disk_bytes_per_s: Some(2e8), waited_percent: 0.0, ..busy };
        let text = both.to_string();
        assert!(
            text.ends_with("processors, and others moved 191 MiB/s on the disk below"),
            "{text}"
        );
    }
}
