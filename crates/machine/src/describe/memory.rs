//! Main memory.

use record::machine::Memory;

use super::parse::{chosen, field, number_list};
use super::sources::Reader;

pub(crate) fn memory(reader: &Reader<'_>) -> Memory {
    let meminfo = reader.text("/proc/meminfo").unwrap_or_default();
    let nodes = reader.parsed("/sys/devices/system/node/online", number_list);
    Memory {
        total_bytes: kib(&meminfo, "MemTotal"),
        available_bytes: kib(&meminfo, "MemAvailable"),
        // The kernel passes this in every process's auxiliary vector; there is no file for it.
        page_bytes: reader
            .sources()
            .is_this_machine()
            .then(|| rustix::param::page_size().try_into().ok())
            .flatten(),
        transparent_hugepage: reader.parsed("/sys/kernel/mm/transparent_hugepage/enabled", chosen),
        swap_total_bytes: kib(&meminfo, "SwapTotal"),
        numa_nodes: nodes.and_then(|nodes| nodes.len().try_into().ok()),
    }
}

/// A line such as `MemTotal:  24684084 kB`, where kB means 1024 bytes.
fn kib(meminfo: &str, key: &str) -> Option<u64> {
    field(meminfo, key)?.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::fixture::Fixture;

    #[test]
    fn memory_is_in_bytes() {
        let machine = Fixture::new(&[
            (
                "proc/meminfo",
                "MemTotal:       24684084 kB\nMemAvailable:   18446744073709551615 kB\n\
                 SwapTotal: 0 kB\n",
            ),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/devices/system/node/online", "0-1\n"),
        ]);
        let memory = memory(&Reader::new(&machine.sources()));
        assert_eq!(memory.total_bytes, Some(24_684_084 * 1024));
        assert_eq!(memory.available_bytes, None);
        assert_eq!(memory.swap_total_bytes, Some(0));
        assert_eq!(memory.transparent_hugepage.as_deref(), Some("madvise"));
        assert_eq!(memory.numa_nodes, Some(2));
    }
}
