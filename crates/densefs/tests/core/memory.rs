//! An arena in a test's own memory.

use std::ptr::NonNull;
use std::vec;
use std::vec::Vec;

use densefs::{Arena, Trust};

#[derive(Clone)]
#[repr(align(4096))]
struct Page([u8; 4096]);

/// What a test's arena contains is to be trusted, unless others may write to it.
pub(crate) const TRUST: Option<Trust> = if crate::IS_SHARED { None } else { Some(trusted()) };

#[expect(unsafe_code, reason = "nobody else writes to it")]
const fn trusted() -> Trust {
    // SAFETY: tests with an environment that is not shared only write to arenas by the core.
    unsafe { Trust::new() }
}

/// Memory for an arena.
pub(crate) struct Memory(Vec<Page>);

impl Memory {
    pub(crate) fn of_pages(pages: usize) -> Self {
        Self(vec![Page([0; 4096]); pages])
    }

    pub(crate) fn copy(&self) -> Self {
        Self(self.0.clone())
    }

    /// Copies the bytes of another of the same size.
    pub(crate) fn become_like(&mut self, other: &Self) {
        self.0.clone_from_slice(&other.0);
    }

    pub(crate) fn arena(&mut self) -> Arena<'_> {
        self.lasting_arena()
    }

    /// The arena, for an environment that the caller does not use any longer than this memory.
    #[expect(unsafe_code, reason = "an arena is made of memory")]
    pub(crate) fn lasting_arena(&mut self) -> Arena<'static> {
        let lines = u32::try_from(self.0.len() * 64).expect("it is small");
        let start = NonNull::from(&mut self.0[0].0[0]);
        // SAFETY: the memory is page-aligned and belongs to this object, which outlives the arena.
        unsafe { Arena::new(start, lines) }
    }
}
