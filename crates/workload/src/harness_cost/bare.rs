//! The reference: a loop written by hand, nothing in it but the choice of an offset and the call.
//!
//! Not the engine's own loop with its clock taken out: as a closure over a step that was slower
//! than the engine with its clock readings, and a reference that is slower than what is compared
//! with it makes any harness look free. The chooser is a local here, as in a loop by hand.

use super::BareLoop;
use crate::buffer::{AlignedBuffer, Payload};
use crate::choose::{AnyChooser, Choose};
use crate::error::EngineError;
use crate::fault::Fault;
use crate::file_set::Role;
use crate::steps::{DataFile, Spacing, read_whole, write_whole};

/// One thread's side of the comparison.
pub(super) struct Bare {
    pub(super) role: Role,
    pub(super) file: DataFile,
    pub(super) buffer: AlignedBuffer,
    pub(super) payload: Payload,
    pub(super) spacing: Spacing,
    pub(super) choose: AnyChooser,
}

impl BareLoop for Bare {
    fn run(&mut self, operations: u64) -> Result<(), EngineError> {
        let ended = match self.choose.clone() {
            AnyChooser::Sequential(choose) => {
                self.run_with(choose, operations).map(AnyChooser::Sequential)
            }
            AnyChooser::Uniform(choose) => {
                self.run_with(choose, operations).map(AnyChooser::Uniform)
            }
            AnyChooser::Shuffled(choose) => {
                self.run_with(choose, operations).map(AnyChooser::Shuffled)
            }
            AnyChooser::Zipf(choose) => self.run_with(choose, operations).map(AnyChooser::Zipf),
            AnyChooser::Follow(choose) => self.run_with(choose, operations).map(AnyChooser::Follow),
        };
        self.choose = ended.map_err(|fault| fault.into_error(&self.file.path))?;
        Ok(())
    }
}

impl Bare {
    /// The chooser comes and goes by value, so that it is a local of the loop.
    #[inline(never)]
    fn run_with<C: Choose>(&mut self, mut choose: C, operations: u64) -> Result<C, Fault> {
        let (file, spacing) = (&self.file.file, self.spacing);
        match self.role {
            Role::Read => {
                let bytes = self.buffer.bytes_mut();
                for _ in 0..operations {
                    read_whole(file, bytes, spacing.offset_bytes(choose.next_place().choice))?;
                }
            }
            Role::Write => {
                for index in 0..operations {
                    let start = self.payload.take_stamped(index);
                    let bytes = self.payload.request(start);
                    write_whole(file, bytes, spacing.offset_bytes(choose.next_place().choice))?;
                }
            }
        }
        Ok(choose)
    }
}
