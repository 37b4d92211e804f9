//! The caching benchmarks, cold names and commits on real file systems: the known properties of a
//! target must be found.
//!
//! A workshop needs a single-threaded process, so this is a program of its own that runs its cases
//! one after another.

mod cold_names;
mod commits;
mod eviction;
mod others;
mod place;
mod prefetch;
mod warm_up;
mod write_back;

use std::process::ExitCode;

use place::Place;

/// A case's name and what it runs.
type Case = (&'static str, fn(&Place));

const CASES: &[Case] = &[
    ("the_window_is_the_setting_on_ext4", |place| prefetch::window_is_setting(place, "ext4")),
    ("the_window_is_the_setting_on_xfs", |place| prefetch::window_is_setting(place, "xfs")),
    ("the_window_is_the_setting_on_btrfs", |place| prefetch::window_is_setting(place, "btrfs")),
    ("single_reads_bring_in_little", prefetch::single_reads_bring_in_little),
    ("attributes_come_with_their_neighbours", prefetch::attributes_come_with_neighbours),
    ("what_cannot_be_cold_is_refused", prefetch::what_cannot_be_cold_is_refused),
    ("names_of_every_change_are_cold_on_ext4", |place| cold_names::of_every_change(place, "ext4")),
    ("names_of_every_change_are_cold_on_xfs", |place| cold_names::of_every_change(place, "xfs")),
    ("reads_are_charged_to_who_asks", others::reads_are_charged_to_who_asks),
    ("reads_of_others_do_not_refute_on_btrfs", |place| {
        others::their_reads_are_a_warning(place, "btrfs");
    }),
    ("reads_of_others_do_not_refute_on_ext4", |place| {
        others::their_reads_are_a_warning(place, "ext4");
    }),
    ("a_warm_up_ends_with_all_in_memory", warm_up::ends_with_all_in_memory),
    ("a_file_larger_than_memory_is_not_warmed", warm_up::too_large_is_refused),
    ("scenes_show_the_limit", eviction::scenes_show_the_limit),
    ("the_policy_is_found", eviction::the_policy_is_found),
    ("without_a_limit_nothing_is_thrown_out", eviction::without_a_limit_it_is_refused),
    ("writers_wait_at_the_limit", write_back::writers_wait_at_the_limit),
    ("threads_share_flushes", commits::threads_share_flushes),
    ("durable_writes_flush", commits::durable_writes_flush),
    ("syncs_write_what_they_must", commits::syncs_write_what_they_must),
    ("schedules_are_kept", commits::schedules_are_kept),
    ("without_a_device_no_commit_is_measured", commits::without_a_device_it_is_refused),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        CASES.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: caching: it makes file systems and mounts them, which needs root");
        return ExitCode::SUCCESS;
    }
    let wanted = |name: &str| {
        let mut filters = arguments.iter().filter(|argument| !argument.starts_with("--"));
        filters.clone().next().is_none() || filters.any(|filter| name.contains(filter.as_str()))
    };
    // Measurements that run at the same time would evict what is examined here.
    let _lock = machine::measuring_lock::MeasuringLock::wait().expect("the lock can be opened");
    let place = Place::new();
    let mut failed = 0;
    for (name, case) in CASES.iter().filter(|(name, _)| wanted(name)) {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&place)));
        println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
        failed += u32::from(outcome.is_err());
    }
    place.close();
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
