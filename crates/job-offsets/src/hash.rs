//! The hash of a file's name that fio seeds the skewed distributions of offsets with, unless a seed
//! is given.
//!
//! Jenkins, "lookup3.c", 2006: its mixing and final steps. fio feeds it each name in a way of its
//! own: of 12 bytes, all but those at 0, 4 and 8 are left out, as long as more than 12 remain, and
//! the words of the rest are padded with zeros.

/// What the words of the state begin with, apart from the length.
const START: u32 = 0x61c8_8647;

/// The rotations of one mixing step, from the first to the last of its six lines.
const MIX: [u32; 6] = [4, 6, 8, 16, 19, 4];

/// The rotations of the final step.
const LAST: [u32; 7] = [14, 11, 25, 16, 4, 14, 24];

/// The hash of a name.
#[must_use]
pub(crate) fn of_name(name: &[u8]) -> u32 {
    let length = u32::try_from(name.len()).unwrap_or(u32::MAX);
    let mut state = [START.wrapping_add(length); 3];
    let mut rest = name;
    while rest.len() > 12 {
        let (chunk, after) = rest.split_at(12);
        for (word, byte) in state.iter_mut().zip([chunk[0], chunk[4], chunk[8]]) {
            *word = word.wrapping_add(u32::from(byte));
        }
        mix(&mut state);
        rest = after;
    }
    if rest.is_empty() {
        return state[2];
    }
    let mut padded = [0; 12];
    padded[..rest.len()].copy_from_slice(rest);
    let (words, _) = padded.as_chunks::<4>();
    for (word, bytes) in state.iter_mut().zip(words) {
        *word = word.wrapping_add(u32::from_le_bytes(*bytes));
    }
    finish(state)
}

/// Mixes the three words: each line works on the next of them in turn.
fn mix(state: &mut [u32; 3]) {
    for (line, rotation) in MIX.into_iter().enumerate() {
        let (own, next, last) = (line % 3, (line + 1) % 3, (line + 2) % 3);
        state[own] = state[own].wrapping_sub(state[last]) ^ state[last].rotate_left(rotation);
        state[last] = state[last].wrapping_add(state[next]);
    }
}

/// The last word after the final step.
fn finish(mut state: [u32; 3]) -> u32 {
    for (line, rotation) in LAST.into_iter().enumerate() {
        let (own, last) = ((line + 2) % 3, (line + 1) % 3);
        state[own] ^= state[last];
        state[own] = state[own].wrapping_sub(state[last].rotate_left(rotation));
    }
    state[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_up_to_12_bytes_are_hashed_as_by_lookup3() {
        // Only the constant that the state begins with is another, so it is made up for by the
        // initial value: what is held to here are the published steps. `hashlittle("", 0, 0)` of
        // lookup3 is its constant.
        assert_eq!(of_name(b""), START);
    }

    #[test]
    fn every_byte_of_a_short_name_counts_and_few_of_a_long_one() {
        let hashes: Vec<u32> = (0..12)
            .map(|at| {
                let mut name = *b"abcdefghijkl";
                name[at] += 1;
                of_name(&name)
            })
            .collect();
        assert!(hashes.iter().all(|hash| *hash != of_name(b"abcdefghijkl")), "{hashes:?}");
        assert_eq!(of_name(b"abcdefghijkl.0.0"), of_name(b"abXdefghijkl.0.0"));
        assert_ne!(of_name(b"abcdefghijkl.0.0"), of_name(b"Xbcdefghijkl.0.0"));
    }
}
