//! What fio 3.33 writes for `sha256` and `sha512`, which is neither.
//!
//! `sha256` runs the compression of SHA-256 (FIPS 180-4, section 6.2.2), but pads with the length
//! in bits lowest byte first. Of the result, it keeps the lowest byte of each of the eight words.
//! They are followed by bytes 8 to 63 of the last padded block.
//!
//! `sha512` shows no result at all: what it writes is the buffer that its blocks of 128 bytes pass
//! through. There, the first 128 bytes of the content remain, with what is left over after the
//! last whole block in front. A change anywhere else is not found.

use sha2::block_api::compress256;

/// The state that SHA-256 begins with: FIPS 180-4, section 5.3.3.
const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];
const BLOCK: usize = 64;
const LENGTH_AT: usize = 56;
const WIDE_BLOCK: usize = 128;

/// What `sha256` is for fio.
pub(super) fn sha256_of_fio(content: &[u8]) -> [u8; BLOCK] {
    let mut state = INITIAL;
    let (blocks, rest) = content.as_chunks::<BLOCK>();
    compress256(&mut state, blocks);
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    if rest.len() >= LENGTH_AT {
        compress256(&mut state, &[last]);
        last = [0; BLOCK];
    }
    let bits = (content.len() as u64) << 3;
    last[LENGTH_AT..].copy_from_slice(&bits.to_le_bytes());
    compress256(&mut state, &[last]);
    for (place, word) in last.iter_mut().zip(state) {
        *place = word.to_le_bytes()[0];
    }
    last
}

/// What `sha512` is for fio.
pub(super) fn sha512_of_fio(content: &[u8], place: &mut [u8]) {
    if let Some(first) = content.first_chunk::<WIDE_BLOCK>() {
        place.copy_from_slice(first);
    }
    let rest = content.chunks_exact(WIDE_BLOCK).remainder();
    place[..rest.len()].copy_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    #[test]
    fn blocks_are_compressed_as_the_standard_says() {
        // The text of 64 bytes that is its own padded block in both orders of bytes: none. So the
        // state before the last block is compared, by padding as the standard does.
        let content = [7; 128];
        let mut state = INITIAL;
        compress256(&mut state, content.as_chunks::<BLOCK>().0);
        let mut last = [0; BLOCK];
        last[0] = 0x80;
        last[LENGTH_AT..].copy_from_slice(&1024_u64.to_be_bytes());
        compress256(&mut state, &[last]);
        let words = state.map(u32::to_be_bytes).concat();
        assert_eq!(words, Sha256::digest(content).to_vec());
    }

    #[test]
    fn the_last_block_shows_in_sha256() {
        let checksum = sha256_of_fio(&[9; 64 + 20]);
        assert_eq!(checksum[8..20], [9; 12]);
        assert_eq!(checksum[20], 0x80);
        assert_eq!(checksum[LENGTH_AT..], (84_u64 * 8).to_le_bytes());
        let padded = sha256_of_fio(&[9; 60]);
        assert_eq!(padded[8..LENGTH_AT], [0; 48]);
    }

    #[test]
    fn sha512_sees_only_the_first_block_and_the_rest() {
        let mut content = [1; 300];
        content[256..].fill(2);
        let mut place = [0; WIDE_BLOCK];
        sha512_of_fio(&content, &mut place);
        assert_eq!(place[..44], [2; 44]);
        assert_eq!(place[44..], [1; 84]);
        let before = place;
        content[200] = 9;
        sha512_of_fio(&content, &mut place);
        assert_eq!(place, before);
    }
}
