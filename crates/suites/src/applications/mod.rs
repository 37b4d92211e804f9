//! Applications: whole programs on a tree of files like a program's sources.
//!
//! Weiss, Arpaci-Dusseau & Arpaci-Dusseau, "`DenseFS`: A Cache-Compact Filesystem" (`HotStorage`
//! 2018), section 4, run grep over a tree of 242,272 files. The tree is made anew for every block,
//! by the engine's calls on every target. Programs reach a `DenseFS` as users do, by `fsprism
//! densefs exec`, whose start takes longer than that of a program alone. So every target also has
//! the time of the same program, started in the same way, on an empty directory.

mod answer;
mod error;
mod figures;
mod programs;
mod traced;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use record::{ApplicationsOptions, CacheState, Dimension, MetricDefinition};
use runner::Failure;
use serde_json::{Value, json};
use targets::Space;
use textual::did_you_mean;
use workload::{FileSet, SourceTree};

use self::answer::{Answer, Look, read};
pub use self::error::ApplicationsError;
use self::error::{FILES_MAX, FILES_MIN};
use self::figures::Figures;
use self::programs::{Application, Subject, making_repository, names};
pub use self::traced::{TracedAnswer, TracedApplication, traced};
use crate::benchmark::Benchmark;
use crate::door::{Door, Took};
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::file_set_kind::FileSetKind;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::nanoseconds::nanos;
use crate::neighbours::Snapshot;
use crate::state::{self, Claim};

/// The name of the suite.
pub const SUITE: &str = "applications";

/// How many files the tree has by default.
const FILES: u32 = 4_000;

/// Executions of a replicate, an odd number; a cold tree is cold once.
const EXECUTIONS: usize = 5;
/// Executions on an empty directory.
const STARTS: usize = 5;

/// What a file takes beyond its bytes at most: the rest of its last block, and its inode.
const FILE_BYTES: u64 = 4096 + 512;
/// The share of a target's free space and inodes that may be used.
const ROOM_SHARE: f64 = 0.9;
/// Inodes for a repository, with its directories and locks.
const SPARE_INODES: u64 = 400;

/// What is run by default: all programs. Those that are not installed are left out by name.
#[must_use]
pub fn declared() -> ApplicationsOptions {
    let programs = names().into_iter().map(str::to_owned).collect();
    ApplicationsOptions { programs, files: FILES }
}

/// Checks that programs that somebody asked for are installed.
///
/// # Errors
/// The first that is not.
pub fn check_installed(options: &ApplicationsOptions) -> Result<(), ApplicationsError> {
    let mut named = options.programs.iter().filter_map(|name| Application::named(name));
    named.try_for_each(check_program)
}

fn check_program(application: Application) -> Result<(), ApplicationsError> {
    let row = application.row();
    let missing =
        ApplicationsError::NotInstalled { executable: row.executable, package: row.package };
    if application.is_installed() { Ok(()) } else { Err(missing) }
}

/// The benchmarks: each program warm and cold.
///
/// # Errors
/// Which options make no sense.
pub(crate) fn benchmarks(
    options: &ApplicationsOptions,
) -> Result<Vec<Benchmark>, ApplicationsError> {
    let files = options.files;
    check_files(files, FILES_MAX)?;
    let mut all: Vec<Benchmark> = Vec::new();
    for (index, name) in (0..).zip(&options.programs) {
        let application = named(name, names())?;
        if options.programs.iter().filter(|&other| other == name).count() > 1 {
            return Err(ApplicationsError::Twice { name: name.clone() });
        }
        let tree = SourceTree { files };
        for is_cold in [false, true] {
            let executed = Executed { application, tree, is_cold };
            // Cold ones are left out first.
            all.push(executed.benchmark(if is_cold { index + 100 } else { index }));
        }
    }
    Ok(all)
}

/// The program of a name, which should be one of those that are taken.
fn named(
    name: &str,
    taken: impl IntoIterator<Item = &'static str>,
) -> Result<Application, ApplicationsError> {
    Application::named(name).ok_or_else(|| {
        let taken: Vec<&str> = taken.into_iter().collect();
        let suggestion = did_you_mean(name, taken.iter().copied());
        ApplicationsError::NoProgram { name: name.to_owned(), suggestion, taken }
    })
}

fn check_files(files: u32, most: u32) -> Result<(), ApplicationsError> {
    match (FILES_MIN..=most).contains(&files) {
        true => Ok(()),
        false => Err(ApplicationsError::OddFiles { files, most }),
    }
}

/// Checks that a target has room for the tree and its repository.
///
/// # Errors
/// If it does not.
pub(crate) fn check_room(
    options: &ApplicationsOptions,
    live: &LiveTarget,
) -> Result<(), ApplicationsError> {
    // If it does not report its space, making the tree will show whether it fits.
    let Ok(space) = live.target.space() else { return Ok(()) };
    let label = &live.target.spec().label;
    room_for(options.files, &space, label, live.or_more_room())
}

fn room_for(
    files: u32,
    space: &Space,
    label: &str,
    or_more_room: &'static str,
) -> Result<(), ApplicationsError> {
    let tree = SourceTree { files };
    let inodes = u64::from(files) + u64::from(tree.directories());
    // The contents are in the tree and, compressed, in the repository.
    let needed_bytes = 2 * tree.bytes() + inodes * FILE_BYTES;
    let is_room = |needed: u64, free: u64| needed as f64 <= free as f64 * ROOM_SHARE;
    let (label, free_bytes) = (label.to_owned(), space.free_bytes);
    if !is_room(needed_bytes, free_bytes) {
        let no_room =
            ApplicationsError::NoRoom { files, needed_bytes, label, free_bytes, or_more_room };
        return Err(no_room);
    }
    let needed = inodes + SPARE_INODES;
    match space.free_inodes {
        Some(free_inodes) if !is_room(needed, free_inodes) => {
            Err(ApplicationsError::NoInodes { files, needed, label, free_inodes, or_more_room })
        }
        _ => Ok(()),
    }
}

/// A program that is executed on a tree.
#[derive(Clone, Copy, Debug)]
struct Executed {
    application: Application,
    tree: SourceTree,
    /// Whether nothing of the tree is in memory.
    is_cold: bool,
}

/// Where things are on a target, as programs see it.
struct Places {
    door: Door,
    tree: PathBuf,
    repository: PathBuf,
    /// An empty directory, and the repository of which it is the working tree.
    nothing: PathBuf,
    repository_of_nothing: PathBuf,
}

impl Places {
    const REPOSITORY: &'static str = "repository";
    const REPOSITORY_OF_NOTHING: &'static str = "repository-of-nothing";

    fn new(file_set: &FileSet, live: &LiveTarget) -> Result<Self, Failure> {
        let door = Door::to(&live.target).map_err(|error| failed(&error))?;
        let at = |path: &Path| door.seen(&file_set.root().join(path));
        Ok(Self {
            tree: door.seen(&file_set.sources()),
            repository: at(Self::REPOSITORY.as_ref()),
            nothing: at("growing".as_ref()),
            repository_of_nothing: at(Self::REPOSITORY_OF_NOTHING.as_ref()),
            door,
        })
    }

    fn whole(&self) -> Subject<'_> {
        Subject { directory: &self.tree, repository: &self.repository }
    }

    fn empty(&self) -> Subject<'_> {
        Subject { directory: &self.nothing, repository: &self.repository_of_nothing }
    }
}

impl Executed {
    fn benchmark(self, rank: u32) -> Benchmark {
        let row = self.application.row();
        let (name, title, cache_state) = match self.is_cold {
            false => (row.name.to_owned(), row.title.to_owned(), CacheState::Warm),
            true => {
                (format!("{}-cold", row.name), format!("{}, cold", row.title), CacheState::Cold)
            }
        };
        // From a device, contents are I/O.
        let dimension = match self.is_cold && row.reads_contents {
            true => Dimension::Io,
            false => row.dimension,
        };
        Benchmark {
            dimension,
            exercises: row.exercises.to_vec(),
            cache_state,
            rank,
            ..Benchmark::from_experiment(&name, &title, self)
        }
    }

    /// Executes the program once.
    fn once(
        self,
        site: &Site<'_>,
        places: &Places,
        subject: Subject<'_>,
        look: Look,
    ) -> Result<(Took, Answer), Failure> {
        site.go_on()?;
        let arguments = self.application.arguments(subject);
        // grep says by its status that it has found nothing.
        let is_empty_grep =
            self.application == Application::Grep && subject.directory == places.nothing;
        let statuses: &[i32] = if is_empty_grep { &[0, 1] } else { &[0] };
        let program = self.application.row().executable;
        let done =
            places.door.execute(program, &arguments, statuses, |from| read(from, look), site.clock);
        // A signal that stops the run stops the program first.
        done.map_err(|error| site.go_on().err().unwrap_or_else(|| failed(&error)))
    }

    /// Executes it on the tree, and checks what it answers.
    fn on_tree(self, site: &Site<'_>, places: &Places, look: Look) -> Result<Took, Failure> {
        let (took, answer) = self.once(site, places, places.whole(), look)?;
        self.application.check(self.tree, &answer).map_err(|why| Failure::Cell { why })?;
        Ok(took)
    }

    /// Makes the repositories, unless another benchmark has made them in this block.
    fn make_repositories(self, site: &Site<'_>, places: &Places) -> Result<(), Failure> {
        let file_set = site.file_set(FileSetKind::Sources(self.tree.files))?;
        let made = file_set.root().join(Places::REPOSITORY_OF_NOTHING);
        if exists(site.live, &made) {
            return Ok(());
        }
        let calls = making_repository(places.whole(), false)
            .into_iter()
            .chain(making_repository(places.empty(), true));
        for arguments in calls {
            site.go_on()?;
            let count = |from| read(from, Look::Count);
            let done = places.door.execute("git", &arguments, &[0], count, site.clock);
            done.map_err(|error| site.go_on().err().unwrap_or_else(|| failed(&error)))?;
        }
        Ok(())
    }

    /// What the executions should have found in memory.
    fn claim(self) -> Claim {
        let is_read = self.is_cold && self.application.row().reads_contents;
        Claim {
            state: if self.is_cold { CacheState::Cold } else { CacheState::Warm },
            is_of_names: self.is_cold && !is_read,
            ..Claim::cold_reads(if is_read { self.tree.bytes() } else { 0 })
        }
    }
}

fn exists(live: &LiveTarget, path: &Path) -> bool {
    match live.target.library() {
        None => path.exists(),
        Some(files) => {
            let inside = path.strip_prefix(live.target.root()).unwrap_or(path);
            files.stat(Path::new("/").join(inside)).is_ok()
        }
    }
}

impl Experiment for Executed {
    fn metrics(&self) -> Vec<MetricDefinition> {
        Figures::metrics()
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        let all = [
            ("program", json!(self.application.row().title)),
            ("version", json!(self.application.version())),
            ("files", json!(self.tree.files)),
            ("directories", json!(self.tree.directories())),
            ("tree_bytes", json!(self.tree.bytes())),
            ("executions", json!(if self.is_cold { 1 } else { EXECUTIONS })),
        ];
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn working_set_bytes(&self) -> Option<u64> {
        self.application.row().reads_contents.then(|| self.tree.bytes())
    }

    fn file_set(&self) -> Option<FileSetKind> {
        Some(FileSetKind::Sources(self.tree.files))
    }

    fn uses_its_file_set_alone(&self) -> bool {
        true
    }

    fn begins_mounted_again(&self) -> bool {
        self.is_cold
    }

    fn estimate(&self) -> Duration {
        /// Roughly what a program takes for a file that is in memory, or is not, if it reads the
        /// contents or not; to make a repository; and to start.
        const CONTENTS_S: [f64; 2] = [6e-6, 60e-6];
        const NAMES_S: [f64; 2] = [2e-6, 8e-6];
        const REPOSITORY_S: f64 = 80e-6;
        const START_S: f64 = 5e-3;
        const REMOUNT_S: f64 = 0.1;
        let files = f64::from(self.tree.files);
        let [warm_s, cold_s] =
            if self.application.row().reads_contents { CONTENTS_S } else { NAMES_S };
        let timed_s = if self.is_cold { cold_s } else { EXECUTIONS as f64 * warm_s };
        let repository_s =
            if self.application == Application::GitStatus { REPOSITORY_S } else { 0.0 };
        let around_s = if self.is_cold { REMOUNT_S } else { 0.0 };
        let starts_s = (EXECUTIONS + STARTS + 2) as f64 * START_S;
        let of_files_s = files * (timed_s + warm_s + repository_s);
        Duration::from_secs_f64(of_files_s + starts_s + around_s)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        check_program(self.application).map_err(|error| error.to_string())?;
        if !self.is_cold {
            return Ok(());
        }
        if !live.target.supports_cold() {
            return Err("its files are only in memory, so they are never cold".to_owned());
        }
        if !live.is_scratch() {
            let why = "names and attributes are only cold after mounting, but fsprism did not \
                       mount it: give a scratch target, such as ext4";
            return Err(why.to_owned());
        }
        Ok(())
    }

    /// A rehearsal, which reads the tree and the program into memory, and whose answer is looked
    /// at closely.
    fn make(&self, site: &Site<'_>) -> Result<(), Failure> {
        let file_set = site.file_set(FileSetKind::Sources(self.tree.files))?;
        let places = Places::new(file_set, site.live)?;
        if self.application == Application::GitStatus {
            self.make_repositories(site, &places)?;
        }
        self.on_tree(site, &places, Look::Words)?;
        self.once(site, &places, places.empty(), Look::Count)?;
        // What git has learnt is not written back meanwhile.
        site.live.target.sync().map_err(|error| failed(&error))
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let file_set = site.file_set(FileSetKind::Sources(self.tree.files))?;
        let places = Places::new(file_set, site.live)?;
        let counters = site.counters()?;
        let executions = if self.is_cold { 1 } else { EXECUTIONS };
        let before = counters.read().map_err(|error| failed(&error))?;
        let look = Snapshot::take(None);
        let began = Instant::now();
        let mut figures = Figures::default();
        for _ in 0..executions {
            figures.whole.push(self.on_tree(site, &places, Look::Count)?);
        }
        let elapsed_ns = nanos(began.elapsed());
        figures.others_ns = Snapshot::take(None).since(&look).servants_alone_ns().unwrap_or(0);
        let deltas = counters.read().map_err(|error| failed(&error))?.since(&before);
        let evidence = state::evidence(None, None, &deltas);
        if let Err(why) = state::verify(self.claim(), &evidence) {
            return Err(Failure::State { why, evidence: Box::new(evidence) });
        }
        for _ in 0..STARTS {
            let (took, _) = self.once(site, &places, places.empty(), Look::Count)?;
            figures.starts.push(took);
        }
        Ok(Findings {
            metrics: figures.values(),
            children: figures.children(),
            operations: Some(executions as u64),
            elapsed_ns: elapsed_ns.max(1),
            evidence,
            ..Findings::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(programs: &[&str], files: u32) -> ApplicationsOptions {
        let programs = programs.iter().map(|&name| name.to_owned()).collect();
        ApplicationsOptions { programs, files }
    }

    #[test]
    fn each_program_is_executed_warm_and_cold() {
        let all = benchmarks(&options(&["find", "grep"], 1_000)).expect("it can be");
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["find", "find-cold", "grep", "grep-cold"]);
        assert_eq!(all[3].dimension, Dimension::Io);
        assert!(all[1].rank > all[2].rank, "what is cold is left out first");
    }

    #[test]
    fn what_cannot_be_is_refused_in_a_sentence() {
        let refusal = |programs: &[&str], files| {
            benchmarks(&options(programs, files)).expect_err("it cannot be").to_string()
        };
        let said = refusal(&["greb"], 1_000);
        assert!(said.contains("did you mean `grep`?") && said.contains("git-status"), "{said}");
        assert!(refusal(&["tar", "tar"], 1_000).ends_with("names tar twice"));
        assert!(refusal(&["tar"], 99).ends_with("but --files is 99: give 100"));
        assert!(refusal(&["tar"], 5_000_001).ends_with("give 5000000"));
    }

    #[test]
    fn a_tree_needs_room_and_inodes() {
        let space = |free_bytes, free_inodes| Space {
            free_bytes,
            total_bytes: free_bytes,
            free_inodes,
            is_held_by_scratch: false,
        };
        let of = |free_bytes, free_inodes| {
            let room = room_for(3_000, &space(free_bytes, free_inodes), "ext4", ", or more");
            room.map_err(|error| error.to_string())
        };
        assert_eq!(of(64 << 20, Some(10_000)), Ok(()));
        assert_eq!(of(64 << 20, None), Ok(()));
        let said = of(16 << 20, None).expect_err("it is too small");
        assert!(said.contains("ext4 has 16 MiB free: give fewer --files, or more"), "{said}");
        let said = of(64 << 20, Some(3_000)).expect_err("they are too few");
        assert!(said.contains("needs 3588 inodes"), "{said}");
    }
}
