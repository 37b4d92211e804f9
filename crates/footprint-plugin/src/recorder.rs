//! What is recorded: the trace that all vCPUs share, and the events of each.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use footprint_trace::event::{Access, EventEncoder};
use footprint_trace::header::{Coverage, Header};
use footprint_trace::mark::{Edge, Mark};
use footprint_trace::reader::Cut;
use footprint_trace::trace_file::TraceFile;
use footprint_trace::writer::TraceWriter;
use footprint_trace::{BlockId, TracedBlock, attachments, maps};

/// Set once nothing more is recorded: the trace is full, failed or finished, or this is a child.
pub(crate) static STOPPED: AtomicBool = AtomicBool::new(false);

/// Set if the trace could not be written: it gets no end then.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Processes forked from the traced one.
pub(crate) static FORKS: AtomicU64 = AtomicU64::new(0);

/// The trace, from the plugin's start to its end.
static TRACE: Mutex<Option<Trace>> = Mutex::new(None);

#[derive(Debug)]
struct Trace {
    writer: TraceWriter<TraceFile>,
    /// Blocks by address, lengths and code: what is translated again is described once.
    known: HashMap<(u64, Vec<u8>), BlockId>,
    /// Lines of mapped files that are in the trace.
    mapped: HashSet<String>,
    cut: Option<Cut>,
}

/// Creates the trace.
pub(crate) fn start(path: &str, header: &Header) -> Result<(), String> {
    let path = Path::new(path);
    // Its directory may be known to people by another path.
    let name = path.file_name().unwrap_or_default().display();
    let cannot = |error: io::Error| format!("the trace {name} cannot be written: {error}");
    let file = TraceFile::create(path).map_err(cannot)?;
    let mut writer = TraceWriter::new(file, header).map_err(cannot)?;
    writer.commit(0).map_err(cannot)?;
    let trace = Trace { writer, known: HashMap::new(), mapped: HashSet::new(), cut: None };
    *TRACE.lock().unwrap_or_else(PoisonError::into_inner) = Some(trace);
    Ok(())
}

/// The number of a block, which is described if it is new; none once nothing is recorded.
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

/// Notes that not everything is recorded, and ends recording.
pub(crate) fn cut_off(cut: Cut) {
    let mut trace = TRACE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(trace) = trace.as_mut() {
        trace.cut = Some(cut);
    }
    STOPPED.store(true, Ordering::Relaxed);
}

/// Attaches what files have been mapped into the program since the last time, of which QEMU has
/// the address 0 at `guest_base`.
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

/// Ends the trace. All vCPUs have been flushed.
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

/// Says why the trace fails. Without its end, no reader takes it for whole.
fn give_up(error: &io::Error) {
    STOPPED.store(true, Ordering::Relaxed);
    if !HAS_FAILED.swap(true, Ordering::Relaxed) {
        eprintln!("fsprism: the trace cannot be written ({error}); it stops here");
    }
}

/// What one vCPU does.
#[derive(Debug)]
pub(crate) struct Vcpu {
    index: u32,
    is_whole: bool,
    is_recording: bool,
    /// The block of the repeated string instruction, alone, that was executed last, if nothing
    /// was since: QEMU calls back once per iteration, and the next is no new execution.
    repeated: Option<BlockId>,
    /// An access that the next may continue.
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

    /// Whether executions are recorded now.
    pub(crate) fn is_recording(&self) -> bool {
        self.is_recording
    }

    /// Records that a block begins.
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

    /// Records that a block begins whose last instruction repeats itself; `alone` is the block of
    /// that instruction alone, which may be an iteration.
    pub(crate) fn execute_repeated(&mut self, block: BlockId, alone: BlockId) {
        if block != alone || self.repeated != Some(alone) {
            self.execute(block);
            self.repeated = Some(alone);
        }
    }

    /// Records an access of the block's last instruction.
    #[inline]
    pub(crate) fn access(&mut self, access: Access) {
        if self.is_recording {
            self.events.access(access);
            if self.events.is_overdue() {
                self.flush();
            }
        }
    }

    /// Records a part of an access that can be of `width` bytes: parts of 8 bytes that follow each
    /// other are one.
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

    /// Records a mark, which begins or ends the recording of this vCPU.
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

    /// Writes what was recorded since the last time.
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
