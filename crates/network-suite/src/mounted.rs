//! A mount of the user's own, measured in the states that can be reached on it.
//!
//! The files are made through the mount itself, anew for each attempt, so that they cannot be in
//! its cache. What the kernel has of them in memory is dropped before each state except the last.
//! As in guests, the proof of each state shows whether that was enough, and whether somebody else
//! used the mount in the meantime.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use machine::describe::Sources;
use machine::describe::mounts::{MountEntry, entry_of};
use network_guest::content::{Content, TreeShape};
use network_guest::{Version, measured};
use rustix::fs::{Advice, fadvise};

use crate::attempts::{self, ChainTurn, Lost, ProvedState, UnprovedState};
use crate::chain::round;
use crate::conduct::Ended;
use crate::kernel_counts::KernelCounts;
use crate::observation::{MeasuredReplicate, ServerCounters};
use crate::plan::{NetworkBenchmark, OnMount, Plan, Target};
use crate::proof::prove_all;
use crate::recorder::RunRecorder;
use crate::state::NetworkState;

/// Where the kernel lists its caches.
const CACHES: &str = "/proc/fs/fscache/caches";
/// The file, and what to write to it, that makes the kernel drop unused dentries and inodes.
const DROP_CACHES: (&str, &str) = ("/proc/sys/vm/drop_caches", "2");

const BY_SERVER: &str = "only the server itself can read its own files";
const HAS_CACHE: &str = "the mount has a cache, which stores what is read: mount it without fsc";
const HAS_NO_CACHE: &str = "the mount has no cache: start cachefilesd, then mount it with fsc";

/// A network file system that is mounted.
#[derive(Clone, Debug)]
pub struct OwnMount {
    entry: MountEntry,
    label: String,
    version: Version,
    has_cache: bool,
}

/// Why a mount cannot be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MountRefusal {
    /// It cannot be inspected.
    #[error(transparent)]
    Unknown(#[from] machine::describe::DescribeError),
    /// It is not a network file system.
    #[error(
        "--at {path}: it lies on {file_system}, which is no network file system: name a directory \
         on an NFS mount",
        path = path.display()
    )]
    NoNetwork {
        /// The named directory.
        path: PathBuf,
        /// The file system that it is on.
        file_system: String,
    },
    /// The kernel does not count its calls to the server.
    #[error(
        "--at {path}: it lies on {file_system}, whose calls to the server the kernel does not \
         count: name a directory on an NFS mount",
        path = path.display()
    )]
    NotCounted {
        /// The named directory.
        path: PathBuf,
        /// The file system that it is on.
        file_system: String,
    },
    /// Its options do not name a known version.
    #[error(
        "--at: the options of the mount at {path} name no known NFS version: mount it \
         with vers=3, 4.0, 4.1 or 4.2",
        path = path.display()
    )]
    NoVersion {
        /// Where it is mounted.
        path: PathBuf,
    },
    /// None of the requested states can be reached on it.
    #[error("--states names no state that can be measured on {label}: {state}: {why}")]
    NoState {
        /// The mount's label.
        label: String,
        /// The first state that cannot be reached.
        state: NetworkState,
        /// Why not.
        why: &'static str,
    },
}

/// Why a run on a mount cannot continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MountLost {
    /// The user's command failed.
    #[error("--drop {command:?} failed: {why}")]
    Drop {
        /// The command.
        command: String,
        /// How it ended, or why it did not start.
        why: String,
    },
    /// The run directory cannot be written.
    #[error(transparent)]
    Record(#[from] record::RecordError),
}

/// Types of network file systems, as the kernel names them.
const OF_NETWORKS: [&str; 11] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "9p",
    "ceph",
    "afs",
    "fuse.sshfs",
    "fuse.glusterfs",
    "lustre",
    "orangefs",
];

impl OwnMount {
    /// The mount that contains a directory, with this label.
    ///
    /// # Errors
    /// If it is not a network file system, or its calls are not counted.
    pub fn find(path: &Path, label: &str) -> Result<Self, MountRefusal> {
        let entry = entry_of(&Sources::default(), path)?;
        let (path, file_system) = (path.to_owned(), entry.file_system.clone());
        if !OF_NETWORKS.contains(&file_system.as_str()) {
            return Err(MountRefusal::NoNetwork { path, file_system });
        }
        if !file_system.starts_with("nfs") {
            return Err(MountRefusal::NotCounted { path, file_system });
        }
        let options = entry.all_options();
        let version = options.iter().find_map(|option| option.strip_prefix("vers="));
        let version = version.and_then(|version| version.parse().ok());
        let version =
            version.ok_or_else(|| MountRefusal::NoVersion { path: entry.mount_point.clone() })?;
        // A header, then a line for each cache.
        let caches = fs::read_to_string(CACHES).unwrap_or_default();
        let has_cache = options.contains(&"fsc") && caches.lines().any(|line| line.contains(" A "));
        Ok(Self { version, has_cache, label: label.to_owned(), entry })
    }

    /// A plan with those of these states that can be reached on it; if none are named, with all
    /// that can.
    ///
    /// # Errors
    /// If none of them can be reached.
    pub fn plan(
        &self,
        states: &[NetworkState],
        benchmarks: Vec<NetworkBenchmark>,
        runs: u32,
        content: Content,
    ) -> Result<Plan, MountRefusal> {
        let wanted = if states.is_empty() { &NetworkState::ALL } else { states };
        let lacks: Vec<(NetworkState, &'static str)> =
            wanted.iter().filter_map(|&state| Some((state, self.lacks(state)?))).collect();
        let states: Vec<NetworkState> =
            wanted.iter().copied().filter(|&state| self.lacks(state).is_none()).collect();
        if let (true, Some(&(state, why))) = (states.is_empty(), lacks.first()) {
            return Err(MountRefusal::NoState { label: self.label.clone(), state, why });
        }
        let mount = OnMount {
            label: self.label.clone(),
            file_system: self.entry.file_system.clone(),
            options: self.entry.all_options().join(","),
            lacks,
        };
        Ok(Plan {
            states,
            versions: vec![self.version],
            caches: Vec::new(),
            link: lab::rig::Shape::default(),
            benchmarks,
            runs,
            content,
            cache_bytes: None,
            cache_disk: lab::rig::DiskSpeed::default(),
            limits: network_guest::CullLimits::default(),
            counts: KernelCounts::here(),
            mount: Some(mount),
        })
    }

    /// Why a state cannot be reached on it, if so.
    fn lacks(&self, state: NetworkState) -> Option<&'static str> {
        match state {
            NetworkState::Server => Some(BY_SERVER),
            NetworkState::None => self.has_cache.then_some(HAS_CACHE),
            NetworkState::Cold | NetworkState::Hot => (!self.has_cache).then_some(HAS_NO_CACHE),
            NetworkState::PageCache => None,
        }
    }
}

/// Watches over this process while it measures on a mount.
pub struct Watch<'a> {
    /// Set when the process is asked to end.
    pub stop: &'a AtomicBool,
    /// Whether the guardian, which cleans up if this process dies, is alive.
    pub is_guarded: &'a dyn Fn() -> bool,
    /// Whether this process was suspended since the last call.
    pub was_suspended: &'a dyn Fn() -> bool,
}

/// Measures everything in a plan on a mount, in a separate directory there, and records each
/// replicate as it comes. `drop` is the command that empties the mount's cache before each cold
/// replicate.
///
/// # Errors
/// If the command fails, or the run directory cannot be written.
pub fn conduct_on_mount(
    mount: &OwnMount,
    directory: &Path,
    drop: Option<&str>,
    recorder: &mut RunRecorder<'_>,
    watch: &Watch<'_>,
    say: &dyn Fn(&str),
) -> Result<Ended, MountLost> {
    let plan = recorder.plan().clone();
    let mut conductor = Conductor { mount, directory, drop, plan: &plan, watch, attempts: 0 };
    for block in 0..plan.runs {
        for (benchmark, chain) in round(&plan) {
            if watch.stop.load(Ordering::Relaxed) || !(watch.is_guarded)() {
                return Ok(Ended::Stopped);
            }
            let targets = &chain.targets;
            let turn = ChainTurn { block, benchmark, targets, say, time: |s| format!("{s:.3} s") };
            let attempt =
                |proved: &mut Vec<ProvedState>| conductor.attempt(benchmark, targets, proved);
            attempts::measure::<_, MountLost>(recorder, &turn, attempt)?;
        }
    }
    Ok(Ended::Done)
}

struct Conductor<'a> {
    mount: &'a OwnMount,
    directory: &'a Path,
    drop: Option<&'a str>,
    plan: &'a Plan,
    watch: &'a Watch<'a>,
    /// Number of attempts so far. Each has its own files.
    attempts: u64,
}

impl Conductor<'_> {
    /// Makes files that have never been read, then the states one after another, and adds those
    /// that are proved to `proved`.
    fn attempt(
        &mut self,
        benchmark: NetworkBenchmark,
        targets: &[Target],
        proved: &mut Vec<ProvedState>,
    ) -> Result<(), UnprovedState<MountLost>> {
        self.attempts += 1;
        let root = self.directory.join(format!("files-{}", self.attempts));
        let outcome = self.states(benchmark, targets, &root, proved);
        let removed = fs::remove_dir_all(&root);
        outcome?;
        removed.map_err(|error| {
            let state = targets.last().map_or(NetworkState::None, |target| target.state);
            lost(state, format!("cannot remove {}: {error}", root.display()))
        })
    }

    fn states(
        &self,
        benchmark: NetworkBenchmark,
        targets: &[Target],
        root: &Path,
        proved: &mut Vec<ProvedState>,
    ) -> Result<(), UnprovedState<MountLost>> {
        // The page cache needs a read before it, and a hot cache needs one that fills it.
        let first = if self.mount.has_cache { NetworkState::Cold } else { NetworkState::None };
        let states = [first, NetworkState::Hot, NetworkState::PageCache];
        let last = targets
            .iter()
            .filter_map(|one| states.iter().position(|state| *state == one.state))
            .max();
        let states = states.into_iter().take(last.map_or(0, |last| last + 1));
        let states = states.filter(|state| self.mount.lacks(*state).is_none());
        let states = states.filter(|state| benchmark.has(*state));
        self.make(benchmark, root).map_err(|error| {
            lost(first, format!("cannot make files in {}: {error}", root.display()))
        })?;
        for state in states {
            if state != NetworkState::PageCache {
                forget(root).map_err(|error| lost(state, format!("cannot evict: {error}")))?;
            }
            if let (NetworkState::Cold, Some(command)) = (state, self.drop) {
                run(command).map_err(|error| (state, Lost::Run(error)))?;
            }
            let _before = (self.watch.was_suspended)();
            let replicate = self.perform(benchmark, root).map_err(|why| lost(state, why))?;
            if (self.watch.was_suspended)() {
                return Err(lost(state, "fsprism was suspended meanwhile".to_owned()));
            }
            let content_bytes = benchmark.bytes(&self.plan.content);
            prove_all(state, benchmark, content_bytes, &replicate.readers)
                .map_err(|why| lost(state, why))?;
            proved.push((state, replicate));
        }
        Ok(())
    }

    /// Makes the files that the benchmark works on.
    fn make(&self, benchmark: NetworkBenchmark, root: &Path) -> io::Result<()> {
        let Content { file_bytes, tree, seed } = self.plan.content;
        let no_tree = TreeShape { directories: 1, files: 0 };
        let is_of_tree = benchmark.is_of_tree();
        fs::create_dir(root)?;
        Content {
            file_bytes: if is_of_tree { 0 } else { file_bytes },
            tree: if is_of_tree { tree } else { no_tree },
            seed,
        }
        .make(root)
    }

    fn perform(
        &self,
        benchmark: NetworkBenchmark,
        root: &Path,
    ) -> Result<MeasuredReplicate, String> {
        let mount = self.mount.entry.mount_point.as_path();
        let measured = measured(Some(mount), None, || benchmark.task().perform(root))?;
        if measured.before.mount.is_none() {
            return Err(format!("the kernel counts nothing of {}", mount.display()));
        }
        Ok(MeasuredReplicate::new(vec![measured], ServerCounters::default()))
    }
}

fn lost(state: NetworkState, why: String) -> UnprovedState<MountLost> {
    (state, Lost::Replicate(why))
}

/// Writes all files below a directory back and drops their pages from the kernel's memory. If
/// permitted, drops their inodes as well, because a file that was just written is not cached until
/// then.
fn forget(directory: &Path) -> io::Result<()> {
    rustix::fs::syncfs(File::open(directory)?)?;
    forget_files(directory)?;
    match fs::write(DROP_CACHES.0, DROP_CACHES.1) {
        // If it is not permitted, the proof shows what is still in memory.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        dropped => dropped,
    }
}

fn forget_files(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            forget_files(&entry.path())?;
        } else {
            fadvise(File::open(entry.path())?, 0, None, Advice::DontNeed)?;
        }
    }
    Ok(())
}

/// Runs the user's command.
fn run(command: &str) -> Result<(), MountLost> {
    let failed = |why: String| MountLost::Drop { command: command.to_owned(), why };
    let output = Command::new("sh").args(["-c", command]).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().lines().next_back().map(|line| format!(": {line}"));
    Err(failed(format!("{}{}", output.status, said.unwrap_or_default())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_network_is_refused_by_its_name() {
        let refusal = OwnMount::find(Path::new("/proc"), "proc").unwrap_err().to_string();
        assert!(refusal.contains("--at /proc: it lies on proc, which is no network"), "{refusal}");
        let refusal = OwnMount::find(Path::new("/not/there"), "x").unwrap_err().to_string();
        assert!(refusal.contains("/not/there"), "{refusal}");
    }

    fn mount(has_cache: bool) -> OwnMount {
        let entry = entry_of(&Sources::default(), Path::new("/proc")).unwrap();
        OwnMount { entry, label: "mnt".to_owned(), version: Version::V42, has_cache }
    }

    #[test]
    fn states_that_cannot_be_made_are_named() {
        let content =
            Content { file_bytes: 1 << 20, tree: TreeShape { directories: 1, files: 1 }, seed: 1 };
        let plan = |has_cache, states: &[NetworkState]| {
            mount(has_cache).plan(states, vec![NetworkBenchmark::File], 1, content)
        };
        let labels =
            |plan: &Plan| plan.targets().into_iter().map(|target| target.label).collect::<Vec<_>>();
        let without = plan(false, &[]).unwrap();
        assert_eq!(labels(&without), ["mnt none", "mnt pgcache"]);
        assert_eq!(crate::skipped(&without).len(), 3);
        assert_eq!(labels(&plan(true, &[]).unwrap()), ["mnt cold", "mnt hot", "mnt pgcache"]);
        let refusal = plan(false, &[NetworkState::Hot]).unwrap_err().to_string();
        assert!(refusal.contains("mnt: hot: the mount has no cache"), "{refusal}");
    }

    #[test]
    fn a_command_that_fails_is_told_with_what_it_said() {
        run("true").unwrap();
        let lost = run("echo no such unit >&2; exit 3").unwrap_err().to_string();
        assert!(lost.contains("exit status: 3: no such unit"), "{lost}");
    }
}
