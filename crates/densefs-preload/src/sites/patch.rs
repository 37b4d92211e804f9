//! The jumps that are put over a library's instructions: first all are computed, then all are
//! written.

#![expect(unsafe_code, reason = "code that is changed")]

use rustix::mm::MprotectFlags;

use super::{
    Library, State,
    area::{self, Area},
    libraries::Place,
    plan::{Known, Planned},
    scan::SYSTEM_CALL,
    site::{self, RETURN_FROM_SIGNAL},
    stub::{self, Stubs},
    text::Text,
    vectors,
};

/// The most sites of a library that can be rewritten.
const MOST: usize = 1024;

/// The byte that fills a window behind its jump. It is never executed.
const TRAP: u8 = 0xcc;

/// The jumps of a library.
pub(super) struct Patches {
    patches: [Patch; MOST],
    count: usize,
}

/// A jump.
#[derive(Clone, Copy)]
struct Patch {
    /// Where it is written.
    address: usize,
    jump: [u8; site::JUMP],
    /// How many traps follow.
    traps: u8,
}

impl Patches {
    fn none() -> Self {
        let none = Patch { address: 0, jump: [0; site::JUMP], traps: 0 };
        Self { patches: [none; MOST], count: 0 }
    }

    /// Computes the jumps of `text`, of which the sites are known, and writes to `stubs` where they
    /// lead.
    pub(super) fn known(
        text: &Text,
        known: &Known<'_>,
        stubs: &mut Stubs,
        library: &mut Library,
    ) -> Self {
        let mut patches = Self::none();
        (library.found, library.left) = (known.found, known.left);
        for site in known.sites() {
            if patches.add(text, &site, stubs).is_some() {
                library.rewritten += 1;
            } else {
                library.note_impossible(None);
            }
        }
        patches
    }

    /// Finds the sites of `text`, computes the jumps, and writes to `stubs` where they lead.
    /// `found` gets each site.
    pub(super) fn find(
        text: &Text,
        wanted: &dyn Fn(usize) -> bool,
        stubs: &mut Stubs,
        library: &mut Library,
        found: &mut dyn FnMut(&Planned),
    ) -> Self {
        let mut patches = Self::none();
        site::each(text, wanted, &mut |site| {
            library.found += 1;
            if site.number.is_some_and(|number| number == RETURN_FROM_SIGNAL || !wanted(number)) {
                library.left += 1;
                return;
            }
            let planned = site.window.map(|window| {
                let has_vectors = vectors::may_be_used(text, site.call + SYSTEM_CALL.len());
                Planned { call: site.call, window, has_vectors }
            });
            let is_added = planned.as_ref().is_some_and(|site| {
                found(site);
                patches.add(text, site, stubs).is_some()
            });
            if is_added {
                library.rewritten += 1;
            } else {
                library.note_impossible(site.number);
            }
        });
        patches
    }

    fn add(&mut self, text: &Text, site: &Planned, stubs: &mut Stubs) -> Option<()> {
        let place = self.patches.get_mut(self.count)?;
        let window = &site.window;
        let address = text.address + window.start;
        let traps = u8::try_from(window.len().checked_sub(site::JUMP)?).ok()?;
        let jump = stub::jump(address, stubs.write(text, site)?)?;
        *place = Patch { address, jump, traps };
        self.count += 1;
        Some(())
    }

    /// Writes the jumps to the text.
    ///
    /// # Safety
    /// They have been computed for the text of `place`, which nobody has borrowed, and the process
    /// has one thread.
    pub(super) unsafe fn apply(&self, place: &Place, area: Area) -> State {
        let code = MprotectFlags::READ | MprotectFlags::EXEC;
        // It remains executable meanwhile, as the compiler may have made calls of the C library
        // from what is done here. A policy that refuses that refuses it now, when nothing is
        // changed.
        let allowed =
            area.seal().and_then(|()| area::protect(&place.text, code | MprotectFlags::WRITE));
        if let Err(error) = allowed {
            area.unmap();
            return State::Refused(error);
        }
        for patch in &self.patches[..self.count] {
            let to = std::ptr::with_exposed_provenance_mut::<u8>(patch.address);
            // SAFETY: these are bytes of the text, which is writable now.
            unsafe {
                to.cast::<[u8; site::JUMP]>().write(patch.jump);
                to.add(site::JUMP).write_bytes(TRAP, usize::from(patch.traps));
            }
        }
        area::protect(&place.text, code).map_or_else(State::Unprotected, |()| State::Rewritten)
    }

    /// Whether there is nothing to write.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }
}
