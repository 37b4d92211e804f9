//! How much memory is left for what lives in memory: tmpfs, ramfs and arenas.

use std::fs;

/// What the kernel would give to programs without swapping.
pub(crate) fn memory_available_bytes() -> u64 {
    let table = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    let bytes = kib.unwrap_or_default() * 1024;
    // Whoever takes more than a control group allows is killed.
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
