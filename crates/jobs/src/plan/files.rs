//! Which files a job uses, and how large they are.

use std::path::PathBuf;

use super::choices::{Fadvise, Fallocate, LockFile, SyncFlag, WriteHint};
use super::given::Values;

/// Names of files in it, unless `filename_format` says otherwise.
pub(crate) const DEFAULT_FORMAT: &str = "$jobname.$jobnum.$filenum";

/// The files of a job, and how they are made, opened and removed.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct FilesPlan {
    /// Directories, of which each job of several takes its own.
    pub directories: Vec<String>,
    /// Names that were given; empty if names are made.
    pub names: Vec<String>,
    /// How names are made.
    pub format: String,
    /// Every file below this directory.
    pub open_directory: Option<PathBuf>,
    /// How many there are, if names are made.
    pub count: u32,
    /// How many are open at once; `None` for all.
    pub open: Option<u32>,
    /// Made one job after another before any starts.
    pub create_serialize: bool,
    /// Synced when they are made.
    pub create_fsync: bool,
    /// Made when they are opened.
    pub create_on_open: bool,
    /// Made, and nothing else done.
    pub create_only: bool,
    /// Whether files may be made.
    pub may_create: bool,
    /// Whether a device that is mounted may be written to.
    pub may_write_mounted: bool,
    /// Read before the job starts.
    pub pre_read: bool,
    /// Removed after the job.
    pub unlink: bool,
    /// Removed after each loop.
    pub unlink_each_loop: bool,
    /// How space is allocated.
    pub fallocate: Fallocate,
    /// Written before they are overwritten.
    pub overwrite: bool,
    /// Written to past their end.
    pub append: bool,
    /// Written until the file system is full.
    pub fill_device: bool,
    /// Who may access one at the same time.
    pub lock: LockFile,
    /// Whether cached pages are dropped when a file is opened.
    pub invalidate: bool,
    /// What the kernel is told about accesses.
    pub fadvise: Fadvise,
    /// `O_DIRECT`.
    pub direct: bool,
    /// `O_SYNC` or `O_DSYNC`.
    pub sync: SyncFlag,
    /// How long what is written is said to live, if anything is.
    pub write_hint: Option<WriteHint>,
}

impl FilesPlan {
    pub(super) fn read(given: Values<'_>) -> Self {
        let directories = given.text("directory").map(separated).unwrap_or_default();
        let names = given.text("filename").map(separated).unwrap_or_default();
        // Later of `direct` and `buffered` would count; a file that has both is refused elsewhere.
        let direct = given.switch("direct", !given.switch("buffered", true));
        let pre_read = given.switch("pre_read", false);
        let open = given.small("openfiles", 0);
        Self {
            directories,
            names,
            format: given.text("filename_format").unwrap_or(DEFAULT_FORMAT).to_owned(),
            open_directory: given.text("opendir").map(PathBuf::from),
            count: given.small("nrfiles", 1),
            open: (open > 0).then_some(open),
            create_serialize: given.switch("create_serialize", true),
            create_fsync: given.switch("create_fsync", true),
            create_on_open: given.switch("create_on_open", false),
            create_only: given.switch("create_only", false),
            may_create: given.switch("allow_file_create", true),
            may_write_mounted: given.switch("allow_mounted_write", false),
            pre_read,
            unlink: given.switch("unlink", false),
            unlink_each_loop: given.switch("unlink_each_loop", false),
            fallocate: fallocate(given),
            overwrite: given.switch("overwrite", false),
            append: given.switch("file_append", false),
            fill_device: given.switch("fill_device", false),
            lock: match given.choice("lockfile") {
                Some(("exclusive", _)) => LockFile::Exclusive,
                Some(("readwrite", _)) => LockFile::ReadWrite,
                _ => LockFile::None,
            },
            invalidate: given.switch("invalidate", true) && !pre_read,
            fadvise: match given.choice("fadvise_hint") {
                Some(("0", _)) => Fadvise::None,
                Some(("random", _)) => Fadvise::Random,
                Some(("sequential", _)) => Fadvise::Sequential,
                _ => Fadvise::ByAccess,
            },
            direct,
            sync: match given.choice("sync") {
                Some(("sync" | "1", _)) => SyncFlag::Sync,
                Some(("dsync", _)) => SyncFlag::DataSync,
                _ => SyncFlag::None,
            },
            write_hint: given.choice("write_hint").map(|(word, _)| match word {
                "short" => WriteHint::Short,
                "medium" => WriteHint::Medium,
                "long" => WriteHint::Long,
                "extreme" => WriteHint::Extreme,
                _ => WriteHint::None,
            }),
        }
    }
}

fn fallocate(given: Values<'_>) -> Fallocate {
    match given.choice("fallocate") {
        Some(("none" | "0", _)) => Fallocate::None,
        Some(("posix" | "1", _)) => Fallocate::Posix,
        Some(("keep", _)) => Fallocate::Keep,
        Some(("truncate", _)) => Fallocate::Truncate,
        _ => Fallocate::Native,
    }
}

/// Names with colons between them; a colon in a name has a backslash before it.
fn separated(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&':') => {
                letters.next();
                names.last_mut().expect("there is one").push(':');
            }
            ':' => names.push(String::new()),
            other => names.last_mut().expect("there is one").push(other),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_between_colons() {
        assert_eq!(separated("/dev/sda:/dev/sdb"), ["/dev/sda", "/dev/sdb"]);
        assert_eq!(separated(r"/dev/dsk/foo@3,0\:c"), ["/dev/dsk/foo@3,0:c"]);
        assert_eq!(separated("a::b:"), ["a", "b"]);
    }
}
