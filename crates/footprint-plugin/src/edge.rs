//! The edge to QEMU: its API, and the callbacks that it makes. All that is unsafe is here.
#![expect(unsafe_code, reason = "QEMU calls C functions and is called by them")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering};

use footprint_trace::event::{Access, AccessKind};
use footprint_trace::header::{Coverage, Header, Scope};
use footprint_trace::mark::{Edge, Mark};
use footprint_trace::reader::Cut;
use footprint_trace::translation::{self, Instruction, Part};
use footprint_trace::{BlockId, TracedBlock, x86};

use crate::callbacks::{self, Removal};
use crate::options::Options;
use crate::recorder::{self, STOPPED, Vcpu};
use crate::system_calls::{self, SystemCall};

/// vCPUs that can be recorded: threads of a program that ever were, unless QEMU reuses numbers.
const VCPUS_MAX: usize = 4096;

/// Each vCPU's recording, by its index.
static VCPUS: [AtomicPtr<Vcpu>; VCPUS_MAX] = [const { AtomicPtr::new(ptr::null_mut()) }; VCPUS_MAX];

/// Whether everything is recorded, else marked regions.
static IS_WHOLE: AtomicBool = AtomicBool::new(true);

/// QEMU's number of this plugin.
static ID: AtomicU64 = AtomicU64::new(0);

/// Whether one program is traced. QEMU tells of system calls then.
static IS_PROGRAM: AtomicBool = AtomicBool::new(false);

/// Where QEMU has the program's address 0.
static GUEST_BASE: AtomicU64 = AtomicU64::new(0);

/// Set if the program may have more files mapped than the trace says. Its own were mapped before
/// the first system call.
static ARE_MAPS_DUE: AtomicBool = AtomicBool::new(true);

/// Set in a process forked from the traced one, where nothing may touch the trace.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// From this API on, code is copied to the caller.
const API_COPIES_CODE: c_int = 3;

/// From this API on, QEMU disarms callbacks by itself (see [`on_safe_point`]).
const API_DISARMS: c_int = 2;

/// The API that QEMU has.
static API: AtomicI32 = AtomicI32::new(1);

/// The API that this library says it was built for. All functions used are the same in each, but
/// for the one that gives an instruction's code, so [`choose_version`] can say the one that fits.
#[unsafe(no_mangle)]
pub(crate) static qemu_plugin_version: AtomicI32 = AtomicI32::new(1);

// SAFETY: the loader calls functions in this section once, before QEMU looks for any symbol.
#[unsafe(link_section = ".init_array")]
#[used]
static AT_LOAD: extern "C" fn() = choose_version;

type Handle = *mut c_void;
type VcpuCallback = extern "C" fn(u64, c_uint);
type ExecutionCallback = extern "C" fn(c_uint, Handle);
type SystemCallCallback = extern "C" fn(u64, c_uint, i64, u64, u64, u64, u64, u64, u64, u64, u64);
type MemoryCallback = extern "C" fn(c_uint, u32, u64, Handle);

/// What QEMU says of itself: `qemu_info_t`, up to the fields used.
#[repr(C)]
pub(crate) struct Information {
    target_name: *const c_char,
    version_min: c_int,
    version_current: c_int,
    is_system: bool,
}

const NO_REGISTERS: c_int = 0;
/// Loads and stores. QEMU before 8.1 takes loads for stores where one direction is asked for.
const BOTH_DIRECTIONS: c_int = 3;

// `include/qemu/qemu-plugin.h` of QEMU 7.2, and of 10 where it differs.
unsafe extern "C" {
    fn qemu_plugin_reset(id: u64, callback: extern "C" fn(u64));
    fn qemu_plugin_register_vcpu_init_cb(id: u64, callback: VcpuCallback);
    fn qemu_plugin_register_vcpu_exit_cb(id: u64, callback: VcpuCallback);
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: u64, callback: extern "C" fn(u64, Handle));
    fn qemu_plugin_register_atexit_cb(id: u64, callback: extern "C" fn(u64, Handle), data: Handle);
    fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: Handle,
        callback: ExecutionCallback,
        flags: c_int,
        data: Handle,
    );
    fn qemu_plugin_register_vcpu_mem_cb(
        instruction: Handle,
        callback: MemoryCallback,
        flags: c_int,
        directions: c_int,
        data: Handle,
    );
    fn qemu_plugin_register_vcpu_syscall_cb(id: u64, callback: SystemCallCallback);
    fn qemu_plugin_insn_haddr(instruction: Handle) -> Handle;
    fn qemu_plugin_tb_n_insns(translated: Handle) -> usize;
    fn qemu_plugin_tb_get_insn(translated: Handle, index: usize) -> Handle;
    /// Before API 3, a function of the first argument alone that returns the code's address; the
    /// others are in registers that it does not look at.
    fn qemu_plugin_insn_data(instruction: Handle, to: *mut u8, bytes: usize) -> usize;
    fn qemu_plugin_insn_size(instruction: Handle) -> usize;
    fn qemu_plugin_insn_vaddr(instruction: Handle) -> u64;
    fn qemu_plugin_mem_size_shift(information: u32) -> c_uint;
    fn qemu_plugin_mem_is_store(information: u32) -> bool;
    fn pthread_atfork(
        before: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
    fn dlsym(library: Handle, name: *const c_char) -> Handle;
}

/// Says API 2 to a QEMU that has it (9.0 and newer refuse 1), else 1. It is known by a function
/// that came with it.
extern "C" fn choose_version() {
    // SAFETY: a null handle means all libraries loaded, and the name ends in a null byte.
    let came_with_2 = unsafe { dlsym(ptr::null_mut(), c"qemu_plugin_scoreboard_new".as_ptr()) };
    qemu_plugin_version.store(if came_with_2.is_null() { 1 } else { 2 }, Ordering::Relaxed);
}

/// QEMU has loaded the library and hands on the arguments.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn qemu_plugin_install(
    id: u64,
    information: *const Information,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    // SAFETY: QEMU passes its information and `count` strings, all alive during the call.
    let (information, arguments) = unsafe {
        let at = |index| CStr::from_ptr(*arguments.add(index)).to_string_lossy();
        let count = usize::try_from(count).unwrap_or(0);
        (&*information, (0..count).map(at).collect::<Vec<_>>())
    };
    let installed = Options::parse(arguments.iter().map(AsRef::as_ref))
        .and_then(|options| install(id, information, &options));
    match installed {
        Ok(()) => 0,
        Err(sentence) => {
            eprintln!("fsprism: {sentence}");
            1
        }
    }
}

fn install(id: u64, information: &Information, options: &Options) -> Result<(), String> {
    // SAFETY: QEMU's name of the guest's architecture is a string.
    let target = unsafe { CStr::from_ptr(information.target_name) };
    IS_WHOLE.store(options.coverage == Coverage::Whole, Ordering::Relaxed);
    API.store(information.version_current, Ordering::Relaxed);
    if target != c"x86_64" {
        return Err(format!("{target:?} guests cannot be traced: run an x86_64 guest"));
    }
    let scope = if information.is_system { Scope::Machine } else { Scope::Program };
    let header = Header {
        architecture: x86::ARCHITECTURE,
        scope,
        coverage: options.coverage,
        limit_bytes: options.limit_bytes,
    };
    IS_PROGRAM.store(scope == Scope::Program, Ordering::Relaxed);
    recorder::start(&options.out, &header)?;
    ID.store(id, Ordering::Relaxed);
    // SAFETY: the functions are this library's, which stays loaded.
    unsafe { pthread_atfork(None, Some(on_fork_in_parent), Some(on_fork_in_child)) };
    register(id);
    Ok(())
}

/// Asks for all callbacks that are not made for single instructions.
extern "C" fn register(id: u64) {
    // SAFETY: these functions may be called while a plugin is installed or reset, with its id.
    unsafe {
        qemu_plugin_register_vcpu_init_cb(id, on_vcpu_begin);
        qemu_plugin_register_vcpu_exit_cb(id, on_vcpu_end);
        qemu_plugin_register_atexit_cb(id, on_exit, ptr::null_mut());
        qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
        if IS_PROGRAM.load(Ordering::Relaxed) {
            qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
        }
    }
}

/// Has QEMU translate everything again, before this vCPU begins with other translated code. If it
/// begins to record, it is in code that holds a mark until then, which has its callbacks.
fn translate_again() {
    // SAFETY: the id is this plugin's. A reset while one is pending is ignored, and the pending
    // one then finds the state of now.
    unsafe { qemu_plugin_reset(ID.load(Ordering::Relaxed), register) };
}

extern "C" fn on_fork_in_parent() {
    recorder::FORKS.fetch_add(1, Ordering::Relaxed);
}

extern "C" fn on_fork_in_child() {
    IS_CHILD.store(true, Ordering::Relaxed);
    STOPPED.store(true, Ordering::Relaxed);
}

extern "C" fn on_vcpu_begin(_id: u64, index: c_uint) {
    if index > 0 {
        callbacks::vcpus_are_several();
    }
    let whole = IS_WHOLE.load(Ordering::Relaxed);
    let coverage = if whole { Coverage::Whole } else { Coverage::Marked };
    let Some(slot) = VCPUS.get(index as usize) else {
        recorder::cut_off(Cut::Vcpus);
        return;
    };
    // The vCPU that had this index before has ended, and was flushed then.
    let fresh = Box::into_raw(Box::new(Vcpu::new(index, coverage)));
    let before = slot.swap(fresh, Ordering::AcqRel);
    if !before.is_null() {
        // SAFETY: it was made by `Box::into_raw` here, and its vCPU runs no more.
        drop(unsafe { Box::from_raw(before) });
    }
}

extern "C" fn on_vcpu_end(_id: u64, index: c_uint) {
    if !IS_CHILD.load(Ordering::Relaxed)
        && let Some(vcpu) = vcpu(index)
    {
        vcpu.flush();
        note_recording(vcpu.is_recording(), false);
    }
}

extern "C" fn on_exit(_id: u64, _data: Handle) {
    if IS_CHILD.load(Ordering::Relaxed) {
        return;
    }
    for index in 0..VCPUS_MAX {
        // QEMU has stopped all vCPUs and removed their callbacks.
        if let Some(vcpu) = vcpu(c_uint::try_from(index).unwrap_or(0)) {
            vcpu.flush();
        }
    }
    if IS_PROGRAM.load(Ordering::Relaxed) {
        recorder::attach_maps(GUEST_BASE.load(Ordering::Relaxed));
    }
    recorder::finish();
}

/// A vCPU is about to make a system call.
extern "C" fn on_system_call(
    _id: u64,
    index: c_uint,
    number: i64,
    _first: u64,
    _second: u64,
    protection: u64,
    _flags: u64,
    descriptor: u64,
    _sixth: u64,
    _seventh: u64,
    _eighth: u64,
) {
    if IS_CHILD.load(Ordering::Relaxed) {
        return;
    }
    let call = system_calls::kind(number, protection, descriptor);
    if ARE_MAPS_DUE.swap(call == SystemCall::MapsCode, Ordering::Relaxed) {
        recorder::attach_maps(GUEST_BASE.load(Ordering::Relaxed));
    }
    if call == SystemCall::MayEnd
        && let Some(vcpu) = vcpu(index)
    {
        vcpu.flush();
    }
}

/// The recording of a vCPU.
#[inline]
fn vcpu(index: c_uint) -> Option<&'static mut Vcpu> {
    let vcpu = VCPUS.get(index as usize)?.load(Ordering::Relaxed);
    // SAFETY: callbacks for a vCPU are made by the thread that runs it, one after the other, and
    // that thread has made it; each uses the reference during the callback alone.
    unsafe { vcpu.as_mut() }
}

extern "C" fn on_translation(_id: u64, translated: Handle) {
    if STOPPED.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: the handle is valid during this callback, and so are those of its instructions.
    let (handles, instructions) = unsafe {
        let count = qemu_plugin_tb_n_insns(translated);
        let handles: Vec<Handle> =
            (0..count).map(|index| qemu_plugin_tb_get_insn(translated, index)).collect();
        let instructions: Vec<Instruction> =
            handles.iter().map(|&handle| instruction(handle)).collect();
        (handles, instructions)
    };
    if let (Some(&handle), Some(first)) = (handles.first(), instructions.first()) {
        // SAFETY: the handle is valid during this callback. Of a program, an instruction's host
        // address is as far from its own as that of any other.
        let host = unsafe { qemu_plugin_insn_haddr(handle) };
        if !host.is_null() {
            GUEST_BASE.store((host.addr() as u64).wrapping_sub(first.address), Ordering::Relaxed);
        }
    }
    let parts = translation::cut(&instructions);
    let is_whole = IS_WHOLE.load(Ordering::Relaxed);
    let is_needed = is_whole || callbacks::are_there();
    let callbacks = translation::callbacks(&parts, &instructions, is_needed, is_whole);
    for part in callbacks.recorded {
        match part {
            Part::Mark { at, mark } => {
                let [low, high] = mark.operation.to_le_bytes();
                let edge = u8::from(mark.edge == Edge::End);
                let data = u32::from_le_bytes([low, high, mark.region, edge]) as usize;
                call_before(handles[at], on_mark, data);
            }
            Part::TracedBlock { first, last } => {
                instrument(&handles[first..=last], &instructions[first..=last]);
            }
        }
    }
    if let Some(at) = callbacks.safe_point {
        call_before(handles[at], on_safe_point, 0);
    }
}

/// One instruction's address and code.
///
/// # Safety
/// The handle must be one of the translation that is called back for.
unsafe fn instruction(handle: Handle) -> Instruction {
    // SAFETY: as the caller says; before API 3 the result is the address of as many bytes.
    unsafe {
        let mut code = vec![0; qemu_plugin_insn_size(handle)];
        let result = qemu_plugin_insn_data(handle, code.as_mut_ptr(), code.len());
        if API.load(Ordering::Relaxed) < API_COPIES_CODE {
            let source = ptr::with_exposed_provenance::<u8>(result);
            ptr::copy_nonoverlapping(source, code.as_mut_ptr(), code.len());
        }
        Instruction { address: qemu_plugin_insn_vaddr(handle), code }
    }
}

/// Asks for the callbacks of a block.
fn instrument(handles: &[Handle], instructions: &[Instruction]) {
    let (Some(first), Some(last)) = (handles.first(), handles.last()) else { return };
    let Some(code) = instructions.last().map(|instruction| &instruction.code) else { return };
    let Some(id) = describe(instructions) else { return };
    if x86::is_repeated(code) {
        let Some(alone) = describe(&instructions[instructions.len() - 1..]) else { return };
        call_before(*first, on_repeated, id.0 as usize | (alone.0 as usize) << 32);
    } else {
        call_before(*first, on_block, id.0 as usize);
    }
    if !x86::may_access(code) {
        return;
    }
    // SAFETY: the handle is of the translation called back for; the data is a number.
    unsafe {
        let (callback, width): (MemoryCallback, u32) = match x86::vector_bytes(code) {
            None => (on_access, 0),
            Some(width) => (on_part, width),
        };
        let width = ptr::without_provenance_mut(width as usize);
        qemu_plugin_register_vcpu_mem_cb(*last, callback, NO_REGISTERS, BOTH_DIRECTIONS, width);
    }
}

fn describe(instructions: &[Instruction]) -> Option<BlockId> {
    let lengths: Option<Vec<u8>> =
        instructions.iter().map(|one| u8::try_from(one.code.len()).ok()).collect();
    let code: Vec<u8> = instructions.iter().flat_map(|one| &one.code).copied().collect();
    let address = instructions.first()?.address;
    recorder::describe(&TracedBlock { address, lengths: &lengths?, code: &code })
}

fn call_before(instruction: Handle, callback: ExecutionCallback, data: usize) {
    let data = ptr::without_provenance_mut(data);
    // SAFETY: the handle is of the translation called back for; the data is a number.
    unsafe { qemu_plugin_register_vcpu_insn_exec_cb(instruction, callback, NO_REGISTERS, data) };
}

/// The recording that a callback is for, unless nothing is recorded.
#[inline]
fn recording(index: c_uint) -> Option<&'static mut Vcpu> {
    vcpu(index).filter(|_| !STOPPED.load(Ordering::Relaxed))
}

extern "C" fn on_block(index: c_uint, data: Handle) {
    match recording(index) {
        Some(vcpu) if vcpu.is_recording() => vcpu.execute(BlockId(low(data))),
        Some(_) => idle(),
        None => {}
    }
}

extern "C" fn on_repeated(index: c_uint, data: Handle) {
    if let Some(vcpu) = recording(index) {
        let [.., a, b, c, d] = data.addr().to_le_bytes();
        vcpu.execute_repeated(BlockId(low(data)), BlockId(u32::from_le_bytes([a, b, c, d])));
    }
}

extern "C" fn on_mark(index: c_uint, data: Handle) {
    if let Some(vcpu) = recording(index) {
        let [a, b, region, edge] = low(data).to_le_bytes();
        let edge = if edge == 0 { Edge::Begin } else { Edge::End };
        let was_recording = vcpu.is_recording();
        vcpu.mark(Mark { edge, region, operation: u16::from_le_bytes([a, b]) });
        note_recording(was_recording, vcpu.is_recording());
    }
}

/// Counts vCPUs that record, and has code translated anew for the first.
fn note_recording(before: bool, now: bool) {
    match (before, now) {
        _ if IS_WHOLE.load(Ordering::Relaxed) => {}
        (false, true) if callbacks::begin() => translate_again(),
        (true, false) => callbacks::end(),
        _ => {}
    }
}

/// A block was executed that is not recorded.
#[cold]
fn idle() {
    let disarms = API.load(Ordering::Relaxed) >= API_DISARMS;
    let removal = if disarms { Removal::Always } else { Removal::AtSafePoint };
    if callbacks::idle(removal) {
        translate_again();
    }
}

/// A vCPU executes the last instruction of translated code that has callbacks for accesses, one
/// after which QEMU disarms those that its own functions would call. QEMU before 8.0 leaves them
/// armed after an instruction that ends translated code, such as RET or IRET; a reset frees them,
/// and the next access that a function of QEMU makes would call them. Of several vCPUs the others
/// may have them armed, so that all code keeps its callbacks from the first region on.
extern "C" fn on_safe_point(_index: c_uint, _data: Handle) {
    if callbacks::safe_point() {
        translate_again();
    }
}

extern "C" fn on_access(index: c_uint, information: u32, address: u64, _data: Handle) {
    let Some(vcpu) = recording(index) else { return };
    let (access, is_both) = access(information, address);
    if is_both {
        vcpu.access(Access { kind: AccessKind::Load, ..access });
    }
    vcpu.access(access);
}

extern "C" fn on_part(index: c_uint, information: u32, address: u64, data: Handle) {
    let Some(vcpu) = recording(index) else { return };
    let (access, is_both) = access(information, address);
    if is_both {
        vcpu.access_part(Access { kind: AccessKind::Load, ..access }, low(data));
    }
    vcpu.access_part(access, low(data));
}

/// The access that QEMU tells of, and whether it is a load besides. Atomic ones that change memory
/// are told of once where other vCPUs run, as loads and stores in bits 16 and 17, for which the
/// API has no function.
#[inline]
fn access(information: u32, address: u64) -> (Access, bool) {
    // SAFETY: functions of the number that QEMU just passed.
    let (shift, is_store) =
        unsafe { (qemu_plugin_mem_size_shift(information), qemu_plugin_mem_is_store(information)) };
    let kind = if is_store { AccessKind::Store } else { AccessKind::Load };
    (Access { kind, address, bytes: 1 << (shift & 31) }, information >> 16 & 3 == 3)
}

/// The low 32 bits of a callback's data.
#[inline]
fn low(data: Handle) -> u32 {
    let [a, b, c, d, ..] = data.addr().to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}
