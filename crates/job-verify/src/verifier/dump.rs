//! What `verify_dump` keeps of a block that is not what was written.

use super::{Cause, Mismatch, Verifier, Written};
use crate::header::Header;

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// Its name, in the directory of `--aux-path`, or the current one.
    pub name: String,
    /// What it holds.
    pub content: Vec<u8>,
}

impl Verifier {
    /// The files for a mismatch that [`check`](Verifier::check) found in a block. `file_name` is
    /// the name of the file that was read, of whose path only the last part counts.
    ///
    /// For content, there are two: `NAME.OFFSET.received` and `NAME.OFFSET.expected`. For headers,
    /// there is `NAME.OFFSET.hdr_fail`. Without headers, they hold the whole block. What was
    /// received has its header in front even with `verify_offset`; what was expected has it where
    /// it is written.
    ///
    /// What was expected is filled again from the seed that was received, with a header of the
    /// number, thread and time in `read`: those of the read, as nobody knows them of the write.
    pub fn dumps(
        &self,
        mismatch: &Mismatch,
        block: &[u8],
        read: &Written,
        file_name: &str,
    ) -> Vec<Dump> {
        let has_headers = self.spec.method.has_headers();
        let (begin, length, offset) = if has_headers {
            (mismatch.begin.min(block.len()), mismatch.length, mismatch.file_offset)
        } else {
            (0, block.len(), mismatch.block_offset)
        };
        let end = (begin + length).min(block.len());
        let received = self.in_order(&block[begin..end]).into_owned();
        let dump = |kind: &str, content: Vec<u8>| {
            let name = file_name.rsplit('/').find(|part| !part.is_empty()).unwrap_or_default();
            Dump { name: format!("{name}.{offset}.{kind}"), content }
        };
        match &mismatch.cause {
            Cause::Magic { .. }
            | Cause::Length { .. }
            | Cause::Seed { .. }
            | Cause::Offset { .. }
            | Cause::Number { .. }
            | Cause::HeaderChecksum { .. } => vec![dump("hdr_fail", received)],
            Cause::Checksum { .. } | Cause::Pattern { .. } => {
                let expected = self.again(&received, block.len(), read)[begin..end].to_vec();
                vec![dump("received", received), dump("expected", expected)]
            }
            Cause::NotZero { .. }
            | Cause::UnknownMethod { .. }
            | Cause::NoPattern
            | Cause::TooSmall(_) => Vec::new(),
        }
    }

    /// A block filled from the seed in a header, which is in front.
    fn again(&self, interval: &[u8], length: usize, read: &Written) -> Vec<u8> {
        let has_headers = self.spec.method.has_headers();
        let header = interval.first_chunk().filter(|_| has_headers);
        let seed = header.map_or(0, |header| Header::from_bytes(header).seed);
        let mut block = vec![0; length];
        // An interval at the end that has no room for a header has none.
        let _filled = self.fill(&mut block, &Written { seed, ..*read });
        block
    }
}
