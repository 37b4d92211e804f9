//! The interface to QEMU: its API, and the callbacks it makes. All unsafe code is here.
#![expect(unsafe_code, reason = "QEMU calls C functions and is called by them")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering};

use footprint_trace::event::{Access, AccessKind};
use footprint_trace::header::{Coverage, Header, Scope};
use footprint_trace::mark::{Edge, Mark};
use footprint_trace::reader::CutReason;
use footprint_trace::translation::{self, CodePart, Instruction};
use footprint_trace::{BlockId, TracedBlock, x86};

use crate::callbacks::{self, Removal};
use crate::options::Options;
use crate::recorder::{self, STOPPED, Vcpu};
use crate::system_calls::{self, SystemCall};

/// How many vCPUs can be recorded. For a program, that is the number of threads it ever creates,
/// unless QEMU reuses their numbers.
const VCPUS_MAX: usize = 4096;

/// Each vCPU's recording, by index.
static VCPUS: [AtomicPtr<Vcpu>; VCPUS_MAX] = [const { AtomicPtr::new(ptr::null_mut()) }; VCPUS_MAX];

/// Whether everything is recorded, rather than marked regions only.
static IS_WHOLE: AtomicBool = AtomicBool::new(true);

/// The id that QEMU gave this plugin.
static ID: AtomicU64 = AtomicU64::new(0);

/// Whether a single program is traced, in which case QEMU reports system calls.
static IS_PROGRAM: AtomicBool = AtomicBool::new(false);

/// Host address of the program's address 0.
static GUEST_BASE: AtomicU64 = AtomicU64::new(0);

/// Set if the program may have mapped files that are not yet in the trace. Initially so, because
/// the program itself is mapped before its first system call.
static ARE_MAPS_DUE: AtomicBool = AtomicBool::new(true);

/// Set in a process forked from the traced one, which must not touch the trace.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// From this API version on, QEMU copies code to the caller.
const API_COPIES_CODE: c_int = 3;

/// From this API version on, QEMU disarms callbacks by itself (see [`on_safe_point`]).
const API_DISARMS: c_int = 2;

/// QEMU's API version.
static API: AtomicI32 = AtomicI32::new(1);

/// The API version that this library claims to be built for. The functions used are the same in all
/// versions, except the one that returns an instruction's code, so [`choose_version`] can claim
/// whichever QEMU accepts.
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

/// QEMU's `qemu_info_t`, up to the fields used.
#[repr(C)]
pub(crate) struct Information {
    target_name: *const c_char,
    version_min: c_int,
    version_current: c_int,
    is_system: bool,
}

const NO_REGISTERS: c_int = 0;
/// Loads and stores. QEMU before 8.1 mistakes loads for stores if only one direction is requested.
const BOTH_DIRECTIONS: c_int = 3;

// From `include/qemu/qemu-plugin.h` of QEMU 7.2, and of 10 where that differs.
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
    /// Before API 3, this function takes only the first argument and returns the code's address; it
    /// ignores the registers with the other arguments.
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

/// Claims API 2 if QEMU has it (9.0 and newer refuse 1), otherwise 1. A function introduced with
/// API 2 tells them apart.
extern "C" fn choose_version() {
    // SAFETY: a null handle searches all loaded libraries, and the name ends in a null byte.
    let came_with_2 = unsafe { dlsym(ptr::null_mut(), c"qemu_plugin_scoreboard_new".as_ptr()) };
    qemu_plugin_version.store(if came_with_2.is_null() { 1 } else { 2 }, Ordering::Relaxed);
}

/// Called by QEMU after loading the library, with the plugin's arguments.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn qemu_plugin_install(
    id: u64,
    information: *const Information,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    // SAFETY: QEMU passes its information and `count` strings, all valid during the call.
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
    // SAFETY: QEMU passes the guest's architecture as a null-terminated string.
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
    // SAFETY: the functions are in this library, which stays loaded.
    unsafe { pthread_atfork(None, Some(on_fork_in_parent), Some(on_fork_in_child)) };
    register(id);
    Ok(())
}

/// Registers all callbacks except those for individual instructions.
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

/// Has QEMU translate everything again before this vCPU enters other translated code. A vCPU that
/// begins to record is in code that contains a mark until then, which has its callbacks.
fn translate_again() {
    // SAFETY: the id is this plugin's. A reset while another is pending is ignored; the pending one
    // then sees the current state.
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
        recorder::cut_off(CutReason::Vcpus);
        return;
    };
    // The vCPU that had this index before, if any, has ended and was flushed then.
    let fresh = Box::into_raw(Box::new(Vcpu::new(index, coverage)));
    let before = slot.swap(fresh, Ordering::AcqRel);
    if !before.is_null() {
        // SAFETY: it came from `Box::into_raw` here, and its vCPU no longer runs.
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
    // SAFETY: callbacks for a vCPU come one after another, from the thread that runs it and that
    // created the recording; each callback uses the reference only while it runs.
    unsafe { vcpu.as_mut() }
}

extern "C" fn on_translation(_id: u64, translated: Handle) {
    if STOPPED.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: the handle and those of its instructions are valid during this callback.
    let (handles, instructions) = unsafe {
        let count = qemu_plugin_tb_n_insns(translated);
        let handles: Vec<Handle> =
            (0..count).map(|index| qemu_plugin_tb_get_insn(translated, index)).collect();
        let instructions: Vec<Instruction> =
            handles.iter().map(|&handle| instruction(handle)).collect();
        (handles, instructions)
    };
    if let (Some(&handle), Some(first)) = (handles.first(), instructions.first()) {
        // SAFETY: the handle is valid during this callback. In a program, all instructions have the
        // same distance between host address and guest address.
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
            CodePart::Mark { at, mark } => {
                let [low, high] = mark.operation.to_le_bytes();
                let edge = u8::from(mark.edge == Edge::End);
                let data = u32::from_le_bytes([low, high, mark.region, edge]) as usize;
                call_before(handles[at], on_mark, data);
            }
            CodePart::Block { first, last } => {
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
/// The handle must belong to the translation that the current callback is for.
unsafe fn instruction(handle: Handle) -> Instruction {
    // SAFETY: guaranteed by the caller (see `# Safety`); before API 3 the result is the address of
    // that many bytes.
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

/// Registers the callbacks of a block.
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
    // SAFETY: the handle belongs to the current translation; the data is a number.
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
    // SAFETY: the handle belongs to the current translation; the data is a number.
    unsafe { qemu_plugin_register_vcpu_insn_exec_cb(instruction, callback, NO_REGISTERS, data) };
}

/// The recording that a callback is for, unless recording has stopped.
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

/// Counts the vCPUs that are recording, and has code retranslated when the first one starts.
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

/// A vCPU executes the last instruction with access callbacks in its translated code, and it is one
/// after which QEMU disarms the callbacks that its helper functions would make. QEMU before 8.0
/// leaves them armed after an instruction that ends translated code, such as RET or IRET. A reset
/// frees them, and the next access by a helper function would then call them. With several vCPUs,
/// others may have them armed, so all code keeps its callbacks from the first region on.
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

/// The access that QEMU reports, and whether it is also a load. While other vCPUs run, an atomic
/// read-modify-write is reported once, as load and store in bits 16 and 17, for which the API has
/// no function.
#[inline]
fn access(information: u32, address: u64) -> (Access, bool) {
    // SAFETY: these functions only interpret the number that QEMU has just passed.
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
