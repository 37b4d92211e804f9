//! When a cache is culled, as in cachefilesd.conf(5).

use std::fmt;

use serde::{Deserialize, Serialize};

/// The percentages of free blocks or of free files at which culling begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreePercents {
    /// Culling ends when this much is free again (`brun`, `frun`).
    pub run: u8,
    /// It begins when less than this is free (`bcull`, `fcull`).
    pub cull: u8,
    /// Nothing more is cached when less than this is free (`bstop`, `fstop`).
    pub stop: u8,
}

/// When a cache is culled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CullLimits {
    /// By free blocks.
    pub blocks: FreePercents,
    /// By free files, on file systems that have only so many.
    pub files: FreePercents,
}

impl Default for FreePercents {
    /// The defaults of Debian's package.
    fn default() -> Self {
        Self { run: 10, cull: 7, stop: 3 }
    }
}

impl FreePercents {
    /// Whether cachefilesd accepts them: `0 <= stop < cull < run < 100`.
    #[must_use]
    pub fn is_valid(self) -> bool {
        self.stop < self.cull && self.cull < self.run && self.run < 100
    }

    /// Each with its name, to which this letter belongs, and its value.
    #[must_use]
    pub fn named(self, letter: char) -> [(String, u8); 3] {
        [("run", self.run), ("cull", self.cull), ("stop", self.stop)]
            .map(|(name, percent)| (format!("{letter}{name}"), percent))
    }
}

impl CullLimits {
    /// All limits with their names in cachefilesd.conf.
    #[must_use]
    pub fn named(self) -> [[(String, u8); 3]; 2] {
        [self.blocks.named('b'), self.files.named('f')]
    }

    /// As lines of cachefilesd.conf.
    pub(crate) fn configuration(self) -> String {
        let all = self.named();
        all.iter().flatten().map(|(name, percent)| format!("{name} {percent}%\n")).collect()
    }
}

impl fmt::Display for CullLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.named();
        let words = all.iter().flatten().map(|(name, percent)| format!("{name}={percent}%"));
        f.write_str(&words.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_written_as_cachefilesd_reads_them() {
        let limits = CullLimits::default();
        let expected = "brun 10%\nbcull 7%\nbstop 3%\nfrun 10%\nfcull 7%\nfstop 3%\n";
        assert_eq!(limits.configuration(), expected);
        let shown = "brun=10%,bcull=7%,bstop=3%,frun=10%,fcull=7%,fstop=3%";
        assert_eq!(limits.to_string(), shown);
    }

    #[test]
    fn limits_are_in_order() {
        let of = |stop, cull, run| FreePercents { run, cull, stop };
        assert!(of(3, 7, 10).is_valid() && of(0, 1, 99).is_valid());
        for wrong in [of(7, 7, 10), of(3, 10, 10), of(3, 7, 100), of(10, 7, 3)] {
            assert!(!wrong.is_valid(), "{wrong:?}");
        }
    }
}
