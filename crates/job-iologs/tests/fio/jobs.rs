//! Jobs whose logs fio wrote to `recorded/NAME.log`.
//!
//! ```sh
//! RECORD=1 cargo test -p fsprism-job-iologs --test fio -- --ignored jobs_are_logged
//! ```

/// Names, and options.
pub(crate) const JOBS: &[(&str, &str)] = &[
    ("read", "filename=a size=64k rw=read bs=4k"),
    ("randrw", "filename=a size=64k rw=randrw bs=4k,8k ioengine=libaio iodepth=4"),
    ("fsync", "filename=b size=64k rw=write bs=4k fsync=3 end_fsync=1"),
    ("fdatasync", "filename=b size=64k rw=write bs=4k fdatasync=2 fsync_on_close=1"),
    ("sync_file_range", "filename=b size=64k rw=write bs=4k sync_file_range=write:4"),
    ("trim", "filename=c size=64k rw=randtrim bs=4k ioengine=null"),
    ("trimwrite", "filename=c size=64k rw=trimwrite bs=4k ioengine=null"),
    ("several", "nrfiles=5 filesize=16k rw=randread bs=4k openfiles=2"),
    ("numjobs", "size=64k numjobs=3 rw=write bs=4k"),
    ("verify", "filename=d size=64k rw=write bs=4k verify=crc32c"),
    ("sizes", "filename=d size=1m rw=randrw bsrange=512-64k bs_unaligned=1"),
    ("deep", "filename=a size=256k rw=randread bs=4k ioengine=libaio iodepth=16"),
];
