//! The recording: the trace that all vCPUs share, and the events of each.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use footprint_trace::event::{Access, EventEncoder};
use footprint_trace::header::{Coverage, Header};
use footprint_trace::mark::{Edge, Mark};
use footprint_trace::reader::CutReason;
use footprint_trace::trace_file::TraceFile;
use footprint_trace::writer::TraceWriter;
use footprint_trace::{BlockId, TracedBlock, attachments, maps};

/// Set once recording has stopped: the trace is full, failed or finished, or this is a forked
/// child.
pub(crate) static STOPPED: AtomicBool = AtomicBool::new(false);

/// Set if writing the trace has failed, in which case it gets no final end.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Processes forked from the traced one.
pub(crate) static FORKS: AtomicU64 = AtomicU64::new(0);

/// The trace, from the plugin's start to its end.
static TRACE: Mutex<Option<Trace>> = Mutex::new(None);

#[derive(Debug)]
struct Trace {
    writer: TraceWriter<TraceFile>,
    /// Blocks by address, lengths and code, so that retranslated code is described only once.
    known: HashMap<(u64, Vec<u8>), BlockId>,
    /// Lines of mapped files that are already in the trace.
    mapped: HashSet<String>,
    cut: Option<CutReason>,
}

/// Creates the trace.
pub(crate) fn start(path: &str, header: &Header) -> Result<(), String> {
    let path = Path::new(path);
    // Only the file name, since users may know the directory by another path.
    let name = path.file_name().unwrap_or_default().display();
    let cannot = |error: io::Error| format!("the trace {name} cannot be written: {error}");
    let file = TraceFile::create(path).map_err(cannot)?;
    let mut writer = TraceWriter::new(file, header).map_err(cannot)?;
    writer.commit(0).map_err(cannot)?;
    let trace = Trace { writer, known: HashMap::new(), mapped: HashSet::new(), cut: None };
    *TRACE.lock().unwrap_or_else(PoisonError::into_inner) = Some(trace);
    Ok(())
}

/// The number of a block, which is described first if it is new; `None` if recording has ended.
pub(crate) fn describe(block: &TracedBlock<'_>) -> Option<BlockId> {
    let mut trace = TRACE.lock().unwrap_or_else(PoisonError::into_inner);
    let trace = trace.as_mut()?;
    let key = (block.address, [block.lengths, block.code].concat());
    if let Some(id) = trace.known.get(&key) {
        return Some(*id);
    }
    match trace.writer.describe(block) {
        Ok(id) => {
            trace.known.insert(key, id);
            Some(id)
        }
        Err(error) => {
            give_up(&error);
            None
        }
    }
}

/// Stops recording and notes why the trace is incomplete.
pub(crate) fn cut_off(cut: CutReason) {
    let mut trace = TRACE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(trace) = trace.as_mut() {
        trace.cut = Some(cut);
    }
    STOPPED.store(true, Ordering::Relaxed);
}

/// Attaches the files that have been mapped into the program since the last call. The program's
/// address 0 is at `guest_base` in QEMU.
pub(crate) fn attach_maps(guest_base: u64) {
    let mut trace = TRACE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(trace) = trace.as_mut().filter(|_| !HAS_FAILED.load(Ordering::Relaxed)) else {
        return;
    };
    let attached = fs::read_to_string("/proc/self/maps").and_then(|text| {
        let mut lines = String::new();
        for line in maps::lines_of_guest(&text, guest_base) {
            if trace.mapped.insert(line.clone()) {
                lines.push_str(&line);
                lines.push('\n');
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        trace.writer.attach(attachments::MAPS, lines.as_bytes())?;
        trace.writer.commit(FORKS.load(Ordering::Relaxed))
    });
    if let Err(error) = attached {
        give_up(&error);
    }
}

/// Ends the trace, after all vCPUs have been flushed.
pub(crate) fn finish() {
    let trace = TRACE.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(trace) = trace else { return };
    if HAS_FAILED.load(Ordering::Relaxed) {
        return;
    }
    if let Err(error) = trace.writer.finish(trace.cut, FORKS.load(Ordering::Relaxed)) {
        give_up(&error);
    }
    STOPPED.store(true, Ordering::Relaxed);
}

/// Stops recording and reports why. Without its final end, the trace never reads as complete.
fn give_up(error: &io::Error) {
    STOPPED.store(true, Ordering::Relaxed);
    if !HAS_FAILED.swap(true, Ordering::Relaxed) {
        eprintln!("fsprism: the trace cannot be written ({error}); it stops here");
    }
}

/// The recording of one vCPU.
#[derive(Debug)]
pub(crate) struct Vcpu {
    index: u32,
    is_whole: bool,
    is_recording: bool,
    /// The last executed block, if it ended in a repeated string instruction: the block of that
    /// instruction alone. QEMU calls back once per iteration, and further iterations are not new
    /// executions.
    repeated: Option<BlockId>,
    /// An access that the next one may continue.
    pending: Option<Access>,
    events: EventEncoder,
    repetitions: HashMap<Mark, u32>,
}

impl Vcpu {
    pub(crate) fn new(index: u32, coverage: Coverage) -> Self {
        Self {
            index,
            is_whole: coverage == Coverage::Whole,
            is_recording: coverage == Coverage::Whole,
            repeated: None,
            pending: None,
            events: EventEncoder::new(),
            repetitions: HashMap::new(),
        }
    }

    /// Whether this vCPU is recording.
    pub(crate) fn is_recording(&self) -> bool {
        self.is_recording
    }

    /// Records the start of a block.
    #[inline]
    pub(crate) fn execute(&mut self, block: BlockId) {
        if !self.is_recording {
            return;
        }
        if self.events.is_full() {
            self.flush();
        }
        self.settle();
        self.repeated = None;
        self.events.execute(block);
    }

    /// Records the start of a block that ends in a repeated string instruction. `alone` is the
    /// block of only that instruction, which may be a further iteration.
    pub(crate) fn execute_repeated(&mut self, block: BlockId, alone: BlockId) {
        if block != alone || self.repeated != Some(alone) {
            self.execute(block);
            self.repeated = Some(alone);
        }
    }

    /// Records an access by the block's last instruction.
    #[inline]
    pub(crate) fn access(&mut self, access: Access) {
        if self.is_recording {
            self.events.access(access);
            if self.events.is_overdue() {
                self.flush();
            }
        }
    }

    /// Records part of an access of up to `width` bytes: consecutive parts of 8 bytes are merged.
    pub(crate) fn access_part(&mut self, part: Access, width: u32) {
        if !self.is_recording {
            return;
        }
        if let Some(pending) = &mut self.pending {
            let is_next = pending.kind == part.kind
                && part.bytes == 8
                && pending.address.wrapping_add(u64::from(pending.bytes)) == part.address;
            if is_next && pending.bytes + 8 <= width {
                pending.bytes += 8;
                return;
            }
        }
        self.settle();
        if part.bytes == 8 {
            self.pending = Some(part);
        } else {
            self.access(part);
        }
    }

    /// Records a mark, at which this vCPU begins or stops recording.
    pub(crate) fn mark(&mut self, mark: Mark) {
        let count = self.repetitions.entry(mark).or_default();
        let repetition = *count;
        *count = count.saturating_add(1);
        self.settle();
        self.repeated = None;
        self.is_recording = self.is_whole || mark.edge == Edge::Begin;
        self.events.mark(mark, repetition);
    }

    #[inline]
    fn settle(&mut self) {
        if let Some(access) = self.pending.take() {
            self.events.access(access);
        }
    }

    /// Writes the events recorded since the last flush.
    pub(crate) fn flush(&mut self) {
        self.settle();
        let mut trace = TRACE.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(trace) = trace.as_mut().filter(|_| !STOPPED.load(Ordering::Relaxed)) else {
            self.events.clear();
            return;
        };
        let written = trace.writer.write_events(self.index, &mut self.events);
        if let Err(error) =
            written.and_then(|()| trace.writer.commit(FORKS.load(Ordering::Relaxed)))
        {
            give_up(&error);
        } else if trace.writer.is_full() {
            eprintln!("fsprism: the trace has reached its size limit; it is cut off here");
            STOPPED.store(true, Ordering::Relaxed);
        }
    }
}
