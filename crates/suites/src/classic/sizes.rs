//! Sizes of working sets, derived from the machine's caches and memory, and benchmarks that run in
//! several sizes.

use record::CurvePoint;
use record::machine::{Cache, CacheKind, FRAGILE};

use crate::benchmark::Benchmark;
use crate::sequence::{self, Sequence};
use crate::thinning::on_axis;

/// A working set this many times smaller than a cache surely fits into it, and one this many times
/// larger surely does not.
pub(super) const FAR: u64 = 4;
/// The caches assumed if a machine reports none: few are outside these sizes.
const UNREPORTED_BYTES: [u64; 2] = [64 << 10, 64 << 20];

/// A quarter and four times the size of each data cache, in ascending order.
#[must_use]
pub fn around(caches: &[Cache]) -> Vec<u64> {
    around_each(&data_cache_sizes(caches))
}

/// A quarter and four times each of these, in ascending order, except sizes near another boundary,
/// where figures are not repeatable. The first and the last are not near any, so each boundary has
/// sizes on both sides.
#[must_use]
pub fn around_each(boundaries: &[u64]) -> Vec<u64> {
    let is_near = |bytes: u64| {
        boundaries.iter().any(|&boundary| FRAGILE.contains(&(bytes as f64 / boundary as f64)))
    };
    let sizes = boundaries.iter().flat_map(|bytes| [bytes / FAR, bytes.saturating_mul(FAR)]);
    let mut sizes: Vec<u64> = sizes.filter(|&bytes| !is_near(bytes)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Powers of two from a quarter of the smallest data cache to four times the largest.
#[must_use]
pub fn swept(caches: &[Cache]) -> Vec<u64> {
    let sizes = around(caches);
    let (Some(&least), Some(&most)) = (sizes.first(), sizes.last()) else { return Vec::new() };
    let first = 1_u64 << least.max(1).ilog2();
    let doubled = std::iter::successors(Some(first), |bytes| bytes.checked_mul(2));
    // The last one is at least `most`.
    doubled.take_while(|&bytes| bytes / 2 < most).collect()
}

/// Sizes such that `files` files make up each working set, or up to a sixteenth less, to have fewer
/// digits: whole blocks, without duplicates.
#[must_use]
pub fn file_sizes(working_sets: &[u64], files: u32, block_bytes: u64) -> Vec<u64> {
    let whole = |bytes: &u64| {
        let bytes = bytes / u64::from(files.max(1));
        let unit = (bytes / 16).checked_ilog2().map_or(1, |power| 1 << power).max(block_bytes);
        (bytes / unit).max(1) * unit
    };
    let mut sizes: Vec<u64> = working_sets.iter().map(whole).collect();
    sizes.dedup();
    sizes
}

/// The benchmarks of a sequence for each of these options, which differ only in a size. If there
/// are several, each phase is a curve.
pub(super) fn benchmarks<O, S: Sequence + 'static>(
    name: &str,
    all: Vec<O>,
    bytes: impl Fn(&O) -> u64,
    sequence: impl Fn(String, O) -> S,
) -> Vec<Benchmark> {
    let all = match <[O; 1]>::try_from(all) {
        Ok([only]) => return sequence::benchmarks(sequence(name.to_owned(), only)),
        Err(all) => all,
    };
    let of_size = |(index, options): (usize, O)| {
        let bytes = bytes(&options);
        let sequence = sequence(format!("{name}-{bytes}"), options);
        let on_curve = |benchmark: Benchmark| {
            let point = CurvePoint {
                curve: benchmark.name,
                title: benchmark.title,
                axis: "file".to_owned(),
                unit: "bytes".to_owned(),
                value: bytes as f64,
                family: None,
            };
            Benchmark {
                name: format!("{}-{bytes}", point.curve),
                title: format!("{}, {} {}", point.title, point.axis, on_axis(&point)),
                // If the budget is too small, the largest is left out first, since it takes the
                // longest.
                rank: u32::try_from(index).unwrap_or(u32::MAX),
                curve: Some(point),
                ..benchmark
            }
        };
        sequence::benchmarks(sequence).into_iter().map(on_curve).collect::<Vec<_>>()
    };
    all.into_iter().enumerate().flat_map(of_size).collect()
}

/// The sizes of data caches.
fn data_cache_sizes(caches: &[Cache]) -> Vec<u64> {
    let holds_data = caches.iter().filter(|cache| cache.kind != CacheKind::Instruction);
    let sizes: Vec<u64> = holds_data.filter_map(|cache| cache.size_bytes).collect();
    if sizes.iter().any(|&bytes| bytes > 0) {
        sizes.into_iter().filter(|&bytes| bytes > 0).collect()
    } else {
        UNREPORTED_BYTES.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    fn caches(sizes: &[(CacheKind, u64)]) -> Vec<Cache> {
        let cache = |&(kind, bytes): &(CacheKind, u64)| Cache {
            level: 1,
            kind,
            size_bytes: Some(bytes),
            line_bytes: None,
            ways: None,
            sets: None,
            shared_by: Vec::new(),
            instances: 1,
        };
        sizes.iter().map(cache).collect()
    }

    #[test]
    fn each_cache_has_a_size_on_either_side_and_none_near() {
        use CacheKind::{Data, Instruction, Unified};
        let usual = caches(&[
            (Data, 32 * KIB),
            (Instruction, 64 * KIB),
            (Unified, MIB),
            (Unified, 32 * MIB),
        ]);
        let sizes = [8 * KIB, 128 * KIB, 256 * KIB, 4 * MIB, 8 * MIB, 128 * MIB];
        assert_eq!(around(&usual), sizes);
        // Four times the first is the second, and a quarter of the second is the first.
        let near = caches(&[(Data, 32 * KIB), (Unified, 128 * KIB)]);
        assert_eq!(around(&near), [8 * KIB, 512 * KIB]);
        assert_eq!(around(&[]), [16 * KIB, 256 * KIB, 16 * MIB, 256 * MIB]);
    }

    #[test]
    fn a_sweep_goes_from_below_the_first_cache_to_beyond_the_last() {
        let odd = caches(&[(CacheKind::Data, 48 * KIB), (CacheKind::Unified, 36 * MIB)]);
        let sizes = swept(&odd);
        assert_eq!((sizes[0], sizes.last().copied()), (8 * KIB, Some(256 * MIB)));
        assert!(sizes.windows(2).all(|pair| pair[1] == 2 * pair[0]), "{sizes:?}");
        let none = swept(&[]);
        assert_eq!((none.len(), none[0]), (15, 16 * KIB));
    }

    #[test]
    fn files_share_a_working_set_in_whole_blocks() {
        assert_eq!(file_sizes(&[8 * KIB, 16 * KIB, MIB], 11, 4096), [4096, 92 * KIB]);
        assert_eq!(file_sizes(&[8 * KIB], 1, 4096), [8 * KIB]);
        assert_eq!(file_sizes(&[1920 * MIB, 1920 * MIB + 1], 11, 4096), [168 * MIB]);
    }
}
