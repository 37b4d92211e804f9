//! Errors of kernels, images and boots.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a kernel or an image is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A file in the lab cannot be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// There is no directory to keep kernels in.
    #[error("the lab has no directory: set FSPRISM_LAB to one, or set HOME")]
    NoPlace,
    /// There is not enough disk space in the lab for a kernel.
    #[error(
        "making a kernel takes up to {} MB in {}, which has {} MB free: make room there, or set \
         FSPRISM_LAB to a directory on a larger disk",
        needed_bytes.div_ceil(1_000_000), .directory.display(), free_bytes / 1_000_000
    )]
    NoRoom {
        /// The lab's directory.
        directory: PathBuf,
        /// The space required.
        needed_bytes: u64,
        /// The space available.
        free_bytes: u64,
    },
    /// A tool is not installed.
    #[error("{tool} is not installed: run apt install {package}")]
    NoTool {
        /// The tool's name.
        tool: String,
        /// The Debian package that contains it.
        package: String,
    },
    /// Several tools or headers that a build needs are not installed.
    #[error("{} needed to build a kernel but missing here: run apt install {packages}", .what)]
    NoBuildTools {
        /// Their names, separated by commas, with `is` or `are`.
        what: String,
        /// The Debian packages that contain them.
        packages: String,
    },
    /// A tool failed.
    #[error("{tool} failed: {why}")]
    Tool {
        /// The tool's name.
        tool: String,
        /// The last line it printed, or its exit status.
        why: String,
    },
    /// apt does not know this package.
    #[error("apt has no package {package}: run apt update, or choose another kernel")]
    NoPackage {
        /// The package's name.
        package: String,
    },
    /// QEMU cannot start this kernel file.
    #[error("{} cannot be booted: {why}", .path.display())]
    NotBootable {
        /// The kernel's file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// apt does not know a source package of this version.
    #[error(
        "apt has no source of Linux {version} (package linux-source-{version}); it has {offered}: \
        choose one of these, or run apt update"
    )]
    NoSource {
        /// The version that was asked for.
        version: String,
        /// The versions on offer, or `no version`.
        offered: String,
    },
    /// The packages lack a part of the kernel.
    #[error("{place} has no {what}: name the package that contains it too")]
    NotInPackages {
        /// The missing part, and which packages have it.
        what: String,
        /// The packages.
        place: String,
    },
    /// The packages contain more than one kernel.
    #[error("{place} has several kernels: name the packages of one of {releases}")]
    SeveralKernels {
        /// Their releases.
        releases: String,
        /// The packages.
        place: String,
    },
    /// The kernel was built without options that guests need.
    #[error(
        "kernel {release} was built without {options}, which guests need: rebuild it accordingly, \
        or use another kernel"
    )]
    Lacks {
        /// The kernel's release.
        release: String,
        /// The configuration options.
        options: String,
    },
    /// The kernel lacks a module that the lab needs.
    #[error("kernel {release} has no module {module}: use one of the full flavour")]
    NoModule {
        /// The kernel's release.
        release: String,
        /// The module's name.
        module: String,
    },
    /// The kernel was built without something that is asked for.
    #[error(
        "kernel {release} was built without {option}: use another (--kernel), or do not ask for it"
    )]
    NoOption {
        /// The kernel's release.
        release: String,
        /// The option of its configuration.
        option: String,
    },
    /// The compiler has no standard library for kernels.
    #[error(
        "rustc cannot compile for kernels here: run rustup target add {target}, or install rustup \
         first"
    )]
    NoRustTarget {
        /// The target that is missing.
        target: String,
    },
    /// The lab does not have DenseFS for this kernel yet.
    #[error(
        "the lab has no DenseFS for kernel {release}{} yet: run fsprism lab build --densefs{} \
         --kernel {release}",
        .layout.map(|layout| format!(" in the layout {layout}")).unwrap_or_default(),
        .layout.map(|layout| format!(" --densefs-layout {layout}")).unwrap_or_default()
    )]
    NoDenseFs {
        /// The kernel's release.
        release: String,
        /// The name of the layout, if a certain one is needed.
        layout: Option<&'static str>,
    },
    /// The lab does not have this kernel yet.
    #[error("the lab has no kernel{asked} yet: run fsprism lab build{option}")]
    NotBuilt {
        /// The requested release with a leading blank, or empty.
        asked: String,
        /// The option that builds it with a leading blank, or empty.
        option: String,
    },
}

impl LabError {
    /// For `map_err`: an error in reading or writing `path`.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Io { path, source }
    }
}

/// Why a guest did not run to completion.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BootError {
    /// QEMU is not installed.
    #[error("qemu-system-x86_64 is not installed: run apt install qemu-system-x86")]
    NoQemu,
    /// QEMU is too old.
    #[error("QEMU {found} is too old: install version {needed} or newer")]
    OldQemu {
        /// The installed version.
        found: String,
        /// The oldest supported version.
        needed: String,
    },
    /// QEMU was built without plugin support.
    #[error(
        "this QEMU does not support plugins: install one built with --enable-plugins, such as \
        Debian's"
    )]
    NoPlugins,
    /// The plugin could not be started.
    #[error("QEMU refused the plugin: {0}")]
    PluginRefused(String),
    /// QEMU exited before the guest started.
    #[error("QEMU failed: {0}")]
    Qemu(String),
    /// QEMU could not be started or watched, or a file of the boot could not be written.
    #[error("cannot run the guest: {0}")]
    Io(#[from] io::Error),
    /// A path that cannot be passed in QEMU's options.
    #[error("QEMU cannot handle a path with a comma: {}", .0.display())]
    Comma(PathBuf),
    /// The guest exceeded its time limit and was killed.
    #[error(
        "the guest was still running after {limit:?} and was stopped; its console ends:\n{console}"
    )]
    Hung {
        /// The time limit.
        limit: Duration,
        /// The last lines of the console.
        console: String,
    },
    /// There is no space left for the guest's files, or for what it hands back.
    #[error(
        "no space left in {} for what the guest reads and writes: free some, or set TMPDIR to \
         another directory", directory.display()
    )]
    Full {
        /// Where these are kept while the guest runs.
        directory: PathBuf,
    },
    /// The guest's kernel panicked.
    #[error("the guest's kernel panicked:\n{console}")]
    Panicked {
        /// The console output from the panic on.
        console: String,
    },
    /// The guest stopped without reporting an outcome.
    #[error("the guest stopped early, after {files} files; its console ends:\n{console}")]
    Cut {
        /// The number of files that arrived complete and are kept.
        files: usize,
        /// The last lines of the console.
        console: String,
    },
    /// The guest reported that it failed.
    #[error("the guest failed: {0}")]
    Failed(String),
    /// What the guest handed back cannot be written.
    #[error("cannot keep what the guest handed back: {0}")]
    Handover(#[from] crate::handover::HandoverError),
    /// The caller asked to stop.
    #[error("the guest was stopped")]
    Stopped,
}

impl BootError {
    /// The error for a file of a boot that could not be written.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours")]
    pub(crate) fn from_write(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull => Self::Full { directory: std::env::temp_dir() },
            _ => Self::Io(error),
        }
    }
}
