//! Why a search for cliffs cannot start.

use textual::size;
use thiserror::Error;

/// A search for cliffs that is not possible as requested.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CliffError {
    /// The ends of the range are too close together, or in the wrong order.
    #[error(
        "the search needs a range of at least a factor of 2, but {low} to {high} {unit} is less: \
         give a smaller --low or a larger --high"
    )]
    Range {
        /// The lower end.
        low: u64,
        /// The upper end.
        high: u64,
        /// Their unit.
        unit: &'static str,
    },
    /// The lower end is smaller than one step of the axis.
    #[error("the search must start at {least} {unit} or more: give a larger --low than {low}")]
    LowTooSmall {
        /// The lower end.
        low: u64,
        /// The least that it must be.
        least: u64,
        /// Their unit.
        unit: &'static str,
    },
    /// Neither a memory limit nor the processor's caches suggest a range.
    #[error(
        "{target} has no memory limit, and this machine does not report the sizes of its caches: \
         give the range with --low and --high, or give the target a limit, such as memory=64m"
    )]
    NoRange {
        /// The target.
        target: String,
    },
    /// The file of the largest working set does not fit.
    #[error(
        "a file of {needed_bytes} bytes does not fit into {target}, which has {free_bytes} bytes \
         free: give a smaller {option}{larger}"
    )]
    NoRoom {
        /// The target.
        target: String,
        /// The size of the file.
        needed_bytes: u64,
        /// The free space.
        free_bytes: u64,
        /// The option that sets the size of the file.
        option: &'static str,
        /// What else would help.
        larger: &'static str,
    },
    /// With a file system in memory, files count in full towards the limit.
    #[error(
        "{target} keeps its only copy of a file in memory, so a memory limit would end the search \
         instead of showing a cliff: leave memory= out, or use a file system on a device, such as \
         ext4:memory=64m"
    )]
    LimitOnMemory {
        /// The target.
        target: String,
    },
    /// The largest request is larger than the file.
    #[error(
        "requests of up to {largest} bytes are larger than the file of {file_bytes} bytes: give a \
         smaller {option}, or a larger --working-set"
    )]
    RequestTooLarge {
        /// The largest request.
        largest: u64,
        /// The size of the file.
        file_bytes: u64,
        /// The option that sets the size of requests.
        option: &'static str,
    },
    /// A request is larger than the largest possible one.
    #[error("a request of {request_bytes} bytes is larger than {most}: give a smaller --request")]
    RequestAboveMost {
        /// The request.
        request_bytes: u64,
        /// The largest.
        most: u64,
    },
    /// The working set is too small for a request.
    #[error(
        "a working set of {bytes} bytes cannot hold a request of {request_bytes}: give a larger \
         --working-set or a smaller --request"
    )]
    WorkingSetTooSmall {
        /// The working set.
        bytes: u64,
        /// The request.
        request_bytes: u64,
    },
    /// More threads than possible.
    #[error("{threads} threads are more than {most}: give a smaller {option}")]
    TooManyThreads {
        /// The option that asks for them.
        option: &'static str,
        /// The number of threads requested.
        threads: u64,
        /// The most.
        most: u64,
    },
    /// The parameter that is searched along is also set to a fixed value.
    #[error("{option} fixes what --axis {axis} searches along: leave one of them out")]
    AxisFixed {
        /// The axis.
        axis: &'static str,
        /// The option.
        option: &'static str,
    },
    /// The target is not on an image, so fsprism cannot change the size of its volume.
    #[error(
        "{target} has no image of its own, so its volume has one size only: name a file system \
         that fsprism makes on an image, such as btrfs"
    )]
    NoVolume {
        /// The target.
        target: String,
    },
    /// Every probe would have to write its volume first.
    #[error(
        "{target} is written before it is used, which takes too long for a volume that is made \
         anew for each probe: leave aged=, --aged and image=allocated out, and filled= where files \
         cannot reserve space"
    )]
    WrittenVolumes {
        /// The target.
        target: String,
    },
    /// mkfs cannot make a volume that small.
    #[error(
        "a volume of {} is too small for {target}, whose mkfs needs {}: give {option} {}m or more",
        size(*bytes as f64, 4), size(*least as f64, 4), least.div_ceil(1 << 20)
    )]
    VolumeBelowLeast {
        /// The target.
        target: String,
        /// The end of the range.
        bytes: u64,
        /// The smallest volume.
        least: u64,
        /// The option that sets this end.
        option: &'static str,
    },
    /// The largest volume does not fit.
    #[error(
        "a volume of {} does not fit: the scratch directory has room for one of {} for {target}; \
         give a smaller --high, or another directory with --scratch",
        size(*high as f64, 4), size(*most as f64, 4)
    )]
    VolumeTooLarge {
        /// The target.
        target: String,
        /// The size requested.
        high: u64,
        /// The most that fits.
        most: u64,
    },
    /// The smallest volume would be too small for the file.
    #[error(
        "a volume of {} is too small for a file of {} and what else it holds: give --low {}m or \
         more, or a smaller --working-set",
        size(*low as f64, 4), size(*file_bytes as f64, 4), least.div_ceil(1 << 20)
    )]
    VolumeTooSmall {
        /// The smallest volume.
        low: u64,
        /// The file.
        file_bytes: u64,
        /// The least that it must be.
        least: u64,
    },
    /// A share above 100 %.
    #[error("{option} is a share of operations, from 0 to 100 %, but {value} % is more")]
    ShareTooLarge {
        /// The option.
        option: &'static str,
        /// The value given.
        value: u64,
    },
    /// A percentage where it has no meaning.
    #[error("{option} is counted in {unit} on this axis: write it without %, not as {value}%")]
    NoShare {
        /// The option.
        option: &'static str,
        /// The value given.
        value: u64,
        /// The axis' unit.
        unit: &'static str,
    },
    /// The ends of a range of shares are too close together, or in the wrong order.
    #[error(
        "the search needs a range of at least {least} points, but {low} % to {high} % is less: \
         give a smaller --low or a larger --high"
    )]
    ShareRange {
        /// The lower end.
        low: u64,
        /// The upper end.
        high: u64,
        /// The least difference.
        least: u64,
    },
    /// A search reads and writes by system calls, which do not reach this target.
    #[error(
        "{target} is not reached by system calls, with which cliffs are searched for; leave it out"
    )]
    ByLibrary {
        /// The target.
        target: String,
    },
    /// Something failed on a target.
    #[error("{target}: {why}")]
    Target {
        /// The target.
        target: String,
        /// What failed.
        why: String,
    },
    /// The search was told to stop.
    #[error("interrupted before anything was measured")]
    Stopped,
}
