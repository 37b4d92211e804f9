//! What a job's options say about offsets, sizes and directions.

use crate::direction::{Direction, PerDirection};
use crate::error::OffsetError;
use crate::generator::Width;
use crate::skew::{Skew, Skewed, ZipfSampler};
use crate::split::{self, SizeReader, SizeShare, Zone};

/// All that decides which block comes next.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// `rw`, without its number.
    pub accesses: Accesses,
    /// `rw`: random or sequential, with its number.
    pub order: Order,
    /// `rw_sequencer`: what transfers in between have as offsets.
    pub sequencer: Sequencer,
    /// `rwmixread`, or 100 less `rwmixwrite`.
    pub read_percent: u32,
    /// `bs`, `bsrange`, `bssplit`, `blockalign`.
    pub block_sizes: PerDirection<BlockSizes>,
    /// `bs_unaligned`, `bs_is_seq_rand`.
    pub size_rules: SizeRules,
    /// `random_distribution`.
    pub distribution: Distribution,
    /// `percentage_random`.
    pub random_percent: PerDirection<u8>,
    /// `random_generator`. `None` if it is not given.
    pub generator: Option<RandomGenerator>,
    /// `norandommap`, the other way round: each block once.
    pub has_map: bool,
    /// `file_service_type`.
    pub file_service: FileService,
    /// `fsync`, `fdatasync`, `sync_file_range`.
    pub syncs: Syncs,
    /// When a job ends.
    pub limits: Limits,
    /// What is verified.
    pub verification: Verification,
}

/// Which directions a job has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accesses {
    /// `read`, `randread`.
    Read,
    /// `write`, `randwrite`.
    Write,
    /// `trim`, `randtrim`.
    Trim,
    /// `rw`, `randrw`.
    ReadWrite,
    /// `trimwrite`, `randtrimwrite`: what is trimmed is written next.
    TrimWrite,
}

/// Sequential or random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One block after another.
    Sequential {
        /// How far apart: `4096` of `rw=read:4k`. Negative goes backwards.
        gap_bytes: i64,
    },
    /// At random.
    Random {
        /// How many transfers share a random offset: `8` of `rw=randread:8`, otherwise 1. 0 is
        /// never random.
        every: u32,
    },
}

/// What follows a random offset until the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sequencer {
    /// The blocks after it.
    #[default]
    Sequential,
    /// The same block.
    Identical,
}

/// The sizes of transfers in one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockSizes {
    /// The lowest.
    pub min_bytes: u64,
    /// The highest.
    pub max_bytes: u64,
    /// What random offsets are multiples of, if not of the lowest size.
    pub align_bytes: Option<u64>,
    /// The sizes that there are, with how often. Empty if all between are.
    pub split: Vec<SizeShare>,
}

/// Rules for sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeRules {
    /// Sizes need not be multiples of the lowest.
    pub is_unaligned: bool,
    /// The sizes of reads are those of sequential transfers, and of writes those of random ones.
    pub are_by_order: bool,
}

/// How random offsets are distributed.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Distribution {
    /// All equally often.
    #[default]
    Uniform,
    /// `zipf`, `pareto`, `normal`.
    Skewed(Skewed),
    /// `zoned`, in percent of the file.
    Zoned(PerDirection<Vec<Zone>>),
    /// `zoned_abs`, in bytes.
    ZonedBytes(PerDirection<Vec<Zone>>),
}

/// How random offsets are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomGenerator {
    /// L'Ecuyer's generators.
    Tausworthe(Width),
    /// A register that gives each block once, without a map.
    Lfsr,
}

/// Which file comes next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileService {
    /// How it is chosen.
    pub order: FileOrder,
    /// How many transfers it gets in a row.
    pub transfers: u32,
}

/// How the next file is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileOrder {
    /// Each in turn.
    RoundRobin,
    /// The next when one is done.
    Sequential,
    /// All equally often.
    Random,
    /// Some more often than others.
    Skewed(Skewed),
}

/// After how many writes the file is synchronised; never if 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Syncs {
    /// By `fsync`.
    pub fsync: u32,
    /// By `fdatasync`.
    pub fdatasync: u32,
    /// By `sync_file_range`.
    pub sync_file_range: u32,
    /// Jobs that only read are synchronised too.
    pub of_reads: bool,
}

/// When a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `size`, as it is once files have been laid out: that of all files if it was not given or
    /// longer. `u64::MAX` if there is none.
    pub size_bytes: u64,
    /// `io_size`: how much is transferred, if that differs.
    pub io_size_bytes: Option<u64>,
    /// `number_ios`. No limit if 0.
    pub transfers: u64,
    /// `loops`.
    pub loops: u32,
    /// `time_based`: only time ends it.
    pub is_time_based: bool,
    /// When transfers complete.
    pub completion: Completion,
}

/// When the transfers of an I/O engine complete. A pass ends after the bytes of one pass only if
/// they are queued; otherwise it lasts as long as files have offsets left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Completion {
    /// Before the next begins: `psync`.
    #[default]
    AtOnce,
    /// Later.
    Queued,
    /// Later, but for trims: `io_uring`, `libaio`.
    QueuedExceptTrims,
}

/// What is verified, as far as it changes how long a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verification {
    /// `verify` is not `none`.
    pub is_on: bool,
    /// `verify_backlog` is given: what was written is read in between.
    pub has_backlog: bool,
    /// `do_verify`, which is on if it is not given.
    pub has_phase: bool,
}

impl Accesses {
    /// Whether both reads and writes are chosen among.
    #[must_use]
    pub const fn is_mixed(self) -> bool {
        matches!(self, Self::ReadWrite)
    }

    /// Whether there are writes.
    #[must_use]
    pub const fn has_writes(self) -> bool {
        match self {
            Self::Write | Self::ReadWrite | Self::TrimWrite => true,
            Self::Read | Self::Trim => false,
        }
    }

    /// The direction before any choice.
    #[must_use]
    pub const fn first(self) -> Direction {
        match self {
            Self::Read | Self::ReadWrite => Direction::Read,
            Self::Write | Self::TrimWrite => Direction::Write,
            Self::Trim => Direction::Trim,
        }
    }
}

impl Order {
    /// Whether offsets are random.
    #[must_use]
    pub const fn is_random(self) -> bool {
        matches!(self, Self::Random { .. })
    }
}

impl BlockSizes {
    /// All transfers have one size.
    #[must_use]
    pub const fn fixed(bytes: u64) -> Self {
        Self::range(bytes, bytes)
    }

    /// Transfers have sizes from the one to the other.
    #[must_use]
    pub const fn range(min_bytes: u64, max_bytes: u64) -> Self {
        Self { min_bytes, max_bytes, align_bytes: None, split: Vec::new() }
    }

    /// Transfers have some sizes, of which there is at least one.
    #[must_use]
    pub fn split(split: Vec<SizeShare>) -> Self {
        let bytes = || split.iter().map(|share| share.bytes);
        let (min_bytes, max_bytes) = (bytes().min().unwrap_or(0), bytes().max().unwrap_or(0));
        Self { min_bytes, max_bytes, align_bytes: None, split }
    }
}

impl Completion {
    /// Whether transfers in a direction are queued.
    #[must_use]
    pub const fn is_queued(self, direction: Direction) -> bool {
        match self {
            Self::AtOnce => false,
            Self::Queued => true,
            Self::QueuedExceptTrims => !matches!(direction, Direction::Trim),
        }
    }
}

impl Default for FileService {
    fn default() -> Self {
        Self { order: FileOrder::RoundRobin, transfers: 1 }
    }
}

impl FileService {
    /// A value of `file_service_type`: `random:8`, `zipf:1.2`.
    ///
    /// # Errors
    /// What is wrong with the value.
    pub fn parse(text: &str, sampler: ZipfSampler) -> Result<Self, OffsetError> {
        const OPTION: &str = "file_service_type";
        let (name, rest) = name_and_rest(text);
        let counted = |order| {
            let transfers = rest.map_or(Ok(1), |count| {
                let not_a_number = || not_a_number(OPTION, count);
                count.trim().parse().map_err(|_| not_a_number())
            })?;
            Ok(Self { order, transfers })
        };
        match name {
            "roundrobin" => counted(FileOrder::RoundRobin),
            "sequential" => counted(FileOrder::Sequential),
            "random" => counted(FileOrder::Random),
            "gauss" | "normal" | "zipf" | "pareto" => {
                let skewed = skewed(OPTION, name, rest, sampler)?;
                Ok(Self { order: FileOrder::Skewed(skewed), transfers: 1 })
            }
            _ => Err(OffsetError::Unknown { option: OPTION, text: name.to_owned() }),
        }
    }

    /// Whether files never end, because some come up more often than others.
    #[must_use]
    pub const fn is_skewed(self) -> bool {
        matches!(self.order, FileOrder::Skewed(_))
    }
}

impl Distribution {
    /// A value of `random_distribution`: `zipf:1.2:0.5`, `zoned:60/10:40/90`.
    ///
    /// # Errors
    /// What is wrong with the value.
    pub fn parse(
        text: &str,
        sampler: ZipfSampler,
        size: SizeReader<'_>,
    ) -> Result<Self, OffsetError> {
        const OPTION: &str = "random_distribution";
        let (name, rest) = name_and_rest(text);
        match name {
            "random" => Ok(Self::Uniform),
            "zoned" => Ok(Self::Zoned(split::zones(rest.unwrap_or_default())?)),
            "zoned_abs" => {
                Ok(Self::ZonedBytes(split::zones_in_bytes(rest.unwrap_or_default(), size)?))
            }
            "normal" | "zipf" | "pareto" => Ok(Self::Skewed(skewed(OPTION, name, rest, sampler)?)),
            _ => Err(OffsetError::Unknown { option: OPTION, text: name.to_owned() }),
        }
    }

    /// Whether offsets are uniform over the whole file, which alone allows a map.
    #[must_use]
    pub const fn is_uniform(&self) -> bool {
        matches!(self, Self::Uniform)
    }
}

impl Default for Verification {
    fn default() -> Self {
        Self { is_on: false, has_backlog: false, has_phase: true }
    }
}

impl Limits {
    /// As much as is transferred in one pass.
    #[must_use]
    pub fn pass_bytes(&self) -> u64 {
        self.io_size_bytes.unwrap_or(self.size_bytes)
    }
}

fn name_and_rest(text: &str) -> (&str, Option<&str>) {
    match text.trim().split_once(':') {
        Some((name, rest)) => (name.trim_end(), Some(rest)),
        None => (text.trim(), None),
    }
}

fn not_a_number(option: &'static str, text: &str) -> OffsetError {
    OffsetError::NotANumber { option, text: text.to_owned() }
}

/// `1.2` or `1.2:0.5`, after the name of a distribution.
fn skewed(
    option: &'static str,
    name: &str,
    rest: Option<&str>,
    sampler: ZipfSampler,
) -> Result<Skewed, OffsetError> {
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| not_a_number(option, text));
    let (value, center) = match rest.map(|rest| rest.split_once(':').ok_or(rest)) {
        None => (None, None),
        Some(Err(value)) => (Some(number(value)?), None),
        // A center of -1 is as good as none.
        Some(Ok((value, center))) => {
            let center = Some(number(center)?).filter(|center| *center != -1.0);
            (Some(number(value)?), center)
        }
    };
    let out_of_range = |what, range| OffsetError::OutOfRange { option, what, range };
    if center.is_some_and(|center| !(0.0..=1.0).contains(&center)) {
        return Err(out_of_range("the center", "from 0 to 1"));
    }
    let skew = match name {
        "zipf" => {
            let theta = value.unwrap_or(1.1);
            let is_valid = theta != 1.0 && theta >= 0.0 && theta.is_finite();
            is_valid
                .then_some(Skew::Zipf { theta, sampler })
                .ok_or(out_of_range("theta", "at least 0, and not 1"))?
        }
        "pareto" => {
            let h = value.unwrap_or(0.2);
            let is_valid = h > 0.0 && h < 1.0;
            is_valid.then_some(Skew::Pareto { h }).ok_or(out_of_range("h", "between 0 and 1"))?
        }
        _ => {
            let deviation_percent = value.unwrap_or(0.0);
            let is_valid = (0.0..100.0).contains(&deviation_percent);
            is_valid
                .then_some(Skew::Normal { deviation_percent })
                .ok_or(out_of_range("the deviation", "from 0 to less than 100"))?
        }
    };
    Ok(Skewed { skew, center })
}
