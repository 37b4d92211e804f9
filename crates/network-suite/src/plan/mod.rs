//! The plan of a run: what it measures.

mod refusal;

use std::fmt;
use std::str::FromStr;

use file_system::FileSystem;
use lab::rig::{DiskSpeed, Shape};
use network_guest::content::Content;
use network_guest::task::Task;
use network_guest::{CachePlace, CullLimits, FreePercents, Version};

use crate::kernel_counts::KernelCounts;
use crate::state::NetworkState;

pub use refusal::PlanRefusal;

/// What a run measures.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The states, each once.
    pub states: Vec<NetworkState>,
    /// The versions of NFS, each once.
    pub versions: Vec<Version>,
    /// The file systems that caches are on, each once.
    pub caches: Vec<String>,
    /// The link between client and server.
    pub link: Shape,
    /// The benchmarks, each once.
    pub benchmarks: Vec<NetworkBenchmark>,
    /// How often everything is measured; each time is a block of the run.
    pub runs: u32,
    /// The files on the server.
    pub content: Content,
    /// Size of the caches' disk in bytes; `None` for as much as they need.
    pub cache_bytes: Option<u64>,
    /// How fast the caches' disks are.
    pub cache_disk: DiskSpeed,
    /// When caches are culled.
    pub limits: CullLimits,
    /// What the clients' kernel counts.
    pub counts: KernelCounts,
    /// The user's own mount that everything is measured on; `None` for guests.
    pub mount: Option<OnMount>,
}

/// A mount of the user's own, as recorded in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnMount {
    /// Its label.
    pub label: String,
    /// The file system's type.
    pub file_system: String,
    /// The mount's options.
    pub options: String,
    /// The states that cannot be reached on it, and why.
    pub lacks: Vec<(NetworkState, &'static str)>,
}

/// What is done with the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetworkBenchmark {
    /// One large file is read once.
    File,
    /// Two clients read the same large file at the same time.
    TwoClients,
    /// A tree of smaller files is read.
    Tree,
    /// A tree is read into a cache that is too small for it, then again.
    Cull,
    /// A tree is listed, and each entry is examined.
    Stat,
    /// A large file is read at random offsets.
    Random,
    /// A large file is overwritten in place.
    Rewrite,
    /// A large file is read that has changed on the server since it was cached.
    Coherence,
}

/// There is no such benchmark.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no benchmark {0:?} in fscache: choose from file, two-clients, tree, cull, stat, \
     random, rewrite and coherence"
)]
pub struct WrongBenchmark(String);

/// Number of reads at random offsets.
const RANDOM_READS: u32 = 500;

impl NetworkBenchmark {
    /// Whether it reads all of the same files in each state.
    pub(crate) fn reads_the_same(self) -> bool {
        match self {
            Self::File | Self::TwoClients | Self::Tree | Self::Cull => true,
            Self::Stat | Self::Random | Self::Rewrite | Self::Coherence => false,
        }
    }

    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::File,
        Self::TwoClients,
        Self::Tree,
        Self::Cull,
        Self::Stat,
        Self::Random,
        Self::Rewrite,
        Self::Coherence,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::TwoClients => "two-clients",
            Self::Tree => "tree",
            Self::Cull => "cull",
            Self::Stat => "stat",
            Self::Random => "random",
            Self::Rewrite => "rewrite",
            Self::Coherence => "coherence",
        }
    }

    /// Its title, for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::File => "Read one large file",
            Self::TwoClients => "Read one large file from two clients at once (counts of both)",
            Self::Tree => "Read a tree of smaller files",
            Self::Cull => "Read a tree that the cache cannot hold",
            Self::Stat => "List a tree and stat each entry",
            Self::Random => "Read a large file at random offsets",
            Self::Rewrite => "Overwrite a large file and sync it",
            Self::Coherence => "Read a large file that changed on the server since it was cached",
        }
    }

    /// What guests do.
    #[must_use]
    pub fn task(self) -> Task {
        match self {
            Self::File | Self::TwoClients | Self::Coherence => Task::ReadFile,
            Self::Rewrite => Task::Rewrite,
            Self::Tree | Self::Cull => Task::ReadTree,
            Self::Stat => Task::StatTree,
            Self::Random => Task::ReadRandom(RANDOM_READS),
        }
    }

    /// Whether a cache is timed while it serves this.
    pub(crate) fn times_cache(self, counts: KernelCounts) -> bool {
        counts.times && self == Self::Tree
    }

    /// How many clients do it at the same time.
    #[must_use]
    pub fn clients(self) -> usize {
        match self {
            Self::TwoClients => 2,
            Self::File
            | Self::Tree
            | Self::Cull
            | Self::Stat
            | Self::Random
            | Self::Rewrite
            | Self::Coherence => 1,
        }
    }

    /// Whether it works on the tree instead of the large file.
    pub(crate) fn is_of_tree(self) -> bool {
        match self {
            Self::File | Self::TwoClients | Self::Random | Self::Rewrite | Self::Coherence => false,
            Self::Tree | Self::Cull | Self::Stat => true,
        }
    }

    /// Why it cannot be measured on a mount of the user's own, if so.
    #[must_use]
    pub fn needs_guests(self) -> Option<&'static str> {
        match self {
            Self::File | Self::Tree | Self::Stat | Self::Random | Self::Rewrite => None,
            Self::TwoClients => Some("it needs a second client"),
            Self::Cull => Some("it needs a cache smaller than the tree"),
            Self::Coherence => Some("it changes a file on the server"),
        }
    }

    /// Bytes of the files that each client handles, counting each file once.
    pub(crate) fn bytes(self, content: &Content) -> u64 {
        if self.is_of_tree() { content.tree.bytes() } else { content.file_bytes }
    }

    /// Where its cache is. If the cache is too small for the tree, its inodes have room for the
    /// attributes that it keeps for each file: it may lack blocks for them, which would stop the
    /// cache.
    pub(crate) fn cache_place(self, file_system: &str, limits: CullLimits) -> CachePlace {
        let row = FileSystem::named(file_system).map(FileSystem::row);
        let is_extended = row.and_then(|row| row.mkfs.as_ref()?.extended.as_ref()).is_some();
        let (disk, mkfs) = match self {
            Self::Cull if is_extended => (1, vec!["-I".to_owned(), "512".to_owned()]),
            Self::Cull => (1, Vec::new()),
            Self::File
            | Self::TwoClients
            | Self::Tree
            | Self::Stat
            | Self::Random
            | Self::Rewrite
            | Self::Coherence => (0, Vec::new()),
        };
        CachePlace { file_system: file_system.to_owned(), disk, mkfs, limits, is_timed: false }
    }

    /// Why it does not apply to a state, if so.
    #[must_use]
    pub fn lacks(self, state: NetworkState) -> Option<&'static str> {
        match (self, state) {
            (Self::TwoClients, NetworkState::Server) => {
                Some("it needs two clients, and the server is not one")
            }
            (Self::File | Self::TwoClients | Self::Tree | Self::Random, _)
            | (Self::Stat, NetworkState::Server | NetworkState::None | NetworkState::PageCache)
            | (Self::Cull, NetworkState::Cold | NetworkState::Hot)
            | (Self::Rewrite, NetworkState::None)
            | (Self::Coherence, NetworkState::Hot) => None,
            (Self::Stat, NetworkState::Cold | NetworkState::Hot) => {
                Some("it reads no content that a cache could hold")
            }
            (Self::Cull, _) => Some("it needs a cache that is too small for the tree"),
            (Self::Rewrite, _) => Some("writes go to the server, bypassing the cache"),
            (Self::Coherence, _) => Some("it needs a cache that holds the file's old content"),
        }
    }

    /// Whether it applies to a state.
    pub(crate) fn has(self, state: NetworkState) -> bool {
        self.lacks(state).is_none()
    }
}

impl FromStr for NetworkBenchmark {
    type Err = WrongBenchmark;

    fn from_str(text: &str) -> Result<Self, WrongBenchmark> {
        let found = Self::ALL.into_iter().find(|one| one.name() == text);
        found.ok_or_else(|| WrongBenchmark(text.to_owned()))
    }
}

/// A file system in one state: the subject of a row in the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The state.
    pub state: NetworkState,
    /// The version of NFS; `None` on the server.
    pub version: Option<Version>,
    /// The file system that the cache is on; `None` without a cache.
    pub cache: Option<String>,
    /// Its name throughout the run.
    pub label: String,
}

/// Size limit of the content: guests must have it in memory.
const BYTES_MAX: u64 = 4 << 30;
const FILES_MAX: u32 = 100_000;
/// The smallest disk for ext2, ext3 and ext4 with a journal and blocks of 4 KiB.
const EXTENDED_BYTES_MIN: u64 = 8 << 20;

impl Plan {
    /// Checks that it can be measured.
    ///
    /// # Errors
    /// If it cannot.
    pub fn check(&self) -> Result<(), PlanRefusal> {
        let empty = [
            (self.states.is_empty(), "--states"),
            (self.versions.is_empty(), "--nfs"),
            (self.caches.is_empty() && self.mount.is_none(), "--cache-fs"),
            (self.benchmarks.is_empty(), "--benchmark"),
        ];
        if let Some((_, option)) = empty.into_iter().find(|(is_empty, _)| *is_empty) {
            return Err(PlanRefusal::Nothing(option));
        }
        for cache in &self.caches {
            let row = FileSystem::named(cache).map(FileSystem::row);
            if row.is_none_or(|row| row.name != cache || row.mkfs.is_none()) {
                return Err(PlanRefusal::Cache(cache.clone()));
            }
        }
        let tree = self.content.tree;
        if tree.directories == 0 || tree.directories > tree.files || tree.files > FILES_MAX {
            return Err(PlanRefusal::Tree);
        }
        for (letter, percents) in [('b', self.limits.blocks), ('f', self.limits.files)] {
            let FreePercents { run, cull, stop } = percents;
            if !percents.is_valid() {
                return Err(PlanRefusal::Limits { letter, stop, cull, run });
            }
        }
        let bytes = self.content.bytes();
        if bytes > BYTES_MAX {
            return Err(PlanRefusal::TooLarge { bytes, most: BYTES_MAX });
        }
        let (disk_bytes, tree_bytes) = (self.small_cache_bytes().unwrap_or(0), tree.bytes());
        if disk_bytes > tree_bytes {
            return Err(PlanRefusal::CacheHoldsAll { disk_bytes, tree_bytes });
        }
        Ok(())
    }

    /// Number of clients that are needed.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.benchmarks.iter().map(|benchmark| benchmark.clients()).max().unwrap_or(1)
    }

    /// Size of the disk for a cache that is too small for the tree: half of the tree, plus what the
    /// file system itself needs. `None` if no benchmark has such a cache.
    pub(crate) fn small_cache_bytes(&self) -> Option<u64> {
        self.benchmarks.contains(&NetworkBenchmark::Cull).then(|| {
            let rows = self.caches.iter().filter_map(|cache| FileSystem::named(cache));
            let programs = rows.filter_map(|one| one.row().mkfs.as_ref());
            let least = programs.map(|mkfs| match mkfs.extended {
                Some(_) => EXTENDED_BYTES_MIN,
                None => mkfs.least_bytes,
            });
            let half = self.content.tree.bytes() / 2;
            self.cache_bytes.unwrap_or_else(|| half + least.max().unwrap_or(0))
        })
    }

    /// All targets, in the order of the tables.
    #[must_use]
    pub fn targets(&self) -> Vec<Target> {
        if let Some(mount) = &self.mount {
            let states = NetworkState::ALL.into_iter().filter(|state| self.states.contains(state));
            let version = self.versions.first().copied();
            let target = |state| {
                let label = format!("{} {state}", mount.label);
                Target { state, version, cache: None, label }
            };
            return states.map(target).collect();
        }
        let mut targets = Vec::new();
        let mut states = NetworkState::ALL.into_iter().filter(|state| self.states.contains(state));
        if self.states.contains(&NetworkState::Server) {
            states.next();
            targets.push(self.target(NetworkState::Server, None, None));
        }
        let states: Vec<NetworkState> = states.collect();
        for &version in &self.versions {
            let without = states.iter().filter(|state| !state.has_cache());
            targets.extend(without.map(|&state| self.target(state, Some(version), None)));
            for cache in &self.caches {
                let with = states.iter().filter(|state| state.has_cache());
                targets.extend(with.map(|&state| self.target(state, Some(version), Some(cache))));
            }
        }
        targets
    }

    /// A target. Its label names what differs between targets.
    fn target(
        &self,
        state: NetworkState,
        version: Option<Version>,
        cache: Option<&String>,
    ) -> Target {
        let mut words: Vec<String> = Vec::new();
        if self.versions.len() > 1 {
            words.extend(version.map(|version| format!("nfs{version}")));
        }
        if self.caches.len() > 1 {
            words.extend(cache.cloned());
        }
        words.push(state.to_string());
        Target { state, version, cache: cache.cloned(), label: words.join(" ") }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use network_guest::content::TreeShape;

    use super::*;

    pub(crate) fn plan() -> Plan {
        let tree = TreeShape { directories: 3, files: 20 };
        Plan {
            states: NetworkState::ALL.to_vec(),
            versions: vec![Version::V42],
            caches: vec!["ext4".to_owned()],
            link: Shape::default(),
            benchmarks: vec![NetworkBenchmark::File, NetworkBenchmark::Tree],
            runs: 2,
            content: Content { file_bytes: 1 << 20, tree, seed: 1 },
            cache_bytes: None,
            cache_disk: DiskSpeed::default(),
            limits: CullLimits::default(),
            counts: KernelCounts::default(),
            mount: None,
        }
    }

    fn labels(plan: &Plan) -> Vec<String> {
        plan.targets().into_iter().map(|target| target.label).collect()
    }

    #[test]
    fn labels_say_what_is_not_the_same_for_all() {
        assert_eq!(labels(&plan()), ["server", "none", "cold", "hot", "pgcache"]);
        let several = Plan {
            states: vec![NetworkState::Hot, NetworkState::None, NetworkState::Server],
            versions: vec![Version::V42, Version::V3],
            caches: vec!["ext4".to_owned(), "xfs".to_owned()],
            ..plan()
        };
        let expected = [
            "server",
            "nfs4.2 none",
            "nfs4.2 ext4 hot",
            "nfs4.2 xfs hot",
            "nfs3 none",
            "nfs3 ext4 hot",
            "nfs3 xfs hot",
        ];
        assert_eq!(labels(&several), expected);
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        plan().check().unwrap();
        let refusal = |plan: Plan| plan.check().unwrap_err().to_string();
        assert!(refusal(Plan { states: vec![], ..plan() }).contains("--states"));
        let tmpfs = Plan { caches: vec!["tmpfs".to_owned()], ..plan() };
        assert!(refusal(tmpfs).contains("tmpfs"));
        let mut large = plan();
        large.content.file_bytes = u64::MAX;
        assert!(refusal(large).contains("--file"));
        let benchmarks = vec![NetworkBenchmark::Cull];
        let small = Plan { benchmarks, ..plan() };
        assert!(refusal(small.clone()).contains("cull"));
        Plan { cache_bytes: Some(100 << 10), ..small }.check().unwrap();
        let blocks = FreePercents { run: 7, ..FreePercents::default() };
        let limits = CullLimits { blocks, ..CullLimits::default() };
        let said = refusal(Plan { limits, ..plan() });
        assert!(
            said.contains("0 <= bstop < bcull < brun < 100, but these are 3, 7 and 7"),
            "{said}"
        );
        let mut flat = plan();
        flat.content.tree.directories = 0;
        assert!(refusal(flat).contains("--tree"));
    }
}
