//! Bonnie on file systems that this kernel lacks: in a guest, whose clock counts instructions.

use std::path::Path;
use std::time::Duration;

use ::lab::command::{Command, HAND_BACK};
use ::lab::{Boot, BootError, ImageParts, Lab, image, kernel};
use ::reproduce::bonnie_anova;
use anyhow::anyhow;
use record::{Run, RunDirectory};
use suites::classic::bonnie_anova::COUNTED_TARGETS;
use textual::plain_path;

use crate::arguments::reproduce::ReproduceOptions;
use crate::exit::OrInputError;
use crate::output;
use crate::session::start::{self, this_program};

/// Name of the guest's run in the directory of the run that it accompanies.
const RUN: &str = "guest";
/// Modules that the guest loads for the targets.
const LOADED: [&str; 6] = ["loop", "ext2", "vfat", "ext4", "xfs", "btrfs"];
/// The guest's memory, which contains all targets.
const MEMORY_BYTES: u64 = 2600 << 20;
/// With files of this size, the guest takes a minute or two.
const FILE_BYTES_MAX: u64 = 8 << 20;
const BLOCKS_MAX: u32 = 3;
const TIME_LIMIT: Duration = Duration::from_secs(900);

/// The guest's run that accompanies the one at `path`, and its name. If that run was made just now,
/// in `directory`, and lacks a file system of the paper, the guest's run is made as well. If that
/// fails, the reason is reported, and the command continues without it.
pub(super) fn accompanying_run(
    path: &Path,
    directory: Option<&RunDirectory>,
    run: &Run,
    options: &ReproduceOptions,
) -> anyhow::Result<Option<(Run, String)>> {
    let name = plain_path(&path.join(RUN));
    let Some(directory) = directory else {
        let guest = path.join(RUN);
        return match guest.is_dir() {
            true => Ok(Some((Run::read(&guest).or_input_error()?, name))),
            false => Ok(None),
        };
    };
    if !bonnie_anova::lacks_some(run) {
        return Ok(None);
    }
    output::say("counting in a guest what this kernel cannot mount: some two minutes");
    let counted = |into: &Path| count(into, run, options).map_err(|why| format!("{why:#}"));
    if let Err(why) = directory.take_in(RUN, counted) {
        output::say(&format!("not counted in a guest: {why}"));
        return Ok(None);
    }
    Ok(Some((directory.read_below(RUN)?, name)))
}

/// Boots the guest and stores its run in a directory.
fn count(into: &Path, run: &Run, options: &ReproduceOptions) -> anyhow::Result<()> {
    let stop = start::flag_of_signals()?;
    let lab = Lab::for_user()?;
    let kernel = kernel::find(&lab, None)?;
    let parts = ImageParts { kernel: &kernel, program: &this_program()?, further: &[] };
    let image = image::build(&lab, parts)?;
    let boot = Boot {
        memory_bytes: MEMORY_BYTES,
        time_limit: TIME_LIMIT,
        stop: Some(stop),
        ..Boot::new(kernel, image)
    };
    let command = Command { text: script(run, options), load: LOADED.map(str::to_owned).to_vec() };
    let ran = match command.run_into(boot, into) {
        Err(BootError::Stopped) => return Err(anyhow!("it was interrupted")),
        ran => ran?,
    };
    if ran.status != 0 {
        let said = String::from_utf8_lossy(&ran.output);
        let last = said.trim().lines().next_back().unwrap_or("it printed nothing");
        return Err(anyhow!("the guest's fsprism failed: {last}"));
    }
    anyhow::ensure!(into.join(RUN).is_dir(), "the guest handed back no run");
    Ok(())
}

/// The script that the guest runs. Its targets are in memory, and may take nearly all of it.
fn script(run: &Run, options: &ReproduceOptions) -> String {
    let targets: Vec<String> = COUNTED_TARGETS.iter().map(|target| format!("'{target}'")).collect();
    let size_bytes = options.size.unwrap_or(FILE_BYTES_MAX).min(FILE_BYTES_MAX);
    let blocks = options.blocks.unwrap_or(BLOCKS_MAX).min(BLOCKS_MAX);
    format!(
        "mount -o remount,size=95% /tmp && mkdir /tmp/scratch && exec /init run bonnie {} --size \
         {size_bytes} --seeks 16 --blocks {blocks} --seed {} --scratch /tmp/scratch --out \
         {HAND_BACK}/{RUN}\n",
        targets.join(" "),
        run.manifest.run.seed
    )
}
