//! How blocks are verified: the values of the option `verify`.

use std::fmt;

/// Bytes of a header, without a checksum of the content.
pub const HEADER_BYTES: usize = 40;

/// How a block is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// `meta`: by the header alone, and by the pattern if there is one.
    Meta,
    /// `md5`.
    Md5,
    /// `crc64`.
    Crc64,
    /// `crc32`.
    Crc32,
    /// `crc32c`, and `crc32c-intel`, which fio takes for the same.
    Crc32c,
    /// `crc16`.
    Crc16,
    /// `crc7`.
    Crc7,
    /// `sha256`, which in fio is not the published one: see `checksum/sha.rs`.
    Sha256,
    /// `sha512`, which in fio is no hash: a change in the middle of a block is not found.
    Sha512,
    /// `sha3-224`.
    Sha3Of224,
    /// `sha3-256`.
    Sha3Of256,
    /// `sha3-384`.
    Sha3Of384,
    /// `sha3-512`.
    Sha3Of512,
    /// `xxhash`.
    Xxhash,
    /// `sha1`.
    Sha1,
    /// By header and pattern: what `verify_pattern` means if there is no `verify`.
    HeaderAndPattern,
    /// `pattern`: by the pattern alone, without headers.
    Pattern,
    /// `null`: not at all.
    Null,
}

/// A method, its name, its code in headers, and the bytes of its checksum there.
struct Row(Method, &'static str, u16, usize);

#[rustfmt::skip]
const ROWS: [Row; 18] = [
    Row(Method::Meta, "meta", 1, 0),
    Row(Method::Md5, "md5", 2, 16),
    Row(Method::Crc64, "crc64", 3, 8),
    Row(Method::Crc32, "crc32", 4, 4),
    Row(Method::Crc32c, "crc32c", 5, 4),
    Row(Method::Crc16, "crc16", 7, 2),
    Row(Method::Crc7, "crc7", 8, 1),
    Row(Method::Sha256, "sha256", 9, 64),
    Row(Method::Sha512, "sha512", 10, 128),
    Row(Method::Sha3Of224, "sha3-224", 11, 28),
    Row(Method::Sha3Of256, "sha3-256", 12, 32),
    Row(Method::Sha3Of384, "sha3-384", 13, 48),
    Row(Method::Sha3Of512, "sha3-512", 14, 64),
    Row(Method::Xxhash, "xxhash", 15, 4),
    Row(Method::Sha1, "sha1", 16, 20),
    Row(Method::HeaderAndPattern, "pattern", 17, 0),
    Row(Method::Pattern, "pattern", 18, 0),
    Row(Method::Null, "null", 19, 0),
];
/// The code of fio's own crc32c in hardware, which no option of fio 3.33 leads to.
const CODE_CRC32C_INTEL: u16 = 6;

/// The most bytes that a checksum takes in a header.
pub(crate) const CHECKSUM_BYTES_MAX: usize = 128;

impl Method {
    /// Every method, in the order of their codes.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.0)
    }

    /// Reads a value of the option `verify`. `0`, which turns verification off, is none.
    ///
    /// # Examples
    /// ```
    /// use job_verify::Method;
    /// assert_eq!(Method::named("crc32c-intel"), Some(Method::Crc32c));
    /// assert_eq!(Method::named("pattern"), Some(Method::Pattern));
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        if name == "crc32c-intel" {
            return Some(Self::Crc32c);
        }
        let row = ROWS.iter().rev().find(|row| row.1 == name);
        row.map(|row| row.0)
    }

    /// The name, as the option `verify` has it and as fio's messages begin.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The method's number in headers.
    pub fn code(self) -> u16 {
        self.row().2
    }

    /// Bytes of the checksum behind a header.
    pub fn checksum_bytes(self) -> usize {
        self.row().3
    }

    /// Whether blocks have headers.
    pub fn has_headers(self) -> bool {
        !matches!(self, Self::Pattern | Self::Null)
    }

    /// Bytes before the content of a block: a header and a checksum.
    pub fn overhead_bytes(self) -> usize {
        if self.has_headers() { HEADER_BYTES + self.checksum_bytes() } else { 0 }
    }

    fn row(self) -> &'static Row {
        ROWS.iter().find(|row| row.0 == self).expect("the table has every method")
    }
}

impl fmt::Display for Method {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// Bytes before the content of a block whose header has this code.
pub(crate) fn overhead_of(code: u16) -> Option<usize> {
    if code == CODE_CRC32C_INTEL {
        return Some(Method::Crc32c.overhead_bytes());
    }
    if code == Method::Null.code() {
        return Some(HEADER_BYTES);
    }
    let row = ROWS.iter().find(|row| row.2 == code)?;
    Some(row.0.overhead_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_a_name_and_a_code() {
        for method in Method::all() {
            let named = Method::named(method.name());
            let same = method == Method::HeaderAndPattern || named == Some(method);
            assert!(same, "{method}");
            assert!(method.checksum_bytes() <= CHECKSUM_BYTES_MAX);
        }
        assert_eq!(Method::named("0"), None);
        assert_eq!(Method::Sha512.overhead_bytes(), 168);
    }

    #[test]
    fn codes_say_where_content_begins() {
        assert_eq!(overhead_of(2), Some(56));
        assert_eq!(overhead_of(6), Some(44));
        assert_eq!(overhead_of(18), Some(0));
        assert_eq!(overhead_of(19), Some(40));
        assert_eq!(overhead_of(20), None);
    }
}
