//! What can be wrong with kernels, images and boots.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A kernel or an image that cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A file of the lab cannot be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the kernel says.
        source: io::Error,
    },
    /// There is no directory to keep kernels in.
    #[error("the lab has no directory: set FSPRISM_LAB to one, or set HOME")]
    NoPlace,
    /// The lab's disk has no room for a kernel.
    #[error(
        "making a kernel takes up to {} MB in {}, which has {} MB free: make room there, or set \
         FSPRISM_LAB to a directory on a larger disk",
        needed_bytes.div_ceil(1_000_000), .directory.display(), free_bytes / 1_000_000
    )]
    NoRoom {
        /// The lab.
        directory: PathBuf,
        /// What it takes.
        needed_bytes: u64,
        /// What there is.
        free_bytes: u64,
    },
    /// A tool is not installed.
    #[error("{tool} is not installed: run apt install {package}")]
    NoTool {
        /// The tool's name.
        tool: String,
        /// Debian's package with it.
        package: String,
    },
    /// Several tools or headers that a build needs are not installed.
    #[error("{} needed to build a kernel but missing here: run apt install {packages}", .what)]
    NoBuildTools {
        /// Their names, separated by commas, with `is` or `are`.
        what: String,
        /// Debian's packages with them.
        packages: String,
    },
    /// A tool failed.
    #[error("{tool} failed: {why}")]
    Tool {
        /// The tool's name.
        tool: String,
        /// What it said last.
        why: String,
    },
    /// apt knows no such package.
    #[error("apt has no package {package}: run apt update, or choose another kernel")]
    NoPackage {
        /// The package's name.
        package: String,
    },
    /// The kernel's file is not what QEMU can start.
    #[error("{} cannot be booted: {why}", .path.display())]
    NotBootable {
        /// The kernel's file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// apt knows no source of this version.
    #[error(
        "apt has no source of Linux {version} (package linux-source-{version}); it has {offered}: \
        choose one of these, or run apt update"
    )]
    NoSource {
        /// The version that was asked for.
        version: String,
        /// The versions that there are, or `no version`.
        offered: String,
    },
    /// Packages lack a part of a kernel.
    #[error("{place} has no {what}: name the package that contains it too")]
    NotInPackages {
        /// The part, with the packages that have it.
        what: String,
        /// The packages.
        place: String,
    },
    /// Packages hold more than one kernel.
    #[error("{place} has several kernels: name the packages of one of {releases}")]
    SeveralKernels {
        /// Their releases.
        releases: String,
        /// The packages.
        place: String,
    },
    /// The kernel was not built for what guests do.
    #[error(
        "kernel {release} was built without {options}, which guests need: rebuild it accordingly, \
        or use another kernel"
    )]
    Lacks {
        /// The kernel's release.
        release: String,
        /// The options of its configuration.
        options: String,
    },
    /// The kernel lacks a part that the lab needs.
    #[error("kernel {release} has no module {module}: use one of the full flavour")]
    NoModule {
        /// The kernel's release.
        release: String,
        /// The module's name.
        module: String,
    },
    /// No kernel is there yet.
    #[error("the lab has no kernel{asked} yet: run fsprism lab build{option}")]
    NotBuilt {
        /// The release that was asked for, with a blank before it, or nothing.
        asked: String,
        /// The option that builds it, with a blank before it, or nothing.
        option: String,
    },
}

impl LabError {
    /// An error of reading or writing `path`, for `map_err`.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Io { path, source }
    }
}

/// A guest that did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BootError {
    /// QEMU is not installed.
    #[error("qemu-system-x86_64 is not installed: run apt install qemu-system-x86")]
    NoQemu,
    /// QEMU is too old.
    #[error("QEMU {found} is too old: install version {needed} or newer")]
    OldQemu {
        /// The version that is here.
        found: String,
        /// The oldest that will do.
        needed: String,
    },
    /// QEMU was built without plugins.
    #[error(
        "this QEMU does not support plugins: install one built with --enable-plugins, such as \
        Debian's"
    )]
    NoPlugins,
    /// The plugin could not be started.
    #[error("QEMU refused the plugin: {0}")]
    PluginRefused(String),
    /// QEMU ended before the guest began.
    #[error("QEMU failed: {0}")]
    Qemu(String),
    /// QEMU could not be started or watched, or a file of the boot not be written.
    #[error("cannot run the guest: {0}")]
    Io(#[from] io::Error),
    /// A path that QEMU's options cannot hold.
    #[error("QEMU cannot handle a path with a comma: {}", .0.display())]
    Comma(PathBuf),
    /// The guest had not ended in time, and was ended.
    #[error(
        "the guest was still running after {limit:?} and was stopped; its console ends:\n{console}"
    )]
    Hung {
        /// How long it had.
        limit: Duration,
        /// The console's last lines.
        console: String,
    },
    /// There is no room for the guest's files, or what it hands back.
    #[error(
        "no space left in {} for what the guest reads and writes: free some, or set TMPDIR to \
         another directory", directory.display()
    )]
    Full {
        /// Where they are kept until the guest ends.
        directory: PathBuf,
    },
    /// The guest's kernel panicked.
    #[error("the guest's kernel panicked:\n{console}")]
    Panicked {
        /// The console's lines from the panic on.
        console: String,
    },
    /// The guest ended without saying so.
    #[error("the guest stopped early, after {files} files; its console ends:\n{console}")]
    Cut {
        /// Files that came whole, and are kept.
        files: usize,
        /// The console's last lines.
        console: String,
    },
    /// The guest handed back that it failed.
    #[error("the guest failed: {0}")]
    Failed(String),
    /// What the guest handed back cannot be kept.
    #[error("cannot keep what the guest handed back: {0}")]
    Handover(#[from] crate::handover::HandoverError),
    /// The caller asked to stop.
    #[error("the guest was stopped")]
    Stopped,
}

impl BootError {
    /// A file of a boot that could not be written.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours")]
    pub(crate) fn of_room(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull => Self::Full { directory: std::env::temp_dir() },
            _ => Self::Io(error),
        }
    }
}
