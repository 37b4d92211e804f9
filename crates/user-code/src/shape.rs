//! What the code is to be like.

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The unit that processors cache.
pub const LINE_BYTES: usize = 64;

/// Most loads in a line of code: with what ends the last line, more do not fit.
const LOADS_PER_LINE: u32 = 6;

/// Most lines: 64 MiB, beyond any cache of one core.
const MOST_LINES: u32 = 1 << 20;

/// Code that is to be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CodeShape {
    /// Lines of instructions.
    pub code_lines: u32,
    /// Lines of data.
    pub data_lines: u32,
    /// In which order lines are executed, and accessed.
    pub order: Order,
    /// Whether a load needs the result of the one before.
    pub loads: Loads,
}

/// An order of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Order {
    /// As they lie in memory, which the processor foresees.
    Sequential,
    /// Shuffled, the same in each round: each line of code ends with a jump.
    Random,
}

/// How loads depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Loads {
    /// Not at all, so that the processor waits for many at once.
    Independent,
    /// Each address is the result of the load before, so that it waits for one after the other.
    Dependent,
}

/// What a round does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// How many loads it executes.
    pub loads: u32,
    /// How many instructions.
    pub instructions: u64,
    /// How often it executes all of the code, to get to all of the data.
    pub passes: u32,
}

/// Why there is no such code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CodeError {
    /// It has too few lines, or too many.
    #[error(
        "{what} of {lines} lines is not possible: choose 1 line ({LINE_BYTES} bytes) to \
         {MOST_LINES} lines (64 MiB)"
    )]
    Lines {
        /// Code or data.
        what: &'static str,
        /// How many were asked for.
        lines: u32,
    },
    /// The kernel gives no memory.
    #[error("there is no memory for it (mmap: {0})")]
    NoMemory(Errno),
    /// A policy forbids it.
    #[error(
        "memory that was written to may not be made executable here (mprotect: {0}), which code \
         that is generated needs; look for a policy (SELinux's execmem, systemd's \
         MemoryDenyWriteExecute=)"
    )]
    NotExecutable(Errno),
    /// This processor executes something else.
    #[error("code can be generated for x86-64 only")]
    OtherProcessor,
}

/// How the loads of a round are spread over passes of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passes {
    /// How many there are.
    pub(crate) count: u32,
    /// Loads of each.
    pub(crate) loads: u32,
    /// By how many lines of data each begins after the one before.
    pub(crate) stride_lines: u32,
}

impl CodeShape {
    /// Checks the numbers of lines.
    pub(crate) fn check(&self) -> Result<(), CodeError> {
        let all = [("code", self.code_lines), ("data", self.data_lines)];
        match all.into_iter().find(|(_, lines)| !(1..=MOST_LINES).contains(lines)) {
            Some((what, lines)) => Err(CodeError::Lines { what, lines }),
            None => Ok(()),
        }
    }

    /// How the loads are spread. Each line of code has one at least, and together they access each
    /// line of data.
    pub(crate) fn passes(&self) -> Passes {
        let Self { code_lines, data_lines, .. } = *self;
        let most = code_lines.saturating_mul(LOADS_PER_LINE);
        if data_lines <= most {
            return Passes { count: 1, loads: data_lines.max(code_lines), stride_lines: 0 };
        }
        // The passes begin equally far apart. With as many as there are lines, one apart, that
        // always comes out.
        let least = data_lines.div_ceil(most);
        let with = |count: u32| {
            let further = count - 1;
            let comes_out = |loads: &u32| (data_lines - loads).is_multiple_of(further);
            let loads = (data_lines.div_ceil(count)..=most).find(comes_out)?;
            Some(Passes { count, loads, stride_lines: (data_lines - loads) / further })
        };
        (least..=data_lines).find_map(with).expect("passes can be a line apart")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_reach_each_line_of_data_and_no_other() {
        let shape = |code_lines, data_lines| CodeShape {
            code_lines,
            data_lines,
            order: Order::Sequential,
            loads: Loads::Independent,
        };
        for code_lines in 1..40 {
            for data_lines in 1..700 {
                let Passes { count, loads, stride_lines } = shape(code_lines, data_lines).passes();
                let last = (count - 1) * stride_lines;
                let reached = if count == 1 { loads.min(data_lines) } else { last + loads };
                assert_eq!(reached, data_lines, "{code_lines} {data_lines}");
                assert!(count == 1 || stride_lines <= loads, "{code_lines} {data_lines}");
                assert!(loads <= code_lines * LOADS_PER_LINE, "{code_lines} {data_lines}");
                assert!(count > 1 || loads >= code_lines, "{code_lines} {data_lines}");
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let shape = |code_lines, data_lines| CodeShape {
            code_lines,
            data_lines,
            order: Order::Random,
            loads: Loads::Dependent,
        };
        assert_eq!(shape(0, 1).check(), Err(CodeError::Lines { what: "code", lines: 0 }));
        let many = MOST_LINES + 1;
        assert_eq!(shape(1, many).check(), Err(CodeError::Lines { what: "data", lines: many }));
        assert_eq!(shape(1, MOST_LINES).check(), Ok(()));
    }
}
