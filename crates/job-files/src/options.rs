//! The options of fio 3.33: what a value of each looks like.
//!
//! Source: fio's manual, "Job file parameters", and the table of its `options.c`.

/// An option.
#[derive(Clone, Copy, Debug)]
pub struct FioOption {
    /// Its name.
    pub name: &'static str,
    /// Another name of it; empty if it has none.
    pub alias: &'static str,
    /// What its values look like.
    pub kind: Kind,
    /// The engines that have it; empty for an option of every job.
    pub engines: &'static [&'static str],
}

/// What values look like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Nothing, or 0 or 1.
    Flag,
    /// 0 or 1.
    Bool,
    /// One to three whole numbers from the first to the last, with units: for reads, writes and
    /// trims.
    Numbers(i64, i64),
    /// One to three sizes of a byte or more.
    Sizes,
    /// A size.
    Size,
    /// A size, or a percentage.
    SizeOrShare,
    /// One to three ranges of sizes.
    Ranges,
    /// A time; without a unit, in seconds.
    Seconds,
    /// The same, or two: from and to.
    SecondsRange,
    /// A time; without a unit, in microseconds.
    Microseconds,
    /// Numbers from the first to the last, with colons between them.
    Floats(f64, f64),
    /// One of these words, perhaps followed by a colon and more.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// Any text, or nothing.
    OptionalText,
}

const INT: Kind = Kind::Numbers(0, i32::MAX as i64);
/// Size of the header of blocks that are verified (`struct verify_header` of fio's `verify.h`).
const VERIFY_HEADER: i64 = 40;
const SHARE: Kind = Kind::Numbers(0, 100);

const fn row(name: &'static str, kind: Kind) -> FioOption {
    FioOption { name, alias: "", kind, engines: &[] }
}

const fn also(name: &'static str, alias: &'static str, kind: Kind) -> FioOption {
    FioOption { name, alias, kind, engines: &[] }
}

const fn of_engines(name: &'static str, kind: Kind, engines: &'static [&'static str]) -> FioOption {
    FioOption { name, alias: "", kind, engines }
}

/// All of them, by what they are about, as in fio's manual.
pub const OPTIONS: &[FioOption] = &[
    // Units.
    row("kb_base", Kind::Choice(&["1024", "1000"])),
    row("unit_base", Kind::Choice(&["0", "8", "1"])),
    // The job.
    row("name", Kind::Text),
    row("description", Kind::Text),
    row("loops", INT),
    row("numjobs", INT),
    // When it runs.
    also("runtime", "timeout", Kind::Seconds),
    row("time_based", Kind::Flag),
    also("startdelay", "start_delay", Kind::SecondsRange),
    row("ramp_time", Kind::Seconds),
    row("clocksource", Kind::Choice(&["gettimeofday", "clock_gettime", "cpu"])),
    row("gtod_reduce", Kind::Bool),
    row("gtod_cpu", INT),
    // Files and devices.
    row("directory", Kind::Text),
    row("filename", Kind::Text),
    row("filename_format", Kind::Text),
    row("unique_filename", Kind::Bool),
    row("opendir", Kind::Text),
    row("lockfile", Kind::Choice(&["none", "exclusive", "readwrite"])),
    also("nrfiles", "nr_files", INT),
    row("openfiles", INT),
    row(
        "file_service_type",
        Kind::Choice(&["random", "roundrobin", "sequential", "zipf", "pareto", "normal", "gauss"]),
    ),
    row("ioscheduler", Kind::Text),
    row("create_serialize", Kind::Bool),
    row("create_fsync", Kind::Bool),
    row("create_on_open", Kind::Bool),
    row("create_only", Kind::Bool),
    row("allow_file_create", Kind::Bool),
    row("allow_mounted_write", Kind::Bool),
    row("pre_read", Kind::Bool),
    row("unlink", Kind::Bool),
    row("unlink_each_loop", Kind::Bool),
    row("zonemode", Kind::Choice(&["none", "strided", "zbd"])),
    row("zonerange", Kind::Size),
    row("zonesize", Kind::Size),
    row("zonecapacity", Kind::Size),
    row("zoneskip", Kind::SizeOrShare),
    row("read_beyond_wp", Kind::Bool),
    row("max_open_zones", INT),
    row("job_max_open_zones", INT),
    row("ignore_zone_limits", Kind::Bool),
    row("zone_reset_threshold", Kind::Floats(0.0, 1.0)),
    row("zone_reset_frequency", Kind::Floats(0.0, 1.0)),
    // How it reads and writes.
    row("direct", Kind::Bool),
    row("atomic", Kind::Bool),
    row("buffered", Kind::Bool),
    also(
        "rw",
        "readwrite",
        Kind::Choice(&[
            "read",
            "write",
            "trim",
            "randread",
            "randwrite",
            "randtrim",
            "rw",
            "readwrite",
            "randrw",
            "trimwrite",
            "randtrimwrite",
        ]),
    ),
    row("rw_sequencer", Kind::Choice(&["sequential", "identical"])),
    row("unified_rw_reporting", Kind::Choice(&["none", "mixed", "both", "0", "1", "2"])),
    row("randrepeat", Kind::Bool),
    row("allrandrepeat", Kind::Bool),
    row("randseed", Kind::Size),
    row("fallocate", Kind::Choice(&["none", "native", "posix", "keep", "truncate", "0", "1"])),
    row("fadvise_hint", Kind::Choice(&["0", "1", "random", "sequential"])),
    row("write_hint", Kind::Choice(&["none", "short", "medium", "long", "extreme"])),
    also("offset", "fileoffset", Kind::SizeOrShare),
    row("offset_align", INT),
    row("offset_increment", Kind::SizeOrShare),
    row("number_ios", Kind::Size),
    row("fsync", INT),
    row("fdatasync", INT),
    row("write_barrier", INT),
    row("sync_file_range", Kind::Choice(&["wait_before", "write", "wait_after"])),
    row("overwrite", Kind::Bool),
    row("end_fsync", Kind::Bool),
    row("fsync_on_close", Kind::Bool),
    row("rwmixread", SHARE),
    row("rwmixwrite", SHARE),
    row(
        "random_distribution",
        Kind::Choice(&["random", "zipf", "pareto", "normal", "zoned", "zoned_abs"]),
    ),
    row("percentage_random", SHARE),
    row("norandommap", Kind::Flag),
    row("softrandommap", Kind::Bool),
    row("random_generator", Kind::Choice(&["tausworthe", "lfsr", "tausworthe64"])),
    // Blocks.
    also("bs", "blocksize", Kind::Sizes),
    also("bsrange", "blocksize_range", Kind::Ranges),
    row("bssplit", Kind::Text),
    also("bs_unaligned", "blocksize_unaligned", Kind::Flag),
    row("bs_is_seq_rand", Kind::Bool),
    also("ba", "blockalign", Kind::Sizes),
    // Buffers.
    row("zero_buffers", Kind::Flag),
    row("refill_buffers", Kind::Flag),
    row("scramble_buffers", Kind::Bool),
    row("buffer_compress_percentage", SHARE),
    row("buffer_compress_chunk", INT),
    row("buffer_pattern", Kind::Text),
    row("dedupe_percentage", SHARE),
    row("dedupe_mode", Kind::Choice(&["repeat", "working_set"])),
    row("dedupe_working_set_percentage", SHARE),
    row("dedupe_global", Kind::Bool),
    row("invalidate", Kind::Bool),
    row("sync", Kind::Choice(&["none", "0", "sync", "1", "dsync"])),
    also(
        "mem",
        "iomem",
        Kind::Choice(&["malloc", "shm", "shmhuge", "mmap", "mmapshared", "mmaphuge", "cudamalloc"]),
    ),
    also("iomem_align", "mem_align", INT),
    row("hugepage-size", INT),
    row("lockmem", Kind::Size),
    // Sizes.
    row("size", Kind::SizeOrShare),
    also("io_size", "io_limit", Kind::SizeOrShare),
    row("filesize", Kind::Ranges),
    row("file_append", Kind::Bool),
    also("fill_device", "fill_fs", Kind::Bool),
    // Engines.
    row("ioengine", Kind::Text),
    row("iodepth", Kind::Numbers(1, i32::MAX as i64)),
    also("iodepth_batch", "iodepth_batch_submit", INT),
    also("iodepth_batch_complete_min", "iodepth_batch_complete", INT),
    row("iodepth_batch_complete_max", INT),
    row("iodepth_low", INT),
    row("serialize_overlap", Kind::Bool),
    row("io_submit_mode", Kind::Choice(&["inline", "offload"])),
    // Rates.
    row("thinktime", Kind::Microseconds),
    row("thinktime_spin", Kind::Microseconds),
    row("thinktime_blocks", INT),
    row("thinktime_blocks_type", Kind::Choice(&["complete", "issue"])),
    row("thinktime_iotime", Kind::Seconds),
    row("rate", Kind::Numbers(0, i64::MAX)),
    also("rate_min", "ratemin", Kind::Numbers(0, i64::MAX)),
    row("rate_iops", INT),
    row("rate_iops_min", INT),
    row("rate_process", Kind::Choice(&["linear", "poisson"])),
    row("rate_ignore_thinktime", Kind::Bool),
    also("rate_cycle", "ratecycle", INT),
    // Latency.
    row("latency_target", Kind::Microseconds),
    row("latency_window", Kind::Microseconds),
    row("latency_percentile", Kind::Floats(0.0, 100.0)),
    row("latency_run", Kind::Bool),
    row("max_latency", Kind::Microseconds),
    // Replay.
    row("write_iolog", Kind::Text),
    row("read_iolog", Kind::Text),
    row("read_iolog_chunked", Kind::Bool),
    row("merge_blktrace_file", Kind::Text),
    row("merge_blktrace_scalars", Kind::Floats(0.0, f64::MAX)),
    row("merge_blktrace_iters", Kind::Floats(0.0, f64::MAX)),
    row("replay_no_stall", Kind::Bool),
    row("replay_time_scale", Kind::Numbers(1, i32::MAX as i64)),
    row("replay_redirect", Kind::Text),
    row("replay_align", INT),
    row("replay_scale", INT),
    row("replay_skip", Kind::Text),
    // Processes and processors.
    row("thread", Kind::Flag),
    row("wait_for", Kind::Text),
    row("nice", Kind::Numbers(-20, 19)),
    row("prio", Kind::Numbers(0, 7)),
    row("prioclass", Kind::Numbers(0, 3)),
    row("cpus_allowed", Kind::Text),
    row("cpumask", INT),
    row("cpus_allowed_policy", Kind::Choice(&["shared", "split"])),
    row("numa_cpu_nodes", Kind::Text),
    row("numa_mem_policy", Kind::Text),
    row("cgroup", Kind::Text),
    row("cgroup_weight", Kind::Numbers(100, 1000)),
    row("cgroup_nodelete", Kind::Bool),
    row("flow_id", INT),
    row("flow", Kind::Numbers(-1000, 1000)),
    row("flow_sleep", INT),
    also("stonewall", "wait_for_previous", Kind::Flag),
    row("exitall", Kind::Flag),
    row("exit_what", Kind::Choice(&["group", "stonewall", "all"])),
    row("exec_prerun", Kind::Text),
    row("exec_postrun", Kind::Text),
    row("uid", INT),
    row("gid", INT),
    row("gpu_dev_id", INT),
    // Verification.
    row("verify_only", Kind::Flag),
    row("do_verify", Kind::Bool),
    row(
        "verify",
        Kind::Choice(&[
            "0",
            "md5",
            "crc64",
            "crc32",
            "crc32c-intel",
            "crc32c",
            "crc16",
            "crc7",
            "sha1",
            "sha256",
            "sha512",
            "sha3-224",
            "sha3-256",
            "sha3-384",
            "sha3-512",
            "xxhash",
            "meta",
            "pattern",
            "null",
        ]),
    ),
    row("verify_offset", Kind::Numbers(VERIFY_HEADER, i32::MAX as i64)),
    row("verify_interval", Kind::Numbers(2 * VERIFY_HEADER, i32::MAX as i64)),
    row("verify_pattern", Kind::Text),
    row("verify_fatal", Kind::Bool),
    row("verify_dump", Kind::Bool),
    row("verify_async", INT),
    row("verify_async_cpus", Kind::Text),
    row("verify_backlog", Kind::Size),
    row("verify_backlog_batch", INT),
    row("verify_state_save", Kind::Bool),
    row("verify_state_load", Kind::Bool),
    row("experimental_verify", Kind::Bool),
    row("trim_percentage", SHARE),
    row("trim_verify_zero", Kind::Bool),
    row("trim_backlog", Kind::Size),
    row("trim_backlog_batch", INT),
    // The steady state.
    also("steadystate", "ss", Kind::Choice(&["iops", "iops_slope", "bw", "bw_slope"])),
    also("steadystate_duration", "ss_dur", Kind::Seconds),
    also("steadystate_ramp_time", "ss_ramp", Kind::Seconds),
    // What is measured and reported.
    row("per_job_logs", Kind::Bool),
    row("group_reporting", Kind::Flag),
    row("new_group", Kind::Flag),
    row("stats", Kind::Bool),
    row("write_bw_log", Kind::OptionalText),
    row("write_lat_log", Kind::OptionalText),
    row("write_hist_log", Kind::OptionalText),
    row("write_iops_log", Kind::OptionalText),
    row("log_entries", Kind::Numbers(1024, i32::MAX as i64)),
    row("log_avg_msec", INT),
    row("log_hist_msec", INT),
    row("log_hist_coarseness", INT),
    row("log_max_value", Kind::Bool),
    row("log_offset", Kind::Bool),
    row("log_prio", Kind::Bool),
    row("log_compression", Kind::Numbers(1024, 512 << 20)),
    row("log_compression_cpus", Kind::Text),
    row("log_store_compressed", Kind::Bool),
    row("log_unix_epoch", Kind::Bool),
    row("log_alternate_epoch", Kind::Bool),
    row("log_alternate_epoch_clock_id", INT),
    row("block_error_percentiles", Kind::Bool),
    row("bwavgtime", INT),
    row("iopsavgtime", INT),
    row("disk_util", Kind::Bool),
    row("disable_lat", Kind::Bool),
    row("disable_clat", Kind::Bool),
    row("disable_slat", Kind::Bool),
    also("disable_bw_measurement", "disable_bw", Kind::Bool),
    row("slat_percentiles", Kind::Bool),
    row("clat_percentiles", Kind::Bool),
    row("lat_percentiles", Kind::Bool),
    row("percentile_list", Kind::Floats(0.0, 100.0)),
    row("significant_figures", Kind::Numbers(1, 10)),
    // Errors.
    row("exitall_on_error", Kind::Flag),
    row(
        "continue_on_error",
        Kind::Choice(&["none", "read", "write", "io", "verify", "all", "0", "1"]),
    ),
    row("ignore_error", Kind::Text),
    row("error_dump", Kind::Bool),
    row("profile", Kind::Text),
    // Those of one engine or some.
    of_engines("hipri", Kind::Flag, &["pvsync2", "io_uring"]),
    of_engines("hipri_percentage", SHARE, &["pvsync2"]),
    of_engines("nowait", Kind::Bool, &["pvsync2", "libaio", "io_uring"]),
    of_engines("uncached", INT, &["pvsync2", "io_uring"]),
    of_engines("userspace_reap", Kind::Flag, &["libaio"]),
    of_engines("cmdprio_percentage", SHARE, &["libaio", "io_uring"]),
    of_engines("cmdprio_class", Kind::Numbers(0, 3), &["libaio", "io_uring"]),
    of_engines("cmdprio", Kind::Numbers(0, 7), &["libaio", "io_uring"]),
    of_engines("cmdprio_bssplit", Kind::Text, &["libaio", "io_uring"]),
    of_engines("fixedbufs", Kind::Flag, &["io_uring"]),
    of_engines("registerfiles", Kind::Flag, &["io_uring"]),
    of_engines("sqthread_poll", Kind::Flag, &["io_uring"]),
    of_engines("sqthread_poll_cpu", INT, &["io_uring"]),
    of_engines("nonvectored", Kind::Numbers(-1, 1), &["io_uring"]),
    of_engines("force_async", INT, &["io_uring"]),
    of_engines("thp", INT, &["mmap"]),
    of_engines("stat_type", Kind::Choice(&["stat", "lstat", "statx"]), &["filestat", "dirstat"]),
];

/// The option with this name or alias.
#[must_use]
pub fn find(name: &str) -> Option<&'static FioOption> {
    OPTIONS.iter().find(|one| one.name == name || (!one.alias.is_empty() && one.alias == name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_name_is_that_of_one_option() {
        let names: Vec<&str> = OPTIONS
            .iter()
            .flat_map(|one| [one.name, one.alias])
            .filter(|name| !name.is_empty())
            .collect();
        let different: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(different.len(), names.len());
        assert_eq!(find("readwrite").map(|one| one.name), Some("rw"));
        assert!(find("").is_none() && find("no_such").is_none());
    }
}
