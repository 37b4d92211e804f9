//! How much memory is available to targets that live in memory: tmpfs, ramfs and arenas.

use std::fs;

/// How much memory programs can get without swapping, as the kernel estimates it.
pub(crate) fn memory_available_bytes() -> u64 {
    let table = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    let bytes = kib.unwrap_or_default() * 1024;
    // A process that takes more than its control group allows is killed.
    machine::describe::memory_left_in_groups().map_or(bytes, |left| left.min(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_table_is_understood() {
        assert!(memory_available_bytes() > 0);
    }
}
