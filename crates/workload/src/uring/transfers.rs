//! The state of reads and writes in flight: open files, free slots, and the request in each slot.

use std::collections::VecDeque;
use std::os::fd::AsRawFd;

use measure::{Clock, Recorder};
use rustix::io::Errno;

use super::flight_loop::{FlightFailure, fly};
use super::latency::AsynchronousLatency;
use super::queue::{Completion, Direction, Queue, Request};
use super::ring::{Ring, RingSpec};
use super::task_work::TaskWork;
use crate::buffer::FILLER;
use crate::choose::{Access, Choices, Choose, Follow, Sequential, Shuffled, Uniform, Zipf};
use crate::content::{Content, mix};
use crate::description::Verification;
use crate::error::{EngineError, UringRefusal};
use crate::fault::Fault;
use crate::io_path::{Buffering, UringOptions};
use crate::rewrite::Originals;
use crate::role::Role;
use crate::run_loop::{Halt, LoopOutcome};
use crate::steps::{DataFile, Spacing};

/// Unverified writes use enough buffers in turn that content repeats only after this distance,
/// since file systems compress no more than that at once (see `buffer::Payload`).
const PERIOD_BYTES: u32 = 128 << 10;

/// What all transfers of one thread share.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) role: Role,
    pub(crate) files: Vec<DataFile>,
    pub(crate) spacing: Spacing,
    pub(crate) request_bytes: u32,
    pub(crate) options: UringOptions,
    pub(crate) verification: Verification,
    /// The data for unverified writes.
    pub(crate) content: Content,
    /// The number of unverified writes for which there is separate memory, at least.
    pub(crate) writes_apart: u32,
}

impl Task {
    /// The number of slots: as many as may be in flight. Unverified writes have additional, resting
    /// slots: a slot is reused only after all of those have been used.
    fn slots(&self) -> u32 {
        let resting = match (self.role, self.verification) {
            (Role::Write, Verification::Off) => PERIOD_BYTES
                .div_ceil(self.request_bytes.max(512))
                .max(self.writes_apart.saturating_sub(self.options.queue_depth)),
            _ => 0,
        };
        self.options.queue_depth + resting
    }

    /// Makes a ring with this many slots.
    pub(super) fn ring(&self, slots: u32) -> Result<Ring, UringRefusal> {
        let files: Vec<_> = self.files.iter().map(|file| file.file.as_raw_fd()).collect();
        let request_bytes = self.request_bytes;
        let queue_depth = self.options.queue_depth;
        Ring::new(RingSpec { queue_depth, slots, request_bytes }, &files)
    }
}

/// The request in a slot.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slot {
    pub(super) file: u32,
    /// How much of the request has been moved by short completions.
    pub(super) done_bytes: u32,
    pub(super) offset_bytes: u64,
    pub(super) issue_ticks: u64,
    pub(super) submitted_ticks: u64,
}

/// Reads or writes of one thread.
#[derive(Debug)]
pub(super) struct Transfers<C, Q = Ring> {
    /// Declared first: the ring is dropped, and waits for what is in flight, before files are
    /// closed.
    pub(super) queue: Q,
    pub(super) task: Task,
    choose: C,
    pub(super) slots: Box<[Slot]>,
    /// Free slots, in the order in which they became free.
    free: VecDeque<u32>,
    /// Slots whose request must be continued.
    pub(super) again: Vec<u32>,
    /// Slots pushed for the first time since the last submission.
    pub(super) fresh: Vec<u32>,
    pub(super) landed: Vec<Completion>,
    pub(super) latency: AsynchronousLatency,
    checked_bytes: u64,
    /// For writes on the device: where each slot's data were read from and go back to.
    kept_bytes: Box<[u64]>,
}

/// The direction of a transfer and whether its content is verified, known at compile time.
pub(super) trait TransferKind {
    const DIRECTION: Direction;
    const VERIFY: bool;
    /// Whether each slot has its own place, and data that must not be changed.
    const KEEPS: bool = false;
}

struct Read<const VERIFY: bool>;
struct Write<const VERIFY: bool>;
struct Rewrite;

impl<const VERIFY: bool> TransferKind for Read<VERIFY> {
    const DIRECTION: Direction = Direction::Read;
    const VERIFY: bool = VERIFY;
}

impl<const VERIFY: bool> TransferKind for Write<VERIFY> {
    const DIRECTION: Direction = Direction::Write;
    const VERIFY: bool = VERIFY;
}

impl TransferKind for Rewrite {
    const DIRECTION: Direction = Direction::Write;
    const VERIFY: bool = false;
    const KEEPS: bool = true;
}

impl<C: Choose, Q: Queue> Transfers<C, Q> {
    /// Allocates everything that the loop needs.
    pub(super) fn new(mut queue: Q, task: Task, choose: C, task_work: TaskWork) -> Self {
        let slots = task.slots();
        if task.role == Role::Write && task.verification == Verification::Off {
            let mut offset_bytes = 0;
            for slot in 0..slots {
                task.content.fill(queue.bytes_mut(slot), offset_bytes);
                offset_bytes += u64::from(task.request_bytes);
            }
        }
        Self::with_slots(queue, task, choose, task_work, slots)
    }

    /// Like `new`, with this many slots, whose buffers are already filled.
    fn with_slots(queue: Q, task: Task, choose: C, task_work: TaskWork, slots: u32) -> Self {
        let room = || Vec::with_capacity(slots as usize);
        Self {
            queue,
            choose,
            slots: vec![Slot::default(); slots as usize].into_boxed_slice(),
            free: (0..slots).collect(),
            again: room(),
            fresh: room(),
            landed: Vec::with_capacity(slots as usize),
            latency: AsynchronousLatency::new(task_work),
            checked_bytes: 0,
            kept_bytes: Box::default(),
            task,
        }
    }

    /// Chooses where operation `index` goes and pushes it.
    #[inline(always)]
    pub(super) fn issue<K: TransferKind>(&mut self, index: u64) {
        // Never None: there are at least as many slots as operations in flight.
        let Some(number) = self.free.pop_front() else { return };
        if K::KEEPS {
            let offset_bytes = self.kept_bytes[number as usize];
            let slot = &mut self.slots[number as usize];
            *slot = Slot { offset_bytes, ..Slot::default() };
            self.fresh.push(number);
            self.push::<K>(number);
            return;
        }
        let position = self.choose.next_position();
        let slot = &mut self.slots[number as usize];
        slot.file = file_number(position.resource);
        let file = &self.task.files[position.resource];
        slot.offset_bytes =
            file.descriptor_offset_bytes(self.task.spacing.offset_bytes(position.choice));
        slot.done_bytes = 0;
        if K::DIRECTION == Direction::Write {
            let bytes = self.queue.bytes_mut(number);
            if K::VERIFY {
                self.task.files[position.resource].content.fill(bytes, slot.offset_bytes);
            } else if let Some(word) = bytes.first_chunk_mut() {
                // Makes every write from the same buffer different.
                *word = mix(index).to_le_bytes();
            }
        }
        self.fresh.push(number);
        self.push::<K>(number);
    }

    /// Pushes what is left of a slot's request.
    #[inline(always)]
    pub(super) fn push<K: TransferKind>(&mut self, number: u32) {
        let Slot { file, offset_bytes, done_bytes, .. } = self.slots[number as usize];
        self.queue.push(K::DIRECTION, Request { slot: number, file, offset_bytes, done_bytes });
    }

    /// Whether a completion completes its request.
    #[inline(always)]
    pub(super) fn is_whole(&self, Completion { slot, result }: Completion) -> bool {
        let wanted = self.task.request_bytes - self.slots[slot as usize].done_bytes;
        u32::try_from(result) == Ok(wanted)
    }

    /// Handles a completion that does not complete its request: it must be continued, or has
    /// failed.
    #[cold]
    pub(super) fn go_on<K: TransferKind>(&mut self, landed: Completion) -> Result<(), Fault> {
        let call = match K::DIRECTION {
            Direction::Read => "io_uring read",
            Direction::Write => "io_uring write",
        };
        let slot = &mut self.slots[landed.slot as usize];
        let (wanted, done) = (self.task.request_bytes as usize, slot.done_bytes as usize);
        match u32::try_from(landed.result) {
            Ok(0) => return Err(Fault::short(call, slot.offset_bytes, wanted, done)),
            Ok(moved) => slot.done_bytes = slot.done_bytes.saturating_add(moved),
            Err(_) => match Errno::from_raw_os_error(-landed.result) {
                Errno::INTR => {}
                errno => return Err(Fault::errno_at(call, errno, slot.offset_bytes)),
            },
        }
        self.again.push(landed.slot);
        Ok(())
    }

    /// Does what must happen when a request is complete, and frees its slot.
    #[inline(always)]
    pub(super) fn settle<K: TransferKind>(&mut self, number: u32) -> Result<(), Fault> {
        if K::VERIFY && K::DIRECTION == Direction::Read {
            let slot = self.slots[number as usize];
            let bytes = self.queue.bytes_mut(number);
            let content = self.task.files[slot.file as usize].content;
            content.check(bytes, slot.offset_bytes).map_err(Fault::content)?;
            self.checked_bytes += bytes.len() as u64;
            // A later read that moves nothing must not find the right bytes already there.
            bytes.fill(FILLER);
        }
        self.free.push_back(number);
        Ok(())
    }

    /// Runs the loop, compiled for the kind of transfer.
    pub(super) fn run<T: Clock>(
        &mut self,
        operations: u64,
        clock: &T,
        recorder: &mut Recorder,
        halt: &impl Halt,
    ) -> Result<LoopOutcome, EngineError> {
        let ended = match (self.task.role, self.task.verification) {
            _ if !self.kept_bytes.is_empty() => {
                fly::<Rewrite, _, _, _>(self, operations, clock, recorder, halt)
            }
            (Role::Read, Verification::Off) => {
                fly::<Read<false>, _, _, _>(self, operations, clock, recorder, halt)
            }
            (Role::Read, Verification::On) => {
                fly::<Read<true>, _, _, _>(self, operations, clock, recorder, halt)
            }
            (Role::Write, Verification::Off) => {
                fly::<Write<false>, _, _, _>(self, operations, clock, recorder, halt)
            }
            (Role::Write, Verification::On) => {
                fly::<Write<true>, _, _, _>(self, operations, clock, recorder, halt)
            }
        };
        ended.map_err(|failure| self.explain(failure))
    }

    fn explain(&self, FlightFailure { fault, slot }: FlightFailure) -> EngineError {
        let number = slot.map_or(0, |slot| self.slots[slot as usize].file as usize);
        let path = &self.task.files[number].path;
        match self.task.options.buffering {
            Buffering::Direct => fault.into_direct_error(path),
            Buffering::PageCache => fault.into_error(path),
        }
    }
}

impl<C: Choose> Transfers<C> {
    /// Makes the transfers with their own ring.
    pub(super) fn over_a_ring(task: Task, choose: C) -> Result<Self, UringRefusal> {
        let ring = task.ring(task.slots())?;
        let task_work = ring.task_work();
        Ok(Self::new(ring, task, choose, task_work))
    }

    /// Makes writes on the device, with a ring that has a slot for each request, filled from
    /// `originals`.
    fn keeping(
        task: Task,
        choose: C,
        originals: &mut Originals<'_>,
        requests: u32,
    ) -> Result<Self, EngineError> {
        let slots = requests.max(task.options.queue_depth);
        let mut ring = task.ring(slots)?;
        let task_work = ring.task_work();
        let places = (0..requests).map(|slot| originals.read_next(ring.bytes_mut(slot)));
        let kept_bytes = places.collect::<Result<_, _>>()?;
        let with_slots = Self::with_slots(ring, task, choose, task_work, requests);
        Ok(Self { kept_bytes, ..with_slots })
    }

    fn make_ready(&mut self) -> Result<(), EngineError> {
        let refused = |errno| UringRefusal::System { call: "io_uring_register", errno };
        self.queue.enable().map_err(refused)?;
        // Made again here, so that its memory is near the processor where it is used.
        self.latency = AsynchronousLatency::new(self.latency.task_work);
        Ok(())
    }
}

/// A file's number among the registered ones, which cannot be more than there are descriptors.
#[expect(clippy::cast_possible_truncation, reason = "registering more would have failed")]
fn file_number(resource: usize) -> u32 {
    resource as u32
}

/// Transfers with any access pattern.
#[derive(Debug)]
pub(crate) struct AnyTransfers(AccessTransfers);

#[derive(Debug)]
enum AccessTransfers {
    Sequential(Transfers<Sequential>),
    Uniform(Transfers<Uniform>),
    Shuffled(Transfers<Shuffled>),
    Zipf(Transfers<Zipf>),
    Follow(Transfers<Follow>),
}

macro_rules! each {
    ($any:expr, $transfers:ident => $act:expr) => {
        match $any {
            AccessTransfers::Sequential($transfers) => $act,
            AccessTransfers::Uniform($transfers) => $act,
            AccessTransfers::Shuffled($transfers) => $act,
            AccessTransfers::Zipf($transfers) => $act,
            AccessTransfers::Follow($transfers) => $act,
        }
    };
}

impl AnyTransfers {
    /// Makes the transfers with their own ring.
    pub(crate) fn new(task: Task, access: Access, choices: &Choices) -> Result<Self, EngineError> {
        Ok(Self(match access {
            Access::Sequential => {
                AccessTransfers::Sequential(Transfers::over_a_ring(task, Sequential::new(choices))?)
            }
            Access::Uniform => {
                AccessTransfers::Uniform(Transfers::over_a_ring(task, Uniform::new(choices))?)
            }
            Access::Shuffled => {
                AccessTransfers::Shuffled(Transfers::over_a_ring(task, Shuffled::new(choices))?)
            }
            Access::Zipf { exponent } => {
                AccessTransfers::Zipf(Transfers::over_a_ring(task, Zipf::new(choices, exponent)?)?)
            }
            Access::Mixed { sequential_percent } => {
                let follow = Follow::new(choices, sequential_percent);
                AccessTransfers::Follow(Transfers::over_a_ring(task, follow)?)
            }
        }))
    }

    /// Makes writes on the device of what is already there.
    pub(crate) fn for_rewrites(
        task: Task,
        choices: &Choices,
        originals: &mut Originals<'_>,
        requests: u32,
    ) -> Result<Self, EngineError> {
        let unused = Sequential::new(choices);
        let transfers = Transfers::keeping(task, unused, originals, requests)?;
        Ok(Self(AccessTransfers::Sequential(transfers)))
    }

    /// Does what must be done before the start, in the thread that will run them.
    pub(crate) fn make_ready(&mut self) -> Result<(), EngineError> {
        each!(&mut self.0, transfers => transfers.make_ready())
    }

    /// Runs the loop, compiled for this access pattern and clock.
    pub(crate) fn run<T: Clock>(
        &mut self,
        operations: u64,
        clock: &T,
        recorder: &mut Recorder,
        halt: &impl Halt,
    ) -> Result<LoopOutcome, EngineError> {
        each!(&mut self.0, transfers => transfers.run(operations, clock, recorder, halt))
    }

    /// Bytes compared so far.
    pub(crate) fn checked_bytes(&self) -> u64 {
        each!(&self.0, transfers => transfers.checked_bytes)
    }

    /// The parts of the latencies.
    pub(crate) fn into_latency(self) -> AsynchronousLatency {
        each!(self.0, transfers => transfers.latency)
    }
}
