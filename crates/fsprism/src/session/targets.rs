//! From the targets on the command line to those that are made: parses and checks them, and leaves
//! some out.

use std::path::{Path, PathBuf};

use file_system::FileSystem;
use record::{Axis, Manifest, SuiteOptions, TargetRecord};
use rustix::process::geteuid;
use suites::{CliffError, Suite};
use targets::{
    ArenaDoor, Location, Selection, SpecError, Surroundings, TargetSpec, availability, tell_apart,
};

use crate::arguments::making::{self, Making};
use crate::exit::OrInputError;
use crate::output;

const CLIFF_DEFAULT: &str = "ext4:memory=64m";
const PATH_DEFAULTS: [&str; 2] = [".", MEMORY];
/// A directory that is in memory.
const MEMORY: &str = "/dev/shm";

/// Default size of the largest volume in a search over volume sizes.
const LARGEST_VOLUME_BYTES: u64 = 256 << 30;

/// Which targets to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice<'a> {
    /// The ones asked for, all of which must be available; or if none are, the default ones,
    /// skipping those that are not available.
    Asked(&'a [String]),
    /// The same, reached by programs as they are.
    ForPrograms(&'a [String]),
    /// The same, reached by calls or as programs reach them, as each target says.
    ByEitherDoor(&'a [String]),
    /// A paper's targets, which the user did not choose: those that cannot be made here are
    /// reported and left out, as long as one remains.
    OfPaper(&'a [String]),
    /// For a search for cliffs. By default, one target with limited memory, whose cliff is found
    /// quickly; without root, the current directory.
    ForCliffs(&'a [String]),
    /// For a search over volume sizes, up to this many bytes. Only targets on images, each of which
    /// gets the largest size. By default, those of the default targets that can be made.
    ForVolumes(&'a [String], Option<u64>),
    /// None: only memory is measured. A target stands in for it, but is not used.
    Memory,
    /// The targets of a run that is resumed, as they were.
    Recorded(&'a Manifest),
}

impl<'a> Choice<'a> {
    /// The targets that were asked for, if the suite uses any.
    pub(crate) fn for_suite(suite: &Suite, texts: &'a [String]) -> anyhow::Result<Self> {
        match (&suite.classic, texts) {
            (Some(SuiteOptions::ArrayWalk(_)), []) => Ok(Self::Memory),
            (Some(SuiteOptions::ArrayWalk(_)), [first, ..]) => {
                let name = suite.name;
                let refusal = anyhow::anyhow!(
                    "{name} walks over memory and uses no file system: leave out {first}"
                );
                Err(refusal).or_input_error()
            }
            (Some(SuiteOptions::Applications(_)), _) => Ok(Self::ForPrograms(texts)),
            (Some(SuiteOptions::Pollution(_)), _) => Ok(Self::ByEitherDoor(texts)),
            (
                Some(
                    SuiteOptions::SpriteLfs(_)
                    | SuiteOptions::Bonnie(_)
                    | SuiteOptions::BonnieMetadata(_)
                    | SuiteOptions::JobFile(_),
                )
                | None,
                _,
            ) => Ok(Self::Asked(texts)),
        }
    }
}

/// Chooses targets that can be made, and reports it if their images are smaller than usual.
pub(crate) fn choose(choice: Choice<'_>, making: &Making) -> anyhow::Result<Selection> {
    let selection = select(choice, making)?;
    let has_usual_size = !matches!(choice, Choice::ForVolumes(..));
    if let Some(smaller) = selection.smaller_volumes().filter(|_| has_usual_size) {
        output::say(&smaller.to_string());
    }
    Ok(selection)
}

fn select(choice: Choice<'_>, making: &Making) -> anyhow::Result<Selection> {
    let surroundings = surroundings_for(making);
    let reached = match choice {
        Choice::ForPrograms(_) => Reached::Programs,
        Choice::ByEitherDoor(_) => Reached::Either,
        Choice::Asked(_)
        | Choice::OfPaper(_)
        | Choice::ForCliffs(_)
        | Choice::ForVolumes(..)
        | Choice::Memory
        | Choice::Recorded(_) => Reached::Calls,
    };
    let parsed = |texts: &[String]| parsed(texts, making.aged, reached).or_input_error();
    let all =
        |specs: Vec<TargetSpec>, surroundings| Selection::all(specs, surroundings).or_input_error();
    match choice {
        Choice::Asked([]) | Choice::ForPrograms([]) | Choice::ByEitherDoor([]) => {
            defaults(surroundings, making.aged, reached).or_input_error()
        }
        Choice::ForCliffs([]) => {
            let limited: TargetSpec = CLIFF_DEFAULT.parse()?;
            let Err(why) = availability(&limited, &surroundings) else {
                return all(parsed(&[CLIFF_DEFAULT.to_owned()])?, surroundings);
            };
            output::say(&format!("without a target, fsprism cliff uses {CLIFF_DEFAULT}: {why}"));
            all(parsed(&[PATH_DEFAULTS[0].to_owned()])?, surroundings)
        }
        Choice::Asked(texts)
        | Choice::ForPrograms(texts)
        | Choice::ByEitherDoor(texts)
        | Choice::ForCliffs(texts) => all(parsed(texts)?, surroundings),
        Choice::ForVolumes(texts, most_bytes) => {
            let image_bytes = most_bytes.unwrap_or(LARGEST_VOLUME_BYTES);
            let surroundings = Surroundings { image_bytes, ..surroundings };
            let check = |spec: &TargetSpec| check_volume(spec, image_bytes);
            if texts.is_empty() {
                let specs = default_volumes(making.aged).or_input_error()?;
                specs.iter().try_for_each(check).or_input_error()?;
                return possible_volumes(specs, surroundings).or_input_error();
            }
            let specs = parsed(texts)?;
            specs.iter().try_for_each(check).or_input_error()?;
            all(specs, surroundings)
        }
        Choice::Memory => {
            let place = if Path::new(MEMORY).is_dir() { MEMORY } else { PATH_DEFAULTS[0] };
            all(parsed(&[format!("memory={place}")])?, surroundings)
        }
        Choice::OfPaper(texts) => possible_paper_targets(parsed(texts)?, surroundings),
        Choice::Recorded(manifest) => {
            let specs = manifest.targets.iter().map(recorded_spec).collect::<Result<_, _>>();
            all(specs.or_input_error()?, surroundings)
        }
    }
}

/// The default targets that are made on images.
fn default_volumes(aged: Option<u32>) -> Result<Vec<TargetSpec>, SpecError> {
    let on_images = FileSystem::by_default().filter(|one| !one.lives_in_memory());
    let names: Vec<&str> = on_images.map(|one| one.row().name).collect();
    parsed(&names, aged, Reached::Calls)
}

/// Those of `specs` that can be made, at least one.
fn possible_volumes(
    specs: Vec<TargetSpec>,
    surroundings: Surroundings,
) -> anyhow::Result<Selection> {
    let selection = Selection::possible(specs, surroundings);
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

/// Checks that a target can be made again and again, on volumes of up to `most_bytes`.
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

/// Why none of a paper's targets can be made here; `None` if one can.
pub(crate) fn why_none(texts: &[String], making: &Making) -> anyhow::Result<Option<String>> {
    let specs = parsed(texts, making.aged, Reached::Calls).or_input_error()?;
    let selection = Selection::possible(specs, surroundings_for(making));
    let first = selection.skipped().first().filter(|_| selection.is_empty());
    Ok(first.map(|one| one.why.clone()))
}

fn surroundings_for(making: &Making) -> Surroundings {
    Surroundings {
        scratch: making.scratch().to_owned(),
        destroy: making.destroy_data.clone(),
        ..Surroundings::default()
    }
}

/// Who reaches a target's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    Calls,
    Programs,
    /// Whoever the target says.
    Either,
}

impl Reached {
    /// Refuses a target that asks for another way in.
    fn check(self, spec: &TargetSpec) -> Result<(), SpecError> {
        let why = match (self, spec.door()) {
            (Self::Calls, Some(ArenaDoor::Preload)) => {
                "only `run pollution` and `run applications` go in as programs do, and everything \
                 else calls the library"
            }
            (Self::Programs, Some(ArenaDoor::Library)) => "programs go in by `densefs exec`",
            (Self::Calls, None | Some(ArenaDoor::Library))
            | (Self::Programs, None | Some(ArenaDoor::Preload))
            | (Self::Either, _) => return Ok(()),
        };
        Err(SpecError::NoWayIn { target: spec.specification(), why })
    }
}

/// Parses the targets of a command line. Those that do not say otherwise are aged by `aged`.
fn parsed<T: AsRef<str>>(
    texts: &[T],
    aged: Option<u32>,
    reached: Reached,
) -> Result<Vec<TargetSpec>, SpecError> {
    let parse = |text: &T| {
        let mut spec: TargetSpec = text.as_ref().parse()?;
        reached.check(&spec)?;
        if let Some(rounds) = aged {
            spec.age_unless_said(rounds);
        }
        if reached == Reached::Programs {
            spec.reached_by_programs();
        }
        Ok(spec)
    };
    let mut specs: Vec<TargetSpec> = texts.iter().map(parse).collect::<Result<_, _>>()?;
    tell_apart(&mut specs);
    Ok(specs)
}

fn defaults(
    surroundings: Surroundings,
    aged: Option<u32>,
    reached: Reached,
) -> anyhow::Result<Selection> {
    let names: Vec<&str> = FileSystem::by_default().map(|one| one.row().name).collect();
    let mut selection = Selection::possible(parsed(&names, aged, reached)?, surroundings);
    if selection.is_empty() {
        let names = names.join(", ");
        // If root may not mount, say why: being root is not enough.
        let sentence = match selection.skipped().first().filter(|_| geteuid().is_root()) {
            Some(one) => format!("fsprism would make and measure {names}, but {}", one.why),
            None => format!("as root, fsprism would make and measure {names}"),
        };
        output::say(&sentence);
        selection.extend(parsed(&PATH_DEFAULTS, None, reached)?);
    }
    if selection.is_empty() {
        let whys: Vec<&str> = selection.skipped().iter().map(|one| one.why.as_str()).collect();
        anyhow::bail!("nothing can be measured here: {}", whys.join("; "));
    }
    Ok(selection)
}

fn possible_paper_targets(
    specs: Vec<TargetSpec>,
    surroundings: Surroundings,
) -> anyhow::Result<Selection> {
    let selection = Selection::possible(specs, surroundings);
    if let (true, Some(first)) = (selection.is_empty(), selection.skipped().first()) {
        let skipped = selection.skipped().iter();
        let labels: Vec<&str> = skipped.map(|one| one.target.as_str()).collect();
        let refusal = anyhow::anyhow!(
            "the paper is measured on {}, none of which can be made here: {}",
            labels.join(", "),
            first.why
        );
        return Err(refusal).or_input_error();
    }
    for one in selection.skipped() {
        output::say(&format!("left out: {}: {}", one.target, one.why));
    }
    Ok(selection)
}

/// A recorded target, with the size that it had. The default size depends on the room there is,
/// which may have changed.
fn recorded_spec(target: &TargetRecord) -> Result<TargetSpec, SpecError> {
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

/// How the targets of a resumed run are made: as they were before.
pub(crate) fn making_again(manifest: &Manifest, making: &Making) -> anyhow::Result<Making> {
    let has_images = manifest.targets.iter().any(|target| target.loop_direct_io.is_some());
    let recorded = manifest.scratch.as_ref().map(PathBuf::from);
    let before = recorded.unwrap_or_else(|| scratch_of(&manifest.run.arguments));
    match &making.scratch {
        Some(now) if has_images && std::path::absolute(now)? != std::path::absolute(&before)? => {
            // Elsewhere, they could be on a different device, and one run would measure two.
            let refusal = anyhow::anyhow!(
                "the images of this run are in {}: resume without --scratch",
                before.display()
            );
            Err(refusal).or_input_error()
        }
        Some(_) => Ok(making.clone()),
        None => Ok(Making { scratch: Some(before), ..making.clone() }),
    }
}

/// The scratch directory from a command line, for old runs that did not record it separately.
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
