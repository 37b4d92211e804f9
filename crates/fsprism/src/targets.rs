//! From the command line's targets to live ones: parsed, checked, made.

use std::path::PathBuf;

use clap::Parser;
use file_system::FileSystem;
use record::{Manifest, Skipped, TargetRecord};
use suites::{LiveTarget, target_record};
use targets::{
    Place, SpecError, Surroundings, Target, TargetError, TargetSpec, Workshop, availability,
    refuse_duplicate_labels,
};

use crate::arguments::{Arguments, Command, Making};
use crate::exit::Blame;
use crate::output;

const CLIFF_DEFAULT: &str = "ext4:memory=64m";
const PATH_DEFAULTS: [&str; 2] = [".", "/dev/shm"];

/// Size of the data files where nothing speaks against it: twice the last-level cache of most
/// machines, and small enough to be renewed for every block.
const DATA_FILE_BYTES: u64 = 64 << 20;
const DATA_FILE_BYTES_MIN: u64 = 1 << 20;
/// Room for the directories of the file sets.
const DIRECTORIES_BYTES: u64 = 48 << 20;

/// What is to be measured, before anything is made.
#[derive(Debug)]
pub(crate) struct Wanted {
    specs: Vec<TargetSpec>,
    pub(crate) skipped: Vec<Skipped>,
    surroundings: Surroundings,
}

/// What is measured.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) live: Vec<LiveTarget>,
    pub(crate) workshop: Workshop,
}

/// Reads and checks the targets. One that was asked for must be there; of the defaults, those
/// that are not are skipped with why.
pub(crate) fn wanted(texts: &[String], making: &Making) -> anyhow::Result<Wanted> {
    if texts.is_empty() {
        return defaults(surroundings(making), making.aged).blame_input();
    }
    named(texts, making)
}

/// A paper's own targets, which nobody chose: those that cannot be made here are left out and said,
/// as long as one is left.
pub(crate) fn wanted_of_paper(texts: &[String], making: &Making) -> anyhow::Result<Wanted> {
    let specs = parsed(texts, making.aged)?;
    let surroundings = fitted(surroundings(making), &specs);
    let (specs, skipped) = available(specs, &surroundings);
    if let (true, Some(first)) = (specs.is_empty(), skipped.first()) {
        let labels: Vec<&str> = skipped.iter().map(|one| one.target.as_str()).collect();
        let refusal = anyhow::anyhow!(
            "the paper is measured on {}, none of which can be made here: {}",
            labels.join(", "),
            first.why
        );
        return Err(refusal).blame_input();
    }
    for one in &skipped {
        output::say(&format!("left out: {}: {}", one.target, one.why));
    }
    Ok(Wanted { specs, skipped, surroundings })
}

/// Those that can be made here, and those that cannot, each with why.
fn available(specs: Vec<TargetSpec>, around: &Surroundings) -> (Vec<TargetSpec>, Vec<Skipped>) {
    let mut skipped = Vec::new();
    let mut available = Vec::new();
    for spec in specs {
        match availability(&spec, around) {
            Ok(()) => available.push(spec),
            Err(why) => skipped.push(Skipped { target: spec.label, why: why.to_string() }),
        }
    }
    (available, skipped)
}

/// The targets of a search for cliffs: where none is named, one whose memory is limited, so that
/// its cliff is found in little time; without root, this directory.
pub(crate) fn wanted_for_cliffs(texts: &[String], making: &Making) -> anyhow::Result<Wanted> {
    if !texts.is_empty() {
        return named(texts, making);
    }
    let limited = [CLIFF_DEFAULT.to_owned()];
    let spec: TargetSpec = CLIFF_DEFAULT.parse()?;
    match availability(&spec, &surroundings(making)) {
        Ok(()) => named(&limited, making),
        Err(why) => {
            output::say(&format!("without a target, fsprism cliff uses {CLIFF_DEFAULT}: {why}"));
            named(&[PATH_DEFAULTS[0].to_owned()], making)
        }
    }
}

fn named(texts: &[String], making: &Making) -> anyhow::Result<Wanted> {
    let surroundings = surroundings(making);
    let specs = parsed(texts, making.aged).blame_input()?;
    refuse_duplicate_labels(&specs).blame_input()?;
    let surroundings = fitted(surroundings, &specs);
    for spec in &specs {
        availability(spec, &surroundings).blame_input()?;
    }
    Ok(Wanted { specs, skipped: Vec::new(), surroundings })
}

/// The targets as the command line says, those aged that say nothing of it themselves.
fn parsed<T: AsRef<str>>(texts: &[T], aged: Option<u32>) -> Result<Vec<TargetSpec>, SpecError> {
    let parse = |text: &T| {
        let mut spec: TargetSpec = text.as_ref().parse()?;
        if let Some(rounds) = aged {
            spec.age_unless_said(rounds);
        }
        Ok(spec)
    };
    texts.iter().map(parse).collect()
}

/// How the targets of a run that is taken up again are made: as they were.
pub(crate) fn making_again(manifest: &Manifest, making: &Making) -> anyhow::Result<Making> {
    let has_images = manifest.targets.iter().any(|target| target.loop_direct_io.is_some());
    let recorded = manifest.scratch.as_ref().map(PathBuf::from);
    let Some(before) = recorded.or_else(|| scratch_of(&manifest.run.arguments)) else {
        return Ok(making.clone());
    };
    match &making.scratch {
        Some(now) if has_images && std::path::absolute(now)? != std::path::absolute(&before)? => {
            // Elsewhere they would lie on another device, and one run would measure two.
            let refusal = anyhow::anyhow!(
                "the images of this run are in {}: resume without --scratch",
                before.display()
            );
            Err(refusal).blame_input()
        }
        Some(_) => Ok(making.clone()),
        None => Ok(Making { scratch: Some(before), ..making.clone() }),
    }
}

/// The targets of a run that is taken up again.
pub(crate) fn wanted_again(manifest: &Manifest, making: &Making) -> anyhow::Result<Wanted> {
    let specs: Vec<TargetSpec> =
        manifest.targets.iter().map(as_it_was).collect::<Result<_, _>>()?;
    let surroundings = surroundings(making);
    for spec in &specs {
        availability(spec, &surroundings).blame_input()?;
    }
    Ok(Wanted { specs, skipped: Vec::new(), surroundings })
}

/// The scratch directory that a command line asked for: for runs of before it was recorded.
#[expect(clippy::wildcard_enum_match_arm, reason = "all others are alike here")]
fn scratch_of(arguments: &[String]) -> Option<PathBuf> {
    let making = match Arguments::try_parse_from(arguments).ok()?.command {
        Command::Survey(options) => options.measuring.making,
        Command::Run(options) => options.measuring.making,
        _ => return None,
    };
    Some(making.scratch().to_owned())
}

/// What a run records of a target: with its whole path, so that the run can be gone on with from
/// any directory.
pub(crate) fn record_of(live: &LiveTarget) -> TargetRecord {
    let mut record = target_record(live);
    let mut spec = live.target().spec().clone();
    if let Place::Directory(path) = &mut spec.place
        && let Ok(whole) = std::path::absolute(&path)
    {
        *path = whole;
        // The label stands in the record by itself; this one is only there to be cut off.
        spec.label = "label".to_owned();
        let text = spec.to_string();
        record.specification = text.strip_prefix("label=").unwrap_or(&text).to_owned();
    }
    record
}

/// A recorded target, with the size it had: the room there is now may suggest another.
fn as_it_was(target: &TargetRecord) -> anyhow::Result<TargetSpec> {
    let mut spec: TargetSpec = target.specification.parse().blame_input()?;
    spec.label.clone_from(&target.label);
    if let Place::Scratch(scratch) = &mut spec.place
        && scratch.device.is_none()
        && target.size_bytes > 0
    {
        scratch.size_bytes = Some(target.size_bytes);
    }
    Ok(spec)
}

fn surroundings(making: &Making) -> Surroundings {
    Surroundings {
        scratch: making.scratch().to_owned(),
        destroy: making.destroy_data.clone(),
        ..Surroundings::default()
    }
}

impl Wanted {
    /// Makes the targets. The process must still have one thread.
    pub(crate) fn make(self) -> anyhow::Result<Made> {
        let workshop = Workshop::open(self.surroundings)?;
        let make = |spec| match workshop.make(spec) {
            Ok(target) => Ok(LiveTarget::new(target)),
            Err(error) if is_wrong_input(&error) => Err(error).blame_input(),
            Err(error) => Err(error.into()),
        };
        let live = self.specs.iter().map(make).collect::<anyhow::Result<_>>()?;
        Ok(Made { live, workshop })
    }
}

/// Whether another target or option would have been made.
fn is_wrong_input(error: &TargetError) -> bool {
    matches!(
        error,
        TargetError::Unavailable(_)
            | TargetError::Image { .. }
            | TargetError::Mkfs { .. }
            | TargetError::Mount { .. }
            | TargetError::Conditions { .. }
            | TargetError::WorkDirectory { .. }
    )
}

impl Made {
    /// The size of the data files: as asked if it fits, else what every target has room for.
    pub(crate) fn data_file_bytes(&self, asked: Option<u64>) -> anyhow::Result<u64> {
        let mut fits = DATA_FILE_BYTES;
        for live in &self.live {
            let (target, label) = (live.target(), &live.target().spec().label);
            let free = target.space()?.free_bytes.saturating_sub(DIRECTORIES_BYTES);
            if let Some(bytes) = asked.filter(|bytes| bytes.saturating_mul(3) > free) {
                let refusal = anyhow::anyhow!(
                    "three files of {bytes} bytes do not fit on {label}, which has {free} bytes \
                     for them: give a smaller --size{}",
                    if live.is_scratch() { ", or a larger size= for the target" } else { "" },
                );
                return Err(refusal).blame_input();
            }
            fits = fits.min(free / 4).min(memory_share(target));
        }
        let whole = fits / DATA_FILE_BYTES_MIN * DATA_FILE_BYTES_MIN;
        match asked {
            Some(bytes) if bytes < DATA_FILE_BYTES_MIN => {
                let refusal = anyhow::anyhow!(
                    "the files must hold at least one request of 1 MiB: give a larger --size"
                );
                Err(refusal).blame_input()
            }
            Some(bytes) => Ok(bytes / DATA_FILE_BYTES_MIN * DATA_FILE_BYTES_MIN),
            None if whole == 0 => {
                let refusal = anyhow::anyhow!(
                    "a target has no room for files of 1 MiB: make room, or give it a larger size="
                );
                Err(refusal).blame_input()
            }
            None => Ok(whole),
        }
    }

    /// Removes the targets and waits until nothing of them is left.
    pub(crate) fn close(live: Vec<LiveTarget>, workshop: Workshop) -> anyhow::Result<()> {
        let closed: Vec<_> = live.into_iter().map(LiveTarget::close).collect();
        workshop.close()?;
        closed.into_iter().collect::<Result<(), _>>()?;
        Ok(())
    }
}

/// An eighth of the target's memory limit: the file that is read, the one that is written and that
/// of an experiment are to stay in memory beside directories.
fn memory_share(target: &Target) -> u64 {
    target.facts().conditions.limits.memory_bytes.map_or(u64::MAX, |bytes| bytes / 8)
}

fn defaults(surroundings: Surroundings, aged: Option<u32>) -> anyhow::Result<Wanted> {
    let names: Vec<&str> = FileSystem::by_default().map(|one| one.row().name).collect();
    let specs = parsed(&names, aged)?;
    let surroundings = fitted(surroundings, &specs);
    let (mut available, mut skipped) = available(specs, &surroundings);
    if available.is_empty() {
        let names = names.join(", ");
        output::say(&format!("as root, fsprism would make and measure {names}"));
        for path in PATH_DEFAULTS {
            let spec: TargetSpec = path.parse()?;
            match availability(&spec, &surroundings) {
                Ok(()) => available.push(spec),
                Err(why) => skipped.push(Skipped { target: spec.label, why: why.to_string() }),
            }
        }
    }
    if available.is_empty() {
        let whys: Vec<String> = skipped.iter().map(|one| one.why.clone()).collect();
        anyhow::bail!("nothing can be measured here: {}", whys.join("; "));
    }
    Ok(Wanted { specs: available, skipped, surroundings })
}

fn fitted(mut surroundings: Surroundings, specs: &[TargetSpec]) -> Surroundings {
    if specs.iter().any(|spec| matches!(spec.place, Place::Scratch(_))) {
        surroundings.fit_images(specs);
    }
    surroundings
}
