//! Which of the processor's caches a working set fits into.

use record::machine::{CacheKind, Machine};
use record::{Cell, WorkingSet};

/// The working set of `cell` compared with the caches of `machine`; `None` if the cell has no
/// working set or the caches are unknown.
pub(super) fn for_cell(cell: &Cell, machine: &Machine) -> Option<WorkingSet> {
    let bytes = cell.working_set_bytes?;
    let mut caches: Vec<(u64, String)> = machine
        .caches
        .iter()
        .filter(|cache| cache.kind != CacheKind::Instruction)
        .filter_map(|cache| {
            let data = if cache.kind == CacheKind::Data { "d" } else { "" };
            Some((cache.size_bytes?, format!("L{}{data}", cache.level)))
        })
        .collect();
    if caches.is_empty() {
        return None;
    }
    caches.sort();
    Some(match caches.into_iter().find(|(size, _)| *size >= bytes) {
        Some((size, name)) => WorkingSet { bytes, fits_into: name, cache_bytes: Some(size) },
        None => WorkingSet { bytes, fits_into: "memory".to_owned(), cache_bytes: None },
    })
}

#[cfg(test)]
mod tests {
    use record::machine::Cache;

    use super::*;
    use crate::sample::Sample;

    fn cache(level: u32, kind: CacheKind, size_bytes: u64) -> Cache {
        Cache {
            level,
            kind,
            size_bytes: Some(size_bytes),
            line_bytes: Some(64),
            ways: None,
            sets: None,
            shared_by: vec![0],
            instances: 1,
        }
    }

    fn fits_into(bytes: Option<u64>, caches: &[Cache]) -> Option<String> {
        let mut sample = Sample::new(&["tmpfs"]).benchmark("read", &[&[1.0; 6]]);
        sample.run.manifest.machine.caches = caches.to_vec();
        sample.change("read", |cell| cell.working_set_bytes = bytes);
        sample.document().cells[0].working_set.clone().map(|set| set.fits_into)
    }

    #[test]
    fn the_first_cache_that_holds_all_of_it_is_named() {
        let caches = [
            cache(3, CacheKind::Unified, 32 << 20),
            cache(1, CacheKind::Instruction, 64 << 10),
            cache(1, CacheKind::Data, 32 << 10),
            cache(2, CacheKind::Unified, 1 << 20),
        ];
        for (bytes, name) in [
            (16 << 10, "L1d"),
            (32 << 10, "L1d"),
            (64 << 10, "L2"),
            (1 << 20, "L2"),
            ((1 << 20) + 1, "L3"),
            (64 << 20, "memory"),
        ] {
            assert_eq!(fits_into(Some(bytes), &caches).as_deref(), Some(name), "{bytes}");
        }
        assert_eq!(fits_into(None, &caches), None);
        assert_eq!(fits_into(Some(4096), &[]), None);
    }
}
