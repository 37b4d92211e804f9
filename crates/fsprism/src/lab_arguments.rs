//! The command line of `fsprism lab`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::analysis_arguments::AnswerOptions;
use crate::values;

const BUILD_EXAMPLES: &str = "\
A guest is a machine that QEMU emulates, without root and without KVM. Its kernel is Debian's or
your own, installed or in packages as `make bindeb-pkg` makes them, or is built from Debian's
source; its image holds fsprism itself, busybox and the mkfs tools that are installed here. Both lie
in $FSPRISM_LAB, else in fsprism/lab of the user's cache.

Examples:
  fsprism lab build                          Debian's newest packaged kernel, fetched by apt
  fsprism lab build --kernel 6.1.0-50-amd64  another one, installed here or fetched
  fsprism lab build --kernel \"$(uname -r)\"    the one that runs here
  fsprism lab build --kernel ../linux-image-6.12.0-mine_1_amd64.deb
  fsprism lab build --kernel linux-*-7.2.13+deb14-amd64_*.deb
                                             one that is divided into several packages
  fsprism lab build --from-source            built here: all file systems, debug information
  fsprism lab build --from-source 6.1        of this version
";

const RUN_EXAMPLES: &str = "\
The command is one of busybox's shell. fsprism prints what it prints and ends as it does. File
systems and devices are loaded by --load, which takes the names that lab status prints.

Examples:
  fsprism lab run -- uname -a
  fsprism lab run --load brd,xfs -- 'mkfs.xfs -q /dev/ram0 && mount /dev/ram0 /mnt && df /mnt'
  fsprism lab run --kernel 6.1.0-50-amd64 --time-limit 20s -- cat /proc/version
  fsprism lab run --console console.txt --argument loglevel=7 -- true
";

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Get a kernel and make the image, once
    #[command(after_long_help = BUILD_EXAMPLES)]
    Build(BuildOptions),
    /// Boot a guest and run a command in it
    #[command(after_long_help = RUN_EXAMPLES)]
    Run(LabRunOptions),
    /// Say what is in the lab, and what is missing here
    Status(StatusOptions),
}

#[derive(Debug, Args)]
pub(crate) struct BuildOptions {
    /// The kernel of this release, installed or packaged, or the one in these packages; by default
    /// the newest packaged one
    #[arg(long, value_name = "RELEASE|DEB", num_args = 1.., conflicts_with = "from_source")]
    pub(crate) kernel: Vec<String>,
    /// Build the kernel here, from Debian's source of this version; by default the newest one's
    #[arg(long, value_name = "VERSION", num_args = 0..=1, default_missing_value = "")]
    pub(crate) from_source: Option<String>,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct LabRunOptions {
    /// The kernel of this release; by default the one that was built last
    #[arg(long, value_name = "RELEASE")]
    pub(crate) kernel: Option<String>,
    /// File systems and devices to load first
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) load: Vec<String>,
    /// The guest's memory
    #[arg(long, value_name = "SIZE", default_value = "512m", value_parser = values::size)]
    pub(crate) memory: u64,
    /// When to end a guest that does not end
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = values::time)]
    pub(crate) time_limit: Duration,
    /// Keep the console in this file
    #[arg(long, value_name = "FILE")]
    pub(crate) console: Option<PathBuf>,
    /// A further argument of the kernel (may be repeated)
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
