//! In which order a round uses its lines, for simulations of caches.

use crate::generate::{self, Orders, Random};
use crate::shape::{CodeError, CodeShape, Loads};

/// A use of a line, by its number from where the code or the data begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineUse {
    /// Its instructions are executed, one after the other.
    Code(u32),
    /// It is loaded from.
    Data(u32),
}

impl CodeShape {
    /// What a round of the code uses that has this shape and seed, in order.
    ///
    /// # Errors
    /// Why there is no such code.
    pub fn uses(&self, seed: u64) -> Result<Vec<LineUse>, CodeError> {
        self.check()?;
        let (passes, mut random) = (self.passes(), Random(seed));
        let orders = Orders::new(self, &passes, &mut random);
        let chain = generate::chain(self, &mut random);
        // Wherever a chain begins, its first line is the first that is loaded.
        let mut chain = chain.iter().copied().cycle();
        let mut uses = Vec::new();
        for pass in 0..passes.count {
            for (line, &place) in orders.places.iter().enumerate() {
                uses.push(LineUse::Code(place));
                for load in orders.loads(&passes, line) {
                    let data = match self.loads {
                        Loads::Dependent => chain.next().unwrap_or_default(),
                        Loads::Independent => {
                            let target = orders.targets[load % orders.targets.len()];
                            pass * passes.stride_lines + target
                        }
                    };
                    uses.push(LineUse::Data(data));
                }
            }
        }
        Ok(uses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::UserCode;
    use crate::shape::Order;

    #[test]
    fn lines_are_used_as_a_processor_uses_them() {
        for order in [Order::Sequential, Order::Random] {
            for loads in [Loads::Independent, Loads::Dependent] {
                for [code_lines, data_lines] in [[1, 1], [5, 3], [3, 7], [1, 20], [40, 1000]] {
                    let shape = CodeShape { code_lines, data_lines, order, loads };
                    let code = UserCode::new(&shape, 9).expect("there is memory");
                    let mut seen = Vec::new();
                    let Ok(_) = code.follow_uses(|used| {
                        // After a load, the line of code that has it continues.
                        let continues =
                            matches!(used, LineUse::Code(line) if Some(line) == last_code(&seen));
                        if !continues {
                            seen.push(used);
                        }
                    }) else {
                        eprintln!("skipped: no child can be traced here");
                        return;
                    };
                    let mut expected = shape.uses(9).expect("there is such code");
                    // A single line of code is followed by itself in the next pass.
                    if code_lines == 1 {
                        let mut has_begun = false;
                        expected.retain(|used| {
                            *used != LineUse::Code(0) || !std::mem::replace(&mut has_begun, true)
                        });
                    }
                    assert_eq!(seen, expected, "{shape:?}");
                }
            }
        }
    }

    fn last_code(seen: &[LineUse]) -> Option<u32> {
        seen.iter().rev().find_map(|used| match used {
            LineUse::Code(line) => Some(*line),
            LineUse::Data(_) => None,
        })
    }
}
