//! The memory of a job: what its buffers are in, and what it withholds from everybody else.

use std::fs;
use std::path::Path;

use textual::size;

use super::given::Values;

const HUGE_PAGES: &str = "/sys/kernel/mm/hugepages";
/// What has to be left of the memory of a machine, as in fio.
const LEFT_BYTES: u64 = 128 << 20;

type Wrong = (&'static str, String);

/// The memory of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// What buffers are in.
    pub buffers: BufferPages,
    /// Bytes that are locked while the job runs.
    pub locked_bytes: u64,
}

/// Pages that buffers are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BufferPages {
    /// The process' own.
    #[default]
    Private,
    /// Shared memory of System V.
    Shared,
    /// The process' own, each of so many bytes.
    Huge(u64),
    /// Shared memory of System V, each page of so many bytes.
    SharedHuge(u64),
}

impl BufferPages {
    /// Bytes of a huge page, if these are such.
    #[must_use]
    pub const fn huge_bytes(self) -> Option<u64> {
        match self {
            Self::Private | Self::Shared => None,
            Self::Huge(bytes) | Self::SharedHuge(bytes) => Some(bytes),
        }
    }
}

/// What memory a machine has.
#[derive(Debug, Default)]
pub(super) struct MachineMemory {
    bytes: u64,
    /// Sizes of its huge pages, that of the default first, and how many are free.
    huge: Vec<(u64, u64)>,
}

impl MachineMemory {
    /// That of this machine.
    pub(super) fn of_this_machine() -> Self {
        let bytes = system_calls::memory_bytes().unwrap_or(u64::MAX);
        let entries = fs::read_dir(HUGE_PAGES).into_iter().flatten().flatten();
        let mut huge: Vec<(u64, u64)> = entries.filter_map(|one| huge_pages(&one.path())).collect();
        let default = default_bytes();
        huge.sort_by_key(|(bytes, _)| (Some(*bytes) != default, *bytes));
        Self { bytes, huge }
    }
}

/// The pages of a directory such as `hugepages-2048kB`: their size, and how many can be had.
fn huge_pages(path: &Path) -> Option<(u64, u64)> {
    let name = path.file_name()?.to_str()?;
    let kib: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
    let count = |name| fs::read_to_string(path.join(name)).ok()?.trim().parse::<u64>().ok();
    let free = count("free_hugepages")?.saturating_sub(count("resv_hugepages")?);
    let more = count("nr_overcommit_hugepages")?.saturating_sub(count("surplus_hugepages")?);
    Some((kib << 10, free + more))
}

fn default_bytes() -> Option<u64> {
    let facts = fs::read_to_string("/proc/meminfo").ok()?;
    let kib = facts.lines().find_map(|line| line.strip_prefix("Hugepagesize:"))?;
    Some(kib.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

impl MemoryPlan {
    pub(super) fn read(given: Values<'_>, machine: &MachineMemory) -> Result<Self, Wrong> {
        let (word, rest) = given.choice("mem").unwrap_or(("malloc", None));
        if rest.is_some() {
            return Err(("mem", "buffers are not kept in files; leave the file out".to_owned()));
        }
        let page_bytes = given.count("hugepage-size", 0);
        let huge = || huge_bytes(page_bytes, &machine.huge);
        let buffers = match word {
            "shm" => BufferPages::Shared,
            "mmaphuge" => BufferPages::Huge(huge()?),
            "shmhuge" => BufferPages::SharedHuge(huge()?),
            "cudamalloc" => {
                let why = "memory of graphics processors is not supported; use malloc".to_owned();
                return Err(("mem", why));
            }
            _ => BufferPages::Private,
        };
        Ok(Self { buffers, locked_bytes: given.bytes("lockmem").unwrap_or(0) })
    }

    /// Whether so many jobs can each have it, with buffers of so many bytes.
    pub(super) fn check(
        self,
        jobs: u64,
        buffer_bytes: u64,
        machine: &MachineMemory,
    ) -> Result<(), Wrong> {
        let locked = self.locked_bytes.saturating_mul(jobs);
        if locked > 0 && locked.saturating_add(LEFT_BYTES) > machine.bytes {
            let (all, left) = (size(machine.bytes as f64, 3), size(LEFT_BYTES as f64, 3));
            let why =
                format!("of this machine's {all} it leaves less than {left} to everything else");
            return Err(("lockmem", why));
        }
        let Some(page_bytes) = self.buffers.huge_bytes() else { return Ok(()) };
        let free = machine.huge.iter().find(|(bytes, _)| *bytes == page_bytes);
        let free = free.map_or(0, |(_, free)| *free);
        let needed = buffer_bytes.div_ceil(page_bytes).saturating_mul(jobs);
        if needed > free {
            let (page, kib) = (size(page_bytes as f64, 3), page_bytes >> 10);
            let why = format!(
                "it takes {needed} of the kernel's huge pages of {page}, and {free} are free: \
                 reserve more in {HUGE_PAGES}/hugepages-{kib}kB/nr_hugepages"
            );
            return Err(("mem", why));
        }
        Ok(())
    }
}

/// The size of huge pages: as given, or the kernel's default.
fn huge_bytes(given: u64, huge: &[(u64, u64)]) -> Result<u64, Wrong> {
    match huge.first() {
        None => Err(("mem", "this kernel has no huge pages".to_owned())),
        Some((default, _)) if given == 0 => Ok(*default),
        Some(_) if huge.iter().any(|(bytes, _)| *bytes == given) => Ok(given),
        Some(_) => {
            let sizes = huge.iter().map(|(bytes, _)| size(*bytes as f64, 3));
            let sizes = sizes.collect::<Vec<_>>().join(", ");
            let why = format!("this kernel has no huge pages of that size, only of {sizes}");
            Err(("hugepage-size", why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> MachineMemory {
        MachineMemory { bytes: 1 << 30, huge: vec![(2 << 20, 3), (1 << 30, 0)] }
    }

    #[test]
    fn huge_pages_have_a_size_that_the_kernel_has() {
        let huge = machine().huge;
        assert_eq!(huge_bytes(0, &huge), Ok(2 << 20));
        assert_eq!(huge_bytes(1 << 30, &huge), Ok(1 << 30));
        let (option, why) = huge_bytes(4 << 20, &huge).expect_err("no such pages");
        assert_eq!(
            (option, why.contains("only of 2 MiB, 1 GiB")),
            ("hugepage-size", true),
            "{why}"
        );
        assert_eq!(huge_bytes(0, &[]).expect_err("no pages").1, "this kernel has no huge pages");
    }

    #[test]
    fn huge_pages_have_to_be_free() {
        let plan = MemoryPlan { buffers: BufferPages::Huge(2 << 20), locked_bytes: 0 };
        assert_eq!(plan.check(1, 6 << 20, &machine()), Ok(()));
        let why = plan.check(2, 4 << 20, &machine()).expect_err("too many").1;
        assert!(
            why.contains("takes 4 of the kernel's huge pages of 2 MiB, and 3 are free"),
            "{why}"
        );
        let shared = MemoryPlan { buffers: BufferPages::SharedHuge(1 << 30), locked_bytes: 0 };
        assert!(shared.check(1, 1, &machine()).expect_err("none").1.contains("and 0 are free"));
    }

    #[test]
    fn locked_memory_leaves_some() {
        let plan = |locked_bytes| MemoryPlan { locked_bytes, ..MemoryPlan::default() };
        assert_eq!(plan(512 << 20).check(1, 0, &machine()), Ok(()));
        let (option, why) = plan(512 << 20).check(2, 0, &machine()).expect_err("too much");
        assert_eq!((option, why.contains("machine's 1 GiB")), ("lockmem", true), "{why}");
        assert_eq!(plan(0).check(9, 0, &MachineMemory::default()), Ok(()));
    }
}
