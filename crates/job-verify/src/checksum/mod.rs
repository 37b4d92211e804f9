//! Checksums as fio computes them, with their names there.
//!
//! Most are the published ones, some with parameters of their own:
//!
//! | name | what it is |
//! | --- | --- |
//! | `md5` | MD5 |
//! | `sha1` | SHA-1, each of its five words with the lowest byte first |
//! | `sha3-*` | SHA-3 |
//! | `xxhash` | XXH32 with seed 1 |
//! | `crc64` | CRC-64/REDIS: polynomial 0xad93d23594c935a9, reflected, from zero |
//! | `crc32` | polynomial 0x04c11db7, highest bit first, from zero, without an inversion |
//! | `crc32c` | CRC-32C without its last inversion |
//! | `crc16` | CRC-16/ARC |
//! | `crc7` | CRC-7/MMC |
//!
//! Two are not what their names say; [`sha`] has them. CRCs are named after Cook's catalogue of
//! parametrised CRC algorithms.

mod sha;

use crc::{Algorithm, CRC_7_MMC, CRC_16_ARC, CRC_64_REDIS, Crc, Table};
use md5::{Digest, Md5};
use sha1::Sha1;
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use twox_hash::XxHash32;

use crate::method::Method;

/// The parameters of `crc32`: those of `cksum`, without the length and the inversion at its end.
const CRC32: Algorithm<u32> = Algorithm {
    width: 32,
    poly: 0x04c1_1db7,
    init: 0,
    refin: false,
    refout: false,
    xorout: 0,
    check: 0x89a1_897f,
    residue: 0,
};

static CRC64_TABLE: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_REDIS);
static CRC32_TABLE: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC32);
static CRC16_TABLE: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_ARC);
static CRC7_TABLE: Crc<u8, Table<16>> = Crc::<u8, Table<16>>::new(&CRC_7_MMC);

/// The seed of `xxhash`.
const XXHASH_SEED: u32 = 1;

/// CRC-32C as fio has it: without the last inversion.
pub(crate) fn crc32c_uninverted(content: &[u8]) -> u32 {
    !crc32c::crc32c(content)
}

/// Writes the checksum of a content. The place has [`Method::checksum_bytes`] bytes.
///
/// What `place` held before counts only for `sha512`, and only if the content is shorter than the
/// place.
pub fn write_checksum(method: Method, content: &[u8], place: &mut [u8]) {
    match method {
        Method::Meta | Method::HeaderAndPattern | Method::Pattern | Method::Null => {}
        Method::Md5 => place.copy_from_slice(&Md5::digest(content)),
        Method::Crc64 => place.copy_from_slice(&CRC64_TABLE.checksum(content).to_le_bytes()),
        Method::Crc32 => place.copy_from_slice(&CRC32_TABLE.checksum(content).to_le_bytes()),
        Method::Crc32c => place.copy_from_slice(&crc32c_uninverted(content).to_le_bytes()),
        Method::Crc16 => place.copy_from_slice(&CRC16_TABLE.checksum(content).to_le_bytes()),
        Method::Crc7 => place.copy_from_slice(&CRC7_TABLE.checksum(content).to_le_bytes()),
        Method::Sha256 => place.copy_from_slice(&sha::sha256_of_fio(content)),
        Method::Sha512 => sha::sha512_of_fio(content, place),
        Method::Sha3Of224 => place.copy_from_slice(&Sha3_224::digest(content)),
        Method::Sha3Of256 => place.copy_from_slice(&Sha3_256::digest(content)),
        Method::Sha3Of384 => place.copy_from_slice(&Sha3_384::digest(content)),
        Method::Sha3Of512 => place.copy_from_slice(&Sha3_512::digest(content)),
        Method::Xxhash => {
            let hash = XxHash32::oneshot(XXHASH_SEED, content);
            place.copy_from_slice(&hash.to_le_bytes());
        }
        Method::Sha1 => {
            place.copy_from_slice(&Sha1::digest(content));
            for word in place.chunks_exact_mut(4) {
                word.reverse();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the catalogues and the standards say of this text.
    const CHECK: &[u8] = b"123456789";

    fn checksum(method: Method) -> Vec<u8> {
        let mut place = vec![0; method.checksum_bytes()];
        write_checksum(method, CHECK, &mut place);
        place
    }

    #[test]
    fn checksums_are_those_of_the_catalogue() {
        assert_eq!(checksum(Method::Crc64), 0xe9c6_d914_c4b8_d9ca_u64.to_le_bytes());
        assert_eq!(checksum(Method::Crc32c), (!0xe306_9283_u32).to_le_bytes());
        assert_eq!(checksum(Method::Crc16), 0xbb3d_u16.to_le_bytes());
        assert_eq!(checksum(Method::Crc7), [0x75]);
        assert_eq!(checksum(Method::Crc32), CRC32.check.to_le_bytes());
    }

    #[test]
    fn crc32_is_what_cksum_says_before_it_inverts() {
        // `printf 123456789 | cksum` says 930766865; it takes the length in as a last byte.
        let with_length = CRC32_TABLE.checksum(b"123456789\x09");
        assert_eq!(!with_length, 930_766_865);
    }

    #[test]
    fn words_of_sha1_have_their_lowest_byte_first() {
        let published = Sha1::digest(CHECK);
        let words = checksum(Method::Sha1);
        assert_eq!(words[..4], [published[3], published[2], published[1], published[0]]);
    }
}
