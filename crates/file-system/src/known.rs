//! The known file systems, found by name.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::str::FromStr;
use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::row::{Feature, Row, Storage};
use crate::table::ROWS;

/// A known file system. It dereferences to its [`Row`], which has the facts.
#[derive(Clone, Copy)]
pub struct FileSystem(&'static Row);

/// Suffix of a target's label if its files are accessed through a library, however it was labelled:
/// its figures do not include any system calls.
pub const BY_LIBRARY: &str = " (by library call)";

/// Suffix of the same label where programs as they are reach the files: by a library that they load
/// before the C library, and by a mount for what that does not serve.
pub const BY_EXEC: &str = " (by densefs exec)";

/// A target's label as it was given, without what was added to it.
#[must_use]
pub fn given_label(label: &str) -> &str {
    let stripped = label.strip_suffix(BY_LIBRARY).or_else(|| label.strip_suffix(BY_EXEC));
    stripped.unwrap_or(label)
}

/// An additional file system, invented by a test.
static ADDED: OnceLock<Row> = OnceLock::new();

/// Makes an additional file system known to this process, for a test that invents one and looks for
/// it everywhere. Only the first call has an effect.
pub fn add(row: Row) {
    let _stays_the_first = ADDED.set(row);
}

/// There is no such file system, or it cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFileSystem;

impl FileSystem {
    /// All file systems that fsprism can make, in the order of help texts.
    pub fn makeable() -> impl Iterator<Item = Self> {
        Self::all().filter(|file_system| file_system.can_be_made())
    }

    /// Those that a survey measures if no target is given.
    pub fn by_default() -> impl Iterator<Item = Self> {
        Self::all().filter(|file_system| file_system.by_default)
    }

    /// Its row.
    #[must_use]
    pub fn row(self) -> &'static Row {
        self.0
    }

    fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().chain(ADDED.get()).map(Self)
    }

    /// The file system with this name in the kernel, or in /proc/self/mounts; `fuse.sshfs` is fuse.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let kind = name.split_once('.').map_or(name, |(kind, _)| kind);
        Self::all().find(|known| known.name == kind)
    }

    /// The file system with this magic number, if it has one in its row.
    #[must_use]
    pub fn with_magic(magic: u64) -> Option<Self> {
        Self::all().find(|known| known.magic == Some(magic))
    }

    /// Whether fsprism can make it on scratch space.
    #[must_use]
    pub(crate) fn can_be_made(self) -> bool {
        self.mkfs.is_some() || self.lives_in_memory()
    }

    /// Whether the pages in memory are the only copy, so that there is nothing to format, and no
    /// cold state.
    #[must_use]
    pub fn lives_in_memory(self) -> bool {
        matches!(self.storage, Storage::Memory { .. } | Storage::Arena)
    }

    /// Whether its files are accessed by library calls; the kernel does not know about it.
    #[must_use]
    pub fn is_called_as_library(self) -> bool {
        self.storage == Storage::Arena
    }

    /// Why it lacks a feature, if it does.
    #[must_use]
    pub fn lacks(self, feature: Feature) -> Option<&'static str> {
        self.0.lacks.iter().find(|lack| lack.feature == feature).map(|lack| lack.why)
    }
}

/// Why a file system of this name lacks a feature, if that is known, as a clause that begins with
/// its name.
#[must_use]
pub fn lacks(name: &str, feature: Feature) -> Option<String> {
    let why = FileSystem::named(name)?.lacks(feature)?;
    Some(format!("{name} {why}"))
}

impl Deref for FileSystem {
    type Target = Row;

    fn deref(&self) -> &Row {
        self.0
    }
}

impl PartialEq for FileSystem {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for FileSystem {}

impl Hash for FileSystem {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for FileSystem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl fmt::Display for FileSystem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name)
    }
}

impl FromStr for FileSystem {
    type Err = UnknownFileSystem;

    /// A file system that can be made, by its full name.
    fn from_str(text: &str) -> Result<Self, UnknownFileSystem> {
        Self::makeable().find(|known| known.name == text).ok_or(UnknownFileSystem)
    }
}

impl Serialize for FileSystem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<'de> Deserialize<'de> for FileSystem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse()
            .map_err(|UnknownFileSystem| de::Error::custom(format!("`{name}` cannot be made")))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_parse_back() {
        let names: BTreeSet<&str> = FileSystem::all().map(|known| known.name).collect();
        assert_eq!(names.len(), FileSystem::all().count());
        for made in FileSystem::makeable() {
            assert_eq!(made.name.parse(), Ok(made));
        }
        assert_eq!("overlay".parse::<FileSystem>(), Err(UnknownFileSystem));
        assert_eq!("fuse".parse::<FileSystem>(), Err(UnknownFileSystem));
    }

    #[test]
    fn readers_find_all_that_can_be_mounted() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/targets.md");
        let text = std::fs::read_to_string(path).expect("it is there");
        let text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
        let mounted = ROWS.iter().map(FileSystem).filter(|one| one.can_be_made());
        let mounted = mounted.filter(|one| !one.is_called_as_library());
        let names: Vec<String> = mounted.map(|one| format!("`{one}`")).collect();
        let (last, others) = names.split_last().expect("there are some");
        let list = format!("a scratch file system: {} or {last}.", others.join(", "));
        assert!(text.contains(&list), "docs/targets.md must say: {list}");
    }

    #[test]
    fn kinds_of_fuse_are_fuse() {
        let of = |name| FileSystem::named(name).map(|known| known.name);
        assert_eq!(
            [of("fuse.sshfs"), of("fuseblk"), of("9p")],
            [Some("fuse"), Some("fuseblk"), None]
        );
    }

    #[test]
    fn each_lacks_what_its_row_says() {
        let links = |name| lacks(name, Feature::Links);
        assert_eq!(links("vfat").as_deref(), Some("vfat does not support links"));
        assert_eq!(links("exfat").as_deref(), Some("exfat does not support links"));
        assert_eq!(links("ext4"), None);
        assert!(lacks("tmpfs", Feature::ColdFiles).is_some());
        assert_eq!(lacks("never-heard-of", Feature::ColdFiles), None);
        assert_eq!(FileSystem::with_magic(0x9123_683e), FileSystem::named("btrfs"));
        assert_eq!(FileSystem::with_magic(0xef53), None);
    }

    #[test]
    fn what_is_made_on_a_device_has_a_module_and_room() {
        for made in FileSystem::makeable().filter(|made| !made.lives_in_memory()) {
            let mkfs = made.mkfs.as_ref().expect("it is made");
            assert!(mkfs.least_bytes >= 64 << 20, "{made}");
            assert!(!made.modules.any_of.is_empty(), "{made}");
        }
    }
}
