//! What the library is told by the environment, and tells the programs that its program executes.
//!
//! The variables are taken out of the environment at the start, so that programs that print theirs,
//! or hand on a copy, are not disturbed; and put in again for each program that is executed, also
//! with an environment that its caller has made from nothing.
#![expect(unsafe_code, reason = "C's environment")]

use std::ffi::{CStr, CString, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::{counting, handed_sites};

/// The arena, and where programs find it: `ARENA:PREFIX`.
const ARENA: &[u8] = b"FSPRISM_DENSEFS";
/// The device number of the mounted arena.
const DEVICE: &[u8] = b"FSPRISM_DENSEFS_DEVICE";
/// A descriptor with what the program has taken over.
const STATE: &[u8] = b"FSPRISM_DENSEFS_STATE";
/// A descriptor by which calls are counted.
const REPORT: &[u8] = b"FSPRISM_DENSEFS_REPORT";
/// A descriptor with what is known about the sites of libraries.
const SITES: &[u8] = b"FSPRISM_DENSEFS_SITES";
/// The libraries that the dynamic linker loads first.
const PRELOAD: &[u8] = b"LD_PRELOAD";

/// Those that only the library knows.
const OURS: [&[u8]; 5] = [ARENA, DEVICE, STATE, REPORT, SITES];

/// What the environment has told.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) arena: PathBuf,
    pub(crate) prefix: Vec<u8>,
    pub(crate) device: Option<u64>,
    pub(crate) state: Option<i32>,
    pub(crate) report: Option<i32>,
    pub(crate) sites: Option<i32>,
    /// This library.
    library: Vec<u8>,
}

static TOLD: OnceLock<Told> = OnceLock::new();

/// What the environment has told; none if the library is not to do anything.
pub(crate) fn told() -> Option<&'static Told> {
    TOLD.get()
}

/// Reads the variables, and takes them out of the environment.
///
/// # Safety
/// `environment` must be the program's own, and nobody may use it meanwhile.
pub(crate) unsafe fn read(environment: *mut *mut c_char) -> Option<&'static Told> {
    // SAFETY: guaranteed by the caller.
    let find = |name: &[u8]| unsafe { value(environment, name) };
    let (arena, preload) = (find(ARENA)?, find(PRELOAD)?);
    let colon = arena.iter().rposition(|&byte| byte == b':')?;
    let number = |text: Option<&[u8]>| std::str::from_utf8(text?).ok()?.parse().ok();
    let descriptor = |name| number(find(name)).and_then(|number: u64| i32::try_from(number).ok());
    let library = preload.split(|byte| b": ".contains(byte)).next()?;
    let told = Told {
        arena: PathBuf::from(OsStr::from_bytes(&arena[..colon])),
        prefix: arena[colon + 1..].to_vec(),
        device: number(find(DEVICE)),
        state: descriptor(STATE),
        report: descriptor(REPORT),
        sites: descriptor(SITES),
        library: library.to_vec(),
    };
    let others = preload.get(library.len() + 1..).filter(|others| !others.is_empty());
    // SAFETY: guaranteed by the caller. The text after the library's name stays where it is.
    unsafe {
        match others {
            Some(others) => {
                let start = others.as_ptr().sub(PRELOAD.len() + 1).cast_mut();
                start.copy_from(PRELOAD.as_ptr(), PRELOAD.len());
                start.add(PRELOAD.len()).write(b'=');
                replace(environment, PRELOAD, start.cast());
            }
            None => remove(environment, PRELOAD),
        }
        for name in OURS {
            remove(environment, name);
        }
    }
    TOLD.set(told).ok()?;
    TOLD.get()
}

/// The value of a variable.
///
/// # Safety
/// It must be an environment.
unsafe fn value<'a>(environment: *const *mut c_char, name: &[u8]) -> Option<&'a [u8]> {
    // SAFETY: guaranteed by the caller.
    let place = unsafe { find(environment, name)? };
    // SAFETY: as above.
    let text = unsafe { CStr::from_ptr(*place) }.to_bytes();
    Some(&text[name.len() + 1..])
}

/// # Safety
/// It must be an environment.
unsafe fn find(environment: *const *mut c_char, name: &[u8]) -> Option<*const *mut c_char> {
    let mut place = environment;
    // SAFETY: guaranteed by the caller; a null pointer ends it.
    unsafe {
        while !(*place).is_null() {
            if is_named(CStr::from_ptr(*place).to_bytes(), name) {
                return Some(place);
            }
            place = place.add(1);
        }
    }
    None
}

fn is_named(text: &[u8], name: &[u8]) -> bool {
    text.strip_prefix(name).is_some_and(|rest| rest.first() == Some(&b'='))
}

/// # Safety
/// It must be an environment that may be changed.
unsafe fn remove(environment: *mut *mut c_char, name: &[u8]) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(place) = find(environment, name) else { return };
        let mut place = place.cast_mut();
        while !(*place).is_null() {
            *place = *place.add(1);
            place = place.add(1);
        }
    }
}

/// # Safety
/// It must be an environment that may be changed, and the text must stay.
unsafe fn replace(environment: *mut *mut c_char, name: &[u8], text: *mut c_char) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some(place) = find(environment, name) {
            *place.cast_mut() = text;
        }
    }
}

/// An environment for a program that is to be executed.
pub(crate) struct ForExec {
    pointers: Vec<*const c_char>,
    /// What some of the pointers point to.
    _texts: Vec<CString>,
}

impl ForExec {
    /// The environment that a program asks for, with what this library needs.
    ///
    /// # Safety
    /// It must be null or an environment.
    pub(crate) unsafe fn new(
        environment: *const *const c_char,
        told: &Told,
        state: Option<i32>,
    ) -> Option<Self> {
        let mut pointers = Vec::new();
        let mut preload = told.library.clone();
        let mut place = environment;
        // SAFETY: guaranteed by the caller; a null pointer ends it.
        unsafe {
            while !place.is_null() && !(*place).is_null() {
                let text = CStr::from_ptr(*place).to_bytes();
                if is_named(text, PRELOAD) {
                    let others = &text[PRELOAD.len() + 1..];
                    let is_ours = others.starts_with(&told.library);
                    if is_ours {
                        preload = others.to_vec();
                    } else if !others.is_empty() {
                        preload.push(b':');
                        preload.extend_from_slice(others);
                    }
                } else if !OURS.iter().any(|name| is_named(text, name)) {
                    pointers.push(*place);
                }
                place = place.add(1);
            }
        }
        let arena = [told.arena.as_os_str().as_bytes(), b":", &told.prefix].concat();
        let mut variables = vec![variable(PRELOAD, &preload)?, variable(ARENA, &arena)?];
        let report = told.report.filter(|&report| report == counting::number());
        let descriptor = |number: Option<i32>| number.map(|number| number as u64);
        let numbers = [
            (DEVICE, told.device),
            (STATE, descriptor(state)),
            (REPORT, descriptor(report)),
            (SITES, descriptor(handed_sites::number())),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                variables.push(variable(name, number.to_string().as_bytes())?);
            }
        }
        pointers.extend(variables.iter().map(|text| text.as_ptr()));
        pointers.push(std::ptr::null());
        Some(Self { pointers, _texts: variables })
    }

    /// The environment, as execve(2) takes it.
    pub(crate) fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

fn variable(name: &[u8], value: &[u8]) -> Option<CString> {
    CString::new([name, b"=", value].concat()).ok()
}
