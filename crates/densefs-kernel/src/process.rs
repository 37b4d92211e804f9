//! A process that uses DenseFS: its record, its slot, and on whose behalf it acts.
#![expect(unsafe_code, reason = "memory from C")]

use core::cell::Cell;
use core::ptr::NonNull;
use core::sync::atomic::AtomicU32;

use densefs::arena::LINE_BYTES;
use densefs::format::{FormatRequest, make};
use densefs::modes::{Caller, Mode, NO_GROUPS};
use densefs::{Arena, Errno, Life, Member, Seams, Trust};

use crate::answer::answer;
use crate::edge::now_ns;

/// The environment of the core.
#[derive(Debug)]
pub(crate) struct KernelSeams {
    caller: Cell<Caller<'static>>,
    /// Its supplementary groups, to which the caller refers.
    groups: Cell<&'static [u32]>,
}

impl Seams for KernelSeams {
    // A thread of a kernel does not end in the middle of a function, the module lets in one at a
    // time, and nobody else can write to its memory.
    const THREADS_DIE: bool = false;
    const IS_SHARED: bool = false;
    // SAFETY: the arena is the kernel's memory, made by `densefs_mount`, and nobody else has it.
    const TRUST: Option<Trust> = Some(unsafe { Trust::new() });

    #[inline(always)]
    fn now_ns(&self) -> u64 {
        now_ns()
    }

    /// All memory is there from the start.
    #[inline(always)]
    fn supply(&self, _first_page: u32, _pages: u32) -> bool {
        true
    }

    #[inline(always)]
    fn life(&self, _slot: u32) -> Life {
        Life::Alive
    }

    #[inline(always)]
    fn after_repair(&self, _slot: u32) {}

    #[inline(always)]
    fn wait(&self, _word: &AtomicU32, _value: u32) -> bool {
        true
    }

    #[inline(always)]
    fn wake(&self, _word: &AtomicU32) {}

    #[inline(always)]
    fn user(&self) -> Caller<'_> {
        self.caller.get()
    }
}

/// The core, as a process uses it.
pub(crate) type Core<'m> = &'m Member<'static, KernelSeams>;

/// A process: `struct densefs_process`.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Process {
    member: Member<'static, KernelSeams>,
    caller: Cell<Caller<'static>>,
}

impl Process {
    /// The core.
    #[inline(always)]
    pub(crate) fn core(&self) -> Core<'_> {
        &self.member
    }

    /// On whose behalf it acts.
    #[inline(always)]
    pub(crate) fn caller(&self) -> &Caller<'static> {
        // SAFETY: only `densefs_identify` changes it, between calls.
        unsafe { &*self.caller.as_ptr() }
    }
}

/// Modes come from C without the permissions that new files do not get.
const NO_UMASK: u32 = 0;

/// Whose permissions are checked.
const UNCHECKED: Caller<'static> =
    Caller { is_checked: false, umask: NO_UMASK, groups: &NO_GROUPS, ..Caller::ROOT };

/// How many bytes a process takes.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_process_bytes() -> usize {
    size_of::<Process>()
}

fn arena_at(memory: *mut u8, bytes: usize) -> Result<Arena<'static>, Errno> {
    let start = NonNull::new(memory).ok_or(Errno::INVAL)?;
    let lines = u32::try_from(bytes / LINE_BYTES).map_err(|_| Errno::INVAL)?;
    // SAFETY: C vouches for the memory, which stays until the module is unloaded.
    Ok(unsafe { Arena::new(start, lines) })
}

/// Makes a file system in memory, which must be page-aligned, zero, and this module's alone, for up
/// to this many processes.
///
/// # Safety
/// There must be that many bytes, for as long as the module is loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn densefs_mount(
    memory: *mut u8,
    bytes: usize,
    secret: u64,
    ino_secret: u64,
    processes: u32,
) -> i64 {
    let seams = KernelSeams { caller: Cell::new(Caller::ROOT), groups: Cell::new(&[]) };
    let root = Mode { uid: 0, gid: 0, mode: 0o755 };
    let request = FormatRequest { secret, ino_secret, root, threads: Some(processes) };
    answer(arena_at(memory, bytes).and_then(|arena| make(arena, seams, &request)))
}

/// Begins a process with nothing open, in the root directory, at `process`.
///
/// # Safety
/// The memory must be that of [`densefs_mount`]; at `process`, there must be room for one, aligned
/// to 64 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn densefs_begin(
    process: *mut Process,
    number: u32,
    memory: *mut u8,
    bytes: usize,
) -> i64 {
    let begun = arena_at(memory, bytes).and_then(|arena| {
        let seams = KernelSeams { caller: Cell::new(Caller::ROOT), groups: Cell::new(&[]) };
        // Number 0 is that of whoever has made the file system.
        let member = Member::new(arena, seams, number + 1, number + 1)?;
        member.begin_process(number + 1)?;
        let caller = Cell::new(UNCHECKED);
        // SAFETY: there is room for it.
        unsafe { process.write(Process { member, caller }) };
        Ok(())
    });
    answer(begun)
}

/// Copies what a process has open to another one, which has just begun, and its working directory.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_fork(parent: &Process, number: u32) -> i64 {
    answer(parent.core().copy_descriptors(number + 1))
}

/// Closes what is to be closed when a process executes another program.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_exec(process: &Process) -> i64 {
    answer(process.core().close_for_exec())
}

/// Closes all that a process has open, and ends it.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_end(process: &Process, number: u32) -> i64 {
    let core = process.core();
    answer(core.reap(number + 1).and_then(|()| core.retire()))
}

/// Sets on whose behalf a process acts.
///
/// # Safety
/// The groups must stay until it is called again, or the process ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn densefs_identify(
    process: &Process,
    uid: u32,
    gid: u32,
    groups: *const u32,
    count: usize,
) {
    let seams = process.core().seams();
    // SAFETY: guaranteed by the caller.
    seams.groups.set(unsafe { core::slice::from_raw_parts(groups, count) });
    // SAFETY: the process stays where it is, and nobody uses the caller while it changes.
    let groups: &'static &'static [u32] = unsafe { &*seams.groups.as_ptr() };
    let caller = Caller { uid, gid, groups, umask: NO_UMASK, ..UNCHECKED };
    seams.caller.set(caller);
    process.caller.set(caller);
}
