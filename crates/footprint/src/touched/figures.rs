//! The figures of a footprint.

use std::collections::HashMap;

use footprint_trace::event::AccessKind;
use serde::Serialize;

use super::LINE_BYTES;
use super::footprint::{Footprint, mask};
use crate::hash::BuildMix;
use crate::trace::{Code, Context, StackTree};

/// The figures of a footprint, over the contexts that count: for a machine, the operation and the
/// exceptions in it; for a program, its user-mode code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Instructions executed. One that fails and is restarted counts each time.
    pub instructions: u64,
    /// Lines of 64 bytes that contain executed instructions.
    pub instruction_lines: u64,
    /// Bytes of executed instructions, each counted once.
    pub instruction_bytes: u64,
    /// Bytes of those lines that do not belong to an executed instruction.
    pub instruction_bytes_unused: u64,
    /// Those lines in which no byte was executed more than once.
    pub instruction_lines_used_once: u64,
    /// Accesses that read.
    pub loads: u64,
    /// Accesses that write.
    pub stores: u64,
    /// Lines of 64 bytes that were accessed.
    pub data_lines: u64,
    /// Those of them that were read.
    pub data_lines_loaded: u64,
    /// Those of them that were written.
    pub data_lines_stored: u64,
    /// Bytes that were accessed, each counted once.
    pub data_bytes: u64,
    /// Bytes of those lines that were not accessed.
    pub data_bytes_unused: u64,
    /// Those lines that exactly one access touched.
    pub data_lines_used_once: u64,
    /// Instructions of exceptions, which count.
    pub exception_instructions: u64,
    /// Instructions of interrupts, which do not count.
    pub interrupt_instructions: u64,
    /// Instructions of other tasks, which do not count.
    pub other_task_instructions: u64,
    /// User-mode instructions, which count only for a program.
    pub user_instructions: u64,
}

/// What is known about a line.
#[derive(Clone, Copy, Debug, Default)]
struct Summary {
    loaded_or_executed: u64,
    stored: u64,
    /// Bytes executed more than once.
    again: u64,
    accesses: u64,
}

type Lines = HashMap<u64, Summary, BuildMix>;

impl Footprint {
    /// Computes the figures over the contexts for which `counts` is true. See [`Context::counts`].
    #[must_use]
    pub fn figures(
        &self,
        code: &Code,
        stacks: &StackTree,
        counts: impl Fn(Context) -> bool,
    ) -> Figures {
        let mut figures = Figures::default();
        let mut lines = Lines::default();
        for execution in &self.executions {
            let Some(block) = code.get(execution.block) else { continue };
            let context = stacks.context(execution.stack);
            let instructions = execution.count * u64::from(block.instructions);
            figures.add_context(context, instructions);
            if counts(context) {
                figures.instructions += instructions;
                for (line, mask) in lines_of(block.address, block.next) {
                    lines.entry(line).or_default().execute(mask, execution.count);
                }
            }
        }
        figures.take_instruction_lines(&lines);
        lines.clear();
        for touch in &self.touches {
            if counts(stacks.context(touch.stack)) {
                let summary = lines.entry(touch.line).or_default();
                summary.loaded_or_executed |= touch.loads;
                summary.stored |= touch.stores;
                for part in &touch.accesses {
                    summary.accesses += part.count;
                    match part.kind {
                        _ if !part.is_start => {}
                        AccessKind::Load => figures.loads += part.count,
                        AccessKind::Store => figures.stores += part.count,
                    }
                }
            }
        }
        figures.take_data_lines(&lines);
        figures
    }
}

impl Figures {
    fn add_context(&mut self, context: Context, instructions: u64) {
        match context {
            Context::User => self.user_instructions += instructions,
            Context::Operation => {}
            Context::Exception => self.exception_instructions += instructions,
            Context::Interrupt => self.interrupt_instructions += instructions,
            Context::OtherTask => self.other_task_instructions += instructions,
        }
    }

    fn take_instruction_lines(&mut self, lines: &Lines) {
        self.instruction_lines = lines.len() as u64;
        for line in lines.values() {
            self.instruction_bytes += u64::from(line.loaded_or_executed.count_ones());
            self.instruction_lines_used_once += u64::from(line.again == 0);
        }
        self.instruction_bytes_unused =
            self.instruction_lines * LINE_BYTES - self.instruction_bytes;
    }

    fn take_data_lines(&mut self, lines: &Lines) {
        self.data_lines = lines.len() as u64;
        for line in lines.values() {
            let bytes = line.loaded_or_executed | line.stored;
            self.data_bytes += u64::from(bytes.count_ones());
            self.data_lines_loaded += u64::from(line.loaded_or_executed != 0);
            self.data_lines_stored += u64::from(line.stored != 0);
            self.data_lines_used_once += u64::from(line.accesses == 1);
        }
        self.data_bytes_unused = self.data_lines * LINE_BYTES - self.data_bytes;
    }
}

impl Summary {
    fn execute(&mut self, mask: u64, count: u64) {
        self.again |= if count > 1 { mask } else { mask & self.loaded_or_executed };
        self.loaded_or_executed |= mask;
    }
}

/// The lines that contain the bytes in `from..to`, each with a mask of these bytes.
pub(crate) fn lines_of(from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
    let first = from - from % LINE_BYTES;
    let lines = to.saturating_sub(first).div_ceil(LINE_BYTES);
    (0..lines).map(move |index| {
        let line = first + index * LINE_BYTES;
        let (begin, end) = (from.max(line), to.min(line.saturating_add(LINE_BYTES)));
        let [offset, bytes] = [begin - line, end - begin].map(|part| (part & 127) as u32);
        (line, mask(offset, bytes))
    })
}
