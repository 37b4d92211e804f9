//! The benchmark's phases, in the order given by its options.

use record::{FirstWrite, RandomAlignment, SpriteLfsOptions};

/// Bytes that one operation moves.
pub(super) const BLOCK_BYTES: u64 = 4096;

/// A phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    PreRead,
    SequentialWrite,
    SequentialRead,
    RandomWrite,
    RandomRead,
    SequentialReadAgain,
}

impl Phase {
    /// Its name, and a title in words.
    pub(super) fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::PreRead => ("pre-read", "sequential read before the first write"),
            Self::SequentialWrite => ("sequential-write", "sequential write and fsync"),
            Self::SequentialRead => ("sequential-read", "sequential read after the first write"),
            Self::RandomWrite => ("random-write", "random write and fsync"),
            Self::RandomRead => ("random-read", "random read"),
            Self::SequentialReadAgain => ("sequential-read-again", "sequential read at the end"),
        }
    }

    pub(super) fn writes(self) -> bool {
        match self {
            Self::SequentialWrite | Self::RandomWrite => true,
            Self::PreRead | Self::SequentialRead | Self::RandomRead | Self::SequentialReadAgain => {
                false
            }
        }
    }

    pub(super) fn is_random(self) -> bool {
        match self {
            Self::RandomWrite | Self::RandomRead => true,
            Self::PreRead
            | Self::SequentialWrite
            | Self::SequentialRead
            | Self::SequentialReadAgain => false,
        }
    }
}

/// The phases in order, each with its number if it is repeated.
pub(super) fn in_order(options: &SpriteLfsOptions) -> Vec<(Phase, Option<u32>)> {
    let [first, second] = match options.first_write {
        FirstWrite::Sequential => [Phase::SequentialWrite, Phase::RandomWrite],
        FirstWrite::Random => [Phase::RandomWrite, Phase::SequentialWrite],
    };
    let pre_read = options.pre_read.then_some(Phase::PreRead);
    let own = [first, Phase::SequentialRead, second, Phase::RandomRead, Phase::SequentialReadAgain];
    let repeated = |phase: Phase| {
        let times = if phase.writes() { options.repeat_writes } else { options.repeat_reads };
        (1..=times).map(move |number| (phase, (times > 1).then_some(number)))
    };
    pre_read.into_iter().chain(own).flat_map(repeated).collect()
}

/// Where a random operation on block number `block` of `blocks` begins. `draw` is any number.
///
/// Each block comes up once, so that alignment is the only difference between the two: with byte
/// alignment, an operation begins somewhere within its block, or before it for the last block.
pub(super) fn offset(block: u64, blocks: u64, alignment: RandomAlignment, draw: u64) -> u64 {
    let start = block * BLOCK_BYTES;
    let shift = draw % BLOCK_BYTES;
    match alignment {
        RandomAlignment::Page => start,
        RandomAlignment::Byte if block + 1 < blocks => start + shift,
        RandomAlignment::Byte => start.saturating_sub(shift),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(options: &SpriteLfsOptions) -> Vec<String> {
        let name = |(phase, number): (Phase, Option<u32>)| match number {
            Some(number) => format!("{}-{number}", phase.names().0),
            None => phase.names().0.to_owned(),
        };
        in_order(options).into_iter().map(name).collect()
    }

    #[test]
    fn the_phases_are_those_of_the_paper_in_their_order() {
        let five = [
            "sequential-write",
            "sequential-read",
            "random-write",
            "random-read",
            "sequential-read-again",
        ];
        assert_eq!(names(&SpriteLfsOptions::published()), five);
        let corrected = names(&SpriteLfsOptions::corrected());
        assert_eq!(
            (corrected[0].as_str(), &corrected[1..]),
            ("pre-read", &five.map(str::to_owned)[..])
        );
        let random_first =
            SpriteLfsOptions { first_write: FirstWrite::Random, ..SpriteLfsOptions::published() };
        let order = ["random-write", "sequential-read", "sequential-write"];
        assert_eq!(names(&random_first)[..3], order);
    }

    #[test]
    fn phases_are_numbered_where_they_are_repeated() {
        let reads =
            SpriteLfsOptions { repeat_reads: 2, pre_read: true, ..SpriteLfsOptions::published() };
        let wanted = ["pre-read-1", "pre-read-2", "sequential-write", "sequential-read-1"];
        assert_eq!(names(&reads)[..4], wanted);
        assert_eq!(names(&reads).len(), 10);
        let writes = SpriteLfsOptions { repeat_writes: 3, ..SpriteLfsOptions::published() };
        assert_eq!(names(&writes)[2..4], ["sequential-write-3", "sequential-read"]);
        assert_eq!(names(&writes).len(), 9);
    }

    #[test]
    fn random_offsets_are_on_pages_or_anywhere_and_always_inside_the_file() {
        let draws = (0..256_u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for (block, draw) in (0..256).zip(draws) {
            let page = offset(block, 256, RandomAlignment::Page, draw);
            assert_eq!(page, block * BLOCK_BYTES);
            let byte = offset(block, 256, RandomAlignment::Byte, draw);
            assert!(byte + BLOCK_BYTES <= 256 * BLOCK_BYTES, "{block}: {byte}");
            let is_aligned = byte.is_multiple_of(BLOCK_BYTES);
            assert_eq!(is_aligned, draw.is_multiple_of(BLOCK_BYTES));
        }
        assert_eq!(offset(0, 1, RandomAlignment::Byte, 77), 0, "a file of one block has one place");
    }
}
