//! Which processors threads stay on, and which memory is near them.
//!
//! Threads are placed so that as many as possible have a core to themselves: the siblings of a core
//! (simultaneous multithreading) share its units, so two threads on them slow each other down
//! whatever the file system does. All cores of one NUMA node come before those of the next.
//!
//! A file should be in the memory of the node that reads it. If threads have their own files, file
//! number i belongs to thread i, so whatever brings it into memory should run [`near`] processor i.
//! The same goes for directories.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A processor, and the core and node that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Processor {
    number: usize,
    /// Its NUMA node.
    node: usize,
    /// The smallest number among the siblings of its core.
    core: usize,
}

impl Processor {
    /// As described by the kernel below `root`. Without a description, it is alone on its core and
    /// belongs to the first node.
    fn read(root: &Path, number: usize) -> Self {
        let path = root.join(format!("sys/devices/system/cpu/cpu{number}"));
        let siblings = std::fs::read_to_string(path.join("topology/thread_siblings_list"));
        let core = siblings.ok().and_then(|list| list_of(&list).into_iter().min());
        let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let node = names.filter_map(|name| name.strip_prefix("node")?.parse().ok()).min();
        Self { number, node: node.unwrap_or(0), core: core.unwrap_or(number) }
    }
}

/// Parses the kernel's list format, for example `0,4-6`; anything else in it is skipped.
fn list_of(text: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?.min(CpuSet::MAX_CPU))
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

/// Sorts processors as threads are placed: one of each core, then their siblings.
fn in_order(mut all: Vec<Processor>) -> Vec<Processor> {
    all.sort_by_key(|one| one.number);
    let rank = |one: &Processor| {
        all.iter().filter(|other| other.core == one.core && other.number < one.number).count()
    };
    let mut ranked: Vec<(usize, Processor)> = all.iter().map(|one| (rank(one), *one)).collect();
    ranked.sort_by_key(|(rank, one)| (*rank, one.node, one.number));
    ranked.into_iter().map(|(_, one)| one).collect()
}

/// All possible processors. Cached, so that no replicate reads sysfs again.
fn all_processors() -> &'static [Processor] {
    static ALL: OnceLock<Vec<Processor>> = OnceLock::new();
    ALL.get_or_init(|| {
        let possible = std::fs::read_to_string("/sys/devices/system/cpu/possible");
        let numbers =
            possible.map_or_else(|_| (0..CpuSet::MAX_CPU).collect(), |list| list_of(&list));
        numbers.into_iter().map(|number| Processor::read(Path::new("/"), number)).collect()
    })
}

/// The processors that the calling thread may use, in the order in which threads are placed.
fn usable() -> Result<Vec<Processor>, Errno> {
    let allowed = sched_getaffinity(None)?;
    let is_allowed = |one: &&Processor| allowed.is_set(one.number);
    Ok(in_order(all_processors().iter().filter(is_allowed).copied().collect()))
}

/// The numbers of the processors that the calling thread may use, in the order in which threads are
/// placed.
pub(crate) fn allowed() -> Result<Vec<usize>, Errno> {
    Ok(usable()?.into_iter().map(|one| one.number).collect())
}

/// Pins the calling thread to the `thread`-th of `processors`, wrapping around.
pub(crate) fn stay_on(processors: &[usize], thread: usize) -> Result<(), Errno> {
    match processors.get(thread % processors.len().max(1)) {
        Some(&number) => sched_setaffinity(None, &set_of([number])),
        None => Ok(()),
    }
}

fn set_of(numbers: impl IntoIterator<Item = usize>) -> CpuSet {
    let mut set = CpuSet::new();
    numbers.into_iter().for_each(|number| set.set(number));
    set
}

/// The number of cores that `threads` pinned threads use, with the processors that the calling
/// thread may use.
#[must_use]
pub fn cores_of(threads: usize) -> usize {
    let usable = usable().unwrap_or_default();
    cores(&usable[..threads.min(usable.len())]).max(1)
}

/// How many cores these processors belong to.
fn cores(processors: &[Processor]) -> usize {
    processors.iter().map(|one| one.core).collect::<BTreeSet<_>>().len()
}

/// Runs `act` on the NUMA node of the processor that thread number `number` is pinned to, so that
/// what it brings into memory is placed there. With a single node, it just runs `act`.
///
/// # Errors
/// The kernel's errors about the processors that this thread may run on.
pub fn near<T>(number: usize, act: impl FnOnce() -> T) -> std::io::Result<T> {
    let nodes = all_processors().iter().map(|one| one.node);
    if nodes.clone().max() == nodes.min() {
        return Ok(act());
    }
    let before = sched_getaffinity(None)?;
    sched_setaffinity(None, &set_of(on_same_node(&usable()?, number)))?;
    let done = act();
    sched_setaffinity(None, &before)?;
    Ok(done)
}

/// The processors on the node of the `number`-th of them, wrapping around.
fn on_same_node(usable: &[Processor], number: usize) -> Vec<usize> {
    let node = usable.get(number % usable.len().max(1)).map(|one| one.node);
    usable.iter().filter(|one| Some(one.node) == node).map(|one| one.number).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The sysfs files of a machine whose processors have these siblings and nodes.
    fn machine(processors: &[(&str, usize)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a temporary directory");
        for (number, (siblings, node)) in processors.iter().enumerate() {
            let path = root.path().join(format!("sys/devices/system/cpu/cpu{number}"));
            fs::create_dir_all(path.join("topology")).expect("it is new");
            fs::create_dir(path.join(format!("node{node}"))).expect("it is new");
            fs::write(path.join("topology/thread_siblings_list"), format!("{siblings}\n"))
                .expect("it is new");
        }
        root
    }

    fn described(root: &Path, numbers: impl IntoIterator<Item = usize>) -> Vec<Processor> {
        in_order(numbers.into_iter().map(|number| Processor::read(root, number)).collect())
    }

    fn order(all: &[Processor]) -> Vec<usize> {
        all.iter().map(|one| one.number).collect()
    }

    #[test]
    fn siblings_come_last_and_nodes_one_after_the_other() {
        // Two nodes of two cores of two siblings, numbered as firmware does: all cores first, then
        // again.
        let siblings = ["0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"];
        let nodes = [0, 1, 0, 1, 0, 1, 0, 1];
        let root = machine(&siblings.into_iter().zip(nodes).collect::<Vec<_>>());
        let all = described(root.path(), 0..8);
        assert_eq!(order(&all), [0, 2, 1, 3, 4, 6, 5, 7]);
        assert_eq!([1, 2, 4, 5, 8].map(|count| cores(&all[..count])), [1, 2, 4, 4, 4]);
        assert_eq!(on_same_node(&all, 0), [0, 2, 4, 6]);
        assert_eq!(on_same_node(&all, 10), [1, 3, 5, 7]);
        // If not all may be used: four on four cores; and two siblings next to another core.
        let some = described(root.path(), 2..6);
        assert_eq!((order(&some), cores(&some)), (vec![2, 4, 3, 5], 4));
        let some = described(root.path(), [0, 4, 5]);
        assert_eq!((order(&some), cores(&some[..2]), cores(&some)), (vec![0, 5, 4], 2, 2));

        // Siblings numbered one after the other.
        let root = machine(&[("0-1", 0), ("0-1", 0), ("2-3", 0), ("2-3", 0)]);
        assert_eq!(order(&described(root.path(), 0..4)), [0, 2, 1, 3]);
    }

    #[test]
    fn a_processor_that_is_not_described_has_a_core_for_itself() {
        let all = described(Path::new("/nowhere"), 0..3);
        assert_eq!((order(&all), cores(&all)), (vec![0, 1, 2], 3));
        assert_eq!(list_of("0,4-6\n"), [0, 4, 5, 6]);
        assert_eq!(list_of("x,2"), [2]);
    }

    #[test]
    fn threads_are_dealt_out_over_the_allowed_processors() {
        let processors = allowed().expect("a process may ask for its own");
        assert!(!processors.is_empty());
        assert!((1..=processors.len()).contains(&cores_of(processors.len())));
        std::thread::scope(|scope| {
            for number in 0..processors.len() + 1 {
                let processors = &processors;
                scope.spawn(move || {
                    stay_on(processors, number).expect("it is allowed");
                    let now = allowed().expect("a thread may ask for its own");
                    assert_eq!(now, [processors[number % processors.len()]]);
                });
            }
        });
    }

    #[test]
    fn whoever_acted_near_a_processor_may_go_where_it_could_before() {
        let before = allowed().expect("a process may ask for its own");
        assert_eq!(near(1, || 7).expect("it is allowed"), 7);
        assert_eq!(allowed().expect("as before"), before);
    }
}
