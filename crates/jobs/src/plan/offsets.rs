//! Which blocks of which files come in which order, in which direction.

use job_files::quantity::{KbBase, Size};
use job_offsets::{
    Accesses, Amount, BlockSizes, Completion, Direction, Distribution, ExtentOptions, FileService,
    Limits, OffsetError, Order, PerDirection, RandomGenerator, Repeats, Sequencer, SizeRules, Spec,
    Syncs, Verification, Width, ZipfSampler, block_sizes,
};

use super::engine::EngineChoice;
use super::given::Values;
use super::syncs::SyncsPlan;

type Wrong = (&'static str, String);

/// What decides the order of accesses. Sizes of files and what depends on them come later.
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetsPlan {
    /// Everything but limits, which depend on the sizes of files.
    pub spec: Spec,
    /// Which part of files is accessed. The number of the clone is filled in for each.
    pub extents: ExtentOptions,
    /// `randseed`, if given.
    pub seed: Option<u64>,
    /// `randrepeat` and `allrandrepeat`.
    pub repeats: Repeats,
    /// How many bits random numbers have.
    pub width: Width,
}

impl OffsetsPlan {
    pub(super) fn read(
        given: Values<'_>,
        engine: EngineChoice,
        zipf: ZipfSampler,
    ) -> Result<Self, Wrong> {
        let base = given.base();
        let (accesses, order) = accesses(given, base)?;
        let sizes = sizes(given, base)?;
        let min_block_bytes =
            sizes.iter().map(|size| size.min_bytes).min().expect("there are three directions");
        let distribution = distribution(given, base, zipf)?;
        let is_aligned = |direction: Direction| {
            let size = &sizes[direction];
            size.align_bytes.is_none_or(|align| align == size.min_bytes)
        };
        // Other alignments of random offsets turn the map off, as fio does.
        let fits = !order.is_random() || Direction::ALL.into_iter().all(is_aligned);
        let has_map = !given.switch("norandommap", false) && distribution.is_uniform() && fits;
        let width = match given.choice("random_generator") {
            Some(("tausworthe64", _)) => Width::Bits64,
            _ => Width::Bits32,
        };
        let verifies = super::verify::is_on(given);
        let (extents, io_size) = extents(given, min_block_bytes);
        let spec = Spec {
            accesses,
            order,
            sequencer: match given.choice("rw_sequencer") {
                Some(("identical", _)) => Sequencer::Identical,
                _ => Sequencer::Sequential,
            },
            read_percent: match (given.is_given("rwmixread"), given.is_given("rwmixwrite")) {
                (false, true) => 100 - given.small("rwmixwrite", 50).min(100),
                (_, _) => given.small("rwmixread", 50),
            },
            block_sizes: sizes,
            size_rules: SizeRules {
                is_unaligned: given.switch("bs_unaligned", false),
                are_by_order: given.switch("bs_is_seq_rand", false),
            },
            distribution,
            random_percent: per_direction(
                given.counts("percentage_random", 100).map(|one| u8::try_from(one).unwrap_or(100)),
            ),
            generator: generator(given, width),
            has_map,
            file_service: file_service(given, zipf)?,
            syncs: Syncs {
                fsync: given.small("fsync", 0),
                fdatasync: given.small("fdatasync", 0),
                sync_file_range: SyncsPlan::read(given)?.range,
                of_reads: false,
            },
            limits: limits(given, io_size, engine),
            verification: Verification {
                is_on: verifies,
                has_backlog: given.bytes("verify_backlog").unwrap_or(0) > 0,
                has_phase: given.switch("do_verify", true),
            },
        };
        Ok(Self {
            spec,
            extents,
            seed: given.bytes("randseed"),
            repeats: Repeats::new(
                given.switch("randrepeat", true),
                given.switch("allrandrepeat", false),
            ),
            width,
        })
    }

    /// The smallest block of any direction, in bytes.
    #[must_use]
    pub fn block_bytes_min(&self) -> u64 {
        self.extents.min_block_bytes
    }

    /// The largest block of any direction, in bytes.
    #[must_use]
    pub fn block_bytes_max(&self) -> u64 {
        let largest = self.spec.block_sizes.iter().map(|size| size.max_bytes).max();
        largest.expect("there are three directions")
    }
}

/// All but the size, which is known when there are files.
fn limits(given: Values<'_>, io_size_bytes: Option<u64>, engine: EngineChoice) -> Limits {
    Limits {
        size_bytes: u64::MAX,
        io_size_bytes,
        transfers: given.bytes("number_ios").unwrap_or(0),
        loops: given.small("loops", 1).max(1),
        is_time_based: given.switch("time_based", false),
        completion: completion(engine, given.small("iodepth", 1)),
    }
}

fn completion(engine: EngineChoice, depth: u32) -> Completion {
    match engine {
        EngineChoice::Libaio | EngineChoice::IoUring => Completion::QueuedExceptTrims,
        EngineChoice::Vsync | EngineChoice::PosixAio => Completion::Queued,
        EngineChoice::Null if depth > 1 => Completion::Queued,
        EngineChoice::Sync
        | EngineChoice::Psync
        | EngineChoice::Pvsync
        | EngineChoice::Pvsync2
        | EngineChoice::Mmap
        | EngineChoice::Null
        | EngineChoice::Splice
        | EngineChoice::Falloc
        | EngineChoice::Ftruncate
        | EngineChoice::FileCreate
        | EngineChoice::FileStat
        | EngineChoice::FileDelete
        | EngineChoice::FileRename
        | EngineChoice::DirCreate
        | EngineChoice::DirStat
        | EngineChoice::DirDelete => Completion::AtOnce,
    }
}

fn per_direction<T>([read, write, trim]: [T; 3]) -> PerDirection<T> {
    PerDirection::new(read, write, trim)
}

fn said(option: &'static str) -> impl Fn(OffsetError) -> Wrong {
    move |error| (option, error.to_string())
}

fn accesses(given: Values<'_>, base: KbBase) -> Result<(Accesses, Order), Wrong> {
    let (word, rest) = given.choice("rw").unwrap_or(("read", None));
    let accesses = match word.strip_prefix("rand").unwrap_or(word) {
        "write" => Accesses::Write,
        "trim" => Accesses::Trim,
        "trimwrite" => Accesses::TrimWrite,
        "rw" | "readwrite" => Accesses::ReadWrite,
        _ => Accesses::Read,
    };
    let wrong = |why: String| ("rw", why);
    let order = match (word.starts_with("rand"), rest) {
        (true, None) => Order::Random { every: 1 },
        (true, Some(count)) => {
            let why = || wrong(format!("`{count}` is not a valid number of operations"));
            Order::Random { every: count.parse().map_err(|_| why())? }
        }
        (false, None) => Order::Sequential { gap_bytes: 0 },
        (false, Some(size)) => {
            let bytes = base.bytes(size.trim_start_matches('-')).map_err(wrong)?;
            let bytes = i64::try_from(bytes).map_err(|_| wrong(format!("{size} is too large")))?;
            Order::Sequential { gap_bytes: if size.starts_with('-') { -bytes } else { bytes } }
        }
    };
    Ok((accesses, order))
}

fn sizes(given: Values<'_>, base: KbBase) -> Result<PerDirection<BlockSizes>, Wrong> {
    let read_size = |text: &str| base.bytes(text).ok();
    let splits = match given.text("bssplit") {
        Some(text) => Some(block_sizes(text, &read_size).map_err(said("bssplit"))?),
        None => None,
    };
    let fixed = given.sizes("bs").map(|size| size.unwrap_or(4096));
    let (ranges, aligns) = (given.ranges("bsrange"), given.sizes("ba"));
    let of = |direction: Direction| {
        let way = direction as usize;
        let split = splits.as_ref().map(|splits| splits[direction].clone());
        let sizes = match (split.filter(|split| !split.is_empty()), ranges[way]) {
            (Some(split), _) => BlockSizes::split(split),
            (None, Some((from, to))) => BlockSizes::range(from, to),
            (None, None) => BlockSizes::fixed(fixed[way]),
        };
        BlockSizes { align_bytes: aligns[way], ..sizes }
    };
    Ok(PerDirection::from_fn(of))
}

fn distribution(given: Values<'_>, base: KbBase, zipf: ZipfSampler) -> Result<Distribution, Wrong> {
    let Some((word, rest)) = given.choice("random_distribution") else {
        return Ok(Distribution::Uniform);
    };
    let text = rest.map_or_else(|| word.to_owned(), |rest| format!("{word}:{rest}"));
    let read_size = |text: &str| base.bytes(text).ok();
    Distribution::parse(&text, zipf, &read_size).map_err(said("random_distribution"))
}

fn file_service(given: Values<'_>, zipf: ZipfSampler) -> Result<FileService, Wrong> {
    let Some((word, rest)) = given.choice("file_service_type") else {
        return Ok(FileService::default());
    };
    let text = rest.map_or_else(|| word.to_owned(), |rest| format!("{word}:{rest}"));
    FileService::parse(&text, zipf).map_err(said("file_service_type"))
}

fn generator(given: Values<'_>, width: Width) -> Option<RandomGenerator> {
    match given.choice("random_generator") {
        None => None,
        Some(("lfsr", _)) => Some(RandomGenerator::Lfsr),
        Some(_) => Some(RandomGenerator::Tausworthe(width)),
    }
}

fn extents(given: Values<'_>, min_block_bytes: u64) -> (ExtentOptions, Option<u64>) {
    let amount = |option: &'static str| {
        given.size(option).map(|size| match size {
            Size::Bytes(bytes) => Amount::Bytes(bytes),
            Size::Percent(percent) => Amount::Percent(percent),
        })
    };
    let fills = given.switch("fill_device", false);
    let io_size = given.size("io_size");
    let align = given.count("offset_align", 0);
    let extents = ExtentOptions {
        size: amount("size").or(fills.then_some(Amount::Bytes(u64::MAX))),
        file_bytes: given.ranges("filesize")[0],
        io_size_percent: match io_size {
            Some(Size::Percent(percent)) => Some(percent),
            Some(Size::Bytes(_)) | None => None,
        },
        offset: amount("offset"),
        offset_align_bytes: (align > 0).then_some(align),
        offset_increment: amount("offset_increment"),
        clone_index: 0,
        appends: given.switch("file_append", false),
        min_block_bytes,
    };
    let io_bytes = match io_size {
        Some(Size::Bytes(bytes)) if bytes > 0 => Some(bytes),
        Some(_) | None => None,
    };
    (extents, io_bytes)
}
