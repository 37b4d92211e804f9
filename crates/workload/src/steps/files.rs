//! Files that are opened by name, read or written whole, and closed.

use crate::buffer::Payload;
use crate::calls::{Calls, read_on, write_on};
use crate::error::EngineError;
use crate::fault::Fault;
use crate::run_loop::Step;
use crate::steps::entries::EntryStep;
use crate::steps::entries::each::{Create, Open};

/// `openat` of an entry, `read` of all of it and `close`.
#[derive(Debug)]
pub(crate) struct ReadFile<K: Calls> {
    open: EntryStep<K, Open>,
    buffer: Vec<u8>,
}

impl<K: Calls> ReadFile<K> {
    pub(crate) fn new(open: EntryStep<K, Open>, file_bytes: usize) -> Self {
        Self { open, buffer: vec![0; file_bytes] }
    }
}

impl<K: Calls> Step for ReadFile<K> {
    #[inline]
    fn before(&mut self, index: u64, slot: usize) -> Result<(), Fault> {
        self.open.before(index, slot)
    }

    #[inline]
    fn timed(&mut self, index: u64, slot: usize) -> Result<u64, Fault> {
        self.open.timed(index, slot)?;
        let buffer = &mut self.buffer;
        let moved = self.open.with_held(slot, |calls, file| read_on(calls, file, buffer));
        self.open.release(slot);
        moved
    }

    fn explain(&self, fault: Fault, slot: usize) -> EngineError {
        self.open.explain(fault, slot)
    }
}

/// `openat` that makes a new file, `write` of its whole content and `close`.
#[derive(Debug)]
pub(crate) struct NewFile<K: Calls> {
    create: EntryStep<K, Create>,
    payload: Payload,
    /// Where in the payload the data of each prepared file begin.
    starts: Vec<usize>,
}

impl<K: Calls> NewFile<K> {
    pub(crate) fn new(create: EntryStep<K, Create>, payload: Payload, slots: usize) -> Self {
        Self { create, payload, starts: vec![0; slots] }
    }
}

impl<K: Calls> Step for NewFile<K> {
    #[inline]
    fn before(&mut self, index: u64, slot: usize) -> Result<(), Fault> {
        self.starts[slot] = self.payload.take_stamped(index);
        self.create.before(index, slot)
    }

    #[inline]
    fn timed(&mut self, index: u64, slot: usize) -> Result<u64, Fault> {
        self.create.timed(index, slot)?;
        let content = self.payload.request(self.starts[slot]);
        let moved = self.create.with_held(slot, |calls, file| write_on(calls, file, content));
        self.create.release(slot);
        moved
    }

    fn explain(&self, fault: Fault, slot: usize) -> EngineError {
        self.create.explain(fault, slot)
    }
}
