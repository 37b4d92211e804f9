//! A disk of a guest, and how fast it is.

use std::str::FromStr;

/// A disk, which is a file in this computer's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disk {
    /// Its size in bytes.
    pub bytes: u64,
    /// How fast it is.
    pub speed: DiskSpeed,
}

/// How fast a disk is, at most: QEMU lets requests wait that come faster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskSpeed {
    /// Requests per second; `None` for no limit.
    pub requests_per_s: Option<u64>,
    /// Bytes per second; `None` for no limit.
    pub bytes_per_s: Option<u64>,
}

/// A speed that is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WrongDiskSpeed {
    /// The number of requests is malformed or out of range.
    #[error("a disk's iops must be a number between 50 and 10000000, such as 500, not {0:?}")]
    Requests(String),
    /// The number of bytes is malformed or out of range.
    #[error("a disk's bps must be between 1m and 100g per second, such as 20m, not {0:?}")]
    Bytes(String),
    /// A disk has no such property.
    #[error("a disk has iops=NUMBER and bps=SIZE, but not {0:?}")]
    Unknown(String),
}

/// Slower disks would make guests run into their time limits.
const REQUESTS: std::ops::RangeInclusive<u64> = 50..=10_000_000;
const BYTES: std::ops::RangeInclusive<u64> = (1 << 20)..=(100 << 30);
/// Units of sizes, binary as everywhere.
const UNITS: [(char, u64); 3] = [('k', 1 << 10), ('m', 1 << 20), ('g', 1 << 30)];

impl FromStr for DiskSpeed {
    type Err = WrongDiskSpeed;

    /// `iops=500,bps=20m`, `iops=500`, `bps=20m`.
    fn from_str(text: &str) -> Result<Self, WrongDiskSpeed> {
        let mut speed = Self::default();
        for word in text.split(',') {
            match word.split_once('=') {
                Some(("iops", value)) => speed.requests_per_s = Some(requests(value)?),
                Some(("bps", value)) => speed.bytes_per_s = Some(bytes(value)?),
                _ => return Err(WrongDiskSpeed::Unknown(word.to_owned())),
            }
        }
        Ok(speed)
    }
}

fn requests(text: &str) -> Result<u64, WrongDiskSpeed> {
    let number = text.parse().ok().filter(|number| REQUESTS.contains(number));
    number.ok_or_else(|| WrongDiskSpeed::Requests(text.to_owned()))
}

fn bytes(text: &str) -> Result<u64, WrongDiskSpeed> {
    let lower = text.to_ascii_lowercase();
    let unit = UNITS.iter().find_map(|(name, unit)| Some((lower.strip_suffix(*name)?, *unit)));
    let (number, unit) = unit.unwrap_or((&lower, 1));
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    bytes
        .filter(|bytes| BYTES.contains(bytes))
        .ok_or_else(|| WrongDiskSpeed::Bytes(text.to_owned()))
}

impl std::fmt::Display for DiskSpeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let requests = self.requests_per_s.map(|number| format!("iops={number}"));
        let bytes = self.bytes_per_s.map(|bytes| format!("bps={}", size_text(bytes)));
        let words: Vec<String> = [requests, bytes].into_iter().flatten().collect();
        f.write_str(if words.is_empty() { "unlimited" } else { "" })?;
        f.write_str(&words.join(","))
    }
}

fn size_text(bytes: u64) -> String {
    let whole = UNITS.iter().rev().find(|(_, unit)| bytes.is_multiple_of(*unit));
    whole.map_or_else(|| bytes.to_string(), |(name, unit)| format!("{}{name}", bytes / unit))
}

impl DiskSpeed {
    /// Whether it has no limit.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    /// As options of QEMU's `-drive`, each with a comma before it.
    pub(super) fn drive_options(&self) -> String {
        let requests = self.requests_per_s.map(|number| format!(",throttling.iops-total={number}"));
        let bytes = self.bytes_per_s.map(|bytes| format!(",throttling.bps-total={bytes}"));
        requests.into_iter().chain(bytes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_written_as_it_is_read() {
        for text in ["iops=500,bps=20m", "iops=50", "bps=1536k", "bps=1g"] {
            let speed: DiskSpeed = text.parse().unwrap();
            assert_eq!(speed.to_string(), text);
        }
        let both: DiskSpeed = "bps=20m,iops=500".parse().unwrap();
        assert_eq!(
            both.drive_options(),
            ",throttling.iops-total=500,throttling.bps-total=20971520"
        );
        assert_eq!(DiskSpeed::default().drive_options(), "");
        assert_eq!(DiskSpeed::default().to_string(), "unlimited");
    }

    #[test]
    fn what_is_no_speed_is_refused() {
        for wrong in ["", "500", "iops=", "iops=49", "iops=-5", "bps=1000", "bps=1t", "rate=5m"] {
            assert!(wrong.parse::<DiskSpeed>().is_err(), "{wrong}");
        }
    }
}
