//! Verification as in fio 3.33: what is written so that it can be verified, and verifying it.
//!
//! [`Verifier`] fills blocks and checks them; what fio has written is verified here, and the other
//! way round. [`History`] keeps which blocks were written. [`VerifyState`] is the file that says
//! how far a job had come. There is no I/O on files under test here.
//!
//! # What the caller does
//!
//! **While it writes.** With any `verify`, every write is filled by [`Verifier::fill`] just before
//! it is begun. Its number is that of the writes begun before, from 0. Its seed is the next one of
//! the job's generator for verification, or 0 if there is a `verify_pattern`. The number of the
//! thread is that of the job, from 1; the time is when the write began. A write that is begun again
//! because the queue was full, or because it was short, is filled again, from the next seed. With
//! `refill_buffers=0`, see [`Verifier::fill_headers`].
//!
//! If the job has `do_verify` and not `experimental_verify`, the block is then logged:
//! [`History::log`] before the write begins, [`completed`](History::completed) or
//! [`failed`](History::failed) when it ends, [`shortened`](History::shortened) if it was short, and
//! `failed` if the queue was full.
//!
//! With `verify_backlog`, [`VerifyBacklog`] is asked before each operation. A block that
//! [`next_to_verify`](History::next_to_verify) gives is read instead of the next one, and checked.
//! Such a read takes a seed from the generator too, does not count towards what the job is to do,
//! and as many bytes again as `size` may be issued.
//!
//! In a job that does not write, every read is checked; in one that reads and writes, none is but
//! those of the backlog.
//!
//! **After it has written.** A loop of a job that has `do_verify` then has its phase of
//! verification, unless it was stopped or had an error. First, the files are synced and their
//! pages dropped, and the job's positions are set back, as are its generators with `randrepeat`;
//! the generator for verification always is. Blocks then come from `next_to_verify` until it gives
//! none, and each is read and checked. Without a pattern, each takes a seed from the generator.
//! [`HeaderRules`] says when that seed, and the number of the piece, is given in [`Expected`].
//! Seeds and pieces go together only if pieces are verified in the order of the writes.
//!
//! Blocks that were trimmed are checked by [`Verifier::check_zeros`] if `trim_verify_zero` is
//! given, and not at all otherwise.
//!
//! **`experimental_verify`.** Nothing is logged. Generators and positions are set back, and the
//! same choices are made again. A read is skipped, but counts as issued. A write becomes a read of
//! the same block: its number counts from 0 over the job, and it takes a seed, as the write did. A
//! trim becomes a read that should give zeros. It ends when as many bytes are verified as were
//! written and trimmed, less than the smallest block apart.
//!
//! **`verify_only`.** In a job that writes, the phase before verification makes its choices and
//! counts them as done, but does no I/O and fills nothing. Blocks are logged, and have ended at
//! once. Their numbers are not kept, so none are compared. No seeds are taken meanwhile.
//!
//! **State files.** With `verify_state_save`, the default, a job that writes and has a `verify`
//! leaves a [`VerifyState`] when it ends, of [`Completions`] that it has kept; a trigger does so
//! too, and stops it. With `verify_state_load`, [`VerifyState::should_stop`] is asked before each
//! read that is to be checked, with the number of reads that have ended and the place of the block;
//! the phase ends where it says so. Numbers and seeds play no part in that.
//!
//! **Errors.** A [`Failure`] that [is an error](Failure::is_error) is `EILSEQ`, of the kind that
//! `continue_on_error=verify` lets pass. With `verify_fatal`, it stops the job even then, but for
//! headers. With `verify_dump`, each mismatch leaves [`Dump`]s.

#![forbid(unsafe_code)]

mod checksum;
mod content;
mod header;
mod history;
mod method;
mod rules;
mod state;
mod verifier;

pub use checksum::write_checksum;
pub use content::{OFFSET_BYTES, Pattern, fill_randomly, repeat};
pub use header::{Header, MAGIC};
pub use history::{
    Fate, History, Keeping, Piece, Ticket, TrimBacklog, TrimmedBlocks, VerifyBacklog,
};
pub use method::{HEADER_BYTES, Method};
pub use rules::{Accesses, HeaderRules};
pub use state::{CompletedWrite, Completions, RandomState, ReadProgress, StateError, VerifyState};
pub use verifier::{
    Cause, Dump, Expected, Failure, IntervalRule, Mismatch, TooSmall, Verifier, VerifySpec, Written,
};
