//! The command line of `fsprism densefs`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::arguments::analysis::AnswerOptions;
use crate::arguments::values;

pub(crate) const DENSEFS_EXAMPLES: &str = "\
Examples:
  fsprism densefs mkfs /dev/shm/scratch --size 2g
  fsprism densefs exec /dev/shm/scratch:/dense -- make -C /dense
  fsprism densefs mount /dev/shm/scratch /mnt     for other programs; umount /mnt ends it
  fsprism densefs import src /dev/shm/scratch     copies the tree below src into it
  fsprism densefs stat /dev/shm/scratch           how full it is
  fsprism densefs check /dev/shm/scratch
  fsprism densefs trim /dev/shm/scratch           returns the memory of deleted files
  fsprism densefs export copy /dev/shm/scratch    copies all of it into a new directory

docs/densefs.md says who should use it, and how programs do.
";

const MKFS_EXAMPLES: &str = "\
Examples:
  fsprism densefs mkfs /dev/shm/scratch      of 1 GiB, which is taken only as it is needed
  fsprism densefs mkfs /dev/shm/scratch --overwrite --size 4g --threads 64
";

const EXEC_EXAMPLES: &str = "\
Examples:
  fsprism densefs exec /dev/shm/scratch:/dense -- ls -l /dense
  fsprism densefs exec /dev/shm/scratch:/dense --report -- tar -xf src.tar -C /dense
  fsprism densefs exec /dev/shm/scratch:/dense --strict -- make -C /dense
";

const MOUNT_EXAMPLES: &str = "\
Examples:
  fsprism densefs mount /dev/shm/scratch /mnt
  fsprism densefs mount --foreground /dev/shm/scratch /mnt
";

const STAT_EXAMPLES: &str = "\
Examples:
  fsprism densefs stat /dev/shm/scratch
  fsprism densefs stat /dev/shm/scratch --format json
";

const CHECK_EXAMPLES: &str = "\
Examples:
  fsprism densefs check /dev/shm/scratch
  fsprism densefs check /dev/shm/scratch --format json
";

const TRIM_EXAMPLES: &str = "\
Examples:
  fsprism densefs trim /dev/shm/scratch
";

const IMPORT_EXAMPLES: &str = "\
Examples:
  fsprism densefs import src /dev/shm/scratch
";

const EXPORT_EXAMPLES: &str = "\
Examples:
  fsprism densefs export copy /dev/shm/scratch
";

#[derive(Debug, Subcommand)]
pub(crate) enum DensefsCommand {
    /// Make a DenseFS in a new file, which only its owner may use
    #[command(after_long_help = MKFS_EXAMPLES)]
    Mkfs(MkfsOptions),
    /// Run a program as it is, which sees a DenseFS below PREFIX; others do not
    #[command(after_long_help = EXEC_EXAMPLES)]
    Exec(ExecOptions),
    /// Mount a DenseFS on a directory (FUSE), for programs that know nothing of it
    #[command(after_long_help = MOUNT_EXAMPLES)]
    Mount(MountOptions),
    /// Show how full a DenseFS is, and what is in it
    #[command(after_long_help = STAT_EXAMPLES)]
    Stat(DensefsOptions),
    /// Check an unused DenseFS for damage
    #[command(after_long_help = CHECK_EXAMPLES)]
    Check(DensefsOptions),
    /// Return memory that a DenseFS does not need any more to the system
    #[command(after_long_help = TRIM_EXAMPLES)]
    Trim(DensefsOptions),
    /// Copy the tree below a directory into a DenseFS
    #[command(after_long_help = IMPORT_EXAMPLES)]
    Import(TransferOptions),
    /// Copy everything in a DenseFS into a new or empty directory
    #[command(after_long_help = EXPORT_EXAMPLES)]
    Export(TransferOptions),
    /// Execute rounds of code with calls between them, for `run pollution`, which starts it
    #[command(hide = true)]
    Rounds(RoundsOptions),
}

#[derive(Debug, Args)]
pub(crate) struct RoundsOptions {
    /// What to execute
    #[arg(value_name = "JOB")]
    pub(crate) job: String,
}

#[derive(Debug, Args)]
pub(crate) struct MkfsOptions {
    /// The file; /dev/shm is memory, and keeps it until the computer restarts
    #[arg(value_name = "ARENA")]
    pub(crate) arena: PathBuf,
    /// Size: 64m, 2g; space is taken only as it is needed
    #[arg(long, value_name = "SIZE", default_value = "1g", value_parser = values::size)]
    pub(crate) size: u64,
    /// How many threads of all programs may use it at the same time: one for each 256 KiB, from 16
    /// to 4096, if not given; each takes 1 KiB
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=32_764))]
    pub(crate) threads: Option<u32>,
    /// Permissions of the root directory
    #[arg(long, value_name = "MODE", default_value = "755", value_parser = values::permissions)]
    pub(crate) mode: u32,
    /// Replace the DenseFS that is there, with all that is in it
    #[arg(long)]
    pub(crate) overwrite: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExecOptions {
    /// The file that `fsprism densefs mkfs` made, and the absolute path below which the command
    /// sees it: /dev/shm/scratch:/dense
    #[arg(value_name = "ARENA:PREFIX")]
    pub(crate) place: OsString,
    /// When the command has ended, print which of its calls the library served, and how often
    #[arg(long)]
    pub(crate) report: bool,
    /// Kill the command if one of its calls on the DenseFS bypasses the library (uses ptrace)
    #[arg(long)]
    pub(crate) strict: bool,
    /// The command, after --
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct MountOptions {
    /// The file that `fsprism densefs mkfs` made
    #[arg(value_name = "ARENA")]
    pub(crate) arena: PathBuf,
    /// The mount point
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Stay in the foreground until it is unmounted, or interrupted
    #[arg(long)]
    pub(crate) foreground: bool,
    /// Serve the mount that another process has been asked for
    #[arg(long, hide = true, conflicts_with = "foreground")]
    pub(crate) serve: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DensefsOptions {
    /// The file that `fsprism densefs mkfs` made
    #[arg(value_name = "ARENA")]
    pub(crate) arena: PathBuf,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct TransferOptions {
    /// The directory
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The file that `fsprism densefs mkfs` made
    #[arg(value_name = "ARENA")]
    pub(crate) arena: PathBuf,
}
