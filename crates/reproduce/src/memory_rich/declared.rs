//! The paper's claims about rates.

use super::claims::Claim;
use crate::margin::Margin;

const SLOWER: Margin = Margin::below(0.98, "2 % are the least that counts");
const FASTER: Margin = Margin::above(1.02, "2 % are the least that counts");
/// Its tables have 0.98 and 1.03 for what the text calls the same; figures have no numbers.
const EQUAL: Margin =
    Margin::between(0.9, 1.1, "a tenth: figures whose bars look alike cannot be read closer");
/// Table 2 has 400 over 520 for what the text calls significantly slower.
const SIGNIFICANTLY_SLOWER: Margin =
    Margin::below(0.89, "half of what the paper calls significant: 400 over 520, 0.77");
const SIGNIFICANTLY_FASTER: Margin =
    Margin::above(1.15, "half of what the paper calls significant: 520 over 400, 1.30");
const HALF: Margin = Margin::between(0.4, 0.6, "a half, give or take a fifth of it");
const A_FIFTH_SLOWER: Margin = Margin::between(0.7, 0.9, "20 % less, give or take half of that");

/// The claims, in the order of the paper's tables and figures.
pub(super) const CLAIMS: [Claim; 35] = [
    Claim {
        source: "Figure 1",
        claim: "the first sequential read is significantly slower on ramfs than on ext2",
        published: "slower (Table 2: 400 over 520, 0.77)",
        of: &[("ramfs", "figure-1-sequential-read")],
        over: &[("ext2", "figure-1-sequential-read")],
        means: SIGNIFICANTLY_SLOWER,
    },
    Claim {
        source: "Figure 1",
        claim: "the first sequential read is significantly slower on ramfs than on xfs",
        published: "slower",
        of: &[("ramfs", "figure-1-sequential-read")],
        over: &[("xfs", "figure-1-sequential-read")],
        means: SIGNIFICANTLY_SLOWER,
    },
    Claim {
        source: "Figure 1",
        claim: "random reads are slower than the second sequential read",
        published: "slower",
        of: &[("ramfs", "figure-1-random-read")],
        over: &[("ramfs", "figure-1-sequential-read-again")],
        means: SLOWER,
    },
    Claim {
        source: "Table 2",
        claim: "the first read after a write is slower than the second",
        published: "400 over 520: 0.77",
        of: &[("ramfs", "table-2-sequential-read-1")],
        over: &[("ramfs", "table-2-sequential-read-2")],
        means: SLOWER,
    },
    Claim {
        source: "Table 2",
        claim: "on ext2, the first read after a write is as fast as the second",
        published: "520 over 530: 0.98",
        of: &[("ext2", "table-2-sequential-read-1")],
        over: &[("ext2", "table-2-sequential-read-2")],
        means: EQUAL,
    },
    Claim {
        source: "Table 2",
        claim: "in the steady state, ramfs is nearly as fast as ext2",
        published: "530 over 530: 1.00",
        of: &[("ramfs", "table-2-sequential-read-3")],
        over: &[("ext2", "table-2-sequential-read-3")],
        means: EQUAL,
    },
    Claim {
        source: "Table 3",
        claim: "the first read of a file that existed before is as fast on ramfs as on ext2",
        published: "480 over 480: 1.00",
        of: &[("ramfs", "table-3-pre-read-1")],
        over: &[("ext2", "table-3-pre-read-1")],
        means: EQUAL,
    },
    Claim {
        source: "Table 3",
        claim: "the second read of a file that existed before is faster than the first",
        published: "520 over 480: 1.08",
        of: &[("ramfs", "table-3-pre-read-2")],
        over: &[("ramfs", "table-3-pre-read-1")],
        means: FASTER,
    },
    Claim {
        source: "Table 4",
        claim: "a write slows the read after it down",
        published: "400 over 480: 0.83",
        of: &[("ramfs", "table-4-sequential-read")],
        over: &[("ramfs", "table-4-pre-read")],
        means: SLOWER,
    },
    Claim {
        source: "Table 4",
        claim: "on ext2, a write speeds the read after it up",
        published: "520 over 480: 1.08",
        of: &[("ext2", "table-4-sequential-read")],
        over: &[("ext2", "table-4-pre-read")],
        means: FASTER,
    },
    Claim {
        source: "Table 5",
        claim: "pauses between writes leave the read after them as slow as in Table 4",
        published: "410 over 400: 1.03",
        of: &[("ramfs", "table-5-sequential-read")],
        over: &[("ramfs", "table-4-sequential-read")],
        means: EQUAL,
    },
    Claim {
        source: "Table 5",
        claim: "after writes with pauses, too, a read is slower on ramfs than on ext2",
        published: "410 over 510: 0.80",
        of: &[("ramfs", "table-5-sequential-read")],
        over: &[("ext2", "table-5-sequential-read")],
        means: SLOWER,
    },
    Claim {
        source: "Table 6",
        claim: "after a random write, too, a read is slower on ramfs than on ext2",
        published: "400 over 510: 0.78",
        of: &[("ramfs", "table-6-sequential-read")],
        over: &[("ext2", "table-6-sequential-read")],
        means: SLOWER,
    },
    Claim {
        source: "Table 8",
        claim: "the second write is slower than the first",
        published: "350 over 380: 0.92",
        of: &[("ramfs", "table-8-sequential-write-2")],
        over: &[("ramfs", "table-8-sequential-write-1")],
        means: SLOWER,
    },
    Claim {
        source: "Table 8",
        claim: "from the second write on, rates do not change",
        published: "350 over 350: 1.00",
        of: &[("ramfs", "table-8-sequential-write-3")],
        over: &[("ramfs", "table-8-sequential-write-2")],
        means: EQUAL,
    },
    Claim {
        source: "Table 8",
        claim: "on ext2, the second write is faster than the first",
        published: "16 over 13: 1.23",
        of: &[("ext2", "table-8-sequential-write-2")],
        over: &[("ext2", "table-8-sequential-write-1")],
        means: FASTER,
    },
    Claim {
        source: "Table 9",
        claim: "in the cache, the first read after a write is significantly faster on ramfs than \
                on ext2",
        published: "810 over 440: 1.84",
        of: &[("ramfs", "table-9-sequential-read-1")],
        over: &[("ext2", "table-9-sequential-read-1")],
        means: SIGNIFICANTLY_FASTER,
    },
    Claim {
        source: "Table 9",
        claim: "in the cache, the second read is faster than the first",
        published: "1400 over 810: 1.73",
        of: &[("ramfs", "table-9-sequential-read-2")],
        over: &[("ramfs", "table-9-sequential-read-1")],
        means: FASTER,
    },
    Claim {
        source: "Figure 4",
        claim: "with 10 of 11 files, ramfs and ext2 read equally fast in order",
        published: "equally well",
        of: &[("ramfs", "figure-4-sequential-read")],
        over: &[("ext2", "figure-4-sequential-read")],
        means: EQUAL,
    },
    Claim {
        source: "Figure 4",
        claim: "random reads at any byte are slower than sequential ones",
        published: "slower",
        of: &[("ramfs", "figure-4-random-read")],
        over: &[("ramfs", "figure-4-sequential-read")],
        means: SLOWER,
    },
    Claim {
        source: "Section 5",
        claim: "random reads at any byte are half as fast as sequential ones",
        published: "0.50",
        of: &[("ramfs", "figure-4-random-read")],
        over: &[("ramfs", "figure-4-sequential-read")],
        means: HALF,
    },
    Claim {
        source: "Figure 5",
        claim: "page-aligned random reads are faster than sequential ones",
        published: "faster",
        of: &[("ramfs", "figure-5-random-read")],
        over: &[("ramfs", "figure-5-sequential-read")],
        means: FASTER,
    },
    Claim {
        source: "Figure 5",
        claim: "on ext2, page-aligned random reads are faster than sequential ones",
        published: "faster",
        of: &[("ext2", "figure-5-random-read")],
        over: &[("ext2", "figure-5-sequential-read")],
        means: FASTER,
    },
    Claim {
        source: "Figure 5",
        claim: "page-aligned random writes are faster than sequential ones",
        published: "faster",
        of: &[("ramfs", "figure-5-random-write")],
        over: &[("ramfs", "figure-5-sequential-write")],
        means: FASTER,
    },
    Claim {
        source: "Figure 5",
        claim: "random writes gain more than random reads",
        published: "a larger difference",
        of: &[("ramfs", "figure-5-random-write"), ("ramfs", "figure-5-sequential-read")],
        over: &[("ramfs", "figure-5-sequential-write"), ("ramfs", "figure-5-random-read")],
        means: FASTER,
    },
    Claim {
        source: "Figure 6",
        claim: "in the cache, random reads are slower than sequential ones",
        published: "slower",
        of: &[("ramfs", "figure-6-random-read")],
        over: &[("ramfs", "figure-6-sequential-read")],
        means: SLOWER,
    },
    Claim {
        source: "Figure 6",
        claim: "in the cache, random reads are 20 % slower",
        published: "0.80",
        of: &[("ramfs", "figure-6-random-read")],
        over: &[("ramfs", "figure-6-sequential-read")],
        means: A_FIFTH_SLOWER,
    },
    Claim {
        source: "Figure 6",
        claim: "in the cache, random writes are slower than sequential ones",
        published: "slower",
        of: &[("ramfs", "figure-6-random-write")],
        over: &[("ramfs", "figure-6-sequential-write")],
        means: SLOWER,
    },
    Claim {
        source: "Figure 7",
        claim: "padding makes random and sequential reads equal",
        published: "uniform",
        of: &[("ramfs", "figure-7-random-read")],
        over: &[("ramfs", "figure-7-sequential-read")],
        means: EQUAL,
    },
    Claim {
        source: "Figure 7",
        claim: "padding makes the last sequential read equal to the random one before it",
        published: "uniform",
        of: &[("ramfs", "figure-7-sequential-read-again")],
        over: &[("ramfs", "figure-7-random-read")],
        means: EQUAL,
    },
    Claim {
        source: "Figure 7",
        claim: "padding makes random and sequential writes equal",
        published: "uniform",
        of: &[("ramfs", "figure-7-random-write")],
        over: &[("ramfs", "figure-7-sequential-write")],
        means: EQUAL,
    },
    Claim {
        source: "Figure 7",
        claim: "padding makes reads equal to writes",
        published: "uniform",
        of: &[("ramfs", "figure-7-sequential-read")],
        over: &[("ramfs", "figure-7-sequential-write")],
        means: EQUAL,
    },
    Claim {
        source: "Section 7",
        claim: "in memory, stat at random is significantly faster than stat in order",
        published: "significantly faster",
        of: &[("ramfs", "figure-8-stat-random")],
        over: &[("ramfs", "figure-8-stat-sequential")],
        means: SIGNIFICANTLY_FASTER,
    },
    Claim {
        source: "Section 10",
        claim: "writing and reading slice by slice, so that a cache holds what is read, is \
                significantly faster than writing and reading the whole file",
        published: "proposed, not measured",
        of: &[("ramfs", "section-10-slices")],
        over: &[("ramfs", "section-10-whole")],
        means: SIGNIFICANTLY_FASTER,
    },
    Claim {
        source: "Section 10",
        claim: "bundling the calls for the blocks of a slice is faster than a call for each",
        published: "proposed, not measured",
        of: &[("ramfs", "section-10-bundled-reads")],
        over: &[("ramfs", "section-10-single-reads")],
        means: FASTER,
    },
];

/// A claim about two phases of the array walk.
pub(super) struct ArrayClaim {
    pub(super) claim: &'static str,
    pub(super) published: &'static str,
    pub(super) of: &'static str,
    pub(super) over: &'static str,
    pub(super) means: Margin,
}

/// The claims of Table 10.
pub(super) const ARRAY: [ArrayClaim; 2] = [
    ArrayClaim {
        claim: "in a user-level program, the first read after a write is slower than the second",
        published: "150 over 200: 0.75",
        of: "first-read",
        over: "second-read",
        means: SLOWER,
    },
    ArrayClaim {
        claim: "in a user-level program, writes are faster than the second read",
        published: "220 over 200: 1.10",
        of: "write",
        over: "second-read",
        means: FASTER,
    },
];

/// What makes one file system slower than another in Figure 8.
pub(super) const SLOWER_STAT: Margin = SLOWER;
