//! The places where the C library and the dynamic linker make system calls, rewritten in place so
//! that each call comes to a function of ours first.
//!
//! # Why
//!
//! Functions that a preloaded library defines take the place of the C library's for whoever calls
//! them by name. The C library itself does not: `fopen` makes its own `openat`, and `opendir`,
//! `realpath`, `getcwd`, the loading of libraries and of locales do the like. There are some 500
//! `syscall` instructions in it. Catching them in the kernel (seccomp, syscall user dispatch) costs
//! a signal per call, and kills a process that has blocked it; jumping to page 0 (as zpoline does)
//! is for root alone. But an instruction can be replaced by a jump, where there is room for one.
//!
//! # Room
//!
//! A jump to anywhere takes five bytes, a `syscall` has two. So the jump is put over whole
//! instructions next to the `syscall`, which move to a [stub]: mostly over the instruction before
//! it that loads the number, as that has five bytes. Where other instructions come before it, as
//! many are moved as needed; their addresses relative to where they are, are adapted. In all these
//! cases the `syscall` stays where it is, and calls that the kernel is to execute are executed
//! there. Only where there is no room before it, the `syscall` and what follows it move to the
//! stub. See [`site`].
//!
//! # Proof
//!
//! The bytes of a `syscall` may also be in the middle of another instruction, and a branch may lead
//! into the middle of what is moved. So each function with such bytes is decoded from its
//! beginning, which is known from the table that unwinders use; and where more than one instruction
//! moves, no branch of the function may lead in between. Where that is not certain, the site is
//! left as it is and counted as impossible. A test does the same for all functions of the machine's
//! libraries with a full decoder.
//!
//! # When
//!
//! Before a program starts: in a constructor, while there is one thread. Nothing is allocated, and
//! nothing is called in the C library but `dl_iterate_phdr`. First all is computed, and the stubs
//! are made executable; only then the text is made writable (and remains executable, as the C
//! library is in use), written to, and protected again. If a step is refused, as under a policy
//! against making code, nothing has changed.
//!
//! The text's pages that have been written to are the process's own from then on.
//!
//! # Limits
//!
//! - A thread that is cancelled while it is in the server is in our code. In glibc up to 2.40,
//!   functions that are points of cancellation allow it at any moment around their `syscall`: the
//!   server has to see to it that glibc's handler runs when the call has ended (as `signals` does).
//!   From 2.41 on, it is noticed at the next such point.
//! - Where the `syscall` itself has moved, unwinders do not know the place, so that a backtrace out
//!   of a signal handler ends there. In Debian 12 this concerns `read` in programs with one thread,
//!   and functions that end a thread or the process.
//! - A number that is not loaded next to the `syscall`, but kept in a register, is taken to be
//!   unwanted if the function loads numbers to this register and none of them is wanted.
//! - `rt_sigreturn` is never rewritten: unwinders know its place by its bytes.
//! - Libraries of another kind than the [ones named](WHICH) are not looked at, nor what is loaded
//!   later.
//! - Shadow stacks remain right. Indirect branch tracking, which Linux has not for programs so far,
//!   would be content: see [`entry`].

#![expect(unsafe_code, reason = "code that is changed")]

mod accumulator;
mod area;
mod entry;
mod instruction;
mod libraries;
mod opcodes;
mod patch;
mod plan;
mod scan;
mod site;
mod stub;
mod targets;
#[cfg(test)]
mod tests;
mod text;
mod vectors;

use std::fmt;

use rustix::io::Errno;

use self::{area::Area, libraries::Place, patch::Patches, plan::Subject, stub::Stubs, text::Text};
pub(crate) use self::{entry::Serve, plan::Plan};

/// The libraries that are looked at, by the names that they give themselves. Up to glibc 2.33, some
/// functions are in a library of their own.
pub(crate) const WHICH: [&str; 3] = ["libc.so.6", "ld-linux-x86-64.so.2", "libpthread.so.0"];

/// How many numbers of impossible sites are reported.
const MOST_NUMBERS: usize = 16;

/// What has become of the libraries, in the order of [`WHICH`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// One for each.
    pub(crate) libraries: [Library; WHICH.len()],
}

/// What has become of a library.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Library {
    /// Whether it has been rewritten.
    pub(crate) state: State,
    /// How many sites it has.
    pub(crate) found: usize,
    /// How many have been rewritten.
    pub(crate) rewritten: usize,
    /// How many have been left as they are, as their number is not wanted.
    pub(crate) left: usize,
    /// How many have been left as they are although they are wanted, or might be.
    pub(crate) impossible: usize,
    /// The numbers of the first of these that have a known one.
    pub(crate) impossible_numbers: [Option<usize>; MOST_NUMBERS],
}

/// Whether a library has been rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The process has not loaded it: if that is the C library, it is not glibc's.
    Absent,
    /// Its text, or the table of its functions, is in a form that is not known.
    Unknown,
    /// The kernel refuses memory or permission to change code. Nothing has changed.
    Refused(Errno),
    /// Those of its sites that could be rewritten are.
    Rewritten,
    /// Like [`Self::Rewritten`], but the kernel refuses to protect the text from being written to.
    Unprotected(Errno),
}

/// Rewrites the sites of all system calls whose number is `wanted`, and of those whose number is
/// not fixed, so that `serve` gets them first.
///
/// `serve` runs in the middle of whatever makes the call: on its stack, which may be small, perhaps
/// in a handler of a signal, or between `vfork` and `exec`. What it calls in the C library may make
/// system calls and get here again.
///
/// What is in the `known` plan is not searched for again. All that is found is noted in a new one,
/// which is returned if anything was searched for.
///
/// # Safety
/// The process has one thread, and this is called once.
pub(crate) unsafe fn rewrite(
    serve: Serve,
    wanted: &dyn Fn(usize) -> bool,
    known: Option<&Plan>,
) -> (Outcome, Option<Plan>) {
    entry::set(serve);
    let mut outcome = Outcome { libraries: [Library::ABSENT; WHICH.len()] };
    let mut plans = Plans { known, made: Plan::new(wanted), has_searched: false };
    libraries::each(&mut |name, place| {
        let Some(which) = WHICH.iter().position(|which| which.as_bytes() == name.to_bytes()) else {
            return;
        };
        let library = &mut outcome.libraries[which];
        library.state = match place {
            None => State::Unknown,
            // SAFETY: the caller's promise.
            Some(place) => unsafe { rewrite_library(&place, which, wanted, library, &mut plans) },
        };
    });
    (outcome, plans.has_searched.then_some(plans.made))
}

/// What was known about libraries before, and what has been found.
struct Plans<'p> {
    known: Option<&'p Plan>,
    made: Plan,
    has_searched: bool,
}

impl Plans<'_> {
    /// Computes the jumps of a library's text, and writes to `stubs` where they lead.
    fn patches(
        &mut self,
        text: &Text,
        subject: Option<&Subject>,
        wanted: &dyn Fn(usize) -> bool,
        stubs: &mut Stubs,
        library: &mut Library,
    ) -> Patches {
        let known = subject.and_then(|subject| self.known?.known(subject, wanted));
        if let Some(known) = known.filter(|known| known.fits(text)) {
            return Patches::known(text, &known, stubs, library);
        }
        self.has_searched = true;
        let mut section = subject.map(|subject| self.made.begin(subject));
        let made = &mut self.made;
        let patches = Patches::find(text, wanted, stubs, library, &mut |site| {
            if let Some(section) = &mut section {
                made.add(section, site);
            }
        });
        if let Some(section) = &section {
            self.made.end(section, library.found, library.left);
        }
        patches
    }
}

/// Whether an address is in the code that calls the server, where the stack begins with the
/// [`SystemCall`](crate::call::SystemCall).
pub(crate) fn is_entry(address: usize) -> bool {
    entry::is_entry(address)
}

impl Outcome {
    /// Why some calls will not come to the server; none if all do.
    pub(crate) fn missing(&self) -> Option<Missing> {
        let [library, linker, _] = &self.libraries;
        let all = self.libraries.iter();
        if library.state == State::Absent {
            return Some(Missing::NotGlibc);
        }
        if let Some(why) = all.clone().find_map(|one| match one.state {
            State::Refused(why) => Some(why),
            State::Absent | State::Unknown | State::Rewritten | State::Unprotected(_) => None,
        }) {
            return Some(Missing::Refused(why));
        }
        let is_unknown = [library, linker].iter().any(|one| one.state == State::Unknown);
        let impossible = all.map(|one| one.impossible).sum();
        (is_unknown || impossible > 0).then_some(Missing::Sites(impossible))
    }
}

/// Why calls do not come to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The program has another C library.
    NotGlibc,
    /// The kernel does not let code be changed.
    Refused(Errno),
    /// This many places are of a form that is not known.
    Sites(usize),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotGlibc => f.write_str("the program has another C library than glibc"),
            Self::Refused(why) => write!(f, "the kernel does not let its code be changed ({why})"),
            Self::Sites(count) => write!(f, "{count} places in it have an unknown form"),
        }
    }
}

impl Library {
    const ABSENT: Self = Self {
        state: State::Absent,
        found: 0,
        rewritten: 0,
        left: 0,
        impossible: 0,
        impossible_numbers: [None; MOST_NUMBERS],
    };

    fn note_impossible(&mut self, number: Option<usize>) {
        if let Some(place) = self.impossible_numbers.iter_mut().find(|place| place.is_none()) {
            *place = number;
        }
        self.impossible += 1;
    }
}

/// # Safety
/// The library is loaded, and the process has one thread.
unsafe fn rewrite_library(
    place: &Place,
    which: usize,
    wanted: &dyn Fn(usize) -> bool,
    library: &mut Library,
    plans: &mut Plans<'_>,
) -> State {
    let mut area = match Area::near(&place.text) {
        Ok(area) => area,
        Err(error) => return State::Refused(error),
    };
    let patches = {
        let stubs = Stubs::new(area.address(), area.bytes(), entry::addresses());
        // SAFETY: the caller's promise. The text is borrowed up to where it is written to.
        let text = unsafe { place.text() };
        stubs.zip(text).map(|(mut stubs, text)| {
            let length = text.bytes.len();
            let subject = place.identity.map(|identity| Subject { which, identity, length });
            plans.patches(&text, subject.as_ref(), wanted, &mut stubs, library)
        })
    };
    match patches {
        Some(patches) if !patches.is_empty() => {
            // SAFETY: the jumps are for this place, and the caller promises the rest.
            unsafe { patches.apply(place, area) }
        }
        patches => {
            area.unmap();
            patches.map_or(State::Unknown, |_| State::Rewritten)
        }
    }
}
