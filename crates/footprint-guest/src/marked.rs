//! The edge to the processor: one system call between two marks, as code made for the purpose.
#![expect(unsafe_code, reason = "code is made and called")]

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr::NonNull;

use footprint_trace::mark::{Edge, Mark};

/// A system call's number and arguments. `prepared` alone makes them: names end in a null byte,
/// buffers are as long as the call is told or as the kernel's structure at least, and all of it
/// lives until the call has been made.
pub(crate) type Call = [u64; 7];

/// What a call gives where it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gives {
    /// A number, or nothing.
    Number,
    /// A descriptor, which is closed again.
    Descriptor,
}

/// Code that executes any one system call between the marks of one region and operation, with
/// nothing else between them but the call's own instruction.
///
/// It is made, as a mark's numbers stand in its instruction.
#[derive(Debug)]
pub(crate) struct MarkedCall {
    code: NonNull<libc::c_void>,
}

const BYTES: usize = 4096;

/// `push %rbx`, and the arguments from the array at `%rdi` into the registers of a system call.
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
/// The result is kept, and CPUID executed: the plugin takes it for the point from which on code
/// may be translated without callbacks again. Then `%rbx` and the result are given back.
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
    /// Code with these marks.
    ///
    /// # Errors
    /// There is no memory for it, or none that may be executed.
    pub(crate) fn new(region: u8, operation: u16) -> io::Result<Self> {
        let mark = |edge| Mark { edge, region, operation }.code();
        let [begin, end] = [Edge::Begin, Edge::End].map(mark);
        Self::of(&[&LOAD[..], &begin, &SYSCALL, &end, &RETURN, &[RET]].concat())
    }

    /// The same code without marks: for warming up.
    ///
    /// # Errors
    /// As [`MarkedCall::new`].
    pub(crate) fn unmarked() -> io::Result<Self> {
        Self::of(&[&LOAD[..], &SYSCALL, &RETURN, &[RET]].concat())
    }

    fn of(code: &[u8]) -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let writable = libc::PROT_READ | libc::PROT_WRITE;
        assert!(code.len() <= BYTES, "the code fits a page");
        // SAFETY: a new mapping, which nothing else refers to, of which the first bytes are
        // written; it is made executable before it is called, and is not written any more.
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
    pub(crate) fn execute(&self, call: &Call, gives: Gives) -> io::Result<u64> {
        // SAFETY: the mapping holds a function of this type, which keeps to the C ABI: it reads
        // the array, and changes no register that a callee must keep. What the call points to is
        // as `Call` says.
        let result = unsafe {
            let function: extern "C" fn(*const u64) -> i64 =
                std::mem::transmute(self.code.as_ptr());
            function(call.as_ptr())
        };
        let Ok(given) = u64::try_from(result) else {
            let number = i32::try_from(-result).unwrap_or(i32::MAX);
            return Err(io::Error::from_raw_os_error(number));
        };
        if gives == Gives::Descriptor
            && let Ok(descriptor) = i32::try_from(given)
        {
            // SAFETY: the kernel has just given this descriptor, and nobody else knows it.
            drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
        }
        Ok(given)
    }
}

impl Drop for MarkedCall {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and no call is being made.
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
            let call = |call| code.execute(&call, Gives::Number);
            let pid = call([number(libc::SYS_getpid), 0, 0, 0, 0, 0, 0]).unwrap();
            let error = call([number(libc::SYS_close), u64::MAX, 0, 0, 0, 0, 0]);
            assert_eq!(pid, u64::from(std::process::id()));
            assert_eq!(error.unwrap_err().raw_os_error(), Some(libc::EBADF));
        }
    }
}
