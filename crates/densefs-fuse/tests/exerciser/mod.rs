//! What fsx is told.

/// The weights of fsx's operations: all that it supports on Linux. Without `waits`, writes to a
/// mapping are still on their way to the file when fsx continues.
pub(crate) fn configuration(waits: bool) -> String {
    format!(
        "
nomsyncafterwrite = {}

[opsize]
min = 1

[weights]
close_open = 2
read = 10
write = 10
mapread = 10
mapwrite = 10
invalidate = 2
truncate = 5
fsync = 1
fdatasync = 1
posix_fallocate = 5
punch_hole = 5
sendfile = 2
posix_fadvise = 2
copy_file_range = 5
",
        !waits
    )
}
