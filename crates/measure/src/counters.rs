//! The processor's own counters, which Linux reads for one thread (`perf_event_open(2)`).
//!
//! Names and encodings of events differ between processors, so callers must first check that the
//! counters count what they are meant to.

use std::io;

use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Raw};
use perf_event::{Builder, Counter, Group};
use thiserror::Error;

/// An event of the processor, as its manual encodes it: event number and unit mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawEvent {
    /// Up to 12 bits on AMD's processors, 16 on ARM's, 8 on Intel's.
    pub number: u16,
    /// Which kinds of the event are counted; 0 on ARM, where events have no mask.
    pub mask: u8,
}

impl RawEvent {
    /// The encoding that Linux expects.
    fn config(self) -> u64 {
        let (low, high) = (u64::from(self.number & 0xff), u64::from(self.number >> 8));
        let high = if cfg!(target_arch = "x86_64") { high << 32 } else { high << 8 };
        low | u64::from(self.mask) << 8 | high
    }
}

/// Why counters cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CountersError {
    /// There are no counters, as in most virtual machines, or none for this event.
    #[error("Linux finds none here, as in most virtual machines")]
    None,
    /// This user may not read them.
    #[error("Linux lets only administrators count in the kernel: run as root")]
    NotAllowed,
    /// Somebody else is using them.
    #[error("another program used the processor's counters meanwhile")]
    Taken,
    /// Any other error.
    #[error("the processor's counters cannot be read: {0}")]
    Io(io::Error),
}

impl From<io::Error> for CountersError {
    fn from(error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP | libc::ENOSYS) => Self::None,
            Some(libc::EACCES | libc::EPERM) => Self::NotAllowed,
            _ if error.kind() == io::ErrorKind::UnexpectedEof => Self::Taken,
            _ => Self::Io(error),
        }
    }
}

/// Counters for the thread that opens them.
pub struct ProcessorCounters {
    group: Group,
    members: Vec<Counter>,
}

impl ProcessorCounters {
    /// Opens counters of these events for the calling thread, in the kernel and in user space.
    /// Either all of them count at the same time or none does.
    ///
    /// # Errors
    /// There are no counters, or too few.
    pub fn open(events: &[RawEvent]) -> Result<Self, CountersError> {
        Self::open_all(events.iter().map(|event| {
            let mut builder = Builder::new(Raw::new(event.config()));
            builder.include_kernel();
            builder
        }))
    }

    fn open_all<'a>(events: impl Iterator<Item = Builder<'a>>) -> Result<Self, CountersError> {
        // Pinned: Linux gives up the group rather than multiplex it with others.
        let mut group = Group::builder().pinned(true).build_group()?;
        let member = |mut event: Builder<'a>| group.add(event.enabled(true));
        let members = events.map(member).collect::<io::Result<Vec<Counter>>>()?;
        Ok(Self { group, members })
    }

    /// Counts the events during `act`; the counts are in the order of the events.
    ///
    /// # Errors
    /// Somebody else used the counters meanwhile, so the counts are incomplete.
    pub fn count<T>(&mut self, act: impl FnOnce() -> T) -> Result<(T, Vec<u64>), CountersError> {
        self.begin()?;
        let done = act();
        Ok((done, self.end()?))
    }

    fn begin(&mut self) -> Result<(), CountersError> {
        self.group.reset()?;
        Ok(self.group.enable()?)
    }

    /// What was counted since the beginning.
    fn end(&mut self) -> Result<Vec<u64>, CountersError> {
        self.group.disable()?;
        let counted = self.group.read()?;
        if counted.time_running() < counted.time_enabled() {
            return Err(CountersError::Taken);
        }
        Ok(self.members.iter().map(|member| counted[member]).collect())
    }
}

/// What a thread has done in user space, as its processor counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserCounts {
    /// Instructions executed.
    pub instructions: u64,
    /// Cycles of its clock.
    pub cycles: u64,
    /// Misses in the first-level cache of instructions.
    pub l1i_misses: u64,
    /// Loads that miss in that of data.
    pub l1d_misses: u64,
}

/// Counters of what the thread that opens them does in user space.
pub struct UserCounters(ProcessorCounters);

impl UserCounters {
    /// Opens them, by the names that Linux has for such events of any processor.
    ///
    /// # Errors
    /// There are no counters, or too few.
    pub fn open() -> Result<Self, CountersError> {
        let misses = |which| Cache { which, operation: CacheOp::READ, result: CacheResult::MISS };
        let common = [Hardware::INSTRUCTIONS, Hardware::CPU_CYCLES].map(Builder::new);
        let caches = [CacheId::L1I, CacheId::L1D].map(misses).map(Builder::new);
        // A builder leaves the kernel out unless it is told otherwise.
        ProcessorCounters::open_all(common.into_iter().chain(caches)).map(Self)
    }

    /// Adds what is counted during `act` to `sums`.
    ///
    /// # Errors
    /// Somebody else used the counters meanwhile, so the counts are incomplete.
    pub fn count<T>(
        &mut self,
        sums: &mut UserCounts,
        act: impl FnOnce() -> T,
    ) -> Result<T, CountersError> {
        self.0.begin()?;
        let done = act();
        let counts = self.0.end()?;
        let UserCounts { instructions, cycles, l1i_misses, l1d_misses } = sums;
        for (sum, count) in [instructions, cycles, l1i_misses, l1d_misses].into_iter().zip(counts) {
            *sum += count;
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use perf_event::events::Software;

    use super::*;

    #[test]
    fn events_are_encoded_as_linux_takes_them() {
        assert_eq!(RawEvent { number: 0xf1, mask: 0x1f }.config(), 0x1ff1);
        let config = RawEvent { number: 0x165, mask: 0xde }.config();
        assert_eq!(config, if cfg!(target_arch = "x86_64") { 0x1_0000_de65 } else { 0xdf65 });
    }

    #[test]
    fn each_act_is_counted_by_itself() {
        // Linux counts these without the processor.
        let events = [Software::PAGE_FAULTS, Software::DUMMY].map(Builder::new);
        let opened = ProcessorCounters::open_all(events.into_iter());
        let mut counters = match opened {
            Ok(counters) => counters,
            Err(CountersError::NotAllowed) => return,
            Err(why) => panic!("{why}"),
        };
        let page_bytes = rustix::param::page_size();
        let mut touched = |pages: usize| {
            let act = || {
                let mut memory = vec![0_u8; pages * page_bytes];
                memory.iter_mut().step_by(page_bytes).for_each(|byte| *byte = 1);
                black_box(memory).len()
            };
            let (bytes, counted) = counters.count(act).expect("they are ours");
            assert_eq!((bytes, counted.len(), counted[1]), (pages * page_bytes, 2, 0));
            counted[0]
        };
        // The memory is mapped anew each time. Huge pages take fewer faults.
        assert!((8..=4200).contains(&touched(4096)));
        assert_eq!(touched(0), 0);
        assert!((8..=4200).contains(&touched(4096)), "what came before is not counted again");
    }

    #[test]
    fn counts_of_user_space_are_added_up_or_are_said_to_lack() {
        let software =
            [Software::DUMMY, Software::PAGE_FAULTS, Software::DUMMY, Software::PAGE_FAULTS];
        let opened = ProcessorCounters::open_all(software.map(Builder::new).into_iter());
        let Ok(opened) = opened else { return };
        let (mut counters, mut sums) = (UserCounters(opened), UserCounts::default());
        for _ in 0..2 {
            let touched = counters
                .count(&mut sums, || black_box(vec![1_u8; 64 * rustix::param::page_size()]).len());
            assert!(touched.is_ok_and(|bytes| bytes > 0));
        }
        assert_eq!((sums.instructions, sums.l1i_misses), (0, 0));
        assert_eq!(sums.cycles, sums.l1d_misses, "each is where it belongs");
        match UserCounters::open() {
            Ok(mut real) => {
                let counted = real.count(&mut sums, || ());
                assert!(matches!(counted, Ok(()) | Err(CountersError::Taken)));
            }
            Err(why) => assert!(!matches!(why, CountersError::Io(_)), "{why}"),
        }
    }

    #[test]
    fn what_is_lacking_is_told() {
        let of = |number| CountersError::from(io::Error::from_raw_os_error(number)).to_string();
        assert!(of(libc::ENOENT).contains("finds none here"));
        assert!(of(libc::EACCES).ends_with("run as root"));
        assert!(of(libc::EMFILE).contains("cannot be read"));
        let taken = CountersError::from(io::Error::from(io::ErrorKind::UnexpectedEof));
        assert!(matches!(taken, CountersError::Taken));
    }
}
