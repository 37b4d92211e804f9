//! The seeds of a job: one for each purpose, so that what is drawn for one does not move another.

use crate::generator::{Generator, Tausworthe88, Width, low_bits};
use crate::hash;

/// What random numbers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Sizes of reads.
    ReadSize,
    /// Sizes of writes.
    WriteSize,
    /// Sizes of trims.
    TrimSize,
    /// Contents of written blocks that are to be verified.
    Verify,
    /// Whether to read or to write.
    Mix,
    /// Which file comes next.
    NextFile,
    /// Which block comes next.
    Offset,
    /// Sizes of files, if a range is given.
    FileSize,
    /// Which written blocks are trimmed (`trim_percentage`).
    TrimShare,
    /// Contents of buffers.
    Buffer,
    /// Whether the next offset is random (`percentage_random`), in each direction.
    RandomShare,
    /// The delay before the start, if a range is given.
    StartDelay,
    /// Whether a buffer repeats an earlier one.
    Dedupe,
    /// Times between reads that follow a Poisson process.
    PoissonRead,
    /// Times between writes that do.
    PoissonWrite,
    /// Times between trims that do.
    PoissonTrim,
    /// Which zone the next offset is in.
    Zone,
    /// Priorities of commands.
    Priority,
    /// Which buffer of the working set is repeated.
    DedupeWorkingSet,
}

/// What the seeds of one job derive from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeedSource {
    /// `randseed`, if it is given.
    pub randseed: Option<u64>,
    /// `randrepeat` and `allrandrepeat`.
    pub repeats: Repeats,
    /// How many jobs there are up to this one, in all job files: 1 for the first. Each clone that
    /// `numjobs` makes counts.
    pub thread_number: u32,
    /// It is a clone: not the first of the jobs that `numjobs` makes.
    pub is_clone: bool,
    /// Offsets are random.
    pub is_random: bool,
    /// What it shares between directions.
    pub shared_sizes: SharedSizes,
    /// How many bits offsets are drawn with: `random_generator=tausworthe64` has 64.
    pub width: Width,
    /// Random seeds. Used if `randrepeat` is off and `randseed` is not given.
    pub entropy: [u64; SEEDS],
}

/// Which numbers are the same every time that a job is executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeats {
    /// None, unless `randseed` is given: `randrepeat=0`.
    Nothing,
    /// Those for offsets: `randrepeat=1`.
    #[default]
    Offsets,
    /// All, with seeds that do not depend on `randseed`: `allrandrepeat=1`.
    Everything,
    /// As [`Repeats::Everything`], but each pass of the job draws what follows: `randrepeat=0` with
    /// `allrandrepeat=1`.
    EverythingOnce,
}

/// Which directions draw the same sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedSizes {
    /// Reads and writes: what is written is verified.
    pub reads_and_writes: bool,
    /// Trims and writes: what is trimmed is then written (`rw=trimwrite`, `rw=randtrimwrite`).
    pub trims_and_writes: bool,
}

/// The seeds of one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSeeds {
    seeds: [u64; SEEDS],
    thread_number: u32,
    width: Width,
    shared_sizes: SharedSizes,
    repeats_passes: bool,
}

/// How many seeds a job has.
pub const SEEDS: usize = 21;

/// `randseed`, if it is not given.
const DEFAULT_SEED: u64 = 0x89;

/// What seeds that repeat are multiples of.
const REPEATED_SEED: u64 = 0xb189_9bed;

/// What other seeds differ by.
const FACTOR: u64 = 0x9e37_0001;

impl Purpose {
    /// Where its seed is. The order is fio's.
    const fn index(self) -> usize {
        match self {
            Self::ReadSize => 0,
            Self::WriteSize => 1,
            Self::TrimSize => 2,
            Self::Verify => 3,
            Self::Mix => 4,
            Self::NextFile => 5,
            Self::Offset => 6,
            Self::FileSize => 7,
            Self::TrimShare => 8,
            Self::Buffer => 9,
            // Those of writes and trims, 11 and 12, are not used.
            Self::RandomShare => 10,
            Self::StartDelay => 13,
            Self::Dedupe => 14,
            Self::PoissonRead => 15,
            Self::Zone => 16,
            Self::PoissonWrite => 17,
            Self::PoissonTrim => 18,
            Self::Priority => 19,
            Self::DedupeWorkingSet => 20,
        }
    }

    /// Whether it takes 32 bits with `tausworthe64` too.
    const fn is_narrow(self) -> bool {
        match self {
            Self::Mix
            | Self::RandomShare
            | Self::Dedupe
            | Self::PoissonRead
            | Self::PoissonWrite
            | Self::PoissonTrim
            | Self::Zone
            | Self::Priority => true,
            Self::ReadSize
            | Self::WriteSize
            | Self::TrimSize
            | Self::Verify
            | Self::NextFile
            | Self::Offset
            | Self::FileSize
            | Self::TrimShare
            | Self::Buffer
            | Self::StartDelay
            | Self::DedupeWorkingSet => false,
        }
    }
}

impl Repeats {
    /// From the values of `randrepeat` and `allrandrepeat`.
    #[must_use]
    pub const fn new(randrepeat: bool, allrandrepeat: bool) -> Self {
        match (randrepeat, allrandrepeat) {
            (false, false) => Self::Nothing,
            (true, false) => Self::Offsets,
            (true, true) => Self::Everything,
            (false, true) => Self::EverythingOnce,
        }
    }

    const fn randrepeat(self) -> bool {
        match self {
            Self::Nothing | Self::EverythingOnce => false,
            Self::Offsets | Self::Everything => true,
        }
    }

    const fn allrandrepeat(self) -> bool {
        match self {
            Self::Nothing | Self::Offsets => false,
            Self::Everything | Self::EverythingOnce => true,
        }
    }
}

impl JobSeeds {
    /// The seeds that fio gives a job.
    ///
    /// With `randrepeat=1`, the default, `randseed` changes the offsets of clones only: the first
    /// job's seed for offsets is set before `randseed` turns repeating off.
    #[must_use]
    pub fn new(source: &SeedSource) -> Self {
        let thread_number = u64::from(source.thread_number);
        let is_given = source.randseed.is_some();
        let repeats = source.repeats.randrepeat() && !(source.is_clone && is_given);
        let repeated = REPEATED_SEED.wrapping_mul(thread_number);
        let mut seeds = if source.repeats.allrandrepeat() {
            std::array::from_fn(|at| repeated.wrapping_add(at as u64))
        } else if repeats || is_given {
            derive(source.randseed.unwrap_or(DEFAULT_SEED), thread_number)
        } else {
            source.entropy
        };
        if source.is_random && repeats {
            seeds[Purpose::Offset.index()] = repeated;
        }
        Self {
            seeds,
            thread_number: source.thread_number,
            width: source.width,
            shared_sizes: source.shared_sizes,
            repeats_passes: repeats && !is_given,
        }
    }

    /// The seed for a purpose.
    #[must_use]
    pub fn seed(&self, purpose: Purpose) -> u64 {
        let SharedSizes { reads_and_writes, trims_and_writes } = self.shared_sizes;
        let shared = match purpose {
            Purpose::TrimSize if trims_and_writes && reads_and_writes => Purpose::ReadSize,
            Purpose::TrimSize if trims_and_writes => Purpose::WriteSize,
            Purpose::WriteSize if reads_and_writes => Purpose::ReadSize,
            Purpose::ReadSize
            | Purpose::WriteSize
            | Purpose::TrimSize
            | Purpose::Verify
            | Purpose::Mix
            | Purpose::NextFile
            | Purpose::Offset
            | Purpose::FileSize
            | Purpose::TrimShare
            | Purpose::Buffer
            | Purpose::RandomShare
            | Purpose::StartDelay
            | Purpose::Dedupe
            | Purpose::PoissonRead
            | Purpose::PoissonWrite
            | Purpose::PoissonTrim
            | Purpose::Zone
            | Purpose::Priority
            | Purpose::DedupeWorkingSet => purpose,
        };
        self.seeds[shared.index()]
    }

    /// A generator for a purpose, from its beginning.
    #[must_use]
    pub fn generator(&self, purpose: Purpose) -> Generator {
        let width = if purpose.is_narrow() { Width::Bits32 } else { self.width };
        Generator::new(width, self.seed(purpose))
    }

    /// A generator of 32 bits for a purpose, from its beginning.
    #[must_use]
    pub fn narrow_generator(&self, purpose: Purpose) -> Tausworthe88 {
        Tausworthe88::new(low_bits(self.seed(purpose)))
    }

    /// Whether each pass of a job draws the same numbers as the first.
    #[must_use]
    pub const fn repeats_passes(&self) -> bool {
        self.repeats_passes
    }

    /// The same seeds for generators of another width.
    #[must_use]
    pub const fn with_width(self, width: Width) -> Self {
        Self { width, ..self }
    }

    /// The seed that a skewed distribution of offsets in a file with this name has.
    #[must_use]
    pub(crate) fn skew_seed(&self, name: &[u8]) -> u32 {
        if self.repeats_passes {
            hash::of_name(name).wrapping_mul(self.thread_number)
        } else {
            low_bits(self.seed(Purpose::Offset))
        }
    }
}

fn derive(randseed: u64, thread_number: u64) -> [u64; SEEDS] {
    let mut seed = randseed.wrapping_mul(FACTOR.wrapping_pow(4));
    std::array::from_fn(|at| {
        let own = seed.wrapping_mul(thread_number).wrapping_add(at as u64);
        seed = seed.wrapping_mul(FACTOR);
        own
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(thread_number: u32) -> SeedSource {
        SeedSource { thread_number, is_random: true, ..SeedSource::default() }
    }

    #[test]
    fn randseed_changes_offsets_of_clones_only_unless_randrepeat_is_off() {
        let offset = |source: &SeedSource| JobSeeds::new(source).seed(Purpose::Offset);
        let first = source(1);
        let seeded = SeedSource { randseed: Some(5), ..source(1) };
        assert_eq!(offset(&first), REPEATED_SEED);
        assert_eq!(offset(&seeded), offset(&first));
        let clone = SeedSource { is_clone: true, ..source(2) };
        let seeded_clone = SeedSource { randseed: Some(5), ..clone.clone() };
        assert_eq!(offset(&clone), 2 * REPEATED_SEED);
        assert_ne!(offset(&seeded_clone), offset(&clone));
        let unrepeated = SeedSource { repeats: Repeats::Nothing, ..seeded };
        assert_ne!(offset(&unrepeated), offset(&first));
    }

    #[test]
    fn passes_repeat_only_without_randseed() {
        assert!(JobSeeds::new(&source(1)).repeats_passes());
        let seeded = SeedSource { randseed: Some(0x89), ..source(1) };
        let (seeded, default) = (JobSeeds::new(&seeded), JobSeeds::new(&source(1)));
        assert!(!seeded.repeats_passes());
        assert_eq!(seeded.seed(Purpose::Mix), default.seed(Purpose::Mix));
    }

    #[test]
    fn seeds_without_repeats_are_those_of_the_caller() {
        let entropy = std::array::from_fn(|at| 100 + at as u64);
        let source = SeedSource { repeats: Repeats::Nothing, entropy, ..source(3) };
        assert_eq!(JobSeeds::new(&source).seed(Purpose::Zone), 116);
        let source = SeedSource { repeats: Repeats::EverythingOnce, ..source };
        assert_eq!(JobSeeds::new(&source).seed(Purpose::Zone), 3 * REPEATED_SEED + 16);
    }

    #[test]
    fn directions_share_sizes_when_they_must_agree() {
        let with = |reads_and_writes, trims_and_writes| {
            let shared_sizes = SharedSizes { reads_and_writes, trims_and_writes };
            let seeds = JobSeeds::new(&SeedSource { shared_sizes, ..source(1) });
            [Purpose::ReadSize, Purpose::WriteSize, Purpose::TrimSize].map(|one| seeds.seed(one))
        };
        let [read, write, trim] = with(false, false);
        assert_eq!(with(true, false), [read, read, trim]);
        assert_eq!(with(false, true), [read, write, write]);
        assert_eq!(with(true, true), [read, read, read]);
    }
}
