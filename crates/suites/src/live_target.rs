//! A target being measured, with its file sets, which are made anew for every block.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use file_system::{FileSystem, Storage};
use machine::describe::{self, DescribeError};
use record::TargetRecord;
use targets::{Location, Target, TargetError, TargetSpec};
use workload::{FileSet, ReachedBy};

use crate::counters::Counters;
use crate::device_work::DeviceWork;
use crate::file_set_kind::FileSetKind;
use crate::fragmentation::FragmentCounts;
use crate::neighbours;
use crate::pending_findings::PendingFindings;
use crate::trial::Trial;

/// A target with the file sets that benchmarks work on.
#[derive(Debug)]
pub struct LiveTarget {
    pub(crate) target: Target,
    pub(crate) file_sets: BTreeMap<FileSetKind, FileSet>,
    pub(crate) counters: Option<Arc<Counters>>,
    /// What unmounting it writes if nothing has changed, once measured.
    pub(crate) idle_unmount: Option<DeviceWork>,
    /// File sets whose directories may no longer be in memory.
    pub(crate) cooled: BTreeSet<FileSetKind>,
    /// Data files that were read in the one way in which warm files are made, and have only been
    /// read since.
    pub(crate) read_in: BTreeSet<PathBuf>,
    /// Data files whose folio sizes have already been looked up.
    pub(crate) folios_known: BTreeSet<PathBuf>,
    /// In how many pieces data files are right after being written from start to end.
    pub(crate) fragments: FragmentCounts,
    /// How long it took recently to make the target without files.
    making: Duration,
    /// How long it took recently to make each of its file sets.
    making_file_sets: BTreeMap<FileSetKind, Duration>,
    /// Findings of phases that were executed along with another one, until their turn comes.
    pub(crate) phases: PendingFindings,
    /// Whether the target is as it was made, untouched.
    is_new: bool,
    /// The result of trying what can be done with its files.
    trial: OnceLock<Trial>,
}

impl LiveTarget {
    /// A target that has been made and is still empty.
    #[must_use]
    pub fn new(target: Target) -> Self {
        Self {
            target,
            file_sets: BTreeMap::new(),
            counters: None,
            idle_unmount: None,
            cooled: BTreeSet::new(),
            read_in: BTreeSet::new(),
            folios_known: BTreeSet::new(),
            fragments: FragmentCounts::default(),
            making: Duration::ZERO,
            making_file_sets: BTreeMap::new(),
            phases: PendingFindings::default(),
            is_new: true,
            trial: OnceLock::new(),
        }
    }

    /// The target itself.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// How operations reach its files.
    pub(crate) fn reached(&self) -> ReachedBy {
        let library = self.target.library().cloned();
        library.map_or(ReachedBy::BySystemCalls, ReachedBy::ByLibrary)
    }

    /// Whether fsprism made the file system.
    #[must_use]
    pub(crate) fn is_scratch(&self) -> bool {
        matches!(self.target.spec().location, Location::Scratch(_))
    }

    /// What to add to a refusal for lack of space, after the suggestion of what to make smaller.
    pub(crate) fn or_more_room(&self) -> &'static str {
        if !self.is_scratch() {
            return "";
        }
        match self.target.space().is_ok_and(|space| space.is_held_by_scratch) {
            true => ", or another directory with --scratch, since this one has no more space",
            false => ", or a larger size= for the target",
        }
    }

    /// What can be done with its files; tried on first use.
    pub(crate) fn trial(&self) -> &Trial {
        self.trial.get_or_init(|| Trial::run(&self.target))
    }

    /// Removes the target.
    ///
    /// # Errors
    /// What could not be removed.
    pub fn close(mut self) -> Result<(), TargetError> {
        self.target.close()
    }

    /// How long it takes to make the target with these file sets, counting those made before.
    pub(crate) fn making(&self, kinds: &BTreeSet<FileSetKind>) -> Duration {
        let of_files = kinds.iter().filter_map(|kind| self.making_file_sets.get(kind));
        self.making + of_files.sum::<Duration>()
    }

    /// Remounts it, after which only what mounting reads is in memory.
    pub(crate) fn remount(&mut self) -> Result<(), TargetError> {
        self.remount_with(|_| ())
    }

    /// Like [`LiveTarget::remount`], and runs `act` while it is unmounted, with the counters of its
    /// device.
    pub(crate) fn remount_with<T>(
        &mut self,
        act: impl FnOnce(Option<&Counters>) -> T,
    ) -> Result<T, TargetError> {
        self.target.sync()?;
        let counters = self.counters.as_deref();
        let done = self.target.remount_with(|| act(counters))?;
        self.cooled.extend(self.file_sets.keys());
        self.read_in.clear();
        Ok(done)
    }

    /// Makes the target and file sets of these kinds anew. Every block measures another instance
    /// of the same configuration, so that chance properties of one instance (where its blocks are
    /// on the device, which pages of memory it got) are not mistaken for properties of the file
    /// system.
    pub(crate) fn renew(
        &mut self,
        kinds: &BTreeSet<FileSetKind>,
        fill: &Fill<'_>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let began = Instant::now();
        let times = &self.making_file_sets;
        let removed = shares(self.file_sets.keys().filter_map(|kind| times.get_key_value(kind)));
        self.file_sets.clear();
        self.cooled.clear();
        self.read_in.clear();
        self.idle_unmount = None;
        if !self.is_new || self.trial.get().is_some() {
            self.counters = None;
            self.target.remake()?;
        }
        // In a directory target, files are removed one by one, and that time is theirs; a file
        // system is simply made again.
        let is_of_file_sets = !self.is_scratch() && !removed.is_empty();
        let removal = if is_of_file_sets { began.elapsed() } else { Duration::ZERO };
        self.is_new = false;
        self.target.fill_and_age(fill.seed, fill.stop)?;
        // What is read into memory here is charged to the target's memory limit.
        let entered = self.target.enter()?;
        self.making = typical(self.making, began.elapsed() - removal);
        let reached = self.reached();
        for &kind in kinds {
            let began = Instant::now();
            let root: PathBuf = self.target.root().join(kind.name());
            reached.make_directory(&root)?;
            let spec = kind.specification(fill.data_file_bytes);
            let file_set = FileSet::create_by(&reached, &root, &spec, fill.seed, fill.stop)?;
            self.file_sets.insert(kind, file_set);
            // Writing back is part of making the files.
            self.target.sync()?;
            let making = self.making_file_sets.entry(kind).or_default();
            let own_removal = removal.mul_f64(removed.get(&kind).copied().unwrap_or(0.0));
            *making = typical(*making, began.elapsed() + own_removal);
        }
        drop(entered);
        self.counters = Some(Arc::new(self.open_counters()?));
        Ok(())
    }

    /// Opens the target's counters. A file system in a process of its own works for whoever calls
    /// it, so from now on that process is told apart from other programs.
    pub(crate) fn open_counters(&self) -> Result<Counters, DescribeError> {
        let counters = Counters::open(&self.target, self.is_scratch())?;
        let known = FileSystem::named(&self.target.facts().file_system);
        if known.is_some_and(|known| known.storage == Storage::Process) {
            neighbours::look_for_servers();
        }
        Ok(counters)
    }
}

/// The typical time for making something, from the estimate so far, if any, and the latest time:
/// their geometric mean, since one that took ten times as long says little about the next.
fn typical(before: Duration, now: Duration) -> Duration {
    if before.is_zero() {
        return now;
    }
    Duration::from_secs_f64((before.as_secs_f64() * now.as_secs_f64()).sqrt())
}

/// Each file set's share of all these times.
fn shares<'a>(
    times: impl Iterator<Item = (&'a FileSetKind, &'a Duration)> + Clone,
) -> BTreeMap<FileSetKind, f64> {
    let all_s: f64 = times.clone().map(|(_, time)| time.as_secs_f64()).sum();
    times.map(|(&kind, time)| (kind, time.as_secs_f64() / all_s.max(f64::MIN_POSITIVE))).collect()
}

/// How file sets are filled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill<'a> {
    pub(crate) data_file_bytes: u64,
    pub(crate) seed: u64,
    pub(crate) stop: &'a AtomicBool,
}

/// The specification of a target as a run records it: with an absolute path, so that the run can be
/// resumed from any directory.
fn specification(spec: &TargetSpec) -> String {
    let mut spec = spec.clone();
    if let Location::Directory(path) = &mut spec.location
        && let Ok(whole) = std::path::absolute(&path)
    {
        *path = whole;
    }
    spec.specification()
}

/// What the ext4 driver does without a journal (`recently_deleted` in `fs/ext4/ialloc.c`).
const WITHOUT_JOURNAL: &str = "without a journal, ext4's driver does not reuse a deleted file's \
    inode for one to six minutes, and skips all such inodes whenever it creates a file: just after \
    many deletes, creating can take ten times as long, and a block longer than first forecast";

/// What a run records of a live target.
#[must_use]
pub(crate) fn target_record(live: &LiveTarget) -> TargetRecord {
    let facts = live.target.facts();
    let device =
        facts.device.and_then(|numbers| describe::block_device(numbers.major, numbers.minor).ok());
    let specification = specification(live.target.spec());
    TargetRecord {
        scratch: live.is_scratch(),
        mkfs: facts.mkfs.clone(),
        mkfs_version: facts.mkfs_version.clone(),
        mount_options: facts.mount_options.clone(),
        size_bytes: facts.size_bytes,
        device,
        loop_direct_io: facts.loop_direct_io,
        image_allocated: match &live.target.spec().location {
            Location::Scratch(scratch) => scratch.allocated,
            Location::Directory(_) => false,
        },
        read_ahead_bytes: facts.read_ahead_bytes,
        filled_percent: live.target.spec().filled_percent(),
        aged: live.target.spec().ageing(),
        conditions: facts.conditions.limits,
        condition_caveats: facts
            .conditions
            .caveats
            .iter()
            .map(ToString::to_string)
            .chain(facts.lacks_journal.then(|| WITHOUT_JOURNAL.to_owned()))
            .collect(),
        ..TargetRecord::plain(&facts.label, specification, &facts.file_system)
    }
}
