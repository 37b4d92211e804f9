//! Targets on real file systems, from making to removal and to sudden death.
//!
//! A workshop needs a process with one thread, and a death must be watched from another process. So
//! this program starts itself once per case (`--case NAME`), and afterwards checks what the case's
//! process has left on the machine: nothing.

mod ageing;
mod conditions;
mod devices;
mod extents;
mod filling;
mod folios;
mod kill;
mod propagation;
mod read_ahead;
mod refusals;
mod residency;
mod slow;
mod support;
mod whole_life;

use std::process::{Command, ExitCode};

use support::{Place, leftovers};

/// A case's name, and what its process runs.
type Case = (&'static str, fn());

const CASES: &[Case] = &[
    ("tmpfs_lives", || whole_life::in_memory("tmpfs:size=64m")),
    ("ramfs_lives", || whole_life::in_memory("ramfs")),
    ("ext2_lives", || whole_life::on_a_loop_device("ext2:size=128m")),
    ("ext4_lives", || whole_life::on_a_loop_device("ext4:size=256m,mount=noatime")),
    ("ext4_takes_mkfs_options", || {
        whole_life::on_a_loop_device("ext4:size=256m,mkfs=-O ^has_journal,^metadata_csum -m 0");
    }),
    ("xfs_lives", || whole_life::on_a_loop_device("xfs:size=512m")),
    ("btrfs_lives", || whole_life::on_a_loop_device("btrfs:size=512m")),
    ("f2fs_lives", || whole_life::on_a_loop_device("f2fs:size=512m")),
    ("vfat_lives", || whole_life::on_a_loop_device("vfat:size=128m")),
    ("minix_lives", || whole_life::on_a_loop_device("minix:size=64m")),
    ("hfs_lives", || whole_life::on_a_loop_device("hfs:size=64m")),
    ("a_directory_lives", whole_life::in_a_directory),
    ("a_mount_inside_keeps_its_content", whole_life::a_mount_inside_keeps_its_content),
    ("images_of_one_run_share_the_scratch_directory", whole_life::images_share_room),
    ("a_volume_changes_its_size", whole_life::a_volume_changes_its_size),
    ("remounting_forgets_metadata", whole_life::remounting_forgets_metadata),
    ("an_overlay_is_counted", whole_life::an_overlay_is_counted),
    ("unmounting_comes_in", propagation::unmounting_comes_in_and_nothing_goes_out),
    ("memory_is_limited", conditions::memory_is_limited),
    ("dirty_pages_of_a_group_are_counted", conditions::dirty_pages_of_a_group_are_counted),
    ("device_rates_are_limited", conditions::device_rates_are_limited),
    ("pages_on_their_way_are_evicted", conditions::pages_on_their_way_are_evicted),
    ("every_request_takes_its_time", slow::every_request_takes_its_time),
    ("a_device_may_have_a_cache", slow::a_device_may_have_a_cache),
    ("the_death_of_its_server_is_told", slow::the_death_of_its_server_is_told),
    ("a_directory_takes_conditions", conditions::a_directory_takes_conditions),
    ("pages_of_ext4_are_told", || residency::pages_are_told("ext4:size=256m")),
    ("pages_of_xfs_are_told", || residency::pages_are_told("xfs:size=512m")),
    ("pages_of_btrfs_are_told", || residency::pages_are_told("btrfs:size=512m")),
    ("folios_of_memory_are_told", folios::of_memory_are_told),
    ("folios_of_ext4_are_told", || folios::are_told("ext4:size=256m")),
    ("folios_of_xfs_are_told", || folios::are_told("xfs:size=512m")),
    ("ext2_reads_ahead_as_told", || read_ahead::is_as_told("ext2:size=128m")),
    ("ext4_reads_ahead_as_told", || read_ahead::is_as_told("ext4:size=128m")),
    ("xfs_reads_ahead_as_told", || read_ahead::is_as_told("xfs:size=512m")),
    ("btrfs_reads_ahead_as_told", || read_ahead::is_as_told("btrfs:size=512m")),
    ("read_ahead_is_put_back", read_ahead::is_put_back),
    ("read_ahead_is_put_back_after_death", read_ahead::is_put_back_after_death),
    ("read_ahead_is_put_back_by_the_next", read_ahead::is_put_back_by_the_next),
    ("an_allocated_ext4_stays_so", || whole_life::an_allocated_image_stays_so("ext4")),
    ("an_allocated_xfs_stays_so", || whole_life::an_allocated_image_stays_so("xfs")),
    ("an_allocated_btrfs_stays_so", || whole_life::an_allocated_image_stays_so("btrfs")),
    ("extents_of_ext2_are_told", || extents::are_told("ext2:size=128m")),
    ("extents_of_ext4_are_told", || extents::are_told("ext4:size=256m")),
    ("extents_of_xfs_are_told", || extents::are_told("xfs:size=512m")),
    ("extents_of_btrfs_are_told", || extents::are_told("btrfs:size=512m")),
    ("memory_has_no_extents", extents::memory_has_none),
    ("the_device_below_is_read", devices::the_one_below_is_read),
    ("below_a_directory_nothing_is_written", devices::below_a_directory_is_not_written),
    ("memory_has_no_device", devices::memory_has_none),
    ("several_devices_are_not_one", devices::several_are_not_one),
    ("ageing_ext2_breaks_space_up", || ageing::breaks_free_space_up("ext2:size=512m")),
    ("ageing_ext4_breaks_space_up", || ageing::breaks_free_space_up("ext4:size=512m")),
    ("ageing_xfs_breaks_space_up", || ageing::breaks_free_space_up("xfs:size=512m")),
    ("ageing_btrfs_breaks_space_up", || ageing::breaks_free_space_up("btrfs:size=512m")),
    ("ageing_is_repeatable", ageing::is_repeatable),
    ("ageing_is_stopped", ageing::is_stopped),
    ("fresh_targets_stay_fresh", ageing::fresh_ones_stay_fresh),
    ("filling_ext2_takes_its_share", || filling::takes_its_share("ext2:size=256m", 50)),
    ("filling_ext3_takes_its_share", || filling::takes_its_share("ext3:size=256m", 50)),
    ("filling_ext4_takes_its_share", || filling::takes_its_share("ext4:size=1g", 50)),
    ("filling_xfs_takes_its_share", || filling::takes_its_share("xfs:size=1g", 50)),
    ("filling_btrfs_takes_its_share", || filling::takes_its_share("btrfs:size=1g", 50)),
    ("filling_f2fs_takes_its_share", || filling::takes_its_share("f2fs:size=512m", 50)),
    ("filling_vfat_takes_its_share", || filling::takes_its_share("vfat:size=256m", 50)),
    ("filling_minix_takes_its_share", || filling::takes_its_share("minix:size=64m", 50)),
    ("filling_ext4_leaves_little", || filling::takes_its_share("ext4:size=1g", 95)),
    ("filling_xfs_leaves_little", || filling::takes_its_share("xfs:size=1g", 95)),
    ("filling_btrfs_leaves_little", || filling::takes_its_share("btrfs:size=4g", 90)),
    ("filling_ext4_of_64_gib", || filling::of_64_gib_takes_no_room("ext4")),
    ("filling_xfs_of_64_gib", || filling::of_64_gib_takes_no_room("xfs")),
    ("filling_btrfs_of_64_gib", || filling::of_64_gib_takes_no_room("btrfs")),
    ("filling_comes_before_ageing", filling::comes_before_ageing),
    ("filling_is_stopped", filling::is_stopped),
    ("filling_needs_room_where_it_is_written", filling::needs_room_where_it_is_written),
    ("devices_with_data_are_left_alone", devices::with_data_are_left_alone),
    ("a_named_device_is_formatted", devices::named_is_formatted),
    (
        "what_was_checked_is_formatted_whatever_is_at_its_path",
        devices::what_was_checked_is_formatted_whatever_is_at_its_path,
    ),
    ("a_link_that_flips_destroys_nothing", devices::a_link_that_flips_destroys_nothing),
    ("a_name_in_mkfs_is_no_device", devices::a_name_in_mkfs_is_no_device),
    ("a_device_in_use_is_refused", devices::in_use_is_refused),
    ("a_device_that_shows_another_is_refused", devices::one_that_shows_another_in_use_is_refused),
    ("what_cannot_be_made_is_refused", refusals::what_cannot_be_made),
    ("tools_that_fail_leave_nothing", refusals::failing_tools_leave_nothing),
    ("a_second_thread_is_too_late", refusals::a_second_thread_is_too_late),
    ("plain_users_have_directories", refusals::plain_users_have_directories),
    (
        "what_others_put_at_its_path_is_left_alone",
        refusals::what_others_put_at_its_path_is_left_alone,
    ),
    ("targets_may_outlive_the_workshop", whole_life::targets_may_outlive_the_workshop),
];

/// Cases that watch other processes die.
const WATCHED: &[Case] = &[
    ("death_at_any_step_leaves_nothing", kill::at_every_step),
    ("death_while_formatting_leaves_nothing", kill::while_formatting),
    ("a_server_that_does_not_end_is_killed", kill::a_server_that_does_not_end),
    ("the_guardian_ignores_signals", kill::guardian_ignores_signals),
    ("leftovers_of_the_dead_are_swept", kill::leftovers_are_swept),
];

fn main() -> ExitCode {
    if slow_device::is_server() {
        return slow_device::serve();
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--case", name] => {
            let case = CASES.iter().find(|(known, _)| *known == name).expect("a case of the list");
            case.1();
            return ExitCode::SUCCESS;
        }
        ["--steps", scratch] => {
            kill::take_steps(scratch.as_ref());
            return ExitCode::SUCCESS;
        }
        ["--as-plain-user", directory] => {
            refusals::as_plain_user(directory.as_ref());
            return ExitCode::SUCCESS;
        }
        ["--die-with-read-ahead", device] => {
            read_ahead::die_with_it(device, false);
            return ExitCode::SUCCESS;
        }
        ["--die-unguarded", device] => {
            read_ahead::die_with_it(device, true);
            return ExitCode::SUCCESS;
        }
        ["--as-host", place] => {
            propagation::as_host(place.as_ref());
            return ExitCode::SUCCESS;
        }
        ["--as-guest", place] => {
            propagation::as_guest(place.as_ref());
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let wanted = |name: &str| {
        let mut filters = arguments.iter().filter(|argument| !argument.starts_with("--"));
        filters.clone().next().is_none() || filters.any(|filter| name.contains(filter.as_str()))
    };
    if arguments.iter().any(|argument| argument == "--list") {
        for (name, _) in CASES.iter().chain(WATCHED) {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: life: it makes file systems and mounts them, which needs root");
        return ExitCode::SUCCESS;
    }
    // Anyone measuring at the same time would evict what is looked at here.
    let _lock = machine::measuring_lock::MeasuringLock::wait().expect("the lock can be opened");
    let mut failed = 0;
    for (name, _) in CASES.iter().filter(|(name, _)| wanted(name)) {
        failed += report(name, run_apart(name));
    }
    for (name, case) in WATCHED.iter().filter(|(name, _)| wanted(name)) {
        let outcome = std::panic::catch_unwind(case).map_err(|_| "see above".to_owned());
        failed += report(name, outcome);
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn report(name: &str, outcome: Result<(), String>) -> u32 {
    match outcome {
        Ok(()) => println!("test {name} ... ok"),
        Err(reason) => {
            println!("test {name} ... FAILED: {reason}");
            return 1;
        }
    }
    0
}

/// Runs a case in a process of its own and checks what that leaves behind.
fn run_apart(name: &str) -> Result<(), String> {
    let place = Place::new();
    let mut child = Command::new(std::env::current_exe().expect("this program has a file"))
        .args(["--case", name])
        .env("LIFE_PLACE", place.path())
        .spawn()
        .expect("this program can be started again");
    let pid = child.id();
    let status = child.wait().expect("the child is ours");
    let left = leftovers(pid, place.path());
    if !status.success() {
        return Err(status.to_string());
    }
    if left.is_empty() { Ok(()) } else { Err(format!("left behind: {left:?}")) }
}
