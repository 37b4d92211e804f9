//! A fuzzer chooses what somebody writes into an arena before the core uses it, and when others
//! write while it does: when, where, and then changes of 12 bytes as in a spoilt file.
#![no_main]

#[path = "../../crates/densefs/tests/core/hostile.rs"]
#[allow(dead_code)]
mod hostile;
#[path = "../../crates/densefs/tests/core/memory.rs"]
mod memory;
#[path = "../../crates/densefs/tests/core/world.rs"]
#[allow(dead_code)]
mod world;

use std::cell::RefCell;

use densefs::arena::Ref;
use hostile::{Attack, planted, withstand};
use libfuzzer_sys::fuzz_target;
use memory::Memory;

thread_local! {
    /// The arena as it is, and as it is spoilt.
    static ARENAS: RefCell<(Memory, Memory)> = {
        let whole = planted();
        RefCell::new((whole.copy(), whole))
    };
}

/// Makes one change, wherever that is in the arena.
fn change(spoilt: &mut Memory, change: &[u8]) {
    let arena = spoilt.arena();
    let place = change.first_chunk().map_or(0, |place| u32::from_le_bytes(*place));
    let (line, offset) = ((place >> 8) % arena.lines(), (place >> 2) as usize & 63);
    let width = 1 << (place & 3);
    let value = change.get(4..4 + width).unwrap_or_default();
    arena.copy_in(Ref(line), offset / width * width, value).expect("it lies within");
}

fuzz_target!(|input: &[u8]| {
    let Some((how, changes)) = input.split_at_checked(10) else { return };
    let random = how.first_chunk().map_or(0, |random| u64::from_le_bytes(*random));
    let (every, first) = (u64::from(how[8]), u64::from(how[9]));
    ARENAS.with_borrow_mut(|(whole, spoilt)| {
        spoilt.become_like(whole);
        for bytes in changes.chunks_exact(12) {
            change(spoilt, bytes);
        }
        withstand(spoilt.arena(), &Attack { random, writes: 0, every, first });
    });
});
