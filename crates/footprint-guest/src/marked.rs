//! Generates machine code that executes one system call between two marks.
#![expect(unsafe_code, reason = "code is made and called")]

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr::NonNull;

use footprint_trace::mark::{Edge, Mark};

/// A system call's number and arguments. Only `prepared` creates them: names end in a null byte,
/// buffers are at least as long as the length passed or as the kernel's structure, and everything
/// lives until the call has been made.
pub(crate) type Call = [u64; 7];

/// What a call returns on success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReturnValue {
    /// A number, or nothing of interest.
    Number,
    /// A file descriptor, which is closed again.
    Descriptor,
}

/// Code that executes any one system call between the marks of one region and operation, with
/// nothing else between them but the `syscall` instruction.
///
/// It is generated, since a mark's numbers are encoded in its instruction.
#[derive(Debug)]
pub(crate) struct MarkedCall {
    code: NonNull<libc::c_void>,
}

const BYTES: usize = 4096;

/// `push %rbx`, then load the registers of a system call from the array at `%rdi`.
const LOAD: [u8; 29] = [
    0x53, // push %rbx
    0x48, 0x8b, 0x07, // mov (%rdi),%rax
    0x48, 0x8b, 0x77, 0x10, // mov 16(%rdi),%rsi
    0x48, 0x8b, 0x57, 0x18, // mov 24(%rdi),%rdx
    0x4c, 0x8b, 0x57, 0x20, // mov 32(%rdi),%r10
    0x4c, 0x8b, 0x47, 0x28, // mov 40(%rdi),%r8
    0x4c, 0x8b, 0x4f, 0x30, // mov 48(%rdi),%r9
    0x48, 0x8b, 0x7f, 0x08, // mov 8(%rdi),%rdi
    0x90, // nop
];
const SYSCALL: [u8; 2] = [0x0f, 0x05];
/// Saves the result and executes CPUID, which the plugin treats as the point from which code may be
/// translated without callbacks again. Then restores the result and `%rbx`.
const RETURN: [u8; 13] = [
    0x49, 0x89, 0xc0, // mov %rax,%r8
    0x31, 0xc0, // xor %eax,%eax
    0x31, 0xc9, // xor %ecx,%ecx
    0x0f, 0xa2, // cpuid
    0x4c, 0x89, 0xc0, // mov %r8,%rax
    0x5b, // pop %rbx
];
const RET: u8 = 0xc3;

impl MarkedCall {
    /// Generates the code with these marks.
    ///
    /// # Errors
    /// No memory can be mapped for it, or not as executable.
    pub(crate) fn new(region: u8, operation: u16) -> io::Result<Self> {
        let mark = |edge| Mark { edge, region, operation }.code();
        let [begin, end] = [Edge::Begin, Edge::End].map(mark);
        Self::from_code(&[&LOAD[..], &begin, &SYSCALL, &end, &RETURN, &[RET]].concat())
    }

    /// The same code without marks: for warming up.
    ///
    /// # Errors
    /// As [`MarkedCall::new`].
    pub(crate) fn unmarked() -> io::Result<Self> {
        Self::from_code(&[&LOAD[..], &SYSCALL, &RETURN, &[RET]].concat())
    }

    fn from_code(code: &[u8]) -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let writable = libc::PROT_READ | libc::PROT_WRITE;
        assert!(code.len() <= BYTES, "the code fits a page");
        // SAFETY: the mapping is new and nothing else refers to it; the code fits. It is made
        // executable before it is called, and not written to after that.
        unsafe {
            let page = libc::mmap(std::ptr::null_mut(), BYTES, writable, flags, -1, 0);
            if page == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let code_page = NonNull::new(page).ok_or_else(io::Error::last_os_error)?;
            let made = Self { code: code_page };
            std::ptr::copy_nonoverlapping(code.as_ptr(), page.cast::<u8>(), code.len());
            if libc::mprotect(page, BYTES, libc::PROT_READ | libc::PROT_EXEC) == 0 {
                Ok(made)
            } else {
                Err(io::Error::last_os_error())
            }
        }
    }

    /// Executes the call.
    ///
    /// # Errors
    /// The call fails.
    pub(crate) fn execute(&self, call: &Call, returns: ReturnValue) -> io::Result<u64> {
        // SAFETY: the mapping contains a function of this type that follows the C ABI: it reads the
        // array, and preserves all callee-saved registers. `Call` guarantees that the arguments
        // point to valid memory.
        let result = unsafe {
            let function: extern "C" fn(*const u64) -> i64 =
                std::mem::transmute(self.code.as_ptr());
            function(call.as_ptr())
        };
        let Ok(given) = u64::try_from(result) else {
            let number = i32::try_from(-result).unwrap_or(i32::MAX);
            return Err(io::Error::from_raw_os_error(number));
        };
        if returns == ReturnValue::Descriptor
            && let Ok(descriptor) = i32::try_from(given)
        {
            // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
            drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
        }
        Ok(given)
    }
}

impl Drop for MarkedCall {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, and no call is in progress.
        unsafe { libc::munmap(self.code.as_ptr(), BYTES) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_gives_its_result_or_its_error() {
        let number = |number: libc::c_long| u64::try_from(number).unwrap();
        for code in [MarkedCall::new(3, 5).unwrap(), MarkedCall::unmarked().unwrap()] {
            let call = |call| code.execute(&call, ReturnValue::Number);
            let pid = call([number(libc::SYS_getpid), 0, 0, 0, 0, 0, 0]).unwrap();
            let error = call([number(libc::SYS_close), u64::MAX, 0, 0, 0, 0, 0]);
            assert_eq!(pid, u64::from(std::process::id()));
            assert_eq!(error.unwrap_err().raw_os_error(), Some(libc::EBADF));
        }
    }
}
