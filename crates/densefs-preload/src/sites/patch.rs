//! The jumps that are put over a library's instructions: first all are computed, then all are
//! written.

#![expect(unsafe_code, reason = "code that is changed")]

use rustix::mm::MprotectFlags;

use super::{
    Library, State,
    area::{self, Area},
    libraries::Place,
    site::{self, RETURN_FROM_SIGNAL, Site, Window},
    stub::{self, Stubs},
    text::Text,
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
    /// Computes the jumps of `text`, and writes to `stubs` where they lead.
    pub(super) fn plan(
        text: &Text,
        wanted: &dyn Fn(usize) -> bool,
        stubs: &mut Stubs,
        library: &mut Library,
    ) -> Self {
        let none = Patch { address: 0, jump: [0; site::JUMP], traps: 0 };
        let mut patches = Self { patches: [none; MOST], count: 0 };
        site::each(text, wanted, &mut |site| {
            library.found += 1;
            if site.number.is_some_and(|number| number == RETURN_FROM_SIGNAL || !wanted(number)) {
                library.left += 1;
            } else if patches.add(text, &site, stubs).is_some() {
                library.rewritten += 1;
            } else {
                library.note_impossible(site.number);
            }
        });
        patches
    }

    fn add(&mut self, text: &Text, site: &Site, stubs: &mut Stubs) -> Option<()> {
        let place = self.patches.get_mut(self.count)?;
        let window: &Window = site.window.as_ref()?;
        let address = text.address + window.start;
        let traps = u8::try_from(window.len().checked_sub(site::JUMP)?).ok()?;
        let jump = stub::jump(address, stubs.write(text, site.call, window)?)?;
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
