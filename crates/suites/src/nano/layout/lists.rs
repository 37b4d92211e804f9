//! Cold listings, over the size of the directory.

use record::{CacheState, Dimension};

use super::listing::{ColdListing, LookupOrder};
use crate::benchmark::Benchmark;
use crate::nano::curve::Curve;

/// From a handful to more than any file system keeps in one block.
const ENTRIES: [u64; 5] = [10, 100, 1000, 10_000, 100_000];
/// Directories that take seconds to make are left out before everything else.
const LONG: u64 = 100_000;
const RANK_OF_LONG: u32 = 4;

pub(super) fn curves() -> Vec<Benchmark> {
    let listing = Curve {
        name: "list-by-entries",
        title: "readdir, then stat in its order, cold",
        axis: "directory entries",
        unit: "count",
    };
    let creation = Curve {
        name: "list-by-entries-as-created",
        title: "readdir, then stat in creation order, cold",
        ..listing
    };
    [by_entries(&listing, LookupOrder::Listing), by_entries(&creation, LookupOrder::Creation)]
        .concat()
}

fn by_entries(curve: &Curve<'_>, order: LookupOrder) -> Vec<Benchmark> {
    curve.points(&ENTRIES, |entries| Benchmark {
        dimension: Dimension::OnDiskLayout,
        exercises: vec![Dimension::Metadata, Dimension::Io],
        cache_state: CacheState::Cold,
        rank: if entries >= LONG { RANK_OF_LONG } else { 0 },
        ..Benchmark::from_experiment("", "", ColdListing { entries, order })
    })
}
