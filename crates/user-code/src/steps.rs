//! What a round touches, seen by executing it instruction by instruction on this processor.

use std::collections::HashSet;
use std::io;
use std::ops::{ControlFlow, Range};

use crate::generate;
use crate::memory::UserCode;
use crate::shape::LINE_BYTES;
use crate::uses::LineUse;

/// What a round has touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Instructions that were executed.
    pub instructions: u64,
    /// Lines that they lie in.
    pub code_lines: usize,
    /// Loads that were executed.
    pub loads: u64,
    /// Lines of the data that they accessed.
    pub data_lines: usize,
    /// Loads from anywhere else.
    pub loads_elsewhere: u64,
}

/// Follows a processor through the code.
struct Follower<'a> {
    bytes: &'a [u8],
    code: Range<u64>,
    data: Range<u64>,
    touched: Touched,
}

impl UserCode {
    /// Executes a round in a child, instruction by instruction, and says what it has touched. A
    /// million instructions take some seconds.
    ///
    /// # Errors
    /// If no child can be executed so here.
    pub fn follow(&self) -> io::Result<Touched> {
        let (mut code_lines, mut data_lines) = (HashSet::new(), HashSet::new());
        let touched = self.follow_uses(|used| {
            match used {
                LineUse::Code(line) => code_lines.insert(line),
                LineUse::Data(line) => data_lines.insert(line),
            };
        })?;
        Ok(Touched { code_lines: code_lines.len(), data_lines: data_lines.len(), ..touched })
    }

    /// The same, with each use of a line in order; lines are not counted.
    pub(crate) fn follow_uses(&self, mut each: impl FnMut(LineUse)) -> io::Result<Touched> {
        let mut follower = Follower {
            bytes: self.bytes(),
            code: self.code_addresses(),
            data: self.data_addresses(),
            touched: Touched::default(),
        };
        let see = |registers: system_calls::Registers| {
            follower.see(registers.rip, registers.rdi, &mut each)
        };
        system_calls::step_through(|| self.run(), see)?;
        Ok(follower.touched)
    }
}

impl Follower<'_> {
    /// An instruction is about to be executed. After the last one of the code, nothing else counts.
    fn see(&mut self, at: u64, data: u64, each: &mut impl FnMut(LineUse)) -> ControlFlow<()> {
        if !self.code.contains(&at) {
            let has_left = self.touched.instructions > 0;
            return if has_left { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        }
        self.touched.instructions += 1;
        each(LineUse::Code(line(at - self.code.start)));
        let place = usize::try_from(at - self.code.start).unwrap_or(usize::MAX);
        let loaded = generate::load_at(self.bytes.get(place..).unwrap_or_default());
        if let Some(distance) = loaded {
            let address = data + distance;
            self.touched.loads += 1;
            if self.data.contains(&address) {
                each(LineUse::Data(line(address - self.data.start)));
            } else {
                self.touched.loads_elsewhere += 1;
            }
        }
        ControlFlow::Continue(())
    }
}

/// The line that so many bytes lead to.
fn line(bytes: u64) -> u32 {
    u32::try_from(bytes / LINE_BYTES as u64).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{CodeShape, Loads, Order};

    #[test]
    fn a_round_touches_what_was_asked_for() {
        for order in [Order::Sequential, Order::Random] {
            for loads in [Loads::Independent, Loads::Dependent] {
                for [code_lines, data_lines] in [[1, 1], [3, 7], [1, 20], [64, 63], [40, 1000]] {
                    let shape = CodeShape { code_lines, data_lines, order, loads };
                    let code = UserCode::new(&shape, 11).expect("there is memory");
                    let Ok(touched) = code.follow() else {
                        eprintln!("skipped: no child can be traced here");
                        return;
                    };
                    let work = code.work();
                    let expected = Touched {
                        instructions: work.instructions,
                        code_lines: code_lines as usize,
                        loads: u64::from(work.loads),
                        data_lines: data_lines as usize,
                        loads_elsewhere: 0,
                    };
                    assert_eq!(touched, expected, "{shape:?}");
                }
            }
        }
    }
}
