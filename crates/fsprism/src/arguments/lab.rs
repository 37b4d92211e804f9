//! The command line of `fsprism lab`.

use std::path::PathBuf;
use std::time::Duration;

use ::lab::densefs::Layout;
use clap::{Args, Subcommand};

use crate::arguments::analysis::AnswerOptions;
use crate::arguments::values;

pub(crate) const LAB_EXAMPLES: &str = "\
Examples:
  fsprism lab build                          get a kernel and make the image, once
  fsprism lab run -- uname -a                boot a guest that runs a command
  fsprism lab status                         what is there, and what is missing
";

const BUILD_EXAMPLES: &str = "\
A guest is a machine that QEMU emulates, without root and without KVM. Its kernel is Debian's or
your own, installed or in packages made by `make bindeb-pkg`, or is built from Debian's source. Its
image holds fsprism itself, busybox and the mkfs tools installed here. Both are kept in
$FSPRISM_LAB, or by default in fsprism/lab in your cache directory.

Examples:
  fsprism lab build                          Debian's newest packaged kernel, fetched by apt
  fsprism lab build --kernel 6.1.0-50-amd64  another one, installed here or fetched
  fsprism lab build --kernel \"$(uname -r)\"    the running one
  fsprism lab build --kernel ../linux-image-6.12.0-mine_1_amd64.deb
  fsprism lab build --kernel linux-*-7.2.13+deb14-amd64_*.deb
                                             one split into several packages
  fsprism lab build --from-source            built here: all file systems, debug information
  fsprism lab build --from-source 6.1        from this version
  fsprism lab build --from-source --checks   one that checks itself and its modules
  fsprism lab build --densefs                with DenseFS, for fsprism run footprint densefs
";

const RUN_EXAMPLES: &str = "\
Busybox's shell runs the command; fsprism prints its output and exits with its status. --load loads
file systems and devices by the names that lab status prints.

Examples:
  fsprism lab run -- uname -a
  fsprism lab run --load brd,xfs -- 'mkfs.xfs -q /dev/ram0 && mount /dev/ram0 /mnt && df /mnt'
  fsprism lab run --kernel 6.1.0-50-amd64 --time-limit 20s -- cat /proc/version
  fsprism lab run --console console.txt --argument loglevel=7 -- true
";

const STATUS_EXAMPLES: &str = "\
Examples:
  fsprism lab status
  fsprism lab status --format json
";

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Get a kernel and make the image, once
    #[command(after_long_help = BUILD_EXAMPLES)]
    Build(BuildOptions),
    /// Boot a guest and run a command in it
    #[command(after_long_help = RUN_EXAMPLES)]
    Run(LabRunOptions),
    /// Show what is in the lab and what is missing here
    #[command(after_long_help = STATUS_EXAMPLES)]
    Status(StatusOptions),
}

#[derive(Debug, Args)]
pub(crate) struct BuildOptions {
    /// Kernel release, installed or packaged, or the packages of a kernel; by default the newest
    /// packaged kernel
    #[arg(long, value_name = "RELEASE|DEB", num_args = 1.., conflicts_with = "from_source")]
    pub(crate) kernel: Vec<String>,
    /// Build the kernel here from Debian's source of this version; by default the newest
    #[arg(long, value_name = "VERSION", num_args = 0..=1, default_missing_value = "")]
    pub(crate) from_source: Option<String>,
    /// Build one that checks itself and its modules: memory accesses (KASAN), locks, sleeping. It
    /// takes a minute or more to boot
    #[arg(long, requires = "from_source")]
    pub(crate) checks: bool,
    /// Also build DenseFS as a module for the kernel
    #[arg(long)]
    pub(crate) densefs: bool,
    /// How the module's code is laid out: plain, aligned, hinted or ordered; each also has what
    /// those before it have
    #[arg(long, value_name = "LAYOUT", default_value = "ordered", requires = "densefs")]
    pub(crate) densefs_layout: Layout,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct LabRunOptions {
    /// Kernel release; by default the one built last
    #[arg(long, value_name = "RELEASE")]
    pub(crate) kernel: Option<String>,
    /// File systems and devices to load first
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) load: Vec<String>,
    /// The guest's memory
    #[arg(long, value_name = "SIZE", default_value = "512m", value_parser = values::size)]
    pub(crate) memory: u64,
    /// Stop the guest if it is still running after this time
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = values::time)]
    pub(crate) time_limit: Duration,
    /// Save the guest's console to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) console: Option<PathBuf>,
    /// An extra kernel argument (may be repeated)
    #[arg(long = "argument", value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    /// The command, after --
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct StatusOptions {
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}
