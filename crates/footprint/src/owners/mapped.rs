//! What is mapped into a program, as names for its code.

use std::ops::Range;

use crate::trace::{FunctionId, Names};

/// A file, or memory without one, from which a program executes code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// Its addresses.
    pub addresses: Range<u64>,
    /// Whether its code is that of a file system.
    pub is_file_system: bool,
}

impl Mapped {
    /// What a text as in `/proc/PID/maps` contains; adjacent parts of a file are one. The code of a
    /// file system is in files whose name begins with `library`. If there are any, so is that in
    /// memory which has no file: the library has made it.
    #[must_use]
    pub fn parse(maps: &str, library: &str) -> Vec<Self> {
        let lines: Vec<(Range<u64>, bool, &str)> = maps.lines().filter_map(line).collect();
        let is_library =
            |path: &str| path.rsplit_once('/').is_some_and(|(_, name)| name.starts_with(library));
        let has_library = lines.iter().any(|(_, _, path)| is_library(path));
        let mut all: Vec<(Self, &str)> = Vec::new();
        for (addresses, is_code, path) in lines {
            let is_made = path.is_empty() && is_code && has_library;
            if path.is_empty() && !is_made {
                continue;
            }
            let is_file_system = is_made || is_library(path);
            match all.last_mut() {
                Some((last, of)) if !path.is_empty() && *of == path => {
                    last.addresses.end = addresses.end;
                }
                _ => all.push((Self { addresses, is_file_system }, path)),
            }
        }
        all.into_iter().map(|(mapped, _)| mapped).collect()
    }
}

/// A line's addresses, whether they can be executed, and its path.
fn line(text: &str) -> Option<(Range<u64>, bool, &str)> {
    let mut fields = text.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let [start, end] = [start, end].map(|text| u64::from_str_radix(text, 16).ok());
    let is_code = fields.next()?.contains('x');
    Some((start?..end?, is_code, fields.nth(3).unwrap_or_default()))
}

/// The names of a kernel's functions. In user mode, whatever is mapped is one function, so that
/// stacks show how the code of one calls that of another.
#[derive(Clone, Debug)]
pub struct MappedNames<N> {
    kernel: N,
    mapped: Vec<Mapped>,
}

impl<N> MappedNames<N> {
    /// Names with those of a kernel.
    pub fn new(kernel: N, mut mapped: Vec<Mapped>) -> Self {
        mapped.sort_by_key(|one| one.addresses.start);
        Self { kernel, mapped }
    }

    /// The functions that are the code of a file system.
    pub(super) fn file_system(&self) -> Vec<FunctionId> {
        let own = self.mapped.iter().filter(|one| one.is_file_system);
        own.map(|one| FunctionId(one.addresses.start)).collect()
    }
}

impl<N: Names> Names for MappedNames<N> {
    fn function(&self, address: u64) -> Option<FunctionId> {
        if address >> 63 == 1 {
            return self.kernel.function(address);
        }
        let after = self.mapped.partition_point(|one| one.addresses.start <= address);
        let found = self.mapped[..after].last().filter(|one| one.addresses.contains(&address));
        found.map(|one| FunctionId(one.addresses.start))
    }

    fn name(&self, function: FunctionId) -> Option<&str> {
        if function.0 >> 63 == 1 { self.kernel.name(function) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Nameless;

    const MAPS: &str = "\
555555554000-555555557000 r--p 00000000 00:02 93  /sbin/grep
555555557000-555555574000 r-xp 00003000 00:02 93  /sbin/grep
555555591000-5555555b2000 rw-p 00000000 00:00 0   [heap]
7ffff7d00000-7ffff7d40000 rw-s 00000000 00:15 5   /dev/shm/one.arena
7ffff7d60000-7ffff7d80000 r-xp 00000000 00:00 0
7ffff7d80000-7ffff7da6000 r--p 00000000 00:02 99  /lib/libc.so.6
7ffff7da6000-7ffff7efb000 r-xp 00026000 00:02 99  /lib/libc.so.6
7ffff7efb000-7ffff7f00000 rw-p 00000000 00:00 0
7ffff7f5a000-7ffff7f80000 r-xp 00000000 00:02 50  /var/cache/fsprism/libdensefs_preload-1a.so
";

    #[test]
    fn a_library_and_the_code_that_it_made_are_a_file_system() {
        let mapped = Mapped::parse(MAPS, "libdensefs_preload");
        let own: Vec<u64> =
            mapped.iter().filter(|one| one.is_file_system).map(|one| one.addresses.start).collect();
        assert_eq!(own, [0x7fff_f7d6_0000, 0x7fff_f7f5_a000]);
        let names = MappedNames::new(Nameless, mapped);
        let function = |address| names.function(address).map(|function| function.0);
        assert_eq!(function(0x5555_5557_0000), Some(0x5555_5555_4000), "one file is one function");
        assert_eq!(function(0x7fff_f7da_6000), Some(0x7fff_f7d8_0000));
        assert_eq!(function(0x7fff_f7ef_b000), None);
        assert_eq!(function(0x1000), None);
        assert_eq!(function(u64::MAX), None, "the kernel has its own names");
    }

    #[test]
    fn without_a_library_nothing_is_a_file_system() {
        let mapped = Mapped::parse(MAPS, "libother");
        assert!(mapped.iter().all(|one| !one.is_file_system));
        assert!(!mapped.iter().any(|one| one.addresses.contains(&0x7fff_f7d6_0000)));
        assert_eq!(Mapped::parse("no maps\n\n-\n", "lib"), []);
    }
}
