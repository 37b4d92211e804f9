//! The cost of the harness itself, as ratios: the engine's loop against the same calls without any
//! clock.
//!
//! Every function measures both sides in one process, one right after the other. A round is A, B,
//! B, A, so that effects of order, and any steady drift of the machine, are the same for both. Each
//! round gives one ratio; the caller decides what to do with them.
//!
//! Each ratio is given twice. Elapsed time is what users wait for, but if the machine does other
//! work too, whichever side is preempted looks slow. So rounds should be shorter than a scheduler's
//! time slice, a few milliseconds, and there should be many. CPU time is not affected by
//! preemption, but with several threads it also excludes waiting for locks. Trust either only if
//! the two agree.

mod bare;
mod characters;

use std::fs::{File, create_dir, remove_dir_all};
use std::hint::black_box;
use std::ops::Range;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::AtomicBool;
use std::thread;

use anyhow::bail;
use measure::{Clock, Recorder};
use rustix::fs::{FileType, Mode, mknodat};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use workload::{
    DataOperation, FileSet, LoopLength, Noop, Operation, Role, Sharing, Subject, ThreadLoop,
    Workload, create_empty_files, prepare, run_loop,
};

use bare::Bare;
pub(crate) use characters::characters_to_bare;

/// The number of blocks that the no-op chooses from: those of a 256 MiB file.
const BLOCKS: u64 = 1 << 16;

/// The initial width of a slice of the timeline, as in a session.
const SLICE_NS: u64 = 100_000;

/// Files that one side creates before it is the other's turn: a few milliseconds.
const FILES_PER_TURN: usize = 2_000;

/// One ratio per round.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Ratios {
    /// Of elapsed time.
    pub(crate) elapsed: Vec<f64>,
    /// Of the CPU time of all threads.
    pub(crate) processor: Vec<f64>,
}

impl Ratios {
    fn push(&mut self, [first, second]: [Cost; 2]) {
        let ratio = |first: u64, second: u64| first as f64 / second.max(1) as f64;
        self.elapsed.push(ratio(first.elapsed_ns, second.elapsed_ns));
        self.processor.push(ratio(first.processor_ns, second.processor_ns));
    }
}

/// The cost of one side in one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Cost {
    elapsed_ns: u64,
    processor_ns: u64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, more: Self) {
        self.elapsed_ns += more.elapsed_ns;
        self.processor_ns += more.processor_ns;
    }
}

/// The rate of the engine's loop over that of the bare loop, per round: 1 means that the harness
/// costs nothing.
///
/// Only for psync reads and writes of one file shared by all threads; on both sides each thread is
/// pinned to a processor.
pub(crate) fn engine_to_bare<C: Clock>(
    workload: &Workload,
    file_set: &FileSet,
    rounds: usize,
    clock: &C,
) -> anyhow::Result<Ratios> {
    let workload = Workload { sharing: Sharing::Same, ..workload.clone() };
    let rivals = |thread| {
        let bare = Bare::new(&workload, file_set, thread)?;
        let engine = ThreadLoop::new(&workload, file_set, thread, clock)?;
        Ok(Rivals { bare, engine })
    };
    let mut rivals: Vec<Rivals<Bare>> =
        (0..workload.threads).map(rivals).collect::<anyhow::Result<_>>()?;
    race(&mut rivals, workload.operations_per_thread, rounds, clock)
}

/// Alternating rounds of the bare loops and of the engine's.
fn race<C: Clock, B: BareLoop>(
    rivals: &mut [Rivals<B>],
    operations: u64,
    rounds: usize,
    clock: &C,
) -> anyhow::Result<Ratios> {
    let mut run = |side| {
        together(rivals, clock, &|rivals: &mut Rivals<B>| match side {
            Side::First => rivals.bare.run(operations),
            Side::Second => Ok(rivals.engine.run(operations, clock)?),
        })
    };
    // A warm-up of each that does not count: it faults in what is new to the process.
    run(Side::First)?;
    run(Side::Second)?;
    interleaved(rounds, run)
}

/// The rate of a whole replicate, including its thread, barrier and pinning, over the rate of the
/// bare loop on the same processor, in elapsed time, per round. Preparing and restoring are
/// untimed, as in a survey.
pub(crate) fn replicate_to_bare<C: Clock>(
    workload: &Workload,
    file_set: &FileSet,
    rounds: usize,
    clock: &C,
) -> anyhow::Result<Vec<f64>> {
    let workload = Workload { sharing: Sharing::Same, threads: 1, ..workload.clone() };
    let mut bare = [Bare::new(&workload, file_set, 0)?];
    let mut seed = 1;
    let ratios = interleaved(rounds, |side| match side {
        Side::First => {
            together(&mut bare, clock, &|bare: &mut Bare| bare.run(workload.operations_per_thread))
        }
        Side::Second => {
            seed += 1;
            let mut session = prepare(&workload, file_set, seed)?;
            let elapsed_ns = session.run_with(clock, &AtomicBool::new(false))?.elapsed_ns;
            session.restore()?;
            Ok(Cost { elapsed_ns, processor_ns: 0 })
        }
    })?;
    Ok(ratios.elapsed)
}

/// The rate of the bare loop in a single thread, in operations per second of elapsed time.
pub(crate) fn bare_rate_per_s<C: Clock>(
    workload: &Workload,
    file_set: &FileSet,
    clock: &C,
) -> anyhow::Result<f64> {
    let workload = Workload { sharing: Sharing::Same, ..workload.clone() };
    let mut bare = Bare::new(&workload, file_set, 0)?;
    let watch = Watch::start(clock);
    bare.run(workload.operations_per_thread)?;
    let elapsed_ns = watch.stop().elapsed_ns.max(1);
    Ok(workload.operations_per_thread as f64 * 1e9 / elapsed_ns as f64)
}

/// The loop that the engine's is compared with.
trait BareLoop: Send {
    /// Continues where the last round ended.
    fn run(&mut self, operations: u64) -> anyhow::Result<()>;
}

/// Both sides of one thread. Each has opened the file separately, and has its own buffer.
struct Rivals<B> {
    bare: B,
    engine: ThreadLoop,
}

/// The role of the file that is read or written.
fn role_of(operation: Operation) -> anyhow::Result<Role> {
    match operation.subject() {
        Subject::Data(DataOperation::Read) => Ok(Role::Read),
        Subject::Data(DataOperation::Write) => Ok(Role::Write),
        Subject::Data(DataOperation::Mixed { .. }) | Subject::Growing(_) | Subject::Names(..) => {
            bail!("a bare loop reads or writes; it does not {}", operation.name())
        }
    }
}

/// The time of a recorded no-op over that of the two clock readings it requires, per round.
pub(crate) fn noop_to_two_readings<C: Clock>(
    operations: u64,
    rounds: usize,
    clock: &C,
) -> anyhow::Result<Ratios> {
    let mut step = Noop::new(BLOCKS, 1);
    let length = LoopLength { first: 0, operations, batch: 1 };
    let mut recorder = Recorder::new(clock.ticks(), clock.ticks_of(SLICE_NS));
    run_loop(&mut step, length, clock, &mut recorder, &|| false)?;
    interleaved(rounds, |side| {
        let watch = Watch::start(clock);
        match side {
            Side::First => {
                run_loop(&mut step, length, clock, &mut recorder, &|| false)?;
            }
            Side::Second => two_readings(operations, clock),
        }
        Ok(watch.stop())
    })
}

/// The time to create `count` empty files the way a file set does over that of a loop that contains
/// only the call, per round. Both create a new directory below `root` in each round, and remove it
/// untimed; within a round they alternate, so that disturbances affect both alike.
pub(crate) fn set_up_to_bare_loop<C: Clock>(
    root: &Path,
    count: u64,
    rounds: usize,
    clock: &C,
) -> anyhow::Result<Ratios> {
    let paths = [root.join("set-up"), root.join("bare")];
    let mut ratios = Ratios::default();
    for _ in 0..rounds {
        for path in &paths {
            create_dir(path)?;
        }
        let mut costs = [Cost::default(); 2];
        for (turn, first) in (0..count).step_by(FILES_PER_TURN).enumerate() {
            let numbers = first..count.min(first + FILES_PER_TURN as u64);
            let sides = [Side::First, Side::Second];
            // A B B A.
            for side in if turn % 2 == 0 { sides } else { [sides[1], sides[0]] } {
                let path = &paths[side as usize];
                let watch = Watch::start(clock);
                match side {
                    Side::First => {
                        create_empty_files(path, numbers.clone(), &AtomicBool::new(false))?;
                    }
                    Side::Second => bare_creates(path, numbers.clone())?,
                }
                costs[side as usize] += watch.stop();
            }
        }
        ratios.push(costs);
        for path in &paths {
            remove_dir_all(path)?;
        }
    }
    Ok(ratios)
}

/// The two sides of a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    First,
    Second,
}

/// The cost of the first side over that of the second, per round.
fn interleaved(
    rounds: usize,
    mut run: impl FnMut(Side) -> anyhow::Result<Cost>,
) -> anyhow::Result<Ratios> {
    let mut ratios = Ratios::default();
    for _ in 0..rounds {
        let mut first = run(Side::First)?;
        let mut second = run(Side::Second)?;
        second += run(Side::Second)?;
        first += run(Side::First)?;
        ratios.push([first, second]);
    }
    Ok(ratios)
}

/// Measures the time of the thread that starts and stops it.
struct Watch<'a, C> {
    clock: &'a C,
    start_ticks: u64,
    start_processor_ns: u64,
}

impl<'a, C: Clock> Watch<'a, C> {
    fn start(clock: &'a C) -> Self {
        let start_processor_ns = thread_processor_ns();
        Self { clock, start_ticks: clock.start(), start_processor_ns }
    }

    fn stop(&self) -> Cost {
        let end_ticks = self.clock.end();
        Cost {
            elapsed_ns: self.clock.nanos(end_ticks.saturating_sub(self.start_ticks)),
            processor_ns: thread_processor_ns().saturating_sub(self.start_processor_ns),
        }
    }
}

/// The CPU time used by the calling thread.
fn thread_processor_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Runs all rivals, each in a separate thread on a separate processor, as a replicate does. Elapsed
/// time is that of the slowest.
fn together<C: Clock, R: Send>(
    rivals: &mut [R],
    clock: &C,
    run: &(impl Fn(&mut R) -> anyhow::Result<()> + Sync),
) -> anyhow::Result<Cost> {
    let barrier = Barrier::new(rivals.len());
    let body = |number: usize, rivals: &mut R| {
        let pinned = stay_on(number);
        barrier.wait();
        pinned?;
        let watch = Watch::start(clock);
        run(rivals).map(|()| watch.stop())
    };
    let costs: Vec<anyhow::Result<Cost>> = thread::scope(|scope| {
        let body = &body;
        let rivals = rivals.iter_mut().enumerate();
        let threads: Vec<_> =
            rivals.map(|(number, rivals)| scope.spawn(move || body(number, rivals))).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    let mut total = Cost::default();
    for cost in costs {
        let cost = cost?;
        total.elapsed_ns = total.elapsed_ns.max(cost.elapsed_ns);
        total.processor_ns += cost.processor_ns;
    }
    Ok(total)
}

/// Pins the calling thread to one of the processors that it may use: the one with this index,
/// modulo their number.
fn stay_on(number: usize) -> rustix::io::Result<()> {
    let allowed = sched_getaffinity(None)?;
    let all: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|one| allowed.is_set(*one)).collect();
    let mut one = CpuSet::new();
    one.set(all[number % all.len()]);
    sched_setaffinity(None, &one)
}

#[inline(never)]
fn two_readings<C: Clock>(times: u64, clock: &C) {
    for _ in 0..times {
        let start_ticks = clock.start();
        let end_ticks = clock.end();
        black_box((start_ticks, end_ticks));
    }
}

/// The loop that set-up is compared with: increment the number within the name, create the node,
/// nothing else.
#[inline(never)]
fn bare_creates(path: &Path, numbers: Range<u64>) -> anyhow::Result<()> {
    let directory = File::open(path)?;
    let mut name = format!("e{:011x}", numbers.start).into_bytes();
    for _ in numbers {
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(&directory, &name[..], FileType::RegularFile, mode, 0)?;
        for digit in name[1..].iter_mut().rev() {
            *digit = match *digit {
                b'9' => b'a',
                b'f' => b'0',
                other => other + 1,
            };
            if *digit != b'0' {
                break;
            }
        }
    }
    Ok(())
}
