//! The environment of tests that use one thread for everything.

use core::sync::atomic::AtomicU32;

use crate::member::Member;
use crate::seams::{Life, Seams};

/// A thread of such a test.
pub(crate) type QuietMember<'a> = Member<'a, Quiet>;

/// Nobody dies, there is always space, and nobody waits.
#[derive(Debug)]
pub(crate) struct Quiet;

impl Seams for Quiet {
    fn now_ns(&self) -> u64 {
        1_000_000_000
    }

    fn supply(&self, _first_page: u32, _pages: u32) -> bool {
        true
    }

    fn life(&self, _slot: u32) -> Life {
        Life::Alive
    }

    fn after_repair(&self, slot: u32) {
        panic!("slot {slot} lives");
    }

    fn wait(&self, _word: &AtomicU32, _value: u32) -> bool {
        panic!("nobody else is at work");
    }

    fn wake(&self, _word: &AtomicU32) {}
}
