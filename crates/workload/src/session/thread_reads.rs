//! How much has been read from devices on behalf of the calling thread.

/// Bytes that the kernel has read from devices on behalf of the calling thread; None if it does not
/// count them (`CONFIG_TASK_IO_ACCOUNTING`) or `/proc` is not mounted.
pub(super) fn thread_read_bytes() -> Option<u64> {
    read_bytes(&std::fs::read_to_string("/proc/thread-self/io").ok()?)
}

fn read_bytes(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("read_bytes: "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_line_among_others() {
        let text = "rchar: 2012\nwchar: 0\nread_bytes: 4096\nwrite_bytes: 1\n";
        assert_eq!(read_bytes(text), Some(4096));
        assert_eq!(read_bytes("rchar: 1\n"), None);
        assert_eq!(read_bytes("read_bytes: many\n"), None);
    }
}
