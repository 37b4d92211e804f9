//! The kernel's memory as a core file (`fs/proc/kcore.c`).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::SymbolsError;

/// `/proc/kcore`, read by virtual address.
#[derive(Debug)]
pub(crate) struct Kcore {
    file: File,
    /// First address, size, and offset in the file.
    segments: Vec<(u64, u64, u64)>,
}

const HEADER_BYTES: usize = 64;
const SEGMENT_BYTES: usize = 56;
const PT_LOAD: u32 = 1;

impl Kcore {
    pub(crate) fn open(path: &Path) -> Result<Self, SymbolsError> {
        let cannot = |error| SymbolsError::Io { path: path.to_owned(), error };
        let file = File::open(path).map_err(cannot)?;
        let mut header = [0; HEADER_BYTES];
        file.read_exact_at(&mut header, 0).map_err(cannot)?;
        let count = usize::from(u16::from_le_bytes([header[56], header[57]]));
        let mut table = vec![0; count * SEGMENT_BYTES];
        file.read_exact_at(&mut table, field(&header, 32)).map_err(cannot)?;
        let segments = table
            .chunks_exact(SEGMENT_BYTES)
            .filter(|segment| segment[..4] == PT_LOAD.to_le_bytes())
            .map(|segment| (field(segment, 16), field(segment, 40), field(segment, 8)))
            .collect();
        Ok(Self { file, segments })
    }

    /// First address and size of each readable range of memory.
    pub(crate) fn segments(&self) -> impl Iterator<Item = (u64, u64)> {
        self.segments.iter().map(|&(address, bytes, _)| (address, bytes))
    }

    /// Reads memory, which must be within one segment.
    pub(crate) fn read(&self, address: u64, bytes: &mut [u8]) -> io::Result<()> {
        let length = bytes.len() as u64;
        let segment = self.segments.iter().find(|&&(start, size, _)| {
            address >= start && address - start < size && length <= size - (address - start)
        });
        let Some(&(start, _, offset)) = segment else {
            return Err(io::Error::from(io::ErrorKind::AddrNotAvailable));
        };
        self.file.read_exact_at(bytes, offset + (address - start))
    }

    /// Reads a word of 8 bytes.
    pub(crate) fn word(&self, address: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads a null-terminated string, at most about 64 bytes of it.
    pub(crate) fn text(&self, address: u64) -> io::Result<String> {
        let mut text = Vec::new();
        while text.len() < 64 {
            // Aligned words do not cross pages, and the next page may not exist.
            let at = address + text.len() as u64;
            let word = self.word(at & !7)?.to_le_bytes();
            for &byte in &word[(at & 7) as usize..] {
                if byte == 0 {
                    return Ok(String::from_utf8_lossy(&text).into_owned());
                }
                text.push(byte);
            }
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// A little-endian word of 8 bytes.
pub(crate) fn field(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..at + 8).and_then(|word| word.try_into().ok());
    word.map_or(0, u64::from_le_bytes)
}
