//! From the command line's targets to those that are made: parsed, checked, some left out.

use std::path::{Path, PathBuf};

use file_system::FileSystem;
use record::{Axis, ClassicOptions, Manifest, TargetRecord};
use rustix::process::geteuid;
use suites::{CliffError, Suite};
use targets::{Location, Selection, SpecError, Surroundings, TargetSpec, availability, tell_apart};

use crate::arguments::making::{self, Making};
use crate::exit::Blame;
use crate::output;

const CLIFF_DEFAULT: &str = "ext4:memory=64m";
const PATH_DEFAULTS: [&str; 2] = [".", MEMORY];
/// A directory in memory.
const MEMORY: &str = "/dev/shm";

/// The largest volume of a search over their sizes, where nothing is said.
const LARGEST_VOLUME_BYTES: u64 = 256 << 30;

/// Which targets are measured.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice<'a> {
    /// Those that were asked for, which must be there; of the defaults, those that are not are
    /// skipped.
    Asked(&'a [String]),
    /// A paper's own, which nobody chose: those that cannot be made here are left out and said, as
    /// long as one is left.
    OfPaper(&'a [String]),
    /// Those of a search for cliffs: where none is named, one whose memory is limited, so that its
    /// cliff is found in little time; without root, this directory.
    ForCliffs(&'a [String]),
    /// Those of a search over sizes of volumes, up to one of so many bytes: on images only, which
    /// get the largest size. Where none is named, those of the defaults that can be made.
    ForVolumes(&'a [String], Option<u64>),
    /// None: memory alone is measured. A target stands for it, on which nothing is done.
    Memory,
    /// Those of a run that is resumed, as they were.
    Recorded(&'a Manifest),
}

impl<'a> Choice<'a> {
    /// The targets that were asked for, if the suite takes any.
    pub(crate) fn for_suite(suite: &Suite, texts: &'a [String]) -> anyhow::Result<Self> {
        match (&suite.classic, texts) {
            (Some(ClassicOptions::ArrayWalk(_)), []) => Ok(Self::Memory),
            (Some(ClassicOptions::ArrayWalk(_)), [first, ..]) => {
                let name = suite.name;
                let refusal = anyhow::anyhow!(
                    "{name} walks over memory and uses no file system: leave out {first}"
                );
                Err(refusal).blame_input()
            }
            (
                Some(
                    ClassicOptions::SpriteLfs(_)
                    | ClassicOptions::Bonnie(_)
                    | ClassicOptions::BonnieMetadata(_),
                )
                | None,
                _,
            ) => Ok(Self::Asked(texts)),
        }
    }
}

/// Chooses targets that can be made, and says if their images are smaller than usual.
pub(crate) fn choose(choice: Choice<'_>, making: &Making) -> anyhow::Result<Selection> {
    let selection = chosen(choice, making)?;
    let has_usual_size = !matches!(choice, Choice::ForVolumes(..));
    if let Some(smaller) = selection.smaller_volumes().filter(|_| has_usual_size) {
        output::say(&smaller.to_string());
    }
    Ok(selection)
}

fn chosen(choice: Choice<'_>, making: &Making) -> anyhow::Result<Selection> {
    let around = surroundings(making);
    let parsed = |texts: &[String]| parsed(texts, making.aged).blame_input();
    let all = |specs: Vec<TargetSpec>, around| Selection::all(specs, around).blame_input();
    match choice {
        Choice::Asked([]) => defaults(around, making.aged).blame_input(),
        Choice::ForCliffs([]) => {
            let limited: TargetSpec = CLIFF_DEFAULT.parse()?;
            let Err(why) = availability(&limited, &around) else {
                return all(parsed(&[CLIFF_DEFAULT.to_owned()])?, around);
            };
            output::say(&format!("without a target, fsprism cliff uses {CLIFF_DEFAULT}: {why}"));
            all(parsed(&[PATH_DEFAULTS[0].to_owned()])?, around)
        }
        Choice::Asked(texts) | Choice::ForCliffs(texts) => all(parsed(texts)?, around),
        Choice::ForVolumes(texts, most_bytes) => {
            let image_bytes = most_bytes.unwrap_or(LARGEST_VOLUME_BYTES);
            let around = Surroundings { image_bytes, ..around };
            let check = |spec: &TargetSpec| check_volume(spec, image_bytes);
            if texts.is_empty() {
                let specs = default_volumes(making.aged).blame_input()?;
                specs.iter().try_for_each(check).blame_input()?;
                return possible_volumes(specs, around).blame_input();
            }
            let specs = parsed(texts)?;
            specs.iter().try_for_each(check).blame_input()?;
            all(specs, around)
        }
        Choice::Memory => {
            let place = if Path::new(MEMORY).is_dir() { MEMORY } else { PATH_DEFAULTS[0] };
            all(parsed(&[format!("memory={place}")])?, around)
        }
        Choice::OfPaper(texts) => of_paper(parsed(texts)?, around),
        Choice::Recorded(manifest) => {
            let specs = manifest.targets.iter().map(as_it_was).collect::<Result<_, _>>();
            all(specs.blame_input()?, around)
        }
    }
}

/// Those of the defaults that are made on images.
fn default_volumes(aged: Option<u32>) -> Result<Vec<TargetSpec>, SpecError> {
    let on_images = FileSystem::by_default().filter(|one| !one.lives_in_memory());
    let names: Vec<&str> = on_images.map(|one| one.row().name).collect();
    parsed(&names, aged)
}

/// As many of these as can be made.
fn possible_volumes(specs: Vec<TargetSpec>, around: Surroundings) -> anyhow::Result<Selection> {
    let selection = Selection::possible(specs, around);
    if let (true, Some(first)) = (selection.is_empty(), selection.skipped().first()) {
        anyhow::bail!(
            "volumes of several sizes cannot be made here: {} (a directory has one size only, so \
             --axis volume-size takes none)",
            first.why
        );
    }
    for one in selection.skipped() {
        output::say(&format!("left out: {}: {}", one.target, one.why));
    }
    Ok(selection)
}

/// Whether a target can be made again and again, on volumes of up to so many bytes.
fn check_volume(spec: &TargetSpec, most_bytes: u64) -> Result<(), CliffError> {
    let target = spec.label.clone();
    let Location::Scratch(scratch) = &spec.location else {
        return Err(CliffError::NoVolume { target });
    };
    if scratch.device.is_some() || scratch.file_system.lives_in_memory() {
        return Err(CliffError::NoVolume { target });
    }
    if scratch.size_bytes.is_some() {
        let axis = Axis::VolumeSize.name();
        return Err(CliffError::AxisFixed { axis, option: "size=" });
    }
    if scratch.is_written_first() {
        return Err(CliffError::WrittenVolumes { target });
    }
    suites::check_volume(spec, most_bytes, "--high")
}

/// Why none of a paper's targets can be made here; none where one can.
pub(crate) fn why_none(texts: &[String], making: &Making) -> anyhow::Result<Option<String>> {
    let specs = parsed(texts, making.aged).blame_input()?;
    let selection = Selection::possible(specs, surroundings(making));
    let first = selection.skipped().first().filter(|_| selection.is_empty());
    Ok(first.map(|one| one.why.clone()))
}

fn surroundings(making: &Making) -> Surroundings {
    Surroundings {
        scratch: making.scratch().to_owned(),
        destroy: making.destroy_data.clone(),
        ..Surroundings::default()
    }
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
    let mut specs: Vec<TargetSpec> = texts.iter().map(parse).collect::<Result<_, _>>()?;
    tell_apart(&mut specs);
    Ok(specs)
}

fn defaults(around: Surroundings, aged: Option<u32>) -> anyhow::Result<Selection> {
    let names: Vec<&str> = FileSystem::by_default().map(|one| one.row().name).collect();
    let mut selection = Selection::possible(parsed(&names, aged)?, around);
    if selection.is_empty() {
        let names = names.join(", ");
        // Root who may not mount is told why: being root is not enough.
        let sentence = match selection.skipped().first().filter(|_| geteuid().is_root()) {
            Some(one) => format!("fsprism would make and measure {names}, but {}", one.why),
            None => format!("as root, fsprism would make and measure {names}"),
        };
        output::say(&sentence);
        selection.extend(parsed(&PATH_DEFAULTS, None)?);
    }
    if selection.is_empty() {
        let whys: Vec<&str> = selection.skipped().iter().map(|one| one.why.as_str()).collect();
        anyhow::bail!("nothing can be measured here: {}", whys.join("; "));
    }
    Ok(selection)
}

fn of_paper(specs: Vec<TargetSpec>, around: Surroundings) -> anyhow::Result<Selection> {
    let selection = Selection::possible(specs, around);
    if let (true, Some(first)) = (selection.is_empty(), selection.skipped().first()) {
        let skipped = selection.skipped().iter();
        let labels: Vec<&str> = skipped.map(|one| one.target.as_str()).collect();
        let refusal = anyhow::anyhow!(
            "the paper is measured on {}, none of which can be made here: {}",
            labels.join(", "),
            first.why
        );
        return Err(refusal).blame_input();
    }
    for one in selection.skipped() {
        output::say(&format!("left out: {}: {}", one.target, one.why));
    }
    Ok(selection)
}

/// A recorded target, with the size it had: the room there is now may suggest another.
fn as_it_was(target: &TargetRecord) -> Result<TargetSpec, SpecError> {
    let mut spec: TargetSpec = target.specification.parse()?;
    spec.label.clone_from(&target.label);
    if let Location::Scratch(scratch) = &mut spec.location
        && scratch.device.is_none()
        && target.size_bytes > 0
    {
        scratch.size_bytes = Some(target.size_bytes);
    }
    Ok(spec)
}

/// How the targets of a run that is taken up again are made: as they were.
pub(crate) fn making_again(manifest: &Manifest, making: &Making) -> anyhow::Result<Making> {
    let has_images = manifest.targets.iter().any(|target| target.loop_direct_io.is_some());
    let recorded = manifest.scratch.as_ref().map(PathBuf::from);
    let before = recorded.unwrap_or_else(|| scratch_of(&manifest.run.arguments));
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

/// The scratch directory of a command line, for runs of before it was recorded by itself.
fn scratch_of(arguments: &[String]) -> PathBuf {
    const OPTION: &str = "--scratch";
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value = match word.strip_prefix(OPTION) {
            Some("") => words.next().map(String::as_str),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        if let Some(value) = value {
            return value.into();
        }
    }
    making::SCRATCH.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_command_line_says_where_its_images_were() {
        let of = |line: &str| scratch_of(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(of("fsprism survey ext4 --scratch /a --budget 3s"), Path::new("/a"));
        assert_eq!(of("fsprism run nano --scratch=/b"), Path::new("/b"));
        assert_eq!(of("fsprism survey ext4 --scratchy /c"), Path::new("/var/tmp"));
    }
}
