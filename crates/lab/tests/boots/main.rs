//! Real guests: what they hand back, and what becomes of those that fail.
//!
//! This program is the guest's `/init` as well, so it is no test of the usual harness.

use std::process::ExitCode;

use lab::kernel::{self, Request};
use lab::{Boot, Lab, Parts, guest, image, inside};

fn main() -> ExitCode {
    if inside::is_first_process() {
        guest::init();
    }
    let lab = Lab::of_user().unwrap();
    let plan = kernel::plan(&lab, &Request::Newest).unwrap();
    println!("{:?}", plan.sentence());
    let kernel = kernel::build(&lab, &plan, &|text| println!("{text}")).unwrap();
    let program = std::env::current_exe().unwrap();
    let t = std::time::Instant::now();
    let image = image::build(&lab, Parts { kernel: &kernel, program: &program }).unwrap();
    println!("{image:?} {:?}", t.elapsed());
    let mut boot = Boot::new(kernel, image);
    let script = std::env::args().nth(1).unwrap_or("uname -a > /hand-back/uname".into());
    boot.job = vec![("/job/run".into(), script.into_bytes())];
    boot.console = Some("/tmp/labx/console".into());
    boot.time_limit = std::time::Duration::from_secs(60);
    let t = std::time::Instant::now();
    println!("{:?}", boot.run("/tmp/labx/back".as_ref()));
    println!("{:?}", t.elapsed());
    ExitCode::SUCCESS
}
