//! The processor's caches, one entry for all instances of the same level, kind and geometry.

use std::collections::{BTreeMap, BTreeSet};

use record::machine::{Cache, CacheKind};

use super::parse::{number_list, size_bytes};
use super::sources::Reader;

/// What makes two caches the same kind of cache. Field order is the sort order of the description.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Geometry {
    level: u32,
    kind: CacheKind,
    size_bytes: Option<u64>,
    line_bytes: Option<u32>,
    ways: Option<u32>,
    sets: Option<u32>,
}

/// The caches of the given CPUs.
pub(crate) fn caches(reader: &Reader<'_>, online: &[u32]) -> Vec<Cache> {
    let mut found: BTreeMap<Geometry, BTreeSet<Vec<u32>>> = BTreeMap::new();
    for &cpu in online {
        let directory = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
        for index in reader.names(&directory) {
            if !index.starts_with("index") {
                continue;
            }
            let directory = format!("{directory}/{index}");
            let Some(geometry) = geometry(reader, &directory) else { continue };
            let shared_by = reader
                .parsed(format!("{directory}/shared_cpu_list"), number_list)
                .unwrap_or_else(|| vec![cpu]);
            found.entry(geometry).or_default().insert(shared_by);
        }
    }
    found.into_iter().map(|(geometry, instances)| cache(&geometry, instances)).collect()
}

/// The geometry of one cache; `None` if not even its level and kind are known. The firmware of
/// virtual machines often reports nothing else.
fn geometry(reader: &Reader<'_>, directory: &str) -> Option<Geometry> {
    let kind = reader.parsed(format!("{directory}/type"), |text| match text {
        "Data" => Some(CacheKind::Data),
        "Instruction" => Some(CacheKind::Instruction),
        "Unified" => Some(CacheKind::Unified),
        _ => None,
    })?;
    Some(Geometry {
        level: reader.value(format!("{directory}/level"))?,
        kind,
        size_bytes: reader.parsed(format!("{directory}/size"), size_bytes),
        line_bytes: reader.value(format!("{directory}/coherency_line_size")),
        ways: reader.value(format!("{directory}/ways_of_associativity")),
        sets: reader.value(format!("{directory}/number_of_sets")),
    })
}

fn cache(geometry: &Geometry, instances: BTreeSet<Vec<u32>>) -> Cache {
    let count = u32::try_from(instances.len()).unwrap_or(u32::MAX);
    Cache {
        level: geometry.level,
        kind: geometry.kind,
        size_bytes: geometry.size_bytes,
        line_bytes: geometry.line_bytes,
        ways: geometry.ways,
        sets: geometry.sets,
        shared_by: instances.into_iter().next().unwrap_or_default(),
        instances: count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::fixture::Fixture;

    /// Adds one cache of one CPU: level, type, size, sharing CPUs.
    fn add(machine: &Fixture, cpu: u32, index: u32, cache: [&str; 4]) {
        let at = |f: &str| format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}/{f}");
        let [level, kind, size, shared] = cache;
        machine.add(&[
            (&at("level"), level),
            (&at("type"), kind),
            (&at("size"), size),
            (&at("shared_cpu_list"), shared),
            (&at("coherency_line_size"), "64\n"),
            (&at("ways_of_associativity"), "12\n"),
            (&at("number_of_sets"), "64\n"),
        ]);
    }

    #[test]
    fn three_levels_of_a_two_socket_server() {
        let machine = Fixture::new(&[("sys/devices/system/cpu/cpu0/cache/uevent", "")]);
        for cpu in 0..8 {
            let core = format!("{},{}\n", cpu % 4, cpu % 4 + 4);
            let socket = if cpu % 2 == 0 { "0,2,4,6\n" } else { "1,3,5,7\n" };
            add(&machine, cpu, 0, ["1", "Data\n", "48K\n", &core]);
            add(&machine, cpu, 1, ["1", "Instruction\n", "32K\n", &core]);
            add(&machine, cpu, 2, ["2", "Unified\n", "1280K\n", &core]);
            add(&machine, cpu, 3, ["3", "Unified\n", "48M\n", socket]);
        }
        let online: Vec<u32> = (0..8).collect();
        let found = caches(&Reader::new(&machine.sources()), &online);
        let shapes: Vec<_> =
            found.iter().map(|c| (c.level, c.kind, c.size_bytes, c.instances)).collect();
        let expected = [
            (1, CacheKind::Data, Some(48 << 10), 4),
            (1, CacheKind::Instruction, Some(32 << 10), 4),
            (2, CacheKind::Unified, Some(1280 << 10), 4),
            (3, CacheKind::Unified, Some(48 << 20), 2),
        ];
        assert_eq!(shapes, expected);
        assert_eq!(found[0].shared_by, [0, 4]);
        assert_eq!(found[3].shared_by, [0, 2, 4, 6]);
        assert_eq!(
            (found[0].line_bytes, found[0].ways, found[0].sets),
            (Some(64), Some(12), Some(64))
        );
    }

    #[test]
    fn unlike_cores_have_entries_of_their_own() {
        let machine = Fixture::new(&[]);
        add(&machine, 0, 0, ["2", "Unified", "2048K", "0-1"]);
        add(&machine, 1, 0, ["2", "Unified", "2048K", "0-1"]);
        add(&machine, 2, 0, ["2", "Unified", "4096K", "2-5"]);
        let found = caches(&Reader::new(&machine.sources()), &[0, 1, 2]);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].shared_by, [2, 3, 4, 5]);
    }

    #[test]
    fn what_firmware_does_not_tell_is_none() {
        let machine = Fixture::new(&[
            ("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
            ("sys/devices/system/cpu/cpu0/cache/index0/type", "Unified\n"),
            ("sys/devices/system/cpu/cpu0/cache/index1/level", "2\n"),
            ("sys/devices/system/cpu/cpu0/cache/index2/type", "Trace\n"),
        ]);
        let found = caches(&Reader::new(&machine.sources()), &[0]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].size_bytes, found[0].ways), (None, None));
        assert_eq!((found[0].shared_by.as_slice(), found[0].instances), ([0].as_slice(), 1));
    }
}
