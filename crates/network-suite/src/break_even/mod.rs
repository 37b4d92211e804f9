//! The link rate up to which a local cache pays: where reading from a hot cache takes as long as
//! reading over the link without one, for files of several sizes.
//!
//! "FS-Cache Benchmarks" ends with one point of this curve: its link was "at about the break-even
//! point for a large quantity of medium-small files". A cache saves link time, which shrinks as the
//! link gets faster, and costs processor time, which does not. As emulated processors are slow, the
//! rate found is below that of a real machine.

mod conduct;
mod course;
mod text;

use lab::rig::{DiskSpeed, Shape};
use network_guest::content::{Content, FileSet, TreeShape};
use network_guest::{CullLimits, Version};
use record::Manifest;

use crate::kernel_counts::KernelCounts;
use crate::plan::{NetworkBenchmark, Plan};
use crate::run_record;
use crate::state::NetworkState;

pub use conduct::search;
pub use text::text;

/// The benchmark's name in cells.
const BENCHMARK: &str = "break-even";
/// The lowest and the highest rate to try, in bits per second.
const RATES: (f64, f64) = (1e6, 1e9);
/// The width of the interval: 0.2 is 20 %.
const WIDTH: f64 = 0.2;
/// Bytes of all files of one size together, unless a single file is larger.
const SET_BYTES: u64 = 2 << 20;
/// The largest number of files of one size.
const FILES_MAX: u64 = 128;
/// The largest size of a file. `SIZES_MAX` is the largest number of sizes.
const FILE_BYTES_MAX: u64 = 64 << 20;
const SIZES_MAX: usize = 8;

/// A search for break-even rates.
#[derive(Clone, Debug, PartialEq)]
pub struct BreakEven {
    /// The sizes of files, ascending.
    sizes: Vec<u64>,
    /// The version of NFS.
    version: Version,
    /// The file system that the cache is on.
    cache: String,
    /// The shape of the link apart from its rate. If it has a rate, that is compared with the rates
    /// found.
    link: Shape,
    /// Seed of the files' content.
    seed: u64,
    /// The confidence level of the intervals.
    level: f64,
    /// How fast the cache's disk is.
    cache_disk: DiskSpeed,
    /// When the cache is culled.
    limits: CullLimits,
    /// What the clients' kernel counts.
    counts: KernelCounts,
}

/// Why a search is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BreakEvenRefusal {
    /// Too many sizes, or too large ones.
    #[error("--break-even takes up to {SIZES_MAX} file sizes, none above 64m")]
    Sizes,
    /// Several values where there can be only one.
    #[error("--break-even takes only one value of {0}: name one")]
    Several(&'static str),
    /// The plan refuses it.
    #[error(transparent)]
    Plan(#[from] crate::PlanRefusal),
}

impl BreakEven {
    /// A search with files of these sizes, and otherwise as in the plan.
    ///
    /// # Errors
    /// If it cannot be searched.
    pub fn new(sizes: &[u64], plan: &Plan, level: f64) -> Result<Self, BreakEvenRefusal> {
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.len() > SIZES_MAX || sizes.iter().any(|&bytes| bytes > FILE_BYTES_MAX) {
            return Err(BreakEvenRefusal::Sizes);
        }
        let [version] = plan.versions[..] else {
            return Err(BreakEvenRefusal::Several("--nfs"));
        };
        let [cache] = &plan.caches[..] else {
            return Err(BreakEvenRefusal::Several("--cache-fs"));
        };
        let (cache, link, seed) = (cache.clone(), plan.link, plan.content.seed);
        let Plan { cache_disk, limits, counts, .. } = *plan;
        let search = Self { sizes, version, cache, link, seed, level, cache_disk, limits, counts };
        search.plan().check()?;
        Ok(search)
    }

    /// The same with a kernel that counts this.
    #[must_use]
    pub fn with_counts(self, counts: KernelCounts) -> Self {
        Self { counts, ..self }
    }

    /// The files of each size.
    fn sets(&self) -> impl Iterator<Item = FileSet> {
        self.sizes.iter().map(|&file_bytes| {
            let files = (SET_BYTES / file_bytes.max(1)).clamp(1, FILES_MAX);
            FileSet { files: u32::try_from(files).unwrap_or(u32::MAX), file_bytes }
        })
    }

    /// The plan of the rig, apart from the files of each size.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let file_bytes = self.sets().map(FileSet::bytes).sum();
        let tree = TreeShape { directories: 1, files: 1 };
        Plan {
            states: vec![NetworkState::None, NetworkState::Hot],
            versions: vec![self.version],
            caches: vec![self.cache.clone()],
            link: self.link_at(RATES.1),
            benchmarks: vec![NetworkBenchmark::Tree],
            runs: 1,
            content: Content { file_bytes, tree, seed: self.seed },
            cache_bytes: None,
            cache_disk: self.cache_disk,
            limits: self.limits,
            counts: self.counts,
            mount: None,
        }
    }

    /// The link with this rate.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in the range")]
    fn link_at(&self, bits_per_s: f64) -> Shape {
        Shape { rate_bits_per_s: Some(bits_per_s.round() as u64), ..self.link }
    }

    /// The manifest of its run; everything else is taken from `base`. Cells are added when needed.
    #[must_use]
    pub fn manifest(&self, base: Manifest) -> Manifest {
        let plan = self.plan();
        let targets = plan.targets();
        Manifest {
            targets: targets.iter().map(|one| run_record::record_of(&plan, one)).collect(),
            ..base
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;

    #[test]
    fn each_size_has_as_many_files_as_make_a_reading_long() {
        let search = BreakEven::new(&[1 << 20, 4096, 4 << 20], &plan(), 0.95).unwrap();
        let files: Vec<_> = search.sets().map(|set| (set.files, set.file_bytes)).collect();
        assert_eq!(files, [(128, 4096), (2, 1 << 20), (1, 4 << 20)]);
    }

    #[test]
    fn what_cannot_be_searched_is_refused() {
        assert!(BreakEven::new(&[65 << 20], &plan(), 0.95).is_err());
        let two = Plan { versions: vec![Version::V3, Version::V42], ..plan() };
        let refusal = BreakEven::new(&[4096], &two, 0.95).unwrap_err().to_string();
        assert!(refusal.contains("--nfs"), "{refusal}");
    }
}
