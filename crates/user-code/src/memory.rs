//! The code and its data in memory.
#![expect(unsafe_code, reason = "code that is generated is called")]

use std::arch::asm;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

use crate::generate::{self, Orders, Random};
use crate::shape::{CodeError, CodeShape, LINE_BYTES, Loads, Passes, Work};

/// Code and its data, each from the beginning of a page on. What a round needs to know of them is
/// in one line.
#[derive(Debug)]
#[repr(align(64))]
pub struct UserCode {
    code: Mapping,
    data: Mapping,
    passes: Passes,
    instructions: u64,
}

impl UserCode {
    /// Generates it. The same shape and seed give the same code.
    ///
    /// # Errors
    /// Why there is no such code.
    pub fn new(shape: &CodeShape, seed: u64) -> Result<Self, CodeError> {
        shape.check()?;
        let (passes, mut random) = (shape.passes(), Random(seed));
        let orders = Orders::new(shape, &passes, &mut random);
        let generated = generate::code(shape, &passes, &orders);
        let (bytes, instructions) = (generated.bytes, generated.instructions);
        let made = Self::with_code(&bytes, shape.data_lines as usize, passes, instructions)?;
        let nexts = generate::nexts(&generate::chain(shape, &mut random));
        for (line, next) in nexts.into_iter().enumerate() {
            let pointer = match shape.loads {
                Loads::Dependent => made.data.start.as_ptr().expose_provenance() + next,
                Loads::Independent => 0,
            };
            // Written in any case, so that each page is there and is none that all share.
            made.data.write(line * LINE_BYTES, &pointer.to_ne_bytes());
        }
        Ok(made)
    }

    /// Code that only goes back where it was entered, for what entering and leaving takes.
    ///
    /// # Errors
    /// Why there is no such code.
    pub fn nothing() -> Result<Self, CodeError> {
        let passes = Passes { count: 1, loads: 0, stride_lines: 0 };
        Self::with_code(&generate::LEAVE, 1, passes, 1)
    }

    fn with_code(
        bytes: &[u8],
        data_lines: usize,
        passes: Passes,
        instructions: u64,
    ) -> Result<Self, CodeError> {
        if !cfg!(target_arch = "x86_64") {
            return Err(CodeError::OtherProcessor);
        }
        let code = Mapping::new(bytes.len())?;
        code.write(0, bytes);
        code.make_executable()?;
        let data = Mapping::new(data_lines * LINE_BYTES)?;
        Ok(Self { code, data, passes, instructions })
    }

    /// What a round does.
    #[must_use]
    pub fn work(&self) -> Work {
        let Passes { count, loads, .. } = self.passes;
        // Only the last pass leaves.
        let instructions = self.instructions * u64::from(count) - u64::from(count - 1);
        Work { loads: loads * count, instructions, passes: count }
    }

    /// The bytes of the code.
    pub(crate) fn bytes(&self) -> &[u8] {
        let Mapping { start, bytes } = self.code;
        // SAFETY: the mapping can be read, lives as long as `self`, and is not written to any more.
        unsafe { std::slice::from_raw_parts(start.as_ptr().cast(), bytes) }
    }

    /// Where the code lies.
    pub(crate) fn code_addresses(&self) -> Range<u64> {
        self.code.addresses()
    }

    /// Where the data lie.
    pub(crate) fn data_addresses(&self) -> Range<u64> {
        self.data.addresses()
    }

    /// Executes one round.
    #[inline(always)]
    pub fn run(&self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the mapping contains code that `generate` made. It loads from the data alone,
        // changes the registers named here, and ends with a jump to `r11`.
        unsafe {
            asm!(
                "lea r11, [rip + 2f]",
                "jmp {code}",
                "2:",
                code = in(reg) self.code.start.as_ptr(),
                inout("rdi") self.data.start.as_ptr() => _,
                inout("ecx") self.passes.count => _,
                out("rax") _,
                out("rdx") _,
                out("rsi") _,
                out("r8") _,
                out("r9") _,
                out("r11") _,
                options(nostack, readonly),
            );
        }
    }
}

/// Pages of our own.
#[derive(Debug)]
struct Mapping {
    start: NonNull<c_void>,
    bytes: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread, and `start` has one owner. Nothing is
// written to it after it has been made.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(bytes: usize) -> Result<Self, CodeError> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping at an address chosen by the kernel touches no memory of ours.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), bytes, protection, flags) };
        let start = NonNull::new(start.map_err(CodeError::NoMemory)?);
        Ok(Self { start: start.expect("the kernel maps nothing at address 0"), bytes })
    }

    fn addresses(&self) -> Range<u64> {
        let start = self.start.as_ptr().addr() as u64;
        start..start + self.bytes as u64
    }

    /// Writes to it. It must not be executable yet.
    fn write(&self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= self.bytes, "it fits");
        // SAFETY: it fits, and nobody else refers to the mapping.
        unsafe {
            let to = self.start.as_ptr().cast::<u8>().add(at);
            ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
    }

    fn make_executable(&self) -> Result<(), CodeError> {
        let protection = MprotectFlags::READ | MprotectFlags::EXEC;
        // SAFETY: these are pages of our own, which are not written to any more.
        unsafe { mprotect(self.start.as_ptr(), self.bytes, protection) }
            .map_err(CodeError::NotExecutable)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: nobody else refers to it, and its code does not run.
        unsafe { munmap(self.start.as_ptr(), self.bytes) }.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Order;

    #[test]
    fn code_of_any_shape_comes_back() {
        for order in [Order::Sequential, Order::Random] {
            for loads in [Loads::Independent, Loads::Dependent] {
                for code_lines in [1, 2, 63, 64, 65, 1000] {
                    for data_lines in [1, 2, 7, 64, 1000, 5000] {
                        let shape = CodeShape { code_lines, data_lines, order, loads };
                        let code = UserCode::new(&shape, 5).expect("there is memory");
                        code.run();
                        code.run();
                        let work = code.work();
                        assert!(work.loads >= code_lines.max(data_lines), "{shape:?}");
                        let least = u64::from(code_lines * work.passes);
                        assert!(work.instructions >= least, "{shape:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let shape = CodeShape {
            code_lines: 0,
            data_lines: 1,
            order: Order::Random,
            loads: Loads::Dependent,
        };
        let error = UserCode::new(&shape, 1).expect_err("it has no lines");
        assert!(error.to_string().starts_with("code of 0 lines is not possible"), "{error}");
    }
}
