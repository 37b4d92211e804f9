//! Real guests: what they hand back, and how failures are reported.
//!
//! This program is also the guest's `/init`, so it does not use the standard test harness: it first
//! checks whether it is the init process of a guest.

mod cases;
mod rigs;
mod test_lab;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use lab::{guest, inside};
use test_lab::TestLab;

/// A test case: name and function.
type Case = (&'static str, fn(&TestLab));

const CASES: &[Case] = &[
    ("two_boots_hand_back_the_same", cases::two_boots_hand_back_the_same),
    ("the_port_changes_nothing", cases::the_port_changes_nothing),
    ("file_systems_are_made_and_mounted", cases::file_systems_are_made_and_mounted),
    ("a_guest_that_hangs_is_ended", cases::a_guest_that_hangs_is_ended),
    ("a_guest_that_panics_is_told", cases::a_guest_that_panics_is_told),
    ("a_guest_that_just_stops_is_told", cases::a_guest_that_just_stops_is_told),
    ("a_job_that_fails_is_told", cases::a_job_that_fails_is_told),
    ("a_command_ends_as_it_does", cases::a_command_ends_as_it_does),
    ("a_plugin_that_is_none_is_refused", cases::a_plugin_that_is_none_is_refused),
    ("the_wish_to_stop_is_heard", cases::the_wish_to_stop_is_heard),
    ("the_same_parts_give_the_same_image", cases::the_same_parts_give_the_same_image),
    ("a_kernel_that_is_none_is_refused", cases::a_kernel_that_is_none_is_refused),
    ("a_kernel_in_a_package_is_booted", cases::a_kernel_in_a_package_is_booted),
    ("nobody_outlives_fsprism", cases::nobody_outlives_fsprism),
    ("guests_of_a_rig_reach_each_other", rigs::guests_of_a_rig_reach_each_other),
    ("a_guest_that_is_gone_is_told", rigs::a_guest_that_is_gone_is_told),
    ("no_guest_of_a_rig_outlives_fsprism", rigs::no_guest_of_a_rig_outlives_fsprism),
];

fn main() -> ExitCode {
    if inside::is_first_process() {
        if inside::rig::has_part() {
            rigs::serve();
        }
        guest::init();
    }
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if wanted.first().is_some_and(|word| word == cases::HANG) {
        cases::hang();
    }
    if wanted.first().is_some_and(|word| word == rigs::WAIT) {
        rigs::wait();
    }
    let place = match TestLab::find() {
        Ok(place) => place,
        Err(why) => {
            eprintln!("skipped: {why}");
            return ExitCode::SUCCESS;
        }
    };
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word));
    let mut failed = 0;
    for (name, case) in CASES.iter().filter(|(name, _)| is_wanted(name)) {
        let is_well = catch_unwind(AssertUnwindSafe(|| case(&place))).is_ok();
        println!("{name} ... {}", if is_well { "ok" } else { "FAILED" });
        failed += usize::from(!is_well);
    }
    ExitCode::from(u8::from(failed > 0))
}
