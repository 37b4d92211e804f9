//! Dirty data and write-back: how much there is, and how much there may be.
//!
//! The machine's figures are pages from `/proc/vmstat`; those of a control group are bytes from its
//! `memory.stat`, in which names differ between versions 1 and 2
//! (Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst).

use record::machine::{CgroupVersion, DeviceNumber};
use serde::{Deserialize, Serialize};

use super::cgroup::Hierarchies;
use super::error::DescribeError;
use super::readers::{CounterFile, count};
use super::sources::{Reader, Sources};

/// Dirty data of the whole machine, and of the reading process's control group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WritebackCounters {
    /// Modified and not yet sent to a device (`nr_dirty`).
    pub dirty_bytes: u64,
    /// Being written to a device (`nr_writeback`).
    pub writeback_bytes: u64,
    /// Everything dirtied since boot (`nr_dirtied`).
    pub dirtied_bytes: u64,
    /// Everything written since boot (`nr_written`).
    pub written_bytes: u64,
    /// The amount of dirty data at which writers are throttled (`nr_dirty_threshold`), given the
    /// memory available now.
    pub threshold_bytes: u64,
    /// The amount of dirty data at which write-back starts (`nr_dirty_background_threshold`).
    pub background_threshold_bytes: u64,
    /// The pages of the process's memory control group; `None` if it is in none that reports them.
    pub group: Option<GroupPages>,
}

/// The page cache of a memory control group, including the groups below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupPages {
    /// Modified and not yet sent to a device.
    pub dirty_bytes: u64,
    /// Being written to a device.
    pub writeback_bytes: u64,
    /// File pages that the kernel considers in active use.
    pub active_file_bytes: u64,
    /// File pages that are reclaimed first.
    pub inactive_file_bytes: u64,
}

/// Reads [`WritebackCounters`]. The group is the one that the process is in when this is opened:
/// reopen it after entering a target's conditions.
#[derive(Debug)]
pub struct WritebackReader {
    machine: CounterFile,
    group: Option<GroupReader>,
    page_bytes: u64,
}

/// The limit on one device's dirty data, in bytes: its share of the machine's, if the device is
/// restricted to that (`strict_limit` in `/sys/class/bdi/MAJOR:MINOR`, Linux 6.2); `None` if it is
/// not.
#[must_use]
pub fn device_dirty_limit(major: u32, minor: u32) -> Option<u64> {
    device_dirty_limit_in(&Sources::default(), DeviceNumber { major, minor })
}

fn device_dirty_limit_in(sources: &Sources, device: DeviceNumber) -> Option<u64> {
    let reader = Reader::new(sources);
    let value = |name: &str| reader.value::<u64>(format!("/sys/class/bdi/{device}/{name}"));
    value("strict_limit").filter(|&strict| strict == 1)?;
    value("max_bytes")
}

#[derive(Debug)]
struct GroupReader {
    file: CounterFile,
    /// The keys for dirty, under write-back, active and inactive.
    keys: [&'static str; 4],
}

impl WritebackReader {
    /// Opens `/proc/vmstat`, and `memory.stat` of the process's control group if it exists.
    ///
    /// # Errors
    /// If the former cannot be opened, or the latter exists and cannot be.
    pub fn open() -> Result<Self, DescribeError> {
        Self::open_in(&Sources::default())
    }

    pub(crate) fn open_in(sources: &Sources) -> Result<Self, DescribeError> {
        Ok(Self {
            machine: CounterFile::open(sources, "/proc/vmstat")?,
            group: GroupReader::open_in(sources)?,
            page_bytes: rustix::param::page_size() as u64,
        })
    }

    /// The counters now. The kernel gathers them from all processors, which takes some tens of
    /// microseconds.
    ///
    /// # Errors
    /// If a file cannot be read or lacks the counters, as after the group has been removed.
    pub fn read(&self) -> Result<WritebackCounters, DescribeError> {
        let group = self.group.as_ref().map(GroupReader::read).transpose()?;
        let of_machine = |text: &str| {
            let bytes = |key| count(text, key)?.checked_mul(self.page_bytes);
            Some(WritebackCounters {
                dirty_bytes: bytes("nr_dirty")?,
                writeback_bytes: bytes("nr_writeback")?,
                dirtied_bytes: bytes("nr_dirtied")?,
                written_bytes: bytes("nr_written")?,
                threshold_bytes: bytes("nr_dirty_threshold")?,
                background_threshold_bytes: bytes("nr_dirty_background_threshold")?,
                group,
            })
        };
        self.machine
            .read("nr_dirty, nr_writeback, nr_dirtied, nr_written and thresholds", of_machine)
    }
}

impl GroupReader {
    fn open_in(sources: &Sources) -> Result<Option<Self>, DescribeError> {
        let reader = Reader::new(sources);
        let Some(controller) = Hierarchies::read(&reader).controller(&reader, "memory") else {
            return Ok(None);
        };
        let Some(path) = controller.directories.first().map(|own| own.join("memory.stat")) else {
            return Ok(None);
        };
        // The root group of version 2 has this file only since Linux 5.12.
        if !reader.exists(&path) {
            return Ok(None);
        }
        let keys = if let CgroupVersion::V1 = controller.version {
            ["total_dirty", "total_writeback", "total_active_file", "total_inactive_file"]
        } else {
            ["file_dirty", "file_writeback", "active_file", "inactive_file"]
        };
        Ok(Some(Self { file: CounterFile::open(sources, path)?, keys }))
    }

    fn read(&self) -> Result<GroupPages, DescribeError> {
        self.file.read("dirty, writeback, active and inactive pages of files", |text| {
            let [dirty, writeback, active, inactive] = self.keys;
            Some(GroupPages {
                dirty_bytes: count(text, dirty)?,
                writeback_bytes: count(text, writeback)?,
                active_file_bytes: count(text, active)?,
                inactive_file_bytes: count(text, inactive)?,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::fixture::Fixture;

    const VMSTAT: (&str, &str) = (
        "proc/vmstat",
        "nr_free_pages 9\nnr_dirty 1\nnr_writeback 2\nnr_writeback_temp 7\nnr_dirtied 30\n\
         nr_written 40\nnr_dirty_threshold 500\nnr_dirty_background_threshold 250\n",
    );
    const STAT: &str = "dirty 1\nactive_file 2\nfile_dirty 10\nfile_writeback 20\nactive_file 2\n\
        inactive_file 40\ntotal_dirty 11\ntotal_writeback 22\ntotal_active_file 33\n\
        total_inactive_file 44\n";

    fn read(files: &[(&str, &str)]) -> Result<WritebackCounters, DescribeError> {
        WritebackReader::open_in(&Fixture::new(files).sources())?.read()
    }

    #[test]
    fn pages_of_the_machine_become_bytes() {
        let page_bytes = rustix::param::page_size() as u64;
        let found = read(&[VMSTAT]).expect("all of it is there");
        assert_eq!(found.group, None);
        let bytes = [
            found.dirty_bytes,
            found.writeback_bytes,
            found.dirtied_bytes,
            found.written_bytes,
            found.threshold_bytes,
            found.background_threshold_bytes,
        ];
        assert_eq!(bytes, [1, 2, 30, 40, 500, 250].map(|pages| pages * page_bytes));
    }

    #[test]
    fn each_version_of_groups_has_its_names() {
        let v1 = [
            VMSTAT,
            ("proc/self/cgroup", "4:memory:/a\n0::/\n"),
            ("proc/self/mountinfo", "1 0 0:9 / /cg rw - cgroup cgroup rw,memory\n"),
            ("cg/a/memory.stat", STAT),
        ];
        let pages = |dirty_bytes, writeback_bytes, active_file_bytes, inactive_file_bytes| {
            Some(GroupPages {
                dirty_bytes,
                writeback_bytes,
                active_file_bytes,
                inactive_file_bytes,
            })
        };
        assert_eq!(read(&v1).expect("all of it is there").group, pages(11, 22, 33, 44));
        let v2 = [
            VMSTAT,
            ("proc/self/cgroup", "0::/a\n"),
            ("proc/self/mountinfo", "1 0 0:9 / /cg rw - cgroup2 cgroup2 rw\n"),
            ("cg/cgroup.controllers", "memory\n"),
            ("cg/a/memory.stat", STAT),
        ];
        assert_eq!(read(&v2).expect("all of it is there").group, pages(10, 20, 2, 40));
    }

    #[test]
    fn a_device_has_a_limit_of_its_own_only_where_it_is_held_to_it() {
        let limit = |strict: &str| {
            let files = [
                ("sys/class/bdi/7:3/strict_limit", strict),
                ("sys/class/bdi/7:3/max_bytes", "33552671\n"),
            ];
            let device = DeviceNumber { major: 7, minor: 3 };
            device_dirty_limit_in(&Fixture::new(&files).sources(), device)
        };
        assert_eq!((limit("1\n"), limit("0\n")), (Some(33_552_671), None));
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = read(&[("proc/vmstat", "nr_dirty 1\n")]).expect_err("the rest is missing");
        assert!(error.to_string().contains("/proc/vmstat"), "{error}");
        assert!(read(&[]).is_err());
    }

    #[test]
    fn this_machine_counts_what_is_written() {
        let reader = WritebackReader::open().expect("/proc is mounted");
        let before = reader.read().expect("Linux tells");
        assert!(before.threshold_bytes > before.background_threshold_bytes);
        if crate::describe::device_below(std::env::temp_dir()).ok().flatten().is_none() {
            eprintln!(
                "skipped: this_machine_counts_what_is_written: temporary files are in memory"
            );
            return;
        }
        let path = std::env::temp_dir().join(format!("writeback-{}", std::process::id()));
        let file = std::fs::File::create(&path).expect("temporary directory");
        std::fs::write(&path, vec![1; 32 << 20]).expect("there is room");
        file.sync_all().expect("the device is sound");
        let after = reader.read().expect("Linux tells");
        std::fs::remove_file(&path).expect("it is ours");
        // The kernel's counters are per processor, and their sum may lag by a few pages.
        let moved = (
            after.dirtied_bytes.saturating_sub(before.dirtied_bytes),
            after.written_bytes.saturating_sub(before.written_bytes),
        );
        assert!(moved.0 >= 16 << 20 && moved.1 >= 16 << 20, "{moved:?}");
    }
}
